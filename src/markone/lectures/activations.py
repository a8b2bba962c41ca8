"""Topics on linear classifiers as they are: activations, hyperplanes, the bias, and what a score of 0 means."""

from __future__ import annotations

import math
from itertools import product as combinations

from markone import reference
from markone.lectures.planes import THREE, boundary, length, mistakes, plane, product, run_of, table_of, weights_in
from markone.lectures.topic import Shown, Table, Topic, grid
from markone.reporting.charts import Bars, Chart, Line, Points
from markone.reporting.grids import Grid, plain_number, signed_numbers

# ---- the activation

SPAM: reference.Vector = {"BIAS": -3, "free": 4, "money": 2}


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


# ---- the hyperplane

MESSAGES = ("free money", "free", "money", "money money", "see you")


def show_hyperplane() -> Shown:
    rows = []
    for message in MESSAGES:
        x: reference.Vector = {"BIAS": 1, **{word: message.split().count(word) for word in ("free", "money")}}
        a = reference.dot(SPAM, x)
        rows.append(
            [message, x["free"], x["money"], a, a / length((SPAM["free"], SPAM["money"])), "+1" if a > 0 else "-1"]
        )
    counts = [
        ((i, j), 1 if SPAM["free"] * i + SPAM["money"] * j + SPAM["BIAS"] > 0 else -1)
        for i in range(4)
        for j in range(4)
    ]
    line = boundary((SPAM["free"], SPAM["money"]), SPAM["BIAS"], "4·free + 2·money - 3 = 0")
    chart = plane(
        counts,
        line,
        title="Messages as points",
        names=("spam, +1", "not spam, -1"),
        x="free",
        y="money",
        limits=(-0.5, 3.5, -0.5, 3.5),
    )
    return Shown(grid(["message", "free", "money", "activation", "distance", "class"], rows), (chart,))


CORNERS = 4


def show_hyperplanes() -> Shown:
    kinds = {1: "a point", 2: "a line", 3: "a plane"}
    rows = []
    for m in range(1, CORNERS + 1):
        w, b = [1.0] * m, -0.5
        sums = [product(w, corner) + b for corner in combinations((0, 1), repeat=m)]
        equation = " + ".join(f"x{i}" for i in range(1, m + 1))
        kind = kinds.get(m, f"{m - 1}-dimensional")
        rows.append(
            [f"{equation} - 0.5 = 0", m, m - 1, kind, sum(one > 0 for one in sums), sum(one < 0 for one in sums)]
        )
    corners = [(corner, 1 if sum(corner) > 0.5 else -1) for corner in combinations((0, 1), repeat=2)]
    chart = plane(
        corners,
        boundary((1, 1), -0.5, "x1 + x2 - 0.5 = 0"),
        title="In two dimensions it is a line",
        limits=(-0.5, 1.5, -0.5, 1.5),
    )
    heads = ["hyperplane", "space", "own dimension", "it is", "corners +", "corners -"]
    return Shown(f"{grid(heads, rows)}\nThe corners are those of the unit cube.", (chart,))


# ---- the bias


def show_bias() -> Shown:
    with_bias = weights_in(run_of(THREE, bias=True))[-1]
    constant = [((1.0, *x), y) for x, y in THREE]
    as_feature = weights_in(run_of(constant))[-1]
    *w, b = with_bias
    rows = [[x, product(w, x) + b, (1, *x), product(as_feature, (1, *x))] for x, _ in THREE]
    lines = [boundary((1, -1), shift, f"b = {shift}", dashed=shift != 0) for shift in (-2, 0, 2)]
    return Shown(
        f"{grid(['x', 'w·x + b', '(1, x)', '(b, w)·(1, x)'], rows)}\n"
        f"A perceptron with a bias ends with w = {tuple(map(int, w))} and b = {plain_number(b)}. A perceptron without "
        f"one, on the same points with x0 = 1, ends with the weights {tuple(map(int, as_feature))}: the same model.",
        (plane(THREE, *lines, title="The bias moves the boundary x1 - x2 + b = 0"),),
    )


