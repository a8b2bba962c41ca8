"""Topics on naive Bayes for texts: the bag of words, and a spam filter by tables of probabilities."""

from __future__ import annotations

import math
from itertools import accumulate, permutations

from markone import reference
from markone.lectures.mail import CLASSES, HAM, SPAM, Message, bag, counts_of, messages, table_of
from markone.lectures.topic import Shown, Table, Topic
from markone.reporting.charts import Bars, Chart
from markone.reporting.grids import Grid

# ---- the bag of words

TINY = [
    Message(SPAM, "free money now"),
    Message(SPAM, "free money offer"),
    Message(SPAM, "meeting offer now"),
    Message(HAM, "meeting now"),
    Message(HAM, "free lunch meeting"),
    Message(HAM, "lunch money meeting"),
]


def tiny_bayes() -> reference.NaiveBayes:
    vocabulary, _ = counts_of(TINY)
    bayes = reference.NaiveBayes(CLASSES, vocabulary)
    bayes.learn((bag(message.text), message.label, 1) for message in TINY)
    return bayes


def tiny_table() -> Table:
    return table_of(TINY)


def show_bag() -> Shown:
    bayes = tiny_bayes()
    text = "free money meeting"
    orders = [" ".join(words) for words in permutations(text.split())]
    rows = [[order, *(f"{float(bayes.joint(bag(order))[label]):.3g}" for label in CLASSES)] for order in orders]
    (table,) = bayes.draws(SPAM)
    positions = max(len(message.text.split()) for message in TINY)
    size = len(table)
    return Shown(
        f"{Grid([['words W1 W2 W3', *(f'P({label}, W)' for label in CLASSES)]], rows)}\n"
        f"Tied: {size - 1} free parameters for each class, whatever the position.\n"
        f"Untied, with a table for each of {positions} positions: {positions * (size - 1)}.",
        (
            Chart(
                (Bars([*map(str, table)], [float(p) for p in table.values()]),),
                title="The one table P(W|spam), for every position (Laplace, k = 1)",
            ),
        ),
    )


# ---- the spam filter of the lecture

TABLE_PRIORS = {HAM: 0.66, SPAM: 0.33}
TABLES = {
    SPAM: {
        "the": 0.0156,
        "to": 0.0153,
        "and": 0.0115,
        "of": 0.0095,
        "you": 0.0093,
        "a": 0.0086,
        "with": 0.0080,
        "from": 0.0075,
    },
    HAM: {
        "the": 0.0210,
        "to": 0.0133,
        "of": 0.0119,
        "2002": 0.0110,
        "with": 0.0108,
        "from": 0.0107,
        "and": 0.0105,
        "a": 0.0100,
    },
}


def show_tables() -> Shown:
    rows = [
        [f"{a} : {p:.4f}", f"{b} : {q:.4f}"]
        for (a, p), (b, q) in zip(TABLES[SPAM].items(), TABLES[HAM].items(), strict=True)
    ]
    shared = [word for word in TABLES[SPAM] if word in TABLES[HAM]]
    ratios = {word: TABLES[SPAM][word] / TABLES[HAM][word] for word in shared}
    total = sum(TABLE_PRIORS.values())
    masses = {label: sum(table.values()) for label, table in TABLES.items()}
    odds = math.prod(ratios.values()) * TABLE_PRIORS[SPAM] / TABLE_PRIORS[HAM]
    return Shown(
        f"P(ham) = {TABLE_PRIORS[HAM]}, P(spam) = {TABLE_PRIORS[SPAM]}; "
        f"their sum is {total:.2f} because they are rounded.\n"
        f"{Grid([['P(W|spam)', 'P(W|ham)']], rows)}\n"
        f"These words make up {masses[SPAM]:.1%} of the words in spam and {masses[HAM]:.1%} in ham.\n"
        f"A message with each shared word once is spam with probability {odds / (1 + odds):.3f}.",
        (
            Chart(
                (Bars([*ratios], [math.log(ratio) for ratio in ratios.values()]),),
                title="Frequent words hardly decide: ln P(w|spam) / P(w|ham)",
            ),
        ),
    )


