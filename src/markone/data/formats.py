"""Formats: one record for each file format that `markone.read` reads. Other modules take every fact about a format from
its record, so a new format needs a record here and a class that reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

HEADED = frozenset({"header", "columns", "missing"})
DELIMITED = HEADED | {"separator", "quote"}
TEXT = frozenset({"encoding", "longest_line"})
TABLE = frozenset({"kinds", "importance", "keep"})
NOT_FOR_ALL = DELIMITED | TEXT | TABLE | {"sheet", "query", "nan"}
"""The options of `markone.read` that only some formats use."""
LABEL_OF_LINES = "label"
"""The name of the target in formats whose lines contain their labels."""
IN_MEMORY = frozenset({"kinds", "importance", "nan"})
"""Those of them that data in memory use."""


@dataclass(frozen=True, slots=True)
class Format:
    name: str
    """The value of the option `format`."""
    help: str
    """A few words about the format, for help texts."""
    reader: str
    """The class or function in this folder that reads it, as `module.name`. It is called with the files, their name for
    messages, the options and the name of the format, and returns a source, or a `Table` if the target is a column."""
    endings: tuple[str, ...] = ()
    """How the names of such files end, without the ending of a compressed file."""
    options: frozenset[str] = frozenset()
    """The options in `NOT_FOR_ALL` that it uses."""
    target: Literal["column", "within", "none", "file"] = "column"
    """Where the labels are: in a column that the user names, within each example, nowhere, or in another file."""
    streams: bool = True
    """Whether it can be read from standard input."""
    line_reader: str = ""
    """The class in `markone._core` that reads its lines, if the core does so."""


FORMATS = {
    format.name: format
    for format in (
        Format("csv", "a table with commas", "delimited.DelimitedTable", (".csv",), DELIMITED | TEXT | TABLE),
        Format("tsv", "a table with tabs", "delimited.DelimitedTable", (".tsv",), DELIMITED | TEXT | TABLE),
        Format("jsonl", "a JSON object per line", "json_lines.JsonTable", (".jsonl", ".ndjson", ".json"), TEXT | TABLE),
        Format("parquet", "a Parquet file", "arrow_tables.ArrowFileTable", (".parquet",), TABLE),
        Format("arrow", "an Arrow file", "arrow_tables.ArrowFileTable", (".arrow", ".feather", ".ipc"), TABLE),
        Format(
            "excel",
            "a sheet of a workbook",
            "workbooks.WorkbookTable",
            (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
            HEADED | TABLE | {"sheet"},
        ),
        Format(
            "sqlite",
            "a table or query of SQLite",
            "databases.DatabaseTable",
            (".sqlite", ".sqlite3", ".db"),
            TABLE | {"query"},
            streams=False,
        ),
        Format(
            "duckdb",
            "a table or query of DuckDB",
            "databases.DatabaseTable",
            (".duckdb",),
            TABLE | {"query"},
            streams=False,
        ),
        Format(
            "libsvm",
            "rows of LIBSVM",
            "lines.RowLines",
            (".libsvm", ".svm", ".svmlight"),
            TEXT | {"kinds"},
            "within",
            line_reader="LibsvmReader",
        ),
        Format("vw", "rows of Vowpal Wabbit", "lines.RowLines", (".vw",), TEXT, "within", line_reader="VWReader"),
        Format(
            "fasttext",
            "labelled texts of fastText",
            "lines.TextLines",
            (".ft",),
            TEXT | {"keep", "kinds"},
            "within",
            line_reader="FastTextReader",
        ),
        Format(
            "tab",
            "a label, a tab and a text per line",
            "lines.TextLines",
            (".txt",),
            TEXT | {"keep", "kinds"},
            "within",
            line_reader="TabReader",
        ),
        Format("lines", "a text without a label per line", "lines.PlainLines", (), TEXT | {"keep"}, "none"),
        Format("folders", "a folder of texts per class", "folders.FolderSource", (), TEXT, "within", streams=False),
        Format(
            "idx",
            "images like MNIST's",
            "images.open_images",
            ("idx3-ubyte", "idx3.ubyte"),
            target="file",
            streams=False,
        ),
        Format(
            "ascii-images",
            "images of characters like CS188's digits and faces",
            "ascii_images.open_ascii_images",
            (
                *("trainingimages", "validationimages", "testimages"),
                *("facedatatrain", "facedatavalidation", "facedatatest"),
            ),
            target="file",
            streams=False,
        ),
        Format(
            "pictures",
            "pictures, with a folder for each class if they have labels",
            "pictures.open_pictures",
            (".png", ".jpg", ".jpeg", ".pgm", ".pbm", ".ppm", ".bmp", ".gif", ".tif", ".tiff", ".webp"),
            target="within",
            streams=False,
        ),
    )
}


def format_of_name(name: str) -> str | None:
    """The format that the name of a file shows, or None. The name is in lower case; that of a hidden file
    shows no format by what follows its first dot.

    >>> format_of_name("reviews.ndjson"), format_of_name("train-images-idx3-ubyte"), format_of_name("notes")
    ('jsonl', 'idx', None)
    """
    return next((format.name for format in FORMATS.values() if name.lstrip(".").endswith(format.endings)), None)


def useless_options(format: str | None) -> frozenset[str]:
    """The options of `markone.read` that have no meaning for files of a format, or for data in memory if it is None."""
    return NOT_FOR_ALL - (IN_MEMORY if format is None else FORMATS[format].options)


def has_target_column(format: str | None) -> bool:
    """Whether files of this format are tables, in which the target is a column."""
    return format is not None and FORMATS[format].target == "column"


def has_sets_of_labels(format: str | None) -> bool:
    """Whether lines of this format contain their labels, and can have several."""
    return format is not None and FORMATS[format].target == "within" and "kinds" in FORMATS[format].options


def formats_in_words() -> str:
    """All formats with their endings, for a help text."""
    return ", ".join(
        f"{format.name} ({'; '.join(filter(None, [format.help, ' '.join(format.endings)]))})"
        for format in FORMATS.values()
    )
