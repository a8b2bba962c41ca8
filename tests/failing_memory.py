"""Learns and predicts again and again, each time with another request for memory that fails: every n-th. Run by
test_failing_memory.py, with the allocator of failing_memory.cpp before the system's."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import scipy.sparse

import markone
from markone.data.blocks import Block
from markone.errors import DataError
from markone.learning.examples import BlockExamples
from markone.learning.learner import Learner
from markone.learning.learners import learner_for
from markone.learning.passes import LearnerTraining
from markone.learning.run import Run
from markone.model.settings import Settings

ALLOCATOR = ctypes.CDLL(None)
LEAST = 1024
"""Only larger requests fail: the glue between Python and the core cannot do without a few bytes."""
MOST = 400
"""So many requests are tried, at most."""

Step = Callable[[Any], Any]


def block_of(sparse: bool, classes: int) -> Block:
    chance = np.random.default_rng(0)
    labels = np.arange(300) % classes
    X = chance.random((300, 150)).round(1) * (chance.random((300, 150)) < 0.3)
    return Block.of(scipy.sparse.csr_array(X) if sparse else X, labels)


def learning(block: Block, classes: int, **settings: Any) -> tuple[Callable[[], Run], Step]:
    how = Settings(**settings)

    def make() -> Run:
        learner = learner_for(how, features=150, classes=classes)
        return Run(LearnerTraining(learner, BlockExamples(learner.ready(block), learner.settings, None)))

    def use(run: Run) -> Any:
        history = run.make_passes()
        assert len(history) >= 1 or run.ended
        state = run.trained.learner.get_state()
        run.trained.learner.check_state(state)
        run.trained.learner.set_state(state)
        return run.trained.learner.predict(run.trained.learner.ready(block).rows)

    return make, use


def growing() -> tuple[Callable[[], Learner], Step]:
    block = block_of(True, 3)

    def make() -> Learner:
        learner = learner_for(
            Settings(rule="hinge", schedule="adagrad", penalty="l1", strength=0.01), features=150, classes=3
        )
        learner.learn(block)  # type: ignore[attr-defined]
        return learner

    def use(learner: Any) -> Any:
        before = learner.weights().matrix()
        features, classes = learner.features, learner.classes
        try:
            learner.grow(features=features + 200, classes=classes + 3, places=list(range(classes)))
        except MemoryError:
            assert (learner.features, learner.classes) == (features, classes)
            assert np.allclose(learner.weights().matrix(), before), "it has grown by half"
            raise
        learner.learn(block)
        return learner.predict(block.rows)

    return make, use


def texts() -> tuple[Callable[[], dict[str, Any]], Step]:
    words = [f"word{i}" for i in range(60)]
    chance = np.random.default_rng(1)
    said = [" ".join(chance.choice(words, 20)) for _ in range(200)]
    target = ["a" if "word1" in text else "b" for text in said]

    def use(_: dict[str, Any]) -> Any:
        model = markone.train(said, target=target, epochs=2, threads=2)
        return model.predict(said[:20])

    return dict, use


JOBS: dict[str, Callable[[], tuple[Callable[[], Any], Step]]] = {
    "mira": lambda: learning(block_of(True, 3), 3, rule="mira", epochs=2),
    "hinge with debts": lambda: learning(
        block_of(False, 2), 2, rule="hinge", schedule="adagrad", penalty="l1", strength=0.01, epochs=2
    ),
    "growing": growing,
    "svm": lambda: learning(block_of(True, 2), 2, rule="svm", epochs=4),
    "svm of many classes": lambda: learning(block_of(False, 5), 5, rule="svm", epochs=4),
    "newton": lambda: learning(
        block_of(True, 3), 3, rule="logistic", solver="newton", penalty="l2", strength=0.01, epochs=2
    ),
    "newton with corners": lambda: learning(
        block_of(False, 3), 3, rule="logistic", solver="newton", penalty="l1", strength=0.01, epochs=2
    ),
    "naive bayes": lambda: learning(block_of(True, 3), 3, rule="naive-bayes"),
    "mlp": lambda: learning(block_of(True, 3), 3, rule="mlp", hidden=(20,), epochs=2),
    "texts": texts,
}


def fail_each(name: str, stride: int) -> None:
    make, use = JOBS[name]()
    expected = use(make())
    failed = 0
    for request in count(1, stride):
        thing = make()
        ALLOCATOR.arm_failing_memory(ctypes.c_long(request), ctypes.c_size_t(LEAST))
        try:
            use(thing)
        except (MemoryError, DataError) as error:
            if isinstance(error, DataError) and "too little memory" not in str(error):
                raise
            failed += 1
        finally:
            left = ALLOCATOR.disarm_failing_memory()
        use(thing)
        if left > 0 or request > MOST:
            break
    assert (use(make()) == expected).all(), "what was made afterwards is another"
    print(f"{name}: {failed} requests failed", flush=True)
    assert failed > 0


if __name__ == "__main__":
    for job in JOBS:
        fail_each(job, int(sys.argv[1]))
