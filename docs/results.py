"""The tables of measurements, as pictures and tests read them: RESULTS.md, GROWTH.md and docs/accuracy.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
RESULTS, GROWTH = BENCHMARKS / "RESULTS.md", BENCHMARKS / "GROWTH.md"
ACCURACY = Path(__file__).with_name("accuracy.md")
UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


class Case(NamedTuple):
    """A line of the benchmarks: times in seconds, how many times as fast we are, and accuracies in percent."""

    name: str
    ours: float
    theirs: float
    times: float
    accuracy: float | None
    their_accuracy: float | None
    has_peer: bool
    """Whether the other side is a program, not a limit of time."""


class Growth(NamedTuple):
    """What a training took for data of growing size: seconds and megabytes, ours and theirs."""

    unit: str
    sizes: list[float]
    seconds: tuple[list[float], list[float]]
    megabytes: tuple[list[float], list[float]]


def growth() -> dict[str, Growth]:
    """Return the measurements of growth by their titles."""
    sections = GROWTH.read_text(encoding="utf-8").split("\n## ")[1:]
    return {section.partition("\n")[0]: growth_of(table_below(section, "| size | file |")) for section in sections}


def growth_of(lines: list[list[str]]) -> Growth:
    """
    >>> growth_of([["0.5 GB", "0.50 GB", "9 s", "8 s", "0.89", "300 MB", "100 MB"]])
    Growth(unit='GB', sizes=[0.5], seconds=([9.0], [8.0]), megabytes=([300.0], [100.0]))
    """
    columns = [[float(cell.split()[0]) for cell in column] for column in zip(*lines, strict=True)]
    sizes, _, ours, theirs, _, our_memory, their_memory = columns
    return Growth(lines[0][0].split(" ", 1)[1], sizes, (ours, theirs), (our_memory, their_memory))


def cases() -> dict[str, Case]:
    """Return the cases of the benchmarks by name, in their order."""
    lines = table_below(RESULTS.read_text(encoding="utf-8"), "| case | ours | theirs | ratio |")
    return {line[0]: case_of(line) for line in lines}


def case_of(cells: list[str]) -> Case:
    name, ours, theirs, ratio, _, accuracies, memory = cells
    our_accuracy, their_accuracy = map(percent, accuracies.split(" / "))
    times = float(ratio.strip("*"))
    return Case(name, seconds(ours), seconds(theirs), times, our_accuracy, their_accuracy, not memory.endswith("/ –"))


def seconds(cell: str) -> float:
    """Return a time that begins a cell.

    >>> seconds("42.4 ms (1.10 ns)")
    0.0424
    """
    number, unit = cell.split()[:2]
    return float(number) * UNITS[unit]


def percent(cell: str) -> float | None:
    return None if cell == "–" else float(cell.strip("%"))


def accuracies(heading: str) -> tuple[list[str], dict[str, list[float | None]]]:
    """Return the first table of a section of the page on accuracy: the programs, and the percentages for each data."""
    section = ACCURACY.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    head, *lines = table_below(section, "| data |", with_head=True)
    found = {line[0]: [percent(cell.strip("*")) for cell in line[1:]] for line in lines}
    return head[1:], found


def table_below(text: str, beginning: str, *, with_head: bool = False) -> list[list[str]]:
    """Return the cells of the first table whose head has this beginning."""
    found = re.search(rf"^{re.escape(beginning)}.*\n\|[-| ]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert found, beginning
    lines = [*([found[0].splitlines()[0]] if with_head else []), *found[1].splitlines()]
    return [[cell.strip().replace("`", "") for cell in line.strip("| ").split(" | ")] for line in lines]
