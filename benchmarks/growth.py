"""Growth: time and memory against the size of the data, `python -m benchmarks.growth`, from the project's root.

Markone and Vowpal Wabbit train as processes of their own, on one core, on files that become longer and longer. The
result is `benchmarks/GROWTH.md`; the picture on the page on speed is drawn from it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import markone
from benchmarks.contestants import command, vowpal_wabbit
from benchmarks.kept import cache_folder
from benchmarks.made import AT_ONCE, made_ranks, made_texts, tabbed
from benchmarks.memory import PEAK
from benchmarks.timing import on_cores, timed

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "benchmarks" / "GROWTH.md"
MEMORY = "200MB"
HASH_BITS = 22
VALUES_IN_ROW = 40
TEXTS = markone.Features.of(
    {
        "text": {"words": [1, 2], "signs": False, "value": "count", "weight": "none", "hash_bits": HASH_BITS},
        "unit": False,
    }
)

Lines = Iterator[tuple[bytes, bytes]]
"""Pieces of two files with the same examples: one for Markone, and one for Vowpal Wabbit."""


@dataclass(frozen=True, slots=True)
class Job:
    """A kind of data, in files that grow, and how each side trains on it."""

    name: str
    unit: str
    sizes: tuple[float, ...]
    """In this unit."""
    lines: Callable[[], Lines]
    enough: Callable[[float, int, int], bool]
    """Whether a file has this size, from the number of its examples and bytes."""
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Need:
    """What a training took."""

    seconds: float
    """Of processor time."""
    memory: int


@dataclass(frozen=True, slots=True)
class Point:
    """A size of the data, and what each side needed for it."""

    size: float
    bytes: int
    ours: Need
    theirs: Need


def text_lines() -> Lines:
    for labels, texts in made_texts(seed=1):
        both = zip(labels.tolist(), texts, strict=True)
        yield tabbed(labels, texts), b"".join([b"%s | %s\n" % (b"1" if yes else b"-1", text) for yes, text in both])


def row_lines() -> Lines:
    for labels, ranks in made_ranks(seed=1, length=VALUES_IN_ROW):
        both = [(b"+1" if yes else b"-1", sorted(set(row))) for yes, row in zip(labels, ranks.tolist(), strict=True)]
        yield (
            b"".join(b"%s %s\n" % (label, b" ".join([b"%d:1" % (rank + 1) for rank in row])) for label, row in both),
            b"".join(b"%s | %s\n" % (label, b" ".join([b"%d" % (rank + 1) for rank in row])) for label, row in both),
        )


def jobs(largest: float) -> list[Job]:
    """Both kinds of data, up to this many gigabytes of text and as many times 1.25 million rows."""
    share = largest / 8
    return [
        Job(
            "texts, one pass",
            "GB",
            tuple(size * share for size in (1, 2, 4, 8)),
            text_lines,
            lambda size, _, length: length >= size * 1e9,
            "--format tab --rule mira --C 1 --epochs 1 --holdout 0 --features {features}",
            f"-b {HASH_BITS} --ngram 2 --loss_function hinge",
        ),
        Job(
            "rows, five passes",
            "million rows",
            tuple(size * share for size in (0.1, 1, 3, 10)),
            row_lines,
            lambda size, examples, _: examples >= size * 1e6,
            "--format libsvm --rule mira --C 1 --epochs 5 --holdout 0",
            f"-b {HASH_BITS} --loss_function hinge --passes 5 -c -k --holdout_off",
        ),
    ]


def grow(job: Job, turns: int) -> Iterator[Point]:
    """Train on a file again and again while it grows. Of some turns, the best of each side counts."""
    with tempfile.TemporaryDirectory(dir=cache_folder()) as place, ExitStack() as closing:
        folder = Path(place)
        features = folder / "features.toml"
        features.write_text(str(TEXTS), encoding="utf-8")
        paths = [folder / "ours", folder / "theirs"]
        files = [closing.enter_context(path.open("wb")) for path in paths]
        ours = f"train {paths[0]} {job.ours} --threads 1 --memory {MEMORY} -o {folder / 'model'} --quiet"
        theirs = {"d": paths[1], "f": folder / "model.vw"}
        if "-c" in job.theirs.split():
            theirs["cache_file"] = folder / "cache"
        lines, examples = job.lines(), 0
        for size in job.sizes:
            while not job.enough(size, examples, files[0].tell()):
                examples += append(next(lines), files)
            needs = [
                (
                    needed(lambda: command.run(ours.format(features=features))),
                    needed(lambda: vowpal_wabbit.run(job.theirs, **theirs)),
                )
                for _ in range(turns)
            ]
            best = [min(side, key=lambda need: need.seconds) for side in zip(*needs, strict=True)]
            yield Point(size, files[0].tell(), *best)


def append(lines: tuple[bytes, bytes], files: Sequence[IO[bytes]]) -> int:
    """Write the same examples to both files, and return how many they are."""
    for piece, file in zip(lines, files, strict=True):
        file.write(piece)
        file.flush()
    return AT_ONCE


def needed(work: Callable[[], None]) -> Need:
    """What the processes needed that this work started. Their processor time hardly depends on what else runs."""
    before = of_children()
    timed(work)
    return Need(of_children() - before, PEAK.of_processes)


def of_children() -> float:
    """The processor time of all processes that were started and have ended, in seconds."""
    times = os.times()
    return times.children_user + times.children_system


# ---- the report

HEAD = """# Growth

`python -m benchmarks.growth` writes this file. Markone and Vowpal Wabbit trained on made data, each as a process of its
own on one core, with {bits} bits of hashing for texts. Times are processor time. Markone may use {memory} for rows
(`--memory`); more rows go to a temporary file. Memory is the most that the process had at a time.
"""


def table(job: Job, points: list[Point]) -> str:
    rows = [
        f"| {point.size:g} {job.unit} | {point.bytes / 1e9:.2f} GB | {point.ours.seconds:.1f} s "
        f"| {point.theirs.seconds:.1f} s | {point.theirs.seconds / point.ours.seconds:.2f} "
        f"| {point.ours.memory / 1e6:.0f} MB | {point.theirs.memory / 1e6:.0f} MB |"
        for point in points
    ]
    ours = job.ours.format(features="features.toml")
    return "\n".join(
        [
            f"## {job.name.capitalize()}",
            "",
            f"- Markone: `markone train FILE {ours} --threads 1 --memory {MEMORY}`",
            f"- Vowpal Wabbit: `vw {job.theirs}`",
            "",
            "| size | file | time, Markone | time, Vowpal Wabbit | ratio | memory, Markone | memory, Vowpal Wabbit |",
            "| --- | --- | --- | --- | --- | --- | --- |",
            *rows,
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__.partition(",")[0])
    parser.add_argument("--gigabytes", type=float, default=8, metavar="G", help="the largest text, in GB (8)")
    parser.add_argument("--turns", type=int, default=1, metavar="N", help="turns at each size, the best counts (1)")
    arguments = parser.parse_args()
    if arguments.gigabytes <= 0 or arguments.turns < 1:
        parser.error("--gigabytes must be more than 0, and --turns at least 1")
    found = []
    with on_cores(1):
        for job in jobs(arguments.gigabytes):
            points = []
            for point in grow(job, arguments.turns):
                print(f"{job.name}, {point.size:g} {job.unit}: {point.ours}, {point.theirs}", file=sys.stderr)
                points.append(point)
            found.append((job, points))
    parts = [HEAD.format(bits=HASH_BITS, memory=MEMORY), *(table(job, points) for job, points in found)]
    TABLE.write_text("\n\n".join(part.rstrip("\n") for part in parts) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
