"""Images: pixels and patches as parts of a feature map, against plain twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from markone import DataError, SettingsError, _core, reference
from markone.data.source import Batch, Column
from markone.features.images import Patches, Pixels, image_parts
from markone.features.spec import Image
from parts import Row, cut, learn, names_of, transform

IMAGE = Column("image", "image")
# Mostly black and white, so that patterns repeat; the brightness between them is where thresholds differ.
brightness = st.sampled_from([0, 0, 255, 127, 128, 1])


def images(least: int = 1) -> st.SearchStrategy[Any]:
    shapes = st.tuples(st.integers(0, 5), st.integers(least, 6), st.integers(least, 6))
    return arrays.arrays(np.uint8, shapes, elements=brightness)


def batch_of(pixels: Any) -> Batch:
    return Batch({"image": pixels}, len(pixels))


def on(image: Any, threshold: float) -> list[list[bool]]:
    return [[pixel >= threshold * 255 for pixel in row] for row in image.tolist()]


def pixels_twin(values: list[list[Any]]) -> Row:
    return {f"pixel {i},{j}": float(x) for i, row in enumerate(values) for j, x in enumerate(row) if x}


@given(images(), st.lists(st.integers(0, 5), max_size=2))
def test_grey_pixels_are_from_0_to_1(pixels: Any, ends: list[int]) -> None:
    rows = learn(Pixels(IMAGE, Image()), *cut(batch_of(pixels), ends))
    assert rows == [pytest.approx(pixels_twin((image / 255).tolist()), rel=1e-6) for image in pixels]


@given(images(), st.lists(st.integers(0, 5), max_size=2), st.sampled_from([0.001, 0.498, 0.5, 1]))
def test_pixels_are_on_from_the_threshold(pixels: Any, ends: list[int], threshold: float) -> None:
    rows = learn(Pixels(IMAGE, Image(pixels="on-off", threshold=threshold)), *cut(batch_of(pixels), ends))
    assert rows == [pixels_twin(on(image, threshold)) for image in pixels]


def test_each_threshold_turns_on_what_it_should() -> None:
    every = np.arange(256, dtype=np.uint8).reshape(1, 16, 16)
    for percent in range(1, 101):
        part = Pixels(IMAGE, Image(pixels="on-off", threshold=percent / 100))
        assert len(learn(part, batch_of(every))[0]) == sum(value >= percent / 100 * 255 for value in range(256))


@given(images(4), images(4), st.lists(st.integers(0, 5), max_size=2), st.integers(2, 4), st.sampled_from([0.001, 0.5]))
def test_patches_are_those_of_their_twin(
    pixels: Any, others: Any, ends: list[int], size: int, threshold: float
) -> None:
    part = Patches(IMAGE, Image(patches=size, threshold=threshold))
    rows = learn(part, *cut(batch_of(pixels), ends))
    twins = [reference.patches(on(image, threshold), size) for image in pixels]
    assert rows == twins
    known = {name for twin in twins for name in twin}
    assert {*names_of(part)} == known
    if others.shape[1:] == pixels.shape[1:]:  # what was not met in training is no feature
        found = [reference.patches(on(image, threshold), size) for image in others]
        assert transform(part, batch_of(others)) == [{name: 1 for name in twin if name in known} for twin in found]


def test_frequent_patches_come_first_and_then_those_met_first() -> None:
    pixels = np.zeros((3, 2, 3), np.uint8)
    pixels[0, 0, 2] = pixels[1, 1, 0] = pixels[2, 1, 0] = 255
    for ends in ([], [1], [1, 2]):
        part = Patches(IMAGE, Image(patches=2))
        learn(part, *cut(batch_of(pixels), ends))
        assert names_of(part) == ["patch 0,0 00/10", "patch 0,1 01/00"]


def test_settings_choose_the_parts() -> None:
    for settings, parts in (
        (Image(), [Pixels, Patches]),
        (Image(patches=None), [Pixels]),
        (Image(pixels="on-off", patches=3), [Pixels, Patches]),
        (Image(pixels="none", patches=2), [Patches]),
    ):
        assert [type(part) for part in image_parts(IMAGE, settings)] == parts
    front = image_parts(IMAGE, Image(patches=2), "front:")
    batch = batch_of(np.full((1, 2, 2), 255, np.uint8))
    assert [next(iter(learn(part, batch)[0])) for part in front] == ["front:pixel 0,0", "front:patch 0,0 11/11"]
    with pytest.raises(SettingsError, match="so 'image' has no features"):
        image_parts(IMAGE, Image(pixels="none", patches=None))


@pytest.mark.parametrize("settings", [Image(patches=None), Image(pixels="on-off", patches=None), Image(pixels="none")])
def test_images_must_be_of_one_size(settings: Image) -> None:
    (part,) = image_parts(IMAGE, settings)
    small, other = (batch_of(np.full(shape, 255, np.uint8)) for shape in ((2, 3, 4), (2, 4, 3)))
    sentence = "first ones have 3 × 4 pixels .* these have 4 × 3"
    learn(part, small)
    with pytest.raises(DataError, match=sentence):
        part.transform(other)
    with pytest.raises(DataError, match=sentence):
        part.absorb(part.collect(other), None)


def test_what_is_no_image_is_refused() -> None:
    for pixels in (np.zeros((2, 3, 3)), np.zeros((2, 9), np.uint8)):
        with pytest.raises(DataError, match="'image' must be an array of bytes"):
            learn(Pixels(IMAGE, Image()), batch_of(pixels))
    with pytest.raises(DataError, match="2 × 5 pixels are too small for patches of 3 × 3; leave patches out"):
        learn(Patches(IMAGE, Image(patches=3)), batch_of(np.zeros((1, 2, 5), np.uint8)))


def test_images_that_are_not_contiguous_are_read_right() -> None:
    pixels = np.arange(32, dtype=np.uint8).reshape(2, 4, 4)[:, ::-1, ::2]
    part = Patches(IMAGE, Image(patches=2, threshold=0.05))
    assert learn(part, batch_of(pixels)) == [reference.patches(on(image, 0.05), 2) for image in pixels]


def test_the_core_refuses_what_it_cannot_read() -> None:
    patterns = _core.Patterns()
    image = np.full((1, 3, 3), 255, np.uint8)
    for size in (1, 5):
        with pytest.raises(ValueError, match="2 to 4 pixels"):
            patterns.count_patches(image, size=size, level=1)
    with pytest.raises(ValueError, match="too small"):
        patterns.find_patches(image, size=4, level=1)
    with pytest.raises(ValueError, match="brightness 0"):
        patterns.count_patches(image, size=2, level=0)
    with pytest.raises(ValueError, match="themselves"):
        patterns.add(patterns)
    with pytest.raises(TypeError):
        patterns.count_patches(image.astype(np.float32), size=2, level=1)  # type: ignore[arg-type]
    patterns.count_patches(image, size=2, level=1)
    assert len(patterns) == 4 and patterns.counts.tolist() == [1] * 4
    for order in ([0, 1, 2], [0, 1, 2, 2], [0, 1, 2, 4], [0, 1, 2, -1]):
        with pytest.raises(ValueError, match="order"):
            patterns.reorder(np.array(order))
