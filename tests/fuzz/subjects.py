"""Subjects: every kind of model, the few examples that it learns from, and all that can be done with it."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np

import markone
from markone import Parser, StructuredPerceptron, Tagger
from markone.demo.stories import stories

Step = tuple[str, Callable[[], object]]
"""Something that can be done with a model, with its name."""


class Subject(ABC):
    """A kind of model."""

    name: str
    passes = 2
    """Of its training."""

    @property
    def has_one_pass(self) -> bool:
        """Whether its training always has one pass."""
        return False

    @abstractmethod
    def train(self, **more: Any) -> Any:
        """Learns its few examples, from the start or from what is kept in a file (`resume`)."""

    @abstractmethod
    def load(self, path: Path) -> Any:
        """The model in a file."""

    @abstractmethod
    def steps(self, model: Any) -> list[Step]:
        """All that can be done with a model, the answers to examples first."""


# ---- classifiers

TEXTS = [
    "Free money! Win a prize now",
    "See you at lunch, bring the report",
    "Win free money",
    "The report is not free",
    "Vote now, please",
    "See the report soon",
    "no money, no prize",
    "lunch is at noon",
]
TWO = ["spam", "ham"] * 4
THREE = [1, 2, 3, 1, 2, 3, 2, 1]
CARS: list[dict[str, Any]] = [
    {"make": "volvo", "fuel": "diesel", "power": 110.5, "doors": 5, "old": True},
    {"make": "fiat", "fuel": "petrol", "power": 69.0, "doors": 3, "old": False},
    {"make": "volvo", "fuel": "petrol", "power": None, "doors": 5, "old": False},
    {"make": "fiat", "fuel": None, "power": 85.25, "doors": 5, "old": True},
    {"make": "tesla", "fuel": "electric", "power": 283.0, "doors": 4, "old": None},
    {"make": None, "fuel": "diesel", "power": 90.0, "doors": 3, "old": True},
    {"make": "volvo", "fuel": "diesel", "power": 75.0, "doors": 3, "old": True},
    {"make": "fiat", "fuel": "petrol", "power": 44.0, "doors": 5, "old": False},
]
GIVEN = [{"a": 1.5, "b": -1.0}, {"b": 2.0}, {"a": 0.5, "c": 1.0}, {"c": 3.0}] * 2
BARS = Path(__file__).parents[1] / "golden" / "bars-images-idx3-ubyte"
IMAGES = np.random.default_rng(1).integers(0, 255, (2, 6, 5)).astype(np.uint8)
WORDS = {"words": [1, 1], "weight": "none", "value": "count"}
DATA: dict[str, tuple[Any, Any]] = {"texts": (TEXTS, "another free report"), "cars": (CARS, CARS[2])}
DATA |= {"images": (BARS, IMAGES[0]), "given": (GIVEN, {"a": 1.0, "z": 2.0})}
SQUARES = [{"x": float(i % 17), "y": float(i // 17 % 13), "kind": "ab"[i % 2]} for i in range(400)]
DATA |= {"squares": (SQUARES, SQUARES[5])}
DATA |= {"lists": (8 * TEXTS, "another free report")}
LISTS = 8 * [["spam", "money"], [], ["money", "spam"], ["work"], [], ["work"], ["money"], ["work", "lunch"]]
TARGETS = {"images": None, "lists": LISTS, "squares": [str((row["x"] > 8) == (row["y"] > 6)) for row in SQUARES]}
"""The targets of data that have other rows than the texts."""


@dataclass
class Classifier(Subject):
    """What `markone.train` gives, by one rule from one kind of data."""

    name: str
    data: str = "texts"
    classes: Literal[2, 3] = 2
    features: dict[str, Any] = field(default_factory=lambda: {"text": WORDS})
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def has_one_pass(self) -> bool:
        """Counts are made in one pass, and so are labels that are learned one after the other."""
        rule = self.settings.get("rule")
        return rule == "naive-bayes" or (self.data == "lists" and rule in ("logistic", "svm"))

    @cached_property
    def source(self) -> Any:
        target = TARGETS.get(self.data, TWO if self.classes == 2 else THREE)
        return markone.read(DATA[self.data][0], target=target)

    def train(self, **more: Any) -> Any:
        # What was counted on the way is not damaged by more passes, of which counts have none.
        if self.has_one_pass:
            more.pop("epochs", None)
        how = {"holdout": 0.0, **self.settings, **more}
        return markone.train(self.source, features=self.features, threads=1, **how)

    def load(self, path: Path) -> Any:
        return markone.load(path)

    def steps(self, model: Any) -> list[Step]:
        one = DATA[self.data][1]
        return [
            ("predict", lambda: model.predict(self.source, threads=1)),
            ("scores", lambda: model.scores(self.source, threads=1)),
            ("probabilities", lambda: model.probabilities(self.source, threads=1)),
            ("evaluate", lambda: str(model.evaluate(self.source, threads=1))),
            ("losses", lambda: str(model.losses(self.source, threads=1))),
            ("explain an example", lambda: [str(found := model.explain(one)), found.as_dict()]),
            ("explain", lambda: [str(found := model.explain()), found.as_dict()]),
            ("names and weights", lambda: [repr(model), str(model.history), model.weights()]),
            ("learn on", lambda: markone.train(self.source, from_model=model, threads=1, epochs=1, holdout=0.0)),
        ]


def classifiers() -> Iterator[Classifier]:
    rules: dict[str, dict[str, Any]] = {
        "perceptron": {"rule": "perceptron"},
        "perceptron-last": {"rule": "perceptron", "average": False, "form": "difference", "order": "given"},
        "perceptron-bounds": {"rule": "perceptron", "bounds": True},
        "perceptron-patience": {"rule": "perceptron", "holdout": 0.4, "patience": 3},
        "mira": {"rule": "mira"},
        "mira-mistakes": {"rule": "mira", "update": "mistake", "form": "difference"},
        "logistic": {"rule": "logistic", "penalty": "l2", "strength": 0.01},
        "logistic-adagrad": {"rule": "logistic", "schedule": "adagrad", "penalty": "l1", "strength": 0.001},
        "hinge": {"rule": "hinge", "schedule": "inverse", "strength": 0.01, "penalty": "l2"},
        "newton": {"rule": "logistic", "solver": "newton", "strength": 0.01},
        "newton-l1": {"rule": "logistic", "solver": "newton", "penalty": "l1", "strength": 0.01},
        "ascent": {"rule": "logistic", "solver": "ascent", "strength": 0.01},
        "svm": {"rule": "svm", "tol": 1e-9},
        "svm-squared": {"rule": "svm", "loss": "squared", "bias": False, "tol": 1e-9},
        "bayes": {"rule": "naive-bayes"},
        "bayes-alpha": {"rule": "naive-bayes", "alpha": 0.5, "priors": "uniform"},
        "bayes-bernoulli": {"rule": "naive-bayes", "likelihood": "bernoulli", "k": 0.5},
        "bayes-gaussian": {"rule": "naive-bayes", "likelihood": "gaussian"},
        "mlp": {"rule": "mlp", "hidden": (3,)},
        "mlp-deep": {"rule": "mlp", "hidden": (4, 2), "optimizer": "adagrad", "dropout": 0.5, "activation": "tanh"},
        "mlp-sgd": {"rule": "mlp", "hidden": (2,), "optimizer": "sgd", "activation": "sigmoid", "batch": 3},
    }
    for (name, settings), classes in product(rules.items(), (2, 3)):
        if not (name == "perceptron-bounds" and classes == 3):
            yield Classifier(f"{name}-{classes}", classes=classes, settings=settings)
    for loss in ("hinge", "squared"):
        how = {"rule": "svm", "loss": loss, "multiclass": "one-versus-rest", "tol": 1e-9}
        yield Classifier(f"svm-{loss}-rest-3", classes=3, settings=how)
    yield Classifier("svm-patience-3", classes=3, settings={"rule": "svm", "holdout": 0.4, "patience": 3, "tol": 1e-9})
    for rule, holdout in (("mira", 0.0), ("perceptron", 0.3), ("logistic", 0.0), ("svm", 0.0)):
        how = {"rule": rule, "holdout": holdout, "threshold": "f1"}
        yield Classifier(f"{rule}-of-lists", "lists", settings=how)
    yield Classifier("mlp-patience-2", settings={"rule": "mlp", "hidden": (3,), "holdout": 0.4, "patience": 3})

    everything = {"conjunctions": ["make*fuel", "make*power"], "columns": {"doors": {"scale": "max-abs"}}}
    maps: dict[str, tuple[str, dict[str, Any]]] = {
        "usual": ("texts", {}),
        "ngrams": ("texts", {"text": {"words": [1, 2], "weight": "idf", "negation": True, "templates": ["lower"]}}),
        "characters": ("texts", {"text": {"words": [], "characters": [2, 3]}}),
        "hashed": ("texts", {"text": {"words": [1, 2], "characters": [2, 2], "hash_bits": 6}}),
        "documents": (
            "texts",
            {
                "text": {
                    **WORDS,
                    "lexicons": {"greedy": ["win", "free"]},
                    "document": ["no", "pronouns", "exclamation", "log-words"],
                }
            },
        ),
        "mails": ("texts", {"email": True}),
        "table": ("cars", {}),
        "conjunctions": ("cars", everything),
        "products": ("cars", {"degree": 2, "categorical": {"min_count": 2}}),
        "images": ("images", {"image": {"pixels": "on-off", "patches": 2}}),
        "greys": ("images", {"image": {"patches": 3, "threshold": 0.3}}),
        "rows": ("given", {"rows": {"scale": "standard"}}),
    }
    curved = {"numeric": {"curves": True}, "pairs": True}
    for solver in ("newton", "ascent"):
        yield Classifier(
            f"{solver}-of-curves", "squares", features=curved, settings={"rule": "logistic", "solver": solver}
        )
    for name, how in {"threshold": {"threshold": "f1"}, "abstention": {"abstain": 0.9, "holdout": 0.3}}.items():
        yield Classifier(f"mira-{name}", "squares", features={}, settings={"rule": "mira", **how})
    for name, (data, features) in maps.items():
        for rule in ("mira", "svm", "naive-bayes", "mlp"):
            if rule == "naive-bayes":
                features = {
                    group: told for group, told in features.items() if group in ("categorical", "conjunctions", "email")
                }
            settings = {"rule": rule, **({"hidden": (2,)} if rule == "mlp" else {})}
            yield Classifier(f"{rule}-of-{name}", data, features=features, settings=settings)


# ---- taggers, parsers and what else is learned from parts

STORIES = [words[:8] for words in stories(6, 1)]
TAGGED = [[(word, tag) for word, tag, _, _ in words] for words in STORIES]
TREES = [
    {
        "form": [word for word, _, _, _ in words],
        "upos": [tag for _, tag, _, _ in words],
        "head": [head for _, _, head, _ in words],
        "deprel": [role for _, _, _, role in words],
    }
    for words in stories(6, 1)
]


def in_phrases(tag: str) -> str:
    return "B-NP" if tag == "DET" else "I-NP" if tag in ("ADJ", "NOUN") else "O"


PHRASES = [
    {"form": [w for w, _ in words], "pos": [t for _, t in words], "tag": [in_phrases(t) for _, t in words]}
    for words in TAGGED
]
FEW_TEMPLATES = ["lower[0]", "suffix2[0]", "lower[-1] lower[0]", "tag[-1]"]


@dataclass
class TaggerSubject(Subject):
    """A tagger by one search."""

    name: str
    settings: dict[str, Any]
    data: Any = field(default_factory=lambda: TAGGED)

    def train(self, **more: Any) -> Any:
        return Tagger.train(self.data, **{**self.settings, **more})

    def load(self, path: Path) -> Any:
        return Tagger.load(path)

    def steps(self, model: Any) -> list[Step]:
        one = self.data[0] if isinstance(self.data[0], dict) else [word for word, _ in self.data[0]]
        return [
            ("tag", lambda: model.tag(self.data)),
            ("scores", lambda: [model.scores(self.data), model.margins(self.data)]),
            ("best", lambda: model.best(one, 3)),
            ("evaluate", lambda: str(model.evaluate(self.data))),
            ("explain", lambda: [str(found := model.explain(one, 1)), found.as_dict()]),
            ("strongest", lambda: [repr(model), str(model.history), model.strongest(model.tags[0])]),
        ]


@dataclass
class ParserSubject(Subject):
    """A parser in one mode."""

    name: str
    settings: dict[str, Any]

    def train(self, **more: Any) -> Any:
        return Parser.train(TREES, **{**self.settings, **more})

    def load(self, path: Path) -> Any:
        return Parser.load(path)

    def steps(self, model: Any) -> list[Step]:
        one = {name: TREES[0][name] for name in ("form", "upos")}
        return [
            ("parse", lambda: model.parse(TREES)),
            ("evaluate", lambda: [str(model.evaluate(TREES)), repr(model), str(model.history)]),
            ("explain", lambda: [str(found := model.explain(one, 1)), found.as_dict()]),
        ]


def cut_into_words(text: str) -> Iterator[list[str]]:
    yield [text]
    for i in range(1, len(text)):
        for rest in cut_into_words(text[i:]):
            yield [text[:i], *rest]


CUT = [("thedog", ["the", "dog"]), ("adog", ["a", "dog"]), ("adogb", ["a", "dog", "b"]), ("bad", ["bad"])]


def words_of(_: str, words: list[str]) -> list[str]:
    return words


def differing(one: list[str], other: list[str]) -> float:
    return float(len(set(one) ^ set(other)))


@dataclass
class StructuredSubject(Subject):
    """A structured perceptron that cuts texts into words."""

    name: str
    settings: dict[str, Any]
    cost: Callable[[Any, Any], float] | None = None

    def train(self, **more: Any) -> Any:
        settings = {**self.settings, "epochs": more.pop("epochs", None)}
        return StructuredPerceptron(words_of, answers=cut_into_words, cost=self.cost, **settings).train(CUT, **more)

    def load(self, path: Path) -> Any:
        return StructuredPerceptron.load(path, words_of, answers=cut_into_words, cost=self.cost)

    def steps(self, model: Any) -> list[Step]:
        return [
            ("predict", lambda: [model.predict(x) for x, _ in CUT]),
            ("score", lambda: [model.score(*CUT[0]), model.accuracy(CUT), model.strongest(), str(model.history)]),
            ("explain", lambda: str(model.explain(CUT[2][0]))),
            ("margins", lambda: str(model.margins(CUT))),
        ]


def structured() -> Iterator[Subject]:
    few = {"templates": FEW_TEMPLATES}
    yield TaggerSubject("tagger-viterbi", {})
    yield TaggerSubject("tagger-few", {**few, "rule": "perceptron"})
    yield TaggerSubject("tagger-last", {**few, "average": False})
    yield TaggerSubject("tagger-greedy", {"decode": "greedy", "templates": [*FEW_TEMPLATES, "tag[-2] tag[-1]"]})
    yield TaggerSubject("tagger-beam", {"decode": "beam", "beam": 3})
    yield TaggerSubject("tagger-patience", {**few, "holdout": 0.4, "patience": 3})
    yield TaggerSubject("tagger-spans", {"column": "tag", "inputs": ["pos"]}, PHRASES)
    for mode in ("fast", "accurate", "exact"):
        beam = {"beam": 2, "round": 1} if mode == "accurate" else {}
        yield ParserSubject(f"parser-{mode}", {"mode": mode, **beam})
        yield ParserSubject(f"parser-{mode}-patience", {"mode": mode, **beam, "holdout": 0.4, "patience": 3})
    yield ParserSubject("parser-with-tagger", {"mode": "fast", "tag": True})
    yield StructuredSubject("structured", {})
    yield StructuredSubject("structured-last", {"average": False, "order": "once"})
    yield StructuredSubject("structured-mira", {"rule": "mira", "holdout": 0.4, "patience": 3}, differing)


def every_subject() -> dict[str, Subject]:
    found: dict[str, Subject] = {}
    for subject in (*classifiers(), *structured()):
        assert subject.name not in found
        found[subject.name] = subject
    return found


def some_steps(steps: list[Step], chance: random.Random, most: int) -> list[Step]:
    """The first, which answers, and some of the others."""
    return [steps[0], *chance.sample(steps[1:], min(most, len(steps) - 1))]
