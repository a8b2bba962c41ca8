"""Read: the door through which all data come in."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from markone.data.files import (
    STANDARD_INPUT,
    File,
    NamedFile,
    common_format,
    file_at,
    files_in,
    find,
    format_of,
    special,
    standard_input,
)
from markone.data.foreign import foreign_at
from markone.data.options import DELIMITED, LONGEST_LINE, MISSING, TABLES, Options
from markone.data.source import Source
from markone.errors import DataError, Setting, SettingsError

__all__ = ["read"]

FILES_LOOKED_AT = 20
"""Of a folder in which no name says a format that we read."""


def read(
    what: Any,
    *,
    target: Any = None,
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
    skip_bad: bool = False,
    threads: int | None = None,
    keep: Sequence[str] | str = (),
    once: bool = False,
) -> Source:
    """Opens whatever holds examples, and looks at the first of them.

    Parameters
    ----------
    what
        A path, a pattern such as `"parts/*.csv.gz"`, a folder, "-" for standard input, or a list of `pathlib.Path`; a
        data frame of pandas, polars, pyarrow, DuckDB or anyone else who speaks Arrow; a list of texts; a list of
        dictionaries; a dictionary of columns; an array of NumPy or SciPy.
    target
        The column to be predicted. For what is in memory it may also be the labels themselves, for idx images the path
        of the labels.
    importance
        A column that says how much each example counts, or for what is in memory these numbers themselves.
    format
        "csv", "tsv", "jsonl", "parquet", "arrow", "libsvm", "vw", "fasttext", "tab", "lines", "folders" or "idx", where
        the name of the file does not say it.
    kinds
        What columns hold, by their names, where the guess is wrong: "numeric", "boolean", "categorical", "text" or
        "ignore".
    header
        Whether the first row of a CSV file names the columns. None for yes, unless `columns` names them; it must be
        said where at least half of the first row are numbers.
    columns
        The names of a CSV file's columns. Without them and without a header they are c0, c1 and so on.
    separator
        What is between the fields of a CSV file: a character, or "whitespace" for runs of spaces and tabs. None for a
        tab in TSV files and a comma in CSV files, or a semicolon, a tab or a vertical bar where the first row has no
        comma and the first 20 rows have equally many fields by it.
    quote
        The character around fields of a CSV file that contain separators. None if quotes are plain characters.
    encoding
        The encoding of files of text, by one of the names that Python has for it.
    missing
        What stands in a CSV file where a value is missing.
    longest_line
        The most bytes that a line may have, or a text in a folder of texts.
    skip_bad
        Pass over lines that cannot be read, and count them in the source's `bad`, instead of ending at the first.
    threads
        How many threads read. None for as many as there are cores. The result is the same.
    keep
        Columns of a file that each batch is to carry in `kept` as they are in the file, or "all".
    once
        The source will be read only once: a pipe is not kept for another time, and its lines are handed on as they
        come.

    Returns
    -------
    Source
        It reads anew, from the first example to the last, each time it is asked for its batches.

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
        raise SettingsError("format", "is for files", value=format, advice="leave it out for what is in memory")
    options.check_use("what is in memory", None)
    from markone.data.memory import read_memory

    return read_memory(what, options)


# ---- files


def read_path(path: str, options: Options) -> Source:
    if path == STANDARD_INPUT:
        if options.format is None or options.format in ("folders", "idx"):
            example = ("for instance ", Setting("format", "csv"))
            raise SettingsError("format", ("must say what comes from standard input, ", example))
        return open_files([standard_input(options.once)], "standard input", options, options.format)
    if not path or "\0" in path:
        raise DataError(f"{path!r} is no path")
    paths = find(path)
    if paths == [path] and os.path.isdir(path):
        return read_folder(path, options)
    return read_files(paths, path, options)


def refuse_names(what: Any) -> None:
    """A list of strings is a list of texts; one who gives the names of files hardly means that."""
    if isinstance(what, list | tuple) and what and all(isinstance(name, str) and os.path.isfile(name) for name in what):
        raise DataError(
            f"a list of strings is a list of texts, but {what[0]!r} is the name of a file; give pathlib.Path objects "
            f"to read the files, [Path({what[0]!r}), ...], or {{'text': [...]}} if these are texts"
        )


