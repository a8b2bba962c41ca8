"""Foreign files: formats that Markone does not read, recognised by first bytes or names, with advice for each."""

from __future__ import annotations

import os

from markone.errors import DataError, Setting, Words

LOOKED_AT = 512

EXPORT = "export it as CSV, and read that"
PICTURES: Words = ("put the pictures into a folder for each class, or say ", Setting("format", "pictures"))
WORKBOOK: Words = ("say ", Setting("format", "excel"))
DATABASE: Words = ("say ", Setting("format", "sqlite"))
ARRAY = "load it with numpy.load(..., allow_pickle=False) and give the array to markone"
UNPACK = "unpack it, and read the files that are in it, or pack the one file to read as .zip or .gz"
PICKLED = "write what is in it as CSV or Parquet; a pickle can run any code when it is loaded, so we never load one"

KINDS: dict[str, tuple[str, Words]] = {
    "png": ("a PNG picture", PICTURES),
    "jpg": ("a JPEG picture", PICTURES),
    "jpeg": ("a JPEG picture", PICTURES),
    "gif": ("a GIF picture", PICTURES),
    "bmp": ("a BMP picture", PICTURES),
    "tif": ("a TIFF picture", PICTURES),
    "tiff": ("a TIFF picture", PICTURES),
    "webp": ("a WebP picture", PICTURES),
    "xlsx": ("an Excel workbook", WORKBOOK),
    "xlsm": ("an Excel workbook", WORKBOOK),
    "xls": ("an old Excel workbook", WORKBOOK),
    "ods": ("an OpenDocument spreadsheet", WORKBOOK),
    "sqlite": ("an SQLite database", DATABASE),
    "sqlite3": ("an SQLite database", DATABASE),
    "pdf": ("a PDF document", "take its text out, for instance with pdftotext, and read that"),
    "docx": ("a Word document", "save it as plain text, and read that"),
    "doc": ("an old Word document", "save it as plain text, and read that"),
    "pptx": ("a PowerPoint presentation", "save it as plain text, and read that"),
    "office": ("an old Office document, such as an .xls workbook", WORKBOOK),
    "zip": ("a ZIP archive", "give it a name that ends in .zip if it contains one file, or unpack it"),
    "7z": ("a 7z archive", UNPACK),
    "rar": ("a RAR archive", UNPACK),
    "tar": ("a tar archive", UNPACK),
    "tgz": ("a tar archive", UNPACK),
    "xz": ("compressed with xz", "unpack it with unxz, or compress it with gzip, zstd or bzip2 instead"),
    "lz4": ("compressed with lz4", "unpack it with unlz4, or compress it with gzip, zstd or bzip2 instead"),
    "npy": ("a NumPy array", ARRAY),
    "npz": ("an archive of NumPy arrays", ARRAY),
    "pkl": ("a Python pickle", PICKLED),
    "pickle": ("a Python pickle", PICKLED),
    "joblib": ("a file of joblib, which is a Python pickle", PICKLED),
    "h5": ("an HDF5 file", EXPORT),
    "hdf5": ("an HDF5 file", EXPORT),
    "rds": ("an R object", EXPORT),
    "rdata": ("R data", EXPORT),
    "dta": ("a Stata file", EXPORT),
    "sav": ("an SPSS file", EXPORT),
    "parquet": ("a Parquet file", ("say ", Setting("format", "parquet"))),
    "arrow": ("an Arrow file", ("say ", Setting("format", "arrow"))),
    "html": ("an HTML page", "take the text or the table out of it, for instance with pandas.read_html"),
    "xml": ("an XML file", EXPORT),
}
# Their first bytes. No meaningful text in UTF-8 begins like this.
MAGIC = {
    b"\x89PNG\r\n\x1a\n": "png",
    b"\xff\xd8\xff": "jpeg",
    b"GIF87a": "gif",
    b"GIF89a": "gif",
    b"II*\0": "tiff",
    b"MM\0*": "tiff",
    b"%PDF-": "pdf",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "office",
    b"SQLite format 3\0": "sqlite",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!\x1a\x07": "rar",
    b"\xfd7zXZ\0": "xz",
    b"\x04\x22\x4d\x18": "lz4",
    b"\x93NUMPY": "npy",
    b"\x89HDF\r\n\x1a\n": "h5",
    b"\x80\x02": "pkl",
    b"\x80\x03": "pkl",
    b"\x80\x04": "pkl",
    b"\x80\x05": "pkl",
    b"PAR1": "parquet",
    b"ARROW1\0\0": "arrow",
}
# The kind of a ZIP archive, by the names of the first files in it.
INSIDE = {"xl/": "xlsx", "word/": "docx", "ppt/": "pptx"}


def check_start(name: str, start: bytes) -> None:
    """Raise an error if a file that should be text begins like a file of another kind."""
    kind = kind_by_start(name, start)
    if kind is not None:
        raise foreign(name, kind)


def kind_by_start(name: str, start: bytes) -> str | None:
    """
    >>> kind_by_start("a.csv", b"%PDF-1.7"), kind_by_start("a.csv", b"a,b")
    ('pdf', None)
    """
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "webp"
    if start[257:262] == b"ustar":
        return "tar"
    kind = next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), None)
    return kind_of_archive(name) if kind == "zip" else kind


def kind_of_archive(name: str) -> str:
    """The kind of a ZIP archive: the files of Office and NumPy are such archives, too."""
    import zipfile

    try:
        with zipfile.ZipFile(name) as archive:
            inside = archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile):  # a pipe has no such name
        return "zip"
    if inside and all(one.endswith(".npy") for one in inside):
        return "npz"
    found = (kind for one in inside for start, kind in INSIDE.items() if one.startswith(start))
    return next(found, "ods" if "content.xml" in inside else "zip")


def is_picture_at(path: str) -> bool:
    """Whether a file is a picture, by its first bytes."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            kind = kind_by_start(path, file.read(LOOKED_AT) or b"")
    except OSError:
        return False
    return kind is not None and KINDS[kind][1] is PICTURES


def foreign_at(path: str) -> DataError | None:
    """The error for a file that is foreign by its first bytes or, if these are unknown, by its name; else None."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            start = file.read(LOOKED_AT) or b""
    except OSError:
        start = b""
    ending = os.path.splitext(path)[1].removeprefix(".").lower()
    kind = kind_by_start(path, start) or (ending if ending in KINDS else None)
    return None if kind is None else foreign(path, kind)


def foreign(name: str, kind: str) -> DataError:
    what, advice = KINDS[kind]
    is_read = not isinstance(advice, str)
    problem = "but is not read as one" if is_read else "which Markone does not read"
    return DataError(f"{name} is {what}, {problem}", file=name, advice=advice)
