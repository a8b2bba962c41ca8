"""Generates sentences for the demo from a small grammar, with parts of speech and trees.

Some words have two parts of speech, such as "green" and "light", and only the context tells which.
"""

from __future__ import annotations

import random
from pathlib import Path

DETERMINERS = ("the", "a", "every", "no")
ADJECTIVES = ("old", "green", "sleepy", "famous", "lovely", "light")
NOUNS = ("dog", "guest", "garden", "dinner", "room", "walk", "play", "green", "light")
VERBS = ("sees", "likes", "finds", "leaves", "plays", "walks")
ADVERBS = ("often", "here", "quickly")
BESIDE_VERBS = ("with", "in", "after")
BESIDE_NOUNS = "of"
HAS_OBJECT, HAS_ADVERB, HAS_PLACE, HAS_OWNER = 0.7, 0.4, 0.3, 0.2
MOST_ADJECTIVES = 2

Word = tuple[str, str, int, str]
"""The word, its part of speech, the number of its head, starting with 1 (0 for none), and its relation to the head."""


class Story:
    """A sentence under construction."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.words: list[Word] = []

    def add(self, word: str, kind: str, head: int, role: str) -> int:
        self.words.append((word, kind, head, role))
        return len(self.words)

    def hang(self, word: int, head: int) -> None:
        """Set the head of a word that was added before its head."""
        written, kind, _, role = self.words[word - 1]
        self.words[word - 1] = (written, kind, head, role)

    def phrase(self, role: str, head: int = 0, case: str | None = None) -> int:
        """Add a noun phrase, and return the number of its noun."""
        choice, before = self.chance.choice, []
        if case is not None:
            before.append(self.add(case, "ADP", 0, "case"))
        before.append(self.add(choice(DETERMINERS), "DET", 0, "det"))
        for _ in range(self.chance.randint(0, MOST_ADJECTIVES)):
            before.append(self.add(choice(ADJECTIVES), "ADJ", 0, "amod"))
        noun = self.add(choice(NOUNS), "NOUN", head, role)
        for word in before:
            self.hang(word, noun)
        if role != "nmod" and self.happens(HAS_OWNER):
            self.phrase("nmod", noun, BESIDE_NOUNS)
        return noun

    def happens(self, share: float) -> bool:
        return self.chance.random() < share


def make_story(chance: random.Random) -> list[Word]:
    """Return a sentence with a subject and a verb, and perhaps an object, a place and an adverb."""
    story = Story(chance)
    subject = story.phrase("nsubj")
    verb = story.add(chance.choice(VERBS), "VERB", 0, "root")
    story.hang(subject, verb)
    if story.happens(HAS_OBJECT):
        story.phrase("obj", verb)
    if story.happens(HAS_PLACE):
        story.phrase("obl", verb, chance.choice(BESIDE_VERBS))
    if story.happens(HAS_ADVERB):
        story.add(chance.choice(ADVERBS), "ADV", verb, "advmod")
    story.add(".", "PUNCT", verb, "punct")
    return story.words


def stories(count: int, seed: int) -> list[list[Word]]:
    chance = random.Random(seed)
    return [make_story(chance) for _ in range(count)]


def write_stories(path: Path, count: int, seed: int) -> None:
    """Write a CoNLL-U file with `count` sentences."""
    with path.open("w", encoding="utf-8") as file:
        for number, words in enumerate(stories(count, seed), 1):
            file.write(f"# sent_id = {number}\n")
            for place, (word, kind, head, role) in enumerate(words, 1):
                file.write(f"{place}\t{word}\t_\t{kind}\t{kind.lower()}\t_\t{head}\t{role}\t_\t_\n")
            file.write("\n")
