"""Tests an installed wheel, with the packages that are there: `python tests/wheel.py`.

It runs where wheels are built, for every system and every Python, so it takes a second and needs no other file.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

import markone
from markone.cli import main
from markone.extras import installed

X = np.random.default_rng(0).normal(size=(200, 3))
LABELS = np.where(X[:, 0] > 0, "plus", "minus").tolist()


def check() -> None:
    model = markone.train(X, target=LABELS, rule="mira")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "signs.model"
        model.save(path)
        again = markone.load(path)
        assert np.array_equal(again.scores(X), model.scores(X))
        assert again.digest == model.digest
        assert main(["explain", str(path)]) == 0
    assert np.mean(model.predict(X) == np.array(LABELS)) > 0.9
    tagger = markone.Tagger.train([[("the", "DET"), ("dog", "NOUN")]] * 3, epochs=2)
    assert tagger.tag([["the", "dog"]]) == [["DET", "NOUN"]]
    if installed("pyarrow"):
        texts = markone.train(["free money", "see you"] * 9, target=["spam", "ham"] * 9)
        assert texts.predict("free tea") == "spam"
    if installed("sklearn"):
        assert markone.Perceptron().fit(X, LABELS).score(X, LABELS) > 0.9


if __name__ == "__main__":
    check()
    print(f"Markone {markone.__version__} works with Python {sys.version.split()[0]}.")
