"""The levels of processors: which there are, which one is chosen, and what is said of a wrong wish."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from markone import _core

V3 = "x86-64-v3"
NEEDED = {
    "avx2": "avx2",
    "bmi1": "bmi1",
    "bmi2": "bmi2",
    "f16c": "f16c",
    "fma": "fma",
    "abm": "lzcnt",
    "movbe": "movbe",
}
"""What Linux calls the features of x86-64-v3, and what we call them."""


def run(*arguments: str, level: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MARKONE_CPU": level}
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False)


def test_the_first_level_runs_everywhere() -> None:
    levels = _core.cpu_levels()
    assert next(iter(levels)) == "baseline" and levels["baseline"] == []
    assert _core.cpu_level() in levels


@pytest.mark.skipif(V3 not in _core.cpu_levels(), reason="this build has one level only")
def test_what_the_processor_lacks_is_what_the_system_says() -> None:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    flags = next(line for line in lines if line.startswith("flags")).split()
    lacking = {ours for theirs, ours in NEEDED.items() if theirs not in flags}
    assert {*_core.cpu_levels()[V3]} - {"avx", "osxsave"} == lacking
    if not lacking:
        assert _core.cpu_levels()[V3] == []


@pytest.mark.parametrize("level", [name for name, missing in _core.cpu_levels().items() if not missing])
def test_a_level_that_runs_here_can_be_chosen(level: str) -> None:
    done = run("-c", "from markone import _core; print(_core.cpu_level())", level=level)
    assert done.stdout.split() == [level]


def test_without_a_wish_the_best_level_is_chosen() -> None:
    best = [name for name, missing in _core.cpu_levels().items() if not missing][-1]
    done = run("-c", "from markone import _core; print(_core.cpu_level())")
    assert done.stdout.split() == [best]


def test_an_unknown_level_is_refused_by_the_library() -> None:
    program = """
import numpy, markone
try:
    markone.train(numpy.eye(4), [0, 1, 0, 1])
except markone.MarkoneError as error:
    print(type(error).__name__, error)
"""
    done = run("-c", program, level="v9")
    assert done.stdout.startswith("SettingsError MARKONE_CPU is 'v9', which is not a level that was built")
    assert ", ".join(_core.cpu_levels()) in done.stdout


def test_an_unknown_level_is_refused_on_the_command_line(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("x,label\n1,a\n2,b\n", encoding="utf-8")
    done = run("-m", "markone", "train", str(data), "--target", "label", level="v9")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "MARKONE_CPU is 'v9'" in done.stderr


def test_the_verbose_version_says_what_the_program_runs_on() -> None:
    done = run("-m", "markone", "--version", "--verbose", level="baseline")
    facts = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines() if not line.startswith("compiler"))
    assert {"markone", "Python", "NumPy", "level chosen"} <= {*facts}
    assert facts["level chosen"] == "baseline"
    assert f"compiler {_core.compiler()}" in done.stdout
    assert ", ".join(_core.cpu_levels()) in done.stdout
    plain = run("-m", "markone", "--version")
    assert plain.stdout.strip() == done.stdout.splitlines()[0]
