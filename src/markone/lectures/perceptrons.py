"""Topics on the perceptron algorithm: its steps, and the order of its examples."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter

from markone.lectures.planes import (
    THREE,
    boundary,
    columns_of,
    labels_of,
    made_points,
    mistakes,
    passes_of,
    plane,
    product,
    rounded,
    run_of,
    table_of,
    weights_in,
)
from markone.lectures.topic import Shown, Topic, grid
from markone.reporting.grids import plain_number

# ---- a run, step by step


def show_trace() -> Shown:
    from markone import trace

    run = trace(columns_of(THREE), labels_of(THREE), tie="negative", bias=False, average=False)
    w = run.weights()["1"]
    chart = plane(
        THREE,
        boundary((w["x1"], w["x2"])),
        title="The three points, and the boundary after convergence",
        limits=(-4.5, 4.5, -4.5, 4.5),
    )
    return Shown(str(run), (chart,))


def show_algorithm() -> Shown:
    w, b, rows = (0.0, 0.0), 0.0, []
    for step in run_of(THREE, bias=True):
        x, y = THREE[step.rows[0]]
        a = product(w, x) + b
        w, b = (w[0] + y * x[0], w[1] + y * x[1]), b + y
        rows.append([f"{step.epoch}, {step.rows[0] + 1}", x, f"{y:+d}", a, y * a, w, b])
    text = grid(["pass, row", "x", "y", "a", "y·a", "w ← w + y·x", "b ← b + y"], rows)
    return Shown(
        f"{text}\nAll other visits have y·a > 0, and change nothing.",
        (plane(THREE, boundary(w, b, "w·x + b = 0"), title="The boundary after the last update"),),
    )


SEPARABLE = made_points(30, 5, lambda x, y: x + 0.5 * y, gap=0.25)


def show_separable() -> Shown:
    run = run_of(SEPARABLE)
    path = weights_in(run)
    counts = [*passes_of(run), 0]
    rows = [[number, count] for number, count in enumerate(counts, 1)]
    lines = [boundary(path[0], name="after the first mistake", dashed=True), boundary(path[-1], name="at the end")]
    return Shown(
        f"{grid(['pass', 'mistakes'], rows)}\nAfter {run.mistakes} mistakes a pass makes none, and w is "
        f"({', '.join(map(plain_number, path[-1]))}).",
        (plane(SEPARABLE, *lines, title="Two boundaries of the run"),),
    )


# ---- any misclassified example will do


Wrong = tuple[float, tuple[float, ...], int]
"""The margin of a misclassified example, the example, and its label."""


def show_misclassified() -> Shown:
    choices: dict[str, Callable[[list[Wrong]], Wrong]] = {
        "the first": lambda wrong: wrong[0],
        "the last": lambda wrong: wrong[-1],
        "the smallest margin": lambda wrong: min(wrong, key=itemgetter(0)),
        "the largest margin": lambda wrong: max(wrong, key=itemgetter(0)),
    }
    rows, lines = [], []
    for number, (name, choose) in enumerate(choices.items()):
        w, updates = (0.0, 0.0), 0
        while wrong := [(m, x, y) for x, y in SEPARABLE if (m := y * product(w, x)) <= 0]:
            _, x, y = choose(wrong)
            w, updates = (w[0] + y * x[0], w[1] + y * x[1]), updates + 1
        rows.append([name, updates, rounded(w), mistakes(w, SEPARABLE)])
        lines.append(boundary(w, name=name, number=number, dashed=number % 2 == 1))
    return Shown(
        grid(["misclassified example", "updates", "w at the end", "mistakes at the end"], rows),
        (plane(SEPARABLE, *lines, title="Where the four runs end"),),
    )


TOPICS = (
    Topic(
        name="trace",
        title="The binary perceptron algorithm, step by step",
        claim="From w = (0, 0) the perceptron visits the examples in their order, and adds y·x to w when it makes a "
        "mistake. Here sign(0) is -1. The second pass makes no mistake, so the run has converged, and the boundary is "
        "x2 = x1.",
        show=show_trace,
        question="Why does the first example cause an update although the weights are zero?",
        answer="Its activation is 0, and sign(0) = -1 is not its label +1. With ties that are positive, the first "
        "example would be right.",
        terms=("perceptron algorithm", "converge", "decision boundary", "mistake-driven", "error-driven"),
        data=lambda: table_of(THREE),
        commands=("markone trace {data} --target label --tie negative --no-bias --no-average",),
    ),
    Topic(
        name="algorithm",
        title="Perceptron algorithm: update if y·a ≤ 0",
        claim="The perceptron learns on-line, from one example at a time, and only from its errors: if y·a ≤ 0, it "
        "adds y·x to w, and y to b. An activation a of 0 is an error for both labels.",
        show=show_algorithm,
        question="What happens if all visits of a pass have y·a > 0?",
        answer="Nothing changes in this pass, so nothing changes in any later pass: the run has converged.",
        terms=("perceptron algorithm", "on-line", "error-driven", "activation", "bias"),
        data=lambda: table_of(THREE),
        commands=("markone trace {data} --target label --only-mistakes",),
    ),
    Topic(
        name="separable",
        title="Examples: perceptron, separable case",
        claim="If a line through the origin separates the classes, the passes make fewer and fewer mistakes, until one "
        "makes none. The boundary at the end may be close to some points.",
        show=show_separable,
        question="Does the number of mistakes fall in every pass?",
        answer="Not always: an update helps its own example, and may harm others. But the total number of mistakes is "
        "limited.",
        terms=("separable case", "converge", "passes over the data", "perceptron"),
        data=lambda: table_of(SEPARABLE),
        commands=(
            "markone certify {data} --target label --no-bias",
            "markone trace {data} --target label --no-bias --only-mistakes",
        ),
    ),
    Topic(
        name="misclassified",
        title="Perceptron algorithm (Rosenblatt 1962): while there is a misclassified example",
        claim="Start with w = 0. As long as some example is misclassified, choose one of them and add y·x to w. The "
        "rule does not say which one: on separable data every choice ends with no mistakes, but after different "
        "numbers of updates and with different weights.",
        show=show_misclassified,
        question="Which of these choices is closest to visiting the examples one after the other?",
        answer="None exactly. A pass continues after the example that it has just updated on, and does "
        "not start again.",
        terms=("perceptron algorithm", "misclassified example", "Rosenblatt", "initialize w = 0", "iterates"),
        data=lambda: table_of(SEPARABLE),
        commands=("markone trace {data} --target label --no-bias --only-mistakes",),
    ),
)
