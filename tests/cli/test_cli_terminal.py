"""What data and models hold never steers the terminal that shows it."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from markone.cli import main

NASTY = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp\u2066"
OUR_OWN = re.compile(r"\x1b\[([0-9;]*m|\?25[lh]|2K|[0-9]*A)|\r")
"""The colours of explanations, and how a bar is drawn and taken away."""


ALL = """
import json, sys
from markone.cli import main
for command in json.loads(sys.argv[1]):
    main(command)
    print("", flush=True)
    print(sys.argv[2], flush=True)
"""


def on_a_terminal(commands: list[list[str]]) -> list[str]:
    """What a terminal gets to see of commands, of standard output and standard error, one after the other."""
    ours, end = pty.openpty()
    mark = "----- the next command -----"
    process = subprocess.Popen(
        [sys.executable, "-c", ALL, json.dumps(commands), mark], stdin=subprocess.DEVNULL, stdout=end, stderr=end
    )
    os.close(end)
    seen = b""
    try:
        while piece := os.read(ours, 2**16):
            seen += piece
    except OSError:  # so a terminal ends on Linux
        pass
    os.close(ours)
    assert process.wait() == 0, seen
    return seen.decode().split(mark)[:-1]


def steers(text: str) -> list[str]:
    """The characters that a terminal would obey."""
    rest = OUR_OWN.sub("", text)
    return [c for c in rest if unicodedata.category(c) in ("Cc", "Cf") and c not in "\n\t"]


@pytest.fixture
def nasty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a folder in which everything has a nasty name."""
    monkeypatch.chdir(tmp_path)
    with open(f"{NASTY}.csv".replace("/", ""), "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow([f"word{NASTY}", f"size{NASTY}", f"kind{NASTY}"])
        rows.writerows([f"{'ab'[i % 2]}{NASTY}", i % 3, f"{'yn'[i % 2]}{NASTY}"] for i in range(20))
    with open("bad.csv", "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow([f"word{NASTY}", f"size{NASTY}", f"kind{NASTY}"])
        rows.writerows([[f"a{NASTY}", 1, f"y{NASTY}"], [f"a{NASTY}", NASTY, f"y{NASTY}"]])
    words = "".join(f"{i}\tw{i % 2}{NASTY}\t_\tT{i % 2}{NASTY}\t_\t_\t{i - 1}\tl{NASTY}\t_\t_\n" for i in range(1, 6))
    Path("trees.conllu").write_text(f"{words}\n" * 8)
    return f"{NASTY}.csv"


def test_nothing_in_data_steers_a_terminal(nasty: str) -> None:
    target = f"--target=kind{NASTY}"
    commands = [
        ["train", nasty, target, "-o", "m.model"],
        ["train", nasty, target, "-o", "j.model", "--json"],
        ["train", nasty, "--target", f"kin{NASTY}"],
        ["train", f"{NASTY}.cvs"],
        ["train", nasty, target, f"--{NASTY}"],
        ["predict", "m.model", nasty],
        ["predict", "m.model", nasty, "--keep", "all", "--scores"],
        ["predict", "m.model", nasty, "--keep", "all", "--output", "jsonl"],
        ["predict", "m.model", "bad.csv", "--skip-bad"],
        ["predict", "m.model", "bad.csv"],
        ["evaluate", "m.model", nasty],
        ["evaluate", "m.model", nasty, "--json"],
        ["evaluate", "m.model", nasty, "--margins"],
        ["explain", "m.model"],
        ["explain", "m.model", "--json"],
        ["explain", "m.model", "--row", "1", nasty],
        ["validate", nasty, target, "--folds", "2", "--quiet"],
        ["certify", nasty, target, "--quiet"],
        ["trace", nasty, target, "--steps", "3"],
        ["trace", nasty, target, "--steps", "3", "--json"],
        ["tag", "train", "trees.conllu", "-o", "t.tagger", "--test", "trees.conllu", "--epochs", "1", "--quiet"],
        ["tag", "evaluate", "t.tagger", "trees.conllu"],
        ["tag", "run", "t.tagger", "trees.conllu"],
        ["explain", "t.tagger", "--text", f"a dog {NASTY}"],
        ["explain", "t.tagger"],
        ["parse", "train", "trees.conllu", "-o", "t.parser", "--mode", "fast", "--epochs", "1", "--tag", "--quiet"],
        ["parse", "run", "t.parser", "trees.conllu"],
        ["parse", "run", "t.parser", "trees.conllu", "--output", "tree"],
        ["parse", "evaluate", "t.parser", "trees.conllu"],
        ["explain", "t.parser", "--row", "1", "trees.conllu"],
    ]
    screens = on_a_terminal(commands)
    assert len(screens) == len(commands)
    for command, seen in zip(commands, screens, strict=True):
        assert not steers(seen), (command, seen)


def test_what_is_no_terminal_gets_labels_as_they_are(nasty: str) -> None:
    assert main(["train", nasty, f"--target=kind{NASTY}", "-o", "m.model"]) == 0
    command = [sys.executable, "-m", "markone", "predict", "m.model", nasty]
    printed = subprocess.run(command, capture_output=True, check=True).stdout
    assert printed.decode().split("\n")[:2] == [f"y{NASTY}", f"n{NASTY}"]
    assert main(["predict", "m.model", nasty, "-o", "p.csv"]) == 0
    assert NASTY in Path("p.csv").read_text()
