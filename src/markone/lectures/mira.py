"""Topics on MIRA and the support vector machine."""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from markone import reference
from markone.lectures.neurons import CLASSES, HEADLINES, headline_start, headline_table
from markone.lectures.topic import Shown, Table, Topic
from markone.lectures.updates import as_table, boundary, pictured, separable
from markone.reporting.charts import Bars, Chart, Line, Points
from markone.reporting.grids import Grid

if TYPE_CHECKING:
    pass

# ---- the smallest step that corrects a mistake


def headline_learner(C: float) -> reference.Learner:
    """Return MIRA with the first weights of the headlines, in exact arithmetic."""
    start: dict[int, dict[Hashable, Fraction]] = {0: {"BIAS": Fraction(1)}, 1: {}, 2: {}}
    return reference.Learner(3, rule="mira", C=C, update="mistake", tie="negative", bias=False, w=start)


def mistake_steps(C: float = math.inf) -> list[tuple[str, list[Fraction], list[Fraction], Fraction]]:
    """Return, for each mistake on the headlines, the text, the scores before and after, and the step τ.

    >>> [(text, str(tau)) for text, _, _, tau in mistake_steps()]
    [('win the vote', '1/4'), ('win the game', '3/16')]
    """
    learner = headline_learner(C)
    found = []
    for text, label in HEADLINES:
        x: reference.Vector = dict.fromkeys(["BIAS", *text.split()], 1)
        right = CLASSES.index(label)
        scores, before = learner.scores(x), learner.w[right].get("BIAS", Fraction(0))
        if learner.learn([(x, right, 1)]).mistakes:
            found.append((text, scores, learner.scores(x), learner.w[right]["BIAS"] - before))
    return found


def show_mira() -> Shown:
    steps = mistake_steps()
    rows = []
    for text, before, after, tau in steps:
        right = dict(HEADLINES)[text]
        wrong = max(range(3), key=lambda k: before[k])
        gaps = [scores[CLASSES.index(right)] - scores[wrong] for scores in (before, after)]
        rows.append([text, CLASSES[wrong], right, str(-gaps[0]), str(tau), str(gaps[1])])
    f2 = 4
    taus = [i / 100 for i in range(61)]
    first = steps[0]
    start = float(first[1][1] - first[1][0])
    head = [["", "", "", "w_y·f -", "", "lead after"], ["headline", "said y", "right y*", "w_y*·f", "τ", "the update"]]
    return Shown(
        f"{Grid(head, rows)}\nf·f = {f2} for each headline with its BIAS, so τ = (w_y·f - w_y*·f + 1) / (2·{f2}).\n"
        f"With the perceptron's step, τ = 1, “win the vote” would lead by {start + 2 * f2:.0f} instead of 1.",
        (
            Chart(
                (
                    Line(taus, [start + 2 * tau * f2 for tau in taus], "lead of POLITICS over SPORTS", 0),
                    Line([0, 0.6], [1, 1], "wanted: 1", 1, dashed=True),
                    Points([float(first[3])], [1], "MIRA", 0),
                ),
                title="“win the vote”: the smallest τ with a lead of 1",
                x="τ",
                y="lead",
            ),
        ),
    )


# ---- the largest step


CAPS = (math.inf, 0.3, 0.1, 0.03, 0.01)


