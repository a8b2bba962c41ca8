"""What suits the rows: the settings of `logistic` and `hinge` that nobody gave work on any scale."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import markone
from markone.data.blocks import Block
from markone.learning import row_defaults
from markone.learning.lengths import lengths2, sizes
from markone.learning.row_defaults import BALANCE, PACE, RATE, SHARE, STRIDE, measure, suited
from markone.model.evaluation import log_probabilities
from markone.model.settings import Settings

Floats = NDArray[np.float64]


def table(rows: int = 600, classes: int = 2, scale: float = 1.0, seed: int = 0) -> tuple[Floats, NDArray[np.int64]]:
    """Twenty columns of which some matter, and classes that overlap."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 20))
    scores = X @ random.normal(size=(20, classes)) * 0.7 + random.gumbel(size=(rows, classes))
    return scale * X, scores.argmax(axis=1)


def log_loss(model: markone.Model, X: Floats, y: NDArray[np.int64]) -> float:
    """The log-loss of the rule's own probabilities, without calibration."""
    return float(-np.maximum(log_probabilities(model.scores(X))[np.arange(len(y)), y], np.log(1e-30)).mean())


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize(
    ("how", "scale"),
    [
        ({}, 1e-3),
        ({}, 1.0),
        ({}, 1e3),
        ({"solver": "online"}, 1.0),
        ({"solver": "online"}, 1e3),
        ({"solver": "ascent"}, 1.0),
    ],
)
def test_the_usual_settings_come_near_the_optimum_on_any_scale(how: dict[str, Any], scale: float, classes: int) -> None:
    """A constant rate of 1 has several times the log-loss of the optimum on rows that are not of length 1."""
    X, y = table(900, classes, scale)
    spec = {"rows": {"scale": "none"}}
    learned, tested = slice(0, 600), slice(600, 900)
    best = markone.train(
        X[learned] / scale, target=y[learned], rule="logistic", solver="newton", features=spec, tol=1e-8
    )
    model = markone.train(X[learned], target=y[learned], rule="logistic", features=spec, **how)
    assert log_loss(model, X[tested], y[tested]) <= 1.05 * log_loss(best, X[tested] / scale, y[tested])
    steps = markone.train(X[learned], target=y[learned], rule="logistic", features=spec, eta=1.0)
    if scale >= 1:
        assert log_loss(steps, X[tested], y[tested]) > 1.2 * log_loss(best, X[tested] / scale, y[tested])


def test_the_optimum_is_that_of_scikit_learn() -> None:
    from sklearn.linear_model import LogisticRegression

    X, y = table()
    model = markone.train(X, target=y, rule="logistic", features={"rows": {"scale": "none"}})
    assert model.settings.strength is not None
    theirs = LogisticRegression(C=1 / (model.settings.strength * len(X)), tol=1e-8).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(model.probabilities(X), theirs.predict_proba(X), atol=2e-3)


def test_measures_are_means_of_rows() -> None:
    X = np.array([[3.0, -4.0], [0.0, 1.0], [5.0, 5.0]])
    block = Block.of(X, [0, 1, 1], [2.0, 1.0, 1.0])
    found = measure([replace(block, labels=np.array([0, 1, -1], np.int32))])
    assert found.importance == 3 and found.length2 == pytest.approx(51 / 3) and found.size == pytest.approx(15 / 3)
    which = np.array([2, 0])
    assert lengths2(X, which).tolist() == [50, 25] and sizes(X, which).tolist() == [10, 7]


def test_what_is_left_open_is_settled_by_the_rows() -> None:
    X, y = table(100)
    block, wide = Block.of(X, y), Block.of(X[:10], y[:10])
    found = measure([block])
    newton = suited(Settings(rule="logistic"), [block], 1)
    assert newton.solver == "newton" and newton.strength == pytest.approx(SHARE * found.length2 / 100, rel=0.01)
    many = suited(Settings(rule="logistic"), [block], 8)
    assert many.strength == pytest.approx(newton.strength / 4, rel=0.01)
    assert newton.balance == 0 and many.balance == pytest.approx(BALANCE * 6 / 100)
    for given in ({"strength": 0.1}, {"bias": False}, {"penalty": "l1"}, {"balance": 0.0}):
        assert suited(Settings(rule="logistic", **given), [block], 8).balance == 0
    online = suited(Settings(rule="logistic", solver="online"), [block], 1)
    assert online.schedule == "adagrad" and online.eta == pytest.approx(RATE / found.size, rel=0.01)
    assert not found.wide
    for columns, rows, schedule in ((3, block, "adagrad"), (1, wide, "adagrad"), (3, wide, "constant")):
        assert suited(Settings(rule="logistic", solver="online"), [rows], columns).schedule == schedule
    stride = suited(Settings(rule="logistic", solver="online"), [wide], 3).eta
    assert stride == pytest.approx(STRIDE / measure([wide]).length2, rel=0.01)


