"""The five lectures with their topics, and how to find a topic by its name."""

from __future__ import annotations

import importlib
import re
from functools import cache

from markone.errors import SettingsError, did_you_mean
from markone.extras import need
from markone.lectures.topic import Deck, Demonstration, Topic

NUMBER_LENGTH = 3
MOST_MATCHES = 3
MODULES = (
    "activations",
    "approximation",
    "averaging",
    "bayes",
    "bound_limits",
    "classifiers",
    "contrasts",
    "descent",
    "digits",
    "email_features",
    "independence",
    "margins",
    "mark_one",
    "mira",
    "mistake_bounds",
    "multiclass",
    "networks",
    "neurons",
    "odds",
    "overfitting",
    "perceptrons",
    "representations",
    "sentiment",
    "separability",
    "separators",
    "smoothing",
    "structures",
    "two_steps",
    "updates",
    "validation",
)
"""The modules of this room that have topics."""
# Each lecture has a number, a title, a course, and the names of its topics in its order. Several lectures may have the
# same topic.
OUTLINES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    (
        "000",
        "Perceptron",
        "CSE446",
        (
            "probabilities",
            "automobiles",
            "generative",
            "spam",
            "hyperplane",
            "separable",
            "inseparable",
            "trace",
            "multiclass",
            "regions",
            "multiclass-updates",
            "linearly-separable",
            "mistake-bound",
            "induction",
            "lower-bound",
            "upper-bound",
            "two-steps",
            "properties",
            "averaged",
            "barely-separating",
            "overtraining",
            "optimal",
            "svm",
            "three-views",
        ),
    ),
    (
        "001",
        "The Perceptron",
        "ORIE 4741",
        (
            "credit",
            "projective",
            "geometry",
            "sign",
            "hypotheses",
            "poll-line",
            "poll-parabola",
            "mark-one",
            "patchboard",
            "misclassified",
            "margin",
            "better",
            "linearly-separable",
            "long-time",
            "lower-bound",
            "upper-bound",
            "any-separator",
            "tight",
            "not-separable",
            "losses",
            "schema",
            "generalization",
        ),
    ),
    (
        "002",
        "Discriminative Classification",
        "LING83800",
        (
            "independence",
            "correlated",
            "sampling",
            "visual",
            "components",
            "linear-algebra",
            "document-features",
            "feature-templates",
            "computing-z",
            "sigmoid",
            "loss-functions",
            "cross-entropy",
            "closed-form",
            "gradient-descent",
            "stochastic",
            "pros-and-cons",
            "which-is-best",
            "test-set",
            "leave-one-out",
            "k-fold",
            "which-validation",
            "linear-classification",
            "step-function",
            "update-rule",
            "random-start",
            "stopping",
            "learning-rate",
            "linear-function",
            "network",
            "mlp",
            "universal",
            "discrete",
            "width-and-depth",
            "three-models",
        ),
    ),
    (
        "003",
        "Learning, Generalization and Perceptron",
        "CS325",
        (
            "bag-of-words",
            "spam-tables",
            "spam-example",
            "elicitation",
            "training-and-testing",
            "relative-frequencies",
            "whole-email",
            "few-examples",
            "empty-region",
            "two-wins",
            "odds",
            "maximum-likelihood",
            "laplace",
            "dirichlet",
            "conditionals",
            "interpolation",
            "tuning",
            "smoothed-odds",
            "errors",
            "email-features",
            "neuron",
            "mark-one",
            "spam",
            "hyperplane",
            "trace",
            "separable",
            "and",
            "binary-multiclass",
            "win-the-vote",
            "k-over-delta",
            "properties",
            "inseparable",
            "averaged",
            "barely-separating",
            "overtraining",
            "mira",
            "maximum-step",
            "mira-and-noise",
            "optimal",
            "svm",
            "svm-and-mira",
            "support-vectors",
            "comparison",
            "project-5",
            "weight-images",
        ),
    ),
    (
        "004",
        "Linear Classifiers 1",
        "Christian Hardmeier",
        (
            "features",
            "next-point",
            "hyperplanes",
            "bias",
            "hyperplane",
            "sign",
            "xor",
            "conjunctions",
            "optimisation",
            "algorithm",
            "update",
            "unknown",
            "point-margin",
            "data-margin",
            "best-margin",
            "convergence-theorem",
            "lower-bound",
            "upper-bound",
            "angle",
            "averaged",
            "last-example",
            "structured",
            "structured-tree",
            "many-features",
            "inductive-bias",
        ),
    ),
)


