"""Memory: the most that a piece of work had at a time.

That is what this process had more than before, and the most that one of the processes had that it started. Linux can
forget the largest size so far; elsewhere nothing is measured.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

STATUS = Path("/proc/self/status")
FORGET = Path("/proc/self/clear_refs")
FORGET_LARGEST = "5"


class Peak:
    """The largest size from `begin` to `end`."""

    def __init__(self) -> None:
        self.before = self.of_processes = 0
        self.found: int | None = None

    def begin(self) -> None:
        self.of_processes, self.found = 0, None
        if FORGET.exists() and STATUS.exists():
            FORGET.write_text(FORGET_LARGEST)
            self.before = size("VmRSS")

    def end(self) -> None:
        if FORGET.exists() and STATUS.exists():
            self.found = max(0, size("VmHWM") - self.before) + self.of_processes

    def bytes(self) -> int | None:
        """What was found last, which may be asked for once."""
        found, self.found = self.found, None
        return found


PEAK = Peak()
"""That of the work which is being timed."""


def size(name: str) -> int:
    """A size of this process, in bytes."""
    [line] = [line for line in STATUS.read_text().splitlines() if line.startswith(f"{name}:")]
    return int(line.split()[1]) * 1024


def run_process(command: list[str], *, line: str | None = None, **options: Any) -> None:
    """Run a process to its end, with `line` as its input, and note how much memory it had."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE if line is not None else None, text=True, **options)
    if line is not None:
        assert process.stdin is not None
        process.stdin.write(line)
        process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    PEAK.of_processes = max(PEAK.of_processes, usage.ru_maxrss * 1024)
