"""The five lectures with their topics, and how to find a topic by its name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from markone.errors import SettingsError, did_you_mean
from markone.lectures.topic import Deck, Demonstration, Topic

NUMBERS = ("000", "001", "002", "003", "004")


@cache
def decks() -> dict[str, Deck]:
    """Return all lectures by number."""
    from markone.lectures import (
        activations,
        approximation,
        averaging,
        bayes,
        bound_limits,
        classifiers,
        contrasts,
        descent,
        digits,
        email_features,
        independence,
        margins,
        mark_one,
        mira,
        mistake_bounds,
        multiclass,
        networks,
        neurons,
        odds,
        overfitting,
        perceptrons,
        representations,
        sentiment,
        separability,
        separators,
        smoothing,
        structures,
        two_steps,
        updates,
        validation,
    )

    topics = by_name(
        activations.TOPICS,
        averaging.TOPICS,
        bound_limits.TOPICS,
        contrasts.TOPICS,
        margins.TOPICS,
        mark_one.TOPICS,
        mistake_bounds.TOPICS,
        multiclass.TOPICS,
        perceptrons.TOPICS,
        representations.TOPICS,
        separability.TOPICS,
        separators.TOPICS,
        structures.TOPICS,
        two_steps.TOPICS,
    )
    found = (
        Deck(
            "000",
            "Perceptron",
            "CSE446",
            (
                topics["probabilities"],
                topics["automobiles"],
                topics["generative"],
                topics["spam"],
                topics["hyperplane"],
                topics["separable"],
                topics["inseparable"],
                topics["trace"],
                topics["multiclass"],
                topics["regions"],
                topics["multiclass-updates"],
                topics["linearly-separable"],
                topics["mistake-bound"],
                topics["induction"],
                topics["lower-bound"],
                topics["upper-bound"],
                topics["two-steps"],
                topics["properties"],
                topics["averaged"],
                topics["barely-separating"],
                topics["overtraining"],
                topics["optimal"],
                topics["svm"],
                topics["three-views"],
            ),
        ),
        Deck(
            "001",
            "The Perceptron",
            "ORIE 4741",
            (
                topics["credit"],
                topics["projective"],
                topics["geometry"],
                topics["sign"],
                topics["hypotheses"],
                topics["poll-line"],
                topics["poll-parabola"],
                topics["mark-one"],
                topics["patchboard"],
                topics["misclassified"],
                topics["margin"],
                topics["better"],
                topics["linearly-separable"],
                topics["long-time"],
                topics["lower-bound"],
                topics["upper-bound"],
                topics["any-separator"],
                topics["tight"],
                topics["not-separable"],
                topics["losses"],
                topics["schema"],
                topics["generalization"],
            ),
        ),
        Deck(
            "002",
            "Discriminative Classification",
            "LING83800",
            (
                *independence.TOPICS,
                *descent.COMPONENTS,
                *sentiment.TOPICS,
                *descent.TOPICS,
                *validation.TOPICS,
                *updates.TOPICS,
                *networks.TOPICS,
                *approximation.TOPICS,
                *networks.RECAP,
            ),
        ),
        Deck(
            "003",
            "Learning, Generalization and Perceptron",
            "CS325",
            (
                *bayes.TOPICS,
                *overfitting.TOPICS,
                *odds.TOPICS,
                *smoothing.TOPICS,
                *odds.SMOOTHED,
                *email_features.TOPICS,
                *neurons.NEURON,
                topics["mark-one"],
                topics["spam"],
                topics["hyperplane"],
                topics["trace"],
                topics["separable"],
                *neurons.TOPICS,
                topics["properties"],
                topics["inseparable"],
                topics["averaged"],
                topics["barely-separating"],
                topics["overtraining"],
                *mira.TOPICS,
                topics["optimal"],
                topics["svm"],
                *mira.SVM,
                *classifiers.TOPICS,
                *digits.TOPICS,
            ),
        ),
        Deck(
            "004",
            "Linear Classifiers 1",
            "Christian Hardmeier",
            (
                topics["features"],
                topics["next-point"],
                topics["hyperplanes"],
                topics["bias"],
                topics["hyperplane"],
                topics["sign"],
                topics["xor"],
                topics["conjunctions"],
                topics["optimisation"],
                topics["algorithm"],
                topics["update"],
                topics["unknown"],
                topics["point-margin"],
                topics["data-margin"],
                topics["best-margin"],
                topics["convergence-theorem"],
                topics["lower-bound"],
                topics["upper-bound"],
                topics["angle"],
                topics["averaged"],
                topics["last-example"],
                topics["structured"],
                topics["structured-tree"],
                topics["many-features"],
                topics["inductive-bias"],
            ),
        ),
    )
    return {deck.number: deck for deck in found}


def by_name(*groups: Iterable[Topic]) -> dict[str, Topic]:
    """Return the topics of several modules by name. A topic may belong to several lectures."""
    return {topic.name: topic for group in groups for topic in group}


def deck_of(number: str) -> Deck:
    """Return the lecture with this number; `0` and `000` are the same."""
    wanted = number.zfill(len(NUMBERS[0]))
    if wanted not in decks():
        known = ", ".join(f"{deck.number} ({deck.title})" for deck in decks().values())
        raise SettingsError("deck", f"must be one of {known}, not {number!r}.{did_you_mean(number, [*decks()])}")
    return decks()[wanted]


def topic_of(deck: str, topic: str) -> Topic:
    """Return a topic of a lecture by its name."""
    found = deck_of(deck)
    one = found.topic(topic)
    if one is None:
        names = [topic.name for topic in found.topics]
        elsewhere = next((other.number for other in decks().values() if other.topic(topic) is not None), None)
        place = "" if elsewhere is None else f" It is a topic of lecture {elsewhere}."
        raise SettingsError(
            "topic",
            f"must be one of the {len(names)} topics that `markone lecture {found.number}` lists, not {topic!r}."
            f"{place or did_you_mean(topic, names)}",
        )
    return one


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
    one = topic_of(deck, topic)
    return Demonstration(deck_of(deck), one, one.show())
