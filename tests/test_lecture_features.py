"""The lectures' worked examples of features, each out of a spec and by name."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import markone
from markone import FeatureMap, Features, reference
from markone.lectures.sentiment import LEXICONS, REVIEW
from parts import PLAIN_TEXT

SIX = {"words": [], "lexicons": LEXICONS, "document": ["no", "pronouns", "exclamation", "log-words"]}


def fitted(examples: Any, labels: list[str], **spec: Any) -> FeatureMap:
    source = markone.read(examples, target=labels)
    spec["text"] = {**PLAIN_TEXT, **spec.get("text", {})}
    return FeatureMap(Features(**spec, unit=False), source.columns).fit(source)


def test_a_review_of_64_words_has_six_features() -> None:
    assert len(reference.tokenize(REVIEW)) == 64
    feature_map = fitted([REVIEW, "no!"], ["good", "bad"], text=SIX)
    assert feature_map.names() == ["positive", "negative", "no", "pronouns", "!", "ln words"]
    found = [feature_map.named(REVIEW).get(name, 0) for name in feature_map.names()]
    assert found == pytest.approx([3, 2, 1, 3, 0, math.log(64)]) and round(found[5], 2) == 4.16
    z = np.dot([2.5, -5.0, -1.2, 0.5, 2.0, 0.7], [*found[:5], 4.15]) + 0.1
    assert z == pytest.approx(0.805) and reference.sigmoid(z) == pytest.approx(0.69, abs=0.002)
    assert feature_map.named("no!") == {"no": 1, "!": 1}  # and ln 1 = 0


def test_free_money_is_spam_by_name() -> None:
    feature_map = fitted(["free money", "money"], ["spam", "ham"])
    features = {"BIAS": 1, **feature_map.named("free money")}
    assert features == {"BIAS": 1, "free": 1, "money": 1}
    assert reference.dot({"BIAS": -3, "free": 4, "money": 2}, features) == 3


def test_win_the_vote_is_politics_by_name() -> None:
    feature_map = fitted(["win the game", "win the vote"], ["SPORTS", "POLITICS"])
    features = {"BIAS": 1, **feature_map.named("win the vote")}
    weights = {
        "SPORTS": {"BIAS": -2, "win": 4, "game": 4, "vote": 0, "the": 0},
        "POLITICS": {"BIAS": 1, "win": 2, "game": 0, "vote": 4, "the": 0},
        "TECH": {"BIAS": 2, "win": 0, "game": 2, "vote": 0, "the": 0},
    }
    assert {label: reference.dot(vector, features) for label, vector in weights.items()} == {
        "SPORTS": 2,
        "POLITICS": 7,
        "TECH": 2,
    }


def test_makes_become_indicators() -> None:
    cars = {
        "cylinders": [4, 6, 4, 8],
        "weight": [2220, 3425, 1835, 4746],
        "make": ["asia", "ameri", "europ", "ameri"],
    }
    feature_map = fitted(cars, ["good", "bad", "bad", "bad"], numeric={"scale": "none"})
    assert {"make=asia", "make=europ", "make=ameri", "cylinders", "weight"} <= {*feature_map.names()}
    assert feature_map.named({"cylinders": 4, "weight": 1835, "make": "europ"}) == {
        "cylinders": 4,
        "weight": 1835,
        "make=europ": 1,
    }
    assert feature_map.named({"cylinders": 4, "weight": 0, "make": "mars"}) == {"cylinders": 4, "make is another": 1}


def test_word_templates_make_three_features_of_a_word() -> None:
    feature_map = fitted(["Good, not good", "x"], ["a", "b"], text={"templates": ["lower", "not"]})
    assert feature_map.named("Good, not good") == {"good": 2, "lower:good": 1, "lower:not": 1, "not": 1, "NOT_good": 1}


def test_a_curved_boundary_is_linear_in_the_squares() -> None:
    random = np.random.default_rng(0)
    x = random.uniform(-12, 12, (400, 2))
    labels = np.where(x[:, 0] ** 2 - 2 * x[:, 1] + 27 > 60, "outside", "inside")
    frame = {"x1": x[:, 0].tolist(), "x2": x[:, 1].tolist()}
    source = markone.read(frame, target=labels.tolist())
    plain = markone.train(source, rule="perceptron", epochs=200)
    squares = markone.train(source, rule="perceptron", epochs=200, features={"degree": 2})
    assert {"x1*x1", "x1*x2", "x2*x2"} < {*squares.features.names()}
    assert squares.accuracy(source) > 0.985 > 0.9 > plain.accuracy(source)


def test_any_function_adds_a_feature() -> None:
    def all_caps(text: str) -> bool:
        return text.isupper()

    feature_map = fitted(["FREE", "free"], ["spam", "ham"], functions={"ALL CAPS": all_caps})
    assert feature_map.named("FREE") == {"free": 1, "ALL CAPS()": 1} and feature_map.named("free") == {"free": 1}