def spam_and_ham_tables() -> Table:
    words = dict.fromkeys([*TABLES[SPAM], *TABLES[HAM]])
    return Table(
        ["word", SPAM, HAM], [[word, *(TABLES[label].get(word, "") for label in (SPAM, HAM))] for word in words]
    )


PRIORS = {SPAM: 0.33333, HAM: 0.66666}
WORDS = [
    ("Gary", 0.00002, 0.00021),
    ("would", 0.00069, 0.00084),
    ("you", 0.00881, 0.00304),
    ("like", 0.00086, 0.00083),
    ("to", 0.01517, 0.01339),
    ("lose", 0.00008, 0.00002),
    ("weight", 0.00016, 0.00002),
    ("while", 0.00027, 0.00027),
    ("you", 0.00881, 0.00304),
    ("sleep", 0.00006, 0.00001),
]
"""Words of a message with P(w|spam) and P(w|ham)."""


def running_totals() -> dict[str, list[float]]:
    """Return the sums of logarithms after the prior and after each word.

    >>> {label: [round(total, 1) for total in totals[:2]] for label, totals in running_totals().items()}
    {'spam': [-1.1, -11.9], 'ham': [-0.4, -8.9]}
    """
    columns = {SPAM: [p for _, p, _ in WORDS], HAM: [p for _, _, p in WORDS]}
    return {label: [*accumulate(map(math.log, [PRIORS[label], *ps]))] for label, ps in columns.items()}


SLIDE = {SPAM: -76.0, HAM: -80.5}
"""The last totals on the lecture's slide, which were computed before the tables were rounded."""
ROUNDING = 0.5e-5


def rounding() -> float:
    """Return the largest change of the last difference of totals by rounding the tables to five decimals."""
    numbers = [*PRIORS.values(), *(p for _, *both in WORDS for p in both)]
    return sum(-math.log(1 - ROUNDING / p) for p in numbers)


def show_spam_example() -> Shown:
    totals = running_totals()
    names = ["(prior)", *(word for word, _, _ in WORDS)]
    tables = [[PRIORS[SPAM], PRIORS[HAM]], *([p, q] for _, p, q in WORDS)]
    rows = [
        [name, *(f"{p:.5f}" for p in pair), f"{totals[SPAM][i]:.1f}", f"{totals[HAM][i]:.1f}"]
        for i, (name, pair) in enumerate(zip(names, tables, strict=True))
    ]
    gaps = [a - b for a, b in zip(totals[SPAM], totals[HAM], strict=True)]
    least, most = (gaps[-1] + sign * rounding() for sign in (-1, 1))
    return Shown(
        f"{Grid([['Word', 'P(w|spam)', 'P(w|ham)', 'Tot Spam', 'Tot Ham']], rows)}\n"
        f"P(spam|w) = 1 / (1 + exp({totals[HAM][-1]:.1f} + {-totals[SPAM][-1]:.1f})) = "
        f"{reference.sigmoid(gaps[-1]):.1%}\n"
        f"The tables are rounded to five decimals. Unrounded, P(spam|w) is between {reference.sigmoid(least):.1%}\n"
        f"and {reference.sigmoid(most):.1%}; the lecture's last totals {SLIDE[SPAM]} and {SLIDE[HAM]} give "
        f"{reference.sigmoid(SLIDE[SPAM] - SLIDE[HAM]):.1%}.",
        (Chart((Bars(names, gaps),), title="Tot Spam - Tot Ham, after each word"),),
    )


def word_table() -> Table:
    return Table(["word", SPAM, HAM], WORDS)


