"""Topics on the perceptron in the words of the second lecture: ties for +1, η(y - f(x))x, random starts, stopping."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from markone import reference
from markone.lectures.topic import Shown, Table, Topic
from markone.reporting.charts import Bars, Chart, Line, Points
from markone.reporting.grids import Grid, plain_number

# ---- points that a line separates

COUNT, GAP = 40, 0.25


def separable(count: int = COUNT, seed: int = 3) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return points of two classes, +1 and -1, with a gap around the line x1 + x2 = 0.5."""
    chance = np.random.default_rng(seed)
    X = chance.uniform(-2, 2, (4 * count, 2)).round(2)
    far = (X.sum(axis=1) - 0.5) / math.sqrt(2)
    X, far = X[np.abs(far) > GAP][:count], far[np.abs(far) > GAP][:count]
    return X, np.where(far > 0, 1, -1)


def as_table(X: NDArray[np.float64], y: NDArray[np.int64]) -> Table:
    return Table(["x1", "x2", "label"], [[*row, f"{label:+d}"] for row, label in zip(X.tolist(), y, strict=True)])


def separable_table() -> Table:
    return as_table(*separable())


def pictured(X: NDArray[np.float64], y: NDArray[np.int64], lines: Sequence[Line], title: str) -> Chart:
    groups = [X[y == sign] for sign in (1, -1)]
    marks = [
        Points(g[:, 0].tolist(), g[:, 1].tolist(), name, i)
        for i, (g, name) in enumerate(zip(groups, ("+1", "-1"), strict=True))
    ]
    return Chart((*lines, *marks), title=title, x="x1", y="x2", limits=(-2.1, 2.1, -2.1, 2.1))


def boundary(w: Sequence[float], b: float, name: str, number: int, *, dashed: bool = False) -> Line:
    """Return the line w·x + b = 0."""
    ends = [-9.0, 9.0]
    if abs(w[1]) < 1e-9:
        return Line([-b / w[0]] * 2, ends, name, number, dashed)
    return Line(ends, [-(w[0] * x + b) / w[1] for x in ends], name, number, dashed)


# ---- linear classification


def show_hyperplane() -> Shown:
    w = np.array([1.0, 1.0]) / math.sqrt(2)
    examples = [(1.0, 0.0), (0.6, 0.8), (0.0, -1.0), (-0.6, 0.8), (-0.8, 0.6)]
    rows = [
        [f"({a:g}, {b:g})", f"{float(w @ (a, b)):+.3f}", "+ blue" if w @ (a, b) > 0 else "- red"] for a, b in examples
    ]
    spaces = [
        ["2-dimensional", "1", "a line"],
        ["3-dimensional", "2", "a plane"],
        ["n-dimensional", "n - 1", "a hyperplane"],
    ]
    angles = [math.radians(angle) for angle in range(0, 361, 4)]
    positive = [point for point in examples if w @ point > 0]
    negative = [point for point in examples if w @ point <= 0]
    return Shown(
        f"{Grid([['space', 'dimensions of the boundary', 'name']], spaces)}\n\n"
        f"w = ({w[0]:.3f}, {w[1]:.3f}); all vectors have length 1.\n{Grid([['x', 'y = w·x', 'sign(y)']], rows)}",
        (
            Chart(
                (
                    boundary(w.tolist(), 0.0, "w·x = 0", 2),
                    Line([math.cos(a) for a in angles], [math.sin(a) for a in angles], "length 1", 3, dashed=True),
                    Points([x for x, _ in positive], [y for _, y in positive], "+ blue", 0),
                    Points([x for x, _ in negative], [y for _, y in negative], "- red", 1),
                ),
                title="A hyperplane through the origin, and vectors of length 1",
                x="x1",
                y="x2",
                limits=(-1.2, 1.2, -1.2, 1.2),
                square=True,
            ),
        ),
    )


# ---- the prediction function and the update rule


def step(z: float) -> int:
    """Return the class: ties are broken in favour of the positive class.

    >>> [step(z) for z in (-0.5, 0.0, 0.5)]
    [-1, 1, 1]
    """
    return 1 if z >= 0 else -1


