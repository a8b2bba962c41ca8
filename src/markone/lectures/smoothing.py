"""Topics on the estimation of probabilities: maximum likelihood, Laplace smoothing, Dirichlet priors, interpolation."""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction

import numpy as np

from markone import reference
from markone.lectures.mail import CLASSES, HAM, SPAM, counts_of, table_of, texts_of
from markone.lectures.overfitting import WORDS, accuracies, sets, training_table
from markone.lectures.topic import Shown, Table, Topic
from markone.reporting.charts import Bars, Chart, Line, Points
from markone.reporting.grids import Grid

DRAWS: dict[Hashable, int] = {"r": 2, "b": 1}
"""The draws of the lecture: red, red, blue."""

# ---- estimates


def likelihood(theta: float) -> float:
    """The likelihood of the draws if red has probability theta."""
    return theta ** DRAWS["r"] * (1 - theta) ** DRAWS["b"]


def show_likelihood() -> Shown:
    best = reference.maximum_likelihood(DRAWS)["r"]
    grid = [i / 100 for i in range(101)]
    on_grid = max(grid, key=likelihood)
    rows = [[str(theta), f"{likelihood(float(theta)):.4f}"] for theta in (Fraction(1, 2), best, Fraction(9, 10))]
    return Shown(
        f"{Grid([['P(r)', 'likelihood of r, r, b']], rows)}\n"
        f"count(r) / total = {best}; the largest likelihood of 101 tried values is at {on_grid:.2f}.",
        (
            Chart(
                (
                    Line(grid, [likelihood(theta) for theta in grid], "likelihood", 0),
                    Points([float(best)], [likelihood(float(best))], "maximum", 0),
                ),
                title="The likelihood of r, r, b",
                x="P(r)",
                y="L",
                limits=(0, 1, 0, 0.16),
            ),
        ),
    )


STRENGTHS = (0, 1, 100)


def show_laplace() -> Shown:
    rows = [
        [
            f"k = {k}",
            *(str(reference.laplace(DRAWS, k)[x]) for x in DRAWS),
            f"{float(reference.laplace(DRAWS, k)['r']):.4f}",
        ]
        for k in STRENGTHS
    ]
    unseen: dict[Hashable, int] = {**DRAWS, "green": 0}
    with_green = {k: reference.laplace(unseen, k) for k in (0, 1)}
    more = [[f"k = {k}", *(str(table[x]) for x in unseen)] for k, table in with_green.items()]
    ks = [10 ** (i / 10) for i in range(-20, 31)]
    return Shown(
        f"{Grid([['draws r, r, b', 'P(r)', 'P(b)', 'P(r) as a decimal']], rows)}\n\n"
        f"With a third colour that was never drawn\n{Grid([['', *(f'P({x})' for x in unseen)]], more)}",
        (
            Chart(
                (
                    Line([math.log10(k) for k in ks], [float(reference.laplace(DRAWS, k)["r"]) for k in ks], "P(r)", 0),
                    Line([-2, 3], [0.5, 0.5], "uniform", 1, dashed=True),
                ),
                title="Laplace: the larger k, the nearer to uniform",
                x="log10 of k",
                y="P(r)",
                limits=(-2, 3, 0.45, 0.7),
            ),
        ),
    )


def draws_table() -> Table:
    return Table(["draw"], [[x] for x in "rrb"])


def show_conditionals() -> Shown:
    training, _, _ = sets()
    vocabulary, counts = counts_of(training)
    words = ("free", "meeting", "nation", "screens")
    sizes = {label: sum(counts[label].values()) for label in CLASSES}
    rows, bars, names = [], [], []
    for word in words:
        for label in CLASSES:
            estimates = [reference.laplace(counts[label], k)[word] for k in (0, 1)]
            rows.append([f"P({word}|{label})", str(counts[label][word]), *(f"{float(p):.5f}" for p in estimates)])
            names.append(f"{word}|{label}")
            bars.append(float(estimates[1]))
    return Shown(
        f"c({HAM}) = {sizes[HAM]} words, c({SPAM}) = {sizes[SPAM]} words, |X| = {len(vocabulary)} different words\n"
        f"{Grid([['estimate', 'c(x, y)', 'k = 0', 'k = 1']], rows)}",
        (Chart((Bars(names, bars),), title="(c(x, y) + 1) / (c(y) + |X|)"),),
    )


# ---- the prior behind Laplace's estimate


