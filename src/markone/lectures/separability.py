"""Topics on linear separability: what it means, how to prove or refute it, and how common it is."""

from __future__ import annotations

import random

from markone.lectures.averaging import INSEPARABLE
from markone.lectures.perceptrons import SEPARABLE
from markone.lectures.planes import (
    THREE,
    Example,
    best_separator,
    boundary,
    labels_of,
    passes_of,
    plane,
    product,
    rounded,
    rows_of,
    run_of,
    table_of,
)
from markone.lectures.topic import Shown, Topic, grid
from markone.reporting.charts import Chart, Line
from markone.reporting.grids import plain_number

XOR: list[Example] = [((0, 0), -1), ((0, 1), 1), ((1, 0), 1), ((1, 1), -1)]
SQUARE = (-0.5, 1.5, -0.5, 1.5)


def show_definition() -> Shown:
    best, _, gamma = best_separator(THREE)
    rows = [
        [x, f"{y:+d}", product(best, x), f"≥ {plain_number(gamma)}" if y > 0 else f"≤ {plain_number(-gamma)}"]
        for x, y in THREE
    ]
    edges = [boundary(best, shift, "w·x = ±γ", 3, dashed=True) for shift in (-gamma, gamma)]
    return Shown(
        f"w = {rounded(best, 4)}, γ = {plain_number(gamma)}\n{grid(['x', 'y', 'w·x', 'required'], rows)}",
        (plane(THREE, boundary(best), *edges, title="All points are outside of the band between the dashed lines"),),
    )


def show_xor() -> Shown:
    from markone import certify

    found = certify(rows_of(XOR), labels_of(XOR))
    made = passes_of(run_of(XOR, bias=True, epochs=30))
    proof = found.proof
    weights = "" if proof is None else ", ".join(map(str, proof.weights))
    return Shown(
        f"{found}\n\nThe proof: with the weights {weights} the four vectors y·(x, 1) sum to zero. So the margins of "
        "any line sum to zero, too, and they cannot all be positive. A perceptron makes "
        f"{sum(made)} mistakes in {len(made)} passes, and goes on.",
        (plane(XOR, boundary((1, 1), -0.5, "one point is wrong"), title="XOR", limits=SQUARE),),
    )


def show_properties() -> Shown:
    from markone import certify

    rows = []
    for name, examples in (("separable", SEPARABLE), ("non-separable", INSEPARABLE)):
        found = certify(rows_of(examples), labels_of(examples), bias=False)
        run = run_of(examples, epochs=50)
        ended = f"after {run[-1].epoch + 1} passes" if run.stopped == "converged" else "never"
        bound = "none" if found.mistake_bound is None else f"{found.mistake_bound:.0f}"
        rows.append([name, bool(found.separable), ended, run.mistakes, bound])
    best, _, _ = best_separator(SEPARABLE)
    return Shown(
        f"{grid(['data', 'separable', 'converged', 'mistakes', 'mistake bound'], rows)}\nMistakes are those of at most "
        "50 passes.",
        (
            plane(SEPARABLE, boundary(best), title="Separable"),
            plane(INSEPARABLE, title="Non-separable"),
        ),
    )


ROWS, TRIALS = 20, 10
WIDTHS = (2, 5, 8, 10, 12, 19)


def show_many_features() -> Shown:
    from markone import certify

    chance = random.Random(0)
    shares = []
    for width in WIDTHS:
        separable = 0
        for _ in range(TRIALS):
            points = [[chance.gauss(0, 1) for _ in range(width)] for _ in range(ROWS)]
            labels = [1 if i % 2 else -1 for i in range(ROWS)]
            separable += bool(certify(points, labels, tol=0.5).separable)
        shares.append(separable / TRIALS)
    rows = [[width, f"{share:.0%}"] for width, share in zip(WIDTHS, shares, strict=True)]
    chart = Chart(
        (Line(list(WIDTHS), shares, "share of separable data sets", 0),),
        title="Random points with random labels",
        x="features",
        y="share",
        limits=(0, 20, -0.05, 1.05),
    )
    return Shown(
        f"{grid(['features', 'separable'], rows)}\n{TRIALS} data sets of {ROWS} random points for each number of "
        f"features. With {ROWS - 1} features and a bias, all {ROWS} points can have any labels.",
        (chart,),
    )


TOPICS = (
    Topic(
        name="linearly-separable",
        title="Linearly separable data, with margin γ",
        claim="Data are linearly separable if some w has a positive margin on every example: there is a γ > 0 with w·x "
        "≥ γ for all positive examples, and w·x ≤ -γ for all negative ones. A hyperplane then strictly "
        "separates the classes.",
        show=show_definition,
        question="If w separates the data with margin γ, with which margin does 2w separate them?",
        answer="With 2γ. That is why the mistake bound assumes |w| = 1.",
        terms=("linearly separable", "margin", "binary case", "strictly separates", "hyperplane"),
        data=lambda: table_of(THREE),
        commands=("markone certify {data} --target label --no-bias",),
    ),
    Topic(
        name="xor",
        title="Linear separability: find an example that doesn't work",
        claim="A linear classifier cannot always classify the training data perfectly. The smallest example in the "
        "plane is XOR, whose classes are the opposite corners of a square. A certificate proves that no "
        "line separates them.",
        show=show_xor,
        question="How many of the four corners can a line classify correctly?",
        answer="Three. There are 14 ways to label the corners that a line can separate, and XOR is one of "
        "the two others.",
        terms=("linear separability", "XOR", "perfect classification", "certificate", "not separable"),
        data=lambda: table_of(XOR),
        commands=("markone certify {data} --target label", "markone train {data} --target label --rule mlp"),
    ),
    Topic(
        name="many-features",
        title="The perceptron is appropriate with many features",
        claim="Data with many features are often close to linearly separable. If there are as many features as "
        "examples, less one, almost any labels can be separated, even random ones.",
        show=show_many_features,
        question="Does it follow that more features are always better?",
        answer="No. A separator of random labels has learned nothing that helps with new examples: "
        "this is overfitting.",
        terms=("many features", "close to linearly separable", "how serious is this problem in practice"),
    ),
    Topic(
        name="properties",
        title="Properties of perceptrons: separability, convergence, mistake bound",
        claim="Separability: some weights classify the whole training set correctly. Convergence: if there are such "
        "weights, the perceptron finds some. Mistake bound: until then it makes at most R²/γ² mistakes.",
        show=show_properties,
        question="Does convergence mean that new examples are classified correctly?",
        answer="No. It is a statement about the training set only.",
        terms=("properties of perceptrons", "separability", "convergence", "mistake bound", "non-separable"),
        data=lambda: table_of(SEPARABLE),
        commands=("markone certify {data} --target label --no-bias",),
    ),
)
