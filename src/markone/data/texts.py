"""Texts without Arrow, which is slow to start: bytes, and where each text starts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Texts(NamedTuple):
    """Text i is `data[offsets[i] : offsets[i + 1]]`, in UTF-8."""

    offsets: NDArray[Any]
    data: NDArray[np.uint8]

    @classmethod
    def of(cls, texts: Sequence[str | bytes]) -> Texts:
        parts = [text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text for text in texts]
        offsets = np.zeros(len(parts) + 1, np.int64)
        np.cumsum([len(part) for part in parts], out=offsets[1:])
        return cls(offsets, np.frombuffer(b"".join(parts), np.uint8))

    def take(self, which: NDArray[Any]) -> Texts:
        """Some of the texts, in this order."""
        data = self.data.tobytes()
        begins, ends = self.offsets[which].tolist(), self.offsets[which + 1].tolist()
        return Texts.of([data[begin:end] for begin, end in zip(begins, ends, strict=True)])

    def to_pylist(self) -> list[str]:
        """The texts once more; what is no UTF-8 is replaced."""
        data = self.data.tobytes()
        return [data[begin:end].decode("utf-8", "replace") for begin, end in pairwise(self.offsets.tolist())]
