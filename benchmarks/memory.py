"""Memory: the most that a piece of work had at a time.

That is what this process had more than before, and the most that one of the processes had that it started. Linux can
forget the largest size so far; elsewhere nothing is measured.
"""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path
from typing import Any

STATUS = Path("/proc/self/status")
FORGET = Path("/proc/self/clear_refs")
FORGET_LARGEST = "5"
BETWEEN_LOOKS = 0.005
"""The number of seconds between two looks at another process."""


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


def size(name: str, status: Path = STATUS) -> int:
    """A size of this process, or of the process with this status, in bytes; 0 if the process has ended."""
    try:
        lines = status.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:")), 0)


def run_process(command: list[str], *, line: str | None = None, **options: Any) -> None:
    """Run a process to its end, with `line` as its input, and note how much memory it had.

    The memory is looked at while the process runs. Its own account at its end (`ru_maxrss`) is never smaller than the
    memory of the process that started it.
    """
    process = subprocess.Popen(command, stdin=subprocess.PIPE if line is not None else None, text=True, **options)
    ended = threading.Event()
    looking = threading.Thread(target=look, args=(Path(f"/proc/{process.pid}/status"), ended))
    looking.start()
    try:
        process.communicate(line)
    finally:
        ended.set()
        looking.join()
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)


def look(status: Path, ended: threading.Event) -> None:
    """Note the largest size of a process again and again."""
    while not ended.wait(BETWEEN_LOOKS):
        PEAK.of_processes = max(PEAK.of_processes, size("VmHWM", status))
