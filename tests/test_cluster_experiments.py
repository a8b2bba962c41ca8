"""Evaluation, validation, comparison and tuning on a cluster: the same figures to the bit as on one machine."""

from __future__ import annotations

import json
import random
import threading

import numpy as np
import pytest

import markone
from markone.cli.app import run
from markone.errors import DataError, SettingsError
from markone.learning.samples import SharedRows
from quickly import slow

pytest.importorskip("distributed")
TIMES = ("seconds", "feature_seconds", "verdict")


@pytest.fixture(scope="module")
def address(cluster):
    return cluster.scheduler_address


@pytest.fixture(scope="module")
def articles(tmp_path_factory):
    """Two files of tables with texts, numbers, weights, and several topics a row."""
    made = tmp_path_factory.mktemp("articles")
    chance = random.Random(9)
    for number in range(2):
        lines = ["text,size,weight,price,topics,label"]
        for row in range(60):
            topics = [topic for topic in ("art", "law", "sea") if chance.random() < 0.5] or ["law"]
            size = chance.randrange(100)
            words = " ".join([*topics, *chance.choices("klmnop", k=3)])
            label = row % 2 + 1 if number == 1 else "high" if size > 50 else "1"  # all numbers in the second file
            lines.append(f"{words},{size},{1 + row % 3},{3 * size + chance.random():.3f},{';'.join(topics)},{label}")
        (made / f"part{number}.csv").write_text("\n".join(lines) + "\n")
    return made


def mails(folder):
    return markone.read(f"{folder}/mail*.jsonl", target="label")


def without_seconds(value):
    """Return the facts of a report, without the time that was needed. The verdict of a comparison tells it, too."""
    if isinstance(value, dict):
        return {name: without_seconds(one) for name, one in value.items() if name not in TIMES}
    return [*map(without_seconds, value)] if isinstance(value, list) else value


# ---- evaluation


@pytest.mark.parametrize("settings", [{"rule": "mira"}, {"rule": "logistic", "abstain": 0.2}])
def test_an_evaluation_is_the_same_on_a_cluster(address, folder, settings):
    model = markone.train(mails(folder), seed=1, **settings)
    expected = model.evaluate(mails(folder))
    assert model.evaluate(mails(folder), cluster=address).as_dict() == expected.as_dict()
    assert expected.log_loss is not None


def test_numbers_and_several_labels_are_evaluated_on_a_cluster(address, articles):
    for target, more in (("price", {"rule": "regression"}), ("topics", {})):
        source = markone.read(f"{articles}/*.csv", target=target, kinds={"topics": "set", "label": "ignore"})
        model = markone.train(source, **more)
        assert model.evaluate(source, cluster=address).as_dict() == model.evaluate(source).as_dict()


def test_labels_that_look_like_numbers_in_one_file_are_those_of_all_files(address, articles):
    source = markone.read(f"{articles}/*.csv", target="label", kinds={"topics": "ignore"})
    model = markone.train({"text": ["high sea", "low"], "label": ["high", "2"]}, target="label")
    expected = model.evaluate(source)
    assert expected.unknown > 0 and expected.strangers == ["1"]
    assert model.evaluate(source, cluster=address).as_dict() == expected.as_dict()


def test_an_evaluation_on_a_cluster_skips_bad_lines(address, tmp_path):
    for number, text in enumerate(
        ['{"text": "free", "label": "spam"}\n', '{"text": \n{"text": "you", "label": "ham"}\n']
    ):
        (tmp_path / f"{number}.jsonl").write_text(text)
    model = markone.train(["free money", "see you"], target=["spam", "ham"])
    sources = [markone.read(f"{tmp_path}/*.jsonl", target="label", skip_bad=True) for _ in range(2)]
    expected = model.evaluate(sources[0])
    assert model.evaluate(sources[1], cluster=address).as_dict() == expected.as_dict()
    assert sources[1].bad.count == sources[0].bad.count == 1


def test_an_evaluation_on_a_cluster_needs_files(address):
    model = markone.train(["free money", "see you"], target=["spam", "ham"])
    with pytest.raises(SettingsError, match="cluster needs files, which each worker can read"):
        model.evaluate(["free"], ["spam"], cluster=address)


# ---- validation


@pytest.mark.parametrize("given", [{"rule": "mira"}, {"rule": "naive-bayes", "repeats": 2}, {"method": "holdout"}])
def test_a_validation_is_the_same_on_a_cluster(address, folder, given):
    how = {"folds": 3, "seed": 2, **given}
    expected, found = (markone.validate(mails(folder), cluster=one, **how) for one in (None, address))
    assert without_seconds(found.as_dict()) == without_seconds(expected.as_dict())
    for a, b in zip(found.folds, expected.folds, strict=True):
        assert a.scores.tobytes() == b.scores.tobytes() and np.array_equal(a.rows, b.rows)


def test_rows_in_memory_are_sent_for_a_validation(address):
    texts, labels = ["free money", "see you", "free offer", "lunch now"] * 5, ["spam", "ham"] * 10
    expected, found = (
        markone.validate(texts, target=labels, folds=2, functions={"long": lambda text: len(text) > 8}, cluster=one)
        for one in (None, address)
    )
    assert without_seconds(found.as_dict()) == without_seconds(expected.as_dict())


def test_a_table_with_weights_is_validated_on_a_cluster(address, articles):
    source = {"target": "price", "importance": "weight", "kinds": {"topics": "ignore", "label": "ignore"}}
    expected, found = (
        markone.validate(markone.read(f"{articles}/*.csv", **source), rule="regression", folds=3, cluster=one)
        for one in (None, address)
    )
    assert without_seconds(found.as_dict()) == without_seconds(expected.as_dict())


