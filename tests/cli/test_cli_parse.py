"""`markone parse`: learn to parse, parse, and measure."""

from __future__ import annotations

import json
import os
import re

import pytest

from markone import Parser
from markone.cli import main

TREE = """  ┌─► the   DET    det
┌─┴─► dog   NOUN   nsubj
├──── sees  VERB   root
│ ┌─► a     DET    det
├─┴─► room  NOUN   obj
└───► .     PUNCT  punct

"""


def without(text: str, *places: int) -> str:
    """CoNLL-U in which some columns say nothing."""
    lines = []
    for line in text.splitlines(keepends=True):
        fields = line.split("\t")
        lines.append(
            "\t".join("_" if i in places else one for i, one in enumerate(fields)) if len(fields) > 1 else line
        )
    return "".join(lines)


def test_a_parser_is_learned_and_measured(run, folder):
    said = run("parse", "train", "treebank.conllu", "--test", "test.conllu", "-o", "new.parser", "--holdout", "0.2")
    assert said.startswith("Read 150 sentences with ")
    assert "Trained a parser with 10 labels (accurate, " in said and " in the last." in said and "held-out" in said
    [(heads, labels)] = re.findall(r"On test.conllu:\n  UAS ([\d.]+) %, LAS ([\d.]+) %", said)
    assert 95 < float(labels) <= float(heads) <= 100 and "Saved new.parser, " in said
    assert said.endswith("TEST.conllu\n       markone parse run new.parser TEST.conllu\n")  # it needs tagged words
    assert Parser.load("new.parser").settings.holdout == 0.2


def test_it_says_so_to_machines(run, folder):
    facts = json.loads(
        run("parse", "train", "treebank.conllu", "--mode", "fast", "--tag", "--test", "test.conllu", "--json")
    )
    assert facts["model"] == "treebank.parser" and facts["bytes"] == os.path.getsize("treebank.parser")
    assert facts["tagger"] is True and facts["mode"] == "fast" and "nsubj" in facts["labels"]
    assert facts["sentences"] == 150 and facts["passes"][-1]["mistakes"] == 0 and facts["test"]["las"] == 1


@pytest.mark.parametrize(
    ("options", "setting", "value"),
    [
        (["--epochs", "3"], "epochs", 3),
        (["--beam", "3"], "beam", 3),
        (["--seed", "5"], "seed", 5),
        (["--tags", "xpos"], "tags", "xpos"),
        (["--crossing", "skip"], "crossing", "skip"),
        (["--round", "2"], "round", 2),
        (["--features", "500"], "features", 500),
        (["--mode", "exact", "--C", "0.5"], "C", 0.5),
        (["--holdout", "0.3", "--patience", "2"], "patience", 2),
    ],
)
def test_options_are_settings(run, folder, options, setting, value):
    passes = () if setting in ("epochs", "patience") else ("--epochs", "1")
    run("parse", "train", "treebank.conllu", "-o", "new.parser", *passes, *options)
    assert getattr(Parser.load("new.parser").settings, setting) == value


def test_conllu_is_written_as_it_was(run, folder):
    text = (folder / "test.conllu").read_text()
    (folder / "bare.conllu").write_text(without(text, 6, 7))
    assert run("parse", "run", "treebank.parser", "bare.conllu") == text
    (folder / "bare.conllu").write_text(without(text, 3, 6, 7))
    assert run("parse", "run", "text.parser", "bare.conllu", "-o", "parsed.conllu") == ""
    assert (folder / "parsed.conllu").read_text() == text


def test_arcs_that_cross_are_told(run, folder):
    crossing = "1\ta\t_\tX\t_\t_\t3\tx\t_\t_\n2\tb\t_\tX\t_\t_\t4\tx\t_\t_\n3\tc\t_\tX\t_\t_\t0\troot\t_\t_\n"
    (folder / "crossing.conllu").write_text((crossing + "4\td\t_\tX\t_\t_\t3\tx\t_\t_\n\n") * 3)
    told = run("parse", "train", "crossing.conllu", "--mode", "fast")
    assert "  3 sentences have crossing arcs; the arcs were lifted." in told


