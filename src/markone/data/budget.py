"""The memory budget: how much memory the machine has, and how much of it may be used."""

from __future__ import annotations

import os
import re
from pathlib import Path

from markone.errors import SettingsError

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
LEAST = 2**20
GUESSED_MEMORY = 4 * 2**30
CONTAINER_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def memory_budget(memory: int | str | None, setting: str = "memory") -> int:
    """Return the budget in bytes: the given number or text, such as "500 MB", or half of the machine's memory. Errors
    name the setting.

    >>> memory_budget("1.5 GB")
    1500000000
    """
    if memory is None:
        return machine_memory() // 2
    given = memory
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", memory) if isinstance(memory, str) else None
    if found is not None and found[2].upper() in UNITS:
        memory = int(float(found[1]) * UNITS[found[2].upper()])
    if isinstance(memory, bool) or not isinstance(memory, int) or memory < LEAST:
        raise SettingsError(
            setting, f"must be a number of bytes, or a text such as '500 MB', and at least 1 MiB, not {given!r}"
        )
    return memory


def physical_memory() -> int:
    """What the system says; a modest guess where it cannot be asked as POSIX asks."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return GUESSED_MEMORY


def machine_memory() -> int:
    """The memory of the machine, or of the container if that is less."""
    machine = physical_memory()
    for path in CONTAINER_LIMITS:
        try:
            text = Path(path).read_text().strip()
        except OSError:
            continue
        if text.isdigit():
            machine = min(machine, int(text))
    return machine
