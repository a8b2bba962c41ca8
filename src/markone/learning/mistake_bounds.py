"""Computes the mistake bound of the perceptron during a training run."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Block
from markone.data.source import UNLABELLED
from markone.errors import SettingsError
from markone.learning.learner import Learner
from markone.learning.lengths import fractions, lengths2
from markone.learning.online import Linear
from markone.model.bounds import MOST_POINTS, ROUNDING, Bounds, least_ratio
from markone.model.history import History
from markone.model.margins import functional_margins
from markone.model.settings import Settings

EXACT = 2**24
"""Sums of whole numbers below this are exact in 32-bit floats. No sum of a perceptron exceeds |w||x| ≤ √k R²."""


def wanted(bounds: Any) -> bool:
    """Return whether bounds are requested: by True, or by the margin of some plane."""
    if isinstance(bounds, bool) or bounds is None:
        return bool(bounds)
    if not isinstance(bounds, int | float) or not 0 < bounds <= sys.float_info.max:
        raise SettingsError("bounds", f"must be True, or the margin of a plane as a number above 0, not {bounds!r}")
    return True


def check_theory(settings: Settings) -> None:
    """Raise an error unless the mistake bound holds for a training with these settings."""
    settings = settings.spelled_out()
    for holds, reason in (
        (settings.traits.has_mistake_bound, f"the rule is {settings.rule!r}"),
        (settings.eta == 1, f"eta is {settings.eta}"),
        (settings.schedule == "constant", f"the schedule is {settings.schedule!r}"),
        (settings.penalty is None, f"there is a penalty, {settings.penalty!r}"),
        (settings.form == "label", f"the form is {settings.form!r}"),
        (settings.start == "zero", "the weights start at random"),
        (settings.partitions == 1, f"there are {settings.partitions} partitions, whose weights are mixed"),
    ):
        if not holds:
            raise not_bounded(reason)


def not_bounded(reason: str) -> SettingsError:
    return SettingsError(
        "bounds",
        f"needs a perceptron that starts at 0 and takes steps of 1, but {reason}; leave it out, or change that",
    )


class Bounding:
    """Computes |w|² after each mistake, without reading w: |w + yx|² = |w|² + 2 y w·x + |x|²."""

    def __init__(self, learner: Learner, history: History, given: float | None) -> None:
        self._learner = perceptron = cast(Linear, learner)  # `check_theory` rejects all other learners
        self._history = history
        self._bias = float(learner.settings.bias)
        self._whole = False
        """Whether all features of the training examples are whole numbers."""
        self._moved = 1 if learner.columns == 1 else 2
        history.bounds = Bounds(0, 0.0, 0.0, None, learner.settings.bias, given)
        perceptron.listener = self.note

    @property
    def bounds(self) -> Bounds:
        assert self._history.bounds is not None
        return self._history.bounds

    def begin(self, blocks: Iterable[Block]) -> None:
        """Find the longest training example. Rows without a label are not training examples."""
        longest = 0.0
        self._whole = True
        for block in blocks:
            learned = block.labels != UNLABELLED
            if block.importance is not None and (block.importance[learned] != 1).any():
                raise not_bounded("examples differ in importance")
            rows = np.flatnonzero(learned)
            longest = max(longest, self._lengths2(block, rows).max(initial=0.0))
            self._whole = self._whole and not fractions(block.matrix, rows).any()
        self._history.bounds = replace(self.bounds, radius2=float(longest))

    def go_on(self, before: Bounds | None, given: float | None, blocks: Iterable[Block]) -> None:
        """Continue with the bounds from before an interruption."""
        if before is None:
            raise SettingsError("bounds", "was not set before the interruption, and cannot be set now; leave it out")
        if given is not None and given != before.given:
            raise SettingsError("bounds", f"is {given!r} now and was {before.given or True!r} before; leave it out")
        self.begin(blocks)
        self._history.bounds = replace(before, found=None)

    def note(self, block: Block, rows: NDArray[np.int64], margins: NDArray[np.float64]) -> None:
        """Add some mistakes: the rows of a block, and their margins before the steps."""
        if not len(rows):
            return
        now = self.bounds
        steps = 2 * margins + self._lengths2(block, rows)
        with np.errstate(invalid="ignore"):  # overflowed weights are reported after the pass
            norms2 = np.cumsum(np.concatenate([[now.norm2], steps]))[1:]
        ks = now.mistakes + np.arange(1, len(rows) + 1)
        # Rounding errors must not exclude a margin that exists.
        exact = self._whole & (np.sqrt(ks) * now.radius2 < EXACT)
        least = least_ratio(ks, norms2, np.where(exact, 0.0, ROUNDING * now.radius2 * ks))
        points = [(k, norm2) for k, norm2 in now.points if k % now.stride == 0]
        points += [(k, norm2) for k, norm2 in zip(ks.tolist(), norms2.tolist(), strict=True) if k % now.stride == 0]
        stride = now.stride
        while len(points) >= MOST_POINTS:
            stride *= 2
            points = [(k, norm2) for k, norm2 in points if k % stride == 0]
        last = int(ks[-1]), float(norms2[-1])
        self._history.bounds = replace(
            now,
            mistakes=last[0],
            norm2=last[1],
            least=min((one for one in (now.least, least) if one is not None), default=None),
            stride=stride,
            points=(*points, *([] if last[0] % stride == 0 else [last])),
        )

    def finish(self, blocks: Iterable[Block]) -> None:
        """Compute, after the last pass, the margin of the last and of the averaged weights, if they separate."""
        which = [False, True] if self._learner.settings.average else [False]
        smallest = dict.fromkeys(which, math.inf)
        lengths = {averaged: self._length(averaged) for averaged in which}
        for block in blocks:
            learned = block.labels != UNLABELLED
            for averaged in which:
                scores = self._learner.scores(block.rows, averaged=averaged)[learned]
                margins = functional_margins(scores, block.labels[learned])
                # A margin that could be a rounding error does not show that the weights separate.
                room = ROUNDING * lengths[averaged] * np.sqrt(self._lengths2(block, np.flatnonzero(learned)))
                margins[margins <= room] = 0.0
                smallest[averaged] = min(smallest[averaged], float(margins.min(initial=math.inf)))
        found = [margin / lengths[averaged] for averaged, margin in smallest.items() if 0 < margin < math.inf]
        if found:
            self._history.bounds = replace(self.bounds, found=max(found))

    def _length(self, averaged: bool) -> float:
        """Return the length of the weights, with the bias."""
        if not averaged:
            return math.sqrt(self._learner.norm2())
        weights = self._learner.weights(averaged=True)
        every = np.append(weights.matrix().ravel(), weights.bias()).astype(np.float64)
        return math.sqrt(_core.sum(np.square(every)))

    def _lengths2(self, block: Block, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the squared lengths of the changes of w by mistakes at these rows."""
        return self._moved * (lengths2(block.matrix, rows) + self._bias)
