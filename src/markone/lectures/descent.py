"""Topics on learning weights: the parts of a classifier, closed forms, gradient descent, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from markone import reference
from markone.lectures.topic import Shown, Table, Topic
from markone.reporting.charts import Chart, Line, Points
from markone.reporting.grids import Grid, plain_number

if TYPE_CHECKING:
    from markone import LogisticRegression, NaiveBayes
    from markone.model.rules import Rule

# ---- one weight, so that the loss can be drawn

HOURS = [(-2.0, 0), (-1.5, 0), (-1.0, 0), (-0.5, 1), (0.5, 0), (1.0, 1), (1.5, 1), (2.0, 1)]
"""Hours of study above the mean, and whether the student passed."""
EXAMPLES: list[tuple[reference.Vector, int, int]] = [({"hours": x}, y, 1) for x, y in HOURS]
STEPS = 12
RATES = {"too small": 0.1, "right": 2.0, "too large": 30.0}


def hours() -> Table:
    return Table(["hours", "label"], [[x, "pass" if y else "fail"] for x, y in HOURS])


def loss(w: float) -> float:
    """The mean cross-entropy with the weight w and no bias."""
    return reference.logistic_objective({1: {"hours": w}}, EXAMPLES, 2)


def slope(w: float) -> float:
    return reference.logistic_gradient({1: {"hours": w}}, EXAMPLES, 2)[1]["hours"]


def path(eta: float, start: float = 0.0, steps: int = STEPS) -> list[float]:
    """Return the weights of gradient descent: w -= eta · slope."""
    found = [start]
    for _ in range(steps):
        found.append(found[-1] - eta * slope(found[-1]))
    return found


def best_weight() -> float:
    return reference.newton(EXAMPLES, 2, 0.0, bias=False)[1]["hours"]


def show_descent() -> Shown:
    best = best_weight()
    walks = {name: path(eta) for name, eta in RATES.items()}
    rows = []
    for name, walk in walks.items():
        weights = [f"{walk[i]:.3f}" for i in (1, 2, 3, STEPS)]
        rows.append([f"η = {plain_number(RATES[name])}, {name}", *weights, f"{loss(walk[-1]):.4f}"])
    head = ["learning rate", "w after 1", "2", "3", f"{STEPS} steps", "loss"]
    grid = [i / 10 for i in range(-10, 171)]
    return Shown(
        f"{Grid([head], rows)}\nThe minimum is at w = {best:.3f}, with the loss {loss(best):.4f}.",
        (
            Chart(
                (
                    Line(grid, [loss(w) for w in grid], "loss", 3),
                    *(
                        Points(walk[:7], [loss(w) for w in walk[:7]], f"η {name}", i)
                        for i, (name, walk) in enumerate(walks.items())
                    ),
                ),
                title="Gradient descent: the first six steps on the loss curve",
                x="w",
                y="mean cross-entropy",
                limits=(-1, 17, 0.2, 2.4),
            ),
        ),
    )


# ---- closed form


def show_closed_form() -> Shown:
    n = 100
    looped = sum(range(1, n + 1))
    x, y = np.array([point for point, _ in HOURS]), np.array([float(passed) for _, passed in HOURS])
    closed = float(x @ (y - y.mean()) / (x @ x))
    w, walk = 0.0, [0.0]
    for _ in range(STEPS):
        w -= 0.3 * float(np.mean((w * x - (y - y.mean())) * x))
        walk.append(w)
    found = reference.newton(EXAMPLES, 2, 0.0, steps=6, bias=False)[1]["hours"]
    rows = [
        ["sum of 1 to 100", f"100 · 101 / 2 = {n * (n + 1) // 2}", f"{looped} by {n} additions"],
        ["least squares", f"Σxy / Σx² = {closed:.4f}", f"{walk[-1]:.4f} by {STEPS} steps"],
        ["naive Bayes", "counts / total", "not needed: one pass"],
        ["logistic regression", "none", f"{found:.4f} by 6 Newton steps"],
    ]
    return Shown(
        str(Grid([["problem", "closed form", "iteration"]], rows)),
        (
            Chart(
                (
                    Line([0, STEPS], [closed, closed], "closed form", 1, dashed=True),
                    Points([*map(float, range(STEPS + 1))], walk, "gradient descent", 0),
                ),
                title="Least squares: iteration approaches the closed form",
                x="step",
                y="w",
            ),
        ),
    )


# ---- stochastic gradient descent


def two_weights(count: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    chance = np.random.default_rng(seed)
    X = chance.normal(size=(count, 2))
    y = chance.random(count) < 1 / (1 + np.exp(-(X @ [2.0, -1.0])))
    return X, y.astype(np.float64)


def gradient(w: NDArray[np.float64], X: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    p = 1 / (1 + np.exp(-(X @ w)))
    return np.asarray((p - y) @ X / len(y))


def show_stochastic() -> Shown:
    X, y = two_weights(300, seed=1)
    chance = np.random.default_rng(0)
    batch, online = [np.zeros(2)], [np.zeros(2)]
    for _ in range(6):
        batch.append(batch[-1] - 2.0 * gradient(batch[-1], X, y))
    for i in chance.permutation(len(y)):
        online.append(online[-1] - 0.1 * gradient(online[-1], X[[i]], y[[i]]))
    best = np.zeros(2)
    for _ in range(2000):
        best = best - 2.0 * gradient(best, X, y)

    def lost(w: NDArray[np.float64]) -> float:
        margins = np.where(y == 1, 1, -1) * (X @ w)
        return float(np.logaddexp(0, -margins).mean())

    rows = [
        ["batch", str(len(batch) - 1), f"{(len(batch) - 1) * len(y)}", f"{lost(batch[-1]):.4f}"],
        ["stochastic", str(len(online) - 1), f"{len(online) - 1}", f"{lost(online[-1]):.4f}"],
        ["optimum", "", "", f"{lost(best):.4f}"],
    ]
    return Shown(
        str(Grid([["gradient descent", "steps", "gradients of one example", "mean cross-entropy"]], rows)),
        (
            Chart(
                (
                    Line([w[0] for w in online], [w[1] for w in online], "stochastic", 0),
                    Points([w[0] for w in batch], [w[1] for w in batch], "batch", 1),
                    Points([best[0]], [best[1]], "optimum", 4),
                ),
                title="The path of the two weights",
                x="w1",
                y="w2",
            ),
        ),
    )


def points_table() -> Table:
    X, y = two_weights(300, seed=1)
    return Table(["x1", "x2", "label"], [[f"{a:.3f}", f"{b:.3f}", int(k)] for (a, b), k in zip(X, y, strict=True)])


# ---- what logistic regression costs

SIZES = (10, 20, 40, 80, 160, 640)
WIDE, REPEATS, TEST = 30, 15, 400


def weak_evidence(count: int, chance: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return rows of independent on/off features, of which each says a little about the class."""
    y = chance.integers(0, 2, count)
    on = np.where(y[:, None] == 1, 0.65, 0.35)
    on = np.where(np.arange(WIDE) % 3 == 0, on, 0.5)
    return (chance.random((count, WIDE)) < on).astype(np.float64), y


