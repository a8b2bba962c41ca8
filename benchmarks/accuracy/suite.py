"""A suite: data sets, and contestants that each predict the test labels of every set; the table of their accuracy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from benchmarks.datasets import AbsentError, Dataset, Split

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Contestant:
    """A way to predict: its name, the settings that it uses, and the package that it needs."""

    name: str
    about: str
    predict: Callable[[Split], Any]
    """Learns from the training rows, and returns a label for each test row."""
    package: str | None = None


def share_of_equal(predicted: NDArray[Any], truth: NDArray[Any]) -> float:
    return float(np.mean(predicted == truth))


@dataclass(frozen=True, slots=True)
class Suite:
    """Data sets of one kind, and who competes on them. The first contestant is Markone without settings."""

    about: str
    sets: list[Dataset[Split]]
    contestants: list[Contestant]
    measure: Callable[[NDArray[Any], NDArray[Any]], float] = share_of_equal
    """How good predictions are. The table shows it in percent."""


@dataclass(frozen=True, slots=True)
class Row:
    """The accuracies of all contestants on one data set; NaN for a contestant that is absent."""

    data: Dataset[Split]
    split: Split
    accuracies: NDArray[np.float64]


def run(suite: Suite, wanted: str, say: Say) -> Iterator[Row]:
    """Measure every contestant on the data sets with `wanted` in their name. Absent sets are skipped, and named."""
    for data in suite.sets:
        if wanted not in data.name:
            continue
        try:
            split = data.load()
        except AbsentError as absent:
            say(f"{data.name}: skipped, {absent}")
            continue
        found = []
        for one in suite.contestants:
            found.append(accuracy(one, split, suite.measure))
            say(f"{data.name}: {one.name} {100 * found[-1]:.2f}")
        yield Row(data, split, np.array(found))


def accuracy(
    contestant: Contestant, split: Split, measure: Callable[[NDArray[Any], NDArray[Any]], float] = share_of_equal
) -> float:
    if contestant.package is not None and find_spec(contestant.package) is None:
        return float("nan")
    try:
        return measure(np.asarray(contestant.predict(split)), split.test_labels)
    except AbsentError:
        return float("nan")


def ranks(rows: list[Row]) -> NDArray[np.float64]:
    """Return the mean rank of each contestant; 1 is the best, and equal accuracies share their ranks."""
    table = np.array([rankdata(-np.round(row.accuracies, 4), nan_policy="omit") for row in rows])
    return np.asarray(table.mean(axis=0))


def render(suite: Suite, rows: list[Row]) -> str:
    """The table in Markdown, and a list of the contestants and the data sets."""
    if not rows:
        return "no data set was measured"
    names = [one.name for one in suite.contestants]
    lines = [f"| data | {' | '.join(names)} |", f"| --- |{' --- |' * len(names)}"]
    for row in rows:
        lines.append(f"| {row.data.name} | {' | '.join(cell(one, row.accuracies) for one in row.accuracies)} |")
    lines.append(
        f"| mean | {' | '.join(f'{100 * one:.2f}' for one in np.mean([r.accuracies for r in rows], axis=0))} |"
    )
    lines.append(f"| mean rank | {' | '.join(f'{rank:.2f}' for rank in ranks(rows))} |")
    behind = [float(np.nanmax(row.accuracies[1:]) - row.accuracies[0]) for row in rows]
    most = int(np.argmax(behind))
    lines += ["", f"The largest distance of {names[0]} to the best of the others: {100 * behind[most]:.2f} points"]
    lines[-1] += f" ({rows[most].data.name})."
    lines += ["", *(f"- {one.name}: {one.about}" for one in suite.contestants)]
    lines += ["", *(f"- {row.data.name}: {row.data.about}; {sizes(row.split)}" for row in rows)]
    return "\n".join(lines)


def cell(accuracy: float, all_of_them: NDArray[np.float64]) -> str:
    """The accuracy in percent; the best is bold."""
    if np.isnan(accuracy):
        return "–"
    written = f"{100 * accuracy:.2f}"
    return f"**{written}**" if accuracy == np.nanmax(all_of_them) else written


def sizes(split: Split) -> str:
    classes = len(np.unique(split.train_labels))
    rows = f"{len(split.train_labels):,} rows for training, {len(split.test_labels):,} for the test"
    if split.train_labels.ndim == 2:
        return f"{rows}, {split.train_labels.shape[1]} labels, {split.train_labels.sum(axis=1).mean():.1f} a row"
    return rows if split.train_labels.dtype.kind == "f" else f"{rows}, {classes} classes"