def test_few_rows_of_many_classes_are_not_left_to_the_bias() -> None:
    """Texts of which each shares few words with any other: a free bias, of some classes that come more often among
    those to learn from, would decide alone."""
    random = np.random.default_rng(0)
    classes, own = 16, [[f"w{c}x{i}" for i in range(60)] for c in range(16)]

    def texts(labels: NDArray[np.int64]) -> list[str]:
        return [" ".join([*random.choice(own[c], 6), *(f"r{n}" for n in random.integers(0, 9999, 60))]) for c in labels]

    some, others = random.integers(0, classes, 96), random.integers(0, classes, 600)
    learned, tested = texts(some), texts(others)
    right = {
        balance: markone.train(learned, target=some.tolist(), rule="logistic", holdout=0.0, balance=balance).accuracy(
            tested, others.tolist()
        )
        for balance in (None, 0.0)
    }
    mira = markone.train(learned, target=some.tolist(), rule="mira", holdout=0.0).accuracy(tested, others.tolist())
    assert right[None] > right[0.0] + 0.03 and right[None] > mira - 0.02


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"eta": 0.5}, {"solver": "online", "eta": 0.5, "schedule": "constant"}),
        ({"schedule": "sqrt"}, {"solver": "online", "eta": 1.0, "schedule": "sqrt"}),
        ({"average": False}, {"solver": "online", "average": False, "schedule": "adagrad"}),
        ({"order": "given"}, {"solver": "online", "schedule": "adagrad"}),
        ({"strength": 0.25}, {"solver": "newton", "strength": 0.25}),
        ({"penalty": "l1"}, {"solver": "newton", "strength": 1e-4}),
        ({"solver": "newton", "strength": 0.0}, {"strength": 0.0}),
    ],
)
def test_what_is_given_is_kept(given: dict[str, Any], expected: dict[str, Any]) -> None:
    X, y = table(100)
    found = suited(Settings(rule="logistic", **given), [Block.of(X, y)], 1)
    assert {name: getattr(found, name) for name in expected} == expected


@pytest.mark.parametrize("classes", [2, 5])
def test_the_usual_rate_of_hinge_suits_rows_of_any_length(classes: int) -> None:
    X, y = table(900, classes)
    learned, tested = slice(0, 600), slice(600, 900)

    def loss(scale: float, **how: Any) -> float:
        """Without a bias the scale alone differs."""
        spec = {"rows": {"scale": "none"}}
        model = markone.train(
            scale * X[learned], target=y[learned], rule="hinge", features=spec, bias=False, holdout=0.0, **how
        )
        return model.losses(scale * X[tested], y[tested]).mean["hinge"]

    losses = [loss(scale) for scale in (2.0**-10, 1.0, 2.0**10)]
    assert max(losses) < 1.02 * min(losses)
    assert losses[1] < 0.8 * loss(1.0, eta=1.0)


def test_the_rate_of_hinge_is_settled_by_the_rows_where_none_is_given() -> None:
    X, y = table(100)
    block = Block.of(X, y)
    length2 = measure([block]).length2
    for how in ({}, {"penalty": "l2"}, {"schedule": "constant"}, {"average": False}):
        found = suited(Settings(rule="hinge", **how), [block], 1)
        assert found.eta == pytest.approx(PACE / length2, rel=0.01) and found.schedule == "constant"
    assert suited(Settings(rule="hinge", eta=0.3), [block], 1).eta == 0.3
    assert suited(Settings(rule="hinge", schedule="adagrad"), [block], 1).eta == 1.0
    for rule in ("perceptron", "mira"):  # the one is the same by any rate, the other finds its own
        assert suited(Settings(rule=rule), [block], 1) == Settings(rule=rule).spelled_out()


