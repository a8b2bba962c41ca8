"""Makes the golden files of taggers and parsers, and what they say about a few sentences.

`python tests/golden_sentences/make_sentences.py` writes them anew beside itself. That is for a new version of the
format only: every later Markone must read files of an older one, say the same of the sentences, and go on with the
trainings.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from markone import Parser, Tagger

HERE = Path(__file__).parent
VERSION = 1

SENTENCES: list[dict[str, Any]] = [
    {
        "form": ["The", "dog", "sees", "Ann", "."],
        "upos": ["DET", "NOUN", "VERB", "PROPN", "PUNCT"],
        "ner": ["O", "O", "O", "B-PER", "O"],
        "head": [2, 3, 0, 3, 3],
        "deprel": ["det", "nsubj", "root", "obj", "punct"],
    },
    {
        "form": ["Ann", "Lee", "barks", "at", "dogs"],
        "upos": ["PROPN", "PROPN", "VERB", "ADP", "NOUN"],
        "ner": ["B-PER", "I-PER", "O", "O", "O"],
        "head": [3, 1, 0, 5, 3],
        "deprel": ["nsubj", "flat", "root", "case", "obl"],
    },
    {
        "form": ["Rome", "sees", "the", "red", "dog"],
        "upos": ["PROPN", "VERB", "DET", "ADJ", "NOUN"],
        "ner": ["B-LOC", "O", "O", "O", "O"],
        "head": [2, 0, 5, 5, 2],
        "deprel": ["nsubj", "root", "det", "amod", "obj"],
    },
    {"form": ["Run", "!"], "upos": ["VERB", "PUNCT"], "ner": ["O", "O"], "head": [0, 1], "deprel": ["root", "punct"]},
    {
        "form": ["A", "dog", "of", "Rome", "ran"],
        "upos": ["DET", "NOUN", "ADP", "PROPN", "VERB"],
        "ner": ["O", "O", "O", "B-LOC", "O"],
        "head": [2, 5, 4, 2, 0],
        "deprel": ["det", "nsubj", "case", "nmod", "root"],
    },
]
ASKED = [["The", "red", "dog", "sees", "Rome", "!"], ["Ann", "Lee", "ran"], ["unheard-of"], []]
FEW = ["lower[0]", "known[0]", "suffix3[0]", "prefix3[-1] known[0]", "shape[1]"]
TAGGERS: dict[str, dict[str, Any]] = {
    "upos": {"column": "upos", "templates": FEW, "epochs": 2},
    "ner": {"column": "ner", "templates": FEW, "epochs": 3, "decode": "beam", "rule": "perceptron"},
    "plain": {"column": "upos", "templates": ["form[0]", "suffix2[0]"], "epochs": 2, "average": False},
}
PARSERS: dict[str, dict[str, Any]] = {
    "fast": {"mode": "fast", "epochs": 2, "tag": True},
    "accurate": {"mode": "accurate", "beam": 3, "epochs": 2},
    "exact": {"mode": "exact", "epochs": 2},
}
TAGGED = [{"form": words, "upos": ["NOUN"] * len(words)} for words in ASKED]


def asked_of_tagger(tagger: Tagger) -> dict[str, Any]:
    return {"tags": tagger.tag(ASKED), "scores": [one.tolist() for one in tagger.scores(ASKED)]}


def asked_of_parser(parser: Parser) -> dict[str, Any]:
    return {"trees": [list(tree) for tree in parser.parse(TAGGED)]}


def main() -> None:
    told: dict[str, Any] = {}
    for name, how in TAGGERS.items():
        tagger = Tagger.train(SENTENCES, **how)
        tagger.save(HERE / f"{name}.{VERSION}.tagger")
        told[f"{name}.tagger"] = asked_of_tagger(tagger)
    for name, how in PARSERS.items():
        path = HERE / f"{name}.{VERSION}.parser"
        parser = Parser.train(SENTENCES, checkpoint=path, **how)
        (HERE / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))  # it is mostly zeros
        path.unlink()
        told[f"{name}.parser"] = asked_of_parser(parser)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(said)}" for name, said in told.items())
    (HERE / f"expected.{VERSION}.json").write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main()