def test_text_is_tagged_and_parsed(run, folder):
    text = "the dog sees a room ."
    assert run("parse", "run", "text.parser", "-", "--output", "tree", given=text) == TREE
    assert json.loads(run("parse", "run", "text.parser", "-", "--output", "jsonl", given=text)) == {
        "tokens": text.split(),
        "upos": ["DET", "NOUN", "VERB", "DET", "NOUN", "PUNCT"],
        "heads": [2, 3, 0, 5, 3, 3],
        "deprel": ["det", "nsubj", "root", "det", "obj", "punct"],
    }
    page = run("parse", "run", "text.parser", "-", "--output", "html", given=text)
    assert page.startswith("<!doctype html>") and page.count("<svg") == 1 and ">nsubj<" in page
    assert run("parse", "run", "text.parser", "-", given=text).startswith("1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_\n")
    assert "this parser needs words with upos" in run("parse", "run", "treebank.parser", "-", given=text, status=2)


def test_evaluation(run, folder):
    assert run("parse", "evaluate", "treebank.parser", "test.conllu").startswith("UAS 100.00 %, LAS 100.00 % (")
    assert json.loads(run("parse", "evaluate", "treebank.parser", "test.conllu", "--json"))["las"] == 1


def test_mistakes_are_told(run, folder):
    assert "as in: markone parse train" in run("parse", "train", status=2)
    assert "as in: markone parse evaluate" in run("parse", "evaluate", "treebank.parser", status=2)
    (folder / "two.conllu").write_text("1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n2\tb\t_\tX\t_\t_\t0\troot\t_\t_\n\n")
    assert "two.conllu, line 2" in run("parse", "train", "two.conllu", status=2)


def test_an_interrupted_training_goes_on_to_the_same_bytes(run, folder, monkeypatch):
    run("parse", "train", "treebank.conllu", "--mode", "fast", "-o", "whole.parser")

    def interrupt(self, result):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("markone.learning.progress.Silence.finish_pass", interrupt)
        assert main(["parse", "train", "treebank.conllu", "--mode", "fast", "-o", "parts.parser"]) == 130
    assert (folder / "parts.parser.checkpoint").exists() and not (folder / "parts.parser").exists()
    run("parse", "train", "treebank.conllu", "--mode", "fast", "-o", "parts.parser", "--resume")
    assert (folder / "parts.parser").read_bytes() == (folder / "whole.parser").read_bytes()
    assert not (folder / "parts.parser.checkpoint").exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--beam", "3", "--mode", "fast"), "--beam is only for --mode accurate, not for 'fast'; leave it out"),
        (("--beam", "1"), "--beam must be a whole number from 2 to 1024, not 1"),
        (("--C", "1"), "--C is only for --mode exact, not for 'accurate'; leave it out"),
        (("--round", "0"), "--round must be a whole number of at least 1, not 0"),
        (("--tags", "form"), "--tags must be the name of a column of tags, not 'form'"),
        (("--features", "0"), "--features must be a whole number of at least 1, not 0"),
    ],
)
def test_settings_are_called_as_on_the_command_line(run, folder, options, sentence):
    assert run("parse", "train", "treebank.conllu", "-o", "new.parser", *options, status=2) == sentence
    assert not (folder / "new.parser").exists()


def test_what_is_judged_is_named(run, folder):
    """Moves, where each is learned: there are more of them than sentences."""
    said = run("parse", "train", "treebank.conllu", "-o", "new.parser", "--mode", "fast", "--epochs", "2")
    assert re.search(r"2 passes: [0-9,]+ moves wrong in the first", said)
    said = run("parse", "train", "treebank.conllu", "-o", "new.parser", "--beam", "2", "--epochs", "2")
    wrong = re.search(r"2 passes: ([0-9,]+) sentences wrong in the first", said)
    assert wrong is not None and int(wrong[1]) <= 150


def test_heads_that_are_overwritten_do_not_matter(run, folder):
    plain = run("parse", "run", "treebank.parser", "test.conllu")
    changed = []
    for line in (folder / "test.conllu").read_text().splitlines(keepends=True):
        fields = line.split("\t")
        changed.append("\t".join([*fields[:6], "77", "dep", "1:dep", fields[9]]) if len(fields) == 10 else line)
    (folder / "odd.conllu").write_text("".join(changed))
    assert run("parse", "run", "treebank.parser", "odd.conllu") == plain


def test_of_nothing_no_trees_are_written(run, folder):
    for output in ("conllu", "jsonl", "tree"):
        assert run("parse", "run", "treebank.parser", "-", "--output", output, given="") == ""
    assert "</html>" in run("parse", "run", "treebank.parser", "-", "--output", "html", given="")
