"""Topics on zero probabilities: digits, and odds ratios of words before and after smoothing."""

from __future__ import annotations

import math

from markone import reference
from markone.lectures.mail import CLASSES, HAM, SPAM, counts_of
from markone.lectures.overfitting import sets, training_table
from markone.lectures.topic import Shown, Table, Topic
from markone.reporting.charts import Bars, Chart
from markone.reporting.grids import Grid

# ---- digits

PIXELS = [("on", 0.8, 0.8), ("on", 0.1, 0.9), ("off", 0.1, 0.7), ("on", 0.01, 0.0)]
"""Four pixels of an image: what is seen, and its probability if the digit is a 2 or a 3."""
PRIOR = 0.1
IMAGES = 100
"""How many images of each digit the probabilities are supposed to be counted from."""


def digit_products(k: float) -> list[tuple[float, float]]:
    """Return the products for 2 and 3 after the prior and after each pixel, with Laplace smoothing of strength k.

    >>> [float(f"{p:.3g}") for p in digit_products(0)[-1]]
    [8e-06, 0.0]
    """
    found = [(PRIOR, PRIOR)]
    for _, *both in PIXELS:
        two, three = ((p * IMAGES + k) / (IMAGES + 2 * k) for p in both)
        found.append((found[-1][0] * two, found[-1][1] * three))
    return found


def show_digits() -> Shown:
    plain, smooth = digit_products(0), digit_products(1)
    names = ["P(C)", *(f"P({seen}|C)" for seen, *_ in PIXELS)]
    factors = [(PRIOR, PRIOR), *((p, q) for _, p, q in PIXELS)]
    rows = [
        [name, f"{p:g}", f"{q:g}", *(f"{value:.3g}" for value in (*plain[i], *smooth[i]))]
        for i, (name, (p, q)) in enumerate(zip(names, factors, strict=True))
    ]
    head = [
        ["", "", "", *["product"] * 4],
        ["", "", "", "k = 0", "k = 0", "k = 1", "k = 1"],
        ["factor", "C = 2", "C = 3", "C = 2", "C = 3", "C = 2", "C = 3"],
    ]
    winners = ["2" if last[0] > last[1] else "3" for last in (plain[-1], smooth[-1])]
    return Shown(
        f"{Grid(head, rows)}\nWithout smoothing {winners[0]} wins. With k = 1, {winners[1]} wins, if the "
        f"probabilities\nwere counted from {IMAGES} images of each digit.",
        (
            Chart(
                (
                    Bars(
                        ["2, k = 0", "3, k = 0", "2, k = 1", "3, k = 1"],
                        [math.log10(max(p, 1e-12)) + 12 for p in (*plain[-1], *smooth[-1])],
                    ),
                ),
                title="log10 of the product, plus 12 (a probability of 0 has no bar)",
            ),
        ),
    )


def pixel_table() -> Table:
    return Table(["pixel", "P(seen|2)", "P(seen|3)"], PIXELS)


# ---- odds

TOP = 6


def odds_tables(k: int) -> dict[str, list[tuple[str, float]]]:
    """Return the words with the largest odds for each class. Among equal odds, frequent words come first."""
    training, _, _ = sets()
    vocabulary, counts = counts_of(training)
    table = {label: reference.laplace(counts[label], k) for label in CLASSES}
    found = {}
    for a, b in ((HAM, SPAM), (SPAM, HAM)):
        odds = {w: float(table[a][w] / table[b][w]) if table[b][w] else math.inf for w in vocabulary}
        best = sorted(vocabulary, key=lambda w: (-odds[w], -counts[a][w]))
        found[a] = [(word, odds[word]) for word in best]
    return found


def odds_rows(found: dict[str, list[tuple[str, float]]]) -> list[list[str]]:
    return [
        [*(cell for word, odds in pair for cell in (word, f"{odds:.1f}"))]
        for pair in zip(found[HAM][:TOP], found[SPAM][:TOP], strict=True)
    ]


ODDS_HEAD = [["P(W|ham) / P(W|spam)", "", "P(W|spam) / P(W|ham)", ""]]


def show_odds() -> Shown:
    found = odds_tables(0)
    infinite = {label: sum(math.isinf(odds) for _, odds in table) for label, table in found.items()}
    _, counts = counts_of(sets()[0])
    words = [(word, label) for label in CLASSES for word, _ in found[label][:TOP]]
    return Shown(
        f"{Grid(ODDS_HEAD, odds_rows(found))}\n{infinite[HAM]} words have infinite odds for ham, and "
        f"{infinite[SPAM]} for spam.",
        (
            Chart(
                (
                    Bars(
                        [f"{word} in {label}" for word, label in words], [counts[label][word] for word, label in words]
                    ),
                ),
                title="How often these words occurred in training",
            ),
        ),
    )


def show_smoothed_odds() -> Shown:
    found = odds_tables(1)
    best = [*found[SPAM][:TOP], *((word, 1 / odds) for word, odds in found[HAM][:TOP])]
    return Shown(
        str(Grid(ODDS_HEAD, odds_rows(found))),
        (
            Chart(
                (Bars([word for word, _ in best], [math.log(odds) for _, odds in best]),),
                title="ln P(W|spam) / P(W|ham), with Laplace smoothing (k = 1)",
            ),
        ),
    )


TOPICS = (
    Topic(
        name="two-wins",
        title="Example: overfitting, “2 wins!!”",
        claim="A single pixel that was never on in a training image of a 3 has P(on|3) = 0.0. This one factor makes "
        "the product 0, although every other pixel is evidence for a 3.",
        show=show_digits,
        question="How many other pixels would be needed to make 3 win without smoothing?",
        answer="No number is enough: a product with a factor of 0 is 0.",
        terms=("overfitting", "digit recognition", "pixel", "zero probability", "2 wins"),
        data=pixel_table,
    ),
    Topic(
        name="odds",
        title="Example: overfitting, odds ratios that are infinite",
        claim="Posteriors are determined by relative probabilities, the odds ratios. By relative frequencies, every "
        "word that occurs in one class only has infinite odds, even if it occurred only once.",
        show=show_odds,
        question="What went wrong here?",
        answer="“Never seen” is taken for “impossible”. One such word decides alone, whatever the rest of the message "
        "says. It is unlikely that every future “screens” is spam.",
        terms=("odds ratio", "south-west", "screens", "infinite odds", "overfitting"),
        data=training_table,
        commands=(
            "markone train {data} --target label --rule naive-bayes --k 0 -o odds.model",
            "markone explain odds.model",
        ),
    ),
    Topic(
        name="smoothed-odds",
        title="Real NB: smoothing. New odds ratios",
        claim="For real problems smoothing is critical. With it, all odds are finite, and the largest belong to words "
        "that are frequent in one class and rare in the other.",
        show=show_smoothed_odds,
        question="Do these make more sense than the infinite odds?",
        answer="Yes: a word needs to occur several times before its odds are large, so chance matters less.",
        terms=("smoothing", "odds ratios", "real classification problems"),
        data=training_table,
        commands=(
            "markone train {data} --target label --rule naive-bayes -o smoothed-odds.model",
            "markone explain smoothed-odds.model",
        ),
    ),
)
"""Topics of the lecture on learning and generalisation."""

"""The topic of the same lecture on odds after smoothing."""