# ---- an offset, and how to remove it

APPLICANTS = (("Ada", 60, 10), ("Ben", 45, 20), ("Cleo", 50, 15), ("Dan", 30, 2), ("Eve", 30, 8))
CREDIT, OFFSET = (1, -2), 20


def applicants() -> Table:
    rows = [[*facts, "approve" if product(CREDIT, facts) >= OFFSET else "deny"] for _, *facts in APPLICANTS]
    return Table(["income", "debt", "credit"], rows)


def show_credit() -> Shown:
    rows = []
    for name, *facts in APPLICANTS:
        value = product(CREDIT, facts)
        rows.append([name, *facts, value, value >= OFFSET, "approve" if value >= OFFSET else "deny"])
    points = [
        ((income, debt), 1 if product(CREDIT, (income, debt)) >= OFFSET else -1) for _, income, debt in APPLICANTS
    ]
    chart = plane(
        points,
        boundary(CREDIT, -OFFSET, "income - 2·debt = 20"),
        title="The decision boundary {x: w·x = b}",
        names=("approve", "deny"),
        x="income",
        y="debt",
        limits=(20, 70, 0, 25),
    )
    return Shown(grid(["applicant", "income", "debt", "w·x", f"w·x ≥ {OFFSET}", "decision"], rows), (chart,))


W, B = 1, 2


def show_projection() -> Shown:
    numbers = range(-1, 6)
    rows = [[x, W * x - B, (1, x), product((-B, W), (1, x)), "approve" if W * x >= B else "deny"] for x in numbers]
    points = [((1, x), 1 if W * x >= B else -1) for x in numbers]
    line = boundary((-B, W), name="w̃·x̃ = -2·x0 + x = 0")
    chart = Chart(
        (line, Line([1, 1], [-1.5, 5.5], "all x have x0 = 1", 3, dashed=True), *plane(points, title="").parts),
        title="The numbers x at x0 = 1, and a boundary through the origin",
        x="x0",
        y="x",
        limits=(-0.5, 2.5, -1.5, 5.5),
    )
    return Shown(
        f"w = {W}, b = {B}, x̃ = (1, x), w̃ = (-b, w) = ({-B}, {W})\n"
        + grid(["x", "w·x - b", "x̃", "w̃·x̃", "decision"], rows),
        (chart,),
    )


UNIT = (0.6, 0.8)


def show_geometry() -> Shown:
    w: reference.Vector = dict(enumerate(UNIT))
    rows = []
    for x in ((3.0, 4.0), (2.0, 0.0), (4.0, -3.0), (-1.0, -1.0)):
        named: reference.Vector = dict(enumerate(x))
        cosine, size = reference.cosine(w, named), math.sqrt(reference.length2(named))
        angle = math.degrees(math.acos(max(-1.0, min(1.0, cosine))))
        rows.append(
            [tuple(map(int, x)), size, angle, size * cosine, product(UNIT, x), product([2 * one for one in UNIT], x)]
        )
    points = [((3, 4), 1), ((2, 0), 1), ((-1, -1), -1)]
    zero = Points([4], [-3], "distance 0", 2)
    arrow = Line([0, UNIT[0]], [0, UNIT[1]], "w", 3)
    distances = [
        Line(
            [x[0], x[0] - product(UNIT, x) * UNIT[0]],
            [x[1], x[1] - product(UNIT, x) * UNIT[1]],
            "distance",
            1,
            dashed=True,
        )
        for x, _ in points
    ]
    return Shown(
        grid(["x", "|x|", "angle θ", "|x| cos θ", "w·x", "2w·x"], rows)
        + "\nw = (0.6, 0.8) has length 1, so w·x is the distance to the boundary, negative on the other side. With 2w "
        "the boundary is the same, but the product is no longer the distance.",
        (
            plane(
                points,
                boundary(UNIT),
                arrow,
                *distances,
                zero,
                title="Distances from the boundary",
                limits=(-5, 5, -5, 5),
            ),
        ),
    )


