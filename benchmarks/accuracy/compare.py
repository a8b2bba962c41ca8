"""What `markone compare` recommends, beside every rule that it compares: the sets of texts and of tables.

Each training part is written to a file, `markone compare` reads it, and the command that it prints is run as it stands.
Every compared rule is trained on the same rows. Large sets are reduced to some of their rows, so that a set takes
minutes.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import markone
from benchmarks.accuracy import tables, texts
from benchmarks.accuracy.suite import Contestant, Suite
from benchmarks.datasets import AbsentError, Dataset, Split
from markone.cli import main
from markone.errors import MarkoneError
from markone.experiments.verdict import CURVES
from markone.model.rules import COMPARED

MOST_TEXTS, MOST_ROWS, MOST_TESTED = 2_000, 3_000, 4_000
RULES = [CURVES, *COMPARED]
TARGET = "label to predict"


# ---- data sets


def reduced(load: Callable[[], Split], most: int) -> Split:
    """A split with some of its rows, in random order if there are too many."""
    split = load()
    learned, tested = some(len(split.train_labels), most), some(len(split.test_labels), MOST_TESTED)
    return Split(
        framed(split.train).iloc[learned].reset_index(drop=True),
        np.asarray(split.train_labels).astype(str)[learned],
        framed(split.test).iloc[tested].reset_index(drop=True),
        np.asarray(split.test_labels).astype(str)[tested],
    )


def some(rows: int, most: int) -> NDArray[np.int64]:
    return np.arange(rows) if rows <= most else np.random.default_rng(0).permutation(rows)[:most]


def framed(rows: Any) -> pd.DataFrame:
    return rows if isinstance(rows, pd.DataFrame) else pd.DataFrame({"text": rows})


SETS: list[Dataset[Split]] = [
    Dataset(one.name, one.about, partial(reduced, one.load, most))
    for sets, most in ((texts.SETS, MOST_TEXTS), (tables.SETS, MOST_ROWS))
    for one in sets
]


# ---- contestants


@contextlib.contextmanager
def inside(split: Split) -> Iterator[None]:
    """A folder with the training rows as a file."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        split.train.assign(**{TARGET: split.train_labels}).to_parquet(Path(folder, "train.parquet"))
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def printed(words: list[str]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as said:
        status = main(words)
    assert status == 0, said.getvalue()
    return said.getvalue()


def recommended(split: Split) -> Any:
    """The predictions of the model that the recommended command trains."""
    with inside(split):
        found = json.loads(
            printed(["compare", "train.parquet", "--target", TARGET, "--no-contrasts", "--json", "--quiet"])
        )
        printed([*shlex.split(found["command"])[1:], "-o", "recommended.model", "--quiet"])
        return of_model(markone.load("recommended.model"), split)


def by_rule(name: str, split: Split) -> Any:
    """The predictions of a rule, as `compare` has it. A rule that cannot learn from such rows is absent."""
    if name == CURVES and [*split.train.columns] == ["text"]:
        raise AbsentError("there are no curves of texts")
    try:
        model = markone.train(split.train, target=split.train_labels.tolist(), **COMPARED.get(name, {}))
    except MarkoneError as error:
        raise AbsentError(str(error)) from None
    return of_model(model, split)


def of_model(model: markone.Model, split: Split) -> NDArray[Any]:
    return np.asarray([str(label) for label in model.predict(split.test)])


SUITE = Suite(
    "what compare recommends",
    SETS,
    [
        Contestant("recommended", "the command that `markone compare` prints", recommended),
        *(Contestant(f"`{name}`", "as `compare` has it", partial(by_rule, name)) for name in RULES),
    ],
)
