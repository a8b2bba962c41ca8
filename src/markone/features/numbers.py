"""Numbers: numeric and boolean columns, scaled and with gaps filled, and their products."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone.data.source import Batch, Column
from markone.errors import DataError, SettingsError
from markone.features.event_kinds import Event, Group, joined
from markone.features.moments import Moments
from markone.features.part import Part
from markone.features.spec import Numeric
from markone.storage.saved import Contents, Saved, check_finite, check_positive, damaged

MOST_PRODUCTS = 1_000_000


class CollectedNumbers(NamedTuple):
    columns: NDArray[Any]
    """Numbers by column and row; NaN is a missing number."""
    missing: NDArray[np.bool_] | None
    moments: Moments


class Product(NamedTuple):
    """The features from number `at` on are those from `begin` to `end`, multiplied by a column."""

    column: int
    begin: int
    end: int
    at: int


class Numbers(Part):
    """Dense rows of all numeric and boolean columns, then of which ones are missing, then of their products.

    A boolean is 0 or 1, and is not scaled. A gap becomes the column's mean or 0, and if a column has gaps in training,
    `age is missing` is a feature, too. A degree of 2 adds the products `a*a`, `a*b` and so on of scaled numbers, and
    a degree of 3 also `a*a*a`, `a*a*b`. A boolean times itself is left out. No feature is pruned, because products are
    computed from other features.
    """

    mergeable = True

    def __init__(self, columns: Sequence[tuple[Column, Numeric]], degree: int = 1) -> None:
        self.columns = [column for column, _ in columns]
        self.settings = [settings for _, settings in columns]
        self.degree = degree
        count = sum(math.comb(len(columns) + d - 1, d) for d in range(2, degree + 1))
        if count > MOST_PRODUCTS:
            raise SettingsError(
                "degree",
                f"of {degree} makes {count} products of {len(columns)} numeric columns; the most is {MOST_PRODUCTS}. "
                "Use a lower degree, or list the important products as conjunctions",
            )
        self.moments_of_batches: list[Moments] = []
        """They are merged one after the other, because sums depend on the order of the additions."""
        self.gaps = np.zeros(len(columns), np.int64)
        self.finish()

    def collect(self, batch: Batch) -> CollectedNumbers:
        columns = self.read(batch)
        missing = self.find_missing(columns)
        return CollectedNumbers(columns, missing, Moments.of(columns, missing))

    def absorb(self, collected: CollectedNumbers, labels: NDArray[np.int32] | None = None) -> NDArray[Any]:
        self.moments_of_batches.append(collected.moments)
        if collected.missing is not None:
            self.gaps += collected.missing.sum(axis=1)
        return collected.columns

    def absorbed(self) -> tuple[list[Moments], NDArray[np.int64]]:
        return self.moments_of_batches, self.gaps

    def absorb_all(self, absorbed: tuple[list[Moments], NDArray[np.int64]]) -> None:
        moments, gaps = absorbed
        self.moments_of_batches += moments
        self.gaps += gaps

    def finish(self) -> None:
        moments = reduce(Moments.merged, self.moments_of_batches, Moments.none(len(self.columns)))
        self.center, self.spread = np.zeros(len(self.columns)), np.ones(len(self.columns))
        self.fill = moments.mean.copy()
        for i, (column, settings) in enumerate(zip(self.columns, self.settings, strict=True)):
            if settings.missing == "zero":
                self.fill[i] = 0
            if column.kind == "boolean" or settings.scale == "none":
                continue
            if settings.scale == "standard":
                self.center[i], self.spread[i] = moments.mean[i], moments.deviation[i]
            else:
                self.spread[i] = moments.largest[i]
            if not np.isfinite(self.spread[i]):
                raise DataError(f"column {column.name!r} has numbers too large to be scaled; divide them first")
            # A constant column is divided by infinity, so that it is always 0.
            self.spread[i] = self.spread[i] or np.inf
        self.indicate(np.flatnonzero(self.gaps))

    def indicate(self, columns: NDArray[np.int64]) -> None:
        """Set the columns with a feature for missing values, and then the products."""
        self.indicators = columns
        self.products = plan_products(
            [column.kind == "boolean" for column in self.columns], len(self.columns) + len(columns), self.degree
        )

    def refine(self, draft: NDArray[Any]) -> NDArray[np.float32]:
        width, missing = len(self.columns), self.find_missing(draft)
        rows = np.zeros((draft.shape[1], self.width), np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            rows[:, :width] = self.scale(draft, missing).T
            if missing is not None:
                rows[:, width : width + len(self.indicators)] = missing[self.indicators].T
            for column, begin, end, at in self.products:
                np.multiply(rows[:, column, None], rows[:, begin:end], out=rows[:, at : at + end - begin])
        self.check_finite(rows)
        return rows

    def transform(self, batch: Batch) -> NDArray[np.float32]:
        return self.refine(self.read(batch))

    @property
    def width(self) -> int:
        *_, (_, begin, end, at) = [(0, 0, len(self.columns) + len(self.indicators), 0), *self.products]
        return at + end - begin

    def name(self, number: int) -> str:
        if number < len(self.columns):
            return self.columns[number].name
        if number < len(self.columns) + len(self.indicators):
            return f"{self.columns[self.indicators[number - len(self.columns)]].name} is missing"
        column, begin, _, at = self.products[bisect_right(self.products, number, key=lambda product: product.at) - 1]
        return f"{self.columns[column].name}*{self.name(begin + number - at)}"

    def names(self) -> list[str]:
        columns = [column.name for column in self.columns]
        names = columns + [f"{columns[i]} is missing" for i in self.indicators]
        for column, begin, end, _ in self.products:
            names += [f"{columns[column]}*{name}" for name in names[begin:end]]
        return names

    def groups(self, likelihood: Event | None = None) -> list[Group]:
        """Numbers are measurements; unscaled booleans and the features for missing values are present or absent.

        The value that fills the gap of a missing number is not counted.
        """
        plain = [settings.scale == "none" for settings in self.settings]
        switches = [column.kind == "boolean" and as_is for column, as_is in zip(self.columns, plain, strict=True)]
        kinds: list[Event] = ["bernoulli" if switch else "gaussian" for switch in switches]
        kinds += ["bernoulli"] * len(self.indicators)
        kinds += ["gaussian"] * (self.width - len(kinds))
        gaps = {column: len(self.columns) + i for i, column in enumerate(self.indicators.tolist())}
        missing = [((i, gaps[i]),) if kind == "gaussian" and i in gaps else () for i, kind in enumerate(kinds)]
        return joined(
            [Group(kind, i, i + 1, None, gap) for i, (kind, gap) in enumerate(zip(kinds, missing, strict=True))]
        )

    def save(self) -> Saved:
        return Saved(
            arrays={
                "center": self.center,
                "spread": self.spread,
                "fill": self.fill,
                "indicators": self.indicators,
            }
        )

    def take(self, contents: Contents) -> None:
        size = len(self.columns)
        self.center = contents.array("center", np.float64, size)
        self.spread = contents.array("spread", np.float64, size)
        self.fill = contents.array("fill", np.float64, size)
        check_finite("center", self.center)
        check_positive("spread", self.spread)
        indicators = contents.array("indicators", np.int64, None)
        if not np.isin(indicators, np.arange(size)).all() or (np.diff(indicators) <= 0).any():
            raise damaged("there is a feature for missing values of an unknown column")
        self.indicate(indicators)

    def extend(self, other: Numbers) -> NDArray[np.int64]:
        """Keep the scaling and filling of all columns, because the weights depend on them."""
        size, before, width = len(self.columns), self.indicators, self.width
        self.indicate(np.union1d(before, other.indicators))
        products = np.arange(size + len(before), width) + len(self.indicators) - len(before)
        return np.concatenate([np.arange(size), size + np.searchsorted(self.indicators, before), products])

    def read(self, batch: Batch) -> NDArray[Any]:
        """The columns of a batch, not scaled; NaN is a missing number."""
        arrays = [read_numbers(column.name, batch.columns[column.name]) for column in self.columns]
        columns = np.empty((len(arrays), len(batch)), np.result_type(np.float32, *(array.dtype for array in arrays)))
        for i, array in enumerate(arrays):
            columns[i] = array
        return columns

    def find_missing(self, columns: NDArray[Any]) -> NDArray[np.bool_] | None:
        """Where numbers are missing; None if none can be missing."""
        if np.isfinite(columns).all():
            return None
        missing: NDArray[np.bool_] = np.isnan(columns)
        for i, row in np.argwhere(np.isinf(columns)):
            raise DataError(
                f"column {self.columns[i].name!r} has the number {columns[i, row]}; "
                "write a finite number, or nothing if it is not known"
            )
        for column, settings, gaps in zip(self.columns, self.settings, missing, strict=True):
            if settings.missing == "error" and gaps.any():
                raise DataError(
                    f"column {column.name!r} has no number in some row; remove such rows, "
                    "or fill the gaps with numeric.missing = 'mean' or 'zero'"
                )
        return missing

    def scale(self, columns: NDArray[Any], missing: NDArray[np.bool_] | None) -> NDArray[np.float64]:
        known = columns if missing is None else np.where(missing, self.fill[:, None], columns)
        scaled: NDArray[np.float64] = (known - self.center[:, None]) / self.spread[:, None]
        return scaled

    def check_finite(self, rows: NDArray[np.float32]) -> None:
        finite = np.isfinite(rows)
        if not finite.all():
            number = int(np.argmin(finite.all(axis=0)))
            raise DataError(
                f"{self.name(number)!r} has numbers too large for 32-bit floats; divide them first, or scale the "
                "column: numeric.scale = 'max-abs'"
            )


def read_numbers(name: str, array: Any) -> NDArray[Any]:
    """The values of an Arrow array of numbers or booleans, if possible without a copy; NaN is a missing one."""
    if isinstance(array, np.ndarray):
        return array
    import pyarrow as pa

    kind = array.type
    if pa.types.is_null(kind):
        return np.full(len(array), np.nan, np.float32)
    if pa.types.is_boolean(kind):
        array = array.cast(pa.uint8())
    elif pa.types.is_decimal(kind):
        array = array.cast(pa.float64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise DataError(f"column {name!r} must have numbers, but here it has values of type {kind}")
    numbers: NDArray[Any] = array.to_numpy(zero_copy_only=False)
    return numbers


def plan_products(boolean: Sequence[bool], at: int, degree: int) -> list[Product]:
    """The products of each degree: each column times all products with one factor less that do not start before it.

    `starts[i]` is the first feature of the last degree whose first factor is column i or a later one.
    """
    plan: list[Product] = []
    starts, end = list(range(len(boolean) + 1)), len(boolean)
    for _ in range(1, degree):
        begins = [starts[i + 1 if boolean[i] else i] for i in range(len(boolean))]
        starts = []
        for column, begin in enumerate(begins):
            starts.append(at)
            if begin < end:
                plan.append(Product(column, begin, end, at))
                at += end - begin
        starts.append(at)
        end = at
    return plan
