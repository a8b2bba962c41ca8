"""What a file has to go on from may come from anywhere: every number of every learner's state is checked before any of
it is used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from markone.data.blocks import Block
from markone.errors import DataError
from markone.learning.examples import BlockExamples
from markone.learning.learner import Learner
from markone.learning.learners import learner_for
from markone.learning.online import Linear
from markone.learning.passes import LearnerTraining
from markone.learning.run import Run
from markone.learning.run_options import RunOptions
from markone.learning.svm import Dual
from markone.model.settings import Settings
from markone.storage.saved import Saved

INF, NAN = float("inf"), float("nan")


class Case(NamedTuple):
    settings: Settings
    classes: int = 3
    features: int = 4
    rows: int = 30


def case(rule: str, classes: int = 3, features: int = 4, rows: int = 30, **settings: Any) -> Case:
    epochs = None if rule == "naive-bayes" else 3
    return Case(Settings(rule=rule, epochs=epochs, **settings), classes, features, rows)


LEARNERS = {
    "perceptron": case("perceptron"),
    "mira, two classes": case("mira", 2),
    "logistic, l1": case("logistic", penalty="l1", strength=0.01),
    "logistic, l2": case("logistic", 2, penalty="l2", strength=0.01),
    "hinge, adagrad, l2": case("hinge", schedule="adagrad", penalty="l2", strength=0.01),
    "hinge, adagrad, l1": case("hinge", 2, schedule="adagrad", penalty="l1", strength=0.01, average=False),
    "newton": case("logistic", solver="newton", penalty="l2", strength=0.01),
    "newton, two classes, no bias": case("logistic", 2, solver="newton", penalty="l2", strength=0.01, bias=False),
    "newton, more features than rows": case("logistic", 3, 20, 10, solver="newton", penalty="l2", strength=0.01),
    "newton, l1": case("logistic", solver="newton", penalty="l1", strength=0.01),
    "ascent": case("logistic", solver="ascent"),
    "svm, two classes": case("svm", 2, tol=1e-9),
    "svm": case("svm", tol=1e-9),
    "svm, squared": case("svm", loss="squared", tol=1e-9),
    "svm, one against the rest": case("svm", multiclass="one-versus-rest", tol=1e-9),
    "svm, hard margin": case("svm", 2, 8, 6, C=INF, tol=1e-9),
    "svm, climbing": Case(Settings(rule="svm", epochs=100, C=50.0, tol=1e-9), 2, 2, 30),
    "svm, 70 classes": case("svm", 70, 4, 80, tol=1e-9),
    "naive bayes": case("naive-bayes", likelihood="multinomial"),
    "naive bayes of numbers": case("naive-bayes", likelihood="gaussian"),
    "naive bayes of marks": case("naive-bayes", 2, likelihood="bernoulli"),
    "mlp, sgd": case("mlp", hidden=(3,), optimizer="sgd"),
    "mlp, adagrad": case("mlp", 2, hidden=(3, 2), optimizer="adagrad"),
    "mlp, adam": case("mlp", hidden=(9,), optimizer="adam"),
}


def begun(name: str) -> Run:
    settings, classes, features, rows = LEARNERS[name]
    chance = np.random.default_rng(0)
    labels = np.arange(rows) % classes
    X = chance.random((rows, features)).round(2) + 0.3 * (labels[:, None] % features == np.arange(features))
    learner = learner_for(settings, features=features, classes=classes, dtype=np.float64)
    block = learner.ready(Block.of(X, labels))
    return Run(LearnerTraining(learner, BlockExamples(block, learner.settings, None)))


def kept(name: str, passes: int = 2) -> Run:
    """A run after some passes."""
    run = begun(name)
    run.make_passes(RunOptions(callback=lambda one: one.epoch >= passes))
    if LEARNERS[name].settings.rule == "naive-bayes":
        run.history.passes.clear()  # or its one pass would be the last
    return run


def go_on(name: str, saved: Saved, after: Run) -> None:
    """Takes up what was saved, and does with it all that can be done."""
    run = begun(name)
    run.restore(saved, after.history)
    run.make_passes(RunOptions(callback=lambda one: one.epoch >= len(after.history) + 1))
    block = run.trained.examples.whole()[0] if hasattr(run.trained.examples, "whole") else None
    assert block is not None
    run.trained.learner.predict(block.rows)
    run.trained.learner.scorer().scores(block.rows)
    run.trained.learner.check_state(run.trained.learner.get_state())


def strange(array: NDArray[Any]) -> Iterator[Any]:
    """Values that an entry of such an array should perhaps not have."""
    if array.dtype.kind == "f":
        yield from (NAN, INF, -INF, -1.0, 0.5, 3.0, np.finfo(array.dtype).max, -np.finfo(array.dtype).max)
    else:
        low, high = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
        yield from {low, 1, 2, 9, 10, high // 2, high // 2 + 1, high - 1, high}


def forgeries(arrays: dict[str, NDArray[Any]]) -> Iterator[tuple[str, dict[str, NDArray[Any]]]]:
    """Each array without a row, as another type, of another rank, and with strange numbers at some places."""
    for name, array in arrays.items():
        others = {
            "short": array[:-1] if len(array) else None,
            "long": np.concatenate([array, array[:1]]) if len(array) else None,
            "flat": array.reshape(1, *array.shape),
            "complex": np.zeros(array.shape, np.complex128),
            "narrow": np.zeros(array.shape, np.int8),
            "text": np.zeros(array.shape, "S8"),
            "gone": None,
        }
        for how, other in others.items():
            rest = {key: value for key, value in arrays.items() if key != name}
            yield f"{name} {how}", rest if other is None else rest | {name: other}
        for place in {0, array.size // 2, array.size - 1} if array.size else ():
            for value in strange(array):
                changed = array.copy()
                changed.reshape(-1)[place] = value
                yield f"{name}[{place}] = {value}", arrays | {name: changed}


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
@pytest.mark.parametrize("name", LEARNERS)
def test_every_number_of_a_state_is_checked(name: str) -> None:
    """A forged state is refused in a sentence, or can be learned on from: nothing else happens."""
    after = kept(name)
    good = after.save()
    refused = 0
    for what, arrays in forgeries(good.arrays):
        try:
            go_on(name, Saved(good.facts, arrays), after)
        except DataError as error:
            if "is damaged" not in str(error) and "training diverged" not in str(error):
                raise AssertionError(what) from error
            refused += 1
        except Exception as error:
            raise AssertionError(f"{what}: {error!r}") from error
        else:
            assert not what.endswith(("short", "long", "flat", "complex", "narrow", "text", "gone", "= nan")), what
    assert refused > 0
    go_on(name, good, after)


def forged(name: str, array: str, place: Any, value: Any) -> Any:
    return pytest.param(name, array, place, value, id=f"{name}: {array}{place} = {value}")


@pytest.mark.parametrize(
    ("name", "array", "place", "value"),
    [
        forged("logistic, l1", "settled", 0, 2**32 - 1),
        forged("logistic, l1", "owed_visits", -1, INF),
        forged("logistic, l1", "owed_asked", 0, 1.0),
        forged("hinge, adagrad, l2", "squares", (0, 0), -1.0),
        forged("perceptron", "clocks", 0, 0.5),
        forged("logistic, l2", "clocks", 0, 2.0),
        forged("logistic, l2", "clocks", 1, -1.0),
        forged("svm", "rivals", (0, 0), 0b1111),
        forged("svm", "rivals", (29, 0), 2**63 | 0b111),
        forged("svm", "rivals", (0, 0), 0b110),
        forged("svm, 70 classes", "rivals", (0, 1), 2**6),
        forged("svm, two classes", "pauses", (0, 0), 9),
        forged("svm, two classes", "naps", (0, 0), 9),
        forged("svm, two classes", "alpha", (0, 0), -1.0),
        forged("svm, two classes", "alpha", (0, 0), 2.0),
        forged("svm", "alpha", (0, 1), 1.0),
        forged("svm", "numbers", (0, 0), 2.0),
        forged("svm", "numbers", (0, 0), 0.0),
        forged("svm", "numbers", (3, 0), INF),
        forged("svm", "looks", (1, 0), INF),
        forged("svm", "looks", (2, 0), 0.5),
        forged("svm", "looks", (3, 0), 2.0),
        forged("svm", "looks", (4, 0), 2.0),
        forged("svm", "turn", 0, -1),
        forged("svm", "turn", 1, 31),
        forged("newton", "w", (0, 3), 1.0),
        forged("newton, two classes, no bias", "w", (-1, 0), 1.0),
        forged("newton", "w", (0, 0), 1e200),
        forged("newton, more features than rows", "scores", (0, 0), -1e6),
        forged("mlp, adam", "met", 0, 2**32 - 1),
        forged("mlp, adam", "steps", 0, 2**64 - 1),
        forged("mlp, adagrad", "squares0", (0, 0), -1.0),
        forged("naive bayes", "counts", (0, 0), -1.0),
        forged("naive bayes of marks", "counts", (0, 0), 31.0),
    ],
)
def test_what_cannot_be_is_refused(name: str, array: str, place: Any, value: Any) -> None:
    after = kept(name, 1)
    good = after.save()
    arrays = {key: value.copy() for key, value in good.arrays.items()}
    arrays[f"state.{array}"][place] = value
    with pytest.raises(DataError, match="training state in the file is damaged"):
        begun(name).restore(Saved(good.facts, arrays), after.history)
    begun(name).restore(good, after.history)


def cores(learner: Learner) -> list[Any]:
    if isinstance(learner, Dual):
        return [solver.core for solver in learner.solvers]
    assert isinstance(learner, Linear)
    return [learner._learner]


@pytest.mark.parametrize("name", [name for name in LEARNERS if isinstance(begun(name).trained.learner, Dual | Linear)])
def test_a_state_is_set_wholly_or_not_at_all(name: str) -> None:
    """The core does not trust whoever calls it, and changes nothing before it has looked at everything."""
    for good_one, fresh in zip(cores(kept(name).trained.learner), cores(begun(name).trained.learner), strict=True):
        good, before = good_one.get_state(), fresh.get_state()
        for what, arrays in forgeries(good):
            try:
                fresh.set_state(arrays)
            except ValueError:
                now = fresh.get_state()
                assert all((now[key] == before[key]).all() for key in before), what
                with pytest.raises(ValueError):
                    fresh.check_state(arrays)
            else:
                fresh.check_state(arrays)
                fresh.set_state(before)
        fresh.set_state(good)
        assert all((fresh.get_state()[key] == good[key]).all() for key in good)