def read_folder(folder: str, options: Options) -> Source:
    """A folder of class folders, or of files that belong together."""
    from markone.data.folders import FolderSource

    files, folders = files_in(folder)
    known = files if options.format not in (None, "folders") else [file for file in files if format_of(file)]
    if options.format == "folders" or (options.format is None and folders and not known):
        options.check_use("folders of texts", "folders")
        refuse_target(options, "folders of texts")
        source = FolderSource(folder, options)
        source.reading = options.reading("folders")
        return source
    if not known:
        error = next(filter(None, map(foreign_at, files[:FILES_LOOKED_AT])), None)
        if error is not None:
            raise error
        raise DataError(f"{folder} has no files whose names say a format that we read, and no folders of texts")
    if folders and options.format is None:
        raise DataError(
            f"{folder} has both files and folders",
            file=folder,
            advice=("say which: ", Setting("format", "folders"), ", or a pattern of files"),
        )
    for path in known:
        if os.path.exists(path) and not os.path.isfile(path):
            raise special(path, os.stat(path).st_mode)
    return read_files(known, folder, options)


def read_files(paths: Sequence[str], name: str, options: Options) -> Source:
    folders = [path for path in paths if os.path.isdir(path)]
    if folders:
        raise DataError(f"{folders[0]} is a folder, and is not read together with files")
    format = options.format or common_format(paths)
    if format == "folders":
        raise DataError(f"{name} is a file, not a folder with a folder for each class")
    files = [file_at(path, options.once) for path in paths]
    if format == "tab" and options.format is None and not has_tab(files, options):
        format = "lines"
    return open_files(files, name, options, format)


def has_tab(files: Sequence[File], options: Options) -> bool:
    """Whether texts come with labels: a name that ends in .txt does not tell."""
    from markone.data.chunks import chunks

    chunk = next(chunks(files, options), None)
    return chunk is None or b"\t" in chunk.data


def open_files(files: Sequence[File], name: str, options: Options, format: str) -> Source:
    source = source_of(files, name, options, format)
    source.files = files
    source.reading = options.reading(format)
    return source


def source_of(files: Sequence[File], name: str, options: Options, format: str) -> Source:
    from markone.data.tables import TableSource

    options.check_use(f"{format} files", format)
    if format in TABLES:
        for setting in ("target", "importance"):
            value = getattr(options, setting)
            if value is not None and not isinstance(value, str):
                problem = f"must be the name of a column of {name}, not {type(value).__name__}"
                raise SettingsError(setting, problem, value=value)
        if format in DELIMITED:
            from markone.data.delimited import DelimitedTable

            return TableSource(DelimitedTable(files, name, options, format), options)
        if format == "jsonl":
            from markone.data.json_lines import JsonTable

            return TableSource(JsonTable(files, name, options), options)
        from markone.data.arrow_tables import ArrowFileTable

        return TableSource(ArrowFileTable(files, name, options, format), options)
    if format == "idx":
        return open_images(files, options)
    refuse_target(options, f"{format} files")
    from markone.data.lines import PlainLines, RowLines, TextLines

    if format == "lines":
        return PlainLines(files, name, options)
    return (RowLines if format in RowLines.readers else TextLines)(files, name, options, format)


def open_images(files: Sequence[File], options: Options) -> Source:
    from markone.data.images import ImageSource, labels_beside

    if len(files) > 1:
        raise DataError(f"of idx files one is read at a time, not {len(files)}")
    labels = options.target
    if labels is None:
        labels = labels_beside(files[0].name)
    elif not isinstance(labels, str | os.PathLike) or not os.path.isfile(labels):
        problem = f"must be the path of the file with the images' labels, not {labels!r}"
        raise SettingsError("target", problem, value=labels)
    return ImageSource(files[0], None if labels is None else NamedFile(os.fspath(labels)))


def refuse_target(options: Options, what: str) -> None:
    if options.target is not None:
        which = "have none" if what == "lines files" else "have their labels in them"
        problem = f"means nothing for {what}, which {which}"
        raise SettingsError("target", problem, value=options.target, advice="leave it out")