def show_pros_and_cons() -> Shown:
    from markone import LogisticRegression, NaiveBayes

    makers: dict[str, Callable[[], NaiveBayes | LogisticRegression]] = {
        "naive Bayes": lambda: NaiveBayes("bernoulli"),
        "logistic": lambda: LogisticRegression(C=1e4, max_iter=50),
    }
    rows = []
    curves: dict[str, list[float]] = {name: [] for name in makers}
    for size in SIZES:
        cells = [str(size)]
        for name, make in makers.items():
            chance = np.random.default_rng(size)
            on_training, on_test = [], []
            for _ in range(REPEATS):
                X, y = weak_evidence(size, chance)
                y[:2] = (0, 1)
                test, truth = weak_evidence(TEST, chance)
                model = make().fit(X, y)
                on_training.append(float(model.score(X, y)))
                on_test.append(float(model.score(test, truth)))
            curves[name].append(float(np.mean(on_test)))
            cells += [f"{np.mean(on_training):.3f}", f"{curves[name][-1]:.3f}"]
        rows.append(cells)
    X, y = weak_evidence(20_000, np.random.default_rng(7))
    head = [["", "naive Bayes", "", "logistic", ""], ["rows", "training", "test", "training", "test"]]
    steps = LogisticRegression(C=1e4).fit(X, y).n_iter_
    sizes = [math.log2(size) for size in SIZES]
    return Shown(
        f"Accuracy, mean of {REPEATS} samples\n{Grid(head, rows)}\n"
        f"From {len(y)} rows, naive Bayes learns in one pass. Logistic regression takes {steps}\n"
        "Newton steps, each of which reads the rows several times.",
        (
            Chart(
                tuple(Line(sizes, curve, name, i, dashed=bool(i)) for i, (name, curve) in enumerate(curves.items())),
                title="Test accuracy by the number of training rows",
                x="log2 of the rows",
                y="accuracy",
            ),
        ),
    )


def weak_evidence_table() -> Table:
    X, y = weak_evidence(SIZES[2], np.random.default_rng(SIZES[2]))
    names = [f"x{i}" for i in range(1, WIDE + 1)]
    rows = [
        [*("true" if on else "false" for on in row), "+1" if label else "-1"] for row, label in zip(X, y, strict=True)
    ]
    return Table([*names, "label"], rows)


# ---- the parts of a classifier

PARTS: list[tuple[Rule, str, str, str]] = [
    ("naive-bayes", "P(x|y) P(y)", "likelihood", "counting"),
    ("logistic", "sigmoid", "cross-entropy", "gradient descent"),
    ("perceptron", "sign", "max(-y·z, 0)", "mistake by mistake"),
    ("svm", "sign", "hinge", "dual coordinates"),
    ("mlp", "network, sigmoid", "cross-entropy", "backpropagation"),
]
PARTS_TEST = 1000


