"""Images: pixels, and patterns of neighbouring pixels."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Self

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import MOST_FEATURES, Sparse
from markone.data.source import Batch, Column
from markone.errors import DataError, SettingsError
from markone.features.event_kinds import Event, Group
from markone.features.part import Matrix, Part
from markone.features.spec import Image
from markone.storage.saved import Contents, Saved, damaged, distrusted

Bytes = NDArray[np.uint8]
BRIGHTEST = 255
MOST_PIXELS = 2**32


def image_parts(column: Column, settings: Image, prefix: str = "") -> list[Part]:
    """The parts for a column of images. A prefix distinguishes the features of several such columns."""
    parts: list[Part] = []
    if settings.pixels != "none":
        parts.append(Pixels(column, settings, prefix))
    if settings.patches is not None:
        parts.append(Patches(column, settings, prefix))
    if not parts:
        raise SettingsError("image.pixels", f"is 'none', so {column.name!r} has no features; set image.patches")
    return parts


class ImagePart(Part):
    """Features of images that all have one size. The images are their own draft."""

    def __init__(self, column: Column, settings: Image, prefix: str = "") -> None:
        self.column = column
        self.settings = settings
        self.prefix = prefix
        self.size: tuple[int, int] | None = None
        """Height and width."""

    @property
    def level(self) -> int:
        """The brightness from which a pixel is on."""
        return math.ceil(self.settings.threshold * BRIGHTEST)

    def finish(self) -> None: ...

    def transform(self, batch: Batch) -> Matrix:
        images = self.read(batch)
        self.check_size(images.shape[1:])
        return self.refine(images)

    def read(self, batch: Batch) -> Bytes:
        images = np.asarray(batch.columns[self.column.name])
        if images.dtype != np.uint8 or images.ndim != 3:
            raise DataError(
                f"the images of {self.column.name!r} must be an array of bytes: examples × height × width, "
                f"not of {images.dtype} and shape {images.shape}"
            )
        return np.ascontiguousarray(images)

    def check_size(self, size: tuple[int, ...]) -> None:
        height, width = size
        if self.size is None:
            self.size = (height, width)
        if self.size != (height, width):
            raise DataError(
                f"the images of {self.column.name!r} must all have one size: the first ones have {self.size[0]} × "
                f"{self.size[1]} pixels (height × width), these have {height} × {width}"
            )

    def save(self) -> Saved:
        return Saved({"size": list(self.size or ())})

    def take(self, contents: Contents) -> None:
        size = contents.fact("size", list)
        if size and not (len(size) == 2 and all(type(side) is int and 0 <= side <= MOST_PIXELS for side in size)):
            raise damaged("the size of the images is not height and width")
        if math.prod(size) > MOST_PIXELS:
            raise damaged("the images are too large")
        self.size = (size[0], size[1]) if size else None

    def extend(self, other: Self) -> NDArray[np.int64]:
        before = self.width
        if other.size is not None:
            self.check_size(other.size)
        return np.arange(before)


class Pixels(ImagePart):
    """Each pixel is a feature, `pixel 3,4` by its row and column from 0: its brightness from 0 to 1, or 1 if it is on.

    Rows of brightness are dense; rows of pixels that are on are sparse. No pixel is pruned, because there are few.
    """

    def collect(self, batch: Batch) -> Bytes:
        return self.read(batch)

    def absorb(self, collected: Bytes, labels: NDArray[np.int32] | None = None) -> Bytes:
        self.check_size(collected.shape[1:])
        return collected

    def refine(self, draft: Bytes) -> Matrix:
        pixels = draft.reshape(len(draft), self.width)
        if self.settings.pixels == "grey":
            return np.divide(pixels, np.float32(BRIGHTEST), dtype=np.float32)
        on = pixels >= self.level
        indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(on, axis=1))])
        indices = np.nonzero(on)[1].astype(np.uint32)
        return Sparse(indptr, indices, np.ones(len(indices), np.float32), self.width)

    @property
    def width(self) -> int:
        return math.prod(self.size or (0,))

    def name(self, number: int) -> str:
        row, column = divmod(number, (self.size or (0, 1))[1])
        return f"{self.prefix}pixel {row},{column}"

    def groups(self, likelihood: Event | None = None) -> list[Group]:
        return [Group(likelihood or ("gaussian" if self.settings.pixels == "grey" else "bernoulli"), 0, self.width)]


class Patterns(ImagePart):
    """Patterns of neighbouring pixels: each pattern, at each place where it occurred in training, is a feature.

    The core counts and finds patterns by keys. A subclass defines the patterns and the names of the keys.
    """

    def __init__(self, column: Column, settings: Image, prefix: str = "") -> None:
        super().__init__(column, settings, prefix)
        self.patterns = _core.Patterns()
        self.keys: NDArray[np.uint64] = self.patterns.keys

    def groups(self, likelihood: Event | None = None) -> list[Group]:
        """Each pattern is present or absent."""
        return [Group("bernoulli", 0, self.width)]

    @abstractmethod
    def count(self, images: Bytes) -> _core.Patterns:
        """The patterns of some images, and how often each occurs."""

    @abstractmethod
    def find(self, images: Bytes) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """The numbers of the known patterns of each image: where its numbers begin, and the numbers."""

    def collect(self, batch: Batch) -> tuple[Bytes, _core.Patterns]:
        images = self.read(batch)
        return images, self.count(images)

    def absorb(self, collected: tuple[Bytes, _core.Patterns], labels: NDArray[np.int32] | None = None) -> Bytes:
        images, patterns = collected
        self.check_size(images.shape[1:])
        self.patterns.add(patterns)
        return images

    def finish(self) -> None:
        """The most frequent pattern is the first feature."""
        if len(self.patterns) > MOST_FEATURES:
            raise DataError(f"there are {len(self.patterns)} patterns in the images; the maximum is {MOST_FEATURES}")
        self.patterns.reorder(np.argsort(-self.patterns.counts, kind="stable"))
        self.keys = self.patterns.keys

    def refine(self, draft: Bytes) -> Sparse:
        indptr, indices = self.find(draft)
        return Sparse(indptr, indices, np.ones(len(indices), np.float32), self.width)

    @property
    def width(self) -> int:
        return len(self.keys)

    def save(self) -> Saved:
        return Saved(super().save().facts, {"keys": self.keys})

    def take(self, contents: Contents) -> None:
        super().take(contents)
        keys = contents.array("keys", np.uint64, None)
        self.check_keys(keys)
        with distrusted():
            self.choose(keys)

    @abstractmethod
    def check_keys(self, keys: NDArray[np.uint64]) -> None:
        """Check that the keys belong to possible patterns."""

    def choose(self, keys: NDArray[np.uint64]) -> None:
        """Set the features."""
        self.patterns = _core.Patterns(keys)
        self.keys = keys

    def extend(self, other: Self) -> NDArray[np.int64]:
        before = super().extend(other)
        self.patterns.add(other.patterns)
        self.keys = self.patterns.keys
        return before

    def prune(self, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
        self.choose(self.keys[used])
        return used.copy()


class Patches(Patterns):
    """Squares of pixels, by which of them are on: `patch 3,4 010/111/000` has its upper left corner in row 3, column 4.

    A square in which all pixels are off is not a feature.
    """

    @property
    def side(self) -> int:
        return self.settings.patches or 0

    def count(self, images: Bytes) -> _core.Patterns:
        self.check_large_enough(images)
        patterns = _core.Patterns()
        patterns.count_patches(images, size=self.side, level=self.level)
        return patterns

    def check_large_enough(self, images: Bytes) -> None:
        if min(images.shape[1:]) < self.side:
            raise DataError(
                f"images of {images.shape[1]} × {images.shape[2]} pixels are too small for patches of "
                f"{self.side} × {self.side}; leave patches out: image.patches = []"
            )

    def find(self, images: Bytes) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        self.check_large_enough(images)
        return self.patterns.find_patches(images, size=self.side, level=self.level)

    def check_keys(self, keys: NDArray[np.uint64]) -> None:
        height, width = (max(0, side - self.side + 1) for side in self.size or (0, 0))
        places, patterns = keys >> np.uint64(self.side**2), keys & np.uint64((1 << self.side**2) - 1)
        if (places >= height * width).any() or (patterns == 0).any():
            raise damaged("there is an impossible patch")

    def name(self, number: int) -> str:
        place, pattern = divmod(int(self.keys[number]), 1 << self.side**2)
        row, column = divmod(place, (self.size or (0, 0))[1] - self.side + 1)
        bits = f"{pattern:0{self.side**2}b}"
        strips = [bits[i : i + self.side] for i in range(0, len(bits), self.side)]
        return f"{self.prefix}patch {row},{column} {'/'.join(strips)}"
