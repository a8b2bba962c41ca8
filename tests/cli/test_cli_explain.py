"""`markone explain`: of a model, of an example, and on a page."""

from __future__ import annotations

import json

import pytest

import markone
from commands import rows_in


def test_explain_shows_a_model_and_an_example(run, folder):
    model = markone.load("reviews.model")
    assert "what speaks for happy" in run("explain", "reviews.model")
    assert json.loads(run("explain", "reviews.model", "--json")) == json.loads(json.dumps(model.explain().as_dict()))
    assert len(run("explain", "reviews.model", "--top", "2")) < len(run("explain", "reviews.model"))
    text = "not a clean room"
    facts = json.loads(run("explain", "reviews.model", "--text", text, "--json"))
    assert facts == json.loads(json.dumps(model.explain(text).as_dict()))
    assert "clean" in run("explain", "reviews.model", "--text", text)
    assert run("explain", "reviews.model", "--text", "-dirty") and run("explain", "reviews.model", "--text", "-")


@pytest.mark.parametrize("data", ["new.csv", "new.txt", "test.csv"])
def test_explain_finds_a_row(data, run, folder):
    text = rows_in(folder / "test.csv")[41]["text"]
    expected = run("explain", "reviews.model", "--text", text, "--json")
    assert run("explain", "reviews.model", "--row", "42", data, "--json") == expected


def test_explain_explains_rows_of_every_kind(run, folder):
    assert "age" in run("explain", "people.model", "--row", "3", "people.csv")
    (folder / "a.libsvm").write_text("1 3:1 7:2\n-1 2:1\n" * 10)
    run("train", "a.libsvm", "--quiet")
    facts = json.loads(run("explain", "a.model", "--row", "2", "a.libsvm", "--json"))
    assert facts["prediction"] == "-1" and {row["feature"] for row in facts["tables"][0]["rows"]} == {"2", "BIAS"}


def test_explain_writes_a_page(run, folder):
    assert run("explain", "reviews.model", "--text", "<b>clean</b>", "--html", "page.html") == ""
    page = (folder / "page.html").read_text()
    assert page.startswith("<!") and "<b>clean" not in page


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--text", "a", "--row", "1", "new.csv"), "--text is an example of its own; leave out --row and its data"),
        (("--row", "1"), "--row needs the data that the row is in, and data need a row: --row 3 new.csv"),
        (("new.csv",), "--row needs the data that the row is in"),
        (("--row", "0", "new.csv"), "--row must be at least 1, not 0"),
        (("--row", "101", "new.csv"), "there is no row 101 in new.csv, which has 100"),
        (("--top", "0"), "--top must be a whole number of at least 1, not 0"),
        (("--format", "csv"), "--format is for data; leave it out, or say --row and the data that it is in"),
        (("--html", "nix/page.html"), "nix"),
        (("--html", "reviews.model"), "reviews.model is what is read; name another file to be written"),
    ],
)
def test_explain_says_what_is_wrong(arguments, sentence, run):
    assert sentence in run("explain", "reviews.model", *arguments, status=2)
    said = run("explain", "people.model", "--text", "x", status=2)
    assert said == "--text is for models of texts, and this one needs age, job, member; give a row: --row 1 DATA"


def test_off_a_terminal_names_are_not_cut(run, folder, monkeypatch):
    name = "a long name of a feature " * 4 + "which ends here"
    (folder / "a.jsonl").write_text("".join(json.dumps({name: i % 2, "y": f"l{i % 2}"}) + "\n" for i in range(8)))
    run("train", "a.jsonl", "--target", "y", "--quiet")
    assert name not in run("explain", "a.model")
    monkeypatch.delenv("COLUMNS")
    assert name in run("explain", "a.model")
