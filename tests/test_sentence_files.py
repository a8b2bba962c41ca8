"""Files of taggers, parsers and structured perceptrons that somebody has written: whatever stands in them, under
checksums that are right, is refused in a sentence, or does no harm. And golden files, of older versions."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from forging import Forged, places, put
from golden_sentences.make_sentences import (
    HERE,
    PARSERS,
    SENTENCES,
    TAGGERS,
    VERSION,
    asked_of_parser,
    asked_of_tagger,
)
from markone import DataError, Parser, SettingsError, StructuredPerceptron, Tagger
from markone.model.history import Pass
from markone.storage.container import TYPES

ODD: list[Any] = [0, -1, 1, 2**31, 2**63 - 1, 2**63, 10**30, 10**400, 0.5, -1e300]
ODD += [None, True, "", "x", "nan", [], [1], {}]
FEW = ["lower[0]", "known[0]", "prefix5[0]", "suffix4[-1]"]


class Kind(NamedTuple):
    """What learns from few sentences, in two passes or more, and can be taken up again."""

    train: Callable[..., Any]
    """With checkpoint, resume, epochs, callback."""
    load: Callable[[Path], Any]
    use: Callable[[Any], Any]


def features(x: list[str], y: list[str]) -> dict[str, float]:
    return {f"{word} {tag}": 1.0 for word, tag in zip(x, y, strict=True)}


def tags_of(x: list[str]) -> list[list[str]]:
    return [[tag] * len(x) for tag in ("NOUN", "VERB", "DET")]


PAIRS = [(["dog"], ["NOUN"]), (["sees"], ["VERB"]), (["the", "a"], ["DET", "DET"]), (["dog"], ["VERB"])]


def train_perceptron(**how: Any) -> StructuredPerceptron:
    learner = StructuredPerceptron(features, answers=tags_of, epochs=how.pop("epochs"), **how.pop("settings", {}))
    return learner.train(PAIRS, **how)


def tagger(**settings: Any) -> Kind:
    settings = {"column": "upos", "templates": FEW, **settings}
    words = [one["form"] for one in SENTENCES]
    return Kind(lambda **how: Tagger.train(SENTENCES, **settings, **how), Tagger.load, lambda model: model.tag(words))


def parser(**settings: Any) -> Kind:
    return Kind(
        lambda **how: Parser.train(SENTENCES, **settings, **how), Parser.load, lambda model: model.parse(SENTENCES)
    )


KINDS = {
    "viterbi": tagger(),
    "greedy": tagger(decode="greedy", column="ner", rule="perceptron"),
    "beam": tagger(decode="beam", holdout=0.4, patience=9),
    "fast": parser(mode="fast", tag=True),
    "accurate": parser(mode="accurate", beam=2, round=1),
    "exact": parser(mode="exact", holdout=0.4, patience=9),
    "perceptron": Kind(
        train_perceptron,
        lambda path: StructuredPerceptron.load(path, features, answers=tags_of),
        lambda model: [model.predict(x) for x, _ in PAIRS],
    ),
}
kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def kept(kind: Kind, folder: Path) -> bytes:
    """The file of a training that was left after its first pass."""
    path = folder / "kept"

    class Left(Exception):  # noqa: N818 - it is none
        pass

    def leave(result: Pass) -> None:
        if result.epoch == 2:
            raise Left

    with pytest.raises(Left):
        kind.train(epochs=3, checkpoint=path, callback=leave)
    return path.read_bytes()


def check(kind: Kind, content: bytes, path: Path) -> bool:
    """Whether a file is refused when it is loaded or taken up; nothing else may go wrong."""
    path.write_bytes(content)
    try:
        kind.use(kind.load(path))
    except DataError:
        return True
    try:
        kind.use(kind.train(epochs=3, resume=path))
    except (DataError, SettingsError):
        return True
    return False


def changed_facts(content: bytes, share: int = 1) -> Iterator[bytes]:
    """One of so many changes, which are spread over all."""
    for place, odd in list(product(places(Forged(content).told["facts"]), ODD))[::share]:
        forged = Forged(content)
        put(forged.told["facts"], place, odd)
        yield forged.assembled()


def odd_values(dtype: np.dtype[Any]) -> list[Any]:
    if dtype.kind == "f":
        return [0, -1, 0.5, math.nan, math.inf, -math.inf, 3e38]
    if dtype.kind == "b":
        return [False, True]
    limits = np.iinfo(dtype)
    return [0, 1, limits.max, limits.min, limits.max // 2, limits.max - 1]


def changed_arrays(content: bytes) -> Iterator[bytes]:
    tensors = Forged(content).told["tensors"]
    for name, said in tensors.items():
        dtype, size = TYPES[said["dtype"]], math.prod(said["shape"])
        for at in {0, size // 2, size - 1} if size else ():
            for value in odd_values(dtype):
                forged = Forged(content)
                np.frombuffer(forged.array(name), dtype)[at] = value
                yield forged.assembled()
        for more in (-size, -1, 1):
            forged = Forged(content)
            forged.resize(name, more)
            yield forged.assembled()
        for other in TYPES:
            if other != said["dtype"] and TYPES[other].itemsize == dtype.itemsize:
                forged = Forged(content)
                forged.header[name]["dtype"] = forged.told["tensors"][name]["dtype"] = other
                yield forged.assembled()
        forged = Forged(content)
        shape = [1, *said["shape"]]
        forged.header[name]["shape"] = forged.told["tensors"][name]["shape"] = shape
        yield forged.assembled()


@kinds
def test_what_was_kept_is_taken_up(kind: Kind, tmp_path: Path) -> None:
    assert not check(kind, kept(kind, tmp_path), tmp_path / "same")


def some_of(changed: Iterator[bytes], share: int) -> Iterator[bytes]:
    """One of so many, which are spread over all."""
    return (forged for number, forged in enumerate(changed) if number % share == 0)


@kinds
def test_odd_files_are_refused_or_harmless(kind: Kind, tmp_path: Path) -> None:
    content = kept(kind, tmp_path)
    refused = [check(kind, forged, tmp_path / "forged") for forged in changed_facts(content, 97)]
    assert sum(refused) > len(refused) / 2
    for forged in some_of(changed_arrays(content), 97):
        check(kind, forged, tmp_path / "forged")


@pytest.mark.slow
@kinds
def test_all_odd_files_are_refused_or_harmless(kind: Kind, tmp_path: Path) -> None:
    content = kept(kind, tmp_path)
    for changed in (changed_facts, changed_arrays):
        for forged in changed(content):
            check(kind, forged, tmp_path / "forged")


# ---- golden files

EXPECTED: dict[str, Any] = json.loads((HERE / f"expected.{VERSION}.json").read_text())


@pytest.mark.parametrize("name", TAGGERS)
def test_golden_taggers_say_and_learn_what_they_did(name: str) -> None:
    path = HERE / f"{name}.{VERSION}.tagger"
    model = Tagger.load(path)
    assert asked_of_tagger(model) == EXPECTED[f"{name}.tagger"]
    assert "older version" in str(model.evaluate(SENTENCES)) and model.evaluate(SENTENCES).tags.known is None
    how = {**TAGGERS[name], "epochs": 4}
    resumed, whole = Tagger.train(SENTENCES, resume=path, **how), Tagger.train(SENTENCES, **how)
    assert resumed.weights.equals(whole.weights) and whole.evaluate(SENTENCES).tags.known == 22


@pytest.mark.parametrize("name", PARSERS)
def test_golden_parsers_say_and_learn_what_they_did(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.parser"
    path.write_bytes(gzip.decompress((HERE / f"{name}.{VERSION}.parser.gz").read_bytes()))
    assert asked_of_parser(Parser.load(path)) == EXPECTED[f"{name}.parser"]
    how = {**PARSERS[name], "epochs": 4}
    resumed, whole = Parser.train(SENTENCES, resume=path, **how), Parser.train(SENTENCES, **how)
    resumed.save(tmp_path / "resumed")
    whole.save(tmp_path / "whole")
    if name != "exact":  # its older files did not keep the order in which squares are added up
        assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()
    assert asked_of_parser(resumed) == asked_of_parser(whole)


def test_golden_files_are_all_known() -> None:
    names = {*(f"{name}.{VERSION}.tagger" for name in TAGGERS), *(f"{name}.{VERSION}.parser.gz" for name in PARSERS)}
    assert {path.name for path in HERE.iterdir() if path.suffix in (".tagger", ".gz")} == names
