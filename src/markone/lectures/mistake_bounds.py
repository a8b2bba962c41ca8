"""Topics on the convergence of the perceptron: the mistake bound, its proof step by step, and what it does not say."""

from __future__ import annotations

import math

from markone.lectures.planes import (
    Example,
    labels_of,
    length,
    plane,
    product,
    rows_of,
    run_of,
    table_of,
)
from markone.lectures.planes import boundary as line_of
from markone.lectures.proofs import HARD, facts, proof_of
from markone.lectures.topic import Shown, Topic, grid
from markone.reporting.charts import Chart, Line
from markone.reporting.grids import plain_number

# ---- the theorem


def show_bound() -> Shown:
    from markone import certify

    proof = proof_of(HARD)
    rows = []
    for name, examples in (
        ("in the given order", HARD),
        ("in reverse order", HARD[::-1]),
        ("sorted by x1", sorted(HARD)),
        ("by label, then x1", sorted(HARD, key=lambda one: (one[1], one[0]))),
    ):
        rows.append([name, run_of(examples).mistakes, math.floor(proof.bound)])
    found = certify(rows_of(HARD), labels_of(HARD), bias=False, tol=1e-6)
    chart = plane(HARD, line_of(proof.best, name="w*·x = 0"), title="The points and their best separator")
    return Shown(f"{found}\n\n{grid(['visits', 'mistakes', 'bound R²/γ²'], rows)}", (chart,))


def show_induction() -> Shown:
    proof = proof_of(HARD)
    rows = [[k, k * k * proof.gamma**2, proof.squares[k - 1], k * proof.R**2] for k in proof.some]
    end = proof.bound * 1.05
    ks = [end * i / 60 for i in range(61)]
    chart = Chart(
        (
            Line(ks, [k * k * proof.gamma**2 for k in ks], "k²γ²", 1, dashed=True),
            Line(ks, [k * proof.R**2 for k in ks], "kR²", 2, dashed=True),
            Line(proof.counts, proof.squares, "|w|²", 0),
        ),
        title="The two bounds meet at k = R²/γ², where mistakes must end",
        x="mistakes k",
        y="",
        limits=(0, end, 0, end * proof.R**2),
    )
    return Shown(f"{grid(['k', 'k²γ²', '|w|²', 'kR²'], rows)}\n{facts(proof)}", (chart,))


def show_lower() -> Shown:
    proof = proof_of(HARD)
    rows = [[k, k * proof.gamma, proof.aligned[k - 1], length(proof.w[k - 1])] for k in proof.some]
    ks = [float(k) for k in proof.counts]
    chart = Chart(
        (
            Line(ks, [k * proof.gamma for k in ks], "kγ", 1, dashed=True),
            Line(ks, proof.aligned, "w·w*", 0),
        ),
        title="w·w* grows by at least γ at each mistake",
        x="mistakes k",
    )
    return Shown(f"{grid(['k', 'kγ', 'w·w*', '|w|'], rows)}\nIn each row kγ ≤ w·w* ≤ |w|. {facts(proof)}", (chart,))


def show_upper() -> Shown:
    proof = proof_of(HARD)
    before = [0.0, *proof.squares]
    rows = [
        [k, before[k - 1], proof.squares[k - 1], proof.squares[k - 1] - before[k - 1], k * proof.R**2]
        for k in proof.some
    ]
    ks = [float(k) for k in proof.counts]
    chart = Chart(
        (
            Line(ks, [k * proof.R**2 for k in ks], "kR²", 2, dashed=True),
            Line(ks, proof.squares, "|w|²", 0),
        ),
        title="|w|² grows by at most R² at each mistake",
        x="mistakes k",
    )
    largest = max(after - start for start, after in zip(before, proof.squares, strict=False))
    return Shown(
        f"{grid(['k', '|w|² before', '|w|² after', 'growth', 'kR²'], rows)}\nThe largest growth is "
        f"{plain_number(largest)}, and R² = {plain_number(proof.R**2)}.",
        (chart,),
    )


# ---- the same proof with any separator, and with angles


