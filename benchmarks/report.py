"""The report: a table in Markdown, with all that is needed to judge its figures."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

from benchmarks.cases import Case
from benchmarks.timing import Comparison, Outcome

PACKAGES = ("markone", "numpy", "scipy", "scikit-learn")
CPU_FACTS = Path("/proc/cpuinfo")


def render(results: list[tuple[Case, Comparison]], skipped: list[Case], rounds: int) -> str:
    """The whole file."""
    cases = [case for case, _ in results]
    parts = [
        "# Markone and its peers, side by side",
        "\n".join(f"- {fact}" for fact in facts()),
        how(rounds),
        table(
            ("case", "ours", "theirs", "ratio", "at least", "accuracy ours / theirs"),
            (row(case, result) for case, result in results),
        ),
    ]
    if skipped:
        parts.append(f"Skipped, for want of the data: {'; '.join(case.name for case in skipped)}.")
    parts += [
        "## The contestants",
        table(
            ("case", "ours", "theirs"),
            unique((case.what, f"`{case.ours.name}`", f"`{case.theirs.name}`") for case in cases),
        ),
        "## The data",
        table(("name", "rows to learn from"), unique((case.data.name, case.data.about) for case in cases)),
    ]
    return "\n\n".join(parts) + "\n"


def how(rounds: int) -> str:
    turns = "one turn each" if rounds == 1 else f"the best of {rounds} turns each"
    return (
        "Both sides ran in one process, on one thread, on the same data in memory, taking turns (ours, theirs, ours, "
        f"theirs); the figures are {turns}. A time is that of a whole `fit` or of one call; in brackets stands that of "
        "one stored value in one pass. The ratio is their time by ours, in bold where it falls short; our accuracy on "
        "the test rows may be at most one point below theirs."
    )


def facts() -> list[str]:
    """When, where and with what."""
    return [
        f"Date: {datetime.date.today().isoformat()}",
        f"Machine: {cpu()}, {os.cpu_count()} cores",
        f"Versions: Python {platform.python_version()}, " + ", ".join(f"{name} {version(name)}" for name in PACKAGES),
    ]


def cpu() -> str:
    if CPU_FACTS.exists():
        for line in CPU_FACTS.read_text().splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def row(case: Case, result: Comparison) -> tuple[str, ...]:
    short = result.ratio < case.at_least
    return (
        case.name,
        cost(result.ours),
        cost(result.theirs),
        f"**{ratio(result)}**" if short else ratio(result),
        f"{case.at_least:g}",
        accuracies(result),
    )


def sentence(result: Comparison) -> str:
    """A result in a line."""
    return f"ours {cost(result.ours)}, theirs {cost(result.theirs)}, ratio {ratio(result)}"


def cost(outcome: Outcome) -> str:
    value = "" if outcome.values is None else f" ({three_digits(outcome.seconds / outcome.values * 1e9)} ns)"
    return duration(outcome.seconds) + value


def duration(seconds: float) -> str:
    """In the unit that suits.

    >>> duration(1.5), duration(0.0123), duration(4.56e-4)
    ('1.50 s', '12.3 ms', '456 µs')
    """
    for size, unit in ((1, "s"), (1e-3, "ms")):
        if seconds >= size:
            return f"{three_digits(seconds / size)} {unit}"
    return f"{three_digits(seconds * 1e6)} µs"


def three_digits(number: float) -> str:
    return f"{number:.{2 if number < 10 else 1 if number < 100 else 0}f}"


def ratio(result: Comparison) -> str:
    return f"{result.ratio:.2f}" if result.ratio < 10 else f"{result.ratio:.0f}"


def accuracies(result: Comparison) -> str:
    return f"{result.ours.accuracy:.2%} / {result.theirs.accuracy:.2%}"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def unique(rows: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(rows))