@cache
def topics() -> dict[str, Topic]:
    """Return all topics by name."""
    modules = [importlib.import_module(f"markone.lectures.{name}") for name in MODULES]
    return {topic.name: topic for module in modules for topic in module.TOPICS}


@cache
def decks() -> dict[str, Deck]:
    """Return all lectures by number."""
    return {
        number: Deck(number, title, source, tuple(topics()[name] for name in names))
        for number, title, source, names in OUTLINES
    }


def deck_of(number: str) -> Deck:
    """Return the lecture with this number; `0` and `000` are the same."""
    wanted = number.zfill(NUMBER_LENGTH)
    if wanted not in decks():
        known = ", ".join(f"{deck.number} ({deck.title})" for deck in decks().values())
        raise SettingsError(
            "deck", f"must be one of {known}, not {number!r}.{matches(number) or did_you_mean(number, [*decks()])}"
        )
    return decks()[wanted]


def topic_of(deck: str, topic: str) -> Topic:
    """Return a topic of a lecture by its name."""
    found = deck_of(deck)
    one = found.topic(topic)
    if one is None:
        names = [topic.name for topic in found.topics]
        raise SettingsError(
            "topic",
            f"must be one of the {len(names)} topics that `markone lecture {found.number}` lists, not {topic!r}."
            f"{matches(topic, found.number) or did_you_mean(topic, names)}",
        )
    return one


def matches(word: str, own: str = "") -> str:
    """Return the commands for the topics that a word may mean, to add to an error message.

    The word may be the name of a topic, or the beginning of words in a name, in a title or in the terms of a topic. Its
    case does not matter. Of topics that match equally well, those of the lecture `own` come first.

    >>> matches("Margin", "000").split(",")[0]
    ' Try: markone lecture 001 margin'
    """
    wanted = in_lower_case(word)
    if not any(map(str.isalpha, wanted)):
        return ""
    beginning = re.compile(rf"\b{re.escape(wanted)}")
    found: dict[str, tuple[int, str]] = {}
    for deck in sorted(decks().values(), key=lambda one: one.number != own):
        for topic in deck.topics:
            terms = [in_lower_case(term) for term in topic.terms]
            name, title = in_lower_case(topic.name), in_lower_case(topic.title)
            begins = (any(map(beginning.search, texts)) for texts in ([name], [title], terms))
            tests = (wanted == name, wanted in terms, *begins)
            if any(tests):
                found.setdefault(topic.name, (tests.index(True), f"markone lecture {deck.number} {topic.name}"))
    commands = [command for _, command in sorted(found.values(), key=lambda one: one[0])]
    return f" Try: {', '.join(commands[:MOST_MATCHES])}" if commands else ""


def in_lower_case(text: str) -> str:
    """Return a text in lower case, with spaces instead of hyphens."""
    return " ".join(text.casefold().replace("-", " ").replace("_", " ").split())


def lecture(deck: str, topic: str) -> Demonstration:
    """Compute a topic of a lecture. As text, the result is the claim, the numbers and a picture.

    Parameters
    ----------
    deck
        The number of the lecture: 000, 001, 002, 003 or 004.
    topic
        The name of the topic. `markone lecture 000` lists those of a lecture.

    Examples
    --------
    >>> print(lecture("000", "spam").shown.text)
    feature  value  weight  product
    BIAS         1      -3       -3
    free         1       4       +4
    money        1       2       +2
    sum                          +3
    The activation is 3, which is greater than 0: spam.
    """
    need("pyarrow", "sklearn", "scipy")
    one = topic_of(deck, topic)
    return Demonstration(deck_of(deck), one, one.show())
