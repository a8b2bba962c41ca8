"""Images: idx files, the format of MNIST, with the images in one file and their labels in another."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from markone.data.files import COMPRESSION_OF_ENDING, File, NamedFile, is_unpacked, open_plain, readable
from markone.data.labels import Labels
from markone.data.options import Options
from markone.data.source import BadLines, Batch, Column, Source
from markone.errors import DataError, SettingsError

BYTES = 0x08
BATCH_BYTES = 2**20
MOST_PIXELS = 2**24


def open_images(files: Sequence[File], _: str, options: Options, __: str) -> ImageSource:
    """The source of one file of images, with the labels beside it or in the file that `target` names."""
    if len(files) > 1:
        raise DataError(f"idx files are read one at a time, but there are {len(files)}")
    return ImageSource(files[0], file_of_labels(options, labels_beside(files[0].name)))


def file_of_labels(options: Options, beside: str | None) -> File | None:
    """The file that `target` names, or the one `beside` the images, if there is one."""
    path = beside if options.target is None else options.target
    if path is None:
        return None
    if not isinstance(path, str | os.PathLike) or not os.path.isfile(path):
        problem = f"must be the path of the file with the images' labels, not {path!r}"
        raise SettingsError("target", problem, value=path)
    return NamedFile(os.fspath(path))


class ImageSource(Source):
    """Images whose pixels are grey values from 0 to 255 and, if there are any, their labels, which are numbers."""

    columns = (Column("image", "image"),)

    def __init__(self, images: File, labels: File | None) -> None:
        self.bad = BadLines()
        self.target = None if labels is None else "label"
        self.known_labels = Labels("label")
        self.labels = self.known_labels.values
        self.images = IdxFile.of(images, dimensions=3)
        self.name = "{}, {:,} images of {} × {} pixels".format(images.name, *self.images.shape)
        self.marks = None if labels is None else IdxFile.of(labels, dimensions=1)
        if self.marks is not None and self.marks.shape[0] != self.images.shape[0]:
            raise DataError(
                f"there are {self.images.shape[0]:,} images in {images.name} but {self.marks.shape[0]:,} labels in "
                f"{self.marks.file.name}"
            )

    def batches(self) -> Iterator[Batch]:
        self.bad = BadLines()
        count, *shape = self.images.shape
        rows = max(1, BATCH_BYTES // int(np.prod(shape)))
        with self.images.open() as pictures, nullcontext() if self.marks is None else self.marks.open() as marks:
            for start in range(0, count, rows):
                size = min(rows, count - start)
                pixels = np.frombuffer(self.images.take(pictures, size), np.uint8).reshape(size, *shape)
                numbers = None
                if self.marks is not None:
                    values = np.frombuffer(self.marks.take(marks, size), np.uint8)
                    numbers = self.known_labels.numbers_of(values)
                yield Batch({"image": pixels}, size, numbers)
            for one in (self.images, self.marks):
                if one is not None:
                    one.file.check_again()


@dataclass(frozen=True, slots=True)
class IdxFile:
    """A file whose header has been checked."""

    file: File
    shape: tuple[int, ...]

    @classmethod
    def of(cls, file: File, dimensions: int) -> IdxFile:
        with readable(file.name), open_plain(file) as stream:
            size = 4 * (dimensions + 1)
            header: bytes = stream.read(size)
            if not header:
                raise DataError(f"{file.name} is empty")
            if len(header) < size or header[:4] != bytes([0, 0, BYTES, dimensions]):
                what = "images" if dimensions == 3 else "labels"
                raise DataError(f"{file.name} is not an idx file of {what}: it begins with {header[:4].hex(' ')}")
            shape = tuple(int(n) for n in np.frombuffer(header, ">u4", offset=4))
            if 0 in shape:
                raise DataError(f"{file.name} has no {'rows' if shape[0] == 0 else 'pixels'}: its shape is {shape}")
            if int(np.prod(shape[1:], dtype=object)) > MOST_PIXELS:
                raise DataError(
                    f"{file.name} has images of {shape[1]} × {shape[2]} pixels, by its header; that is too many"
                )
            if isinstance(file, NamedFile) and not is_unpacked(stream):
                says, has = size + int(np.prod(shape, dtype=object)), os.path.getsize(file.path)
                if has != says:
                    raise DataError(f"{file.name} should have {says:,} bytes, by its header, but has {has:,}")
        return cls(file, shape)

    def open(self) -> Any:
        with readable(self.file.name):
            stream = open_plain(self.file)
            stream.read(4 * (len(self.shape) + 1))
            return stream

    def take(self, stream: Any, rows: int) -> bytes:
        size = rows * int(np.prod(self.shape[1:]))
        with readable(self.file.name):
            data: bytes = stream.read(size)
        if len(data) < size:
            raise DataError(f"{self.file.name} ends too soon: its header says that it has {self.shape[0]:,} rows")
        return data


def labels_beside(path: str) -> str | None:
    """The path of the labels that belong to a file of images, compressed or not; None if there is no such file."""
    folder, name = os.path.split(path)
    name = name.replace("images", "labels").replace("idx3", "idx1")
    stem, ending = os.path.splitext(name)
    stem = stem if ending in COMPRESSION_OF_ENDING else name
    for candidate in (name, stem, *(stem + ending for ending in COMPRESSION_OF_ENDING)):
        other = os.path.join(folder, candidate)
        if other != path and os.path.isfile(other):
            return other
    return None