def test_several_labels_are_validated_on_a_cluster(address, articles):
    kinds = {"topics": "set", "label": "ignore"}
    expected, found = (
        markone.validate(markone.read(f"{articles}/*.csv", target="topics", kinds=kinds), folds=2, cluster=one)
        for one in (None, address)
    )
    assert without_seconds(found.as_dict()) == without_seconds(expected.as_dict())


def test_each_row_is_left_out_on_a_cluster(address):
    texts, labels = (
        ["free money", "see you", "free offer", "lunch now", "you now"] * 5,
        ["spam", "ham", "spam", "ham", "ham"] * 5,
    )
    for features in (None, {"text": {"hash_bits": 8}}):
        how = {"method": "loo", "rule": "mira", "epochs": 2, "features": features}
        expected, found = (markone.validate(texts, target=labels, cluster=one, **how) for one in (None, address))
        assert without_seconds(found.as_dict()) == without_seconds(expected.as_dict())


def test_rows_that_changed_are_noticed(folder, tmp_path):
    path = tmp_path / "mail.jsonl"
    path.write_text((folder / "mail1.jsonl").read_text())
    from markone.learning.samples import open_sample

    read, arguments = SharedRows(open_sample(path, "label", 1, None).held).__reduce__()
    path.write_text((folder / "mail2.jsonl").read_text())
    with pytest.raises(
        DataError, match="has changed meanwhile: there were 150 rows with a label, and a worker found 300"
    ):
        read(*arguments)


def test_a_function_that_cannot_be_sent_is_an_error_before_any_work(address, folder):
    lock = threading.Lock()
    functions = {"long": lambda text: lock is not None and len(text) > 8}
    problem = (
        "the function 'long' cannot be sent to the workers: .*lock.*; it must not hold files, locks or connections"
    )
    with pytest.raises(DataError, match=problem):
        markone.validate(mails(folder), functions=functions, cluster=address)
    with pytest.raises(DataError, match=problem):
        markone.train(mails(folder), functions=functions, partitions=2, cluster=address)


# ---- comparison and tuning


@pytest.mark.parametrize("more", [{}, slow({"tune": True, "contrasts": False}), slow({"method": "holdout"})])
def test_a_comparison_is_the_same_on_a_cluster(address, folder, more):
    how = {"rules": ["mira", "svm", "naive-bayes"], "folds": 2, **more}
    expected, found = (
        markone.compare(f"{folder}/mail[12].jsonl", target="label", cluster=one, **how) for one in (None, address)
    )
    assert without_seconds(found.as_dict()) == without_seconds(expected.as_dict())


def test_a_rule_that_cannot_be_trained_fails_in_the_same_way(address):
    rows = [{"a": -1.0 * (i % 3), "b": float(i % 5)} for i in range(30)]
    how = {"rules": ["mira", "naive-bayes"], "features": {"numeric": {"scale": "none"}}, "folds": 2, "contrasts": False}
    expected, found = (markone.compare(rows, target=["x", "y"] * 15, cluster=one, **how) for one in (None, address))
    assert without_seconds(found.as_dict()) == without_seconds(expected.as_dict())


@pytest.mark.parametrize("given", [{"rule": "naive-bayes"}, slow({}), slow({"rule": "svm"})])
def test_tuning_chooses_the_same_on_a_cluster(address, folder, given):
    expected, found = (markone.tune(mails(folder), seed=3, cluster=one, **given) for one in (None, address))
    assert without_seconds(found.as_dict()) == without_seconds(expected.as_dict())
    assert found.settings == expected.settings and len(found.trials) > 3


def test_several_labels_are_compared_and_tuned_on_a_cluster(address, articles):
    def read():
        return markone.read(f"{articles}/*.csv", target="topics", kinds={"topics": "set", "label": "ignore"})

    expected, found = (markone.compare(read(), rules=["mira", "svm"], folds=2, cluster=one) for one in (None, address))
    assert "micro F1" in str(found) and without_seconds(found.as_dict()) == without_seconds(expected.as_dict())
    expected, found = (markone.tune(read(), rule="svm", features={}, cluster=one) for one in (None, address))
    assert without_seconds(found.as_dict()) == without_seconds(expected.as_dict())


# ---- the command line


@pytest.mark.parametrize(
    "command",
    [
        ["validate", "{data}", "--target", "label", "--folds", "2", "--rule", "mira"],
        ["compare", "{data}", "--target", "label", "--folds", "2", "--rules", "mira", "--no-contrasts"],
        ["evaluate", "{model}", "{data}", "--target", "label"],
    ],
)
def test_commands_on_a_cluster(address, folder, tmp_path, capsys, command):
    model = tmp_path / "mail.model"
    markone.train(mails(folder), epochs=2).save(model)
    words = [word.format(data=f"{folder}/mail*.jsonl", model=model) for word in command]
    found = []
    for more in ([], ["--cluster", address]):
        run([*words, "--json", *more])
        found.append(without_seconds(json.loads(capsys.readouterr().out)))
    assert found[0] == found[1]


def test_a_training_tunes_on_a_cluster(address, folder, tmp_path):
    command = ["train", f"{folder}/mail1.jsonl", "--target", "label", "--rule", "perceptron", "--tune", "--quiet"]
    for name, more in (("a", []), ("b", ["--cluster", address])):
        run([*command, "-o", str(tmp_path / name), *more])
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_learning_curve_has_no_cluster(folder):
    with pytest.raises(SettingsError, match="cluster is for folds, not for a learning curve"):
        run(["validate", f"{folder}/mail1.jsonl", "--target", "label", "--curve", "--cluster", "tcp://127.0.0.1:1"])
