"""The levels of processors for which the core is compiled."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from functools import cache

import pytest

from markone import _core

RUNS_PROGRAMS = """
import contextlib, io, json, sys
for line in sys.stdin:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(json.loads(line), {"__name__": "__main__"})
    print(json.dumps(said.getvalue()), flush=True)
"""


def check_levels(program: str) -> None:
    """What a program prints is the same on every level that this processor has."""
    if _core.cpu_level() == "baseline":
        pytest.skip("this processor has one level only")
    program += "\nfrom markone import _core\nprint(_core.cpu_level())"
    printed = {}
    for level in ("baseline", ""):
        said, used = printed_by(process_of(level), program).rstrip().rsplit("\n", 1)
        printed[used] = said
    assert {*printed} == {"baseline", _core.cpu_level()}
    assert len({*printed.values()}) == 1


@cache
def process_of(level: str) -> subprocess.Popen[str]:
    """A process on this level that runs programs, one per line, until the tests end."""
    environment = {**os.environ, "MARKONE_CPU": level}
    process = subprocess.Popen(
        [sys.executable, "-c", RUNS_PROGRAMS], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(process.communicate)
    return process


def printed_by(process: subprocess.Popen[str], program: str) -> str:
    assert process.stdin is not None and process.stdout is not None
    print(json.dumps(program), file=process.stdin, flush=True)
    said = process.stdout.readline()
    assert said, "the program has failed; its traceback is on standard error"
    return str(json.loads(said))
