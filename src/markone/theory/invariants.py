"""Invariants: the numbers behind the perceptron's mistake bound, after each mistake of a trace."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone.brief import of_fields
from markone.data.blocks import as_scipy
from markone.data.kinds import written
from markone.errors import DataError, SettingsError, did_you_mean
from markone.features.map import BIAS
from markone.learning.lengths import lengths2
from markone.learning.mistake_bounds import check_theory, not_bounded
from markone.model.bounds import ROUNDING, Bounds, least_ratio, square, whole
from markone.reporting.grids import Grid, plain_number
from markone.reporting.shown import Content, Shown
from markone.theory.certificate import Certificate
from markone.theory.certifying import certify_points, check_positive
from markone.theory.points import Points

if TYPE_CHECKING:
    from markone.theory.trace import Trace

SECONDS = 10.0
"""The time limit of the search for a plane."""

Floats = NDArray[np.float64]


class Mistake(NamedTuple):
    """The numbers after the k-th mistake. The bias counts as the weight of a feature that is always 1."""

    k: int
    step: int
    """The number of the step in the trace, counted from 1."""
    row: int
    """The number of the row, counted from 0. Printed numbers start at 1."""
    before: float
    """The margin of the example before the update, which is not above 0."""
    after: float
    """Its margin after the update: larger by |x|², or by |x|² + 1 with a bias."""
    norm2: float
    """|w|²."""
    progress: float | None
    """w·w*; None without w*."""
    angle: float | None
    """The angle between w and w*, in degrees; None without w*."""

    def __repr__(self) -> str:
        return of_fields(self)


@dataclass(frozen=True, repr=False)
class Invariants(Shown):
    """What holds after every mistake of a perceptron that starts at 0. When printed, it shows a table.

    Let w* be a plane of length 1 that separates the rows with the margin γ, and R the length of the longest row. After
    the k-th mistake

        kγ ≤ w·w*    and    k²γ² ≤ |w|² ≤ kR².

    The cosine of the angle between w and w* is therefore at least √k γ/R. This bound of the angle falls with each
    mistake. The angle itself may rise at some mistakes.
    """

    mistakes: tuple[Mistake, ...]
    radius2: float
    """R²."""
    bias: bool
    margin: float | None = None
    """γ; None without w*."""
    reference: dict[str, float] | None = None
    """w*, by feature, with length 1. None if none is known."""
    separable: bool | None = None
    """Whether a plane separates the rows; None if that is not known."""

    def in_brief(self) -> str:
        known = "no plane is known" if self.bound is None else f"the theory allows {whole(self.bound)}"
        return f"{len(self.mistakes):,} mistakes; {known}"

    def __len__(self) -> int:
        return len(self.mistakes)

    def __iter__(self) -> Iterator[Mistake]:
        return iter(self.mistakes)

    def __getitem__(self, i: int) -> Mistake:
        return self.mistakes[i]

    @property
    def bound(self) -> float | None:
        """R²/γ², the largest number of mistakes in any order of the rows."""
        return None if self.margin is None else square(math.sqrt(self.radius2) / self.margin)

    @property
    def hold(self) -> bool:
        """Whether all inequalities hold, apart from rounding errors."""
        room = ROUNDING * self.radius2
        for one in self.mistakes:
            if one.before > room or one.norm2 > one.k * (self.radius2 + room):
                return False
            if self.margin is None or one.progress is None:
                continue
            least = one.k * self.margin
            if one.progress < least - math.sqrt(one.k) * room or one.norm2 < least**2 - one.k * room:
                return False
        return True

    @property
    def bounds(self) -> Bounds:
        """The same run as `Bounds`, which `plots.bounds` draws."""
        ks, norms2 = np.arange(1, len(self.mistakes) + 1), np.array([one.norm2 for one in self.mistakes])
        return Bounds(
            mistakes=len(self.mistakes),
            radius2=self.radius2,
            norm2=self.mistakes[-1].norm2 if self.mistakes else 0.0,
            least=least_ratio(ks, norms2, ROUNDING * self.radius2 * ks.astype(np.float64)),
            bias=self.bias,
            given=self.margin,
            points=tuple((one.k, one.norm2) for one in self.mistakes),
        )

    def largest_angle(self, k: int) -> float | None:
        """The bound of the angle after the k-th mistake, in degrees: its cosine is √k γ/R."""
        if self.margin is None:
            return None
        return math.degrees(math.acos(min(1.0, math.sqrt(k) * self.margin / math.sqrt(self.radius2))))

    def grid(self) -> Grid:
        """Return a table of all mistakes."""
        known = self.margin is not None
        heads = ["k", "row", "margin", "after", *(["kγ", "w·w*", "k²γ²"] if known else []), "|w|²", "kR²"]
        return Grid(
            [[*heads, *(["angle", "at most"] if known else [])]], [[*self._cells(one)] for one in self.mistakes]
        )

    def _cells(self, one: Mistake) -> Iterator[str]:
        yield from (f"{one.k:,}", f"{one.row + 1:,}", plain_number(one.before), plain_number(one.after))
        if self.margin is not None and one.progress is not None:
            least = one.k * self.margin
            yield from map(plain_number, (least, one.progress, least**2))
        yield from map(plain_number, (one.norm2, one.k * self.radius2))
        if one.angle is not None:
            yield from (f"{angle:.1f}°" for angle in (one.angle, self.largest_angle(one.k) or 0.0))

    def sentences(self) -> Iterator[str]:
        """Return the conclusions, one sentence after the other."""
        plane = "plane" if self.bias else "plane through the origin"
        made = f"{len(self.mistakes):,} mistake{'' if len(self.mistakes) == 1 else 's'}"
        radius = plain_number(math.sqrt(self.radius2))
        if self.margin is not None and self.bound is not None:
            yield (
                f"{made}; the theory allows at most {whole(self.bound)}: R²/γ², with R = {radius} and the margin γ = "
                f"{plain_number(self.margin)} of w*."
            )
        elif self.separable is False:
            yield f"{made}. No {plane} separates the rows, so there is no margin γ, and no bound; R = {radius}."
        else:
            yield f"{made}. No {plane} that separates the rows is known, so no bound is known; R = {radius}."
        if self.mistakes and self.hold:
            yield f"{'kγ ≤ w·w* and k²γ² ≤ ' if self.margin is not None else ''}|w|² ≤ kR² after every mistake."

    def parts(self) -> Iterator[Content]:
        if self.mistakes:
            yield from (self.grid(), "")
        yield from self.sentences()

    def __str__(self) -> str:
        return "\n".join(map(str, self.parts()))

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers for JSON."""
        rows = [{**one._asdict(), "largest_angle": self.largest_angle(one.k)} for one in self.mistakes]
        return {**asdict(self), "mistakes": rows, "bound": self.bound, "hold": self.hold}


