"""The learned numbers of a scorer as tables with names, such as weights by feature and class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.brief import Brief
from markone.features.map import FeatureMap


@dataclass(frozen=True, slots=True, repr=False)
class NamedNumbers(Brief):
    """Numbers with a name for each row and each column. With two classes there may be one column, for the second."""

    rows: Sequence[str]
    columns: Sequence[str]
    values: NDArray[np.float64]

    def named(self) -> dict[str, dict[str, float]]:
        """Return for each column the numbers that are not 0, by name."""
        found = {}
        for name, values in zip(self.columns, self.values.T, strict=True):
            found[name] = {self.rows[i]: float(values[i]) for i in np.flatnonzero(values).tolist()}
        return found


class FeatureNames(Sequence[str]):
    """The names of features, each computed when it is needed, and the names of more rows after them."""

    def __init__(self, features: FeatureMap, *after: str) -> None:
        self._features, self._after = features, after

    def __len__(self) -> int:
        return self._features.width + len(self._after)

    def __getitem__(self, number: Any) -> Any:
        width = self._features.width
        return self._features.name(number) if number < width else self._after[number - width]


def outputs_of(labels: list[str]) -> list[str]:
    """Return the classes that have a score: all, or with two classes only the second."""
    return labels if len(labels) > 2 else labels[1:]
