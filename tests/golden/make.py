"""Makes the golden files: tiny models of data of our own making, and what they say about a few examples.

`python tests/golden/make.py` writes them anew beside itself. That is for a new version of the format only: files of a
version that has been released stay as they are, and every later Markone must read them to the bit.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import markone

HERE = Path(__file__).parent
VERSION = 1


@dataclass(frozen=True, slots=True)
class Case:
    """What a model is trained on, how, and what it is asked."""

    data: Any
    target: Any
    asked: list[Any]
    """Examples as JSON has them: texts, dicts, or images as lists of lists."""
    features: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)

    def train(self, **more: Any) -> markone.Model:
        return markone.train(self.data, target=self.target, features=self.features, threads=1, **self.settings, **more)


def examples(asked: list[Any]) -> Any:
    """What a case asks, as `predict` wants it: lists of lists are images."""
    return np.array(asked, np.uint8) if isinstance(asked[0], list) else asked


MAIL = [
    ("Free money! Win a prize now", "spam"),
    ("See you at lunch, bring the report", "ham"),
    ("Win free money", "spam"),
    ("The report about the prize is free", "ham"),
    ("Vote now, please", "spam"),
    ("See the report soon", "ham"),
]
"""18 words."""
WORDS = {"words": [1, 1], "signs": False, "value": "count", "weight": "none"}
ASKED = ["Free prize! Vote now", "bring the report", "", "unheard-of words \U0001f600", "WIN, win; win"]

CARS: list[dict[str, Any]] = [
    {"make": "volvo", "fuel": "diesel", "power": 110.5, "doors": 5, "old": True},
    {"make": "fiat", "fuel": "petrol", "power": 69.0, "doors": 3, "old": False},
    {"make": "volvo", "fuel": "petrol", "power": None, "doors": 5, "old": False},
    {"make": "fiat", "fuel": None, "power": 85.25, "doors": 5, "old": True},
    {"make": "tesla", "fuel": "electric", "power": 283.0, "doors": 4, "old": None},
    {"make": None, "fuel": "diesel", "power": 90.0, "doors": 3, "old": True},
]
VERDICTS = [True, False, True, False, True, False]


def images(seed: int, count: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Upright bars and lying ones in turn, with noise."""
    random = np.random.default_rng(seed)
    made = random.integers(0, 60, (count, 6, 5)).astype(np.uint8)
    for i, image in enumerate(made):
        place = random.integers(0, 5)
        (image if i % 2 else image.T)[place] = 200 + i
    return made


def write_images() -> None:
    for name, values in (("images-idx3", images(1, 12)), ("labels-idx1", np.arange(12, dtype=np.uint8) % 2)):
        head = struct.pack(f">4B{values.ndim}I", 0, 0, 8, values.ndim, *values.shape)
        (HERE / f"bars-{name}-ubyte").write_bytes(head + values.tobytes())


def cases() -> dict[str, Case]:
    texts, labels = map(list, zip(*MAIL, strict=True))
    return {
        "words": Case(texts, labels, ASKED, {"text": WORDS, "unit": False}),
        "defaults": Case(texts, labels, ASKED),
        "hashed": Case(
            texts,
            labels,
            ASKED,
            {"text": {"words": [1, 2], "characters": [2, 3], "hash_bits": 6, "weight": "odds", "value": "binary"}},
            {"rule": "perceptron", "epochs": 3},
        ),
        "three-classes": Case(
            texts,
            [1, 2, 3, 1, 2, 3],
            ASKED,
            {"text": {"weight": "idf", "negation": True, "signs": True, "templates": ["lower"]}, "unit": True},
            {"C": float("inf"), "average": False},
        ),
        "lexicon": Case(
            texts,
            labels,
            ASKED,
            {
                "text": {
                    **WORDS,
                    "lexicons": {"greedy": ["win", "free money"]},
                    "document": ["exclamation", "log-words"],
                },
                "unit": False,
            },
            {"rule": "hinge", "eta": 0.5, "schedule": "sqrt"},
        ),
        "logistic": Case(
            texts * 5,
            labels * 5,
            ASKED,
            {"text": {**WORDS, "words": [1, 2], "min_count": 6, "max_features": 12}, "unit": False},
            {
                "rule": "logistic",
                "schedule": "adagrad",
                "penalty": "l1",
                "strength": 0.01,
                "holdout": 0.2,
                "patience": 2,
                "seed": 7,
            },
        ),
        # Its file is of a version without the setting `gradient`, where it was always the mean.
        "ascent": Case(
            texts,
            labels,
            ASKED,
            {"text": WORDS, "unit": False},
            {"rule": "logistic", "solver": "ascent", "eta": 0.75, "strength": 0.01, "epochs": 3},
        ),
        "table": Case(
            CARS,
            VERDICTS,
            [*CARS, {"make": "saab", "fuel": "coal", "power": 1e6, "doors": None, "old": False}],
            {"conjunctions": ["make*fuel", "make*power"], "degree": 2, "columns": {"doors": {"scale": "max-abs"}}},
        ),
        "images": Case(
            HERE / "bars-images-idx3-ubyte", None, images(2, 4).tolist(), {"image": {"pixels": "on-off", "patches": 2}}
        ),
        "rows": Case(
            HERE / "rows.libsvm",
            None,
            [{"1": 1.5, "2": -1, "99": 3}, {"3": 0.5}, {}],
            {"rows": {"scale": "max-abs"}},
        ),
    }


def main() -> None:
    write_images()
    told = {}
    for name, case in cases().items():
        model = case.train()
        for final in (False, True):
            path = HERE / f"{name}{'-final' if final else ''}.{VERSION}.model"
            model.save(path, final=final)
        told[name] = {
            "asked": case.asked,
            "predicted": list(model.predict(examples(case.asked)).tolist()),
            "scores": model.scores(examples(case.asked)).tolist(),
            "weights": {name: weights.tolist() for name, weights in model.weights().items()},
        }
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(said)}" for name, said in told.items())
    (HERE / f"expected.{VERSION}.json").write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main()