def show_step() -> Shown:
    from markone import trace

    zs = [-2.0, -0.1, 0.0, 0.1, 2.0]
    rows = [[plain_number(z), f"{step(z):+d}"] for z in zs]
    firsts = []
    for label in (1, -1):
        for tie in ("negative", "error", "positive"):
            run = trace([[1.0, 2.0], [1.0, 2.0]], [label, -label], tie=tie, steps=1, average=False)
            firsts.append([f"{label:+d}", tie, "yes" if run[0].mistakes else "no"])
    return Shown(
        f"{Grid([['w·x + b', 'f(x)']], rows)}\n\nThe first example, with all weights 0: is it a mistake?\n"
        f"{Grid([['label', 'sign(0)', 'mistake']], firsts)}",
        (
            Chart(
                (
                    Line([-3, 0], [-1, -1], "f(x)", 0),
                    Line([0, 3], [1, 1], "f(x)", 0),
                    Points([0], [1], "a tie is +1", 0),
                ),
                title="The step function",
                x="w·x + b",
                y="f(x)",
                limits=(-3, 3, -1.5, 1.5),
            ),
        ),
    )


def show_update() -> Shown:
    from markone import trace

    rows = [
        [f"{y:+d}", f"{f:+d}", f"{y - f:+d}" if y != f else "0", str(x), f"{(y - f) * x:+d}" if (y - f) * x else "0"]
        for y, f in ((1, 1), (-1, -1), (1, -1), (-1, 1))
        for x in ((1,) if y == f else (1, 0, -2))
    ]
    X, labels = {"x1": [1.0, 2.0, -1.0], "x2": [2.0, -1.0, -1.0]}, [-1, 1, 1]
    runs = [
        trace(X, labels, tie="positive", form="difference", eta=eta, average=False, order="given") for eta in (1.0, 0.5)
    ]
    weights = [
        [
            "; ".join(f"{name} {plain_number(run.weights()['1'].get(name, 0))}" for name in (*X, "BIAS")),
            str(run.mistakes),
        ]
        for run in runs
    ]
    compared = [[f"η = {eta}", *cells] for eta, cells in zip(("1", "0.5"), weights, strict=True)]
    path = [run_step for run_step in runs[0] if run_step.changes]
    changes = {f"{i}: {c.feature}": c.after - c.before for i, one in enumerate(path, 1) for c in one.changes}
    return Shown(
        f"{Grid([['y', 'f(x)', 'y - f(x)', 'x_j', 'change of w_j']], rows)}\n\n"
        f"A run on three points; every mistake moves w by 2η·x\n{Grid([['rate', 'weights', 'mistakes']], compared)}",
        (
            Chart(
                (Bars([*changes][:14], [*changes.values()][:14]),), title="Changes of the weights, by mistake (η = 1)"
            ),
        ),
    )


def three_rows() -> Table:
    return Table(["x1", "x2", "label"], [[1, 2, "-1"], [2, -1, "+1"], [-1, -1, "+1"]])


# ---- runs


def run_from(
    w: NDArray[np.float64], X: NDArray[np.float64], y: NDArray[np.int64], eta: float = 1.0, most: int = 200
) -> tuple[NDArray[np.float64], list[int], list[float]]:
    """Run the perceptron from w, whose last component is the bias, until a pass makes no mistake.

    Returns the weights, the mistakes of each pass, and the share of examples that are right after each update.
    """
    start: dict[Hashable, float] = {"x1": float(w[0]), "x2": float(w[1]), "BIAS": float(w[2])}
    learner = reference.Learner(2, eta=eta, tie="positive", form="difference", w={1: {**start}})
    examples: list[tuple[reference.Vector, int, int]] = [
        ({"x1": a, "x2": b}, int(label > 0), 1) for (a, b), label in zip(X.tolist(), y, strict=True)
    ]

    def share() -> float:
        return float(np.mean([learner.predict(x) == label for x, label, _ in examples]))

    mistakes, right = [], [share()]
    for _ in range(most):
        wrong = 0
        for example in examples:
            if learner.learn([example]).mistakes:
                wrong += 1
                right.append(share())
        mistakes.append(wrong)
        if wrong == 0:
            break
    return np.array([float(learner.w[1][name]) for name in start]), mistakes, right


STARTS = 4


