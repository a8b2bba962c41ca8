"""Parsers on a treebank; skipped where it is not."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from markone import Parser
from markone.model.history import Pass
from markone.structured.corpora import read_sentences
from markone.structured.sentences import Sentences

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[1] / os.environ.get("MARKONE_DATA", "../shared/data") / "ewt"
LARGEST_FILE = 30_000_000


def treebank(part: str) -> Sentences:
    path = FOLDER / f"en_ewt-ud-{part}.conllu.gz"
    if not path.exists():
        pytest.skip(f"there is no {path}")
    return read_sentences(path)


@pytest.mark.parametrize(
    ("mode", "uas", "las"), [("fast", 0.879, 0.861), ("accurate", 0.885, 0.87), ("exact", 0.85, 0.83)]
)
def test_trees_of_english_with_gold_tags(mode: str, uas: float, las: float, tmp_path: Path) -> None:
    parser = Parser.train(treebank("train"), mode=mode)  # type: ignore[arg-type]
    score = parser.evaluate(treebank("test"))
    assert score.uas >= uas and score.las >= las
    parser.save(tmp_path / "en.parser")
    assert (tmp_path / "en.parser").stat().st_size < LARGEST_FILE
    heads, labels = Parser.load(tmp_path / "en.parser").parse_columns(treebank("dev"))
    expected_heads, expected_labels = parser.parse_columns(treebank("dev"))
    assert (heads == expected_heads).all() and labels.tolist() == expected_labels.tolist()


@pytest.mark.parametrize(("mode", "epochs"), [("fast", 3), ("accurate", 2), ("exact", 2)])
def test_a_training_on_english_is_taken_up(mode: str, epochs: int, tmp_path: Path) -> None:
    sentences, kept = treebank("train"), tmp_path / "kept"
    how: dict[str, Any] = {"mode": mode, "epochs": epochs}

    def interrupt(result: Pass) -> None:
        if result.epoch == 1:
            signal.raise_signal(signal.SIGINT)

    Parser.train(sentences, checkpoint=kept, callback=interrupt, **how)
    Parser.train(sentences, resume=kept, **how).save(tmp_path / "resumed")
    Parser.train(sentences, **how).save(tmp_path / "whole")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()


def test_trees_of_english_with_tags_of_its_own(tmp_path: Path) -> None:
    parser = Parser.train(treebank("train"), mode="fast", tag=True)
    score = parser.evaluate(treebank("test"))
    assert score.uas >= 0.852 and score.las >= 0.82
    parser.save(tmp_path / "text.parser")
    assert (tmp_path / "text.parser").stat().st_size < LARGEST_FILE
