"""Generates hotel reviews for the demo: short texts with opinions, some of them negated or mixed."""

from __future__ import annotations

import csv
import random
from pathlib import Path

COLUMNS = ("guest", "review")
HAPPY, UNHAPPY = "happy", "unhappy"

THINGS = ("room", "bed", "breakfast", "pool", "view", "shower", "bar", "lift", "garden", "reception")
GOOD = ("clean", "quiet", "lovely", "great", "friendly", "comfortable", "superb", "warm", "spotless", "charming")
BAD = ("dirty", "noisy", "awful", "cold", "rude", "broken", "tiny", "smelly", "shabby", "hopeless")
PLAIN = (
    "We arrived late on a Friday.",
    "The hotel is near the station.",
    "We were there in May.",
    "There is a car park behind the house.",
    "It rained most of the time.",
    "Our third visit to this town.",
)
SAID = ("The {} was {}.", "What a {1} {0}!", "The {} was really {}.", "A {1} {0}.")
DENIED = ("The {} was not {}.", "Not a {1} {0}!", "The {} was never {}.")
MOST_OPINIONS = 4
NEGATED = 0.25
MIXED = 0.2
WRONG = 0.02
"""The share of reviews with a wrong label, since real data contain mistakes, too."""


def write_reviews(path: Path, count: int, seed: int) -> None:
    """Write a CSV file with `count` reviews."""
    chance = random.Random(seed)
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(COLUMNS)
        for _ in range(count):
            rows.writerow(make_review(chance))


def make_review(chance: random.Random) -> tuple[str, str]:
    """Return the label of a review and its text."""
    happy = chance.random() < 0.5
    size = chance.randint(1, MOST_OPINIONS)
    sentences = [opinion(chance, happy) for _ in range(size)]
    if size > 1 and chance.random() < MIXED:
        sentences[0] = opinion(chance, not happy)
        if size == 2:
            sentences.append(opinion(chance, happy))
    sentences += chance.sample(PLAIN, chance.randint(0, 2))
    chance.shuffle(sentences)
    label = happy if chance.random() >= WRONG else not happy
    return HAPPY if label else UNHAPPY, " ".join(sentences)


def opinion(chance: random.Random, good: bool) -> str:
    thing = chance.choice(THINGS)
    negated = chance.random() < NEGATED
    word = chance.choice(GOOD if good != negated else BAD)
    return chance.choice(DENIED if negated else SAID).format(thing, word)
