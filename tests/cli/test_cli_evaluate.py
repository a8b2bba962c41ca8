"""`markone evaluate`: what it shows, and how it finds the target."""

from __future__ import annotations

import csv
import json

import markone


def test_evaluate_shows_what_the_library_measures(run):
    text = run("evaluate", "reviews.model", "test.csv")
    evaluation = markone.load("reviews.model").evaluate(markone.read("test.csv", target="label"))
    assert text == f"{evaluation}\n"
    facts = json.loads(run("evaluate", "reviews.model", "test.csv", "--json"))
    assert facts == {**json.loads(json.dumps(evaluation.as_dict())), "bad_lines": 0}
    assert json.loads(run("evaluate", "l.model", "test.csv", "--json"))["log_loss"] > 0
    assert json.loads(run("evaluate", "reviews.model", "test.csv", "--json", "--threads", "1")) == facts


def test_evaluate_finds_the_target_or_is_told(run, folder):
    text = (folder / "test.csv").read_text()
    (folder / "other.csv").write_text(text.replace("label,", "truth,", 1))
    assert run("evaluate", "reviews.model", "other.csv", status=2).startswith("--target must be a column of other.csv")
    same = run("evaluate", "reviews.model", "other.csv", "--target", "truth")
    assert same == run("evaluate", "reviews.model", "test.csv")
    (folder / "test.txt").write_text("".join(f"{r['label']}\t{r['text']}\n" for r in csv.DictReader(text.splitlines())))
    assert run("evaluate", "reviews.model", "test.txt") == same
    said = run("evaluate", "reviews.model", "new.txt", status=2)
    assert said == "the texts in new.txt have no labels; each line needs a label, a tab and a text"
    assert run("evaluate", "reviews.model", "-", "--format", "csv", given=text) == same


def test_evaluate_tells_of_bad_lines(run, folder):
    (folder / "bad.csv").write_text((folder / "test.csv").read_text() + "1,2,3\n")
    assert "--skip-bad" in run("evaluate", "reviews.model", "bad.csv", status=2)
    run("evaluate", "reviews.model", "bad.csv", "--skip-bad")
    assert run.errors.startswith("markone: 1 bad line was skipped:\nmarkone:   bad.csv, line ")
    assert json.loads(run("evaluate", "reviews.model", "bad.csv", "--skip-bad", "--json"))["bad_lines"] == 1
