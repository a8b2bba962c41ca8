"""What the tests of the commands share: files, models of them, and a way to run a command."""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
from pathlib import Path

import pytest

from commands import ROWS, rows_in
from made_treebanks import write_treebanks
from markone.cli import main
from markone.demo.reviews import write_reviews


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Path:
    """Files of reviews, and models of them: one of each kind that is asked for below."""
    folder = tmp_path_factory.mktemp("made")
    for name, count, seed in (("reviews.csv", ROWS, 1), ("test.csv", 100, 2), ("more.csv", 60, 3)):
        write_reviews(folder / name, count, seed)
        text = (folder / name).read_text().replace("guest,review", "label,text")
        (folder / name).write_text(text)
    rows = rows_in(folder / "test.csv")
    (folder / "new.csv").write_text("text\n" + "".join(f'"{row["text"]}"\n' for row in rows))
    (folder / "new.txt").write_text("".join(f"{row['text']}\n" for row in rows))
    (folder / "crawl.jsonl").write_text("".join(json.dumps({"text": row["text"]}) + "\n" for row in rows))
    articles = ["the team won,sports", "the vote was close,politics", "the team met the minister,sports;politics"]
    (folder / "articles.csv").write_text("text,topics\n" + "\n".join(articles * 20) + "\n")
    (folder / "reviews.csv.gz").write_bytes(gzip.compress((folder / "reviews.csv").read_bytes()))
    (folder / "people.csv").write_text(
        "age,job,member,income\n"
        + "".join(
            f"{20 + i},{'clerk' if i % 3 else 'baker'},{'yes' if i % 2 else 'no'},{'high' if i > 20 else 'low'}\n"
            for i in range(40)
        )
    )
    (folder / "spam.json").write_text('{"BIAS": -3, "free": 4, "money": 2}')
    (folder / "weights.json").write_text('{"BIAS": -0.5, "the": 0.1}')
    write_treebanks(folder)
    at = os.getcwd()
    os.chdir(folder)
    try:
        assert main(["train", "reviews.csv", "--target", "label", "--quiet"]) == 0
        assert (
            main(["train", "reviews.csv", "--target", "label", "--quiet", "--rule", "logistic", "-o", "l.model"]) == 0
        )
        counts = ["--rule", "naive-bayes", "-o", "naive-bayes.model"]
        assert main(["train", "reviews.csv", "--target", "label", "--quiet", *counts]) == 0
        assert main(["train", "people.csv", "--target", "income", "--quiet"]) == 0
        assert main(["tag", "train", "treebank.conllu", "--quiet"]) == 0
        assert main(["parse", "train", "treebank.conllu", "--mode", "fast", "--quiet"]) == 0
        assert (
            main(["parse", "train", "treebank.conllu", "--tag", "--mode", "fast", "--quiet", "-o", "text.parser"]) == 0
        )
    finally:
        os.chdir(at)
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch) -> Path:
    """A folder of its own with these files, in which the test is."""
    for path in made.iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.fixture
def run(folder, capsys, monkeypatch):
    """Runs a command: what it printed, what it complained of, and its status."""

    def command(*arguments: str, given: bytes | str | None = None, status: int = 0) -> str:
        if given is not None:
            data = given.encode() if isinstance(given, str) else given
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        capsys.readouterr()
        assert main(list(map(str, arguments))) == status, capsys.readouterr()
        captured = capsys.readouterr()
        if status == 0:
            command.errors = captured.err
            return captured.out
        assert captured.err.startswith("markone: ") and captured.err.count("\n") == 1
        return captured.err.removeprefix("markone: ").rstrip("\n")

    return command
