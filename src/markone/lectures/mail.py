"""Makes e-mails, some of them spam, and hotel reviews, for the topics that classify texts."""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from markone.lectures.topic import Table

HAM, SPAM = "ham", "spam"
CLASSES = (HAM, SPAM)
FACTS = ("known_sender", "many_copies", "consistent", "honest_links", "by_name")
"""What is known of a message besides its words."""


def vocabulary_of(text: str) -> list[str]:
    return text.split()


COMMON = vocabulary_of(
    "the to of and a in for is on you that it with this at we be from as are have your not or by will an if can all "
    "our has but they was more about when there so out up what which do their one time no just some new get now"
)
PERSONAL = vocabulary_of(
    "meeting report group seems lecture draft agenda train lunch budget chapter seminar office paper notes schedule "
    "students review weekend project committee ago areas nation south-west morally nicely extent seriously table "
    "question data figure garden evening"
)
SELLING = vocabulary_of(
    "money free credit order offer click prize cheap winner loan delivery guaranteed price screens minute signature "
    "account limited today save deal bonus urgent discount cash store gift claim latest pills version genuine $205.00 "
    "million customer certificate"
)
RARE = vocabulary_of(
    "harbour lantern copper meadow violin saddle anchor pepper marble ribbon falcon tunnel cellar orchard kettle "
    "barrel canvas pillow magnet thimble walnut bridge candle ferry compass ladder helmet basket puzzle mirror tractor "
    "hammer velvet granite island turbine pigeon trumpet carpet oyster glacier button shovel feather chimney piano "
    "rocket cactus blanket otter quarry saucer tulip wagon whistle yarn zebra almond badge cabin dolphin engine fossil "
    "goblet hedge iceberg jacket kiosk lemon mosaic needle olive parcel quilt raisin sandal tent umbrella valley "
    "willow"
)
SHARES = {"common": 0.62, "own": 0.20, "other": 0.05, "rare": 0.13}
"""The shares of the words of a message: frequent words, words of its class and of the other class, and rare words."""
LEAST_WORDS, MOST_WORDS = 10, 28


@dataclass(frozen=True, slots=True)
class Message:
    """An e-mail, and what is known about it besides its words."""

    label: str
    text: str
    known_sender: bool = False
    many_copies: bool = False
    """Whether a thousand other people have just received the same message."""
    consistent: bool = False
    """Whether the addresses of the sender and of the sending machine are consistent."""
    honest_links: bool = True
    """Whether links point where they say."""
    by_name: bool = False
    """Whether it addresses the reader by name."""


def words_of(chance: random.Random, own: Sequence[str], other: Sequence[str]) -> str:
    """Draw the words of a message. In each list, early words are more frequent than late ones."""
    lists = {"common": COMMON, "own": own, "other": other, "rare": RARE}
    kinds = chance.choices([*SHARES], [*SHARES.values()], k=chance.randint(LEAST_WORDS, MOST_WORDS))
    return " ".join(chance.choices(lists[kind], [1 / (3 + i) for i in range(len(lists[kind]))])[0] for kind in kinds)


def messages(count: int, seed: int, spam: float = 0.4) -> list[Message]:
    """Make e-mails whose classes differ by their words alone."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        is_spam = chance.random() < spam
        lists = (SELLING, PERSONAL) if is_spam else (PERSONAL, SELLING)
        found.append(Message(SPAM if is_spam else HAM, words_of(chance, *lists)))
    return found


def honest_and_false_offers(count: int, seed: int) -> list[Message]:
    """Make e-mails of which a third are honest offers of shops, with the same words as spam."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        kind = chance.choice(["letter", "shop", "spam"])
        text = words_of(chance, *((PERSONAL, SELLING) if kind == "letter" else (SELLING, PERSONAL)))
        likely = {
            # sender known, many copies, consistent, honest links, by name, ALL CAPS
            "letter": (0.8, 0.02, 0.97, 0.99, 0.7, 0.01),
            "shop": (0.7, 0.9, 0.95, 0.97, 0.6, 0.02),
            "spam": (0.03, 0.8, 0.25, 0.3, 0.1, 0.35),
        }[kind]
        *facts, capitals = (chance.random() < p for p in likely)
        found.append(Message(SPAM if kind == "spam" else HAM, text.upper() if capitals else text, *facts))
    return found


def texts_of(some: Sequence[Message]) -> tuple[list[str], list[str]]:
    """Return the texts and the labels."""
    return [message.text for message in some], [message.label for message in some]


def table_of(some: Sequence[Message], *, facts: bool = False) -> Table:
    """Return e-mails as the data of a topic, also with what is known besides the words."""
    names = FACTS if facts else ()
    rows = [[m.label, m.text, *(str(getattr(m, name)).lower() for name in names)] for m in some]
    return Table(["label", "text", *names], rows)


def counts_of(some: Sequence[Message]) -> tuple[list[str], dict[str, dict[Hashable, int]]]:
    """Return the vocabulary and how often each of its words occurs in each class."""
    vocabulary = sorted({word for message in some for word in message.text.split()})
    counts: dict[str, dict[Hashable, int]] = {label: dict.fromkeys(vocabulary, 0) for label in CLASSES}
    for message in some:
        for word in message.text.split():
            counts[message.label][word] += 1
    return vocabulary, counts


def bag(text: str) -> dict[Hashable, int]:
    """Count the words of a text.

    >>> bag("free money free")
    {'free': 2, 'money': 1}
    """
    words = text.split()
    return {word: words.count(word) for word in dict.fromkeys(words)}


# ---- reviews


def made_reviews(count: int, seed: int) -> tuple[list[str], list[str]]:
    """Return the texts and the labels of hotel reviews."""
    from markone.demo.reviews import make_review

    chance = random.Random(seed)
    pairs = [make_review(chance) for _ in range(count)]
    return [text for _, text in pairs], [label for label, _ in pairs]


def reviews_table(count: int) -> Table:
    """Return the reviews of a training set as the data of a topic."""
    texts, labels = made_reviews(count, 1)
    return Table(["label", "text"], list(zip(labels, texts, strict=True)))
