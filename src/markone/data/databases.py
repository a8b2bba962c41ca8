"""Databases: the tables of SQLite and DuckDB files, and the results of queries. They are opened for reading only."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import quote

from markone.data.files import COMPRESSION_OF_ENDING, File, NamedFile, readable
from markone.data.options import Options
from markone.data.records import RecordTable
from markone.data.tables import BATCH_ROWS, listed
from markone.errors import DataError, NoDataError, Setting, SettingsError, shorten

ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
"""What a query may do in SQLite. It may not attach another file, for instance."""


class DatabaseTable(RecordTable):
    """The result of a query of a database. It is read again for each pass, so the database must not change."""

    def __init__(self, files: Sequence[File], name: str, options: Options, format: str) -> None:
        if len(files) > 1:
            raise DataError(f"databases are read one at a time, but there are {len(files)}")
        file = files[0]
        if not isinstance(file, NamedFile):
            raise DataError(f"{file.name} is not a file, and a database must be one")
        if os.path.splitext(file.path)[1].lower() in COMPRESSION_OF_ENDING:
            raise DataError(f"{file.name} is compressed, and a database must not be; unpack it first")
        self.file = file
        self.name = name
        self.skip_bad = options.skip_bad
        self.types = {}
        self.format = format
        self.query = self.query_of(options.query)
        with self.answer() as cursor:
            self.names = [str(column[0]) for column in cursor.description or ()]
        if not self.names:
            raise SettingsError("query", "must be a SELECT, which has a result", value=options.query)
        if len({*self.names}) < len(self.names):
            raise DataError(
                f"the query of {name} has two columns of the same name: {listed(self.names)}",
                advice="rename one with AS",
            )

    def query_of(self, query: str | None) -> str:
        """The query to run: all rows of the table that is named, or of the only one."""
        with self.opened() as connection:
            of_tables = (
                "select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite_%'"
                if self.format == "sqlite"
                else "select table_name from information_schema.tables where table_schema = 'main'"
            )
            tables = sorted(str(row[0]) for row in connection.execute(of_tables).fetchall())
        if query is None and not tables:
            raise NoDataError(f"{self.name} has no tables")
        if query is None and len(tables) > 1:
            raise DataError(
                f"{self.name} has {len(tables)} tables: {listed(tables)}",
                advice=("name one of them, or a SELECT, with ", Setting("query", ...)),
            )
        table = tables[0] if query is None else query
        if table not in tables:
            return table
        self.how = f"the table {table}"
        return 'select * from "{}"'.format(table.replace('"', '""'))

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """A connection that can only read."""
        with readable(self.file.name):
            self.file.open().close()  # checks that the file is the same as before
            try:
                with closing(self.connect()) as connection:
                    yield connection
            except (sqlite3.Error, sqlite3.Warning) as error:
                raise self.failed(error) from None
            except Exception as error:
                if not type(error).__module__.startswith(("duckdb", "_duckdb")):
                    raise
                raise self.failed(error) from None

    def failed(self, error: Exception) -> DataError:
        return DataError(f"{self.name} cannot be read: {shorten(str(error))}", file=self.name)

    def connect(self) -> Any:
        if self.format == "duckdb":
            return imported().connect(self.file.path, read_only=True, config={"enable_external_access": "false"})
        connection = sqlite3.connect(f"file:{quote(self.file.path)}?mode=ro", uri=True)
        connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in ALLOWED else sqlite3.SQLITE_DENY)
        return connection

    @contextmanager
    def answer(self) -> Iterator[Any]:
        with self.opened() as connection:
            yield connection.execute(self.query)

    def batches(self) -> Iterator[Sequence[Sequence[Any]]]:
        with self.answer() as cursor:
            while rows := cursor.fetchmany(BATCH_ROWS):
                yield [[plain(value) for value in row] for row in rows]

    def place(self, row: int) -> str:
        return f"{self.name}, row {row} of the query"


def plain(value: Any) -> Any:
    """The value as one of the types of records: a decimal number as a float, an array of words as a list."""
    if value is None or isinstance(value, str | int | float | bytes | list | dict) or hasattr(value, "year"):
        return value
    try:
        return float(value)
    except (TypeError, ValueError):
        return str(value)


def imported() -> Any:
    try:
        import duckdb
    except ImportError:
        raise DataError(
            "DuckDB files are read by the package duckdb, which is not installed",
            advice="run: pip install duckdb, or write the table as Parquet",
        ) from None
    return duckdb
