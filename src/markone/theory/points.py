"""Points: rows of features with their classes, for the theory. Every float stands for its exact value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import as_matrix, as_rows, as_scipy, is_sparse
from markone.data.class_order import in_good_order
from markone.data.labels import Labels, check_classes, refuse_several
from markone.data.source import UNLABELLED, Label
from markone.errors import DataError
from markone.features.map import FeatureMap
from markone.features.spec import Features
from markone.learning.samples import Sample, open_sample
from markone.model.named_numbers import FeatureNames

Corner = tuple[int, int]
"""A row and a wrong class for it, which together name a z (see `Points`)."""


@dataclass(frozen=True)
class Points:
    """The rows and classes that are to be separated.

    The theory looks at vectors z, made so that a plane w separates the classes exactly if w·z > 0 for all of them. With
    two classes there is one z = y·x for each row, where y is -1 for the first class and +1 for the second. With more
    classes, a row has a z for each wrong class c: z = (e_y - e_c)⊗x, that is x in the block of the right class and -x
    in the block of the wrong one. The block of the first class is left out, because it follows from the others. So two
    classes have one block, in which z is y·x. With a bias, x has one more feature, which is always 1.
    """

    matrix: Any
    """A dense array or a SciPy CSR matrix, of 32-bit or 64-bit floats. No feature occurs twice in a row."""
    truth: NDArray[np.int64]
    """The number of each row's class."""
    classes: list[Label]
    """The classes in their order."""
    bias: bool
    numbers: str | None = None
    """What happened to numeric columns, in words, if there are any."""
    names: Sequence[str] | None = None
    """The names of the features, if they have any."""

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def features(self) -> int:
        """Without the bias."""
        return int(self.matrix.shape[1])

    @property
    def is_sparse(self) -> bool:
        return is_sparse(self.matrix)

    @property
    def dimensions(self) -> int:
        """The length of a z. A proof needs at most one point more than this."""
        return (len(self.classes) - 1) * (self.features + self.bias)

    def some(self, rows: NDArray[np.int64]) -> Points:
        """Some of the rows, with all classes."""
        return Points(self.matrix[rows], self.truth[rows], self.classes, self.bias)

    def narrowed(self) -> Points:
        """Without the features that are 0 in every row; one feature is always kept."""
        used = np.zeros(self.features, bool)
        if self.is_sparse:
            used[self.matrix.indices[self.matrix.data != 0]] = True
        else:
            used = (self.matrix != 0).any(axis=0)
        used[0] |= not used.any()
        return Points(self.matrix[:, np.flatnonzero(used)], self.truth, self.classes, self.bias)

    def pair(self, first: int, second: int) -> tuple[Points, NDArray[np.int64]]:
        """Two of several classes alone, with the numbers of their rows here."""
        rows = np.flatnonzero((self.truth == first) | (self.truth == second))
        truth = (self.truth[rows] == second).astype(np.int64)
        return Points(self.matrix[rows], truth, [self.classes[first], self.classes[second]], self.bias), rows

    def row(self, row: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The features of a row that are not zero, and their values; without the bias."""
        if self.is_sparse:
            here = slice(self.matrix.indptr[row], self.matrix.indptr[row + 1])
            features, values = self.matrix.indices[here], self.matrix.data[here].astype(np.float64)
            kept = values != 0
            return features[kept].astype(np.int64), values[kept]
        values = np.asarray(self.matrix[row], np.float64)
        features = np.flatnonzero(values)
        return features, values[features]


def open_points(
    source: Any,
    target: Any = None,
    features: Any = None,
    *,
    bias: bool = True,
    scaled: bool = False,
    threads: int | None = None,
    memory: int | str | None = None,
) -> Points:
    """Make points from examples in any form.

    Arrays and SciPy matrices are used directly, unless `features` is given. Everything else goes through a feature map,
    as in training, and its rows are 32-bit floats. But numbers are only scaled if `features` or `scaled` says so.
    """
    if features is None and not scaled and (is_sparse(source) or isinstance(source, np.ndarray | list | tuple)):
        if target is None:
            raise DataError("there are no labels; give a label for each row: target=...")
        if not isinstance(target, str) and not texts_in(source):
            return given_points(source, target, bias)
    sample = open_sample(source, target, threads, memory)
    chart = FeatureMap(Features.of(features, scaled=scaled), sample.held.columns)
    if scaled:
        chart.check_scaled(scaled)
    return points_by(sample, chart, bias=bias)


def points_by(sample: Sample, features: FeatureMap, *, bias: bool) -> Points:
    """Points of a sample. Features that are not fitted are fitted on it."""
    everything = np.arange(len(sample))
    known = features.is_fitted
    rows = as_scipy(sample.transformed(features, everything) if known else sample.fitted(features, everything)[0])
    if is_sparse(rows):
        rows.sort_indices()  # otherwise SciPy would sort them again and again
    numbers, names = features.numbers_in_words(), FeatureNames(features)
    return Points(rows, sample.truth.astype(np.int64), sample.classes, bias, numbers, names)


def texts_in(source: Any) -> bool:
    """Whether a list or an array contains something other than numbers, from which features must be made."""
    return not is_sparse(source) and np.asarray(source).dtype.kind not in "biuf"


def given_points(matrix: Any, labels: Sequence[Any], bias: bool) -> Points:
    matrix = as_matrix(matrix)
    if is_sparse(matrix) and not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    as_rows(matrix)
    known = Labels("y")
    numbers = known.numbers_of(labels)
    refuse_several(known.values, "a certificate")
    check_classes(known.values, known.target)
    if len(numbers) != matrix.shape[0]:
        raise DataError(f"there are {matrix.shape[0]} rows but {len(numbers)} labels")
    labelled = np.flatnonzero(numbers != UNLABELLED)
    classes = in_good_order(known.values)
    if len(classes) < 2:
        found = f"all examples have the label {classes[0]!r}" if classes else "no example has a label"
        raise DataError(f"{found}; at least two classes are needed")
    place = np.array([classes.index(label) for label in known.values], np.int64)
    if len(labelled) < len(numbers):
        matrix, numbers = matrix[labelled], numbers[labelled]
    return Points(matrix, place[numbers], classes, bias)
