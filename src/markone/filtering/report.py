"""What a filter did: rows, the threshold, a histogram of the scores, and speed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from markone.reporting.charts import Bars, Chart
from markone.reporting.grids import counted, plain_number
from markone.reporting.shown import Content, Shown

MEGABYTE = 1e6


@dataclass(frozen=True, slots=True, repr=False)
class FilterReport(Shown):
    """The result of `markone.filter_files`. It is printed in a few lines."""

    rows: int
    kept: int
    bad: int
    """The number of rows that were skipped because they are wrong."""
    size: int
    """The bytes that were read in this run, after decompression."""
    seconds: float
    files: list[str]
    """The files that were written, in this run or before."""
    value: str
    """What the threshold is about, in words."""
    threshold: float | None
    edges: list[float]
    counts: list[int]
    """The number of rows with a value between two edges."""

    def in_brief(self) -> str:
        return f"{self.kept:,} of {self.rows:,} rows"

    @property
    def share(self) -> float:
        return self.kept / self.rows if self.rows else 0.0

    @property
    def speed(self) -> float:
        """Bytes per second of this run."""
        return self.size / self.seconds if self.seconds > 0 else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return the report for JSON."""
        names = ("rows", "kept", "bad", "size", "seconds", "files", "value", "threshold", "edges", "counts", "share")
        return {name: getattr(self, name) for name in names}

    def parts(self) -> Iterator[Content]:
        limit = "" if self.threshold is None else f", with {self.value} of at least {plain_number(self.threshold)}"
        files = counted(len(self.files), "file")
        yield f"Kept {self.kept:,} of {self.rows:,} rows ({self.share:.1%}){limit}, in {files}."
        if self.bad:
            which = "was skipped, because it" if self.bad == 1 else "were skipped, because they"
            yield f"{counted(self.bad, 'line')} {which} cannot be used."
        if self.size:
            speed = f"{self.speed / MEGABYTE:,.0f} MB/s"
            yield f"Read {self.size / MEGABYTE:,.1f} MB in {self.seconds:,.1f} seconds ({speed})."
        if any(self.counts):
            names = [
                f"{plain_number(low)} to {plain_number(high)}"
                for low, high in zip(self.edges, self.edges[1:], strict=False)
            ]
            yield Chart((Bars(names, self.counts),), f"Rows by {self.value}:")
