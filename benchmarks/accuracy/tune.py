"""What `--tune` gains: the sets of texts and of tables, with some of their rows, as `compare` has them."""

from __future__ import annotations

from typing import Any

import markone
from benchmarks.accuracy.compare import SETS, of_model
from benchmarks.accuracy.suite import Contestant, Suite
from benchmarks.datasets import Split


def tuned(split: Split) -> Any:
    """The predictions of the model that is trained with the settings and features that tuning chooses."""
    source = markone.read(split.train, target=split.train_labels.tolist())
    tuning = markone.tune(source, progress=False)
    return of_model(markone.train(source, features=tuning.features, progress=False, **tuning.settings), split)


def default(split: Split) -> Any:
    return of_model(markone.train(split.train, target=split.train_labels.tolist(), progress=False), split)


SUITE = Suite(
    "what --tune gains",
    SETS,
    [
        Contestant("tuned", "`markone.tune`, and `markone.train` with what it chose", tuned),
        Contestant("default", "`markone.train` without settings", default),
    ],
)
