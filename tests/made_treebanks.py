"""Small treebanks: sentences of the demo, with tags and trees."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from markone.demo.stories import stories, write_stories


def phrases(count: int, seed: int) -> str:
    """Words, tags and parts of noun phrases, in columns."""
    parts = []
    for words in stories(count, seed):
        for word, tag, _, _ in words:
            inside = tag in ("DET", "ADJ", "NOUN")
            parts.append(f"{word} {tag} {'O' if not inside else 'B-NP' if tag == 'DET' else 'I-NP'}\n")
        parts.append("\n")
    return "".join(parts)


def random_trees(count: int, seed: int) -> list[dict[str, Any]]:
    """Sentences of many words in any order, from which a parser learns hundreds of thousands of features."""
    chance = random.Random(seed)
    made = []
    for _ in range(count):
        size = chance.randint(5, 20)
        heads, spine = [0], [1]
        for word in range(2, size + 1):
            place = chance.randrange(len(spine))
            heads.append(spine[place])
            spine[place + 1 :] = [word]
        if chance.random() < 0.5:  # mirrored, so that heads are on either side
            heads = [head and size + 1 - head for head in reversed(heads)]
        made.append(
            {
                "form": [f"word{chance.randrange(3000)}" for _ in range(size)],
                "upos": [chance.choice(["NOUN", "VERB", "ADJ", "ADP", "DET"]) for _ in range(size)],
                "head": heads,
                "deprel": [chance.choice(["nmod", "obj", "amod"]) if head else "root" for head in heads],
            }
        )
    return made


def write_treebanks(folder: Path) -> None:
    write_stories(folder / "treebank.conllu", 150, 1)
    write_stories(folder / "test.conllu", 20, 1)  # the first of them, which whoever has learned them knows
    (folder / "phrases.iob").write_text(phrases(60, 3))
