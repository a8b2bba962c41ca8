"""A made-up treebank: sentences of a small grammar, with tags and trees."""

from __future__ import annotations

import random
from pathlib import Path

WORDS = {
    "DET": ["the", "a", "every", "no"],
    "ADJ": ["old", "green", "sleepy", "famous", "lovely"],
    "NOUN": ["dog", "guest", "garden", "dinner", "room", "walk", "play"],
    "VERB": ["sees", "likes", "finds", "leaves"],
    "ADV": ["often", "here", "quickly"],
}
Row = tuple[str, str, int, str]
"""A word, its tag, its head and the name of the arc."""


def sentence(chance: random.Random) -> list[Row]:
    """Somebody does something to something, perhaps."""
    rows: list[Row] = []

    def phrase(role: str, verb: int | None) -> int:
        """Adds a noun phrase whose head hangs on the verb; returns where the noun is."""
        begin = len(rows)
        adjectives = chance.randrange(3)
        noun = begin + 2 + adjectives
        rows.append((chance.choice(WORDS["DET"]), "DET", noun, "det"))
        for _ in range(adjectives):
            rows.append((chance.choice(WORDS["ADJ"]), "ADJ", noun, "amod"))
        rows.append((chance.choice(WORDS["NOUN"]), "NOUN", verb or -1, role))
        return noun

    subject = phrase("nsubj", None)
    verb = len(rows) + 1
    rows[subject - 1] = (*rows[subject - 1][:2], verb, "nsubj")
    rows.append((chance.choice(WORDS["VERB"]), "VERB", 0, "root"))
    if chance.random() < 0.7:
        phrase("obj", verb)
    if chance.random() < 0.4:
        rows.append((chance.choice(WORDS["ADV"]), "ADV", verb, "advmod"))
    rows.append((".", "PUNCT", verb, "punct"))
    return rows


def sentences(count: int, seed: int) -> list[list[Row]]:
    chance = random.Random(seed)
    return [sentence(chance) for _ in range(count)]


def conllu(count: int, seed: int) -> str:
    parts = []
    for number, rows in enumerate(sentences(count, seed), 1):
        parts.append(f"# sent_id = {number}\n")
        for place, (word, tag, head, name) in enumerate(rows, 1):
            parts.append(f"{place}\t{word}\t_\t{tag}\t{tag.lower()}\t_\t{head}\t{name}\t_\t_\n")
        parts.append("\n")
    return "".join(parts)


def phrases(count: int, seed: int) -> str:
    """Words, tags and parts of noun phrases, in columns."""
    parts = []
    for rows in sentences(count, seed):
        for word, tag, _, _ in rows:
            inside = tag in ("DET", "ADJ", "NOUN")
            parts.append(f"{word} {tag} {'O' if not inside else 'B-NP' if tag == 'DET' else 'I-NP'}\n")
        parts.append("\n")
    return "".join(parts)


def write_treebanks(folder: Path) -> None:
    for name, count, seed in (("treebank.conllu", 60, 1), ("test.conllu", 20, 2)):
        (folder / name).write_text(conllu(count, seed))
    (folder / "phrases.iob").write_text(phrases(60, 3))
