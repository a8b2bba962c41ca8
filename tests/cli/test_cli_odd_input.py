"""Sentences that come in odd ways to `markone tag run` and `markone parse run`."""

from __future__ import annotations

import json

import pytest

RUN = {"tag": ("tag", "run", "treebank.tagger"), "parse": ("parse", "run", "text.parser")}
commands = pytest.mark.parametrize("command", RUN.values(), ids=RUN)


@commands
def test_an_empty_input_is_an_empty_output(run, folder, command):
    """A stream may have nothing in it: whoever reads the output gets nothing, and no mistake was made."""
    for text in ("", " \n\n"):
        assert run(*command, "-", given=text) == ""
    assert run(*command, "-", "--format", "conllu", given="# a\n# b\n") == ""
    for text in ("", "\n", "# only a comment\n", "# one\n\n# two"):
        (folder / "none.conllu").write_text(text)
        run(*command, "none.conllu", "-o", "out.conllu")
        assert (folder / "out.conllu").read_text() == ""


def test_a_page_without_trees_is_a_page(run, folder):
    (folder / "none.txt").write_text("\n")
    for given in (None, "the dog sees ."):
        page = run("parse", "run", "text.parser", "none.txt" if given is None else "-", "--output", "html", given=given)
        assert page.startswith("<!doctype html>") and page.endswith("</html>\n") and page.count("<!doctype") == 1


@commands
def test_the_last_line_need_not_end(run, folder, command):
    whole = run(*command, "-", given="the dog sees a walk\n")
    assert run(*command, "-", given="the dog sees a walk") == whole and whole.endswith("\n\n")
    text = (folder / "test.conllu").read_text()
    for given in (text, text[:-1], text[:-2]):
        assert run(*command, "-", given=given) == given
    how, line = ("-", "--format", "jsonl", "--output", "jsonl"), '{"tokens": ["dog"]}'
    assert run(*command, *how, given=line) == run(*command, *how, given=line + "\n")


@commands
@pytest.mark.parametrize("missing", [1, 2])
def test_files_that_do_not_end_are_kept_apart(run, folder, command, missing):
    text = (folder / "test.conllu").read_text()
    (folder / "many").mkdir()
    for name in "abc":
        (folder / "many" / f"{name}.conllu").write_text(text[:-missing])
    assert run(*command, "many/*.conllu") == (3 * text)[:-missing]


def test_files_of_columns_that_do_not_end_are_kept_apart(run, folder):
    (folder / "a.iob").write_text("the DET\ndog NOUN")
    (folder / "b.iob").write_bytes(b"a DET\r\nroom NOUN\r\n")
    said = run("tag", "run", "treebank.tagger", "?.iob")
    assert said == "the DET DET\ndog NOUN NOUN\n\na DET DET\r\nroom NOUN NOUN\r\n"
    lines = [
        json.loads(line) for line in run("tag", "run", "treebank.tagger", "?.iob", "--output", "jsonl").splitlines()
    ]
    assert [line["tokens"] for line in lines] == [["the", "dog"], ["a", "room"]]


@commands
def test_lines_may_end_as_on_windows(run, folder, command):
    text = (folder / "test.conllu").read_bytes()
    (folder / "windows.conllu").write_bytes(text.replace(b"\n", b"\r\n"))
    run(*command, "windows.conllu", "-o", "out.conllu")
    assert (folder / "out.conllu").read_bytes() == text.replace(b"\n", b"\r\n")
    plain = "the dog sees\na walk\n\nthe dog sees .\n"
    assert run(*command, "-", given=plain.replace("\n", "\r\n")) == run(*command, "-", given=plain)
    lines = '{"tokens": ["the", "dog"]}\n{"tokens": ["a", "walk"]}\n'
    how = ("-", "--format", "jsonl", "--output", "jsonl")
    assert run(*command, *how, given=lines.replace("\n", "\r\n")) == run(*command, *how, given=lines)


@commands
def test_a_word_may_be_very_long(run, command):
    word = "a" * 300_000
    facts = json.loads(run(*command, "-", "--output", "jsonl", given=f"the {word} sees"))
    assert facts["tokens"] == ["the", word, "sees"] and len(facts["upos"]) == 3


@commands
def test_a_byte_order_mark_is_no_word(run, folder, command):
    for text in ("the dog sees", (folder / "test.conllu").read_text()):
        assert run(*command, "-", given="\ufeff" + text) == run(*command, "-", given=text)
