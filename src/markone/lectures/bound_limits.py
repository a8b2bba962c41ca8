"""Topics on what the mistake bound says and does not say."""

from __future__ import annotations

import math

from markone.lectures.planes import (
    Example,
    labels_of,
    length,
    made_points,
    product,
    rows_of,
    run_of,
    table_of,
    weights_in,
)
from markone.lectures.proofs import HARD, proof_of
from markone.lectures.topic import Shown, Topic, grid
from markone.reporting.charts import Chart, Line, Points


def on_axes(n: int) -> list[Example]:
    """Return n examples of length 1 on different axes, with labels that take turns."""
    return [(tuple(float(i == j) for j in range(n)), 1 if i % 2 == 0 else -1) for i in range(n)]


SIZES = (2, 4, 8, 16)


def show_tight() -> Shown:
    proofs = {**{f"{n} axes": proof_of(on_axes(n)) for n in SIZES}, "8 points": proof_of(HARD)}
    proofs["two clouds"] = proof_of(TWO_CLOUDS)
    rows = [[name, proof.R, proof.gamma, proof.bound, len(proof.w)] for name, proof in proofs.items()]
    reached = [proofs[f"{n} axes"] for n in SIZES]
    chart = Chart(
        (
            Points(SIZES, [proof.bound for proof in reached], "bound", 1),
            Line(SIZES, [len(proof.w) for proof in reached], "mistakes", 0),
        ),
        title="Examples on n axes: the mistakes equal the bound",
        x="n",
    )
    return Shown(
        f"{grid(['data', 'R', 'γ', 'R²/γ²', 'mistakes'], rows)}\nNo better bound from R and γ alone is possible, "
        "because examples on n axes reach it. Most data stay far below it.",
        (chart,),
    )


TWO_CLOUDS = made_points(40, 5, lambda x, y: x + y, gap=2.5)


def close_pair(n: int) -> list[Example]:
    """Return two examples of different classes whose distance is 2/n."""
    return [((1.0, 1 + 1 / n), 1), ((1.0, 1 - 1 / n), -1)]


def show_long_time() -> Shown:
    sizes = (1, 2, 4, 8, 16, 32)
    proofs = {n: proof_of(close_pair(n)) for n in sizes}
    rows = [[f"1/{n}", one.gamma, one.bound, len(one.w), run_of(close_pair(n))[-1].epoch] for n, one in proofs.items()]
    chart = Chart(
        (
            Line([math.log2(n) for n in sizes], [math.log2(one.bound) for one in proofs.values()], "bound", 2, True),
            Line([math.log2(n) for n in sizes], [math.log2(len(one.w)) for one in proofs.values()], "mistakes", 0),
        ),
        title="Mistakes and their bound, as powers of 2",
        x="log2(1/d)",
        y="log2",
    )
    return Shown(
        f"{grid(['d', 'γ', 'bound', 'mistakes', 'passes'], rows)}\nThe two examples are (1, 1 + d) and (1, 1 - d). "
        "With half the distance d, there are about twice as many mistakes, and the bound allows four times as many.",
        (chart,),
    )


NOISY = made_points(60, 3, lambda x, y: x - 0.4 * y, flipped=0.1)


def show_not_separable() -> Shown:
    from markone import certify

    passes = 40
    run = run_of(NOISY, epochs=passes)
    made = [sum(step.epoch <= number for step in run) for number in range(1, passes + 1)]
    squares = [product(w, w) for w in weights_in(run)]
    R = max(length(x) for x, _ in NOISY)
    found = certify(rows_of(NOISY), labels_of(NOISY), bias=False)
    rows = [
        [number, made[number - 1], squares[made[number - 1] - 1], made[number - 1] * R**2]
        for number in (1, 5, 10, 20, 40)
    ]
    chart = Chart(
        (Line(list(range(1, passes + 1)), made, "mistakes so far", 1),),
        title="On data that are not separable, mistakes never end",
        x="pass",
        y="mistakes",
    )
    return Shown(
        f"{found}\n\n{grid(['pass', 'mistakes so far', '|w|²', 'kR²'], rows)}\n|w|² ≤ kR² is still true, because it "
        "needs no separator. The lower bound is not, because there is no γ > 0, and so there is no limit.",
        (chart,),
    )


TOPICS = (
    Topic(
        name="long-time",
        title="The perceptron algorithm eventually makes no mistakes, but it could take a long time",
        claim="On separable data the perceptron ends without mistakes. If the classes are close to each other, this "
        "takes long, because the margin is small.",
        show=show_long_time,
        question="Which single feature would make these two examples easy?",
        answer="The second coordinate minus 1. It is d for one class and -d for the other, so R = γ = d, and the bound "
        "is one mistake.",
        terms=("eventually makes no mistakes", "downside", "running time", "convergence"),
        data=lambda: table_of(close_pair(8)),
        commands=("markone certify {data} --target label --no-bias",),
    ),
    Topic(
        name="tight",
        title="Understanding the bound: is the bound tight?",
        claim="There are data on which the perceptron makes exactly R²/γ² mistakes: n examples of length 1 on n "
        "different axes, where γ = 1/√n. On most data it makes far fewer.",
        show=show_tight,
        question="Why does each of the n examples on the axes cost a mistake?",
        answer="They are at right angles, so what was learned from the others does not help: the activation is 0.",
        terms=("is the bound tight", "understanding the bound", "orthogonal examples", "worst case"),
        data=lambda: table_of(on_axes(SIZES[2])),
        commands=(
            "markone certify {data} --target label --no-bias",
            "markone trace {data} --target label --no-bias --theory",
        ),
    ),
    Topic(
        name="not-separable",
        title="What does the bound tell us about non-separable data?",
        claim="Nothing: without a separator there is no margin γ > 0, so the number of mistakes has no limit. The "
        "perceptron makes mistakes in every pass. Only |w|² ≤ kR² remains true.",
        show=show_not_separable,
        question="Can many mistakes prove that data are not separable?",
        answer="No. They prove only that the margin is small: it is at most |w|/k. A certificate of markone certify is "
        "a proof.",
        terms=("non-separable data", "bound", "not separable", "noise"),
        data=lambda: table_of(NOISY),
        commands=(
            "markone certify {data} --target label --no-bias",
            "markone train {data} --target label --rule perceptron --bounds --no-bias --order given --epochs 40 "
            "--holdout 0",
        ),
    ),
)
