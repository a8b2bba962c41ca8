"""`markone lecture`: lists, topics, answers, pictures and data."""

from __future__ import annotations

import pytest

from markone.lectures.decks import decks
from markone.reporting.grids import SCREEN, cells


def test_lectures_and_their_topics_are_listed(run):
    text = run("lecture")
    for deck in decks().values():
        assert f"{deck.number}  {deck.title} ({deck.source}), {len(deck.topics)} topics" in text
        listed = run("lecture", deck.number)
        names = [
            line.split()[0] for line in listed.splitlines() if line.startswith("  ") and not line.startswith("   ")
        ]
        assert names == [topic.name for topic in deck.topics]
        assert listed.endswith(f"Next:  markone lecture {deck.number} {names[0]}\n")
        assert all(cells(line) <= SCREEN for line in listed.splitlines())
    assert run("lecture", "0") == run("lecture", "000")


def test_a_topic_is_shown_with_its_question_and_next_commands(run):
    text = run("lecture", "000", "trace")
    assert text.startswith("The binary perceptron algorithm, step by step\nFrom w = (0, 0)")
    assert "x1 3 - 2 = 1, x2 2 - 3 = -1" in text and "(--answer shows the answer)" in text and "Answer:" not in text
    assert "Next:  markone lecture 000 trace --data trace.csv\n" in text
    # The command continues after a backslash, as in a shell.
    joined = " ".join(text.replace("\\\n", " ").split())
    assert joined.endswith("markone trace trace.csv --target label --tie negative --no-bias --no-average")
    assert all(cells(line) <= SCREEN for line in text.splitlines())


def test_the_answer_and_the_picture_are_options(run):
    plain = run("lecture", "000", "spam")
    assert "Answer: By 3" in run("lecture", "000", "spam", "--answer") and "Answer" not in plain
    assert "█" in plain and "█" not in run("lecture", "000", "spam", "--no-picture")


def test_unknown_lectures_and_topics_get_the_nearest(run):
    error = run("lecture", "005", status=2)
    assert "must be one of 000 (Perceptron)" in error and "'005'" in error
    assert run("lecture", "000", "spma", status=2).endswith("Did you mean 'spam'?")
    assert run("lecture", "000", "mark-one", status=2).endswith("'mark-one'. Try: markone lecture 001 mark-one")
    assert "must be one of" in run("lecture", "perceptron", "spam", status=2)


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("margin", "001 margin"),
        ("MARGIN", "001 margin"),
        ("000 convergence", "000 induction"),
        ("004 xOR", "004 xor"),
        ("002 thrash", "000 inseparable"),
        ("000 loocv", "002 leave-one-out"),
        ("cross_validation", "002 test-set"),
        ("003 Rosenb", "003 mark-one"),
    ],
)
def test_topics_are_found_by_the_words_of_the_lectures(run, words, first):
    said = run("lecture", *words.split(), status=2)
    commands = said.split(" Try: ")[1].split(", ")
    assert commands[0] == f"markone lecture {first}" and len(set(commands)) == len(commands) <= 3
    for command in commands:
        assert run(*command.split()[1:], "--brief")


def test_words_that_no_lecture_has_find_nothing(run):
    for words in (["zebra"], ["000", "zebra"], ["7"], ["000", "*"], ["000", ""]):
        assert "Try:" not in run("lecture", *words, status=2)


def test_the_data_are_saved_and_named_in_the_commands(run, folder):
    text = run("lecture", "004", "xor", "--data", "my points.csv")
    assert (folder / "my points.csv").read_text().splitlines() == [
        "x1,x2,label",
        "0,0,-1",
        "0,1,+1",
        "1,0,+1",
        "1,1,-1",
    ]
    assert "markone certify 'my points.csv' --target label" in text and "--data" not in text
    assert run("certify", "my points.csv", "--target", "label").startswith("not separable")


def test_data_that_cannot_be_saved_get_a_sentence(run, folder):
    assert "nowhere" in run("lecture", "000", "trace", "--data", "nowhere/points.csv", status=2)
    assert not (folder / "nowhere").exists()
    assert run("lecture", "000", "spam", "--data", "points.csv", status=2).endswith("leave out --data")
    assert not (folder / "points.csv").exists()
    (folder / "taken").mkdir()
    assert "taken" in run("lecture", "000", "trace", "--data", "taken", status=2)


def test_a_topic_is_drawn_in_a_file(run, folder):
    run("lecture", "000", "trace", "--plot", "trace.svg", "--no-picture")
    assert "<svg" in (folder / "trace.svg").read_text()
    run("lecture", "004", "next-point", "--plot", "points.png")
    assert (folder / "points.png").read_bytes().startswith(b"\x89PNG")
    assert "plot" in run("lecture", "000", "trace", "--plot", "trace.txt", status=2)
    assert "another file" in run("lecture", "000", "trace", "--data", "a.svg", "--plot", "a.svg", status=2)
