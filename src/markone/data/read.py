"""`markone.read`: opens data of all kinds."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from markone.addresses import is_address, path_of_local, shown
from markone.data.files import STANDARD_INPUT, File, file_at, special, standard_input
from markone.data.finding import common_format, files_in, find, format_of
from markone.data.foreign import foreign_at, is_picture_at
from markone.data.formats import FORMATS, Format
from markone.data.options import LONGEST_LINE, MISSING, Options
from markone.data.source import Source
from markone.errors import DataError, Setting, SettingsError
from markone.extras import need

__all__ = ["read"]

FILES_LOOKED_AT = 20
"""The number of files that are examined in a folder whose file names do not show a known format."""


def read(
    what: Any,
    target: Any = None,
    *,
    importance: Any = None,
    format: str | None = None,
    kinds: Mapping[str, str] | None = None,
    header: bool | None = None,
    columns: Sequence[str] | None = None,
    separator: str | None = None,
    quote: str | None = '"',
    encoding: str = "utf-8",
    missing: Sequence[str] = MISSING,
    longest_line: int = LONGEST_LINE,
    sheet: str | None = None,
    query: str | None = None,
    nan: Literal["error", "missing"] = "error",
    skip_bad: bool = False,
    threads: int | None = None,
    keep: Sequence[str] | str = (),
    once: bool = False,
) -> Source:
    """Open data, and examine the first examples.

    Parameters
    ----------
    what
        A path, a pattern such as `"parts/*.csv.gz"`, a folder, "-" for standard input, or a list of `pathlib.Path`; an
        address such as `"s3://bucket/parts/*.csv.gz"`, of a file system of pyarrow or fsspec; a data frame of pandas,
        polars (also a lazy one), pyarrow, DuckDB or a library with the Arrow interface; a data set of Hugging Face; a
        list of texts; a list of dictionaries; a dictionary of columns; an array of NumPy or SciPy.
    target
        The column to predict. For data in memory it may also be the labels themselves, for idx and ASCII images the
        path of the labels.
    importance
        The column with the weight of each example. For data in memory it may also be the weights themselves.
    format
        The format of the files, if their names do not show it, such as "csv" or "libsvm". The page "Reading data" lists
        all formats.
    kinds
        The kinds of columns, by their names, if the guess is wrong: "numeric", "decimal-comma", "boolean",
        "categorical", "text", "set", "comma-set", "date", "datetime", "day-first-date", "day-first-datetime",
        "month-first-date", "month-first-datetime", "excel-date", "excel-datetime" or "ignore". If the target is a "set"
        or a "comma-set", each row can have several labels; for lines with labels, it is named "label".
    header
        Whether the first row of a CSV file or of a sheet names the columns. None for yes, unless `columns` names them;
        it must be set if at least half of the fields in the first row are numbers.
    columns
        The names of the columns of a CSV file or a sheet. Without them and without a header they are c0, c1 and so on.
    separator
        The character between the fields of a CSV file, or "whitespace" for any number of spaces and tabs. None for a
        tab in TSV files and a comma in CSV files. If the first row has no comma, a semicolon, a tab or a vertical bar
        is used that divides the first 20 rows into the same number of fields.
    quote
        The character around fields of a CSV file that contain separators. None if quotes are plain characters.
    encoding
        The encoding of text files, by a name that Python knows.
    missing
        The words that mean a missing value in a CSV file or a sheet.
    longest_line
        The maximum number of bytes in a line, or in a text of a folder of texts.
    sheet
        The name of the sheet of a workbook. None for the first sheet that is not empty.
    query
        A SELECT for a database of SQLite or DuckDB, or the name of a table. None if there is only one table.
    nan
        Whether NaN in an array is an error, or a missing value. If it is a missing value, each column of the array
        becomes a numeric column of a table.
    skip_bad
        Skip lines that cannot be read, and count them in the source's `bad`, instead of stopping at the first one.
    threads
        The number of threads. None for one per core. The result does not depend on it.
    keep
        Columns of a file that each batch also contains unchanged, in its `kept`, or "all".
    once
        The source will be read only once. A pipe is then not stored, and its lines are passed on as they arrive.

    Returns
    -------
    Source
        Each call of its `batches` reads the data again, from the first example to the last.

    Examples
    --------
    >>> source = read(["free money", "see you"], target=["spam", "ham"])
    >>> [batch.labels.tolist() for batch in source.batches()], source.labels
    ([[0, 1]], ['spam', 'ham'])
    """
    options = Options(
        target=target,
        importance=importance,
        format=format,
        kinds={} if kinds is None else kinds,
        header=header,
        columns=columns,
        separator=separator,
        quote=quote,
        encoding=encoding,
        missing=missing,
        longest_line=longest_line,
        sheet=sheet,
        query=query,
        nan=nan,
        skip_bad=skip_bad,
        threads=threads,
        keep=keep,
        once=once,
    )
    if isinstance(what, str | os.PathLike):
        return read_path(os.fspath(what), options)
    if isinstance(what, list | tuple) and what and all(isinstance(path, os.PathLike) for path in what):
        paths = [path for name in what for path in find(os.fspath(name))]
        return read_files(paths, f"{paths[0]} and {len(paths) - 1} others" if len(paths) > 1 else paths[0], options)
    refuse_names(what)
    if format is not None:
        raise SettingsError("format", "is for files", value=format, advice="leave it out for data in memory")
    options.check_use("data in memory", None)
    from markone.data.memory import read_memory

    return read_memory(what, options)


# ---- files


def read_path(path: str, options: Options) -> Source:
    if path == STANDARD_INPUT:
        if options.format is None or not FORMATS[options.format].streams:
            example = ("for instance ", Setting("format", "csv"))
            raise SettingsError("format", ("must be set for standard input, ", example))
        return open_files([standard_input(options.once)], "standard input", options, options.format)
    if not path or "\0" in path:
        raise DataError(f"{path!r} is not a path")
    path = path_of_local(path) or path
    paths = find(path)
    if paths == [path] and os.path.isdir(path):
        return read_folder(path, options)
    return read_files(paths, shown(path) if is_address(path) else path, options)


def refuse_names(what: Any) -> None:
    """Raise an error for a list of file names, because a list of strings is a list of texts."""
    if isinstance(what, list | tuple) and what and all(isinstance(name, str) and os.path.isfile(name) for name in what):
        raise DataError(
            f"a list of strings is a list of texts, but {what[0]!r} is the name of a file; give pathlib.Path objects "
            f"to read the files, [Path({what[0]!r}), ...], or {{'text': [...]}} if these are texts"
        )


def read_folder(folder: str, options: Options) -> Source:
    """The source for a folder that contains one folder per class, or files of one format."""
    from markone.data.folders import FolderSource

    files, folders = files_in(folder)
    if options.format in (None, "pictures") and folders and not any(map(format_of, files)) and has_pictures(folders):
        return read_pictures(folder, options)
    known = files if options.format not in (None, "folders") else [file for file in files if format_of(file)]
    if options.format == "folders" or (options.format is None and folders and not known):
        options.check_use("folders of texts", "folders")
        refuse_target(options, "folders of texts", FORMATS["folders"])
        source = FolderSource(folder, options)
        source.reading = options.reading("folders")
        return source
    if not known:
        error = next(filter(None, map(foreign_at, files[:FILES_LOOKED_AT])), None)
        if error is not None:
            raise error
        raise DataError(f"{folder} has no files whose names show a known format, and no folders of texts or pictures")
    if folders and options.format is None:
        raise DataError(
            f"{folder} has both files and folders",
            file=folder,
            advice=("choose: ", Setting("format", "folders"), ", or a pattern of files"),
        )
    for path in known:
        if os.path.exists(path) and not os.path.isfile(path):
            raise special(path, os.stat(path).st_mode)
    return read_files(known, folder, options)


def has_pictures(folders: Sequence[str]) -> bool:
    """Whether the first file in the folders of the classes is a picture, by its name or its first bytes."""
    first = next((files[0] for folder in folders if (files := files_in(folder)[0])), None)
    return first is not None and (format_of(first) == "pictures" or is_picture_at(first))


def read_pictures(folder: str, options: Options) -> Source:
    from markone.data.pictures import open_classes

    options.check_use("folders of pictures", "pictures")
    refuse_target(options, "folders of pictures", FORMATS["pictures"])
    source = open_classes(folder, options)
    source.reading = options.reading("pictures")
    return source


def read_files(paths: Sequence[str], name: str, options: Options) -> Source:
    folders = [path for path in paths if os.path.isdir(path)]
    if folders:
        raise DataError(f"{folders[0]} is a folder, which cannot be read together with files")
    format = options.format or common_format(paths)
    if format == "folders":
        raise DataError(f"{name} is a file, not a folder with a folder for each class")
    files = [file_at(path, options.once) for path in paths]
    if format == "tab" and options.format is None and not has_tab(files, options):
        format = "lines"
    return open_files(files, name, options, format)


def has_tab(files: Sequence[File], options: Options) -> bool:
    """Whether the texts have labels, which the ending .txt does not show."""
    from markone.data.chunks import chunks

    chunk = next(chunks(files, options), None)
    return chunk is None or b"\t" in chunk.data


def open_files(files: Sequence[File], name: str, options: Options, format: str) -> Source:
    source = source_of(files, name, options, format)
    source.files = files
    source.reading = options.reading(format)
    return source


def source_of(files: Sequence[File], name: str, options: Options, format: str) -> Source:
    record = FORMATS[format]
    if record.target == "column":
        need("pyarrow")
    options.check_use(f"{format} files", format)
    if record.target == "column":
        for setting in ("target", "importance"):
            value = getattr(options, setting)
            if value is not None and not isinstance(value, str):
                problem = f"must be the name of a column of {name}, not {type(value).__name__}"
                raise SettingsError(setting, problem, value=value)
    elif record.target != "file":
        refuse_target(options, f"{format} files", record)
    module, reader = record.reader.split(".")
    opened: Any = getattr(importlib.import_module(f"markone.data.{module}"), reader)(files, name, options, format)
    if record.target != "column":
        return cast(Source, opened)
    from markone.data.tables import TableSource

    return TableSource(opened, options)


def refuse_target(options: Options, what: str, format: Format) -> None:
    if options.target is not None:
        which = "have no labels" if format.target == "none" else "contain their labels"
        problem = f"means nothing for {what}, which {which}"
        raise SettingsError("target", problem, value=options.target, advice="leave it out")
