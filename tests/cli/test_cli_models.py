"""Models of all kinds given to commands of all kinds."""

from __future__ import annotations

import pytest

FILES = {"classifier": "reviews.model", "tagger": "treebank.tagger", "parser": "text.parser"}
RUN = {"classifier": ("predict",), "tagger": ("tag", "run"), "parser": ("parse", "run")}
EVALUATE = {"classifier": ("evaluate",), "tagger": ("tag", "evaluate"), "parser": ("parse", "evaluate")}


@pytest.mark.parametrize("commands", [RUN, EVALUATE], ids=["run", "evaluate"])
@pytest.mark.parametrize("wanted", FILES)
@pytest.mark.parametrize("given", FILES)
def test_a_model_of_another_kind_is_sent_to_its_command(run, folder, commands, wanted, given):
    data = "test.csv" if given == "classifier" else "test.conllu"
    if given == wanted:
        assert run(*commands[wanted], FILES[given], data)
        return
    said = run(*commands[wanted], FILES[given], data, status=2)
    command = f"markone {' '.join(commands[given])} {FILES[given]} {data}"
    assert said == f"{FILES[given]} contains a {given}, not a {wanted}; use this command: {command}"
    assert run(*command.split()[1:])


def test_one_learns_on_only_from_a_classifier(run, folder):
    said = run("train", "reviews.csv", "--target", "label", "--from", "treebank.tagger", status=2)
    assert said == "treebank.tagger contains a tagger, not a classifier; training can only continue from a classifier"


def test_what_only_python_opens(run, folder):
    from markone import StructuredPerceptron

    learner = StructuredPerceptron(lambda x, y: [y], answers=lambda x: "ab").train([(1, "a"), (2, "b")])
    learner.save("own.model")
    assert run("predict", "own.model", "test.csv", status=2).endswith("markone.StructuredPerceptron.load opens it")
    assert "it contains 'structured', not a tagger" in run("tag", "run", "own.model", "test.conllu", status=2)
    assert run("explain", "own.model", status=2).endswith("markone.StructuredPerceptron.load opens it")


def test_what_is_no_model_is_told_as_ever(run, folder):
    for command in (("predict",), ("explain",), ("tag", "run"), ("parse", "evaluate")):
        data = [] if command == ("explain",) else ["test.csv"]
        assert "there is no model nothing.model" in run(*command, "nothing.model", *data, status=2)
        assert "test.conllu is not a Markone model" in run(*command, "test.conllu", *data, status=2)


def test_a_model_and_data_in_the_wrong_order_are_named(run, folder):
    said = run("evaluate", "new.csv", "reviews.model", status=2)
    assert "new.csv is not a Markone model, but reviews.model is one; name the model first" in said
