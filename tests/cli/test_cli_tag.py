"""`markone tag`: learn to tag, tag, and measure."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from markone import Tagger
from markone.data.spill import Spill
from markone.demo.stories import write_stories


def test_a_tagger_is_learned_and_measured(run, folder):
    said = run("tag", "train", "treebank.conllu", "--test", "test.conllu", "-o", "new.tagger", "--holdout", "0.2")
    assert said.startswith("Read 150 sentences with ")
    assert (
        "Trained a tagger with 7 tags of upos (mira, " in said
        and " in the last." in said
        and " on 30 held-out " in said
    )
    assert "On test.conllu:\n  accuracy 100.00 %" in said and "Saved new.tagger, " in said
    measure, use = said.splitlines()[-2:]
    assert measure == "Next:  markone tag evaluate new.tagger TEST.conllu"
    assert use == '       echo "..." | markone tag run new.tagger -'
    assert Tagger.load("new.tagger").settings.holdout == 0.2


def test_it_says_so_to_machines(run, folder):
    facts = json.loads(run("tag", "train", "treebank.conllu", "--test", "test.conllu", "--column", "xpos", "--json"))
    assert facts["model"] == "treebank.tagger" and facts["bytes"] == os.path.getsize("treebank.tagger")
    assert sorted(facts["tags"]) == ["adj", "adp", "adv", "det", "noun", "punct", "verb"]
    assert facts["sentences"] == 150 and len(facts["passes"]) == 10 and facts["test"]["tags"]["accuracy"] == 1


@pytest.mark.parametrize(
    ("options", "setting", "value"),
    [
        (["--rule", "perceptron"], "rule", "perceptron"),
        (["--epochs", "3"], "epochs", 3),
        (["--C", "0.5"], "C", 0.5),
        (["--no-average"], "average", False),
        (["--decode", "beam", "--beam", "7"], "beam", 7),
        (["--seed", "5"], "seed", 5),
        (["--inputs", "xpos"], "inputs", ("xpos",)),
        (["--holdout", "0.3", "--patience", "2"], "patience", 2),
    ],
)
def test_options_are_settings(run, folder, options, setting, value):
    run("tag", "train", "treebank.conllu", "-o", "new.tagger", *options)
    assert getattr(Tagger.load("new.tagger").settings, setting) == value


def test_options_of_spans_are_settings(run, folder):
    how = ["--columns", "form,pos,chunk", "--column", "chunk"]
    run("tag", "train", "phrases.iob", *how, "-o", "usual.tagger")
    run("tag", "train", "phrases.iob", *how, "-o", "own.tagger", "--scheme", "IOB2", "--learn-as", "IOB2")
    usual, own = Tagger.load("usual.tagger").settings, Tagger.load("own.tagger").settings
    assert (usual.scheme, usual.learn_as, own.scheme, own.learn_as) == ("IOB2", "IOBES", "IOB2", "IOB2")


def test_a_final_file_is_smaller_and_is_not_resumed(run, folder):
    run("tag", "train", "treebank.conllu", "-o", "final.tagger", "--final")
    assert os.path.getsize("final.tagger") < os.path.getsize("treebank.tagger")
    more = ["--epochs", "20", "--resume"]
    assert "is a final model" in run("tag", "train", "treebank.conllu", "-o", "final.tagger", *more, status=2)


def test_sentences_are_read_as_is_said(run, folder):
    text = (folder / "test.conllu").read_text()
    (folder / "test.data").write_bytes(text.replace("dog", "dög").encode("latin-1"))
    said = run("tag", "run", "treebank.tagger", "test.data", "--format", "conllu", "--encoding", "latin-1")
    assert said == text.replace("dog", "dög")
    (folder / "tabs.iob").write_text((folder / "phrases.iob").read_text().replace(" ", "\t"))
    assert run("tag", "train", "tabs.iob", "--separator", "tab") == run("tag", "train", "phrases.iob").replace(
        "phrases", "tabs"
    )
    assert "columns" in run("tag", "train", "tabs.iob", "--separator", "space", "--columns", "form,a,b,c", status=2)


def test_templates_come_from_a_file(run, folder):
    (folder / "few.txt").write_text("# what is looked at\nlower[0]\n\nlower[-1] lower[0]\n")
    run("tag", "train", "treebank.conllu", "-o", "few.tagger", "--templates", "few.txt")
    few = Tagger.load("few.tagger").settings.templates
    assert few == ("lower[0]", "lower[-1] lower[0]")
    (folder / "more.txt").write_text("usual\nform[-3]\n")
    run("tag", "train", "treebank.conllu", "-o", "more.tagger", "--templates", "more.txt")
    more = Tagger.load("more.tagger").settings.templates
    assert more == (*Tagger.load("treebank.tagger").settings.templates, "form[-3]")
    assert "few.tx cannot be read" in run("tag", "train", "treebank.conllu", "--templates", "few.tx", status=2)


def test_conllu_is_written_as_it_was(run, folder):
    text = (folder / "test.conllu").read_text()
    (folder / "bare.conllu").write_text(
        "".join(
            "\t".join([*line.split("\t")[:3], "_", *line.split("\t")[4:]]) if "\t" in line else line
            for line in text.splitlines(keepends=True)
        )
    )
    assert run("tag", "run", "treebank.tagger", "bare.conllu") == text
    assert run("tag", "run", "treebank.tagger", "bare.conllu", "-o", "tagged.conllu") == ""
    assert (folder / "tagged.conllu").read_text() == text


def test_columns_get_one_more(run, folder):
    run("tag", "train", "phrases.iob", "--columns", "form,pos,chunk", "--column", "chunk", "--inputs", "pos")
    tagger = Tagger.load("phrases.tagger")
    assert tagger.settings.scheme == "IOB2" and tagger.settings.inputs == ("pos",)
    lines = run("tag", "run", "phrases.tagger", "phrases.iob", "--columns", "form,pos,chunk").splitlines()
    assert all(line == "" or line.split()[2] == line.split()[3] for line in lines)
    assert "precision" in run("tag", "evaluate", "phrases.tagger", "phrases.iob", "--columns", "form,pos,chunk")


def test_text_is_cut_into_words(run, folder):
    assert run("tag", "run", "treebank.tagger", "-", given="the dog sees a room.") == (
        "the\tDET\ndog\tNOUN\nsees\tVERB\na\tDET\nroom\tNOUN\n.\tPUNCT\n\n"
    )
    said = run("tag", "run", "treebank.tagger", "-", "--output", "jsonl", given="the dog sees .")
    assert json.loads(said) == {"tokens": ["the", "dog", "sees", "."], "upos": ["DET", "NOUN", "VERB", "PUNCT"]}
    assert run("tag", "run", "treebank.tagger", "-", "--output", "conllu", given="the dog").startswith(
        "1\tthe\t_\tDET\t"
    )


def test_columns_keep_their_names(run, folder):
    """Those that are named for training are known to the other commands."""
    run("tag", "train", "phrases.iob", "--columns", "form,pos,chunk", "--column", "chunk", "--inputs", "pos")
    lines = run("tag", "run", "phrases.tagger", "phrases.iob").splitlines()
    assert all(line == "" or line.split()[2] == line.split()[3] for line in lines)
    assert "precision" in run("tag", "evaluate", "phrases.tagger", "phrases.iob")
    pairs = [" ".join(line.split()[:2]) for line in (folder / "phrases.iob").read_text().splitlines()]
    (folder / "pairs.iob").write_text("\n".join([*pairs, ""]))
    assert run("tag", "run", "phrases.tagger", "pairs.iob").split() == [
        word for line in lines for word in [*line.split()[:2], *line.split()[3:]]
    ]


def test_tags_of_spans_that_are_wrong_are_told(run, folder, capsys):
    text = (folder / "phrases.iob").read_text()
    (folder / "wrong.iob").write_text(text + "it PRON O\nruns VERB I-NP\n\n")
    line = text.count("\n") + 2
    learned = json.loads(run("tag", "train", "wrong.iob", "--json", "-o", "w.tagger"))
    assert learned["scheme"] == "IOB2" and learned["repairs"]["count"] == 1
    assert f"wrong.iob, line {line}: 'I-NP' is not allowed after 'O'" in learned["repairs"]["first"]
    assert f"line {line}: 'I-NP' is not allowed" in run("tag", "train", "wrong.iob", "--strict", status=2)


def test_of_nothing_nothing_is_written(run, folder):
    (folder / "empty.conllu").write_text("")
    assert run("tag", "run", "treebank.tagger", "empty.conllu", "-o", "out.conllu") == ""
    assert (folder / "out.conllu").read_bytes() == b""
    assert run("tag", "run", "treebank.tagger", "-", given="") == ""
    assert run("tag", "run", "treebank.tagger", "-", given="\n\n") == ""
    assert "is empty" in run("tag", "train", "empty.conllu", status=2)
    assert "is empty" in run("tag", "evaluate", "treebank.tagger", "empty.conllu", status=2)


def test_training_goes_on_with_the_command_that_began_it(run, folder):
    said = run("parse", "train", "treebank.conllu", "-o", "treebank.tagger", "--resume", status=2)
    assert "treebank.tagger contains a tagger, not a parser" in said and "markone tag train --resume" in said


def test_evaluation(run, folder):
    assert run("tag", "evaluate", "treebank.tagger", "test.conllu").startswith("accuracy 100.00 % (")
    assert json.loads(run("tag", "evaluate", "treebank.tagger", "test.conllu", "--json"))["tags"]["accuracy"] == 1


def test_mistakes_are_told(run, folder):
    assert "as in: markone tag train" in run("tag", "train", status=2)
    assert "no column 'upo'" in run("tag", "train", "treebank.conllu", "--column", "upo", status=2)
    assert "is an input file" in run("tag", "run", "treebank.tagger", "test.conllu", "-o", "test.conllu", status=2)
    (folder / "bad.conllu").write_text("1\tthe\n")
    assert "bad.conllu, line 1" in run("tag", "evaluate", "treebank.tagger", "bad.conllu", status=2)
    assert "treebank.tagger" in run("predict", "treebank.tagger", "test.csv", status=2)
    assert "reviews.model" in run("tag", "run", "reviews.model", "test.conllu", status=2)
    assert "CoNLL-U has no column" in run("tag", "train", "phrases.iob", "-o", "p.tagger") + run(
        "tag", "run", "p.tagger", "phrases.iob", "--output", "conllu", status=2
    )


def test_more_passes_give_the_same_bytes_as_all_at_once(run, folder):
    run("tag", "train", "treebank.conllu", "-o", "whole.tagger", "--epochs", "4")
    run("tag", "train", "treebank.conllu", "-o", "parts.tagger", "--epochs", "2")
    run("tag", "train", "treebank.conllu", "-o", "parts.tagger", "--epochs", "4", "--resume")
    assert (folder / "parts.tagger").read_bytes() == (folder / "whole.tagger").read_bytes()


@pytest.mark.parametrize("command", [["tag", "train"], ["parse", "train", "--mode", "fast"]])
def test_what_does_not_fit_into_memory_goes_through_files(run, folder, monkeypatch, command):
    write_stories(Path("large.conllu"), 2500, seed=3)
    rooms = []

    class Seen(Spill):
        def __init__(self, *given):
            super().__init__(*given)
            rooms.append(self)

    monkeypatch.setattr("markone.structured.corpus_store.Spill", Seen)
    learn = [*command, "large.conllu", "--epochs", "1"]
    run(*learn, "-o", "one")
    assert not any(room.on_disk for room in rooms)
    assert "Read 2,500 sentences with " in run(*learn, "-o", "other", "--memory", "1 MiB")
    assert any(room.on_disk for room in rooms)
    assert Path("one").read_bytes() == Path("other").read_bytes()
    assert "--memory must be a number of bytes, or a text" in run(*learn, "--memory", "little", status=2)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--beam", "3"), "--beam is only for --decode beam, not for 'viterbi'; leave it out"),
        (
            ("--decode", "beam", "--beam", "1"),
            "--beam must be a whole number from 2 to 1024, not 1",
        ),
        (("--epochs", "0"), "--epochs must be a whole number of at least 1, not 0"),
        (("--C", "1", "--rule", "perceptron"), "--C is only for the rule 'mira', not for 'perceptron'; leave it out"),
        (("--learn-as", "IOB2"), "--learn-as is only for tags of spans, and these tags are not; leave it out"),
        (("--patience", "2"), "--patience needs held-out sentences to measure accuracy on; set holdout, too"),
        (("--inputs", "upos"), "--inputs must not contain the column of words or the predicted column"),
        (("--separator", ";"), "--separator must be a tab or a blank, not ';'"),
    ],
)
def test_settings_are_called_as_on_the_command_line(run, folder, options, sentence):
    assert run("tag", "train", "treebank.conllu", "-o", "new.tagger", *options, status=2) == sentence
    assert not (folder / "new.tagger").exists()
