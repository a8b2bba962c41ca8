"""When there is no more memory, training and predicting end with a MemoryError, and what they worked on can be used."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from quickly import slow

HERE = Path(__file__).parent
COMPILER = shutil.which("g++") or shutil.which("c++")
pytestmark = [
    pytest.mark.skipif(
        COMPILER is None or not sys.platform.startswith("linux"), reason="needs a C++ compiler and glibc"
    ),
    pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer has its own allocator"),
]


@pytest.fixture(scope="module")
def allocator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("allocator") / "failing_memory.so"
    subprocess.run(
        [str(COMPILER), "-O1", "-shared", "-fPIC", "-o", made, HERE / "failing_memory.cpp", "-ldl"], check=True
    )
    return made


@pytest.mark.parametrize("stride", [7, slow(1)])
def test_memory_that_fails_is_an_error_and_no_end(allocator: Path, stride: int) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", HERE / "failing_memory.py", str(stride)],
        env={**os.environ, "LD_PRELOAD": str(allocator)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert done.stdout.splitlines()[-1].startswith("texts: ")
