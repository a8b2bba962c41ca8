"""Given rows: features that are in the data, with their names in the data."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import MOST_FEATURES, Sparse, as_matrix, describe_not_finite, is_sparse
from markone.data.source import Batch, Column, GivenRows, Names
from markone.data.strings import Strings
from markone.errors import DataError
from markone.features.event_kinds import Event, Group
from markone.features.moments import Floats, Moments
from markone.features.part import Matrix, Part
from markone.features.spec import FeatureRows
from markone.storage.saved import Contents, Saved, blob, check_finite, check_positive

UNKNOWN = np.iinfo(np.uint32).max
ROWS_IN_CACHE = 64


class CollectedRows(NamedTuple):
    matrix: Any
    """A dense array, or a CSR matrix in which no row names a feature twice."""
    names: Names
    columns: NDArray[Any] | None
    """The columns with moments; None if all have them."""
    moments: Moments | None
    """Moments, if they are needed for scaling. Those of a sparse matrix are of its stored values."""


class Given(Part):
    """Given rows: dense ones in the order of their columns, sparse ones with the frequent features first.

    The weights of frequent features are then close together in memory, and stay in the processor's cache. The rows of
    another source are matched by the names of their columns; columns that did not occur in training are left out.
    """

    def __init__(self, column: Column, settings: FeatureRows) -> None:
        self.column = column
        self.settings = settings
        self.dense: bool | None = None
        self.source: Names | None = None
        self.rows = 0
        self.counts = np.zeros(0, np.int64)
        """The number of occurrences of each column of a sparse source."""
        self.order: list[NDArray[Any]] = []
        """The columns of a sparse source, in the order of their first occurrence."""
        self.moments = Moments.none(0)
        self.met: NDArray[np.int64] | None = None
        """The columns of a sparse source that are features, in the order of the features."""
        self.center: Floats = np.zeros(0)
        self.spread: Floats = np.zeros(0)
        self.numbers: tuple[Names | None, NDArray[np.uint32]] = (None, np.zeros(0, np.uint32))
        """The features of the names in the last source. More names may have been added since."""

    def collect(self, batch: Batch) -> CollectedRows:
        matrix, names = self.read(batch)
        scaled = self.settings.scale != "none"
        if not is_sparse(matrix):
            return CollectedRows(matrix, names, None, Moments.of(matrix.T) if scaled else None)
        if not scaled:
            return CollectedRows(matrix, names, None, None)
        columns = as_they_come(matrix.indices)
        local = np.empty(int(columns.max(initial=0)) + 1, np.int64)
        local[columns] = np.arange(len(columns))
        return CollectedRows(
            matrix, names, columns, Moments.of_sparse(len(columns), local[matrix.indices], matrix.data)
        )

    def absorb(self, collected: CollectedRows, labels: NDArray[np.int32] | None = None) -> Any:
        matrix, names, columns, moments = collected
        if self.dense is None:
            self.dense, self.source = not is_sparse(matrix), names
        if self.dense == is_sparse(matrix):
            raise DataError(f"the rows of {self.column.name!r} are dense in one batch and sparse in another")
        self.rows += matrix.shape[0]
        if self.dense:
            if len(self.moments.count) == 0:
                self.moments = Moments.none(matrix.shape[1])
            self.check_width(matrix.shape[1], len(self.moments.count))
            if moments is not None:
                self.moments = self.moments.merged(moments)
            return matrix
        most = int(matrix.indices.max(initial=0)) + 1
        if most > len(self.counts):
            size = max(most, 2 * len(self.counts))
            self.counts = np.concatenate([self.counts, np.zeros(size - len(self.counts), np.int64)])
            if moments is not None:
                self.moments = self.moments.widened(size)
        self.order.append(_core.count_columns(column_numbers(matrix), self.counts))
        if columns is not None and moments is not None:
            self.moments.put(columns, self.moments.take(columns).merged(moments))
        return matrix

    def finish(self) -> None:
        self.dense = bool(self.dense)
        if self.dense:
            self.center, self.spread = self.scaling(self.moments)
        else:
            met = np.concatenate([np.zeros(0, np.int64), *self.order])
            met = met[np.argsort(-self.counts[met], kind="stable")]
            if len(met) > MOST_FEATURES:
                raise DataError(f"{self.column.name!r} has {len(met)} features; the maximum is {MOST_FEATURES}")
            numbers = np.full(0 if self.source is None else len(self.source), UNKNOWN, np.uint32)
            numbers[met] = np.arange(len(met))
            self.met = met
            self.numbers = (self.source, numbers)
            if self.settings.scale == "none":
                self.spread = np.ones(len(met))
            else:
                moments = self.moments.take(met)
                self.spread = self.scaling(moments.with_zeros(self.rows - moments.count))[1]

    @cached_property
    def chosen(self) -> list[str]:
        """The names of all features. There may be millions, so they are made only when they are needed."""
        all_names = [] if self.source is None else self.source.since(0)
        return all_names if self.met is None else [all_names[number] for number in self.met.tolist()]

    @cached_property
    def number_of(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.chosen)}

    def scaling(self, moments: Moments) -> tuple[Floats, Floats]:
        """The shift and the divisor of each feature: the shift is subtracted first."""
        nothing = np.zeros(len(moments.count))
        if self.settings.scale == "none":
            return nothing, nothing + 1
        center, spread = nothing, moments.largest
        if self.settings.scale == "standard":
            center, spread = moments.mean, moments.deviation
        if not np.isfinite(spread).all():
            name = self.chosen[int(np.argmin(np.isfinite(spread)))]
            raise DataError(f"the feature {name!r} has numbers too large to be scaled; divide them first")
        if not self.dense:
            # A constant sparse feature stays unchanged, because it could only become 0 by a shift.
            return nothing, np.where(spread > 0, spread, 1)
        return center, np.where(spread > 0, spread, np.inf)

    def refine(self, draft: Any) -> Matrix:
        return self.scale_dense(draft) if self.dense else self.scale_sparse(draft, self.numbers_of(self.source))

    def transform(self, batch: Batch) -> Matrix:
        matrix, names = self.read(batch)
        if not self.dense:
            return self.scale_sparse(matrix if is_sparse(matrix) else as_sparse(matrix), self.numbers_of(names))
        if is_sparse(matrix):
            return self.scale_dense(self.as_dense(matrix, self.numbers_of(names)))
        self.check_width(matrix.shape[1], self.width)
        if names is not self.source and (other := names.since(0)) != self.chosen:
            place_of = {name: place for place, name in enumerate(other)}
            for name in self.chosen:
                if name not in place_of:
                    raise DataError(f"the model needs the column {name!r}, which is not in these rows")
            matrix = matrix[:, [place_of[name] for name in self.chosen]]
        return self.scale_dense(matrix)

    @property
    def width(self) -> int:
        return len(self.spread)

    def name(self, number: int) -> str:
        return self.chosen[number]

    def names(self) -> list[str]:
        return self.chosen

    def groups(self, likelihood: Event | None = None) -> list[Group]:
        """Values of dense rows are measurements; those of sparse rows are counts."""
        return [Group(likelihood or ("gaussian" if self.dense else "multinomial"), 0, self.width)]

    def save(self) -> Saved:
        arrays = blob("names", Strings.of(self.chosen))
        if self.settings.scale != "none":
            arrays["spread"] = self.spread
            if self.dense:
                arrays["center"] = self.center
        return Saved({"dense": bool(self.dense)}, arrays)

    def take(self, contents: Contents) -> None:
        dense, names = contents.fact("dense", bool), contents.names("names")
        center, spread = np.zeros(len(names)), np.ones(len(names))
        if self.settings.scale != "none":
            spread = contents.array("spread", np.float64, len(names))
            check_positive("spread", spread)
            if dense:
                center = contents.array("center", np.float64, len(names))
                check_finite("center", center)
            else:
                check_finite("spread", spread)
        self.dense = dense
        self.choose(names, center if dense else np.zeros(0), spread)

    def choose(self, names: list[str], center: Floats, spread: Floats) -> None:
        """Set the features."""
        self.chosen, self.center, self.spread = names, center, spread
        self.number_of = {name: number for number, name in enumerate(names)}
        self.source, self.numbers = None, (None, np.zeros(0, np.uint32))

    def extend(self, other: Given) -> NDArray[np.int64]:
        before = self.width
        new = [number for number, name in enumerate(other.chosen) if name not in self.number_of]
        if self.dense and new:
            raise DataError(
                f"these rows have the column {other.chosen[new[0]]!r}, which the first training did not have; "
                "dense rows cannot get more columns, so train a new model"
            )
        # Constant dense columns are divided by infinity, constant sparse ones by 1.
        spread = np.where(np.isfinite(other.spread[new]), other.spread[new], 1)
        names = self.chosen + [other.chosen[number] for number in new]
        self.choose(names, self.center, np.concatenate([self.spread, spread]))
        return np.arange(before)

    def prune(self, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Remove unused features of sparse rows. Dense rows keep all, because they are read by their columns."""
        if self.dense:
            return super().prune(used)
        names = [name for name, is_used in zip(self.chosen, used, strict=True) if is_used]
        self.choose(names, self.center, self.spread[used])
        return used.copy()

    def read(self, batch: Batch) -> tuple[Any, Names]:
        given: GivenRows = batch.columns[self.column.name]
        matrix: Any = given.matrix if isinstance(given.matrix, Sparse) else as_matrix(given.matrix)
        if not is_sparse(matrix):
            if not np.isfinite(matrix).all():
                raise DataError(describe_not_finite(matrix))
            return matrix, given.names
        if not isinstance(matrix, Sparse) and not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        if not np.isfinite(matrix.data).all():
            at = int(np.argmin(np.isfinite(matrix.data)))
            row = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
            name = given.names.since(int(matrix.indices[at]))[0]
            raise DataError(f"the feature {name!r} is {matrix.data[at]} in row {row} of a batch; it must be finite")
        return matrix, given.names

    def check_width(self, width: int, expected: int) -> None:
        if width != expected:
            raise DataError(f"the rows have {width} columns here, but {expected} in training")

    def numbers_of(self, names: Names | None) -> NDArray[np.uint32]:
        """The feature of each name; UNKNOWN if it is not a feature."""
        last, numbers = self.numbers
        if last is not names:
            numbers = numbers[:0]
        if names is not None and len(numbers) < len(names):
            more = [self.number_of.get(name, UNKNOWN) for name in names.since(len(numbers))]
            numbers = np.concatenate([numbers, np.array(more, np.uint32)])
            self.numbers = (names, numbers)
        return numbers

    def scale_dense(self, matrix: NDArray[Any]) -> NDArray[np.float32]:
        with np.errstate(over="ignore", invalid="ignore"):
            if self.settings.scale == "none":
                rows = np.ascontiguousarray(matrix, np.float32)
            else:
                rows = np.empty(matrix.shape, np.float32)
                for begin in range(0, len(rows), ROWS_IN_CACHE):
                    few = slice(begin, begin + ROWS_IN_CACHE)
                    rows[few] = (matrix[few] - self.center) / self.spread
        self.check_finite(rows)
        return rows

    def scale_sparse(self, matrix: Any, numbers: NDArray[np.uint32]) -> Sparse:
        indices, all_known = _core.renumber(column_numbers(matrix), numbers)
        values, indptr = matrix.data, matrix.indptr
        if not all_known:
            known = indices != UNKNOWN
            indices, values = indices[known], values[known]
            indptr = np.concatenate([[0], np.cumsum(known)])[indptr]
        if self.settings.scale != "none" or values.dtype != np.float32:  # otherwise `read` has checked them
            with np.errstate(over="ignore"):
                values = values if self.settings.scale == "none" else values / self.spread[indices]
                values = np.ascontiguousarray(values, np.float32)
            self.check_finite(values)
        values = np.ascontiguousarray(values)
        return Sparse(np.ascontiguousarray(indptr, np.int64), indices, values, self.width)

    def check_finite(self, values: NDArray[np.float32]) -> None:
        if not np.isfinite(values).all():
            raise DataError(
                f"the rows of {self.column.name!r} have values that are too large for 32-bit floats; divide them first"
            )

    def as_dense(self, matrix: Any, numbers: NDArray[np.uint32]) -> NDArray[np.float64]:
        dense = np.zeros((matrix.shape[0], self.width))
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        columns = numbers[matrix.indices]
        known = columns != UNKNOWN
        dense[rows[known], columns[known]] = matrix.data[known]
        return dense


def column_numbers(matrix: Any) -> NDArray[np.uint32]:
    """The columns of a sparse matrix in the type of the core. `read` has checked a matrix of SciPy."""
    return np.ascontiguousarray(matrix.indices, np.uint32)


def as_they_come(numbers: NDArray[Any]) -> NDArray[Any]:
    """The distinct numbers, in the order of their first occurrence."""
    places = np.arange(len(numbers))
    first = np.empty(int(numbers.max(initial=0)) + 1, np.int64)
    first[numbers[::-1]] = places[::-1]  # if a number has several places, the last one is stored
    distinct: NDArray[Any] = numbers[first[numbers] == places]
    return distinct


def as_sparse(matrix: NDArray[Any]) -> Sparse:
    rows, columns = np.nonzero(matrix)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(matrix)))])
    return Sparse(indptr, columns.astype(np.uint32), matrix[rows, columns], matrix.shape[1])