def show_elicitation() -> Shown:
    expert = {"money": (0.05, 0.01), "free": (0.04, 0.01), "meeting": (0.002, 0.02)}
    some = messages(2000, seed=6)
    _, counts = counts_of(some)
    sizes = {label: sum(counts[label].values()) for label in CLASSES}
    rows, asked, counted = [], [], []
    for word, (in_spam, in_ham) in expert.items():
        real = [counts[label][word] / sizes[label] for label in (SPAM, HAM)]
        rows.append([word, *(f"{p:.4f}" for p in (in_spam, real[0], in_ham, real[1]))])
        asked.append(math.log(in_spam / in_ham))
        counted.append(math.log(real[0] / real[1]))
    head = [
        ["", "P(w|spam)", "P(w|spam)", "P(w|ham)", "P(w|ham)"],
        ["word", "guessed", "counted", "guessed", "counted"],
    ]
    names = [f"{word}: {kind}" for word in expert for kind in ("guessed", "counted")]
    return Shown(
        f"{Grid(head, rows)}\nCounted in {len(some)} made e-mails with {sum(sizes.values())} words.",
        (
            Chart(
                (Bars(names, [value for both in zip(asked, counted, strict=True) for value in both]),),
                title="ln P(w|spam) / P(w|ham)",
            ),
        ),
    )


def many_messages() -> Table:
    return table_of(messages(2000, seed=6))


TOPICS = (
    Topic(
        name="bag-of-words",
        title="Naïve Bayes for text: tied distributions, bag-of-words",
        claim="The word at each position is a feature. All positions share the same probabilities P(W|Y), so they are "
        "tied, and the model P(Y) · P(W1|Y) ··· P(Wn|Y) does not change when the words are reordered.",
        show=show_bag,
        question="Why make this assumption, although the order of words has a meaning?",
        answer="There are far fewer parameters, so that few e-mails are enough to estimate them; and a word that was "
        "seen at one position says something at every other.",
        terms=("bag of words", "tied distributions", "identically distributed", "generative model"),
        data=tiny_table,
        commands=("markone train {data} --target label --rule naive-bayes",),
    ),
    Topic(
        name="spam-tables",
        title="Example: spam filtering: what are the parameters?",
        claim="The parameters of a naive Bayes spam filter are the priors P(Y) and one table P(W|Y) for each class. "
        "These are the most frequent words of the lecture's tables.",
        show=show_tables,
        question="Where do these tables come from?",
        answer="From counting words in labelled e-mails. The most frequent words are almost equally frequent in both "
        "classes, so the decision comes from less frequent words.",
        terms=("parameters", "prior", "spam filtering", "odds ratio"),
        data=spam_and_ham_tables,
    ),
    Topic(
        name="spam-example",
        title="Spam example: Tot Spam and Tot Ham",
        claim="The logarithms of the prior and of P(w|class) are added word by word. The larger total wins, and the "
        "difference of the totals gives P(spam|w).",
        show=show_spam_example,
        question="At which word does the decision change from ham to spam for good?",
        answer="At “weight”: before it, Tot Ham is larger after every word. “Gary”, a name, is the strongest evidence "
        "for ham.",
        terms=("log space", "running totals", "posterior", "prior", "spam"),
        data=word_table,
    ),
    Topic(
        name="elicitation",
        title="Parameter estimation: elicitation, ask a human",
        claim="The parameters can come from a person instead of data. Here the guesses of a person stand beside the "
        "frequencies in made e-mails.",
        show=show_elicitation,
        question="Why is elicitation hard?",
        answer="People guess which class a word belongs to quite well, but not small probabilities: here the guesses "
        "are wrong by factors of two and more, and thousands of words would have to be asked.",
        terms=("elicitation", "parameter estimation", "empirical rate", "ask a human"),
        data=many_messages,
        commands=(
            "markone train {data} --target label --rule naive-bayes -o elicitation.model",
            "markone explain elicitation.model",
        ),
    ),
)
"""Topics of the lecture on learning and generalisation."""
