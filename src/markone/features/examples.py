"""Examples that a user gives to a feature map: a source, a frame, a list, or a single text or dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from markone.data.read import read
from markone.data.source import Batch, Column, Source
from markone.features.texts import Texts


def batches_of(examples: Any, columns: tuple[Column, ...]) -> Iterator[Batch]:
    """The examples as batches with these columns."""
    if isinstance(examples, Source):
        return examples.batches()
    if is_one(examples):
        examples = [examples]
    texts_only = len(columns) == 1 and columns[0].kind == "text"
    if texts_only and isinstance(examples, list) and all(type(one) is str for one in examples):
        # The short way: no look at the first examples, and no Arrow.
        return iter([Batch({columns[0].name: Texts.of(examples)}, len(examples))])
    return read(examples, kinds={column.name: column.kind for column in columns}).batches()


def is_one(examples: Any) -> bool:
    """Whether it is a single example: a text, or a dict of values that are no columns."""
    return isinstance(examples, str) or (
        isinstance(examples, Mapping)
        and not any(isinstance(value, list | tuple | np.ndarray) for value in examples.values())
    )
