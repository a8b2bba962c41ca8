"""Pictures: PNG, JPEG and other files, one for each example, read by Pillow; a folder for each class has labels."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.files import File, NamedFile, readable
from markone.data.finding import files_in
from markone.data.formats import FORMATS
from markone.data.images import BATCH_BYTES, MOST_PIXELS
from markone.data.labels import Labels
from markone.data.options import Options
from markone.data.source import BadLines, Batch, Column, Source
from markone.errors import DataError, shorten
from markone.parallel import count_threads, in_order

ENDINGS = FORMATS["pictures"].endings
READ = ("PNG", "JPEG", "PPM", "BMP", "GIF", "TIFF", "WEBP")
"""The formats that Pillow may read."""
Picture = tuple[str | None, str]
"""The label, if there is one, and the path."""


def is_picture(path: str) -> bool:
    return path.lower().endswith(ENDINGS)


def open_pictures(files: Sequence[File], name: str, options: Options, _: str) -> PictureSource:
    """The source of pictures without labels."""
    return PictureSource([(None, file.name) for file in files], name, options)


def open_classes(folder: str, options: Options) -> PictureSource:
    """The source of a folder that contains a folder of pictures for each class. The classes are sorted by name."""
    classes = {os.path.basename(path): files_in(path)[0] for path in files_in(folder)[1]}
    found: list[Picture] = [(label, path) for label, paths in classes.items() for path in paths]
    others = [path for _, path in found if not is_picture(path)]
    if others and not options.skip_bad:
        raise DataError(f"{others[0]} is not a picture, by its name, but the files beside it are; remove it")
    source = PictureSource([one for one in found if is_picture(one[1])], folder, options)
    source.bad_names = [f"{path} is not a picture, by its name" for path in others]
    return source


class PictureSource(Source):
    """Pictures of one size, as grey values from 0 to 255."""

    columns = (Column("image", "image"),)

    def __init__(self, pictures: Sequence[Picture], name: str, options: Options) -> None:
        if not pictures:
            raise DataError(f"{name} has no pictures")
        self.pillow = imported(pictures[0][1])
        self.pictures = pictures
        self.options = options
        self.bad = BadLines()
        self.bad_names: list[str] = []
        self.target = None if pictures[0][0] is None else "label"
        self.known_labels = Labels("label")
        self.labels = self.known_labels.values
        first = next(self.readable_ones(pictures), None)
        if first is None:
            raise DataError(f"{name} has no pictures that can be read")
        self.first, (self.height, self.width) = first[0], first[1].shape
        many = "1 picture" if len(pictures) == 1 else f"{len(pictures):,} pictures"
        self.name = f"{name}, {many} of {self.height} × {self.width} pixels"

    def readable_ones(self, pictures: Sequence[Picture]) -> Iterator[tuple[str, NDArray[np.uint8]]]:
        for _, path in pictures:
            try:
                yield path, self.read(path)
            except DataError:
                if not self.options.skip_bad:
                    raise

    def batches(self) -> Iterator[Batch]:
        self.bad = BadLines()
        self.bad.add_all(len(self.bad_names), self.bad_names)
        size = max(1, BATCH_BYTES // (self.height * self.width))
        groups = (self.pictures[i : i + size] for i in range(0, len(self.pictures), size))
        for labels, images, sentences in in_order(self.read_all, groups, count_threads(self.options.threads)):
            self.bad.add_all(len(sentences), sentences)
            if images:
                numbers = None if self.target is None else self.known_labels.numbers_of(labels)
                yield Batch({"image": np.stack(images)}, len(images), numbers)

    def read_all(self, group: Sequence[Picture]) -> tuple[list[str | None], list[NDArray[np.uint8]], list[str]]:
        labels, images, sentences = [], [], []
        for label, path in group:
            try:
                image = self.read(path)
                if image.shape != (self.height, self.width):
                    raise DataError(
                        f"{path} has {image.shape[0]} × {image.shape[1]} pixels, but {self.first} has {self.height} × "
                        f"{self.width}; all pictures must have one size, to which you can scale them first"
                    )
            except DataError as error:
                if not self.options.skip_bad:
                    raise
                sentences.append(str(error))
            else:
                labels.append(label)
                images.append(image)
        return labels, images, sentences

    def read(self, path: str) -> NDArray[np.uint8]:
        """The grey values of a picture. Transparent pixels are black."""
        file = NamedFile(path)
        with readable(path), file.open() as opened:
            try:
                with self.pillow.open(opened, formats=READ) as picture:
                    if picture.width * picture.height > MOST_PIXELS:
                        raise DataError(f"{path} has {picture.height} × {picture.width} pixels; that is too many")
                    return np.array(picture.convert("L"), np.uint8)
            except DataError:
                raise
            except Exception as error:  # the decoders of Pillow raise errors of many types
                why = "" if type(error).__name__ == "UnidentifiedImageError" else f": {shorten(str(error))}"
                raise DataError(f"{path} is not a picture that can be read{why}") from None


def imported(path: str) -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise DataError(
            f"{path} is a picture, and pictures are read by the package Pillow, which is not installed",
            advice="run: pip install 'markone[images]', or give the pixels as an array: markone.read(X, target=y)",
        ) from None
    return Image
