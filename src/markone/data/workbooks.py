"""Workbooks: the sheets of Excel and LibreOffice, read by python-calamine."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from datetime import time, timedelta
from typing import Any

from markone.data.delimited import check_is_header, check_repeats, named
from markone.data.files import File, open_plain, readable
from markone.data.options import Options
from markone.data.records import RecordTable, some_rows
from markone.data.tables import among, listed
from markone.errors import DataError, LimitError, NoDataError, Setting, shorten

LARGEST = 2**29
"""The largest size of a workbook in bytes, unpacked. It is read as a whole."""


class WorkbookTable(RecordTable):
    """A sheet of a workbook. Its first row that is not empty names the columns."""

    def __init__(self, files: Sequence[File], name: str, options: Options, _: str) -> None:
        if len(files) > 1:
            raise DataError(f"workbooks are read one at a time, but there are {len(files)}")
        self.file = files[0]
        self.name = name
        self.skip_bad = options.skip_bad
        self.missing = {*options.missing}
        self.types = {}
        rows = self.read_sheet(options.sheet)
        self.rows, self.names, self.first = self.below_header(rows, options)

    def read_sheet(self, sheet: str | None) -> list[list[Any]]:
        calamine = imported()
        with readable(self.file.name):
            data = read_bytes(self.file)
            try:
                with calamine.CalamineWorkbook.from_filelike(io.BytesIO(data)) as workbook:
                    names = workbook.sheet_names
                    if sheet is None and len(names) > 1:
                        filled = [one for one in names if workbook.get_sheet_by_name(one).height > 0]
                        names = filled or names
                    chosen = sheet if sheet is not None or not names else names[0]
                    if chosen not in names and chosen not in workbook.sheet_names:
                        raise DataError(
                            (f"{self.name} has no sheet {sheet!r}.", among(str(sheet), workbook.sheet_names)),
                            advice=("name another with ", Setting("sheet", ...)),
                        )
                    if sheet is None and len(names) > 1:
                        self.how = f"the first of its sheets, {listed(names)}"
                    rows: list[list[Any]] = workbook.get_sheet_by_name(chosen).to_python()
                    return rows
            except (calamine.CalamineError, ValueError, TypeError) as error:
                if isinstance(error, DataError):
                    raise
                raise DataError(f"{self.name} is not a workbook that can be read: {shorten(str(error))}") from None

    def below_header(self, rows: list[list[Any]], options: Options) -> tuple[list[list[Any]], list[str], int]:
        """The rows below the header, the names of the columns, and the number of the first row in the sheet."""
        filled = [number for number, row in enumerate(rows) if any(cell != "" for cell in row)]
        if not filled:
            raise NoDataError(f"{self.name} is empty")
        start, width = filled[0], len(rows[0])
        has_header = options.columns is None if options.header is None else options.header
        names = [str(cell).strip() for cell in rows[start]]
        place: dict[str, Any] = {"file": self.name, "line": start + 1}
        if options.header is None and options.columns is None:
            check_is_header(names, place)
        if options.columns is not None:
            names = list(options.columns)
        elif not has_header:
            names = [""] * width
        if len(names) != width:
            raise DataError(f"there are {width} cells but columns gives {len(names)} names", **place)
        check_repeats(names, place)
        start += has_header
        body = [[self.value_of(cell) for cell in row] for row in rows[start:]]
        return [row for row in body if any(cell is not None for cell in row)], named(names), start

    def value_of(self, cell: Any) -> Any:
        if isinstance(cell, str):
            cell = cell.strip()
            return None if cell in self.missing else cell
        if isinstance(cell, timedelta):
            return cell.total_seconds()
        return str(cell) if isinstance(cell, time) else cell

    def batches(self) -> Iterator[Sequence[Sequence[Any]]]:
        return some_rows(iter(self.rows))

    def place(self, row: int) -> str:
        return f"{self.name}, row {row} below the header"


def imported() -> Any:
    try:
        import python_calamine
    except ImportError:
        raise DataError(
            "workbooks are read by the package python-calamine, which is not installed",
            advice="run: pip install 'markone[excel]', or save the sheet as CSV",
        ) from None
    return python_calamine


def read_bytes(file: File) -> bytes:
    """The whole file, after a check that it is not too large, also if it is unpacked."""
    with open_plain(file) as stream:
        data: bytes = stream.read(LARGEST + 1)
    size = len(data)
    if data.startswith(b"PK") and size <= LARGEST:
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                size = max(size, sum(one.file_size for one in archive.infolist()))
        except (zipfile.BadZipFile, ValueError):
            raise DataError(f"{file.name} is damaged: it is not a complete ZIP archive, as workbooks are") from None
    if size > LARGEST:
        raise LimitError(
            f"{file.name} is too large for a workbook: more than {LARGEST:,} bytes",
            file=file.name,
            advice="save its sheet as CSV, which is read piece by piece",
        )
    return data
