"""Partitions: accuracy against their number, and the speed of two: `python -m benchmarks.partitions`, from the root.

The result is two tables, `benchmarks/PARTITIONS.md`, which docs/partitions.md shows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import markone
from benchmarks.datasets import REAL_DATA
from markone.data.blocks import Block, as_rows
from markone.data.source import Source
from markone.data.store import stack
from markone.features.map import FeatureMap
from markone.features.spec import Features
from markone.learning.learners import learner_for
from markone.learning.online import Linear
from markone.learning.passes import teach
from markone.model.rules import Rule
from markone.model.settings import Settings

TABLE = Path(__file__).parent / "PARTITIONS.md"
COUNTS = (1, 2, 4, 8, 16, 32, 64)
RULES: tuple[Rule, ...] = ("perceptron", "mira")
SETS: dict[str, tuple[str, dict[str, Any]]] = {
    "IMDb": ("imdb/{}.tsv.gz", {"format": "tab"}),
    "20 Newsgroups": ("newsgroups/{}.jsonl.gz", {"target": "label"}),
    "a9a": ("a9a/a9a{}.gz", {"format": "libsvm"}),
}
ROUNDS = 5
EPOCHS = 10


def blocks_of(name: str) -> tuple[Block, Block]:
    """Return the training rows and the test rows, with the features that a training has by default."""
    path, how = SETS[name]
    train, test = (
        markone.read(REAL_DATA / path.format(part), **how)
        for part in (("", ".t") if name == "a9a" else ("train", "test"))
    )
    features = FeatureMap(Features.of(None, None, countable=False), train.columns).fit(train, threads=2)
    return block_of(train, features, train), block_of(test, features, train)


def block_of(source: Source, features: FeatureMap, train: Source) -> Block:
    found = [(features.transform(batch), batch.labels) for batch in source.batches()]
    matrix = stack([rows for rows, _ in found])
    names = sorted(map(str, train.labels))
    numbers = np.array([names.index(str(label)) for label in source.labels], np.int32)
    labels = numbers[np.concatenate([one for _, one in found if one is not None])]
    return Block(as_rows(matrix), matrix, labels)


def trained(block: Block, rule: Rule, count: int) -> tuple[Linear, float]:
    """Return a learner of all rows, and the seconds of a pass."""
    learner = learner_for(
        Settings(rule=rule, partitions=count, epochs=EPOCHS),
        features=block.rows.width,
        classes=int(block.labels.max()) + 1,
        dtype=np.float32,
    )
    assert isinstance(learner, Linear)
    start = time.perf_counter()
    history = teach(learner, block)
    return learner, (time.perf_counter() - start) / len(history)


def accuracy_table(names: Sequence[str]) -> list[str]:
    lines = [
        f"| accuracy in %, partitions: | {' | '.join(map(str, COUNTS))} |",
        f"| --- |{' ---: |' * len(COUNTS)}",
    ]
    for name in names:
        train, test = blocks_of(name)
        for rule in RULES:
            right = [100 * trained(train, rule, count)[0].right(test).mean() for count in COUNTS]
            lines.append(f"| {name}, {rule} | {' | '.join(f'{one:.2f}' for one in right)} |")
            print(lines[-1], flush=True)
    return lines


def speed_table(names: Sequence[str]) -> list[str]:
    lines = [
        "| milliseconds per pass | one partition | two partitions | times as fast |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name in names:
        train, _ = blocks_of(name)
        for rule in RULES:
            one, two = (min(trained(train, rule, count)[1] for _ in range(ROUNDS)) for count in (1, 2))
            lines.append(f"| {name}, {rule} | {1000 * one:.2f} | {1000 * two:.2f} | {one / two:.2f} |")
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=[*SETS], default=[*SETS])
    parser.add_argument("--only", choices=["accuracy", "speed"])
    asked = parser.parse_args()
    tables = {"accuracy": accuracy_table, "speed": speed_table}
    found = [table(asked.sets) for name, table in tables.items() if asked.only in (None, name)]
    if asked.only is None and len(asked.sets) == len(SETS):
        TABLE.write_text("\n\n".join(map("\n".join, found)) + "\n", "utf-8")


if __name__ == "__main__":
    main()
