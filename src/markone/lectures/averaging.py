"""Topics on noisy data: weights that thrash, and the averaged perceptron."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from markone import reference
from markone.lectures.planes import (
    Example,
    boundary,
    length,
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
from markone.reporting.charts import Chart, Line, Points

INSEPARABLE = made_points(40, 8, lambda x, y: x + 0.5 * y, flipped=0.15)


# ---- not separable: the weights thrash


def averaged(examples: Sequence[Example], epochs: int) -> list[tuple[float, ...]]:
    """Return the average of the weights after each pass."""
    learner = reference.Learner(2, bias=False)
    found = []
    for _ in range(epochs):
        learner.learn([(dict(enumerate(x)), int(y > 0), 1) for x, y in examples])
        found.append(tuple(float(one) for _, one in sorted(learner.average()[1].items())))
    return found


def show_inseparable() -> Shown:
    epochs = 8
    run = run_of(INSEPARABLE, epochs=epochs)
    path = weights_in(run)
    last = [
        max((i for i, step in enumerate(run) if step.epoch <= number), default=0) for number in range(1, epochs + 1)
    ]
    means = averaged(INSEPARABLE, epochs)
    size = len(INSEPARABLE)
    rows = [
        [
            number,
            count,
            rounded(path[at]),
            size - mistakes(path[at], INSEPARABLE),
            rounded(mean),
            size - mistakes(mean, INSEPARABLE),
        ]
        for number, (count, at, mean) in enumerate(zip(passes_of(run), last, means, strict=True), 1)
    ]
    heads = ["pass", "mistakes", "last w", "right", "averaged w", "right"]
    path = path[: last[2] + 1]
    chart = Chart(
        (
            Line([w[0] for w in path], [w[1] for w in path], "w after each mistake of three passes", 1),
            Points([w[0] for w in means], [w[1] for w in means], "averaged, after each pass", 0),
        ),
        title="The path of the weights",
        x="w1",
        y="w2",
    )
    return Shown(f"{grid(heads, rows)}\n“right” counts the {size} points that are classified correctly.", (chart,))


# ---- averaging


def turned(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the angle between two weight vectors, in degrees."""
    return math.degrees(math.acos(max(-1.0, min(1.0, product(first, second) / length(first) / length(second)))))


def show_averaged() -> Shown:
    epochs = 10
    run = run_of(INSEPARABLE, epochs=epochs)
    path = weights_in(run)
    means = averaged(INSEPARABLE, epochs)
    fresh = made_points(2000, 9, lambda x, y: x + 0.5 * y)
    jumps = [turned(first, second) for first, second in pairwise(path)]
    moves = [turned(first, second) for first, second in pairwise(means)]
    share = [1 - mistakes(w, fresh) / len(fresh) for w in path]
    shares = [1 - mistakes(w, fresh) / len(fresh) for w in means]
    rows = [
        ["last", max(jumps), min(share), max(share), share[-1]],
        ["averaged", max(moves), min(shares), max(shares), shares[-1]],
    ]
    text = grid(["weights", "largest turn", "least accuracy", "best", "at the end"], rows)
    ends = [sum(step.epoch <= number for step in run) for number in range(1, epochs + 1)]
    chart = Chart(
        (
            Line(list(range(1, len(share) + 1)), share, "last, after each mistake", 1),
            Line(ends, shares, "averaged, after each pass", 0, dashed=True),
        ),
        title="Accuracy on 2,000 new points without wrong labels",
        x="mistakes",
        y="accuracy",
    )
    return Shown(
        f"{text}\nTable and picture show all {len(path)} mistakes of {epochs} passes. Turns are in degrees: of the "
        "last weights from mistake to mistake, and of the average from pass to pass.",
        (chart,),
    )


def show_last_example() -> Shown:
    first = INSEPARABLE
    wrong = next(example for example in first if example[1] * (example[0][0] + 0.5 * example[0][1]) < 0)
    orders = {"as given": first, "with one point moved to the end": [*(one for one in first if one != wrong), wrong]}
    rows, ends = [], []
    for name, examples in orders.items():
        last, mean = weights_in(run_of(examples, epochs=5))[-1], averaged(examples, 5)[-1]
        ends.append((last, mean))
        rows.append([name, rounded(last), rounded(mean)])
    (last, mean), (other_last, other_mean) = ends
    lines = [
        boundary(last, name="last weights", number=1),
        boundary(other_last, name="last weights, other order", number=1, dashed=True),
        boundary(mean, name="averaged, both orders", number=0),
        boundary(other_mean, name="averaged, both orders", number=0),
    ]
    return Shown(
        f"{grid(['order', 'last w', 'averaged w'], rows)}\nThe last weights turn"
        f" by {turned(last, other_last):.1f}°, and "
        f"the averaged weights by {turned(mean, other_mean):.1f}°.",
        (plane(first, *lines, title="Boundaries with two orders of the same points"),),
    )


TOPICS = (
    Topic(
        name="inseparable",
        title="Examples: perceptron, inseparable case: the weights thrash",
        claim="If no line separates the classes, every pass makes mistakes, and the weights jump back and forth "
        "without end. The average of all weight vectors settles down.",
        show=show_inseparable,
        question="After which pass would you stop?",
        answer="Training mistakes cannot tell, because they never end. Hold out some examples, and stop when their "
        "accuracy no longer rises; or use the averaged weights, for which it hardly matters.",
        terms=("inseparable case", "thrash", "noise", "averaged perceptron", "not separable"),
        data=lambda: table_of(INSEPARABLE),
        commands=(
            "markone certify {data} --target label --no-bias",
            "markone train {data} --target label --rule perceptron --no-bias --order given --no-scaled --epochs 8 "
            "--holdout 0",
        ),
    ),
    Topic(
        name="averaged",
        title="Averaged perceptron",
        claim="During training the weights jump around. A running average of all weight vectors of the training moves "
        "little, and classifies new examples better than most of the vectors that it averages.",
        show=show_averaged,
        question="Why are the averaged weights better than the weights of a randomly chosen moment?",
        answer="A weight vector counts for as long as it made no mistake. Those that survive many examples dominate "
        "the average, and the noise of the others cancels.",
        terms=("averaged perceptron", "averaging weight vectors", "running average", "noise", "thrash"),
        data=lambda: table_of(INSEPARABLE),
        commands=(
            "markone train {data} --target label --rule perceptron --no-bias --order given --no-scaled --holdout 0 "
            "--no-average",
            "markone train {data} --target label --rule perceptron --no-bias --order given --no-scaled --holdout 0",
        ),
    ),
    Topic(
        name="last-example",
        title="The last example has a disproportionate influence",
        claim="The last mistake is still completely in the last weights, because no later example has corrected it. If "
        "one point moves to the end of the data, the last weights change much, and the average hardly.",
        show=show_last_example,
        question="What else makes the order of the examples matter less?",
        answer="Visiting them in a new random order in each pass, which is the default of markone train.",
        terms=("averaged perceptron", "last example", "order of examples", "running average"),
        data=lambda: table_of(INSEPARABLE),
        commands=(
            "markone train {data} --target label --rule perceptron --no-bias --order given --no-scaled --holdout 0 "
            "--epochs 5 --no-average",
            "markone train {data} --target label --rule perceptron --no-bias --order given --no-scaled --holdout 0 "
            "--epochs 5",
        ),
    ),
)
