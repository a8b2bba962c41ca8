"""Topics on learning by optimisation: batch and on-line, and the two steps from logistic regression "
"to the perceptron."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from markone import reference
from markone.lectures.planes import THREE, length, table_of
from markone.lectures.topic import Shown, Topic, grid
from markone.reporting.charts import Chart, Line

ROWS: list[tuple[dict[Hashable, float], int]] = [({"x1": x[0], "x2": x[1]}, int(y > 0)) for x, y in THREE]
"""The three points of lecture 000, with labels 0 and 1."""
ETA = 0.2
Weights = dict[Hashable, float]


@dataclass
class Path:
    """The weights of one algorithm, and what multiplied each example."""

    factors: list[float] = field(default_factory=list)
    w: list[tuple[float, float]] = field(default_factory=lambda: [(0.0, 0.0)])

    def end(self, w: Weights) -> None:
        self.w.append((float(w.get("x1", 0)), float(w.get("x2", 0))))


def batch(passes: int) -> Path:
    """w += η Σ [y - P(y = 1 | x, w)] x"""
    path = Path()
    w: Weights = {"x1": 0.0, "x2": 0.0}
    for _ in range(passes):
        chances = [reference.sigmoid(reference.dot(w, x)) for x, _ in ROWS]
        path.factors += [y - p for (_, y), p in zip(ROWS, chances, strict=True)]
        for p, (x, y) in zip(chances, ROWS, strict=True):
            w = {name: value + ETA * (y - p) * x[name] for name, value in w.items()}
        path.end(w)
    return path


def online(passes: int, rule: str) -> Path:
    """The same for one example at a time: with P, or with sign⁰ instead of it."""
    learner = reference.Learner(2, rule, eta=ETA if rule == "logistic" else 1, tie="negative", bias=False)
    path = Path()
    for _ in range(passes):
        for x, y in ROWS:
            score = learner.scores(x)[1]
            path.factors.append(y - (reference.sigmoid(score) if rule == "logistic" else int(score > 0)))
            learner.learn([(x, y, 1)])
        path.end(learner.w[1])
    return path


NAMES = ("batch logistic", "on-line logistic", "perceptron")


def show_two_steps() -> Shown:
    passes = 6
    paths = dict(zip(NAMES, (batch(passes), online(passes, "logistic"), online(passes, "perceptron")), strict=True))
    first = [
        [
            f"{number // len(ROWS) + 1}, {number % len(ROWS) + 1}",
            ROWS[number % len(ROWS)][1],
            *(round(path.factors[number], 3) for path in paths.values()),
        ]
        for number in range(2 * len(ROWS))
    ]
    ends = [
        [number, *(tuple(round(one, 2) for one in path.w[number]) for path in paths.values())]
        for number in range(passes + 1)
    ]
    chart = Chart(
        tuple(
            Line([w[0] for w in path.w], [w[1] for w in path.w], name, i, dashed=i == 1)
            for i, (name, path) in enumerate(paths.items())
        ),
        title="The weights after each pass, from (0, 0)",
        x="w1",
        y="w2",
    )
    return Shown(
        f"What multiplies x, the difference of y and its prediction:\n{grid(['pass, row', 'y', *NAMES], first)}\n"
        f"Weights after each pass:\n{grid(['pass', *NAMES], ends)}\nη is {ETA} for logistic regression and 1 for the "
        "perceptron.",
        (chart,),
    )


EXAMPLES = [(x, y, 1) for x, y in ROWS]
STEPS = 20


def show_optimisation() -> Shown:
    losses = {}
    for name, path in zip(NAMES[:2], (batch(STEPS), online(STEPS, "logistic")), strict=True):
        losses[name] = [
            reference.logistic_objective({1: {"x1": w[0], "x2": w[1], reference.BIAS: 0.0}}, EXAMPLES, 2)
            for w in path.w
        ]
    errors = []
    for w in online(STEPS, "perceptron").w:
        errors.append(sum((reference.dot({"x1": w[0], "x2": w[1]}, x) > 0) != bool(y) for x, y in ROWS))
    shown = (0, 1, 2, 3, 5, 10, STEPS)
    rows = [[step, *(losses[name][step] for name in NAMES[:2]), errors[step]] for step in shown]
    chart = Chart(
        tuple(
            Line(list(range(STEPS + 1)), values, name, i, dashed=i == 1)
            for i, (name, values) in enumerate(losses.items())
        ),
        title="The mean of -ln P(y | x, w) falls",
        x="passes over the data",
        y="loss",
    )
    sizes = [length(path.w[-1]) for path in (batch(STEPS), online(STEPS, "logistic"))]
    return Shown(
        f"{grid(['pass', 'batch: -ln P', 'on-line: -ln P', 'perceptron: errors'], rows)}\nThe two minimise -ln P, and "
        f"the perceptron reduces errors. |w| after {STEPS} passes: {sizes[0]:.2f} and {sizes[1]:.2f}; on separable "
        "data the likelihood is largest at infinity, so w goes on growing.",
        (chart,),
    )


TOPICS = (
    Topic(
        name="two-steps",
        title="From logistic regression to the perceptron: 2 easy steps!",
        claim="With labels 0 and 1, logistic regression adds η Σ [y - P(y = 1|x, w)] x to w. The first step drops the "
        "sum: on-line instead of batch learning. The second step drops the distribution and uses sign⁰(w·x), which is "
        "1 if w·x > 0 and otherwise 0: error-driven instead of probabilistic learning. The result is the perceptron.",
        show=show_two_steps,
        question="When does the perceptron's factor equal 0, and when that of logistic regression?",
        answer="The perceptron's is 0 whenever the prediction is right. That of logistic regression is never 0, "
        "because P is never exactly 0 or 1.",
        terms=(
            "logistic regression",
            "online vs. batch learning",
            "probabilistic vs. error driven learning",
            "sign⁰",
            "2 easy steps",
        ),
        data=lambda: table_of(THREE),
        commands=(
            "markone trace {data} --target label --no-bias --rule logistic --solver online --eta 0.2",
            "markone trace {data} --target label --no-bias --tie negative",
        ),
    ),
    Topic(
        name="optimisation",
        title="Learning by optimisation: on-line or batch",
        claim="Learning optimises a function of the training set: the perceptron and SVMs minimise error, logistic "
        "regression and naive Bayes maximise the likelihood of the data. The general procedure starts with a guess w, "
        "and corrects it by Δw after one example (on-line) or many (batch), until a criterion of "
        "convergence is satisfied.",
        show=show_optimisation,
        question="Which criterion of convergence suits the perceptron?",
        answer="A pass without errors, because then nothing changes any more; or, if the data are not separable, a "
        "fixed number of passes.",
        terms=(
            "learning by optimisation",
            "on-line",
            "batch",
            "minimise error",
            "maximise likelihood",
            "gradient descent",
            "convergence criterion",
            "initial guess",
        ),
        data=lambda: table_of(THREE),
        commands=(
            "markone trace {data} --target label --no-bias --rule logistic --solver ascent --eta 0.2 --strength 0 "
            "--epochs 20",
            "markone trace {data} --target label --no-bias --rule logistic --solver online --eta 0.2 --epochs 20 "
            "--steps 60",
        ),
    ),
)
