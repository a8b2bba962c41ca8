"""Files as an argument of tasks: a worker of a cluster reads them itself, by their paths, as this process would."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from markone.addresses import Address
from markone.data.files import DistantFile, NamedFile
from markone.data.formats import has_target_column
from markone.data.lines import LineSource
from markone.data.read import read
from markone.data.source import Batch, Column, Source
from markone.data.tables import TableSource
from markone.errors import NoDataError
from markone.features.examples import Renamed, fitting


@dataclass(frozen=True, slots=True)
class Files:
    """Files, and how they are read."""

    paths: tuple[str, ...]
    options: dict[str, Any]
    columns: tuple[Column, ...]

    def some(self, first: int, end: int) -> Files:
        """Return the files from number `first` to `end`."""
        return replace(self, paths=self.paths[first:end])

    def source(self, path: str) -> Source:
        """Open one of the files."""
        return fitting(read(path, threads=1, **self.options), self.columns)

    def batches(self, path: str) -> Iterator[Batch]:
        """Read one of the files. An empty file has no batches, as if it were read together with the others."""
        source = self.source_or_none(path)
        if source is not None:
            yield from source.batches()

    def source_or_none(self, path: str) -> Source | None:
        """Open one of the files; None if it is empty."""
        try:
            return self.source(path)
        except NoDataError:
            return None

    def together(self) -> Source:
        """Open all files as one source."""
        return fitting(read([Address(path) for path in self.paths], threads=1, **self.options), self.columns)


def files_of(source: Source) -> Files | None:
    """Return the files of a source, if workers can read them one by one."""
    own = source.source if isinstance(source, Renamed) else source
    if not isinstance(own, TableSource | LineSource) or not own.files:
        return None
    paths = [file.path for file in own.files if isinstance(file, NamedFile | DistantFile)]
    if len(paths) < len(own.files):
        return None
    options = {name: value for name, value in source.reading.items() if name != "named"}
    if has_target_column(options.get("format")):
        options["target"] = source.target
    if isinstance(own, TableSource):
        options |= labels_of(own)
    if own.options.skip_bad:
        options["skip_bad"] = True
    return Files(tuple(paths), options, source.columns)


def labels_of(table: TableSource) -> dict[str, Any]:
    """Return the options with which each file of a table has the same labels: the kind of a label, and the importance.
    A single file might make another guess than all files."""
    found: dict[str, Any] = {} if table.importance is None else {"importance": table.importance}
    if table.target is not None and table.label_kind is not None:
        found["kinds"] = {**table.options.kinds, table.target: table.label_kind}
    return found
