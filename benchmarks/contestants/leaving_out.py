"""Leave-one-out: the exact quick way, and a training for each row."""

from __future__ import annotations

import numpy as np

from benchmarks.datasets import Split
from benchmarks.timing import Contestant, Outcome, timed
from markone.data.blocks import Block
from markone.experiments.loo_online import learn_without, leave_one_out
from markone.model.settings import Settings


def quick(**settings: object) -> Contestant[Split]:
    how = Settings(**settings)  # type: ignore[arg-type]

    def turn(data: Split) -> Outcome:
        block, labels = block_of(data)
        seconds, found = timed(lambda: leave_one_out(block, how, 2, threads=1))
        return Outcome(seconds, float(np.mean(found.predicted == labels)))

    return Contestant(f"leave_one_out(block, {how})", turn)


def slow(**settings: object) -> Contestant[Split]:
    how = Settings(**settings)  # type: ignore[arg-type]

    def turn(data: Split) -> Outcome:
        block, labels = block_of(data)
        seconds, found = timed(lambda: [learn_without(block, how, 2, row) for row in range(len(block))])
        return Outcome(seconds, float(np.mean(np.array(found) == labels)))

    return Contestant(f"learn_without(block, {how}, row) for each row", turn)


def block_of(data: Split) -> tuple[Block, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    labels = np.unique(data.train_labels, return_inverse=True)[1]
    return Block.of(data.train, labels), labels