def log_posterior(theta: float, k: float) -> float:
    """ln P(draws|theta) + ln of a Dirichlet density with both parameters k + 1, without constants."""
    return (DRAWS["r"] + k) * math.log(theta) + (DRAWS["b"] + k) * math.log(1 - theta)


def posterior_mode(k: float) -> float:
    """Return the most likely theta, found numerically."""
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(lambda theta: -log_posterior(theta, k), bounds=(1e-9, 1 - 1e-9), method="bounded")
    return float(found.x)


def posterior_mean(k: float) -> float:
    """Return the mean of theta under a Dirichlet prior with both parameters k, by numerical integration."""
    theta = (np.arange(200_000) + 0.5) / 200_000
    density = theta ** (DRAWS["r"] + k - 1) * (1 - theta) ** (DRAWS["b"] + k - 1)
    return float((theta * density).sum() / density.sum())


def show_dirichlet() -> Shown:
    rows = []
    for k in (1, 5, 100):
        estimate = reference.laplace(DRAWS, k)["r"]
        numbers = (float(estimate), posterior_mode(k), posterior_mean(k))
        rows.append([f"k = {k}", str(estimate), *(f"{value:.4f}" for value in numbers)])
    head = [
        ["", "", "", "mode with prior", "mean with prior"],
        ["Laplace", "P(r)", "", "Dirichlet(k + 1)", "Dirichlet(k)"],
    ]
    grid = [i / 200 for i in range(1, 200)]

    def density(k: int) -> list[float]:
        top = log_posterior(posterior_mode(k), k)
        return [math.exp(log_posterior(theta, k) - top) for theta in grid]

    return Shown(
        str(Grid(head, rows)),
        (
            Chart(
                (
                    Line(grid, density(0), "k = 0: the likelihood", 0),
                    Line(grid, density(5), "k = 5", 1, dashed=True),
                    Line(grid, density(100), "k = 100", 2),
                ),
                title="P(θ|r, r, b) with the prior Dirichlet(k + 1), largest value 1",
                x="θ = P(r)",
                y="density",
                limits=(0, 1, 0, 1.05),
            ),
        ),
    )


# ---- interpolation and tuning

ALPHAS = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)


def show_interpolation() -> Shown:
    from markone import read, train

    training, held_out, _ = sets()
    texts, labels = texts_of(training)
    source = read(texts, target=labels)
    _, counts = counts_of(training)
    own = reference.maximum_likelihood(counts[SPAM])
    general = reference.maximum_likelihood({w: counts[HAM][w] + counts[SPAM][w] for w in counts[SPAM]})
    rows, curve = [], []
    for alpha in ALPHAS:
        model = train(source, rule="naive-bayes", alpha=alpha, features=WORDS)
        curve.append(model.accuracy(*texts_of(held_out)))
        mixed = reference.interpolated(own, general, alpha)
        rows.append(
            [f"{alpha:g}", *(f"{float(mixed[word]):.5f}" for word in ("free", "meeting", "nation")), f"{curve[-1]:.3f}"]
        )
    return Shown(
        f"{Grid([['α', 'P(free|spam)', 'P(meeting|spam)', 'P(nation|spam)', 'held-out accuracy']], rows)}",
        (
            Chart(
                (Points([*ALPHAS], curve, "held-out", 0), Line([*ALPHAS], curve, "", 0)),
                title="Accuracy on held-out messages by α",
                x="α",
                y="accuracy",
            ),
        ),
    )


def show_tuning() -> Shown:
    training, held_out, test = sets()
    strengths = [10 ** (i / 4) for i in range(-12, 7)]
    found = accuracies(strengths, training, held_out, test)
    best = max(range(len(strengths)), key=lambda i: found[i][1])
    rows = [
        [f"{strengths[i]:.3g}", *(f"{value:.3f}" for value in found[i][:2]), "chosen" if i == best else ""]
        for i in sorted({0, 4, 8, best, 16, 18})
    ]
    return Shown(
        f"{Grid([['k', 'training', 'held-out', '']], rows)}\n"
        f"The test accuracy, looked at once, with k = {strengths[best]:.3g}: {found[best][2]:.3f}.",
        (
            Chart(
                (
                    Line([math.log10(k) for k in strengths], [row[0] for row in found], "training", 0),
                    Line([math.log10(k) for k in strengths], [row[1] for row in found], "held-out", 1, dashed=True),
                    Points([math.log10(strengths[best])], [found[best][1]], "chosen", 0),
                ),
                title="k is tuned on held-out messages",
                x="log10 of k",
                y="accuracy",
            ),
        ),
    )