def noisy(count: int, seed: int, wrong: float, features: int = 20) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return rows of two classes, of which a share has a wrong label."""
    chance = np.random.default_rng(seed)
    X = chance.normal(size=(count, features))
    y = (X @ np.linspace(1, -1, features) > 0).astype(np.int64)
    flipped = chance.random(count) < wrong
    return X.round(3), np.where(flipped, 1 - y, y)


def wrong_labels_table() -> Table:
    X, y = noisy(300, 1, 0.15)
    names = [f"x{i}" for i in range(1, X.shape[1] + 1)]
    return Table([*names, "label"], [[*row, f"class {label}"] for row, label in zip(X.tolist(), y, strict=True)])


def tested(model: Any, X: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    """Return the accuracy on new rows without wrong labels."""
    test, truth = noisy(2000, 99, 0.0)
    return float(model.fit(X, y).score(test, truth))


def show_cap() -> Shown:
    from markone import MIRA

    learner = headline_learner(math.inf)
    x: reference.Vector = {"BIAS": 1, "win": 1, "the": 1, "game": 1}
    learner.w[0] = {"game": Fraction(4), "win": Fraction(3)}
    before = learner.scores(x)
    tau = (before[0] - before[1] + 1) / (2 * reference.length2(x))
    steps = [min(float(tau), C) for C in CAPS]
    rows = [
        [f"C = {C:g}", f"{step:.3f}", f"{float(before[0]) - 4 * step:.2f}", f"{4 * step:.2f}"]
        for C, step in zip(CAPS, steps, strict=True)
    ]
    X, y = noisy(300, 1, 0.15)
    clean = noisy(300, 1, 0.0)
    found = {
        C: [tested(MIRA(C=C, max_iter=5, tol=None, average=False), *data) for data in ((X, y), clean)] for C in CAPS
    }
    table = [[*cells, *(f"{v:.3f}" for v in found[C])] for cells, C in zip(rows, CAPS, strict=True)]
    head = [
        ["", "wrongly labelled", "w_SPORTS·f", "w_POLITICS·f", "accuracy, 15%", "accuracy,"],
        ["cap", "“win the game”: τ", "after", "after", "wrong labels", "all right"],
    ]
    return Shown(
        f"{Grid(head, table)}\nBefore the update, w_SPORTS·f = {before[0]} and w_POLITICS·f = {before[1]}.",
        (
            Chart(
                (Bars([f"C = {C:g}" for C in CAPS], [values[0] for values in found.values()]),),
                title="Accuracy on new rows after training with 15% wrong labels",
            ),
        ),
    )


# ---- noise


def show_noise() -> Shown:
    from markone import MIRA, Perceptron

    shares = (0.0, 0.1, 0.2, 0.3)
    rows = []
    curves: dict[str, list[float]] = {"perceptron": [], "MIRA, C = 0.01": []}
    for wrong in shares:
        found: dict[str, list[float]] = {name: [] for name in curves}
        for seed in range(1, 6):
            X, y = noisy(300, seed, wrong)
            models = (
                Perceptron(max_iter=5, average=False),
                MIRA(C=0.01, max_iter=5, tol=None, average=False),
            )
            for name, model in zip(curves, models, strict=True):
                found[name].append(tested(model, X, y))
        for name in curves:
            curves[name].append(float(np.mean(found[name])))
        rows.append([f"{wrong:.0%}", *(f"{curve[-1]:.3f}" for curve in curves.values())])
    passes = (1, 2, 3, 5, 10, 20)
    X, y = noisy(300, 1, 0.0)
    table = []
    for n in passes:
        models = (Perceptron(max_iter=n, average=False), MIRA(C=1.0, max_iter=n, tol=None, average=False))
        table.append([str(n), *(f"{float(model.fit(X, y).score(X, y)):.3f}" for model in models)])
    return Shown(
        f"Accuracy on new rows, mean of 5 training sets, 5 passes\n{Grid([['wrong labels', *curves]], rows)}\n\n"
        f"Accuracy on the training rows, all labels right\n"
        f"{Grid([['passes', 'perceptron', 'MIRA, C = 1']], table)}",
        (
            Chart(
                tuple(
                    Line([100 * share for share in shares], curve, name, i, dashed=not i)
                    for i, (name, curve) in enumerate(curves.items())
                ),
                title="The last weights of both, by the share of wrong labels",
                x="wrong labels in percent",
                y="accuracy",
            ),
        ),
    )


# ---- all examples at once


def fitted_plane(X: NDArray[np.float64], y: NDArray[np.int64]) -> tuple[NDArray[np.float64], float]:
    """Return the weights and the bias of the support vector machine with a hard margin."""
    from markone import LinearSVM

    model = LinearSVM(C=math.inf, tol=1e-9).fit(X, y)
    return np.asarray(model.coef_[0], float), float(model.intercept_[0])


def show_svm() -> Shown:
    X, y = separable()
    w, b = fitted_plane(X, y)
    planes = {"SVM": np.array([*w, b])}
    for name, rule in (("MIRA, one pass", "mira"), ("perceptron, until it converges", "perceptron")):
        planes[name] = one_by_one(rule, X, y, passes=1 if rule == "mira" else 100)
    rows = []
    for name, plane in planes.items():
        leads = y * (np.column_stack([X, np.ones(len(X))]) @ plane)
        scaled = plane / leads.min() if leads.min() > 0 else plane
        size = f"{float(scaled @ scaled) / 2:.2f}" if leads.min() > 0 else "not possible"
        rows.append([name, str(int((leads <= 0).sum())), size, f"{leads.min():.3f}"])
    head = [["", "mistakes", "½|w|² if every", "smallest"], ["", "", "lead is at least 1", "lead"]]
    lines = [
        boundary(plane[:2].tolist(), float(plane[2]), name, i, dashed=bool(i))
        for i, (name, plane) in enumerate(planes.items())
    ]
    return Shown(str(Grid(head, rows)), (pictured(X, y, lines[:2], "The separator of all examples, and that of MIRA"),))


def one_by_one(rule: str, X: NDArray[np.float64], y: NDArray[np.int64], passes: int) -> NDArray[np.float64]:
    """Return the weights and the bias after passes over the examples in their order, without a cap."""
    learner = reference.Learner(2, rule=rule, C=math.inf)
    examples: list[tuple[reference.Vector, int, int]] = [
        ({"x1": a, "x2": b}, int(label > 0), 1) for (a, b), label in zip(X.tolist(), y, strict=True)
    ]
    for _ in range(passes):
        if learner.learn(examples).mistakes == 0:
            break
    return np.array([float(learner.w[1][name]) for name in ("x1", "x2", "BIAS")])


def show_support() -> Shown:
    X, y = separable()
    w, b = fitted_plane(X, y)
    leads = y * (X @ w + b)
    support = leads < 1.001
    without_others = fitted_plane(X[support], y[support])
    first = int(np.flatnonzero(support)[0])
    kept = np.arange(len(y)) != first
    without_one = fitted_plane(X[kept], y[kept])
    rows = [
        [name, str(count), *(f"{value:.4f}" for value in (*plane[0], plane[1]))]
        for name, count, plane in (
            ("all examples", len(y), (w, b)),
            ("support vectors only", int(support.sum()), without_others),
            ("without one support vector", int(kept.sum()), without_one),
        )
    ]
    lines = [
        boundary(w.tolist(), b, "SVM", 2),
        boundary(w.tolist(), b - 1, "lead of 1", 3, dashed=True),
        boundary(w.tolist(), b + 1, "lead of 1", 3, dashed=True),
    ]
    chart = pictured(X, y, lines, "The support vectors are on the dashed lines")
    vectors = Points(X[support, 0].tolist(), X[support, 1].tolist(), "support vectors", 4)
    return Shown(
        str(Grid([["trained on", "rows", "w1", "w2", "b"]], rows)),
        (Chart((*chart.parts, vectors), chart.title, chart.x, chart.y, chart.limits),),
    )


def separable_table() -> Table:
    return as_table(*separable())


TOPICS = (
    Topic(
        name="mira",
        title="Fixing the perceptron: MIRA, minimum correcting update",
        claim="On a mistake, MIRA makes the smallest change of the weights after which the right class y* wins by 1: "
        "τ = (w_y·f - w_y*·f + 1) / (2 f·f), w_y -= τf, w_y* += τf. Here it is computed exactly for the three "
        "headlines, from BIAS 1 for SPORTS.",
        show=show_mira,
        question="Why is the minimum where equality holds, and not at τ = 0?",
        answer="At τ = 0 nothing would change, and the example was a mistake: the wrong class has at least the score "
        "of the right one, so the constraint is violated there. The smallest τ that satisfies it is where both "
        "sides are equal.",
        terms=("MIRA", "Margin Infused Relaxed Algorithm", "minimum correcting update", "update size", "τ"),
        data=headline_table,
        files=headline_start,
        commands=(
            "markone trace {data} --target label --kinds text=ignore --classes SPORTS,POLITICS,TECH --start {start} "
            "--tie negative --epochs 1 --rule mira --update mistake --C inf --no-average",
        ),
    ),
    Topic(
        name="maximum-step",
        title="Maximum step size: cap τ with a constant C",
        claim="Large updates are bad if an example is labelled wrongly. So τ is capped: min(τ, C). A headline with a "
        "wrong label moves the weights less, and training with wrong labels becomes more accurate.",
        show=show_cap,
        question="What is the price of a very small C?",
        answer="A mistake is then no longer corrected by one update, so more passes are needed; and examples that are "
        "labelled correctly are capped as well.",
        terms=("maximum step size", "cap", "C", "labeled incorrectly", "non-separable data"),
        data=wrong_labels_table,
        commands=(
            "markone validate {data} --target label --rule mira --C 1",
            "markone validate {data} --target label --rule mira --C 0.01",
        ),
    ),
    Topic(
        name="mira-and-noise",
        title="MIRA: converges faster, better on noisy data",
        claim="MIRA usually converges faster than the perceptron, and is usually better, especially on noisy data. "
        "Both are compared by their last weights, without averaging.",
        show=show_noise,
        question="What else helps the perceptron on noisy data?",
        answer="Averaging all weight vectors, and stopping when held-out accuracy is at its best.",
        terms=("MIRA", "noisy data", "converges faster", "perceptron", "wrong labels"),
        data=wrong_labels_table,
        commands=(
            "markone validate {data} --target label --rule perceptron --no-average",
            "markone validate {data} --target label --rule mira --C 0.01 --no-average",
        ),
    ),
    Topic(
        name="svm-and-mira",
        title="SVMs are MIRA where you optimize over all examples",
        claim="MIRA minimises the change of w such that one example is right by 1. The SVM minimises ½|w|² such that "
        "all examples are right by 1, all at once. So it has the largest margin.",
        show=show_svm,
        question="Why is ½|w|² smallest for the SVM in this table?",
        answer="All three planes are scaled until the smallest lead is 1. The larger the margin, the less scaling is "
        "needed, and the SVM has the largest margin of all. Here w contains the bias.",
        terms=("support vector machines", "SVM", "MIRA", "maximizing the margin", "optimize over all examples"),
        data=separable_table,
        commands=(
            "markone train {data} --target label --rule svm --C inf --no-scaled",
            "markone train {data} --target label --rule mira --C inf --epochs 1 --order given --no-average --no-scaled",
        ),
    ),
    Topic(
        name="support-vectors",
        title="Only support vectors matter",
        claim="The support vectors are the examples that win by exactly 1. If all other training examples are removed, "
        "the SVM finds the same plane. If one support vector is removed, the plane changes.",
        show=show_support,
        question="How many of the examples could be labelled by no one without any loss?",
        answer="All that are not support vectors. But which ones they are is known only after training.",
        terms=("support vectors", "max margin", "ignorable", "SVM"),
        data=separable_table,
        commands=(
            "markone certify {data} --target label",
            "markone train {data} --target label --rule svm --C inf --no-scaled",
        ),
    ),
)
"""Topics of the lecture on learning and generalisation."""

"""Topics of the same lecture on support vector machines."""
