"""Arrays of the user's that are changed while they are learned from: an error or another result, but never memory that
belongs to nobody. The sanitizers of `make sanitize` see more than a crash."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from numpy.typing import NDArray

from markone import MIRA, MLP, LinearSVM, LogisticRegression, NaiveBayes, _core
from markone.data.blocks import Block, as_rows
from markone.learning.examples import BlockExamples
from markone.learning.learners import learner_for
from markone.learning.online import Linear
from markone.model.settings import Settings

HUGE = 2**31 - 1


def matrix(rows: int = 60, features: int = 20, seed: int = 0) -> Any:
    chance = np.random.default_rng(seed)
    return scipy.sparse.csr_array(chance.random((rows, features)) * (chance.random((rows, features)) < 0.3))


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_places_are_those_that_were_checked(kind: Any) -> None:
    """What is written over a CSR matrix after it was looked at is not looked at again."""
    X, labels = matrix(), np.arange(60, dtype=np.int32) % 3
    X.indices, X.indptr = X.indices.astype(kind), X.indptr.astype(kind)
    expected = Linear(Settings(), features=20, classes=3)
    expected.learn(Block(as_rows(X.copy()), X, labels))
    rows = as_rows(X)
    X.indices[:], X.indptr[1:-1] = HUGE, HUGE
    learner = Linear(Settings(), features=20, classes=3)
    learner.learn(Block(rows, X, labels))
    assert (learner.weights().matrix() == expected.weights().matrix()).all()
    assert (learner.scores(rows) == expected.scores(rows)).all()


@pytest.mark.parametrize(
    "settings",
    [
        {"rule": "svm"},
        {"rule": "logistic", "solver": "newton", "penalty": "l1", "strength": 0.01},
        {"rule": "logistic", "solver": "newton", "penalty": "l2", "strength": 0.01},
    ],
)
def test_places_stay_while_a_solver_works(settings: dict[str, Any]) -> None:
    """Solvers come back to the rows in every pass."""
    X, labels = matrix(), np.arange(60, dtype=np.int32) % 3
    found = []
    for change in (False, True):
        block = Block.of(X, labels)
        learner = learner_for(Settings(**settings), features=20, classes=3)
        examples = BlockExamples(learner.ready(block), learner.settings, None)
        learner.begin(examples)
        if change:
            X.indices[:], X.indptr[1:-1] = HUGE, -HUGE
        for epoch in (1, 2):
            list(learner.learn_pass(examples, epoch, 0))
        found.append(learner.scorer().weights.matrix())  # type: ignore[union-attr]
    assert (found[0] == found[1]).all()


@contextmanager
def flipping(array: NDArray[Any], value: Any) -> Iterator[None]:
    """Another thread that sets the whole array to a value and back, as long as this lasts."""
    good, end = array.copy(), threading.Event()

    def flip() -> None:
        while not end.is_set():
            array[:] = value
            array[:] = good

    thread = threading.Thread(target=flip)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def tried(use: Callable[[], Any]) -> None:
    """Several times: it may end well, or find what is wrong."""
    for _ in range(15):
        with suppress(ValueError):
            use()


@pytest.mark.parametrize("value", [HUGE, -1])
def test_labels_and_orders_that_change_meanwhile(value: int) -> None:
    X, labels = matrix(4000), np.arange(4000, dtype=np.int32) % 3
    order = np.arange(4000)
    rows = as_rows(X)
    narrow = as_rows(X.astype(np.float32))
    linear = Linear(Settings(), features=20, classes=3)
    counting: Any = learner_for(Settings(rule="naive-bayes"), features=20, classes=3)
    network: Any = learner_for(Settings(rule="mlp", hidden=(3,)), features=20, classes=3)
    for array in (labels, order):
        with flipping(array, value):
            tried(lambda: linear.learn(Block(rows, X, labels), order))
            tried(lambda: counting.learn(Block(rows, X, labels), order))
            tried(lambda: network.learn(Block(narrow, X, labels), order))
            tried(lambda: _core.Objective(rows, labels, 3, None, order))
            tried(
                lambda: _core.Dual(rows, labels, None, order, features=20, classes=3, C=1.0, squared=False, bias=True)
            )


def test_zeros_that_come_and_go() -> None:
    """Where dense rows are laid out by columns, there is as much room as there were values that are not 0."""
    X = np.zeros((2000, 20))
    labels = np.arange(2000, dtype=np.int32) % 3
    objective = _core.Objective(as_rows(X), labels, 3)
    with flipping(X, 1.0):
        tried(lambda: objective.turn(False))


@pytest.mark.parametrize(
    "estimator",
    [
        MIRA(max_iter=3),
        LinearSVM(max_iter=3),
        LogisticRegression(max_iter=3),
        NaiveBayes(),
        MLP(hidden_layer_sizes=(3,), max_iter=2),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.filterwarnings("ignore")
def test_a_matrix_that_changes_while_an_estimator_learns(estimator: Any) -> None:
    X, labels = matrix(2000), np.arange(2000) % 3
    with flipping(X.indices, HUGE):
        tried(lambda: estimator.fit(X, labels))
    estimator.fit(X, labels)
    with flipping(X.indices, HUGE):
        tried(lambda: estimator.predict(X))


def shifted(numbers: NDArray[Any]) -> NDArray[Any]:
    """The same numbers at an address that is odd, as in a message from another process."""
    octets = np.zeros(numbers.nbytes + 1, np.uint8)
    found: NDArray[Any] = np.frombuffer(octets, numbers.dtype, numbers.size, 1).reshape(numbers.shape)
    found[...] = numbers
    assert not found.flags.aligned
    return found


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_arrays_may_begin_at_any_address(kind: str) -> None:
    X, labels = matrix(), np.arange(60, dtype=np.int32) % 3
    expected = Linear(Settings(), features=20, classes=3)
    expected.learn(Block(as_rows(X if kind == "sparse" else X.toarray()), X, labels))
    moved: Any = shifted(X.toarray())
    if kind == "sparse":
        moved = X.copy()
        moved.data, moved.indices, moved.indptr = map(shifted, (X.data, X.indices, X.indptr))
    learner = Linear(Settings(), features=20, classes=3)
    learner.learn(Block(as_rows(moved), moved, shifted(labels)))
    assert (learner.weights().matrix() == expected.weights().matrix()).all()
    assert _core.sum(shifted(np.arange(10.0))) == 45
