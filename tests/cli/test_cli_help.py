"""The help of the commands: every option, and examples that run."""

from __future__ import annotations

import ast
import inspect
import os
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import TypeGuard
from unittest.mock import Mock

import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import markone
from markone.cli import main, options
from markone.cli.app import COMMANDS, function_of
from markone.model.settings import Settings


def examples_of(name: str) -> list[str]:
    """The commands that the help of a command shows."""
    document = inspect.getdoc(function_of(name)) or ""
    return [line.strip("`") for line in document.splitlines() if re.match(r"`(markone|echo|zcat) ", line)]


# `demo` and `completion` have tests of their own, and `play` runs until it is stopped.
@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("demo", "completion", "play")])
def test_the_examples_in_the_help_run(name, folder, monkeypatch):
    # Few rows and no pictures: that there are many folds, rules and pages is not to take long.
    lines = (folder / "reviews.csv").read_text().splitlines(keepends=True)
    (folder / "reviews.csv").write_text("".join(lines[:100]))
    monkeypatch.setattr("markone.experiments.page.pictures_of", lambda _: ())
    # The playground and the service would be open until Ctrl-C.
    monkeypatch.setattr("markone.server.process.serve", Mock())
    monkeypatch.setattr("markone.play.server.Playground.serve_forever", Mock(side_effect=KeyboardInterrupt))
    monkeypatch.setattr("webbrowser.open", Mock())
    commands = examples_of(name)
    assert len(commands) >= 2
    in_pipes = [command for command in commands if "|" in command]
    crawl = folder / "crawl"
    crawl.mkdir()
    for number in range(2):
        pq.write_table(csv.read_csv(folder / "reviews.csv"), crawl / f"{number}.parquet")
    for command in commands:
        if command not in in_pipes and "--cluster" not in command:  # tests/test_cluster.py has clusters
            assert main(shlex.split(command)[1:]) == 0, command
    if in_pipes:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        script = "set -e\n" + "\n".join(in_pipes)
        subprocess.run(["sh", "-c", script], check=True, env={**os.environ, "PATH": path}, capture_output=True)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_does(name, run):
    text = run(*name.split(), "--help")
    assert "Example: " in text or "For example:" in text
    assert not re.search(r"│ +--[\w-]+( \w+)? +│", text)
    assert "None" not in text
    assert not re.search(r"\w+=(True|False|None)", text)


def test_options_are_those_of_the_settings_and_of_read(run):
    text = run("train", "--help")
    for field in fields(Settings):
        assert re.search(rf"{options.option(field.name)}\b", text)
    for name in inspect.signature(markone.read).parameters:
        assert (options.option(name) in text) == (name not in ("what", "keep", "once", "nan"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_commands_options_and_choices(shell, run):
    script = run("completion", shell)
    for word in ("train", "skip-bad", "perceptron", "probabilities"):
        assert word in script
    assert run("completion", "tcsh", status=2).startswith('Invalid value "tcsh"')


def test_a_terminal_of_one_column_is_no_reason_to_draw_for_ever(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1")
    assert "--target" in run("train", "--help")


def documented(command: str, run) -> dict[str, str]:
    """The usual values of options of learning, as help has them; a strength may be said only of something."""
    found = {}
    for part in re.split(r"\n│ (?=--)", run(*command.split(), "--help").partition("─ Learning ")[2]):
        words = " ".join(re.sub(r"[│╭╰─╮╯]", " ", part.partition("\n╰")[0]).split())
        option = re.match(r"--(?:no-)?([a-zA-Z-]+)", words)
        usual = re.search(r"\[default: ([^\]]*)\]", words)
        if option and option[1] == "rule":
            found["rule"] = re.search(r"([a-z-]+) by default", words)[1]
        elif option and usual and option[1] in {field.name for field in fields(Settings)} - {"holdout", "strength"}:
            found[option[1]] = usual[1]
    return found


def without_times(text: str) -> str:
    return re.sub(r'"(seconds|model)": [^,}]*', "", text)


@pytest.mark.parametrize("command", ["train", "validate", "trace"])
def test_usual_values_are_those_that_help_says(command, run):
    usual = documented(command, run)
    assert {"rule", "order", "seed", "tie", "bias"} <= usual.keys()
    said = []
    for name, value in usual.items():
        flag = {"yes": f"--{name}", "no": f"--no-{name}"}.get(value)
        said += [flag] if flag else [f"--{name}", value]
    arguments = [*command.split(), "people.csv", "--target", "income", "--json", "--threads", "1"]
    arguments += ["-o", "a.model"] if command == "train" else []
    plain = [] if command == "trace" else ["--plain"]  # tables have defaults of their own
    assert without_times(run(*arguments, *plain)) == without_times(run(*arguments, *said))
    others = without_times(run(*arguments, "--rule", "hinge", "--order", "once", "--seed", "3"))
    assert others != without_times(run(*arguments))


def test_options_that_a_trace_refuses_are_none(run):
    text = run("trace", "--help")
    assert "--holdout" not in text and "--patience" not in text
    assert "perceptron by default" in " ".join(text.replace("│", " ").split())


@pytest.mark.parametrize("command", ["train", "trace"])
def test_the_help_says_which_class_is_positive(command, capsys):
    from markone.data.class_order import positive_second

    assert main([command, "--help"]) == 0
    said = " ".join(re.sub("[│]", " ", capsys.readouterr().out).split())
    assert "or the label that the other one negates, as not spam negates spam" in said.replace("`", "")
    assert positive_second(["not spam", "spam"]) == positive_second(["spam", "not spam"]) == ["not spam", "spam"]


def test_the_docstrings_of_settings_are_those_that_python_finds() -> None:
    [tree] = [
        one
        for one in ast.parse(Path(inspect.getfile(Settings)).read_text(encoding="utf-8")).body
        if is_class(one, Settings)
    ]
    found = {
        before.target.id: inspect.cleandoc(ast.literal_eval(after.value)).replace("\n", " ")
        for before, after in pairwise(tree.body)
        if isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Name) and isinstance(after, ast.Expr)
    }
    assert options.attribute_docs(Settings) == found
    assert found.keys() == {field.name for field in fields(Settings)}


def is_class(statement: ast.stmt, of: type) -> TypeGuard[ast.ClassDef]:
    return isinstance(statement, ast.ClassDef) and statement.name == of.__name__
