"""Systems that lack what Linux has: no module of the package needs it to be imported, to train, to save or to load."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from markone.data import budget
from markone.data.spill import SpillFile

ABSENT = ("O_DIRECTORY", "O_CLOEXEC", "O_TMPFILE", "posix_fallocate", "sched_getaffinity", "fchmod", "sysconf", "fork")
"""What Windows does not have, of what the package uses."""

AS_ON_WINDOWS = f"""
import importlib, os, pkgutil, sys
for name in {ABSENT!r}:
    if hasattr(os, name):
        delattr(os, name)
for name in ("fcntl", "resource", "pwd", "grp", "termios", "_posixsubprocess"):
    sys.modules[name] = None

import numpy as np
import markone
rows = np.random.default_rng(0).normal(size=(300, 3))
model = markone.train(rows, target=np.where(rows[:, 0] > 0, "plus", "minus").tolist(), rule="mira")
for _ in range(2):  # the second time over a file that is there
    model.save("signs.model")
    assert np.array_equal(markone.load("signs.model").scores(rows), model.scores(rows))
markone.train(rows, target=["a", "b"] * 150, rule="perceptron", memory="1 MiB")
from markone.cli import main
assert main(["explain", "signs.model"]) == 0
import markone.server.learning
print(sorted(os.listdir(".")))
"""


def test_all_works_without_what_windows_lacks(tmp_path: Path) -> None:
    command = [sys.executable, "-c", AS_ON_WINDOWS]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "COLUMNS": "100"})
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "['signs.model']"  # nothing is left behind


def test_a_machine_that_does_not_tell_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sysconf")
    assert budget.physical_memory() == budget.GUESSED_MEMORY


def test_temporary_files_without_reservation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    with SpillFile() as file:
        file.reserve(100)
