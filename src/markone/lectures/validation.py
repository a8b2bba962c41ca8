"""Topics on cross-validation: three regressions, and four ways to estimate their errors on new data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from markone.demo.dots import DOTS, dots
from markone.lectures.topic import Shown, Table, Topic
from markone.reporting.charts import Bars, Chart, Line, Points
from markone.reporting.grids import Grid

if TYPE_CHECKING:
    from markone.experiments.splits import Method

NAMES = ("linear", "quadratic", "join-the-dots")
SHARE = 0.3
LECTURED: dict[str, tuple[float | None, ...]] = {
    "test set": (2.4, 0.9, 2.2),
    "leave-one-out": (2.12, 0.962, 3.33),
    "3-fold": (2.05, 1.11, None),
}
"""The mean squared errors on the slides, by the way of validation, for the three regressions."""
OURS = "The lecture shows its points only as a drawing, so these points are our own, and the errors differ."


def points() -> Table:
    return Table(["x", "y"], DOTS)


def regressions() -> dict[str, Any]:
    from markone.estimators.regressions import JoinTheDots, LinearLeastSquares, QuadraticLeastSquares

    return dict(zip(NAMES, (LinearLeastSquares(), QuadraticLeastSquares(), JoinTheDots()), strict=True))


def errors(method: Method, *, folds: int = 10, seed: int = 0, names: Sequence[str] = NAMES) -> dict[str, float]:
    """Return the mean squared errors of regressions by a method of validation.

    >>> found = errors("holdout")
    >>> sorted(found, key=found.get)
    ['quadratic', 'join-the-dots', 'linear']
    """
    from markone import validate

    X, y = dots()
    return {
        name: validate(X, target=y, method=method, folds=folds, share=SHARE, seed=seed, estimator=one).mean
        for name, one in regressions().items()
        if name in names
    }


def as_rows(found: dict[str, float]) -> list[list[str]]:
    worst, best = max(found, key=found.__getitem__), min(found, key=found.__getitem__)
    return [[name, f"{error:.2f}", {worst: "worst", best: "best"}.get(name, "")] for name, error in found.items()]


def lectured(method: str, name: str) -> str:
    """Return the lecture's error of a regression, if it gives one.

    >>> lectured("leave-one-out", "quadratic"), lectured("3-fold", "join-the-dots")
    ('0.962', '')
    """
    error = LECTURED[method][NAMES.index(name)]
    return "" if error is None else f"{error:g}"


def curves(fitted: Sequence[tuple[str, Any]]) -> list[Line]:
    grid = np.linspace(0, 10, 200)
    return [
        Line(grid.tolist(), model.predict(grid[:, None]).tolist(), name, i, dashed=name == NAMES[2])
        for i, (name, model) in enumerate(fitted)
    ]


# ---- which is best?


def show_regressions() -> Shown:
    X, y = dots()
    fitted = [(name, model.fit(X, y)) for name, model in regressions().items()]
    found = {name: float(((model.predict(X) - y) ** 2).mean()) for name, model in fitted}
    return Shown(
        f"Error on the same {len(y)} points that were used to fit\n"
        f"{Grid([['regression', 'mean squared error', '']], as_rows(found))}",
        (
            Chart(
                (*curves(fitted), Points(X[:, 0].tolist(), y.tolist(), "data", 0)),
                title="Three regressions of the same points",
                x="x",
                y="y",
            ),
        ),
    )


# ---- the test set

SPLITS = 200


def show_test_set() -> Shown:
    from markone.experiments.splits import Plan

    X, y = dots()
    found = errors("holdout")
    (split,), _ = Plan(method="holdout", folds=10, repeats=1, share=SHARE, seed=0).divide(len(y), None)
    others = [
        one
        for seed in range(1, SPLITS + 1)
        for one in Plan(method="holdout", folds=10, repeats=1, share=SHARE, seed=seed).divide(len(y), None)[0]
    ]
    spread: dict[str, list[float]] = {name: [] for name in NAMES}
    for one in others:
        for name, model in regressions().items():
            fitted = model.fit(X[one.learned], y[one.learned])
            spread[name].append(float(((fitted.predict(X[one.tested]) - y[one.tested]) ** 2).mean()))
    table = [
        [
            *cells,
            f"{np.quantile(spread[cells[0]], 0.05):.2f} to {np.quantile(spread[cells[0]], 0.95):.2f}",
            lectured("test set", cells[0]),
        ]
        for cells in as_rows(found)
    ]
    best = [min(NAMES, key=lambda name: spread[name][i]) for i in range(SPLITS)]
    fitted = [(name, model.fit(X[split.learned], y[split.learned])) for name, model in regressions().items()]
    return Shown(
        f"{len(split.learned)} points to train, {len(split.tested)} points to test\n"
        f"{Grid([['regression', 'test error', '', f'of 90% of {SPLITS} other splits', 'in the lecture']], table)}\n"
        f"{OURS} The quadratic regression is best in {best.count(NAMES[1])} of these {SPLITS} splits.",
        (
            Chart(
                (
                    *curves(fitted),
                    Points(X[split.learned, 0].tolist(), y[split.learned].tolist(), "training", 0),
                    Points(X[split.tested, 0].tolist(), y[split.tested].tolist(), "test", 1),
                ),
                title="Fitted to the training points only",
                x="x",
                y="y",
            ),
        ),
    )


# ---- leave-one-out


def show_leave_one_out() -> Shown:
    X, y = dots()
    found = errors("loo")
    left = {name: model.leave_one_out_errors(X, y) for name, model in regressions().items()}
    quickly = {name: float((each**2).mean()) for name, each in left.items()}
    table = [[*cells, f"{quickly[cells[0]]:.2f}", lectured("leave-one-out", cells[0])] for cells in as_rows(found)]
    parts = [
        Points([float(i) for i in range(1, len(y) + 1)], (left[name] ** 2).tolist(), name, i)
        for i, name in enumerate((NAMES[2], NAMES[1]))
    ]
    return Shown(
        f"{len(y)} trainings, each without one point\n"
        f"{Grid([['regression', 'MSE(LOOCV)', '', 'without training again', 'in the lecture']], table)}\n{OURS}",
        (Chart(tuple(parts), title="Squared error of each point that was left out", x="point", y="squared error"),),
    )


# ---- k-fold


def show_k_fold() -> Shown:
    from markone.experiments.splits import Plan

    X, y = dots()
    found = {folds: errors("kfold", folds=folds) for folds in (3, 10)}
    loo = errors("loo")
    table = [
        [name, *(f"{found[folds][name]:.2f}" for folds in found), f"{loo[name]:.2f}", lectured("3-fold", name)]
        for name in NAMES
    ]
    splits, _ = Plan(method="kfold", folds=3, repeats=1, share=SHARE, seed=0).divide(len(y), None)
    colours = ("red", "green", "blue")
    return Shown(
        f"{Grid([['regression', 'MSE(3-fold)', 'MSE(10-fold)', 'MSE(LOOCV)', '3-fold in the lecture']], table)}\n"
        f"{OURS}",
        (
            Chart(
                tuple(
                    Points(X[split.tested, 0].tolist(), y[split.tested].tolist(), name, i)
                    for i, (split, name) in enumerate(zip(splits, colours, strict=True))
                ),
                title="Three random partitions; each is the test set once",
                x="x",
                y="y",
            ),
        ),
    )


# ---- which kind


def show_which() -> Shown:
    _, y = dots()
    size = len(y)
    repeats, best = 20, NAMES[1]
    methods: list[tuple[str, Method, int, float, int]] = [
        ("test-set", "holdout", 10, SHARE, 1),
        ("3-fold", "kfold", 3, 1 / 3, 3),
        ("10-fold", "kfold", 10, 1 / 10, 10),
        (f"{size}-fold", "kfold", size, 1 / size, size),
        ("leave-one-out", "loo", 10, 1 / size, size),
    ]
    table, spreads = [], []
    for name, method, folds, wasted, trainings in methods:
        seeds = range(repeats if trainings < size else 1)
        found = [errors(method, folds=folds, seed=seed, names=[best])[best] for seed in seeds]
        spreads.append(float(np.std(found)))
        table.append([name, f"{wasted:.0%}", str(trainings), f"{found[0]:.4f}", f"{spreads[-1]:.3f}"])
    head = ["method", "wasted data", "trainings", "MSE (quadratic)", f"SD over {repeats} splits"]
    return Shown(
        f"{Grid([head], table)}\nR-fold with R = {size} is leave-one-out: both have only one way to split.",
        (
            Chart(
                (Bars([name for name, *_ in methods], spreads),),
                title="How much the estimate depends on the random split (SD)",
            ),
        ),
    )


TOPICS = (
    Topic(
        name="which-is-best",
        title="Linear, quadratic, join-the-dots: which is best?",
        claim="Three regressions are fitted to the same points: a line, a parabola, and straight lines from dot to dot "
        "(piecewise linear nonparametric regression). The best fit to the data is not the goal: the goal is to predict "
        "future data from the same distribution.",
        show=show_regressions,
        question="Why not choose the method with the best fit to the data?",
        answer="Joining the dots always fits perfectly, because it also fits the noise. Its error on new points can be "
        "the worst of all.",
        terms=("linear regression", "quadratic regression", "join-the-dots", "best fit", "overfitting"),
        data=points,
    ),
    Topic(
        name="test-set",
        title="The test-set method: 30% of the data",
        claim="Choose 30% of the data at random as a test set, fit on the remainder, and estimate the future "
        "performance by the error on the test set. Then choose the method with the best score. By the test set, the "
        "line is the worst here.",
        show=show_test_set,
        question="What is the downside?",
        answer="It wastes data: the estimate is for a method that learns from 30% less. And with few data the test set "
        "may be lucky or unlucky: the estimator has a high variance, as the last column shows.",
        terms=("test set method", "mean squared error", "high variance", "wastes data", "cross-validation"),
        data=points,
    ),
    Topic(
        name="leave-one-out",
        title="LOOCV: leave-one-out cross-validation",
        claim="For each record: remove it, train on the remaining R - 1 points, note the error on it; then report the "
        "mean. It does not waste data, but needs R trainings. By this method, joining the dots is the worst here.",
        show=show_leave_one_out,
        question="How can leave-one-out be computed without training again?",
        answer="For least squares, the error of a point that is left out is its error when it is used, divided by one "
        "minus its leverage. For joined dots, its neighbours are joined instead.",
        terms=("leave-one-out", "LOOCV", "cross-validation", "expensive"),
        data=points,
    ),
    Topic(
        name="k-fold",
        title="K-fold cross-validation",
        claim="Break the data into k random partitions. For each of them, train on all points outside and test on the "
        "points inside; then report the mean error. With k = 3, each training uses two thirds of the data.",
        show=show_k_fold,
        question="How many trainings does each method need, and how many points does each training have?",
        answer="3-fold: three trainings with 8 or 9 of the 13 points. 10-fold: ten trainings with 11 or 12. "
        "Leave-one-out: 13 trainings with 12. The more points, the nearer is the estimate to that of the final "
        "training on all 13.",
        terms=("k-fold", "cross-validation", "partitions", "3-fold", "10-fold"),
        data=points,
    ),
    Topic(
        name="which-validation",
        title="What kind of cross-validation?",
        claim="The test set is cheap, but its estimate is unreliable. Leave-one-out wastes nothing and is expensive. "
        "10-fold wastes 10% and costs ten trainings; 3-fold wastes more and costs less. R-fold is identical to "
        "leave-one-out.",
        show=show_which,
        question="Why is the spread of leave-one-out zero in this table?",
        answer="It has no random split. That does not make it certain: with other points from the same distribution "
        "its estimate would differ, too.",
        terms=("cross-validation", "R-fold", "leave-one-out", "variance", "expensive"),
        data=points,
    ),
)
"""Topics of the lecture on discriminative classification."""
