"""Arrow tables: data frames in memory, and Parquet and Arrow files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from markone.data.files import File, open_plain, open_seekable, readable
from markone.data.nested import all_leaves
from markone.data.options import Options
from markone.data.tables import BATCH_ROWS, SAMPLE_ROWS, Table, TableRows, listed
from markone.errors import DataError, NoDataError
from markone.parallel import count_threads

ARROW_FILE_MAGIC = b"ARROW1"
BUFFER = 2**20  # so that a column of a large group of rows is not read as a whole


class FrameTable(Table):
    """A table in memory, read without a copy."""

    def __init__(self, frame: Any, name: str) -> None:
        self.frame = frame
        self.name = name
        if len(set(frame.column_names)) < len(frame.column_names):
            raise DataError(f"{name} has two columns of the same name: {listed(frame.column_names)}")
        if frame.num_columns == 0 or frame.num_rows == 0:
            raise DataError(f"{name} has no {'rows' if frame.num_columns else 'columns'}")

    def sample(self) -> dict[str, Any]:
        return arrays_of(self.frame[:SAMPLE_ROWS])

    def scan(self, wanted: Mapping[str, str], keep: Sequence[str] = ()) -> Iterator[TableRows]:
        start = 0
        for batch in self.frame.select(own_columns(wanted, self.frame.schema)).to_batches(max_chunksize=BATCH_ROWS):
            yield rows_of(batch, self.name, start)
            start += len(batch)


class ArrowFileTable(Table):
    """Parquet or Arrow files that have the same columns."""

    def __init__(self, files: Sequence[File], name: str, options: Options, format: str) -> None:
        self.files = files
        self.name = name
        self.sampled: File | None = None
        self.schema: Any = None
        self.threads = count_threads(options.threads)
        self.open: Callable[[File, list[str] | None], Iterator[Any]] = (
            self.open_parquet if format == "parquet" else self.open_arrow
        )

    def sample(self) -> dict[str, Any]:
        import pyarrow as pa

        for file in self.files:
            for batch in self.batches_of(file, None):
                names = batch.schema.names
                if len(set(names)) < len(names):
                    raise DataError(f"{file.name} has two columns of the same name: {listed(names)}")
                if len(batch) > 0:
                    self.sampled = file
                    self.schema = batch.schema
                    return arrays_of(pa.Table.from_batches([batch[:SAMPLE_ROWS]]))
        raise NoDataError(f"{self.name} has no rows")

    def names_to_keep(self, sampled: Mapping[str, Any]) -> list[str]:
        return list(self.schema.names)

    def scan(self, wanted: Mapping[str, str], keep: Sequence[str] = ()) -> Iterator[TableRows]:
        for file in self.files:
            file.place = 0
        for file in self.files:
            start = 0
            for batch in self.batches_of(file, own_columns([*wanted, *keep], self.schema)):
                for at in range(0, len(batch), BATCH_ROWS):
                    rows = rows_of(batch[at : at + BATCH_ROWS], file.name, start + at)
                    yield replace(rows, kept={name: rows.columns[name] for name in keep}) if keep else rows
                start += len(batch)

    def batches_of(self, file: File, names: list[str] | None) -> Iterator[Any]:
        """The batches of a file, fully validated, because the core reads their memory without further checks."""
        batches = self.open(file, names)
        while True:
            with readable(file.name):
                batch = next(batches, None)
                if batch is None:
                    return
                batch.validate(full=True)
                there = batch.schema.names  # inside `readable`, because a name that is not UTF-8 is an error
                lacks = [] if names is None else sorted(set(names) - set(there))
            if lacks:
                what = "has changed since it was opened: it has" if file is self.sampled else "has"
                raise DataError(f"{file.name} {what} no column {lacks[0]!r}")
            yield batch if names is None else batch.select(names)

    def open_parquet(self, file: File, names: list[str] | None) -> Iterator[Any]:
        import pyarrow.parquet as pq

        with open_seekable(file) as opened, pq.ParquetFile(opened, buffer_size=BUFFER) as whole:
            done = 0
            for batch in whole.iter_batches(BATCH_ROWS, columns=names, use_threads=self.threads > 1):
                done += len(batch)
                file.place = share_of(file, done, whole.metadata.num_rows)
                yield batch
            file.check_again()

    def open_arrow(self, file: File, names: list[str] | None) -> Iterator[Any]:
        import pyarrow as pa

        options = pa.ipc.IpcReadOptions(use_threads=self.threads > 1)
        with open_plain(file) as start:
            is_file = start.read(len(ARROW_FILE_MAGIC)) == ARROW_FILE_MAGIC
        if not is_file:
            with open_plain(file) as opened, pa.ipc.open_stream(opened, options=options) as stream:
                yield from stream
                file.check_again()
            return
        with open_seekable(file) as opened, pa.ipc.open_file(opened, options=options) as whole:
            for i in range(whole.num_record_batches):
                file.place = share_of(file, i + 1, whole.num_record_batches)
                yield whole.get_batch(i)
            file.check_again()


def share_of(file: File, done: int, whole: int) -> int:
    """The approximate number of bytes of a file in `done` of its `whole` rows or batches."""
    return (file.size or 0) * done // max(1, whole)


def arrays_of(table: Any) -> dict[str, Any]:
    return all_leaves({name: table[name].combine_chunks() for name in table.column_names})


def own_columns(names: Iterable[str], schema: Any) -> list[str]:
    """The columns of a table that contain columns with these names, which may be fields of structs."""
    there = {*schema.names}
    found = ([name] if name in there else [one for one in schema.names if name.startswith(f"{one}.")] for name in names)
    return list(dict.fromkeys(one for some in found for one in some))


def rows_of(batch: Any, name: str, start: int) -> TableRows:
    own = dict(zip(batch.schema.names, batch.columns, strict=True))
    columns = {**all_leaves(own), **own}
    return TableRows(columns, len(batch), lambda row: f"{name}, row {start + row}")


def without_index(table: Any) -> Any:
    """Return the table without the columns in which pandas stores its index."""
    metadata = table.schema.metadata or {}
    kept = json.loads(metadata[b"pandas"])["index_columns"] if b"pandas" in metadata else []
    return table.drop_columns([name for name in kept if isinstance(name, str) and name in table.column_names])
