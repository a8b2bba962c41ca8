"""Topics on the errors of a spam filter, and on features that are not words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from markone import reference
from markone.lectures.mail import CLASSES, FACTS, HAM, SPAM, Message, honest_and_false_offers, table_of
from markone.lectures.topic import Shown, Table, Topic
from markone.reporting.charts import Bars, Chart
from markone.reporting.grids import Grid, shortened

if TYPE_CHECKING:
    from markone.model.rules import Rule

# ---- errors, and what to do

SHOWN_ERRORS = 4


def columns_of(some: Sequence[Message], *, facts: bool) -> dict[str, list[Any]]:
    names = FACTS if facts else ()
    return {"text": [m.text for m in some], **{name: [getattr(m, name) for m in some] for name in names}}


def all_capitals(example: Any) -> bool:
    text = example["text"] if isinstance(example, dict) else example
    return bool(str(text).isupper())


def show_errors() -> Shown:
    from markone import train

    training, test = honest_and_false_offers(400, 21), honest_and_false_offers(800, 22)
    labels, truth = [m.label for m in training], [m.label for m in test]
    rows = []
    wrong: list[Message] = []
    rules: tuple[Rule, ...] = ("naive-bayes", "perceptron", "logistic")
    for rule in rules:
        found = []
        for facts in (False, True):
            functions = {"ALL CAPS": all_capitals} if facts else None
            model = train(columns_of(training, facts=facts), target=labels, rule=rule, functions=functions)
            told = model.predict(columns_of(test, facts=facts))
            found.append(float(np.mean([a == b for a, b in zip(told, truth, strict=True)])))
            if rule == "naive-bayes" and not facts:
                wrong = [m for m, label in zip(test, told, strict=True) if label != m.label]
        rows.append([rule, *(f"{value:.3f}" for value in found)])
    errors = [f"{m.label}, taken for {SPAM if m.label == HAM else HAM}: {shortened(m.text, 52)}" for m in wrong]
    bars = [float(value) for row in rows for value in row[1:]]
    return Shown(
        f"Errors of naive Bayes by words alone: {len(wrong)} of {len(test)}, for example\n"
        + "\n".join(f"  {line}" for line in errors[:SHOWN_ERRORS])
        + f"\n\n{Grid([['accuracy on test messages', 'words', 'words and six more']], rows)}",
        (
            Chart(
                (Bars([f"{rule}: {kind}" for rule in rules for kind in ("words", "and more")], bars),),
                title="Accuracy with and without features that are not words",
            ),
        ),
    )


def offers_table() -> Table:
    return table_of(honest_and_false_offers(400, 21), facts=True)


def show_which_features() -> Shown:
    names = {
        "known_sender": "Have you e-mailed the sender before?",
        "many_copies": "Have 1K others just got the same?",
        "consistent": "Is the sending information consistent?",
        "capitals": "Is the e-mail in ALL CAPS?",
        "honest_links": "Do inline URLs point where they say?",
        "by_name": "Does the e-mail address you by name?",
    }
    some = honest_and_false_offers(2000, 23)
    bayes = reference.NaiveBayes(CLASSES, [*names], bernoulli=True)
    bayes.learn(({name: has(m, name) for name in names}, m.label, 1) for m in some)
    rows, odds = [], []
    for name, words in names.items():
        table = [float(bayes.draws(label)[[*names].index(name)][name, True]) for label in CLASSES]
        odds.append(math.log(table[1] / table[0]))
        rows.append([words, *(f"{p:.2f}" for p in table), f"{odds[-1]:+.2f}"])
    return Shown(
        str(Grid([["feature", "P(yes|ham)", "P(yes|spam)", "ln of the odds"]], rows)),
        (Chart((Bars([*names], odds),), title="Evidence of “yes”: for spam to the right, for ham to the left"),),
    )


def has(message: Message, name: str) -> int:
    return int(message.text.isupper() if name == "capitals" else getattr(message, name))


TOPICS = (
    Topic(
        name="errors",
        title="Errors, and what to do",
        claim="Some errors cannot be corrected with words: an honest offer of a shop has the words of spam. Features "
        "that are not words help. In these made e-mails, a third are honest offers with the same words as spam.",
        show=show_errors,
        question="Why does a better learning rule not help with words alone?",
        answer="Honest and false offers have the same distribution of words here, so no rule can tell them apart. The "
        "information has to come from other features.",
        terms=("errors", "more features", "words aren't enough", "ALL CAPS", "spam"),
        data=offers_table,
        commands=(
            "markone train {data} --target label --rule naive-bayes",
            "markone compare {data} --target label",
        ),
    ),
    Topic(
        name="email-features",
        title="What to do about errors? Need more features",
        claim="Six questions about an e-mail become features of naive Bayes: known sender, many copies, consistent "
        "sending information, ALL CAPS, honest links, addressed by name. Each has a probability in each class.",
        show=show_which_features,
        question="Which of the six is evidence for spam, and which for ham?",
        answer="Many copies and ALL CAPS are evidence for spam. A known sender, consistent sending information, honest "
        "links and your name are evidence for ham; if they are absent, they are evidence for spam.",
        terms=("features", "sender", "sending information", "ALL CAPS", "URLs", "by name"),
        data=offers_table,
        commands=(
            "markone train {data} --target label --rule naive-bayes -o email-features.model",
            "markone explain email-features.model",
        ),
    ),
)
"""Topics of the lecture on learning and generalisation."""
