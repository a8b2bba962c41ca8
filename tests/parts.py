"""What the tests of the parts of a feature map share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from markone import reference
from markone.data.blocks import Sparse
from markone.data.source import Batch
from markone.features.part import Matrix, Part

ODD_WORDS = [
    "a",
    "B",
    "not",
    "NO",
    "Good",
    "ß",
    "é!",
    "ﬁn",
    "\u0130x",
    "''",
    "日本",
    "日本iPhone13が",
    "สวัสดี",
    "ខ្មែរ",
    "ကမ္ဘာ",
    "한국어",
    "👍🏽👍",
    "👩\u200d👩\u200d👧",
    "🇩🇪🇫🇷🇪",
    "1\ufe0f\u20e32\u20e3",
    "❤\ufe0f\u200d🔥",
    "#\ufe0f\u20e3",
    "\ufe0f",
    "🏴\U000e0067\U000e0062\U000e007f",
    "\U0001fa77",
    "\U0003134a",
    "x-y",
    "\0",
    "don't",
    "N’T",
    ".",
    "。",
]
"""Words that are negated, folded, cut or joined in odd ways."""
PLAIN_TEXT: dict[str, Any] = {"words": [1, 1], "signs": False, "value": "count", "weight": "none", "min_count": 1}
"""Words and how often they occur, as in the lectures."""


def tokens_of(text: str, how: dict[str, Any]) -> list[str]:
    """The tokens of a text by the reference, with the options of the core's settings."""
    unspaced = how["unspaced"] and not how["characters"]
    cut = {"fold": how["fold"], "unspaced": unspaced, "emoji": how["emoji"]}
    if how["choice"] == "lower":
        return reference.without_capitals(text, **cut)
    if how["choice"] == "negated":
        return [f"NOT_{token}" for token, inside in reference.negated(text, **cut) if inside]
    if how["negation"]:
        return reference.mark_negated(text, **cut, signs=how["signs"])
    return reference.tokenize(text, **cut, signs=how["signs"])


Row = dict[str, float]


def batch_of(columns: Mapping[str, Any]) -> Batch:
    """Lists become Arrow arrays; all else stays."""
    arrays = {name: pa.array(values) if isinstance(values, list) else values for name, values in columns.items()}
    return Batch(arrays, len(next(iter(arrays.values()))))


def cut(batch: Batch, ends: Sequence[int]) -> list[Batch]:
    """The batch in pieces, some of which may be empty."""
    places = [0, *sorted(min(end, len(batch)) for end in ends), len(batch)]
    return [
        Batch({name: values[begin:end] for name, values in batch.columns.items()}, end - begin)
        for begin, end in pairwise(places)
    ]


def learn(part: Part, *batches: Batch) -> list[Row]:
    """The rows of the batches, by the features' names, after training on them; what is 0 is left out.

    The batches are transformed, too, and must give the same rows.
    """
    drafts = [part.absorb(part.collect(batch), None) for batch in batches]
    part.finish()
    rows = [row for draft in drafts for row in named(part, part.refine(draft))]
    assert rows == [row for batch in batches for row in named(part, part.transform(batch))]
    return rows


def transform(part: Part, batch: Batch) -> list[Row]:
    return named(part, part.transform(batch))


def names_of(part: Part) -> list[str]:
    names = [part.name(number) for number in range(part.width)]
    assert len({*names}) == len(names)
    return names


def named(part: Part, matrix: Matrix) -> list[Row]:
    names = names_of(part)
    assert matrix.shape[1] == part.width
    if not isinstance(matrix, Sparse):
        assert matrix.dtype == np.float32 and matrix.flags.c_contiguous
        return [{name: x for name, x in zip(names, row, strict=True) if x != 0} for row in matrix.tolist()]
    assert matrix.indptr.dtype == np.int64 and matrix.indices.dtype == np.uint32 and matrix.data.dtype == np.float32
    assert matrix.indptr[0] == 0 and matrix.indptr[-1] == len(matrix.indices) == len(matrix.data)
    rows = []
    for begin, end in pairwise(matrix.indptr.tolist()):
        indices = matrix.indices[begin:end].tolist()
        assert len({*indices}) == len(indices)  # each feature once
        values = zip(indices, matrix.data[begin:end].tolist(), strict=True)
        rows.append({names[i]: x for i, x in values if x != 0})
    return rows