def show_any_separator() -> Shown:
    proof = proof_of(HARD)
    rows, angles, bounds = [], [], []
    start = math.degrees(math.atan2(proof.best[1], proof.best[0]))
    for turn in [i / 8 for i in range(-32, 33)]:
        w = tuple(3 * one for one in (math.cos(math.radians(start + turn)), math.sin(math.radians(start + turn))))
        rho = min(y * product(w, x) for x, y in HARD)
        if rho > 0:
            angles.append(turn)
            bounds.append((length(w) * proof.R / rho) ** 2)
            rows.append([f"{turn:+.1f}°", length(w), rho, bounds[-1]])
    shown = rows[:: max(1, len(rows) // 6)]
    chart = Chart(
        (
            Line(angles, [math.log10(one) for one in bounds], "log10 of the bound", 1),
            Line([angles[0], angles[-1]], [math.log10(len(proof.w))] * 2, "log10 of the mistakes", 0, dashed=True),
        ),
        title="The bound that each separator proves",
        x="angle between w♮ and the best separator, in degrees",
    )
    return Shown(
        f"{grid(['w♮ turned by', '|w♮|', 'ρ', '(|w♮|R/ρ)²'], shown)}\nThe run made {len(proof.w)} mistakes. Every "
        "separator w♮ gives a true bound, and the one with the largest margin gives the least.",
        (chart,),
    )


def show_angle() -> Shown:
    proof = proof_of(HARD)
    rows = [
        [k, proof.aligned[k - 1], length(proof.w[k - 1]), math.sqrt(k) * proof.R, proof.angles[k - 1]]
        for k in proof.some
    ]
    chart = Chart(
        (Line(proof.counts, proof.angles, "angle between w and w*, in degrees", 0),),
        title="The angle falls",
        x="mistakes k",
        y="degrees",
    )
    return Shown(f"{grid(['k', 'w·w*', '|w|', '√k R', 'angle'], rows)}\n{facts(proof)}", (chart,))


def show_theorem() -> Shown:
    largest = max(length(x) for x, _ in HARD)
    scaled: list[Example] = [(tuple(one / largest for one in x), y) for x, y in HARD]
    rows = []
    for name, examples in (("as they are", HARD), ("divided by R", scaled)):
        proof = proof_of(examples)
        rows.append([name, proof.R, proof.gamma, 1 / proof.gamma**2, proof.bound, len(proof.w)])
    proof = proof_of(scaled)
    ks = [float(k) for k in proof.counts]
    chart = Chart(
        (
            Line(ks, [math.sqrt(k) for k in ks], "√k", 2, dashed=True),
            Line(ks, [length(w) for w in proof.w], "|w|", 0),
            Line(ks, proof.aligned, "w·w*", 3),
            Line(ks, [k * proof.gamma for k in ks], "kγ", 1, dashed=True),
        ),
        title="√k ≥ |w| ≥ w·w* ≥ kγ, for examples with |x| ≤ 1",
        x="updates k",
    )
    return Shown(
        f"{grid(['examples', 'R', 'γ', '1/γ²', 'R²/γ²', 'mistakes'], rows)}\nScaling changes R and γ by the same "
        "factor, so R²/γ² and the mistakes stay the same. 1/γ² is the bound only if R is 1.",
        (chart,),
    )


TOPICS = (
    Topic(
        name="mistake-bound",
        title="Mistake bound for the perceptron",
        claim="If a separator w* of length 1 has the margin γ on all examples, and no example is longer than R, then "
        "the perceptron makes at most R²/γ² mistakes, in whatever order the examples come.",
        show=show_bound,
        question="Does the bound depend on the number of examples or of features?",
        answer="No, only on R and γ. A thousand copies of the data have the same bound.",
        terms=("mistake bound", "parameter updates", "margin", "separable", "theorem"),
        data=lambda: table_of(HARD),
        commands=(
            "markone certify {data} --target label --no-bias",
            "markone trace {data} --target label --no-bias --theory --epochs 100 --steps 100",
        ),
    ),
    Topic(
        name="induction",
        title="Perceptron convergence (by induction): k²γ² ≤ |w|² ≤ kR²",
        claim="After the k-th mistake |w|² is at least k²γ² and at most kR². A square grows faster than a line, so k "
        "cannot go beyond the point where both meet, R²/γ². If there is a separator, the perceptron finds one.",
        show=show_induction,
        question="Why does the number of updates not depend on how long you train?",
        answer="R and γ are properties of the data and do not change during training.",
        terms=("convergence", "induction", "finite number of updates", "mistake bound"),
        data=lambda: table_of(HARD),
        commands=("markone trace {data} --target label --no-bias --theory --epochs 100 --steps 100",),
    ),
    Topic(
        name="lower-bound",
        title="Lower bound, proof of convergence (I): kγ ≤ w·w*",
        claim="Each mistake adds y·x to w, and so at least γ to w·w*. After k mistakes w·w* is at least kγ: the "
        "weights become aligned with w*. Since |w*| is 1, |w| is at least as large.",
        show=show_lower,
        question="At which mistakes does w·w* grow by exactly γ?",
        answer="At mistakes on support vectors, the examples that are closest to the best boundary.",
        terms=("lower bound", "aligned", "induction", "Cauchy-Schwarz", "w* · w increases"),
        data=lambda: table_of(HARD),
        commands=("markone trace {data} --target label --no-bias --theory --epochs 100 --steps 100",),
    ),
    Topic(
        name="upper-bound",
        title="Upper bound, proof of convergence (II): |w|² ≤ kR²",
        claim="At a mistake y·w·x is not positive, so |w + y·x|² = |w|² + 2y·w·x + |x|² is at most |w|² + R². The "
        "weights cannot grow quickly.",
        show=show_upper,
        question="Why can |w|² fall at a mistake?",
        answer="If y·w·x is below -|x|²/2, the mistake was large, and the update shortens w.",
        terms=("upper bound", "norm", "length of w", "induction"),
        data=lambda: table_of(HARD),
        commands=("markone trace {data} --target label --no-bias --theory --epochs 100 --steps 100",),
    ),
    Topic(
        name="any-separator",
        title="Proof of convergence (III): t ≤ (|w♮|R/ρ)² for any separator",
        claim="Let w♮ be any separator, of any length, and ρ its smallest margin. By the inequality of Cauchy and "
        "Schwarz ρt ≤ w♮·w ≤ |w♮| |w| ≤ |w♮| √t R, so there are at most (|w♮|R/ρ)² mistakes. This limits "
        "the running time.",
        show=show_any_separator,
        question="Why does the length of w♮ not matter?",
        answer="ρ grows with w♮, so that |w♮|/ρ stays the same.",
        terms=("proof of convergence", "Cauchy-Schwartz", "maximum running time", "any separator"),
        data=lambda: table_of(HARD),
        commands=("markone certify {data} --target label --no-bias",),
    ),
    Topic(
        name="angle",
        title="The angle between w and w* decreases",
        claim="w·w* = |w| |w*| cos θ grows with every update. It could grow because w gets longer, but |w| grows only "
        "like √k. The main reason is that the angle θ between w and w* falls.",
        show=show_angle,
        question="Does the angle fall at every single update?",
        answer="No. w·w* grows at every update, but |w| may grow by more. Over many updates the angle must fall.",
        terms=("angle", "w gets longer", "cosine", "aligned", "convergence outline"),
        data=lambda: table_of(HARD),
        commands=("markone trace {data} --target label --no-bias --theory --epochs 100 --steps 100",),
    ),
    Topic(
        name="convergence-theorem",
        title="Perceptron convergence theorem: at most 1/γ² updates if |x| ≤ 1",
        claim="On data with margin γ, whose examples have at most the length 1, the perceptron converges after at most "
        "1/γ² updates, because √k ≥ |w| ≥ w·w* ≥ kγ. Any data can be scaled to length 1.",
        show=show_theorem,
        question="Does scaling the data make the perceptron converge sooner?",
        answer="No. All weights are scaled by the same factor, and every prediction is the same.",
        terms=(
            "convergence theorem",
            "linearly separable",
            "updates",
            "Cauchy-Schwarz inequality",
            "putting things together",
        ),
        data=lambda: table_of(HARD),
        commands=("markone certify {data} --target label --no-bias",),
    ),
)
