"""Reports: what a training has read and learned, on one screen."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from markone.data.files import STANDARD_INPUT
from markone.data.overview import shortened
from markone.data.source import BadLines, Source
from markone.model.model import Model

BAD_SHOWN = 3
CLASSES_SHOWN = 6
FEATURES_SHOWN = 6
NAMES_SHOWN = 5
NAME_WIDTH = 24


def print_json(facts: dict[str, Any]) -> None:
    print(json.dumps(facts, ensure_ascii=False, default=str))


def bad_lines(bad: BadLines) -> None:
    """A word on standard error about lines that were passed over."""
    for line in about_bad_lines(bad):
        print(f"markone: {line}", file=sys.stderr)


def about_bad_lines(bad: BadLines) -> Iterator[str]:
    if bad.count:
        yield f"{counted(bad.count, 'bad line was', 'bad lines were')} passed over:"
        yield from (f"  {shortened(sentence, 200)}" for sentence in bad.first[:BAD_SHOWN])


def counted(count: int, one: str, many: str) -> str:
    """
    >>> counted(1, "row", "rows"), counted(2500, "row", "rows")
    ('1 row', '2,500 rows')
    """
    return f"{count:,} {one if count == 1 else many}"


class Report:
    """What is told at the end of a training."""

    def __init__(self, model: Model, source: Source, path: str, data: list[str]) -> None:
        self.model = model
        self.source = source
        self.path = path
        self.data = data

    def facts(self) -> dict[str, Any]:
        """All of it, for machines."""
        model, history = self.model, self.model.history
        return {
            "model": self.path,
            "bytes": os.path.getsize(self.path),
            "rows": history.rows,
            "held_out": history.held_out,
            "unlabelled": history.unlabelled,
            "bad_lines": self.source.bad.count,
            "columns": {column.name: column.kind for column in self.source.columns},
            "target": self.source.target,
            "classes": model.classes,
            "features": model.features.width,
            "rule": model.settings.rule,
            "passes": [asdict(one) for one in history],
            "stopped": history.stopped,
            "holdout": self.held_out_accuracy(),
            "majority": history.majority,
            "strongest": {str(label): names for label, names in self.strongest()},
        }

    def lines(self) -> Iterator[str]:
        yield from self.read()
        yield from self.learned()
        yield "Strongest features"
        yield from self.features()
        yield f"Saved {self.path}, {size_in_words(os.path.getsize(self.path))}."
        yield from self.next_commands()

    def read(self) -> Iterator[str]:
        history = self.model.history
        kinds = Counter(column.kind for column in self.source.columns)
        names = [shortened(column.name, NAME_WIDTH) for column in self.source.columns]
        shown = ", ".join(names[:NAMES_SHOWN]) + (", ..." if len(names) > NAMES_SHOWN else "")
        columns = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        rows = counted(history.rows + history.held_out + history.unlabelled, "row", "rows")
        others = f" and {counted(len(self.data) - 1, 'other', 'others')}" if len(self.data) > 1 else ""
        name = "standard input" if self.data[0] == STANDARD_INPUT else shortened(self.data[0], 50)
        yield f"Read {rows} of {name}{others}: {columns} ({shown})."
        if history.unlabelled:
            yield f"  {counted(history.unlabelled, 'row has', 'rows have')} no label: nothing was learned from them."
        yield from (f"  {line}" for line in about_bad_lines(self.source.bad))

    def learned(self) -> Iterator[str]:
        model, history = self.model, self.model.history
        what = f"{counted(len(model.classes), 'class', 'classes')} of {shortened(model.target or 'label', NAME_WIDTH)}"
        features = counted(model.features.width, "feature", "features")
        yield f"Learned {what} from {counted(history.rows, 'row', 'rows')} ({model.settings.rule}, {features})."
        if history.passes:
            passes = counted(len(history), "pass", "passes")
            last = f", {history[len(history) - 1].mistakes:,} in the last" if len(history) > 1 else ""
            yield f"  {passes}: {counted(history[0].mistakes, 'mistake', 'mistakes')} in the first{last}."
        accuracy = self.held_out_accuracy()
        if accuracy is not None and history.majority is not None:
            rows = counted(history.held_out, "held-out row", "held-out rows")
            yield f"  {accuracy:.1%} right on {rows}; the commonest class alone gets {history.majority:.1%}."

    def held_out_accuracy(self) -> float | None:
        """That of the weights that are kept: of the best pass where there is patience, else of the last."""
        history = self.model.history
        if not history.passes:
            return None
        best = self.model.settings.patience is not None and history.best_epoch is not None
        return history[(history.best_epoch or 0) - 1 if best else len(history) - 1].holdout

    def strongest(self) -> list[tuple[Any, list[str]]]:
        """The features with the largest weights for each class."""
        sides = [side for side in self.model.explain(top=FEATURES_SHOWN).sides if side.speaks_for]
        return [(side.label, [one.feature for one in side.strongest[:FEATURES_SHOWN]]) for side in sides]

    def features(self) -> Iterator[str]:
        strongest = self.strongest()
        width = max(len(shortened(label, NAME_WIDTH)) for label, _ in strongest[:CLASSES_SHOWN])
        for label, names in strongest[:CLASSES_SHOWN]:
            words = ", ".join(shortened(name, NAME_WIDTH) for name in names)
            yield shortened(f"  {shortened(label, NAME_WIDTH):<{width}}  {words}", 80)
        if len(strongest) > CLASSES_SHOWN:
            yield f"  and {len(strongest) - CLASSES_SHOWN} more classes: markone explain {shlex.quote(self.path)}"

    def next_commands(self) -> Iterator[str]:
        path = shlex.quote(self.path)
        first = self.data[0]
        ending = "" if first == STANDARD_INPUT else endings(first)
        yield f"Next:  markone evaluate {path} TEST{ending}"
        if [column.kind for column in self.model.features.columns] == ["text"]:
            yield f'       markone explain {path} --text "..."'
        elif first != STANDARD_INPUT:
            yield f"       markone explain {path} --row 1 {shlex.quote(first)}"


def endings(path: str) -> str:
    """
    >>> endings("data/reviews.csv.gz")
    '.csv.gz'
    """
    from markone.data.files import name_without_compression

    name = os.path.basename(path)
    stem = os.path.splitext(name_without_compression(path))[0]
    return name[len(stem) :]


def size_in_words(size: int) -> str:
    """
    >>> size_in_words(820), size_in_words(4321), size_in_words(12_345_678)
    ('820 bytes', '4.3 kB', '12.3 MB')
    """
    if size < 1000:
        return f"{size} bytes"
    for unit, of in (("kB", 10**3), ("MB", 10**6), ("GB", 10**9)):
        if size < 1000 * of or unit == "GB":
            break
    return f"{size / of:.1f} {unit}"
