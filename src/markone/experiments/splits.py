"""Splits of rows into training rows and test rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from markone.checks import check_fields, checked, number, one_of, whole
from markone.errors import DataError, SettingsError

Method = Literal["holdout", "kfold", "loo"]
FEWEST_ROWS = 2


@dataclass(frozen=True, slots=True)
class Split:
    """One split of the rows."""

    repeat: int
    """The number of the repeat, starting with 1."""
    number: int
    """The number of the split in its repeat, starting with 1."""
    tested: NDArray[np.int64]
    """The test rows, in their order."""
    rows: int
    """The number of all rows."""

    @property
    def learned(self) -> NDArray[np.int64]:
        """The training rows: all others."""
        others = np.ones(self.rows, np.bool_)
        others[self.tested] = False
        return np.flatnonzero(others)


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """How to split the rows. The settings are checked before any work.

    `holdout` tests a random share (30% as in the lectures), `kfold` tests each fold once per repeat, and `loo` tests
    each row alone. The first two keep the shares of the classes as exactly as possible.
    """

    method: Method = checked("kfold", one_of(*get_args(Method)))
    folds: int = checked(10, whole(2))
    repeats: int = checked(1, whole(1))
    share: float = checked(0.3, number(above=0, below=1))
    seed: int = checked(0, whole(0, most=None))

    def __post_init__(self) -> None:
        check_fields(self)
        if self.method == "loo" and self.repeats > 1:
            raise SettingsError("repeats", "has no effect on leave-one-out; leave it out")

    def check_for_labels(self) -> None:
        """Raise an error if rows with several labels cannot be tested in this way."""
        if self.method == "loo":
            raise SettingsError("method", "is 'loo', which is for rows with one label each; use 'kfold' or 'holdout'")

    def in_words(self) -> str:
        """
        >>> Plan(folds=5, repeats=2).in_words(), Plan(method="holdout").in_words(), Plan(method="loo").in_words()
        ('5 folds, 2 times', 'hold-out of 30%', 'leave-one-out')
        """
        if self.method == "loo":
            return "leave-one-out"
        what = f"{self.folds} folds" if self.method == "kfold" else f"hold-out of {self.share:.0%}"
        return what if self.repeats == 1 else f"{what}, {self.repeats} times"

    def divide(self, rows: int, classes: NDArray[Any] | None = None) -> tuple[list[Split], list[str]]:
        """Return the splits of this number of rows, and remarks if they differ from the plan.

        `classes` has the number of each row's class, if there are classes.
        """
        if rows < FEWEST_ROWS:
            raise DataError(f"there is only {rows} row, and training and testing need at least two")
        if self.method == "loo":
            return [Split(1, row + 1, np.array([row]), rows) for row in range(rows)], []
        if self.method == "kfold" and rows < self.folds:
            raise DataError(
                f"{rows} rows cannot be divided into {self.folds} folds; use fewer folds, or the method 'loo'"
            )
        if self.method == "holdout" and not 0 < self._tested(rows) < rows:
            raise DataError(f"{rows} rows are too few to hold out a share of {self.share:g} of them")
        problem = None if classes is None else self._against_strata(rows, classes)
        splitter = self._splitter(rows, classes is not None and problem is None)
        each = self.folds if self.method == "kfold" else 1
        splits = []
        for i, (_, tested) in enumerate(splitter.split(np.zeros((rows, 1)), classes)):
            repeat, number = divmod(i, each)
            splits.append(Split(repeat + 1, number + 1, np.sort(tested).astype(np.int64), rows))
        return splits, [] if problem is None else [problem]

    def _tested(self, rows: int) -> int:
        return round(self.share * rows)

    def _splitter(self, rows: int, stratified: bool) -> Any:
        from sklearn.model_selection import (
            RepeatedKFold,
            RepeatedStratifiedKFold,
            ShuffleSplit,
            StratifiedShuffleSplit,
        )

        if self.method == "kfold":
            kind = RepeatedStratifiedKFold if stratified else RepeatedKFold
            return kind(n_splits=self.folds, n_repeats=self.repeats, random_state=self.seed)
        kind = StratifiedShuffleSplit if stratified else ShuffleSplit
        return kind(n_splits=self.repeats, test_size=self._tested(rows), random_state=self.seed)

    def _against_strata(self, rows: int, classes: NDArray[Any]) -> str | None:
        """Return why the split cannot keep the shares of the classes, or None if it can."""
        counts = np.unique(classes, return_counts=True)[1]
        least = int(counts.min())
        if self.method == "kfold" and least < self.folds:
            return (
                f"A class has {least:,} {'row' if least == 1 else 'rows'}, fewer than the {self.folds} folds, so "
                "the folds do not keep the shares of the classes."
            )
        tested = self._tested(rows)
        if self.method == "holdout" and (least < 2 or min(tested, rows - tested) < len(counts)):
            return "A class has too few rows, so the held-out rows do not keep the shares of the classes."
        return None
