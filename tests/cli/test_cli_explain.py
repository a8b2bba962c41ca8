"""`markone explain`: of a model, of an example, and on a page."""

from __future__ import annotations

import json

import pytest

import markone
from commands import rows_in
from markone import Parser, Tagger
from markone.structured.explaining import explain_sentence, explain_tagger


def test_explain_shows_a_model_and_an_example(run, folder):
    model = markone.load("reviews.model")
    assert "features that support happy" in run("explain", "reviews.model")
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
        (("--text", "a", "--row", "1", "new.csv"), "--text is the example, so leave out --row and the data"),
        (("--row", "1"), "--row and the data belong together: give both, as in --row 3 new.csv"),
        (("new.csv",), "--row and the data belong together"),
        (("clean",), "there is no file clean; if this is the text to explain, write --text clean"),
        (("--row", "0", "new.csv"), "--row must be at least 1, not 0"),
        (("--row", "101", "new.csv"), "there is no row 101 in new.csv, which has 100 rows"),
        (("--top", "0"), "--top must be a whole number of at least 1, not 0"),
        (("--format", "csv"), "--format is only for reading data; leave it out, or give --row and the data"),
        (("--html", "nix/page.html"), "nix"),
        (("--html", "reviews.model"), "reviews.model is an input file; name another file for the output"),
    ],
)
def test_explain_says_what_is_wrong(arguments, sentence, run):
    assert sentence in run("explain", "reviews.model", *arguments, status=2)
    said = run("explain", "people.model", "--text", "x", status=2)
    assert said == "--text is only for models of texts, and this model needs age, job, member; use --row 1 DATA instead"


def test_off_a_terminal_names_are_not_cut(run, folder, monkeypatch):
    name = "a long name of a feature " * 4 + "which ends here"
    (folder / "a.jsonl").write_text("".join(json.dumps({name: i % 2, "y": f"l{i % 2}"}) + "\n" for i in range(8)))
    run("train", "a.jsonl", "--target", "y", "--quiet")
    assert name not in run("explain", "a.model")
    monkeypatch.delenv("COLUMNS")
    assert name in run("explain", "a.model")


# ---- taggers and parsers

SENTENCE = "the old dog sees a walk"


def test_a_text_may_stand_where_data_would(run, folder):
    assert run("explain", "reviews.model", "not a clean room") == run(
        "explain", "reviews.model", "--text", "not a clean room"
    )
    (folder / "two words").write_text("a clean room\n")
    assert "--row and the data belong together" in run("explain", "reviews.model", "two words", status=2)
    assert run("explain", "reviews.model", "--row", "1", "two words", "--format", "lines") == run(
        "explain", "reviews.model", "a clean room"
    )


@pytest.mark.parametrize(("kind", "file"), [(Tagger, "treebank.tagger"), (Parser, "text.parser")])
def test_explain_shows_why_words_are_what_they_are(run, folder, kind, file):
    model = kind.load(file)
    words = SENTENCE.split()
    facts = json.loads(run("explain", file, SENTENCE, "--json"))
    assert facts == json.loads(json.dumps(explain_sentence(model, words).as_dict()))
    assert [word["word"] for word in facts["words"]] == words
    shown = run("explain", file, "--text", SENTENCE)
    for number, word in enumerate(words, 1):
        assert f"{number} {word}" in shown
    facts = json.loads(run("explain", file, SENTENCE, "--word", "3", "--json"))
    assert facts == json.loads(json.dumps(model.explain(words, 2).as_dict()))
    whole, few = (run("explain", file, SENTENCE, "--word", "3", "--top", top) for top in ("50", "2"))
    assert whole.startswith("'dog' ") and len(few) < len(whole) and " more " in few
    assert run("explain", file, SENTENCE, "--html", "page.html") == ""
    assert "sees" in (folder / "page.html").read_text()


def test_a_line_says_what_was_decided_and_by_how_much(run, folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    why = Tagger.load("treebank.tagger").explain(SENTENCE.split(), 2)
    [line] = [line for line in run("explain", "treebank.tagger", SENTENCE).splitlines() if line.startswith("3 dog")]
    strongest = max(why.terms, key=lambda term: term.difference)
    weakest = min(why.terms, key=lambda term: term.difference)
    assert line.split()[2:5] == [why.chosen, why.against, f"{why.margin:.4g}"]
    assert strongest.feature in line and weakest.feature in line and strongest.difference > 0 > weakest.difference
    arc, label = run("explain", "text.parser", SENTENCE).splitlines()[5:7]
    assert arc.startswith("3 dog ") and " of sees, left " in arc and label.split()[0] == "nsubj"
    monkeypatch.setenv("COLUMNS", "50")  # features give way where there is no room
    assert strongest.feature not in run("explain", "treebank.tagger", SENTENCE)


def test_explain_shows_what_a_tagger_goes_by(run, folder):
    tagger = Tagger.load("treebank.tagger")
    facts = json.loads(run("explain", "treebank.tagger", "--json", "--top", "3"))
    assert facts == json.loads(json.dumps(explain_tagger(tagger, 3).as_dict()))
    assert list(facts["tags"]) == tagger.tags and all(len(found) == 3 for found in facts["tags"].values())
    assert "evidence for NOUN" in run("explain", "treebank.tagger")


@pytest.mark.parametrize("file", ["treebank.tagger", "treebank.parser"])
def test_explain_finds_a_sentence(run, folder, file):
    said = run("explain", file, "--row", "7", "test.conllu")
    assert said == run("explain", file, "--row", "7", "test.conllu", "--format", "conllu")
    sentence = markone.structured.corpora.read_sentences("test.conllu").some(6, 7)
    kind = Tagger if file.endswith("tagger") else Parser
    assert json.loads(run("explain", file, "--row", "7", "test.conllu", "--json")) == json.loads(
        json.dumps(explain_sentence(kind.load(file), sentence).as_dict())
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("treebank.tagger", SENTENCE, "--word", "7"), "--word must be the number of one of the 6 words, not 7"),
        (("treebank.tagger", SENTENCE, "--word", "0"), "--word must be the number of one of the 6 words, not 0"),
        (("treebank.tagger", "--word", "1"), "--word needs a sentence"),
        (("treebank.tagger", "A dog. A cat."), "--text must be one sentence, and has 2; explain them one at a time"),
        (("treebank.tagger", "--text", " "), "--text must be one sentence, and has 0"),
        (("treebank.tagger", SENTENCE, "--top", "0"), "--top must be a whole number of at least 1, not 0"),
        (("treebank.tagger", "--row", "0", "test.conllu"), "--row must be at least 1, not 0"),
        (
            ("treebank.tagger", "--row", "99", "test.conllu"),
            "there is no sentence 99 in test.conllu, which has 20 sentences",
        ),
        (("treebank.tagger", "--row", "1", "test.conllu", "--quote", "x"), "--quote does not apply to sentences"),
        (("treebank.parser",), "--text must be given to explain a parser, for example --text 'The dog barks.'"),
        (("treebank.parser", SENTENCE), "this parser needs words with upos; tag the words first with"),
        (("reviews.model", "a clean room", "--word", "2"), "--word is only for taggers and parsers; leave it out"),
    ],
)
def test_explain_says_what_is_wrong_with_sentences(arguments, sentence, run):
    assert run("explain", *arguments, status=2).startswith(sentence)
