"""Images of characters, as in the digits and faces of CS188: a space is white, + is grey and # is black."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from markone.data.files import COMPRESSION_OF_ENDING, File, open_plain, readable
from markone.data.finding import name_without_compression
from markone.data.images import file_of_labels
from markone.data.labels import Labels
from markone.data.options import Options
from markone.data.source import BadLines, Batch, Column, Source
from markone.data.tables import BATCH_ROWS
from markone.errors import DataError, LimitError, Setting

GREY = np.zeros(256, np.uint8)
GREY[ord("+")], GREY[ord("#")] = 128, 255
KNOWN = b" +#\n\r"
HEIGHT_OF_WIDTH = {28: 28, 60: 70}
"""The heights of digits and faces, by their widths."""
LARGEST = 2**30
"""The largest size of a file in bytes. It is read as a whole."""


def open_ascii_images(files: Sequence[File], name: str, options: Options, _: str) -> AsciiImages:
    """The source of one file of images, with the labels beside it or in the file that `target` names."""
    if len(files) > 1:
        raise DataError(f"files of ASCII images are read one at a time, but there are {len(files)}")
    return AsciiImages(files[0], name, file_of_labels(options, labels_beside(files[0].name)))


class AsciiImages(Source):
    """Images in lines of characters. Their height is the number of lines for each label or, without labels, that of the
    digits or faces of CS188, which is known by their width."""

    columns = (Column("image", "image"),)

    def __init__(self, file: File, name: str, labels: File | None) -> None:
        self.bad = BadLines()
        self.target = None if labels is None else "label"
        self.known_labels = Labels("label")
        self.labels = self.known_labels.values
        lines = self.read_lines(file)
        marks = None if labels is None else read_all(labels).decode("ascii", "replace").split()
        height = HEIGHT_OF_WIDTH.get(lines.shape[1]) if marks is None else len(lines) // max(1, len(marks))
        if height is None:
            raise DataError(
                f"{name} has {len(lines):,} lines of {lines.shape[1]} characters, and no labels that show how many "
                "lines an image has",
                advice=("name the file of labels with ", Setting("target", ...)),
            )
        if height == 0 or len(lines) % height or (marks is not None and len(marks) * height != len(lines)):
            count = "" if marks is None else f" and {len(marks):,} labels"
            raise DataError(f"{name} has {len(lines):,} lines{count}, which are not whole images of {height} lines")
        self.images = lines.reshape(-1, height, lines.shape[1])
        self.marks = None if marks is None else self.known_labels.numbers_of(map(number, marks))
        self.name = f"{name}, {len(self.images):,} images of {height} × {lines.shape[1]} characters"

    def read_lines(self, file: File) -> NDArray[np.uint8]:
        """The lines as rows of grey values. The last line may be shorter."""
        data = read_all(file).replace(b"\r\n", b"\n")
        odd = next((character for character in {*data} if character not in KNOWN), None)
        if odd is not None:
            raise DataError(f"{file.name} has the character {chr(odd)!r}; an ASCII image has only spaces, + and #")
        lines = data.removesuffix(b"\n").split(b"\n")
        width = max(map(len, lines))
        if width == 0:
            raise DataError(f"{file.name} is empty")
        whole = b"".join(line.ljust(width) for line in lines)
        return GREY[np.frombuffer(whole, np.uint8)].reshape(len(lines), width)

    def batches(self) -> Iterator[Batch]:
        self.bad = BadLines()
        for start in range(0, len(self.images), BATCH_ROWS):
            some = self.images[start : start + BATCH_ROWS]
            yield Batch(
                {"image": some}, len(some), None if self.marks is None else self.marks[start : start + len(some)]
            )


def number(label: str) -> int | str:
    return int(label) if label.isdecimal() else label


def read_all(file: File) -> bytes:
    with readable(file.name), open_plain(file) as stream:
        data: bytes = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise LimitError(f"{file.name} is larger than {LARGEST:,} bytes", file=file.name)
    return data


def labels_beside(path: str) -> str | None:
    """The path of the labels that belong to a file of images, compressed or not; None if there is no such file."""
    folder, name = os.path.split(path)
    stem = name[: len(name_without_compression(name))]
    stem = stem[: -len("images")] + "labels" if stem.lower().endswith("images") else f"{stem}labels"
    candidates = (os.path.join(folder, stem + ending) for ending in ("", *COMPRESSION_OF_ENDING))
    return next(filter(os.path.isfile, candidates), None)
