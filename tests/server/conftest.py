"""What the tests of the service share: Chromium, and services in processes of their own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

Start = Callable[..., tuple[subprocess.Popen[str], int]]


@pytest.fixture
def start() -> Iterator[Start]:
    with start_services() as start_one:
        yield start_one


@contextmanager
def start_services() -> Iterator[Start]:
    """Starts `markone serve` with any free port; returns the process and the port when it answers."""
    running: list[subprocess.Popen[str]] = []

    def start_one(*arguments: Any, **environment: str) -> tuple[subprocess.Popen[str], int]:
        process = subprocess.Popen(
            [sys.executable, "-m", "markone", "serve", "--port", "0", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={name: value for name, value in os.environ.items() if name != "MARKONE_TOKEN"} | environment,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        running.append(process)
        assert process.stdout is not None
        for line in process.stdout:
            found = re.search(r"at http://[^:]+:(\d+)/", line)
            if found:
                return process, int(found[1])
        raise AssertionError(process.communicate()[1])

    try:
        yield start_one
    finally:
        for process in running:
            process.kill()
            process.communicate()
