"""The report: a table in Markdown, with everything that is needed to judge its numbers."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.cases import Case
from benchmarks.timing import Comparison, Outcome

PACKAGES = (
    "markone",
    "numpy",
    "scipy",
    "scikit-learn",
    "pandas",
    "vowpalwabbit",
    "fasttext-wheel",
    "fastapi",
    "python-crfsuite",
    "nltk",
    "spacy",
)
CPU_FACTS = Path("/proc/cpuinfo")


def render(
    results: list[tuple[Case[Any], Comparison]],
    skipped: list[tuple[Case[Any], str]],
    rounds: int,
    certificates: Iterable[tuple[str, ...]] = (),
) -> str:
    """Return the text of the report."""
    cases = [case for case, _ in results]
    parts = [
        "# Markone and its peers, side by side",
        "\n".join(f"- {fact}" for fact in facts()),
        how(rounds),
        table(
            ("case", "ours", "theirs", "ratio", "at least", "accuracy ours / theirs", "memory ours / theirs"),
            (row(case, result) for case, result in results),
        ),
    ]
    for why in dict.fromkeys(why for _, why in skipped):
        parts.append(f"Skipped, since {why}: {'; '.join(case.name for case, reason in skipped if reason == why)}.")
    if rows := list(certificates):
        parts += [
            "## Certificates",
            "What `markone.certify` says of well-known data, on one core, and how long `verify` takes to check it. All "
            "of these certificates hold.",
            table(("data", "rows × features", "answer", "found in", "checked in"), rows),
        ]
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


class Measured(NamedTuple):
    """A line of a table that is measured in another way than the cases."""

    what: str
    ours: str
    theirs: str
    ratio: str
    wanted: str

    def __str__(self) -> str:
        return f"{self.what}:\n  ours {self.ours}\n  theirs {self.theirs}\n  {self.ratio}, wanted {self.wanted}"


def measurements(title: str, found: list[Measured]) -> str:
    """Return the text of a report with one table."""
    lines = "\n".join(f"- {fact}" for fact in facts())
    return "\n\n".join([f"# {title}", lines, table(("what", "ours", "theirs", "ratio", "wanted"), found)]) + "\n"


def as_times(ratio: float) -> str:
    """
    >>> as_times(2.345)
    '2.3 times'
    """
    return f"{ratio:.1f} times"


def how(rounds: int) -> str:
    turns = "one turn each" if rounds == 1 else f"the best of {rounds} turns each"
    return (
        f"Both sides took turns (ours, theirs, ours, theirs), on one core each; the figures are {turns}. Their data "
        "were the same: rows in memory, or files. A time is that of the whole work or of one call; in brackets stands "
        "that of one stored value in one pass, or how much of the file was read in a second. The ratio is their time "
        "by ours, in bold where it falls short; our accuracy on the test rows may be at most one point below theirs. "
        "Memory is the most that the work needed at a time, beside the data and libraries that were there before; of a "
        "process that was started, all that it had."
        "\n\n"
        "From a file means from opening it to the trained model, or to the last score. Vowpal Wabbit and fastText read "
        "files in their own formats, written before the clock ran: of texts their words, in lower case and with a "
        "space between, so that only we and scikit-learn tell words from other characters. Vowpal Wabbit runs as a "
        "process, whose two threads share the core, and its whole run counts; *start* is how much of that the same "
        "command takes on an empty file, with the model to be loaded where it scores. It writes its model, or its "
        "scores, to a file; the others keep them. "
        "Settings for texts were chosen on the last 5,000 lines to learn from, for each side but Vowpal Wabbit, which "
        "has its defaults. In the cases of two threads each side has two cores, and *theirs* is ours on one thread. "
        "spaCy's networks have learned for a few steps only, which changes what they say but not how long it takes "
        "them, so that their accuracy is not told."
    )


def facts() -> list[str]:
    """Return the date, the machine and the versions."""
    return [
        f"Date: {datetime.date.today().isoformat()}",
        f"Machine: {cpu()}, {os.cpu_count()} cores",
        f"Versions: {', '.join(versions())}",
    ]


def versions() -> Iterator[str]:
    yield f"Python {platform.python_version()}"
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            yield f"{name} {version(name)}"


def cpu() -> str:
    if CPU_FACTS.exists():
        for line in CPU_FACTS.read_text().splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def row(case: Case[Any], result: Comparison) -> tuple[str, ...]:
    short = result.ratio < case.at_least
    return (
        case.name,
        cost(result.ours),
        cost(result.theirs),
        f"**{ratio(result)}**" if short else ratio(result),
        f"{case.at_least:g}",
        accuracies(result),
        memories(result),
    )


def sentence(result: Comparison) -> str:
    """Return a line of the table."""
    return f"ours {cost(result.ours)}, theirs {cost(result.theirs)}, ratio {ratio(result)}"


def cost(outcome: Outcome) -> str:
    notes = []
    if outcome.values is not None:
        notes.append(f"{three_digits(outcome.seconds / outcome.values * 1e9)} ns")
    if outcome.size is not None:
        notes.append(f"{three_digits(outcome.size / outcome.seconds / 1e6)} MB/s")
    if outcome.start is not None:
        notes.append(f"start {duration(outcome.start)}")
    return duration(outcome.seconds) + (f" ({', '.join(notes)})" if notes else "")


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
    return " / ".join("–" if side.accuracy is None else f"{side.accuracy:.2%}" for side in (result.ours, result.theirs))


def memories(result: Comparison) -> str:
    """
    >>> from benchmarks.timing import Outcome
    >>> memories(Comparison(Outcome(1, None, memory=4_200_000), Outcome(1, None, memory=None)))
    '4.20 MB / –'
    """
    sides = (result.ours, result.theirs)
    return " / ".join("–" if side.memory is None else f"{three_digits(side.memory / 1e6)} MB" for side in sides)


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def unique(rows: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(rows))
