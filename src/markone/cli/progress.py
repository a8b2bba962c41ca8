"""The progress bar of commands that read data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from markone.data.source import BadLines, Batch, Source
from markone.learning.progress import Progress, Silence, progress_of


def wished(*, quiet: bool) -> bool | None:
    """Return the setting `progress` of the library: the usual, unless the user wants quiet."""
    return False if quiet else None


@contextmanager
def watched(source: Source, *, quiet: bool) -> Iterator[Source]:
    """Yield the source, with a bar that shows how much of it has been read."""
    progress = progress_of(wished(quiet=quiet))
    try:
        yield source if isinstance(progress, Silence) else Watched(source, progress)
    finally:
        progress.close()


class Watched(Source):
    """A source that reports its rows to a progress bar."""

    def __init__(self, source: Source, bar: Progress) -> None:
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