def show_components() -> Shown:
    from markone import train

    X, y = two_weights(300, seed=1)
    test, truth = two_weights(PARTS_TEST, seed=2)
    found = {}
    for rule, *_ in PARTS:
        model = train(X, target=y.astype(int).tolist(), rule=rule)
        found[rule] = model.accuracy(test, truth.astype(int).tolist())
    rows = [[*cells, f"{found[cells[0]]:.3f}"] for cells in PARTS]
    head = ["rule", "2 function", "3 objective", "4 algorithm", "accuracy"]
    groups = [X[y == k][:60] for k in (1, 0)]
    return Shown(
        f"1 The feature representation is the same for all: x1 and x2.\n{Grid([head], rows)}\n"
        f"The accuracy is on {PARTS_TEST} new points with noisy labels.",
        (
            Chart(
                tuple(
                    Points(group[:, 0].tolist(), group[:, 1].tolist(), name, i)
                    for i, (group, name) in enumerate(zip(groups, ("1", "0"), strict=True))
                ),
                title="The training points",
                x="x1",
                y="x2",
            ),
        ),
    )


"""The first topic of logistic regression in the lecture on discriminative classification."""

TOPICS = (
    Topic(
        name="components",
        title="Components of classifiers",
        claim="A classifier has four components: a feature representation of the input, a classification function, an "
        "objective function, and an algorithm that optimises it. For logistic regression these are the features, the "
        "sigmoid, the cross-entropy loss, and stochastic gradient descent.",
        show=show_components,
        question="Which components do logistic regression and the perceptron share?",
        answer="The representation and the linear score z. The function (sigmoid or sign), the objective and the "
        "algorithm differ.",
        terms=("components of classifiers", "feature representation", "classification function", "objective function"),
        data=points_table,
        commands=("markone compare {data} --target label",),
    ),
    Topic(
        name="closed-form",
        title="Parameter learning: closed form solution or iteration",
        claim="A closed form is a formula that gives the solution at once. Naive Bayes has one: it counts, each "
        "parameter alone. Logistic regression has none: its weights are learned jointly, step by step.",
        show=show_closed_form,
        question="What is the closed form of the sum of the integers from 1 to n?",
        answer="n (n + 1) / 2: one multiplication and one division instead of n additions.",
        terms=("closed form solution", "learn weights jointly", "counting", "iteratively"),
        data=hours,
        commands=("markone train {data} --target label --rule logistic --solver newton",),
    ),
    Topic(
        name="gradient-descent",
        title="Gradient descent: iteratively find the minimum",
        claim="Gradient descent goes downhill on the loss: w -= η · slope. With a small learning rate η it is slow. "
        "With a large one it jumps over the minimum, and has to come back.",
        show=show_descent,
        question="Does this loss curve have a local minimum in which gradient descent could be caught?",
        answer="No. The cross-entropy of logistic regression is convex in the weights: any minimum is the global one.",
        terms=("gradient descent", "learning rate", "minimum", "convex", "step size"),
        data=hours,
        commands=(
            "markone train {data} --target label --rule logistic --solver ascent --eta 0.1 --penalty l2",
            "markone trace {data} --target label --rule logistic --solver online --eta 2",
        ),
    ),
    Topic(
        name="stochastic",
        title="Stochastic gradient descent",
        claim="Batch gradient descent uses all examples for each step. Stochastic gradient descent takes a step after "
        "each example: its path is noisy, but it gets near the minimum with far fewer computations.",
        show=show_stochastic,
        question="Why does the stochastic path not come to rest at the optimum?",
        answer="The gradient of a single example is not 0 there, so with a constant η every example moves the weights. "
        "A falling rate, or the average of the weights, helps.",
        terms=("stochastic gradient descent", "batch", "optimize the objective function"),
        data=points_table,
        commands=(
            "markone train {data} --target label --rule logistic --solver online",
            "markone train {data} --target label --rule logistic --solver ascent",
        ),
    ),
    Topic(
        name="pros-and-cons",
        title="Logistic regression: pros and cons",
        claim="Logistic regression does not assume independent features, and its probabilities are better calibrated. "
        "But naive Bayes is faster to train and less likely to overfit. Here the features are independent and the "
        "rows are few, which favours naive Bayes.",
        show=show_pros_and_cons,
        question="How can you see in the table that logistic regression overfits?",
        answer="Its accuracy on the training rows is 1 or nearly so, while its accuracy on new rows is far lower. The "
        "gap closes as the number of rows grows. A penalty would help, too: here it is almost off.",
        terms=("overfit", "pros and cons", "calibrated probabilities", "learning curve", "regularisation"),
        data=weak_evidence_table,
        commands=(
            "markone validate {data} --target label --rule naive-bayes",
            "markone validate {data} --target label --rule logistic",
        ),
    ),
)
"""More topics of the same lecture, on learning."""
