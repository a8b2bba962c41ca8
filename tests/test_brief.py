"""The `repr` of a result is one line, whatever is in it, and its `str` is the report."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

import markone
from markone import Perceptron, Settings, StructuredPerceptron
from markone.brief import LONGEST
from markone.data.blocks import Block
from markone.demo.stories import write_stories
from markone.experiments.loo_online import leave_one_out
from markone.structured.corpora import open_corpus, read_sentences
from markone.structured.explaining import explain_sentence, explain_tagger
from markone.structured.parser import Parser
from markone.structured.scoring import score_spans
from markone.structured.tagger import Tagger

LONG = "extraordinarily long " * 12
API = (Path(__file__).parents[1] / "docs" / "api.md").read_text()


def frame(rows: int = 120) -> pd.DataFrame:
    """Many columns and many classes, with long names, and some texts of several lines."""
    random = np.random.default_rng(0)
    numbers = {f"measured {LONG}{i}": random.normal(size=rows) for i in range(12)}
    words = np.array(["sun", "rain", "wind", f"snow {LONG}", "fog\nand mist"])
    texts = [" ".join(words[random.integers(0, 5, 30)]) for _ in range(rows)]
    label = np.array([f"class {LONG}{i}" for i in range(15)])[np.arange(rows) % 15]
    return pd.DataFrame({**numbers, "text": texts, "label": label})


def results(folder: Path) -> Iterator[Any]:
    table = frame()
    source = markone.read(table, target="label", kinds={"text": "text"})
    yield source
    yield from (markone.inspect(source), markone.inspect({"a": [1] * 60, LONG: ["x"] * 60}, target=["u", "v"] * 30))
    audit = markone.audit(source, rule="mira", folds=2)
    yield from (audit, *audit.findings[:3])
    X, y = np.random.default_rng(0).normal(size=(200, 30)), np.arange(200) % 3
    for rule in ("mira", "naive-bayes", "mlp", "svm"):
        model = markone.train(source, rule=rule, **({"epochs": 2} if rule in ("mira", "mlp") else {}))
        yield from (model, next(model.explain(table[:1])), model.evaluate(source), model.losses(source))
        if rule != "mlp":
            yield model.explain()
    numbers = markone.train(table.drop(columns="label"), target=np.arange(120) / 7, rule="regression")
    yield from (numbers, numbers.evaluate(table.drop(columns="label"), np.arange(120) / 7), numbers.explain())
    counting = markone.train(table["text"].tolist(), target=table["label"].tolist(), rule="naive-bayes")
    yield counting.explain(table["text"][0], running=True)
    model = markone.train(X, target=y % 2, rule="perceptron", bounds=True, epochs=50)
    yield from model.errors(X, y % 2, most=2)
    texts, kinds = ["free money now", "see you soon"] * 150, ["spam", "ham"] * 150
    yield from (markone.train(texts, target=kinds, **how) for how in ({"threshold": "f1"}, {"abstain": 0.3}))
    several = markone.train(texts, target=[["spam", f"long {LONG}"], []] * 150)
    yield from (several, several.evaluate(texts, [["spam"], ["spam"]] * 150), several.explain(texts[0]))
    yield markone.validate(texts, target=[["spam", "ham"], ["spam"]] * 150, folds=2)
    (folder / "texts.txt").write_text("free money\nsee you\n")
    some = markone.train(texts, target=kinds)
    yield markone.predict_files(some, str(folder / "texts.txt"), folder / "parts")
    yield from (model.history.bounds, markone.margins(model, X, y % 2))
    comparison = markone.compare(table, target="label", rules=["mira", "naive-bayes"], folds=3)
    yield from (comparison, markone.validate(table, target="label", folds=20, epochs=1))
    yield markone.tune(X, target=y, rule="mira", epochs=2)
    for separable in (y, (X[:, 0] > 0).astype(int)):
        certificate = markone.certify(X, separable)
        yield from (certificate, certificate.verify(X, separable))
    yield markone.trace(X, y % 2, epochs=2).invariants()
    yield markone.learning_curve(X, target=y, rule="mira", epochs=1, repeats=20)
    yield from (markone.trace(X, y, epochs=2), markone.trace(X, y % 2, rule="naive-bayes"))
    shown = markone.lecture("000", "trace")
    yield from (shown, shown.shown, *shown.shown.charts)
    write_stories(folder / "some.conllu", 60, 1)
    tagger = Tagger.train(folder / "some.conllu", epochs=2)
    yield from (tagger, tagger.evaluate(folder / "some.conllu"), explain_tagger(tagger))
    yield from (tagger.tag([["a", "b"]]), model.explain(X))
    sentence = read_sentences(folder / "some.conllu").form.tolist()[:80]
    yield from (explain_sentence(tagger, sentence), tagger.strongest("NOUN"), open_corpus(folder / "some.conllu"))
    yield score_spans([["B-NP", "I-NP", "B-VP"] * 20], [["B-NP", "I-NP", "B-NP"] * 20])
    parser = Parser.train(folder / "some.conllu", mode="fast", epochs=2, tag=True)
    yield from (parser, parser.evaluate(folder / "some.conllu"), parser.parse([sentence]))
    yield explain_sentence(parser, sentence[:20])
    learner = StructuredPerceptron(
        lambda x, y: [f"{x} {LONG} {y} {i}" for i in range(60)], answers=lambda x: ["a\n", "b"]
    )
    learner.train([("x", "b"), ("y", "a\n")])
    yield from (learner, learner.explain("x"), learner.margins([("x", "b")]))
    batch = next(iter(source.batches()))
    yield from (batch, read_sentences(folder / "some.conllu"))
    yield leave_one_out(Block.of(X, y % 2), Settings(epochs=1), classes=2)
    yield from next(iter(markone.read(X, target=y).batches())).columns.values()


def walk(what: Any, seen: dict[int, Any], depth: int = 0) -> None:
    """All objects of ours that are in it."""
    if id(what) in seen or depth > 12 or isinstance(what, type | BaseEstimator):
        return
    if type(what).__module__.startswith("markone.") and not type(what).__module__.startswith("markone._core"):
        seen[id(what)] = what
    if isinstance(what, Mapping):
        parts = list(what.values())
    elif isinstance(what, list | tuple):
        parts = list(what)
    elif type(what).__module__.startswith("markone.") and hasattr(what, "__dict__"):
        parts = [value for name, value in vars(what).items() if not name.startswith("_")]
    elif dataclasses.is_dataclass(what):
        parts = [getattr(what, field.name) for field in dataclasses.fields(what)]
    else:
        parts = []
    for part in parts:
        walk(part, seen, depth + 1)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Any]:
    seen: dict[int, Any] = {}
    keep = list(results(tmp_path_factory.mktemp("results")))
    walk(keep, seen)
    seen[id(keep)] = keep  # so that no number is given twice
    return seen


def test_every_result_is_a_short_line(found: dict[int, Any]) -> None:
    long = {
        type(one).__qualname__: repr(one)[:300]
        for one in found.values()
        if not isinstance(one, list) and (len(repr(one)) > LONGEST or "\n" in repr(one))
    }
    assert not long, sorted(long)
    unnamed = {type(one) for one in found.values() if re.search(r" object at 0x", repr(one))}
    assert not {one.__name__ for one in unnamed if f"{one.__module__}.{one.__qualname__}" in API}


def test_all_public_results_were_looked_at(found: dict[int, Any]) -> None:
    """Those that the page of the interface names, but for what is no result."""
    documented = set(re.findall(r"autoclass:: (markone\.\S+)", API))
    others = {"Source", "Settings", "Features", "Checkpoints", "Names", "BadLines", "Column", "Weights", "Scorer"}
    names = {name.rpartition(".")[2] for name in documented if not re.search(r"\.(estimators|learning)\.", name)}
    names -= others
    estimators = {name for name in names if isinstance(getattr(markone, name, None), type(Perceptron))} & {
        "MIRA", "MLP", "FeatureTransformer", "LinearRegression", "LinearSVM", "LogisticRegression", "NaiveBayes",
        "Perceptron",
    }  # fmt: skip
    looked_at = {base.__name__ for one in found.values() for base in type(one).__mro__}
    assert names - estimators - looked_at == set()


def test_the_report_is_in_str(found: dict[int, Any]) -> None:
    kinds = (markone.Comparison, markone.Validation, markone.Tuning, markone.Trace, markone.Margins, markone.Source)
    for kind in kinds:
        one = next(one for one in found.values() if isinstance(one, kind))
        assert "\n" in str(one) and str(one) != repr(one)


def test_a_line_says_what_it_comes_to() -> None:
    model = markone.train(["free money", "see you"] * 4, target=["spam", "ham"] * 4)
    assert repr(model) == "<Model: mira, 4 features, 2 classes: 'ham', 'spam'>" or "features, 2 classes" in repr(model)
    evaluation = model.evaluate(["free money", "see me"], target=["spam", "spam"])
    assert repr(evaluation) == "<Evaluation: accuracy 50.00% of 2 examples, 2 classes>"
    assert repr(model.explain("free")) == "<Explanation: 'spam', then 'ham'>"
    assert repr(markone.read(["a", "b"])) == "<Source: the table, no target, columns text (text)>"
    assert repr(model.history) == f"<History: {model.history}>"
