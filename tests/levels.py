"""The levels of processors for which the core is compiled."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from markone import _core


def check_levels(program: str) -> None:
    """What a program prints is the same on every level that this processor has."""
    if _core.cpu_level() == "baseline":
        pytest.skip("this processor has one level only")
    program += "\nfrom markone import _core\nprint(_core.cpu_level())"
    printed = {}
    for level in ("baseline", ""):
        environment = {**os.environ, "MARKONE_CPU": level}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        said, used = done.stdout.rstrip().rsplit("\n", 1)
        printed[used] = said
    assert {*printed} == {"baseline", _core.cpu_level()}
    assert len({*printed.values()}) == 1
