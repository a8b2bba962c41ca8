"""Partitions: accuracy against their number, and the speed of two: `python -m benchmarks.partitions`, from the root.

The result is two tables, `benchmarks/PARTITIONS.md`. The passes are those of rows that are in memory; "from raw text"
is a whole training from a file, with two threads in both cases; and a tagger is trained from a file as well.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
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
from markone.model.history import History
from markone.model.rules import Rule
from markone.model.settings import Settings
from markone.structured.parser import Parser
from markone.structured.parser_settings import Mode
from markone.structured.tagger import Tagger

TABLE = Path(__file__).parent / "PARTITIONS.md"
COUNTS = (1, 2, 4, 8, 16, 32, 64)
RULES: tuple[Rule, ...] = ("perceptron", "mira")
SETS: dict[str, tuple[str, dict[str, Any]]] = {
    "IMDb": ("imdb/{}.tsv.gz", {"format": "tab"}),
    "20 Newsgroups": ("newsgroups/{}.jsonl.gz", {"target": "label"}),
    "a9a": ("a9a/a9a{}.gz", {"format": "libsvm"}),
}
TREEBANK, OF_TREEBANK = "EWT", "ewt/en_ewt-ud-{}.conllu.gz"
MODES: tuple[Mode, ...] = ("fast", "accurate")
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


def trained(block: Block, rule: Rule, count: int) -> tuple[Linear, History]:
    """Return a learner of all rows, and its history."""
    learner = learner_for(
        Settings(rule=rule, partitions=count, epochs=EPOCHS),
        features=block.rows.width,
        classes=int(block.labels.max()) + 1,
        dtype=np.float32,
    )
    assert isinstance(learner, Linear)
    return learner, teach(learner, block)


def trained_from_text(name: str, rule: Rule, count: int) -> History:
    path, how = SETS[name]
    source = markone.read(REAL_DATA / path.format("" if name == "a9a" else "train"), **how)
    return markone.train(source, rule=rule, partitions=count, epochs=EPOCHS, threads=2, progress=False).history


def tagger_of(count: int) -> Tagger:
    return Tagger.train(REAL_DATA / OF_TREEBANK.format("train"), partitions=count, threads=2, progress=False)


def parser_of(mode: Mode, count: int) -> Parser:
    train = REAL_DATA / OF_TREEBANK.format("train")
    return Parser.train(train, mode=mode, partitions=count, threads=2, progress=False)


def accuracy(train: Block, test: Block, rule: Rule, count: int) -> float:
    return float(trained(train, rule, count)[0].right(test).mean())


def accuracy_of_tagger(count: int) -> float:
    return tagger_of(count).evaluate(REAL_DATA / OF_TREEBANK.format("test")).accuracy


def accuracy_of_parser(mode: Mode, count: int) -> float:
    """Return the share of words with the right head and label."""
    return parser_of(mode, count).evaluate(REAL_DATA / OF_TREEBANK.format("test")).las


def accuracy_table(names: Sequence[str]) -> list[str]:
    lines = [
        f"| accuracy in %, partitions: | {' | '.join(map(str, COUNTS))} |",
        f"| --- |{' ---: |' * len(COUNTS)}",
    ]

    def add(name: str, right: Callable[[int], float]) -> None:
        lines.append(f"| {name} | {' | '.join(f'{100 * right(count):.2f}' for count in COUNTS)} |")
        print(lines[-1], flush=True)

    for name in names:
        if name == TREEBANK:
            add(f"{name}, tagger", accuracy_of_tagger)
            for mode in MODES:
                add(f"{name}, parser, {mode}", partial(accuracy_of_parser, mode))
            continue
        train, test = blocks_of(name)
        for rule in RULES:
            add(f"{name}, {rule}", partial(accuracy, train, test, rule))
    return lines


def speed_table(names: Sequence[str]) -> list[str]:
    lines = [
        "| | one partition | two partitions | times as fast |",
        "| --- | ---: | ---: | ---: |",
    ]

    def add(name: str, seconds: Callable[[int], float]) -> None:
        best = {1: float("inf"), 2: float("inf")}
        for _ in range(ROUNDS):
            for count in best:
                best[count] = min(best[count], seconds(count))
        one, two = best.values()
        lines.append(f"| {name} | {1000 * one:.2f} ms | {1000 * two:.2f} ms | {one / two:.2f} |")
        print(lines[-1], flush=True)

    for name in names:
        if name == TREEBANK:
            add(f"{name}, tagger, a pass", lambda count: typical(tagger_of(count).history))
            add(f"{name}, tagger, whole training", partial(timed, tagger_of))
            for mode in MODES:
                add(f"{name}, parser, {mode}, a pass", partial(seconds_of_parser, mode))
            continue
        train, _ = blocks_of(name)
        for rule in RULES:
            add(f"{name}, {rule}, a pass", partial(seconds_of_pass, train, rule))
            add(f"{name}, {rule}, from raw text", partial(timed, partial(trained_from_text, name, rule)))
    return lines


def seconds_of_pass(train: Block, rule: Rule, count: int) -> float:
    return typical(trained(train, rule, count)[1])


def seconds_of_parser(mode: Mode, count: int) -> float:
    return typical(parser_of(mode, count).history)


def typical(history: History) -> float:
    """Return the seconds of a pass. The first one also makes the tables of the partitions."""
    return median(one.seconds for one in history if one.seconds is not None)


def timed(work: Callable[[int], object], count: int) -> float:
    start = time.perf_counter()
    work(count)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=[*SETS, TREEBANK], default=[*SETS, TREEBANK])
    parser.add_argument("--only", choices=["accuracy", "speed"])
    asked = parser.parse_args()
    tables = {"accuracy": accuracy_table, "speed": speed_table}
    found = [table(asked.sets) for name, table in tables.items() if asked.only in (None, name)]
    if asked.only is None and len(asked.sets) == len(SETS) + 1:
        TABLE.write_text("\n\n".join(map("\n".join, found)) + "\n", "utf-8")


if __name__ == "__main__":
    main()
