"""What a filter did: rows, the threshold, a histogram of the scores, and speed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markone.brief import Brief
from markone.reporting.charts import Bars, bar_lines
from markone.reporting.grids import SCREEN, counted, plain_number

MEGABYTE = 1e6


@dataclass(frozen=True, slots=True, repr=False)
class FilterReport(Brief):
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

    def __str__(self) -> str:
        limit = "" if self.threshold is None else f", with {self.value} of at least {plain_number(self.threshold)}"
        files = counted(len(self.files), "file")
        lines = [f"Kept {self.kept:,} of {self.rows:,} rows ({self.share:.1%}){limit}, in {files}."]
        lines += [f"{self.bad:,} lines were skipped, because they cannot be used."] if self.bad else []
        if self.size:
            speed = f"{self.speed / MEGABYTE:,.0f} MB/s"
            lines.append(f"Read {self.size / MEGABYTE:,.1f} MB in {self.seconds:,.1f} seconds ({speed}).")
        if any(self.counts):
            names = [
                f"{plain_number(low)} to {plain_number(high)}"
                for low, high in zip(self.edges, self.edges[1:], strict=False)
            ]
            lines += [f"Rows by {self.value}:", *bar_lines(Bars(names, self.counts), SCREEN)]
        return "\n".join(lines)
