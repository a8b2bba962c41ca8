"""The progress bar of commands that read data. It is only shown on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from markone.data.source import BadLines, Batch, Source
from markone.learning.progress import Bar


def is_watched(*, quiet: bool) -> bool:
    """Whether progress is shown: on a terminal, unless the user wants quiet."""
    return not quiet and sys.stderr.isatty()


@contextmanager
def watched(source: Source, *, quiet: bool) -> Iterator[Source]:
    """Yield the source, with a bar that shows how much of it has been read."""
    if not is_watched(quiet=quiet):
        yield source
        return
    bar = Bar()
    try:
        yield Watched(source, bar)
    finally:
        bar.close()


class Watched(Source):
    """A source that reports its rows to a progress bar."""

    def __init__(self, source: Source, bar: Bar) -> None:
        self.source, self.bar = source, bar
        self.name, self.columns, self.target, self.labels = source.name, source.columns, source.target, source.labels
        self.files, self.reading = source.files, source.reading

    @property
    def bad(self) -> BadLines:  # type: ignore[override]
        return self.source.bad

    def batches(self) -> Iterator[Batch]:
        rows = 0
        for batch in self.source.batches():
            rows += len(batch)
            self.bar.read(rows, self.source.progress)
            yield batch
