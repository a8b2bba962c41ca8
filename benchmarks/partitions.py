"""Partitions: accuracy against their number, and the speed of two: `python -m benchmarks.partitions`, from the root.

The result is three tables, `benchmarks/PARTITIONS.md`; `--only passes` prints the second one in a few minutes. Passes
are those of rows that are in memory. Two processes that each learn all rows with one partition show how much of two
cores the machine can give; processor time does not depend on what else it does. A whole training is one from a file,
with two threads in both cases.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing import get_context
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
Training = Callable[[int], History]
"""A training with a number of partitions."""
KEPT: list[Training] = []
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


def history_of_tagger(count: int) -> History:
    return tagger_of(count).history


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


def best_of(work: Callable[[int], Sequence[float]]) -> list[tuple[float, ...]]:
    """Return the lowest results for one partition and for two, which take turns."""
    found: tuple[list[Sequence[float]], ...] = [], []
    for _ in range(ROUNDS):
        for count, results in enumerate(found, 1):
            results.append(work(count))
    return [tuple(map(min, zip(*results, strict=True))) for results in found]


def row_of_speed(name: str, one: float, two: float, *more: str) -> str:
    line = f"| {' | '.join([name, f'{1000 * one:.2f}', f'{1000 * two:.2f}', f'{one / two:.2f}', *more])} |"
    print(line, flush=True)
    return line


def pass_table(names: Sequence[str]) -> list[str]:
    lines = [
        "| milliseconds for a pass | one partition | two partitions | times as fast | processor time | two processes |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name in names:
        if name == TREEBANK:
            works: list[tuple[str, Training]] = [
                ("tagger", history_of_tagger),
                *((f"parser, {mode}", partial(history_of_parser, mode)) for mode in MODES),
            ]
        else:
            train, _ = blocks_of(name)
            works = [(rule, partial(history_of, train, rule)) for rule in RULES]
        for what, work in works:
            (one, busy), (two, busy_of_two) = best_of(partial(measured, work))
            limit = 2 * one / together(work)
            more = f"{busy_of_two / busy:.2f} times", f"{limit:.2f}"
            lines.append(row_of_speed(f"{name}, {what}", one, two, *more))
    return lines


def whole_table(names: Sequence[str]) -> list[str]:
    lines = [
        "| milliseconds for a training from a file | one partition | two partitions | times as fast |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name in names:
        if name == TREEBANK:
            works: list[tuple[str, Training]] = [("tagger", history_of_tagger)]
        else:
            works = [(rule, partial(trained_from_text, name, rule)) for rule in RULES]
        for what, work in works:
            (one,), (two,) = best_of(partial(timed, work))
            lines.append(row_of_speed(f"{name}, {what}", one, two))
    return lines


def together(work: Training) -> float:
    """Return the seconds of a pass of two processes that learn with one partition at the same time."""
    with get_context("fork").Pool(2, keep, (work,)) as processes:
        return max(processes.map(seconds_of_kept, [1, 1], chunksize=1))


def keep(work: Training) -> None:
    """Keep what a process has to do. It has it from its parent, and so the rows are not sent."""
    KEPT[:] = [work]


def seconds_of_kept(count: int) -> float:
    return min(seconds_of_pass(KEPT[0], count) for _ in range(ROUNDS))


def seconds_of_pass(work: Training, count: int) -> float:
    return typical(work(count))


def measured(work: Training, count: int) -> tuple[float, float]:
    """Return the seconds of a typical pass, and the processor time of all passes, of all threads."""
    start = time.process_time()
    history = work(count)
    return typical(history), time.process_time() - start


def history_of(train: Block, rule: Rule, count: int) -> History:
    return trained(train, rule, count)[1]


def history_of_parser(mode: Mode, count: int) -> History:
    return parser_of(mode, count).history


def typical(history: History) -> float:
    """Return the seconds of a pass. The first one also makes the tables of the partitions."""
    return median(one.seconds for one in history if one.seconds is not None)


def timed(work: Training, count: int) -> tuple[float]:
    start = time.perf_counter()
    work(count)
    return (time.perf_counter() - start,)


TABLES = {"accuracy": accuracy_table, "passes": pass_table, "whole": whole_table}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=[*SETS, TREEBANK], default=[*SETS, TREEBANK])
    parser.add_argument("--only", choices=TABLES)
    asked = parser.parse_args()
    found = [table(asked.sets) for name, table in TABLES.items() if asked.only in (None, name)]
    if asked.only is None and len(asked.sets) == len(SETS) + 1:
        TABLE.write_text("\n\n".join(map("\n".join, found)) + "\n", "utf-8")


if __name__ == "__main__":
    main()