def invariants_of(
    run: Trace, reference: Certificate | Mapping[str, float] | None = None, seconds: float = SECONDS
) -> Invariants:
    """Compute the invariants of a trace. `Trace.invariants` explains the arguments."""
    check_run(run)
    check_positive("seconds", seconds)
    bias = run.settings.bias
    points = Points(as_scipy(run.block.matrix), run.block.labels.astype(np.int64), run.classes, bias)
    separable: bool | None = None
    if reference is None:
        reference = certify_points(points, seconds=seconds)
    if isinstance(reference, Certificate):
        separable = reference.separable
        plane = plane_of(reference, run) if separable else None
    else:
        plane, separable = plane_named(reference, run), True
    length = None if plane is None else math.sqrt(float(plane @ plane))
    unit = None if plane is None or length is None else plane / length
    radius2 = float(lengths2(run.block.matrix, np.arange(len(points))).max()) + bias
    return Invariants(
        mistakes=tuple(followed(run, points, unit)),
        radius2=radius2,
        bias=bias,
        margin=None if unit is None else smallest_margin(points, unit),
        reference=None if unit is None else named(unit, run),
        separable=separable,
    )


def check_run(run: Trace) -> None:
    """Raise an error unless the theory is about this run."""
    check_theory(run.settings)
    if len(run.classes) > 2:
        raise DataError(f"the invariants are computed for two classes, and there are {len(run.classes)}")
    if any(table.values.any() for table in run.start):
        raise not_bounded("the weights do not start at 0")
    if run.block.importance is not None and (run.block.importance != 1).any():
        raise not_bounded("examples differ in importance")


