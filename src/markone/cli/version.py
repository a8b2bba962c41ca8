"""What a report of a defect should say about the program."""

from __future__ import annotations

import platform

import numpy

from markone import __version__, _core

__all__ = ["describe"]


def describe() -> str:
    """The versions of the program and of what it runs on, and the processors that the core was compiled for."""
    facts = {
        "markone": __version__,
        "Python": platform.python_version(),
        "NumPy": numpy.__version__,
        "compiler": _core.compiler(),
        "levels built": ", ".join(_core.cpu_levels()),
        "level chosen": _core.cpu_level(),
    }
    return "\n".join(f"{name} {value}" for name, value in facts.items())
