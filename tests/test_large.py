"""More non-zeros than 32 bits can count: slow, and not for small machines."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from markone.data.blocks import Block
from markone.learning.online import Linear
from markone.model.settings import Settings


@pytest.mark.slow
def test_more_than_two_to_the_31_non_zeros() -> None:
    # Zeros that are never written take no memory: the pages of all these arrays are one and the same.
    rows, width = 2**16 + 2, 2**15
    stored = rows * width
    assert stored > 2**31
    matrix = scipy.sparse.csr_array((4, width), dtype=np.float32)
    matrix.indptr = np.arange(0, stored + 1, width, dtype=np.int64)
    matrix.indices = np.zeros(stored, np.int32)
    matrix.data = np.zeros(stored, np.float32)
    matrix._shape = (rows, width)
    matrix.data[-1] = 3.0  # the last value of the last row
    labels = np.zeros(rows, int)
    labels[-1] = 1
    block = Block.of(matrix, labels)
    assert block.rows.stored == stored
    linear = Linear(Settings(tie="negative", bias=False, average=False), features=width, classes=2, dtype=np.float32)
    tally = linear.learn(block)
    assert (tally.visits, tally.mistakes, tally.updates) == (rows, 1, 1)
    assert linear.weights().matrix()[0, 0] == 3
    assert linear.scores(block.rows)[-1, 0] == 9
