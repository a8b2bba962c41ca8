"""Digests of models of every kind: that the same data give the same bytes with any version of NumPy, SciPy and Python.

`python tests/golden/digests.py` trains them and writes `digests.json` anew beside itself. That is for a change by which
models are meant to become others; it is done with the newest versions, and `make oldest` compares the oldest with it.
A digest is of one part of a file, so that a difference has a name. The version of Markone and the times that a training
took are in no digest.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import markone
from markone.demo.stories import write_stories
from markone.storage.container import read_file

DIGESTS = Path(__file__).parent / "digests.json"
WORDS = (
    *("sun", "rain", "wind", "snow", "fog", "hail", "mist", "storm", "cold", "warm"),
    *("dry", "wet", "high", "low", "early", "late", "never", "always", "north", "south"),
)
TOWNS = ("Ulm", "Bonn", "Köln", "Jena")


def texts(rows: int = 300, classes: int = 2) -> dict[str, list[Any]]:
    """By Python's own generator, whose numbers no version changes."""
    chance = random.Random(1)
    found: dict[str, list[Any]] = {"text": [], "y": []}
    for _ in range(rows):
        label = chance.randrange(classes)
        size = chance.randrange(3, 15)
        some = [WORDS[(chance.randrange(9) + 5 * label + chance.randrange(4)) % len(WORDS)] for _ in range(size)]
        rare = [f"{word}{chance.randrange(30)}" for word in some]
        found["text"].append(" ".join(some + rare) + ("!" if chance.random() < 0.3 else "."))
        found["y"].append(f"class {label}")
    return found


def table(rows: int = 300, classes: int = 2) -> dict[str, list[Any]]:
    chance = random.Random(2)
    found: dict[str, list[Any]] = {"length": [], "weight": [], "town": [], "old": [], "y": []}
    for _ in range(rows):
        label = chance.randrange(classes)
        found["length"].append(label + 3 * chance.random())
        found["weight"].append(None if chance.random() < 0.1 else 100 * chance.random() * (label + 1))
        found["town"].append(TOWNS[(label + chance.randrange(2)) % 4])
        found["old"].append(chance.random() < 0.3 + 0.2 * label)
        found["y"].append(f"class {label}")
    return found


def numbers(rows: int = 300, classes: int = 2) -> dict[str, list[Any]]:
    """Rows of numbers that no plane separates."""
    chance = random.Random(3)
    found: dict[str, list[Any]] = {**{f"x{i}": [] for i in range(6)}, "y": []}
    for _ in range(rows):
        label = chance.randrange(classes)
        for i in range(6):
            found[f"x{i}"].append(4 * chance.random() - 2 + (label if i % 3 == label else 0))
        found["y"].append(f"class {label}")
    return found


def apart(rows: int = 120, classes: int = 2) -> dict[str, list[Any]]:
    """Rows of numbers that planes separate."""
    chance = random.Random(5)
    found: dict[str, list[Any]] = {**{f"x{i}": [] for i in range(6)}, "y": []}
    for _ in range(rows):
        label = chance.randrange(classes)
        for i in range(6):
            found[f"x{i}"].append(chance.random() + (1.5 if i % 3 == label else 0))
        found["y"].append(f"class {label}")
    return found


Trained = Callable[[Path], Any]


def by_rule(make: Callable[..., dict[str, list[Any]]], classes: int = 2, **how: Any) -> Trained:
    return lambda _: markone.train(make(classes=classes), target="y", threads=1, **how)


def of_stories(train: Callable[..., Any], **how: Any) -> Trained:
    def trained(folder: Path) -> Any:
        write_stories(folder / "some.conllu", 40, 1)
        return train(folder / "some.conllu", **how)

    return trained


def of_phrases(**how: Any) -> Trained:
    """Tags that are parts of spans."""
    chance = random.Random(4)
    sentences = []
    for _ in range(40):
        words = [chance.choice(WORDS) for _ in range(chance.randrange(2, 9))]
        inside, sentence = False, []
        for word in words:
            named = WORDS.index(word) < 7
            sentence.append((word, ("I-X" if inside else "B-X") if named else "O"))
            inside = named
        sentences.append(sentence)
    return lambda _: markone.Tagger.train(sentences, **how)


def cut(text: str) -> list[list[str]]:
    """All ways to cut a text in two, or not at all."""
    return [[text], *([text[:i], text[i:]] for i in range(1, len(text)))]


def structured(**how: Any) -> Trained:
    pairs = [(one + other, [one, other]) for one in WORDS[:6] for other in WORDS[6:12]]
    return lambda _: markone.StructuredPerceptron(lambda _, y: y, answers=cut, epochs=5, **how).train(pairs)