def held_out_table() -> Table:
    training, held_out, _ = sets()
    return table_of([*training, *held_out])


TOPICS = (
    Topic(
        name="maximum-likelihood",
        title="Maximum likelihood: relative frequencies",
        claim="From the draws r, r, b, the maximum likelihood estimate is P(r) = count / total = 2/3: the value that "
        "maximises the likelihood of the data, θ·θ·(1 - θ).",
        show=show_likelihood,
        question="What is the maximum likelihood estimate after a single draw r?",
        answer="P(r) = 1 and P(b) = 0: one draw would prove that blue is impossible.",
        terms=("maximum likelihood", "empirical rate", "relative frequencies", "likelihood of the data"),
        data=draws_table,
    ),
    Topic(
        name="laplace",
        title="Unseen events: Laplace smoothing",
        claim="Pretend you saw every outcome k more times than you did: (c(x) + k) / (N + k|X|). From r, r, b: 2/3 "
        "with k = 0, 3/5 with k = 1, and 102/203 with k = 100. k is the strength of the prior.",
        show=show_laplace,
        question="What is Laplace with k = 0, and what does it approach for large k?",
        answer="k = 0 is maximum likelihood. For large k the data no longer matter, and the estimate approaches the "
        "uniform distribution.",
        terms=("Laplace smoothing", "Laplace's estimate", "strength of the prior", "unseen events", "smoothing"),
        data=draws_table,
    ),
    Topic(
        name="dirichlet",
        title="Laplace as MAP with Dirichlet priors",
        claim="The most likely parameter given the data (MAP) maximises P(X|θ)P(θ). With a Dirichlet prior with "
        "parameters k + 1, it is Laplace's estimate. The posterior mean with a Dirichlet prior with parameters k is "
        "the same number. Both are computed numerically.",
        show=show_dirichlet,
        question="Which prior gives maximum likelihood?",
        answer="Dirichlet(1), the uniform density: then the posterior is proportional to the likelihood, and its mode "
        "is the relative frequency.",
        terms=("MAP", "Dirichlet prior", "posterior", "maximum a posteriori", "prior"),
        data=draws_table,
    ),
    Topic(
        name="conditionals",
        title="Laplace for conditionals",
        claim="Each condition is smoothed alone: (c(x, y) + k) / (c(y) + k|X|). A word that never occurred in a class "
        "gets a small probability there, which is larger for the class with fewer words.",
        show=show_conditionals,
        question="Why does Laplace smoothing often perform poorly if |X| is very large?",
        answer="k|X| then outweighs c(y): most of the probability goes to words that were never seen, and the "
        "estimates become nearly uniform.",
        terms=("Laplace for conditionals", "conditional probability", "smooth each condition"),
        data=training_table,
        commands=("markone train {data} --target label --rule naive-bayes --k 1",),
    ),
    Topic(
        name="interpolation",
        title="Estimation: linear interpolation",
        claim="The estimate α·P(x|y) + (1 - α)·P(x) stays near the empirical P(x) of all classes. It is another option "
        "if |X| or |Y| is very large.",
        show=show_interpolation,
        question="What if α is 0? What if it is 1?",
        answer="With α = 0 all classes have the same table, so only the prior decides. With α = 1 it is maximum "
        "likelihood, with its zeros.",
        terms=("linear interpolation", "α", "empirical P(X)", "smoothing"),
        data=held_out_table,
        commands=(
            "markone validate {data} --target label --rule naive-bayes --alpha 0.5",
            "markone validate {data} --target label --rule naive-bayes --alpha 1",
        ),
    ),
    Topic(
        name="tuning",
        title="Tune hyper-parameters on the held-out set",
        claim="The strength k is a hyper-parameter: it is chosen by the accuracy on held-out messages, because the "
        "training messages would always prefer a small k.",
        show=show_tuning,
        question="Why may the accuracy on the held-out set be too high as an estimate?",
        answer="k was chosen to be best on these messages. The test set, which played no part, gives the estimate that "
        "can be trusted.",
        terms=("tune", "hyper-parameters", "held-out", "smoothing strength", "regularize"),
        data=held_out_table,
        commands=("markone train {data} --target label --rule naive-bayes --tune",),
    ),
)
"""Topics of the lecture on learning and generalisation."""