def show_random_start() -> Shown:
    X, y = separable()
    chance = np.random.default_rng(0)
    rows, lines = [], []
    for number in range(STARTS + 1):
        start = chance.normal(size=3) if number else np.zeros(3)
        w, mistakes, _ = run_from(start, X, y)
        unit = w / np.linalg.norm(w[:2])
        rows.append(
            [
                f"random {number}" if number else "zero",
                "(" + ", ".join(f"{value:.2f}" for value in start) + ")",
                str(len(mistakes)),
                str(sum(mistakes)),
                "(" + ", ".join(f"{value:.2f}" for value in unit) + ")",
            ]
        )
        lines.append(
            boundary(w[:2].tolist(), float(w[2]), "random starts" if number else "from 0", 2, dashed=not number)
        )
    return Shown(
        str(Grid([["start", "w1, w2, b", "passes", "mistakes", "final, as a unit vector"]], rows)),
        (pictured(X, y, lines, "Every start ends at a plane without mistakes, but not the same"),),
    )


def show_stopping() -> Shown:
    from markone import certify

    X, y = separable()
    flipped = y.copy()
    flipped[:2] *= -1
    _, apart, _ = run_from(np.zeros(3), X, y, most=30)
    _, mixed, _ = run_from(np.zeros(3), X, flipped, most=30)
    kinds = {
        "separable": (y, apart),
        "two labels flipped": (flipped, mixed),
    }
    rows = [
        [name, "yes" if certify(X, labels).separable else "no", str(len(run)), str(run[-1])]
        for name, (labels, run) in kinds.items()
    ]
    return Shown(
        str(Grid([["points", "linearly separable", "passes", "mistakes in the last pass"]], rows))
        + "\nThe first run stops by itself; the second one stops at the maximum of 30 passes.",
        (
            Chart(
                tuple(
                    Line([*map(float, range(1, len(run) + 1))], [*map(float, run)], name, i, dashed=bool(i))
                    for i, (name, (_, run)) in enumerate(kinds.items())
                ),
                title="Mistakes in each pass",
                x="pass",
                y="mistakes",
                limits=(1, 30, 0, max(mixed) + 1),
            ),
        ),
    )


def flipped_table() -> Table:
    X, y = separable()
    y[:2] *= -1
    return as_table(X, y)


RATES = (0.01, 0.1, 1.0, 10.0, 100.0)
RATE_START = (4.0, 7.0, -5.0)


def show_rate() -> Shown:
    X, y = separable()
    start = np.array(RATE_START)
    rows, curves = [], {}
    for eta in RATES:
        _, mistakes, right = run_from(start, X, y, eta, most=1000)
        zero, from_zero, _ = run_from(np.zeros(3), X, y, eta)
        scaled = zero / eta
        curves[eta] = right
        rows.append(
            [
                f"{eta:g}",
                str(sum(mistakes)),
                f"{min(right[:5]):.3f}",
                str(sum(from_zero)),
                "(" + ", ".join(f"{value:.2f}" for value in scaled) + ")",
            ]
        )
    head = [
        ["", f"from ({', '.join(f'{v:g}' for v in start)})", "lowest share right", "from 0", "from 0"],
        ["η", "updates", "in 4 updates", "updates", "w / η"],
    ]
    drawn = (RATES[0], 1.0, RATES[-1])
    return Shown(
        str(Grid(head, rows)),
        (
            Chart(
                tuple(
                    Points([*map(float, range(len(curves[eta])))], curves[eta], f"η = {eta:g}", i)
                    for i, eta in enumerate(drawn)
                ),
                title="Share of examples that are right, after each update",
                x="updates",
                y="share",
            ),
        ),
    )