def test_leave_one_out_of_hinge_is_at_the_rate_of_training() -> None:
    X, y = table(80)
    rate = markone.train(X, target=y, rule="hinge", holdout=0.0).settings.eta
    found, given = (markone.validate(X, target=y, rule="hinge", method="loo", **how) for how in ({}, {"eta": rate}))
    assert found.remarks[0].endswith(f"the training with all rows, and with its learning rate, {rate:g}.")
    assert given.remarks[0].endswith("in the order of the training with all rows.")
    np.testing.assert_array_equal(found.folds[0].predicted, given.folds[0].predicted)


def test_rows_of_zeros_have_what_is_usual() -> None:
    block = Block.of(np.zeros((4, 2)), [0, 1, 0, 1])
    assert suited(Settings(rule="logistic"), [block], 1).strength == 1e-4
    assert suited(Settings(rule="logistic", solver="online"), [block], 1).eta == 1.0
    assert suited(Settings(rule="hinge"), [block], 1).eta == 1.0


def test_memory_changes_nothing(tmp_path: Path) -> None:
    """Rows beyond the memory go through files, to the same optimum; and to the same steps where they are very many."""
    random = np.random.default_rng(0)
    X = random.normal(size=(60_000, 40)).round(2)
    y = (X[:, 0] + X[:, 1] + random.normal(size=len(X)) > 0).astype(int)
    models = [markone.train(X, target=y.tolist(), rule="logistic", memory=memory) for memory in (None, "8 MB")]
    paths = [tmp_path / "a", tmp_path / "b"]
    for model, path in zip(models, paths, strict=True):
        model.save(path, final=True)
    assert models[0].settings.solver == "newton"
    np.testing.assert_array_equal(*(model.weight_arrays()[0] for model in models))


@pytest.mark.parametrize("limit", ["MOST_VALUES", "MOST_PRODUCTS"])
def test_of_very_many_values_each_row_is_a_step(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_defaults, limit, 100)
    X, y = table(100)
    model = markone.train(X, target=y, rule="logistic")
    assert (model.settings.solver, model.settings.schedule, model.settings.epochs) == ("online", "adagrad", 10)
    assert model.settings.average and model.settings.penalty is None


def test_a_training_that_is_resumed_has_the_settings_of_its_file(tmp_path: Path) -> None:
    X, y = table(100)
    old = {"solver": "online", "eta": 1.0, "schedule": "constant"}
    markone.train(X, target=y, rule="logistic", epochs=2, **old).save(tmp_path / "old")
    on = markone.train(X, target=y, resume=tmp_path / "old", epochs=5)
    assert on.settings == markone.train(X, target=y, rule="logistic", epochs=5, **old).settings
    markone.train(X, target=y, rule="logistic", epochs=1).save(tmp_path / "new")
    assert (
        markone.load(tmp_path / "new").settings.strength
        == markone.train(X, target=y, rule="logistic").settings.strength
    )


def test_online_logistic_regression_predicts_rare_classes() -> None:
    random = np.random.default_rng(0)
    texts, labels = [], []
    for number, rows in enumerate([400, 200, 100, 50, 25, 12, 6, 6]):
        own = [f"c{number}w{i}" for i in range(30)]
        for _ in range(2 * rows):
            common = random.choice([f"common{i}" for i in range(200)], 30).tolist()
            texts.append(" ".join([*common, *random.choice(own, 1).tolist()]))
            labels.append(f"class {number}")
    order = random.permutation(len(texts))
    train, test = order[::2], order[1::2]

    def accuracy(**settings: Any) -> float:
        rows, classes = [texts[i] for i in train], [labels[i] for i in train]
        model = markone.train(rows, target=classes, holdout=0, **settings)
        return float(np.mean(model.predict([texts[i] for i in test]) == np.array([labels[i] for i in test])))

    online = accuracy(rule="logistic", solver="online")
    assert online > accuracy(rule="mira") - 0.02
    assert online > accuracy(rule="logistic", solver="online", schedule="adagrad", eta=0.1) + 0.02
