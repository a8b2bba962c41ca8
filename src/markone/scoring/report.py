"""What predictions for many files did: parts, rows and speed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from markone.reporting.grids import counted
from markone.reporting.shown import Content, Shown


@dataclass(repr=False)
class PartsReport(Shown):
    """The result of `markone.predict_files`. It is printed in a few lines."""

    files: list[str]
    """The parts, in the order of the files that were predicted."""
    before: int
    """The number of parts that were there before."""
    made: int = 0
    """The number of parts that were made in this run."""
    rows: int = 0
    """The number of rows that were predicted in this run."""
    workers: int = 0
    """The number of tasks that could run at the same time."""
    seconds: float = 0.0

    def in_brief(self) -> str:
        return f"{self.rows:,} rows in {counted(len(self.files), 'part')}"

    def as_dict(self) -> dict[str, Any]:
        """Return the report for JSON."""
        return {name: getattr(self, name) for name in ("files", "before", "made", "rows", "workers", "seconds")}

    def parts(self) -> Iterator[Content]:
        speed = f", {self.rows / self.seconds:,.0f} rows/s" if self.seconds > 0 and self.rows else ""
        parts, workers = counted(self.made, "part"), counted(self.workers, "worker")
        yield f"Predicted {self.rows:,} rows in {parts} by {workers}{speed}."
        if self.before:
            yield f"{counted(self.before, 'part')} were there before, and were not made again."