def followed(run: Trace, points: Points, unit: Floats | None) -> Iterator[Mistake]:
    """Repeat the updates in double precision. The last weight is the bias."""
    w = np.zeros(points.features + 1)
    for k, step in enumerate((step for step in run if step.mistakes), 1):
        [row] = step.rows
        features, values = points.row(row)
        features, values = np.append(features, points.features), np.append(values, float(points.bias))
        y = 1 if points.truth[row] else -1
        before = y * float(w[features] @ values) + 0.0  # removes the sign of a negative zero
        w[features] += y * values
        norm2, progress = float(w @ w), None if unit is None else float(w @ unit)
        yield Mistake(
            k=k,
            step=step.number,
            row=row,
            before=before,
            after=y * float(w[features] @ values),
            norm2=norm2,
            progress=progress,
            angle=None if progress is None else angle_of(progress, norm2),
        )


def angle_of(progress: float, norm2: float) -> float:
    """Return the angle between w and a vector of length 1 with this product, in degrees."""
    return math.degrees(math.acos(max(-1.0, min(1.0, progress / math.sqrt(norm2))))) if norm2 else 90.0


# ---- the plane w*


def plane_of(certificate: Certificate, run: Trace) -> Floats:
    """The plane of a certificate with the smallest bound: its weights, and its bias as the last one."""
    if certificate.features != run.features.width or certificate.bias != run.settings.bias:
        raise DataError(
            f"the certificate is about {certificate.features:,} features {'with' if certificate.bias else 'without'} a "
            f"bias, and the trace about {run.features.width:,} {'with' if run.settings.bias else 'without'} one"
        )
    plane = certificate.bound_plane or certificate.plane
    assert plane is not None  # because the classes are separable
    return np.append(plane.weights[:, 0], plane.bias[0]).astype(np.float64)


def plane_named(weights: Mapping[str, float], run: Trace) -> Floats:
    """A plane whose weights a user has given."""
    if not isinstance(weights, Mapping):
        raise SettingsError("reference", f"must be a certificate, or weights by feature, not {weights!r:.80}")
    names = [*run.features.names(), *([BIAS] if run.settings.bias else [])]
    numbers = {name: number for number, name in enumerate(names)}
    plane = np.zeros(run.features.width + 1)
    for name, weight in weights.items():
        if name not in numbers:
            raise SettingsError(
                "reference", f"has a weight for {name!r}, but there is no such feature.{did_you_mean(str(name), names)}"
            )
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not math.isfinite(weight):
            raise SettingsError("reference", f"must have finite numbers as weights, but that of {name!r} is {weight!r}")
        plane[numbers[name]] = weight
    if not plane.any():
        raise SettingsError("reference", "has no weight that differs from 0")
    return plane


def smallest_margin(points: Points, unit: Floats) -> float:
    """The margin γ of a plane of length 1, which must be above 0."""
    signs = np.where(points.truth, 1.0, -1.0)
    margins = signs * (np.asarray(points.matrix @ unit[:-1]).ravel() + unit[-1])
    worst = int(np.argmin(margins))
    if not margins[worst] > 0:
        label = written(points.classes[int(points.truth[worst])])
        raise DataError(
            f"the plane does not separate the rows: row {worst + 1} of class {label} has the margin "
            f"{plain_number(float(margins[worst]))}, which must be above 0"
        )
    return float(margins[worst])


def named(unit: Floats, run: Trace) -> dict[str, float]:
    names = [*run.features.names(), BIAS]
    return {names[i]: float(unit[i]) for i in np.flatnonzero(unit).tolist()}
