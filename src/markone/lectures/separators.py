"""Topics on which separator to choose: margins, support vectors, generalisation, and losses."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

from markone.lectures.averaging import INSEPARABLE, averaged
from markone.lectures.margins import CLOSE, margin_of
from markone.lectures.planes import (
    AS_GIVEN,
    Example,
    best_separator,
    boundary,
    labels_of,
    length,
    made_points,
    mistakes,
    plane,
    product,
    rounded,
    rows_of,
    run_of,
    table_of,
    weights_in,
)
from markone.lectures.topic import Shown, Table, Topic, grid
from markone.reporting.charts import Bars, Chart, Line, Points
from markone.reporting.grids import plain_number

if TYPE_CHECKING:
    from collections.abc import Sequence


def target(x1: float, x2: float) -> float:
    """The function that the learner does not know."""
    return x1 + 0.5 * x2


def accuracy(w: Sequence[float], examples: Sequence[Example]) -> float:
    return 1 - mistakes(w, examples) / len(examples)


# ---- which separator

FEW = made_points(10, 12, target, gap=0.4)


def show_optimal() -> Shown:
    fresh = made_points(2000, 99, target)
    chance = random.Random(1)
    candidates: dict[str, tuple[float, ...]] = {}
    for number in range(1, 4):
        order = list(FEW)
        chance.shuffle(order)
        candidates[f"perceptron, order {number}"] = weights_in(run_of(order))[-1]
    candidates["largest margin"] = best_separator(FEW)[0]
    rows = [[name, mistakes(w, FEW), margin_of(w, 0.0, FEW), accuracy(w, fresh)] for name, w in candidates.items()]
    lines = [
        boundary(w, name=name, number=i, dashed=name != "largest margin")
        for i, (name, w) in enumerate(candidates.items())
    ]
    heads = ["separator", "training mistakes", "margin", "accuracy on new points"]
    return Shown(grid(heads, rows), (plane(FEW, *lines, title="Four separators of the same points"),))


DRAWS = 40


def show_barely() -> Shown:
    fresh = made_points(1000, 99, target)
    results: dict[str, list[tuple[float, float]]] = {
        "perceptron, last": [],
        "perceptron, averaged": [],
        "largest margin": [],
    }
    for seed in range(DRAWS):
        examples = made_points(12, seed, target)
        chosen = (weights_in(run_of(examples))[-1], averaged(examples, 10)[-1], best_separator(examples)[0])
        for name, w in zip(results, chosen, strict=True):
            results[name].append((margin_of(w, 0.0, examples), accuracy(w, fresh)))
    means = {name: [sum(one) / DRAWS for one in zip(*pairs, strict=True)] for name, pairs in results.items()}
    rows = [[name, *numbers] for name, numbers in means.items()]
    errors = [100 * (1 - numbers[1]) for numbers in means.values()]
    return Shown(
        f"{grid(['separator', 'mean margin', 'mean accuracy on new points'], rows)}\n{DRAWS} training sets "
        "of 12 points.",
        (Chart((Bars([*means], errors),), title="Errors on new points, in percent"),),
    )


def show_svm() -> Shown:
    from markone import certify, train

    model = train(rows_of(CLOSE), target=labels_of(CLOSE), rule="svm", C=1e6, tol=1e-9, features=AS_GIVEN)
    weights, bias = model.weight_arrays()
    w, b = tuple(map(float, weights[:, 0])), float(bias[0])
    rows = []
    for x, y in CLOSE:
        value = y * (product(w, x) + b)
        rows.append([x, f"{y:+d}", value, "support vector" if value < 1.001 else ""])
    support = [one for one, row in zip(CLOSE, rows, strict=True) if row[-1]]
    again = train(rows_of(support), target=labels_of(support), rule="svm", C=1e6, tol=1e-9, features=AS_GIVEN)
    same = tuple(map(float, again.weight_arrays()[0][:, 0]))
    edges = [boundary(w, b + shift, "y·(w·x + b) = 1", 3, dashed=True) for shift in (-1, 1)]
    chart = plane(CLOSE, boundary(w, b, "w·x + b = 0"), *edges, title="The largest margin, and its support vectors")
    marks = Points([x[0] for x, _ in support], [x[1] for x, _ in support], "support vectors", 4)
    proof = certify(rows_of(CLOSE), labels_of(CLOSE)).support
    needed = 0 if proof is None else len(proof.rows)
    return Shown(
        f"{grid(['x', 'y', 'y·(w·x + b) ≥ 1', ''], rows)}\n|w| = {plain_number(length(w))}, so the margin 1/|w| is "
        f"{plain_number(1 / length(w))}. From the support vectors alone the SVM learns the same w: {rounded(w, 3)} and "
        f"{rounded(same, 3)}. {len(support)} examples are support vectors; {needed} of them are enough to prove that "
        "no margin is larger, and markone certify counts only these.",
        (replace(chart, parts=(*chart.parts, marks)),),
    )


# ---- overtraining


def noisy_rows(count: int, seed: int) -> tuple[list[list[int]], list[int]]:
    """Return rows of 60 features, of which six matter, with a fifth of the labels wrong."""
    chance = random.Random(seed)
    effects = (2, -2, 1.5, -1.5, 1, -1)
    rows, labels = [], []
    for _ in range(count):
        row = [int(chance.random() < 0.2) for _ in range(60)]
        sign = 1 if sum(a * b for a, b in zip(effects, row, strict=False)) > 0 else -1
        rows.append(row)
        labels.append(-sign if chance.random() < 0.2 else sign)
    return rows, labels


PASSES, RUNS, NOISY_ROWS = 60, 10, 500


def overtraining_table() -> Table:
    rows, labels = noisy_rows(NOISY_ROWS, 0)
    return Table([*(f"x{i}" for i in range(60)), "label"], [[*row, y] for row, y in zip(rows, labels, strict=True)])


def show_overtraining() -> Shown:
    from markone import train

    held_out, trained, sizes = [0.0] * PASSES, [0.0] * PASSES, []
    for seed in range(RUNS):
        rows, labels = noisy_rows(NOISY_ROWS, seed)
        model = train(rows, target=labels, rule="perceptron", epochs=PASSES, holdout=0.8, seed=seed, features=AS_GIVEN)
        sizes.append(model.history.rows)
        for number in range(PASSES):
            one = model.history.passes[min(number, len(model.history.passes) - 1)]
            held_out[number] += (one.holdout_averaged or 0.0) / RUNS
            trained[number] += (1 - (one.mistakes or 0) / (model.history.rows)) / RUNS
    best = held_out.index(max(held_out)) + 1
    least, most = min(sizes), max(sizes)
    rows_shown = [
        [number, trained[number - 1], held_out[number - 1]] for number in sorted({1, 2, 3, 5, best, 10, 20, 40, PASSES})
    ]
    chart = Chart(
        (Line(list(range(1, PASSES + 1)), held_out, "held-out accuracy of the averaged weights", 0),),
        title="Held-out accuracy rises, then falls",
        x="pass",
        y="accuracy",
    )
    return Shown(
        f"{grid(['pass', 'right in training', 'held-out accuracy'], rows_shown)}\n“Right in training” is the share of "
        "visits in the pass without a mistake, by the weights of that moment. Held-out accuracy is that of the "
        f"averaged weights after the pass, and is best after pass {best}. These are the means of {RUNS} runs on "
        f"{NOISY_ROWS} examples each: by the random split, {least} or {most} train, and the others are held out.",
        (chart,),
    )


# ---- new data


def show_generalization() -> Shown:
    w = weights_in(run_of(made_points(40, 1, target)))[-1]
    kinds = {
        "training points": made_points(40, 1, target),
        "new points like them": made_points(2000, 2, target),
        "new points close to the boundary": [one for one in made_points(8000, 2, target) if abs(target(*one[0])) < 0.5],
        "new points, another rule": made_points(2000, 2, lambda x1, x2: x1 - 0.5 * x2),
    }
    shares = [accuracy(w, examples) for examples in kinds.values()]
    rows = [[name, len(examples), share] for (name, examples), share in zip(kinds.items(), shares, strict=True)]
    return Shown(
        grid(["data", "points", "accuracy"], rows),
        (Chart((Bars([*kinds], [100 * one for one in shares]),), title="Accuracy in percent"),),
    )


def show_schema() -> Shown:
    examples = made_points(20, 6, target)
    fresh = made_points(2000, 7, target)
    w = weights_in(run_of(examples))[-1]
    rows = [
        ["unknown target function f", "sign(x1 + 0.5·x2)"],
        ["training examples D", f"{len(examples)} points with labels f(x)"],
        ["hypothesis set H", "all functions sign(w·x)"],
        ["learning algorithm A", "the perceptron"],
        ["final hypothesis g", f"sign({plain_number(w[0])}·x1 + {plain_number(w[1])}·x2)"],
    ]
    lines = [
        boundary((1, 0.5), name="target function f", number=2, dashed=True),
        boundary(w, name="hypothesis g", number=3),
    ]
    return Shown(
        f"{grid(['component', 'here'], rows)}\ng = f on all training points: {mistakes(w, examples) == 0}. On 2,000 "
        f"new points g agrees with f in {accuracy(w, fresh):.1%}.".replace("True", "yes").replace("False", "no"),
        (plane(examples, *lines, title="The target function and the final hypothesis"),),
    )


# ---- how wrong is an imperfect classifier?


def losses_of(w: Sequence[float], examples: Sequence[Example]) -> tuple[int, float, float]:
    """Return the number of misclassifications, Σ max(-y w·x, 0) and Σ max(1 - y w·x, 0)."""
    margins = [y * product(w, x) for x, y in examples]
    return sum(m <= 0 for m in margins), sum(max(-m, 0.0) for m in margins), sum(max(1 - m, 0.0) for m in margins)


def show_losses() -> Shown:
    good = averaged(INSEPARABLE, 10)[-1]
    candidates = {
        "w, averaged perceptron": good,
        "2w": tuple(2 * one for one in good),
        "w / 10": tuple(one / 10 for one in good),
        "(1, -1)": (1.0, -1.0),
        "(0, 0)": (0.0, 0.0),
    }
    rows = [[name, *losses_of(w, INSEPARABLE)] for name, w in candidates.items()]
    margins = [i / 10 - 2 for i in range(41)]
    chart = Chart(
        (
            Line([-2, 0, 0, 2], [1, 1, 0, 0], "misclassified", 3),
            Line(margins, [max(-m, 0) for m in margins], "max(-m, 0)", 1),
            Line(margins, [max(1 - m, 0) for m in margins], "max(1 - m, 0)", 0, dashed=True),
        ),
        title="The loss of an example, by its margin m = y·w·x",
        x="margin m",
        y="loss",
    )
    return Shown(grid(["weights", "misclassified", "Σ max(-m, 0)", "Σ max(1 - m, 0)"], rows), (chart,))


TOPICS = (
    Topic(
        name="optimal",
        title="Linear separators: which of these linear separators is optimal?",
        claim="Many lines separate the same points without a mistake. They differ in their margins, and in how well "
        "they classify new points. The perceptron takes the first that it meets, which depends on the order "
        "of the points.",
        show=show_optimal,
        question="Which separator would you choose if you knew nothing but the training points?",
        answer="The one with the largest margin: small changes of the points do not change their class.",
        terms=("linear separators", "optimal", "margin", "separating line"),
        data=lambda: table_of(FEW),
        commands=("markone certify {data} --target label --no-bias",),
    ),
    Topic(
        name="barely-separating",
        title="Mediocre generalization: a “barely” separating solution",
        claim="The perceptron stops at the first weights without mistakes, however small their margin is. On new "
        "points it is worse than the separator with the largest margin.",
        show=show_barely,
        question="Why does the perceptron not look for a larger margin?",
        answer="It changes nothing as long as an example is right, even if it is very close to the boundary.",
        terms=("mediocre generalization", "barely separating", "maximum margin", "problems with the perceptron"),
        data=lambda: table_of(made_points(12, 0, target)),
        commands=(
            "markone certify {data} --target label --no-bias",
            "markone train {data} --target label --rule svm --C inf --no-bias --no-scaled",
        ),
    ),
    Topic(
        name="svm",
        title="Support vector machines: maximizing the margin",
        claim="The SVM finds the shortest w for which the right class wins by at least 1 on every example. This is the "
        "separator with the largest margin, 1/|w|. Only the examples that win by exactly 1, the "
        "support vectors, matter.",
        show=show_svm,
        question="Why does the shortest w have the largest margin?",
        answer="The closest examples have y·(w·x + b) = 1, so their distance is 1/|w|.",
        terms=("support vector machine", "SVM", "max margin", "support vectors", "maximizing the margin"),
        data=lambda: table_of(CLOSE),
        commands=(
            "markone train {data} --target label --rule svm --C 1000000 --no-scaled",
            "markone certify {data} --target label",
        ),
    ),
    Topic(
        name="overtraining",
        title="Overtraining: held-out accuracy rises, then falls",
        claim="With more and more passes the perceptron makes fewer mistakes on the training examples. Accuracy on "
        "held-out examples first rises and then falls, because the last mistakes are mostly noise. This is a "
        "kind of overfitting.",
        show=show_overtraining,
        question="How many passes should you make?",
        answer="As many as give the best held-out accuracy. --patience stops there, and restores the best weights.",
        terms=("overtraining", "overfitting", "held-out accuracy", "test accuracy", "early stopping"),
        data=overtraining_table,
        commands=(
            "markone train {data} --target label --rule perceptron --holdout 0.8 --epochs 60 --no-scaled",
            "markone train {data} --target label --rule perceptron --holdout 0.8 --epochs 60 --no-scaled --patience 3",
        ),
    ),
    Topic(
        name="generalization",
        title="Generalization: how well will our classifier do on new data?",
        claim="If nothing is known about the new data, there is no guarantee. If they come from the same distribution "
        "as the training data, accuracy on them can be estimated, and is often a little lower.",
        show=show_generalization,
        question="How can you estimate accuracy on new data without new data?",
        answer="Hold out some of the labelled examples, or use cross-validation: markone validate.",
        terms=("generalization", "new data", "no guarantees", "statistically like the old", "held-out"),
        data=lambda: table_of(made_points(40, 1, target)),
        commands=("markone validate {data} --target label --rule perceptron --folds 5",),
    ),
    Topic(
        name="schema",
        title="Schema for supervised learning",
        claim="An unknown target function f labels the training examples. A learning algorithm chooses from a "
        "hypothesis set the function that fits them. This final hypothesis g should be close to f, also "
        "on other points.",
        show=show_schema,
        question="Which parts of the schema do you choose?",
        answer="The hypothesis set and the learning algorithm. The target function is unknown, and the "
        "examples are given.",
        terms=(
            "supervised learning",
            "target function",
            "training examples",
            "hypothesis set",
            "learning algorithm",
            "final hypothesis",
        ),
        data=lambda: table_of(made_points(20, 6, target)),
        commands=("markone trace {data} --target label --no-bias --only-mistakes --epochs 1000 --steps 1000",),
    ),
    Topic(
        name="losses",
        title="How to measure the quality of an imperfect linear classifier?",
        claim="The number of misclassifications does not say how wrong they are. The sum of max(-y·w·x, 0) does, but "
        "it is also 0 for w = 0, and small for short w. The sum of max(1 - y·w·x, 0), the hinge loss, asks for margins "
        "of at least 1.",
        show=show_losses,
        question="Which of the three losses change if w is multiplied by 2?",
        answer="The last two. The number of misclassifications depends only on the direction of w.",
        terms=("number of misclassifications", "size of misclassifications", "loss", "hinge", "imperfect classifier"),
        data=lambda: table_of(INSEPARABLE),
        commands=("markone train {data} --target label --rule hinge --no-bias",),
    ),
)
