"""`markone export`."""

from __future__ import annotations

import json

import pytest


def test_a_model_is_exported_beside_its_file(folder, run):
    report = run("export", "reviews.model", "--to", "json")
    assert report.startswith("reviews.json is a JSON document of ")
    assert "An interpreter in Python ran it on 200 rows that were made from the model" in " ".join(report.split())
    assert json.loads((folder / "reviews.json").read_text())["format"] == "markone-export"


def test_the_sample_is_read_like_the_training_data(folder, run):
    report = json.loads(run("export", "reviews.model", "-o", "out.json", "--sample", "new.csv", "--json"))
    assert report == {
        "path": "out.json",
        "to": "json",
        "bytes": (folder / "out.json").stat().st_size,
        "rows": 100,
        "given": True,
        "engine": "an interpreter in Python",
    }
    assert run("export", "reviews.model", "-o", "out.json", "--quiet") == ""


def test_a_file_is_only_replaced_if_that_is_allowed(folder, run):
    (folder / "reviews.sql").write_text("mine")
    error = run("export", "reviews.model", "--to", "sql", status=2)
    assert "reviews.sql exists already, with other content" in error and "--overwrite" in error
    assert (folder / "reviews.sql").read_text() == "mine"
    run("export", "reviews.model", "--to", "sql", "--overwrite", "--name", "reviews")
    assert "FROM reviews AS t" in (folder / "reviews.sql").read_text()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ((), "--to must say what to write"),
        (("-o", "reviews.txt"), "--to must be json, js, sql, c or onnx"),
        (("--to", "onnx"), "of a text; the graph has only numbers and categories"),
        (("--to", "sql", "--dialect", "sqlite"), "SQLite has no regular expressions"),
        (("--to", "json", "--dialect", "sqlite"), "--dialect is only for sql, not for json"),
        (("--to", "json", "--format", "csv"), "--format is only for reading --sample"),
        (("--to", "json", "-o", "reviews.model", "--overwrite"), "reviews.model is an input file"),
        (("--to", "json", "-o", "no/folder.json"), "there is no folder"),
    ],
)
def test_what_cannot_be_is_said(options, problem, folder, run):
    before = sorted(path.name for path in folder.iterdir())
    assert problem in " ".join(run("export", "reviews.model", *options, status=2).split())
    assert sorted(path.name for path in folder.iterdir()) == before


def test_only_classifiers_are_exported(folder, run):
    error = run("export", "treebank.tagger", "--to", "json", status=2)
    assert "treebank.tagger contains a tagger, not a classifier" in error
