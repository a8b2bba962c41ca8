"""What all tests share."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from hypothesis import settings

from browsing import axe, browser, page
from clusters import cluster, folder

__all__ = ["axe", "browser", "cluster", "folder", "page"]

# Compiled modules are kept, whatever the environment says: each process that a test starts would compile them again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# The tests have a process for each core: threads of the numerical libraries would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

settings.register_profile("quick", deadline=None, derandomize=True, max_examples=10, print_blob=False)
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=100)
settings.register_profile("fuzz", deadline=None, max_examples=3000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Imported modules and collected tests live until the end: the garbage collector never needs to visit them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True, scope="session")
def ctrl_c_is_heard() -> Iterator[None]:
    """A shell that starts the tests in the background makes them, and every program they start, ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True, scope="session")
def disks_are_not_waited_for() -> Iterator[None]:
    """No test can see whether a disk has really written. That it is asked to, and when, is tested with the files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield
