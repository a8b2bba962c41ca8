"""Topics on margins: of an example, of a data set, the best one, and how an update changes them."""

from __future__ import annotations

from markone.lectures.planes import (
    THREE,
    Example,
    best_separator,
    boundary,
    labels_of,
    length,
    plane,
    product,
    rounded,
    rows_of,
    run_of,
    table_of,
    weights_in,
)
from markone.lectures.topic import Shown, Topic, cell, grid
from markone.reporting.charts import Bars, Chart, Line
from markone.reporting.grids import plain_number

# ---- the margin of an example

CANDIDATE = (1.0, -0.5)
SOME: list[Example] = [((3, 2), 1), ((-2, 2), -1), ((-2, -3), 1), ((1, -2), 1), ((1, 2.5), -1)]


def show_margin() -> Shown:
    rows, margins = [], []
    for x, y in SOME:
        margin = y * product(CANDIDATE, x)
        margins.append(margin)
        rows.append([x, f"{y:+d}", product(CANDIDATE, x), margin, "correct" if margin > 0 else "misclassified"])
    return Shown(
        f"w = {cell(CANDIDATE)}\n{grid(['x', 'y', 'w·x', 'margin y·w·x', ''], rows)}",
        (
            plane(SOME, boundary(CANDIDATE), title="The points and the boundary of w"),
            Chart((Bars([str(x) for x, _ in SOME], margins),), title="Margins"),
        ),
    )


# ---- what an update does to its own example


def show_better() -> Shown:
    w, rows, margins = (0.0, 0.0), [], []
    for step in run_of(THREE):
        x, y = THREE[step.rows[0]]
        after = (w[0] + y * x[0], w[1] + y * x[1])
        margins += [y * product(w, x), y * product(after, x)]
        rows.append([(x, y), w, margins[-2], product(x, x), after, margins[-1]])
        w = after
    return Shown(
        f"{grid(['(x, y)', 'w before', 'margin', '|x|²', 'w after', 'margin'], rows)}\n"
        "Each time the margin has risen by |x|².",
        (before_and_after(margins, "Margins of the misclassified examples"),),
    )


def before_and_after(numbers: list[float], title: str) -> Chart:
    """Return a chart of numbers before and after each mistake, which take turns."""
    names = [f"mistake {1 + i // 2} {'after' if i % 2 else 'before'}" for i in range(len(numbers))]
    return Chart((Bars(names, numbers),), title=title)


def show_update() -> Shown:
    w, b, rows, changes = (0.0, 0.0), 0.0, [], []
    for step in run_of(THREE, bias=True):
        x, y = THREE[step.rows[0]]
        a = product(w, x) + b
        w, b = (w[0] + y * x[0], w[1] + y * x[1]), b + y
        now = product(w, x) + b
        rows.append([(x, y), a, product(x, x) + 1, now, now - a])
        changes += [a, now]
    return Shown(
        f"{grid(['(x, y)', 'a', '|x|² + 1', 'new a', 'change'], rows)}\nThe change is y·(|x|² + 1): up for +1, and "
        "down for -1.",
        (before_and_after(changes, "Activations of the misclassified examples"),),
    )


STUBBORN: list[Example] = [((3, 1), 1), ((2.5, 1.5), 1), ((1, 0.5), -1)]


UPDATES_SHOWN = 4


def show_unknown() -> Shown:
    rows, margins, still_wrong = [], [], 0
    w, b = (0.0, 0.0), 0.0
    run = run_of(STUBBORN, bias=True)
    for step in run.steps[:UPDATES_SHOWN]:
        row = step.rows[0]
        x, y = STUBBORN[row]
        before = y * (product(w, x) + b)
        w, b = (w[0] + y * x[0], w[1] + y * x[1]), b + y
        margins.append([label * (product(w, point) + b) for point, label in STUBBORN])
        still_wrong += margins[-1][row] <= 0
        rows.append([f"{step.epoch}, {row + 1}", before, *margins[-1]])
    heads = ["pass, row", "margin before", *(f"margin of row {i}" for i, _ in enumerate(STUBBORN, 1))]
    lines = tuple(
        Line([*range(1, len(rows) + 1)], [each[i] for each in margins], f"row {i + 1}", i, dashed=STUBBORN[i][1] < 0)
        for i in range(len(STUBBORN))
    )
    return Shown(
        f"{grid(heads, rows)}\nThese are the first {len(rows)} updates. After {still_wrong} of these {len(rows)} "
        "updates the updated row itself is still misclassified. The last of them makes the rows of the other class "
        f"wrong. The run ends after {run.mistakes} updates: pass {run[-1].epoch + 1} makes no mistake.",
        (Chart(lines, title="Margins of all three rows after each update", x="update", y="margin"),),
    )


# ---- distances


def show_distances() -> Shown:
    w, b = (4.0, 3.0), 2.0
    size = length(w)
    unit = tuple(one / size for one in w)
    rows = [[x, f"{y:+d}", y * (product(w, x) + b), y * (product(unit, x) + b / size)] for x, y in SOME]
    feet = [
        Line([x[0], x[0] - d * unit[0]], [x[1], x[1] - d * unit[1]], "distance", 1, dashed=True)
        for x, _ in SOME
        for d in [product(unit, x) + b / size]
    ]
    return Shown(
        f"w = (4, 3) and b = 2 have the length |w| = {plain_number(size)}. Divided by it, w = {rounded(unit)} and b = "
        f"{plain_number(b / size)} describe the same boundary.\n"
        + grid(["x", "y", "y·(w·x + b)", "the same / |w|: the margin"], rows),
        (plane(SOME, *feet, boundary(w, b, "w·x + b = 0"), title="Distances from the boundary"),),
    )


CLOSE: list[Example] = [((2, 2), 1), ((3, 0.5), 1), ((1, 2.5), 1), ((-1, -1), -1), ((0.5, -2), -1), ((-2, 0.5), -1)]
LINES = {"x1 = 0.75": ((1.0, 0.0), -0.75), "x2 = 0": ((0.0, 1.0), 0.0), "2·x1 + x2 = 1": ((2.0, 1.0), -1.0)}


def margin_of(w: tuple[float, ...], b: float, examples: list[Example]) -> float:
    """Return the margin of a data set: the least y (w·x + b) / |w|."""
    return min(y * (product(w, x) + b) for x, y in examples) / length(w)


def show_data_margin() -> Shown:
    rows = []
    for name, (w, b) in LINES.items():
        margins = [y * (product(w, x) + b) / length(w) for x, y in CLOSE]
        at = margins.index(min(margins))
        rows.append([name, *(round(one, 2) for one in margins), margins[at]])
    text = grid(["boundary", *(f"row {i}" for i, _ in enumerate(CLOSE, 1)), "least"], rows)
    drawn = [boundary(w, b, name, i + 2, dashed=i > 0) for i, (name, (w, b)) in enumerate(LINES.items())]
    return Shown(
        f"{text}\nThe least is the margin of the data set. If it is not positive, the boundary does not separate the "
        "classes.",
        (plane(CLOSE, *drawn, title="Three boundaries for the same data"),),
    )


def show_best_margin() -> Shown:
    from markone import certify

    found = certify(rows_of(CLOSE), labels_of(CLOSE), tol=1e-6)
    w, b, gamma = best_separator(CLOSE, bias=True)
    path = weights_in(run_of(CLOSE, bias=True))[-1]
    candidates = {**LINES, "the perceptron's": (path[:-1], path[-1]), "the best": (w, b)}
    rows = [[name, margin_of(v, c, CLOSE)] for name, (v, c) in candidates.items()]
    edges = [boundary(w, b + shift, "margin", 3, dashed=True) for shift in (-gamma, gamma)]
    return Shown(
        f"{grid(['boundary', 'margin of the data set'], rows)}\n\n{found}",
        (plane(CLOSE, boundary(w, b, "best boundary"), *edges, title="The best boundary and its margin"),),
    )


