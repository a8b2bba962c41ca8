"""Pages of the documentation, played from top to bottom: what they show is what a reader gets."""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import itertools
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

from markone.cli import main

BLOCK = re.compile(r"^```([^`\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_PLAYED = re.compile(r"(?:\w+=\S* +)*(?:make |pip |\.venv/)")
"""What changes the machine, or takes long; that the targets of make exist is another test."""
FOR_THE_SHELL = set("<>;&$*?`~\n")
CTRL_C = "^C\n"
MISTAKE = re.compile(r"^markone: ", re.MULTILINE)


def script_of_docs(name: str) -> ModuleType:
    """The script of that name in `docs`, as a module."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[1] / "docs" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def blocks(text: str, *languages: str) -> list[str]:
    """The fenced blocks in these languages."""
    return [found[2] for found in BLOCK.finditer(text) if found[1] in languages]


def play(page: str, text: str) -> str:
    """Does all that a page says, in the current folder; the page, with what was printed where something else is shown.

    Python sessions and commands behind a `$` are checked for their output, in which `...` stands for anything; programs
    and scripts of the shell just run. A command may fail only where the page shows what it complains of.
    """
    names: dict[str, Any] = {"__name__": "example"}

    def played(found: re.Match[str]) -> str:
        language, code = found[1], found[2]
        line = text.count("\n", 0, found.start(2))
        if language == "python" and code.startswith(">>>"):
            code = play_session(page, line, code, names)
        elif language == "python":
            exec(compile("\n" * line + code, page, "exec"), names)
        elif language == "console":
            code = "".join(play_command(page, command, shown) for command, shown in commands_in(code))
        elif language == "sh":
            script = "".join(line for line in code.splitlines(keepends=True) if not NOT_PLAYED.match(line))
            status, printed = in_shell(script)
            assert status == 0, f"{page}: {script}{printed}"
        return f"```{language}\n{code}```"

    return BLOCK.sub(played, text)


# ---- Python


def play_session(page: str, line: int, code: str, names: dict[str, Any]) -> str:
    session = doctest.DocTestParser().get_doctest(code, names, page, page, line)
    session.globs = names
    runner = Session()
    runner.run(session, out=lambda _: None, clear_globs=False)
    lines = code.splitlines(keepends=True)
    for example, printed in reversed(runner.others):
        begin = example.lineno + example.source.count("\n")
        lines[begin : begin + example.want.count("\n")] = [printed]
    return "".join(lines)


class Session(doctest.DocTestRunner):
    """Keeps the examples that print something else than they show."""

    def __init__(self) -> None:
        super().__init__(verbose=False, optionflags=doctest.ELLIPSIS)
        self.others: list[tuple[doctest.Example, str]] = []

    def report_failure(self, out: Any, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        if example.exc_msg is not None:
            got = "Traceback (most recent call last):\n...\n" + got.splitlines(keepends=True)[-1]
        self.others.append((example, re.sub(r"^$(?=\n)", "<BLANKLINE>", got, flags=re.MULTILINE)))

    def report_unexpected_exception(self, out: Any, test: doctest.DocTest, example: doctest.Example, exc: Any) -> None:
        exc[1].add_note(f"In {test.name}: {example.source}")
        raise exc[1]


# ---- the command line


def commands_in(code: str) -> Iterator[tuple[str, str]]:
    """The commands of a block, each with what is shown below it."""
    assert code.startswith("$ "), code
    for piece in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        found = re.match(r"(?:.*\\\n)*.*\n", piece)
        assert found
        yield found[0].rstrip("\n"), piece[found.end() :]


def play_command(page: str, command: str, shown: str) -> str:
    if not NOT_PLAYED.match(command):
        if CTRL_C in shown:
            status, printed = interrupted(command)
        else:
            status, printed = in_pieces(command) if is_plain(command) else in_shell(command)
        assert status == 0 or MISTAKE.search(shown), f"{page}: {command} ended with {status}\n{printed}"
        printed = re.sub(r" +$", "", printed, flags=re.MULTILINE)
        if not doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS):
            shown = with_ellipses(printed, shown)
    return f"$ {command}\n{shown}"


def with_ellipses(printed: str, shown: str) -> str:
    """What is printed, with `...` in place of the words that the page leaves out of a line with the same first word."""
    left_out = {line.split()[0]: line.split() for line in shown.splitlines() if "..." in line and line != "..."}
    lines = printed.splitlines(keepends=True)
    for number, line in enumerate(lines):
        words, before = line.split(), left_out.get((line.split() or [""])[0], [])
        for word, old in zip(words, before, strict=False):
            if len(words) == len(before) and "..." in old:
                lines[number] = lines[number].replace(word, old, 1)
    return "".join(lines)


def is_plain(command: str) -> bool:
    """Whether there is nothing for a shell to do but to cut it into words, and to make pipes."""
    bare = re.sub(r"'[^']*'|\"[^\"$`]*\"|\\\n", "", command)
    return "markone " in command and not set(bare) & FOR_THE_SHELL


def in_pieces(command: str) -> tuple[int, str]:
    """One piece of a pipe after the other, those of markone in this process: ten times as fast as in one of its own."""
    said = in_memory()
    passed, status = "", 0
    pieces = pieces_of(command)
    for piece in pieces:
        printed = said if piece is pieces[-1] else in_memory()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
            ended = in_this_process(piece[1:], passed) if piece[0] == "markone" else in_a_process(piece, passed)
        status, passed = ended or status, text_in(printed)
    return status, text_in(said)


def pieces_of(command: str) -> list[list[str]]:
    """The words of each command of a pipe."""
    words = shlex.shlex(command.replace("\\\n", ""), posix=True, punctuation_chars="|")
    words.whitespace_split = True
    return [list(piece) for is_bar, piece in itertools.groupby(words, "|".__eq__) if not is_bar]


def in_this_process(words: list[str], given: str) -> int:
    with mock.patch("sys.stdin", in_memory(given)):
        return main(words)


def in_a_process(words: list[str], given: str) -> int:
    done = subprocess.run(words, input=given, capture_output=True, encoding="utf-8", timeout=60)
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.returncode


def in_memory(text: str = "") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8", write_through=True)


def text_in(file: io.TextIOWrapper) -> str:
    return file.buffer.getvalue().decode()  # type: ignore[attr-defined, no-any-return]


def in_shell(script: str) -> tuple[int, str]:
    with start(script) as process:
        printed = process.communicate(timeout=60)[0]
    return process.returncode, printed


def interrupted(command: str) -> tuple[int, str]:
    """Presses Ctrl-C once there is a checkpoint."""
    with start(command) as process:
        end = time.monotonic() + 60
        while not list(Path().glob("*.checkpoint")) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.001)
        os.killpg(process.pid, signal.SIGINT)
        printed = process.communicate(timeout=60)[0]
    return process.returncode, CTRL_C + printed


def start(script: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        start_new_session=True,
    )
