"""Drift: an alarm when the error rate of a stream of predictions rises."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

FIRST = 30
"""The number of examples before the first alarm."""
ALLOWED = 0.005
THRESHOLD = 50.0
FADING = 1 - 0.0001


@dataclass
class PageHinkley:
    """The test of Page (1954) and Hinkley (1970) for a rise of the mean of a stream.

    Each value adds its excess over the mean so far, minus an allowance, to a sum that slowly fades. The alarm is raised
    if the sum is far above its smallest value. The test then starts again.
    """

    seen: int = 0
    mean: float = 0.0
    total: float = 0.0
    least: float = float("inf")
    alarms: int = 0
    """How often the alarm was raised."""

    def update(self, value: float) -> bool:
        """Take the next value, which is 1 for a mistake and 0 for a right prediction; return whether it is an alarm."""
        self.seen += 1
        self.mean += (value - self.mean) / self.seen
        self.total = FADING * self.total + value - self.mean - ALLOWED
        self.least = min(self.least, self.total)
        if self.seen < FIRST or self.total - self.least <= THRESHOLD:
            return False
        self.seen, self.mean, self.total, self.least = 0, 0.0, 0.0, float("inf")
        self.alarms += 1
        return True

    def as_dict(self) -> dict[str, Any]:
        """Return the state as JSON can represent it."""
        return {**asdict(self), "least": None if self.seen == 0 else self.least}

    @classmethod
    def of(cls, state: dict[str, Any]) -> PageHinkley:
        return cls(**{**state, "least": float("inf") if state["least"] is None else state["least"]})
