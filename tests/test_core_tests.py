"""The tests of the core that are written in C++ (core/tests), where they were built: `make` does so."""

import subprocess
import sysconfig
from pathlib import Path

import pytest

PROGRAM = Path(sysconfig.get_path("scripts")) / "markone-core-tests"


@pytest.mark.skipif(not PROGRAM.exists(), reason="the core was built without its tests")
def test_the_core_passes_its_own_tests() -> None:
    run = subprocess.run([PROGRAM], capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "0 failures" in run.stdout