TOPICS = (
    Topic(
        name="linear-classification",
        title="Linear classification: line, plane, hyperplane",
        claim="A linear classifier divides the space by a hyperplane: a subspace with one dimension less. The model is "
        "a vector w, and sign(w·x) is the class. Here all vectors have length 1 and the hyperplane passes through the "
        "origin, so w·x is the cosine of the angle.",
        show=show_hyperplane,
        question="What is a hyperplane of a space with one dimension?",
        answer="A single point, a threshold: it has no dimension, one less than the space.",
        terms=("hyperplane", "linear classification", "feature vector", "sign"),
    ),
    Topic(
        name="step-function",
        title="Perceptron: a linear prediction function, ties are +1",
        claim="f(x) = +1 if w·x + b ≥ 0, otherwise -1. By this lecture's convention, ties are broken in favour of the "
        "positive class. Other lectures have other conventions, which differ at the first example of a run.",
        show=show_step,
        question="From weights 0, which examples does the perceptron of this lecture get wrong first?",
        answer="Negative ones: every score is 0, so every prediction is +1.",
        terms=("step function", "ties", "positive class", "linear prediction function", "bias"),
        data=three_rows,
        commands=("markone trace {data} --target label --tie positive --form difference --no-average",),
    ),
    Topic(
        name="update-rule",
        title="The perceptron update rule: w_j += η (y - f(x)) x_j",
        claim="If the prediction is right, y - f(x) is 0 and nothing changes. If it is wrong, y - f(x) is +2 or -2, "
        "its sign says in which direction to move, and x_j says how much each weight takes part.",
        show=show_update,
        question="What happens to w_j if x_j is negative and a positive instance was predicted as negative?",
        answer="w_j falls: the sign of the update flips. So w_j·x_j grows nevertheless, and w·x + b moves towards "
        "positive.",
        terms=("update rule", "learning rate", "y_i - f(x_i)", "mistake", "error"),
        data=three_rows,
        commands=("markone trace {data} --target label --tie positive --form difference --no-average",),
    ),
    Topic(
        name="random-start",
        title="Perceptron learning algorithm: randomly initialize w",
        claim="The pseudo-code of this lecture starts from random weights, and repeats passes while the model makes "
        "errors on the training data. On separable data every start ends at a separating hyperplane, but at another "
        "one.",
        show=show_random_start,
        question="How can a run end after one pass without any mistake?",
        answer="The random start was a separating hyperplane already, so there was nothing to correct.",
        terms=("randomly initialize", "perceptron learning algorithm", "classifying hyperplane", "pseudo-code"),
        data=separable_table,
        commands=(
            "markone trace {data} --target label --start random --seed 1 --tie positive --form difference "
            "--only-mistakes --epochs 100 --steps 100",
            "markone certify {data} --target label",
        ),
    ),
    Topic(
        name="stopping",
        title="Linear separability and stopping criteria",
        claim="If no hyperplane separates the classes, some predictions are always wrong and the perceptron never "
        "stops by itself. So a maximum number of passes (iterations, epochs) is needed.",
        show=show_stopping,
        question="Two of 40 labels are flipped. Why do more than two mistakes remain in each pass?",
        answer="Each flipped example pulls the weights away at every visit, so examples near the boundary become wrong "
        "again. The weights never settle.",
        terms=("linearly separable", "stopping criteria", "iterations", "epochs"),
        data=flipped_table,
        commands=(
            "markone certify {data} --target label",
            "markone train {data} --target label --rule perceptron --epochs 30 --no-average --order given --no-scaled "
            "--tie positive --form difference --holdout 0",
        ),
    ),
    Topic(
        name="learning-rate",
        title="Learning rate: too small, too large",
        claim="With a small η the updates make little progress. With a large η an update overshoots, and examples that "
        "were right become wrong. But from zero weights η only scales w: every prediction and every mistake is the "
        "same.",
        show=show_rate,
        question="Why does η not matter from zero?",
        answer="Then w is η times a sum of examples, so the sign of w·x does not depend on η, and the same examples "
        "are wrong. A start that is not zero has to be outweighed first, which takes many small steps.",
        terms=("learning rate", "step size", "overshoot", "η"),
        data=separable_table,
        files=lambda: {"start": json.dumps(dict(zip(("x1", "x2", "BIAS"), RATE_START, strict=True))) + "\n"},
        commands=(
            "markone trace {data} --target label --tie positive --form difference --start {start} --epochs 1000 "
            "--steps 100 --only-mistakes --eta 0.01",
            "markone trace {data} --target label --tie positive --form difference --start {start} --epochs 1000 "
            "--steps 100 --only-mistakes --eta 100",
        ),
    ),
)
"""Topics of the lecture on discriminative classification."""