KINDS: dict[str, Trained] = {
    "perceptron": by_rule(texts, rule="perceptron", epochs=5),
    "perceptron, difference, last": by_rule(numbers, rule="perceptron", form="difference", average=False, epochs=5),
    "perceptron, random start": by_rule(numbers, rule="perceptron", start="random", epochs=5),
    "perceptron, bounds": by_rule(numbers, rule="perceptron", bounds=True, epochs=5),
    "perceptron, 3 classes": by_rule(texts, 3, rule="perceptron", order="once", epochs=5),
    "mira": by_rule(texts, rule="mira", epochs=5, holdout=0.2),
    "mira, table": by_rule(table, rule="mira", epochs=5),
    "mira, 3 classes": by_rule(table, 3, rule="mira", epochs=5, features={"degree": 2}),
    "mira, idf": by_rule(texts, rule="mira", epochs=3, features={"text": {"weight": "idf"}}),
    "mira, odds": by_rule(texts, rule="mira", epochs=3, features={"text": {"weight": "odds"}}),
    "mira, log counts": by_rule(texts, rule="mira", epochs=3, features={"text": {"value": "log"}}),
    "mira, hashed": by_rule(texts, rule="mira", epochs=3, features={"text": {"hash_bits": 8, "characters": [2, 4]}}),
    "mira, document": by_rule(texts, epochs=3, features={"text": {"document": ["log-words", "exclamation"]}}),
    "mira, mistakes": by_rule(numbers, rule="mira", update="mistake", form="difference", epochs=5),
    "hinge": by_rule(numbers, rule="hinge", schedule="sqrt", penalty="l2", strength=0.01, epochs=5),
    "hinge, 3 classes": by_rule(texts, 3, rule="hinge", schedule="adagrad", epochs=5),
    "logistic": by_rule(texts, rule="logistic", epochs=5),
    "logistic, adagrad, l1": by_rule(table, rule="logistic", schedule="adagrad", penalty="l1", epochs=5),
    "logistic, inverse, l2": by_rule(numbers, rule="logistic", schedule="inverse", penalty="l2", epochs=5),
    "logistic, 3 classes": by_rule(numbers, 3, rule="logistic", epochs=5),
    "newton": by_rule(numbers, rule="logistic", solver="newton"),
    "newton, texts": by_rule(texts, rule="logistic", solver="newton", penalty="l2"),
    "newton, l1": by_rule(numbers, rule="logistic", solver="newton", penalty="l1", strength=0.01),
    "newton, 3 classes": by_rule(table, 3, rule="logistic", solver="newton", penalty="l2", strength=0.01),
    "ascent": by_rule(numbers, rule="logistic", solver="ascent", epochs=20),
    "ascent, 3 classes": by_rule(numbers, 3, rule="logistic", solver="ascent", epochs=20),
    "ascent, mean": by_rule(numbers, rule="logistic", solver="ascent", gradient="mean", eta=0.2, epochs=20),
    "svm": by_rule(numbers, rule="svm"),
    "svm, squared": by_rule(texts, rule="svm", loss="squared"),
    "svm, hard margin": by_rule(apart, rule="svm", C=math.inf, tol=1e-9),
    "svm, hard margin, 3 classes": by_rule(apart, 3, rule="svm", C=math.inf, tol=1e-9),
    "svm, crammer-singer": by_rule(numbers, 3, rule="svm"),
    "svm, one-versus-rest": by_rule(texts, 3, rule="svm", multiclass="one-versus-rest"),
    "naive-bayes": by_rule(texts, rule="naive-bayes"),
    "naive-bayes, bernoulli": by_rule(texts, 3, rule="naive-bayes", likelihood="bernoulli", priors="uniform"),
    "naive-bayes, alpha": by_rule(texts, rule="naive-bayes", alpha=0.8),
    "naive-bayes, table": by_rule(table, 3, rule="naive-bayes"),
    "naive-bayes, numbers": by_rule(numbers, rule="naive-bayes"),
    "mlp": by_rule(numbers, rule="mlp", hidden=(8,), epochs=4),
    "mlp, texts": by_rule(texts, 3, rule="mlp", hidden=(8,), epochs=4, dropout=0.2),
    "mlp, two layers": by_rule(table, rule="mlp", hidden=(8, 4), activation="tanh", optimizer="sgd", epochs=4),
    "mlp, sigmoid": by_rule(
        numbers, 3, rule="mlp", hidden=(8,), activation="sigmoid", optimizer="adagrad", penalty="l2", epochs=4
    ),
    "tagger": of_stories(markone.Tagger.train, epochs=3),
    "tagger, perceptron, greedy": of_stories(markone.Tagger.train, epochs=3, rule="perceptron", decode="greedy"),
    "tagger, beam": of_stories(markone.Tagger.train, epochs=3, decode="beam", holdout=0.2),
    "tagger, spans": of_phrases(epochs=3),
    "parser, fast": of_stories(markone.Parser.train, mode="fast", epochs=3, tag=True),
    "parser, accurate": of_stories(markone.Parser.train, mode="accurate", epochs=3, round=2, beam=4),
    "parser, exact": of_stories(markone.Parser.train, mode="exact", epochs=3),
    "structured": structured(),
    "structured, mira": structured(rule="mira", cost=lambda y, z: float(y != z)),
}


def digests_of(name: str, folder: Path) -> dict[str, str]:
    """Of a model of this kind: the digest of each part of its file, by name."""
    KINDS[name](folder).save(folder / "one.model")
    saved = read_file(folder / "one.model")
    facts = {f"facts {'.'.join(key)}": json.dumps(value).encode() for key, value in leaves(saved.facts)}
    arrays = {
        f"array {key}": f"{array.dtype} {array.shape} ".encode() + array.tobytes()
        for key, array in saved.arrays.items()
    }
    return {part: hashlib.sha256(content).hexdigest()[:16] for part, content in sorted({**facts, **arrays}.items())}


def leaves(facts: dict[str, Any]) -> list[tuple[tuple[str, ...], Any]]:
    """Facts of some size, by where they are: those of a history by what they are of each pass."""
    found: list[tuple[tuple[str, ...], Any]] = []
    for key, value in facts.items():
        if key == "history":
            passes = value["passes"]
            found += [(("history", one), [row[one] for row in passes]) for one in (passes[0] if passes else ())]
            found.append((("history", "else"), {**value, "passes": None}))
        else:
            found.append(((key,), value))
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = {name: digests_of(name, Path(folder)) for name in KINDS}
    DIGESTS.write_text(json.dumps(found, indent=1) + "\n")
    print(f"{len(found)} kinds of models: {DIGESTS}")


if __name__ == "__main__":
    main()
