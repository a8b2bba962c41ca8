"""Topics on features: columns of numbers and categories, conjunctions, and transformations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markone import reference
from markone.lectures.planes import (
    Example,
    best_separator,
    boundary,
    labels_of,
    made_points,
    mistakes,
    plane,
    rounded,
    rows_of,
    run_of,
    table_of,
    weights_in,
)
from markone.lectures.separability import XOR
from markone.lectures.topic import Shown, Table, Topic, grid
from markone.reporting.charts import Bars, Chart, Line

if TYPE_CHECKING:
    from pyarrow import Table as ArrowTable

# ---- tables

AUTOMOBILE_COLUMNS = ("mpg", "cylinders", "displacement", "horsepower", "weight", "acceleration", "modelyear", "make")
AUTOMOBILES = (
    ("good", 4, 97, 75, 2265, 18.2, 77, "asia"),
    ("bad", 6, 199, 90, 2648, 15, 70, "ameri"),
    ("bad", 4, 121, 110, 2600, 12.8, 77, "europ"),
    ("bad", 8, 350, 175, 4100, 13, 73, "ameri"),
    ("bad", 6, 198, 95, 3102, 16.5, 74, "ameri"),
    ("bad", 4, 108, 94, 2379, 16.5, 73, "asia"),
    ("bad", 4, 113, 95, 2228, 14, 71, "asia"),
    ("bad", 8, 302, 139, 3570, 12.8, 78, "ameri"),
    ("good", 4, 120, 79, 2625, 18.6, 82, "ameri"),
    ("bad", 8, 455, 225, 4425, 10, 70, "ameri"),
    ("good", 4, 107, 86, 2464, 15.5, 76, "europ"),
    ("bad", 5, 131, 103, 2830, 15.9, 78, "europ"),
)


def as_arrow(table: Table) -> ArrowTable:
    import pyarrow as pa

    return pa.table({name: [row[i] for row in table.rows] for i, name in enumerate(table.columns)})


def automobiles() -> Table:
    return Table(AUTOMOBILE_COLUMNS, AUTOMOBILES)


def show_automobiles() -> Shown:
    from markone import train

    table = as_arrow(automobiles())
    model = train(table, target="mpg", rule="perceptron", epochs=1000, average=False)
    # The classes are sorted, so the weights are those of “good”.
    weights = {name: float(values[1]) for name, values in model.weights().items()}
    first = dict(zip(AUTOMOBILE_COLUMNS, AUTOMOBILES[0], strict=True))
    table_of_first = model.explain({name: value for name, value in first.items() if name != "mpg"}).difference
    scaled = {row.feature: row.value for row in table_of_first.rows}
    rows = [
        [name, automobile_value(name, first), scaled.get(name, 0), weight, scaled.get(name, 0) * weight]
        for name, weight in weights.items()
        if name == "BIAS" or name.partition("=")[0] in first
    ]
    right = round(model.accuracy(table, "mpg") * len(AUTOMOBILES))
    ordered = sorted((name for name in weights if weights[name]), key=lambda name: -weights[name])
    return Shown(
        f"{grid(['feature', 'first row', 'x, scaled', 'weight w', 'product'], rows)}\nThe products add up to the score "
        f"of the first row, {table_of_first.score:.4g}, which is greater than 0: good. A perceptron classifies {right} "
        f"of the {len(AUTOMOBILES)} rows correctly.",
        (Chart((Bars(ordered, [weights[name] for name in ordered]),), title="Weights for “good”"),),
    )


def automobile_value(feature: str, row: dict[str, Any]) -> object:
    """Return the value of a feature before scaling."""
    column, _, category = feature.partition("=")
    return int(row[column] == category) if category else row.get(column, 1)


PEOPLE = (
    (34, True, "baker", "yes"),
    (51, False, "clerk", "no"),
    (28, True, "nurse", "yes"),
    (45, False, "baker", "no"),
)
PEOPLE_COLUMNS = ("age", "member", "job", "buys")


def people() -> Table:
    return Table(PEOPLE_COLUMNS, [[age, str(member).lower(), job, buys] for age, member, job, buys in PEOPLE])


def show_features() -> Shown:
    jobs = sorted({job for _, _, job, _ in PEOPLE})
    names = ["age", "member", *(f"job={job}" for job in jobs)]
    vectors = [{"age": age, "member": int(member), **reference.one_hot({"job": job})} for age, member, job, _ in PEOPLE]
    rows = [
        [f"{age}, {str(member).lower()}, {job}", *(vector.get(name, 0) for name in names)]
        for (age, member, job, _), vector in zip(PEOPLE, vectors, strict=True)
    ]
    return Shown(
        f"{grid(['age, member, job', *names], rows)}\nThe first row is the vector x = "
        f"({', '.join(str(vectors[0].get(name, 0)) for name in names)}) with {len(names)} numbers.",
        (
            Chart(
                (Bars(names, [vectors[0].get(name, 0) for name in names]),), title="The first row as a feature vector"
            ),
        ),
    )


# ---- conjunctions and transformations


def with_product(examples: list[Example]) -> list[Example]:
    """Return the examples with a third feature, x1·x2."""
    return [((*x, x[0] * x[1]), y) for x, y in examples]


def show_conjunctions() -> Shown:
    from markone import certify

    joined = with_product(XOR)
    plain, more = (certify(rows_of(examples), labels_of(examples), tol=1e-6) for examples in (XOR, joined))
    w, b, _ = best_separator(joined, bias=True)
    run = weights_in(run_of(joined, bias=True))[-1]
    rows = [[*x, f"{y:+d}", sum(p * q for p, q in zip(run, (*x, 1), strict=True))] for x, y in joined]
    plane_of_sums = [((x[0] + x[1], x[2]), y) for x, y in joined]
    chart = plane(
        plane_of_sums,
        boundary((w[0], w[2]), b, "separating line"),
        title="XOR with the conjunction x1·x2 as a coordinate",
        x="x1 + x2",
        y="x1·x2",
        limits=(-0.5, 2.5, -0.5, 1.5),
    )
    return Shown(
        f"with x1, x2:\n{plain}\nwith x1, x2 and x1·x2:\n{more}\n\n"
        f"{grid(['x1', 'x2', 'x1·x2', 'label', 'activation'], rows)}\nThe activations are those of a perceptron with "
        f"the weights {rounded(run[:-1])} and the bias {run[-1]:.0f}.",
        (chart,),
    )


def show_poll_line() -> Shown:
    from markone import certify

    w, b = (1, -5), -17
    places = ((20, 0), (17, 0), (0, 0), (7, -2), (2, -4))
    rows = []
    for x1, x2 in places:
        z = x1 - 5 * x2 - 17
        rows.append([(x1, x2), z, (z > 0) - (z < 0), w[0] * x1 + w[1] * x2 + b])
    examples = poll_points(lambda x1, x2: x1 - 5 * x2 - 17)
    found = certify(rows_of(examples), labels_of(examples))
    return Shown(
        f"{grid(['x', 'x1 - 5·x2 - 17', 'h(x)', 'w·x + b'], rows)}\nw = {w}, b = {b}: yes, it is a linear classifier. "
        f"60 points with its labels are {'separable' if found.separable else 'not separable'}.",
        (plane(examples, boundary(w, b, "x1 - 5·x2 = 17"), title="Labels by h(x)", limits=POLL),),
    )


POLL = (-30.0, 30.0, -20.0, 20.0)


def poll_points(score: Any) -> list[Example]:
    """Return 60 points in the range of the poll's chart."""
    unit = made_points(60, 2, lambda x1, x2: score(10 * x1, 20 / 3 * x2))
    return [((round(10 * x[0], 2), round(20 / 3 * x[1], 2)), y) for x, y in unit]


def parabola(x1: float, x2: float) -> float:
    return x1**2 - 2 * x2 + 27


PARABOLA = [
    ((round(2.5 * x[0], 2), round(6 * x[1] + 22, 2)), y)
    for x, y in made_points(80, 21, lambda x1, x2: parabola(2.5 * x1, 6 * x2 + 22), gap=2)
]


def show_poll_parabola() -> Shown:
    from markone import certify, train

    squared: list[Example] = [((x[0] ** 2, x[1]), y) for x, y in PARABOLA]
    rows = []
    for name, examples in (("x1, x2", PARABOLA), ("x1², x2", squared)):
        model = train(rows_of(examples), target=labels_of(examples), rule="perceptron", epochs=5000, average=False)
        found = certify(rows_of(examples), labels_of(examples), seconds=1)
        rows.append([name, bool(found.separable), model.accuracy(rows_of(examples), labels_of(examples))])
    xs = [i / 4 - 8 for i in range(65)]
    curve = Line(xs, [(x * x + 27) / 2 for x in xs], "x1² - 2·x2 + 27 = 0", 2)
    wrong = mistakes((1, -2), squared, 27)
    chart = plane(PARABOLA, curve, title="Labels by sign(x1² - 2·x2 + 27)", limits=(-8, 8, 2, 42))
    return Shown(
        f"{grid(['features', 'separable', 'accuracy of a perceptron'], rows)}\nIn x1 and x2 it is not linear. In (x1², "
        f"x2) it is: w = (1, -2) and b = 27 make {wrong} mistakes.",
        (Chart(chart.parts, title=chart.title, x="x1", y="x2", limits=chart.limits),),
    )


TOPICS = (
    Topic(
        name="automobiles",
        title="A table of automobiles: mpg good or bad",
        claim="The rows of a table are examples, and the columns are features. Numbers are used as they are or scaled. "
        "The categories of “make” become indicators: make=asia, make=europ and make=ameri, of which one is 1.",
        show=show_automobiles,
        question="Why is make not coded as the numbers 1, 2 and 3?",
        answer="A single weight would then say that europ lies between ameri and asia. With indicators each "
        "has its weight.",
        terms=("mpg", "table", "cylinders", "make", "one-hot", "indicator features"),
        data=automobiles,
        commands=("markone train {data} --target mpg --rule perceptron --epochs 1000 --no-average",),
    ),
    Topic(
        name="features",
        title="Features and classes: all features must be numerical",
        claim="An input becomes a vector of numbers. Numerical features are used directly, Boolean features become 0 "
        "or 1, and a categorical feature becomes a set of Boolean features, one for each category (one-hot).",
        show=show_features,
        question="How many features does a categorical column with 50 values become?",
        answer="50, of which exactly one is 1 in each row.",
        terms=(
            "feature vector",
            "numerical features",
            "Boolean features",
            "categorical features",
            "one-hot representation",
            "binary classification",
        ),
        data=people,
        commands=("markone trace {data} --target buys", "markone train {data} --target buys --rule perceptron"),
    ),
    Topic(
        name="conjunctions",
        title="Feature conjunctions: XOR becomes separable",
        claim="A conjunction is the product of features: x1·x2 is 1 if both are 1. With it, data that no line "
        "separates can become separable, such as XOR.",
        show=show_conjunctions,
        question="How many conjunctions of two features are there among 1,000 features?",
        answer="499,500. Linear training can handle that many, because most of them are 0 in each example.",
        terms=("feature conjunctions", "feature transformations", "XOR", "work around", "product of features"),
        data=lambda: table_of(with_product(XOR)),
        commands=("markone certify {data} --target label",),
    ),
    Topic(
        name="poll-line",
        title="Poll: is sign(x1 - 5·x2 - 17) a linear classifier?",
        claim="Yes. It is the sign of w·x + b with w = (1, -5) and b = -17. With the constant feature x0 = 1, it is "
        "the sign of a product without offset.",
        show=show_poll_line,
        question="Where is h(x) = 0?",
        answer="On the line x1 - 5·x2 = 17, for example at (17, 0) and (7, -2).",
        terms=("poll", "linear classifier", "sign", "hypothesis"),
        data=lambda: table_of(poll_points(lambda x1, x2: x1 - 5 * x2 - 17)),
        commands=("markone certify {data} --target label",),
    ),
    Topic(
        name="poll-parabola",
        title="Poll: is sign(x1² - 2·x2 + 27) a linear classifier?",
        claim="Not of (x1, x2), because its boundary is a parabola. But it is linear in the transformed features (x1², "
        "x2): a feature transformation makes a curved boundary straight.",
        show=show_poll_parabola,
        question="Which features make a circle around the origin linear?",
        answer="x1² and x2²: the circle is x1² + x2² = r².",
        terms=("poll", "linear classifier", "feature transformation", "parabola", "non-linear boundary"),
        data=lambda: Table(
            ["x1", "x1_squared", "x2", "label"], [[x[0], x[0] ** 2, x[1], f"{y:+d}"] for x, y in PARABOLA]
        ),
        commands=(
            "markone certify {data} --target label --kinds x1_squared=ignore",
            "markone certify {data} --target label --kinds x1=ignore",
        ),
    ),
)
