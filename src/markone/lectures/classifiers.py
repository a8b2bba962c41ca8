"""The topic that compares naive Bayes, the perceptron and MIRA on the same texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from markone.lectures.mail import made_reviews, reviews_table
from markone.lectures.overfitting import WORDS
from markone.lectures.topic import Shown, Topic
from markone.reporting.charts import Bars, Chart
from markone.reporting.grids import Grid

if TYPE_CHECKING:
    from markone.model.rules import Rule

NEGATED: dict[str, Any] = {**WORDS, "text": {**WORDS["text"], "templates": ["not"]}}
"""Words and how often they occur, and how often after a negation."""


def show_comparison() -> Shown:
    from markone import read, train

    texts, labels = made_reviews(600, 1)
    test = made_reviews(1500, 2)
    source = read(texts, target=labels)
    ways: Sequence[tuple[str, Rule, str, str]] = (
        ("naive Bayes", "naive-bayes", "independence", "yes"),
        ("perceptron", "perceptron", "few", "no"),
        ("MIRA", "mira", "few", "no"),
    )
    rows, bars = [], []
    for name, rule, assumes, probabilities in ways:
        model = train(source, rule=rule, features=NEGATED)
        bars.append(model.accuracy(*test))
        learns = "counts" if rule == "naive-bayes" else "from mistakes"
        rows.append([name, assumes, probabilities, learns, str(len(model.history)), f"{bars[-1]:.3f}"])
    head = ["", "assumes", "probabilities", "learns", "passes", "accuracy"]
    return Shown(
        f"{len(texts)} made hotel reviews for training, {len(test[0])} for the test\n{Grid([head], rows)}",
        (Chart((Bars([name for name, *_ in ways], bars),), title="Accuracy on new reviews"),),
    )


TOPICS = (
    Topic(
        name="comparison",
        title="Linear classifiers: comparison",
        claim="Naive Bayes builds a model, gives probabilities, assumes independence, and needs one pass. The "
        "perceptron and MIRA assume less, learn from mistakes in several passes, and are often more accurate. All "
        "have the same features here: counts of words, also after a negation.",
        show=show_comparison,
        question="When would you choose naive Bayes nevertheless?",
        answer="With very few examples, with data that can be read only once, or if rough probabilities are needed "
        "quickly.",
        terms=("comparison", "naive Bayes", "perceptron", "MIRA", "mistake-driven learning", "passes"),
        data=lambda: reviews_table(600),
        commands=("markone compare {data} --target label",),
    ),
)
"""Topics of the lecture on learning and generalisation."""
