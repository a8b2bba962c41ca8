"""The facts about the program that a bug report should contain."""

from __future__ import annotations

import platform

import numpy

from markone import __version__, _core

__all__ = ["describe"]


def describe() -> str:
    """Return the versions of Markone, Python, NumPy and the compiler, and the processors that the core supports."""
    facts = {
        "markone": __version__,
        "Python": platform.python_version(),
        "NumPy": numpy.__version__,
        "compiler": _core.compiler(),
        "levels built": ", ".join(_core.cpu_levels()),
        "level chosen": _core.cpu_level(),
    }
    return "\n".join(f"{name} {value}" for name, value in facts.items())