# ---- what a score of 0 means

CONVENTIONS = (("negative", "000", "-1"), ("error", "001, 004", "0"), ("positive", "002", "+1"))


def show_sign() -> Shown:
    rows = []
    for tie, decks, sign in CONVENTIONS:
        run = run_of(THREE, tie=tie)
        path = ", ".join(str(tuple(map(int, w))) for w in weights_in(run))
        rows.append([decks, sign, sign != "+1", sign != "-1", run.mistakes, path])
    heads = ["lecture", "sign(0)", "+1 wrong", "-1 wrong", "mistakes", "w after each mistake"]
    steps = [Line([-3, 0], [-1, -1], "sign(z)", 2), Line([0, 3], [1, 1], "sign(z)", 2)]
    ends = [Points([0], [float(one)], f"{decks}: {one}", i) for i, (_, decks, one) in enumerate(CONVENTIONS)]
    chart = Chart((*steps, *ends), title="sign(z)", x="z", y="", limits=(-3, 3, -1.5, 1.5))
    return Shown(f"{grid(heads, rows)}\nThe runs visit {', '.join(f'{x} → {y:+d}' for x, y in THREE)}.", (chart,))


# ---- the hypothesis set


def show_hypotheses() -> Shown:
    angles = range(0, 360, 5)
    wrong = [mistakes((math.cos(math.radians(a)), math.sin(math.radians(a))), THREE) for a in angles]
    rows = [[f"{a}°", (math.cos(math.radians(a)), math.sin(math.radians(a))), wrong[a // 5]] for a in angles[::9]]
    right = [a for a, count in zip(angles, wrong, strict=True) if count == 0]
    final = weights_in(run_of(THREE, tie="negative"))[-1]
    angle = math.degrees(math.atan2(final[1], final[0])) % 360
    return Shown(
        f"{grid(['direction of w', 'w', 'mistakes'], rows)}\n"
        f"{len(right)} of these {len(wrong)} directions make no mistake: {right[0]}° to {right[-1]}°. The perceptron "
        f"chooses w = {tuple(map(int, final))}, at {angle:.0f}°.",
        (
            Chart(
                (
                    Line(list(angles), wrong, "mistakes on the three points", 1),
                    Points([angle], [0], "the perceptron's w", 0),
                ),
                title="Every direction of w is a hypothesis",
                x="direction of w in degrees",
                y="mistakes",
                limits=(0, 360, -0.2, 3.2),
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
        name="hyperplane",
        title="Binary decision rule: a weight vector is a hyperplane",
        claim="Examples are points in the space of feature vectors. The points with activation 0 are a hyperplane: on "
        "one side the class is +1, on the other side it is -1. The activation divided by the length of w (without the "
        "bias) is the distance from the hyperplane.",
        show=show_hyperplane,
        question="How often must “money” occur in a message without “free” before it is spam?",
        answer="Twice: 2·2 - 3 = 1 is positive, but 2·1 - 3 = -1 is not.",
        terms=("decision rule", "decision boundary", "hyperplane", "feature space", "sign", "bias"),
    ),
    Topic(
        name="hyperplanes",
        title="What is a hyperplane?",
        claim="A hyperplane has one dimension less than the space around it, and divides this space into two halves. "
        "It is a point on a line, a line in a plane, and a plane in the space of three dimensions.",
        show=show_hyperplanes,
        question="How many numbers describe a hyperplane in a space of m dimensions?",
        answer="m weights and a bias. All multiples of them describe the same hyperplane, so m numbers are enough.",
        terms=("hyperplane", "subspace", "ambient space", "dimension", "half space"),
    ),
    Topic(
        name="bias",
        title="Equation of a hyperplane: the bias as a weight of x0 = 1",
        claim="A hyperplane is the set of all x with w·x + b = 0. The bias b can be written as the weight of a feature "
        "x0 that is always 1. Both forms have the same activations, and the perceptron learns the same numbers.",
        show=show_bias,
        question="Which hyperplanes remain if there is no bias?",
        answer="Only those through the origin, because w·0 = 0.",
        terms=("bias", "intercept", "weight vector", "constant feature", "offset"),
        data=lambda: table_of(THREE),
        commands=("markone trace {data} --target label", "markone trace {data} --target label --no-bias"),
    ),
    Topic(
        name="credit",
        title="Linear classification: credit approval",
        claim="A linear function of the facts about an applicant makes the decision: approve if w·x ≥ b, and deny "
        "otherwise. The decision boundary is the hyperplane of all x with w·x = b. Here w = (1, -2) and b = 20.",
        show=show_credit,
        question="Cleo is exactly on the boundary. Why is her credit approved?",
        answer="The rule says “at least”: w·x = b = 20 is enough. With “greater than” it would be denied.",
        terms=("credit card approval", "linear function", "parametrized by weights", "decision boundary", "offset"),
        data=applicants,
        commands=("markone certify {data} --target credit", "markone train {data} --target credit --rule perceptron"),
    ),
    Topic(
        name="projective",
        title="Projective transformation: a rule without offset",
        claim="The rule “approve if w·x ≥ b” becomes a rule without offset if each example gets a first coordinate 1, "
        "and -b becomes its weight. The numbers x then lie on a line beside the origin, and the boundary is a line "
        "through the origin.",
        show=show_projection,
        question="Where does the boundary cut the line x0 = 1, and why?",
        answer="At x = 2. There w̃·x̃ = -2·1 + 1·2 = 0, as w·x - b is 0 at x = b / w = 2.",
        terms=("projective transformation", "feature transformation", "offset", "bias"),
    ),
    Topic(
        name="geometry",
        title="Geometry of classification: distance to the boundary",
        claim="If w has length 1, then w·x is the distance of x from the boundary, because w·x = |w| |x| cos θ, where "
        "θ is the angle between x and w.",
        show=show_geometry,
        question="Which points have the distance 0?",
        answer="Those at a right angle to w, where cos θ = 0, and the origin. In the table this is (4, -3).",
        terms=("inner product", "distance", "angle", "cosine", "unit length", "dot product"),
    ),
    Topic(
        name="sign",
        title="The sign function: what sign(0) means",
        claim="The lectures differ in what a score of 0 means. In 000 it is the class -1. In 001 sign(0) is 0, which "
        "is wrong for every label. In 004 it is wrong, too: an update is made if y·a ≤ 0. In 002 it is the class +1. "
        "With weights that start at 0, this decides the first step.",
        show=show_sign,
        question="Why does the run with sign(0) = +1 make a different first mistake?",
        answer="At w = 0 it predicts +1 for the first point, which is right. Its first mistake is the second point.",
        terms=("sign", "tie", "zero", "convention", "misclassified"),
        data=lambda: table_of(THREE),
        commands=tuple(f"markone trace {{data}} --target label --no-bias --tie {tie}" for tie, _, _ in CONVENTIONS),
    ),
    Topic(
        name="hypotheses",
        title="The hypothesis set: all functions sign(w·x)",
        claim="The hypothesis set contains the functions from which training chooses. For linear classifiers without a "
        "bias these are the functions sign(w·x), one for each direction of w.",
        show=show_hypotheses,
        question="Does the length of w matter for the hypothesis?",
        answer="No. sign(w·x) is the same for w and 2w, so a hypothesis is a direction.",
        terms=("hypothesis set", "candidate functions", "linear classifier", "hypothesis"),
        data=lambda: table_of(THREE),
        commands=("markone certify {data} --target label --no-bias",),
    ),
)