TOPICS = (
    Topic(
        name="margin",
        title="The margin of classifier w on an example",
        claim="A positive example is correct if w·x > 0, a negative one if w·x < 0. Both are the same condition: the "
        "margin y·w·x is positive. The larger the margin, the more clearly the example is correct.",
        show=show_margin,
        question="How do you change w so that every margin doubles, but no prediction changes?",
        answer="Multiply w by 2. Margins can only be compared for weights of the same length.",
        terms=("margin", "correct classification", "misclassified", "positive margin", "bigger margin"),
        data=lambda: table_of(SOME),
        commands=("markone certify {data} --target label --no-bias",),
    ),
    Topic(
        name="better",
        title="Why is the perceptron update a good idea?",
        claim="The update w + y·x raises the margin of its example by exactly |x|², because y·(w + y·x)·x = y·w·x + "
        "|x|². The new weights classify this example better, but possibly not yet correctly.",
        show=show_better,
        question="When is one update certainly enough for its example?",
        answer="If the margin before was above -|x|². At the first mistake w is 0, so the margin becomes |x|².",
        terms=("perceptron update", "margin", "misclassified example", "bigger margin"),
        data=lambda: table_of(THREE),
        commands=("markone trace {data} --target label --no-bias --only-mistakes",),
    ),
    Topic(
        name="update",
        title="Why does the perceptron update work?",
        claim="With a bias, the update adds y·x to w and y to b. The new activation is a + y·(|x|² + 1), which is "
        "greater than a for a positive example, and smaller for a negative one.",
        show=show_update,
        question="Where does the + 1 come from?",
        answer="From the bias. It is the weight of a feature x0 = 1, which adds 1² to |x|².",
        terms=("perceptron update", "activation", "bias", "weights are updated"),
        data=lambda: table_of(THREE),
        commands=("markone trace {data} --target label --only-mistakes",),
    ),
    Topic(
        name="unknown",
        title="What does this mean? What we do not know after an update",
        claim="After an update its example is closer to the right side than before. It may still be wrong, other "
        "examples may have become wrong, and later updates may undo the improvement.",
        show=show_unknown,
        question="Then why does the perceptron end at all?",
        answer="These three points are separable. Each update raises w·w* for every separator w*, while |w| grows "
        "slowly, so the number of updates is limited, as the convergence theorem says.",
        terms=("perceptron update", "classified correctly", "still wrong", "other examples"),
        data=lambda: table_of(STUBBORN),
        commands=("markone trace {data} --target label --only-mistakes --epochs 100 --steps 100",),
    ),
    Topic(
        name="point-margin",
        title="Margin of a point: its distance from the decision boundary",
        claim="If w has length 1, the margin of a point is y·(w·x + b), its distance from the decision boundary. It is "
        "negative if the point is on the wrong side.",
        show=show_distances,
        question="Why must w have length 1?",
        answer="Otherwise w·x + b is the distance times |w|, and could have any size for the same boundary.",
        terms=("margin of a point", "unit-length weight vector", "distance", "decision boundary", "geometric margin"),
        data=lambda: table_of(SOME),
        commands=("markone certify {data} --target label",),
    ),
    Topic(
        name="data-margin",
        title="Margin of a data set",
        claim="The margin of a data set, for a boundary that separates it, is the margin of the point that is closest "
        "to the boundary.",
        show=show_data_margin,
        question="Which rows decide about the margin of each boundary?",
        answer="Those with the least number in the line. All other rows could move a little without any effect.",
        terms=("margin of a data set", "closest point", "separating hyperplane", "minimum margin"),
        data=lambda: table_of(CLOSE),
        commands=("markone certify {data} --target label",),
    ),
    Topic(
        name="best-margin",
        title="Best achievable margin of a data set",
        claim="The largest margin of any boundary, over all w and b, says how difficult the data are. Markone computes "
        "a boundary and proves with a few examples that none has a larger margin.",
        show=show_best_margin,
        question="What does a small best margin mean for the perceptron?",
        answer="It may need many updates: the bound on them is R²/γ².",
        terms=("best achievable margin", "difficulty", "maximum margin", "certificate", "support vectors"),
        data=lambda: table_of(CLOSE),
        commands=("markone certify {data} --target label --tol 1e-6",),
    ),
)
