"""Topics on the perceptron: activations, updates, and runs step by step."""

from __future__ import annotations

from markone import reference
from markone.lectures.topic import Shown, Table, Topic
from markone.reporting.charts import Bars, Chart, Line, Points
from markone.reporting.grids import Grid, plain_number, signed_numbers

SPAM: reference.Vector = {"BIAS": -3, "free": 4, "money": 2}

# ---- the activation


def show_spam() -> Shown:
    x: reference.Vector = {"BIAS": 1, "free": 1, "money": 1}
    products = [SPAM[name] * value for name, value in x.items()]
    total = reference.dot(SPAM, x)
    signed = signed_numbers([*products, total])
    rows = [[str(name), str(x[name]), str(SPAM[name]), signed[i]] for i, name in enumerate(x)]
    table = Grid([["feature", "value", "weight", "product"]], rows, [["sum", "", "", signed[-1]]])
    return Shown(
        f"{table}\nThe activation is {plain_number(total)}, which is greater than 0: spam.",
        (Chart((Bars([*map(str, SPAM)], [*SPAM.values()]),), title="Weights of the features"),),
    )


# ---- a run, step by step

POINTS = [((3, 2), 1), ((-2, 2), -1), ((-2, -3), 1)]


def three_points() -> Table:
    return Table(["x1", "x2", "label"], [[*x, f"{y:+d}"] for x, y in POINTS])


def show_trace() -> Shown:
    from markone import trace

    run = trace([list(x) for x, _ in POINTS], [y for _, y in POINTS], tie="negative", bias=False, average=False)
    w = run.weights()["1"]
    right, wrong = ([x for x, y in POINTS if y == sign] for sign in (1, -1))
    ends = [-4.0, 4.0]
    slope = -w["x0"] / w["x1"]
    return Shown(
        str(run),
        (
            Chart(
                (
                    Line(ends, [slope * end for end in ends], "w·x = 0", 2),
                    Points([x for x, _ in right], [y for _, y in right], "+1", 0),
                    Points([x for x, _ in wrong], [y for _, y in wrong], "-1", 1),
                ),
                title="The three points, and the boundary after convergence",
                x="x1",
                y="x2",
                limits=(-4.5, 4.5, -4.5, 4.5),
                square=True,
            ),
        ),
    )


TOPICS = (
    Topic(
        name="spam",
        title="Linear classifiers: “free money”",
        claim="The activation of an example is the sum of weight times value. If it is positive, the class is +1, "
        "otherwise -1. The feature BIAS always has the value 1.",
        show=show_spam,
        question="How much must the weight of BIAS fall before “free money” is no longer spam?",
        answer="By 3: at -6 the activation is 0, and sign(0) is -1 in this lecture.",
        terms=("linear classifier", "activation", "feature values", "weight vector", "bias"),
    ),
    Topic(
        name="trace",
        title="The binary perceptron, step by step",
        claim="From w = (0, 0) the perceptron visits the examples in their order, and adds y·x to w when it makes a "
        "mistake. Here sign(0) is -1. The second pass makes no mistake, so the run has converged, and the boundary is "
        "x2 = x1.",
        show=show_trace,
        question="Why does the first example cause an update although the weights are zero?",
        answer="Its activation is 0, and sign(0) = -1 is not its label +1. With ties that are positive, the first "
        "example would be right.",
        terms=("perceptron algorithm", "converge", "decision boundary", "mistake-driven", "error-driven"),
        data=three_points,
        commands=("markone trace {data} --target label --tie negative --no-bias --no-average",),
    ),
)
