"""Small treebanks: sentences of the demo, with tags and trees."""

from __future__ import annotations

from pathlib import Path

from markone.cli.stories import stories, write_stories


def phrases(count: int, seed: int) -> str:
    """Words, tags and parts of noun phrases, in columns."""
    parts = []
    for words in stories(count, seed):
        for word, tag, _, _ in words:
            inside = tag in ("DET", "ADJ", "NOUN")
            parts.append(f"{word} {tag} {'O' if not inside else 'B-NP' if tag == 'DET' else 'I-NP'}\n")
        parts.append("\n")
    return "".join(parts)


def write_treebanks(folder: Path) -> None:
    write_stories(folder / "treebank.conllu", 150, 1)
    write_stories(folder / "test.conllu", 20, 1)  # the first of them, which whoever has learned them knows
    (folder / "phrases.iob").write_text(phrases(60, 3))
