"""The five lectures with their topics, and how to find a topic by its name."""

from __future__ import annotations

from functools import cache

from markone.errors import SettingsError, did_you_mean
from markone.lectures.topic import Deck, Demonstration

NUMBERS = ("000", "001", "002", "003", "004")


@cache
def decks() -> dict[str, Deck]:
    """Return all lectures by number."""
    from markone.lectures import perceptrons

    found = (
        Deck(
            "000",
            "Perceptron",
            "CSE446",
            (*perceptrons.TOPICS,),
        ),
    )
    return {deck.number: deck for deck in found}


def deck_of(number: str) -> Deck:
    """Return the lecture with this number; `0` and `000` are the same."""
    wanted = number.zfill(len(NUMBERS[0]))
    if wanted not in decks():
        known = ", ".join(f"{deck.number} ({deck.title})" for deck in decks().values())
        raise SettingsError("deck", f"must be one of {known}, not {number!r}.{did_you_mean(number, [*decks()])}")
    return decks()[wanted]


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
    found = deck_of(deck)
    one = found.topic(topic)
    if one is None:
        names = [topic.name for topic in found.topics]
        elsewhere = next((other.number for other in decks().values() if other.topic(topic) is not None), None)
        place = "" if elsewhere is None else f" It is a topic of lecture {elsewhere}."
        raise SettingsError(
            "topic",
            f"must be one of {', '.join(names)}, not {topic!r}.{place or did_you_mean(topic, names)}",
        )
    return Demonstration(found, one, one.show())
