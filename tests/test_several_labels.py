"""Rows with several labels: reading, learning, models, files, commands and estimators."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.sparse
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import accuracy_score, f1_score, hamming_loss
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

import markone
from forging import Forged
from markone import (
    MIRA,
    DataError,
    LinearSVM,
    LogisticRegression,
    ModelFileError,
    Perceptron,
    Settings,
    SettingsError,
    _core,
)
from markone.data.blocks import Block
from markone.data.labels import sets_of
from markone.data.source import Source
from markone.experiments.splits import Plan, Split
from markone.experiments.statistics import parts_of_f1
from markone.learning import examples
from markone.learning.deciding import found_by_others
from markone.learning.learners import learner_for
from markone.learning.passes import teach
from markone.learning.samples import open_labelled
from markone.learning.several_labels import LabelLearner
from markone.model.decisions import choose_for_micro_f1
from markone.model.explaining import SeveralExplanation
from markone.model.several_evaluation import SeveralTally
from markone.reference import Learner, best_micro_f1, learn_labels, measures_of_labels, read_fasttext
from stopping import Stopping

WORDS = {"film": ["actor", "screen", "scene"], "food": ["bread", "sauce", "taste"], "sports": ["goal", "team", "match"]}
RULES = ["perceptron", "mira", "hinge", "logistic", "svm"]


def articles(count: int = 200, seed: int = 0) -> tuple[list[str], list[list[str]]]:
    """Texts about some, all or none of three subjects, with some noise."""
    chance = random.Random(seed)
    texts, labels = [], []
    for _ in range(count):
        own = [label for label in WORDS if chance.random() < 0.4]
        words = [chance.choice(WORDS[label]) for label in own for _ in range(2)]
        words += chance.choices([*"abcdefgh", *WORDS["film"], *WORDS["food"]], k=3)
        chance.shuffle(words)
        texts.append(" ".join(words))
        labels.append(own)
    return texts, labels


TEXTS, LABELS = articles()


def model_of(**more: Any) -> markone.Model:
    return markone.train(TEXTS, target=LABELS, **more)


def saved(model: markone.Model, folder: Path) -> bytes:
    model.save(folder / "model")
    return (folder / "model").read_bytes()


def micro_f1(truth: np.ndarray, found: np.ndarray) -> float:
    return float(2 * (truth & found).sum() / max(1, truth.sum() + found.sum()))


def read_labels(source: Source) -> list[Any]:
    numbers = [number for batch in source.batches() if batch.labels is not None for number in batch.labels.tolist()]
    return [None if number < 0 else source.labels[number] for number in numbers]


# ---- reading

EXPECTED = [("film", "food"), (), ("food",)]


def test_cells_of_a_table_are_lists_of_labels(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('text,tags\nx,food;film;food\ny,\nz," food| "\n')
    source = markone.read(tmp_path / "a.csv", target="tags", kinds={"tags": "set"})
    assert source.several and read_labels(source) == EXPECTED  # an empty cell is no label, and not a missing one
    (tmp_path / "b.csv").write_text('text,tags\nx,"food, film"\ny,[]\nz,food\n')
    assert read_labels(markone.read(tmp_path / "b.csv", target="tags", kinds={"tags": "comma-set"})) == EXPECTED
    alone = markone.read(tmp_path / "a.csv", target="tags")  # without a word from the user, a cell is a label
    assert not alone.several and read_labels(alone)[0] == "food;film;food"


def test_lists_are_lists_of_labels(tmp_path: Path) -> None:
    texts, lists = ["x", "y", "z", "w"], [["food", "film", "food"], [], ["food"], None]
    table = pa.table({"text": texts, "tags": lists})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    rows = [{"text": text, "tags": tags} for text, tags in zip(texts, lists, strict=True)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    frames: list[Any] = [tmp_path / "a.jsonl", tmp_path / "a.parquet", table, pl.DataFrame(table), rows]
    frames.append(pd.DataFrame({"text": texts, "tags": lists}))
    for what in frames:
        source = markone.read(what, target="tags")
        assert source.several and read_labels(source) == [*EXPECTED, None], what  # null is a missing label
    beside = markone.read(texts, target=lists)
    assert beside.several and read_labels(beside) == [*EXPECTED, None]
    with pytest.raises(
        SettingsError, match="not an array of 2 dimensions; indicator matrices of labels are for the est"
    ):
        markone.train(texts, target=np.eye(4))
    (tmp_path / "b.jsonl").write_text('{"text": "x", "tags": [1.5, {}]}\n{"text": "y", "tags": []}\n')
    with pytest.raises(DataError, match="labels are texts, whole numbers or booleans, or lists of texts"):
        markone.read(tmp_path / "b.jsonl", target="tags")
    numbers = markone.read(pa.table({"text": ["x", "y"], "tags": [[2, 1], [10]]}), target="tags")
    assert read_labels(numbers) == [(1, 2), (10,)]


def test_lines_have_several_labels(tmp_path: Path) -> None:
    (tmp_path / "a.ft").write_text("__label__food __label__film  __label__food x y\nx\n__label__food z\n")
    (tmp_path / "a.txt").write_text("food;film\tx y\n\tx\nfood\tz\n")
    (tmp_path / "a.libsvm").write_text("2,1 1:1\n1 2:1\n")
    for name in ("a.ft", "a.txt"):
        for threads in (1, 2):
            source = markone.read(tmp_path / name, kinds={"label": "set"}, threads=threads)
            assert source.several and read_labels(source) == EXPECTED
            assert [batch.columns["text"].tolist() for batch in source.batches()] == [["x y", "x", "z"]]
    rows = markone.read(tmp_path / "a.libsvm", kinds={"label": "comma-set"})
    assert read_labels(rows) == [("1", "2"), ("1",)]
    with pytest.raises(DataError, match=r"a second label, '__label__film'.*kinds=\{'label': 'set'\} reads lines with"):
        markone.train(tmp_path / "a.ft")
    (tmp_path / "b.ft").write_text("__label__food x __label__film\n")
    with pytest.raises(DataError, match="the label '__label__film' is not at the start of its line"):
        read_labels(markone.read(tmp_path / "b.ft", kinds={"label": "set"}))


# ---- learning


@settings(max_examples=25, deadline=None)
@drawn(
    rows=st.integers(2, 12),
    features=st.integers(1, 4),
    labels=st.integers(1, 4),
    seed=st.integers(0, 1000),
    rule=st.sampled_from(["perceptron", "mira", "hinge"]),
    sparse=st.booleans(),
    passes=st.integers(1, 3),
    threads=st.integers(1, 2),
)
def test_each_label_is_learned_as_by_its_plain_twin(
    rows: int, features: int, labels: int, seed: int, rule: str, sparse: bool, passes: int, threads: int
) -> None:
    chance = np.random.default_rng(seed)
    X = chance.integers(-2, 3, (rows, features)).astype(float)
    Y = chance.random((rows, labels)) < 0.4
    different, numbers = np.unique(Y, axis=0, return_inverse=True)
    how = Settings(
        rule=rule, epochs=passes, order="given", average=True, **({"C": 0.5} if rule == "mira" else {"eta": 0.5})
    )  # type: ignore[arg-type]
    learner = learner_for(how, features=features, classes=labels, sets=np.ascontiguousarray(different.T))
    assert isinstance(learner, LabelLearner)
    learner.threads = threads
    history = teach(learner, Block.of(scipy.sparse.csr_array(X) if sparse else X, numbers.reshape(-1), None))

    def learned(examples: list[Any]) -> tuple[Learner, list[int]]:
        twin = Learner(2, rule, eta=0.5, C=0.5)
        return twin, [twin.learn(examples).mistakes for _ in history]

    said = [frozenset(np.flatnonzero(row).tolist()) for row in Y]
    twins = learn_labels([(dict(enumerate(x)), own, 1) for x, own in zip(X, said, strict=True)], range(labels), learned)
    found = learner.weights()
    for label, (twin, _) in enumerate(twins):
        average = twin.average()[1]
        wanted = [float(average.get(i, 0)) for i in range(features)]
        np.testing.assert_allclose(found.matrix()[:, label], wanted, atol=1e-9)
        np.testing.assert_allclose(found.bias()[label], float(average.get("BIAS", 0)), atol=1e-9)
    for number, one in enumerate(history):  # mistakes are those of all labels together
        assert one.mistakes == sum(mistakes[number] for _, mistakes in twins)
    np.testing.assert_array_equal(
        learner.scores(Block.of(X, numbers.reshape(-1), None).rows) > 0,
        learner.found(Block.of(X, numbers.reshape(-1), None).rows),
    )


@pytest.mark.parametrize("rule", [*RULES[:3], "logistic"])
@pytest.mark.parametrize("form", ["sparse", "counts", "dense", "wide"])
@pytest.mark.parametrize("average", [True, False])
def test_labels_side_by_side_have_the_bits_of_labels_that_are_alone(rule: str, form: str, average: bool) -> None:
    chance = np.random.default_rng(1)
    X = chance.integers(0, 3, (60, 80 if form == "wide" else 12)).astype(np.float32)
    if form != "counts":
        X *= chance.normal(size=X.shape).astype(np.float32)
    Y = chance.random((60, 21)) < np.linspace(0.02, 0.6, 21)
    different, numbers = np.unique(Y, axis=0, return_inverse=True)
    sets, importance = np.ascontiguousarray(different.T), chance.integers(0, 4, 60).astype(float)
    matrix = scipy.sparse.csr_array(X) if form in ("sparse", "counts") else X
    how = Settings(rule=rule, epochs=2, average=average, solver="online" if rule == "logistic" else None)

    def taught(sets: Any = None, labels: Any = None, classes: int = 2) -> Any:
        learner = learner_for(how, features=X.shape[1], classes=classes, dtype=np.float32, sets=sets)
        return learner, teach(learner, Block.of(matrix, labels, importance))

    together, history = taught(sets, numbers.reshape(-1), 21)
    assert [type(one).__name__ for one in together.learners.values()] == ["SideBySide", "SideBySide"]
    alone = [taught(labels=Y[:, label].astype(int)) for label in range(21)]
    for averaged in {False, average}:
        for label, (learner, _) in enumerate(alone):
            expected, found = learner.weights(averaged), together.weights(averaged)
            np.testing.assert_array_equal(found.matrix()[:, label], expected.matrix()[:, 0])
            assert found.bias()[label] == expected.bias()[0]
    for number, one in enumerate(history.passes):
        each = [own.passes[number] for _, own in alone]
        assert (one.mistakes, one.updates) == (sum(x.mistakes for x in each), sum(x.updates for x in each))
        assert one.loss == pytest.approx(np.mean([x.loss for x in each]), rel=1e-6)

    state = together.get_state()  # in the form of labels that are alone
    for label, (learner, _) in enumerate(alone):
        for name, array in learner.get_state().items():
            np.testing.assert_array_equal(state[f"{label}.{name}"], array)
    copied, fresh = pickle.loads(pickle.dumps(together)), taught(sets, numbers.reshape(-1), 21)[0]
    fresh.check_state(state)
    fresh.set_state(state)
    for other in (copied, fresh):
        np.testing.assert_array_equal(other.weights().matrix(), together.weights().matrix())
    state["3.clocks"] = state["3.clocks"] + [0, 1, 1]
    with pytest.raises(DataError, match="its labels have different clocks"):
        fresh.check_state(state)


@pytest.mark.parametrize("rule", RULES)
def test_a_label_is_learned_as_if_it_were_alone(rule: str) -> None:
    how: dict[str, Any] = {"rule": rule, "holdout": 0.0}
    if rule == "perceptron":  # the average goes on while other labels are learned
        how["average"] = False
    several = model_of(**how)
    for label in several.classes:
        own = [label if label in labels else "-" for labels in LABELS]
        features = {"text": {"weight": "idf"}}
        alone = markone.train(TEXTS, target=own, classes=["-", label], features=features, **how)
        np.testing.assert_allclose(
            several.scores(TEXTS)[:, several.classes.index(label)], alone.scores(TEXTS)[:, 1], rtol=1e-5, atol=1e-6
        )


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("memory", [None, 5000])
def test_threads_memory_and_interruptions_do_not_change_a_bit(
    rule: str, memory: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examples, "VALUES_BETWEEN_LOOKS", 1000)
    monkeypatch.setattr("markone.data.store.PIECE_VALUES", 60)
    monkeypatch.setattr("markone.data.budget.LEAST", 5000)
    how: dict[str, Any] = {"rule": rule, "holdout": 0.2, "features": {"text": {"words": [1, 1]}}}
    if rule in RULES[:3]:
        how["epochs"] = 3
    whole = saved(model_of(**how, threads=1), tmp_path)
    if memory is not None and rule == "svm":
        with pytest.raises(markone.LimitError, match="needs all of them at once"):
            model_of(**how, memory=memory)
        return
    assert saved(model_of(**how, threads=2, memory=memory), tmp_path) == whole
    stops = 0
    while True:
        more: dict[str, Any] = {"checkpoint": tmp_path / "kept", "resume": True, "progress": Stopping(2)}
        model = model_of(**how, **more, memory=memory, threads=1)
        if model.history.stopped != "interrupted":
            break
        stops += 1
    assert stops > 0 and saved(model, tmp_path) == whole


def test_more_passes_are_possible_only_where_labels_are_learned_together(tmp_path: Path) -> None:
    whole = saved(model_of(epochs=5), tmp_path)
    model_of(epochs=2).save(tmp_path / "two")
    assert saved(markone.train(TEXTS, target=LABELS, epochs=5, resume=tmp_path / "two"), tmp_path) == whole
    model_of(rule="svm", epochs=50).save(tmp_path / "svm")
    with pytest.raises(SettingsError, match="epochs was 50, and cannot change"):
        markone.train(TEXTS, target=LABELS, epochs=60, resume=tmp_path / "svm")
    with pytest.raises(DataError, match="are not those of the interrupted training"):
        markone.train(TEXTS, target=[[*own, "film"] for own in LABELS], resume=tmp_path / "two")
    with pytest.raises(DataError, match="are not those of the interrupted training"):
        markone.train(TEXTS, target=["a", "b"] * 100, resume=tmp_path / "two")


@pytest.mark.parametrize("rule", RULES)
def test_a_label_of_every_row_and_one_of_no_training_row_are_learned(rule: str) -> None:
    labels = [["always", *own] for own in LABELS]
    model = markone.train(TEXTS, target=labels, rule=rule, classes=["always", "film", "food", "never", "sports"])
    assert all("always" in found and "never" not in found for found in model.predict(TEXTS))


def test_one_label_and_two_labels_have_a_column_each() -> None:
    for labels in (1, 2):
        names = [*WORDS][:labels]
        model = markone.train(TEXTS, target=[[one for one in own if one in names] for own in LABELS])
        assert model.scores(TEXTS).shape == (200, labels) and model.scores("bread").shape == (labels,)
        assert model.positive is None and len(model.weights()["bread"]) == labels
        assert set(model.predict(TEXTS)) <= {(), *((name,) for name in names), tuple(names)}
        assert "features that support film" in str(model.explain())


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"rule": "naive-bayes"}, "rule is 'naive-bayes', which cannot learn several labels for each row"),
        ({"rule": "mlp"}, "rule is 'mlp', which cannot learn several labels"),
        ({"rule": "regression"}, "rule is 'regression', which cannot learn several labels"),
        ({"positive": "film"}, "positive is for rows with one label each"),
        ({"abstain": 0.1}, "abstain is for rows with one label each"),
        ({"class_weight": {"filn": 2}}, "class_weight names 'filn', which is not among the classes .* Did you mean"),
        ({"class_weight": "balanced", "threshold": "f1"}, "threshold is chosen for rows as they are, without"),
        ({"from_model": True}, "the model to start from predicts one label for each row, and these rows have lists"),
        ({"start": {"film": {"bread": 1.0}}}, "start is for rows with one label each"),
        ({"rule": "perceptron", "bounds": True}, "bounds is for rows with one label each"),
        ({"features": {"text": {"weight": "odds"}}}, "text.weight is 'odds', which needs one class for each row"),
        ({"threshold": "no"}, "threshold must be a probability .* or micro-f1 if rows have several labels"),
        ({"classes": ["film", "food"]}, "the label 'sports' is not among the given classes"),
    ],
)
def test_what_is_not_for_several_labels_is_refused(given: dict[str, Any], sentence: str) -> None:
    if "from_model" in given:
        given = {"from_model": markone.train(["a", "b"], target=["a", "b"])}
    with pytest.raises((SettingsError, DataError), match=sentence):
        model_of(**given)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("weights", ["balanced", {"food": 3}])
def test_each_label_is_weighted_as_if_it_were_alone(rule: str, weights: Any) -> None:
    """The rows of a label are weighted like those of a class, in training and in the calibration."""
    features = {"text": {"weight": "idf"}}
    how: dict[str, Any] = {"rule": rule}
    if rule == "perceptron":  # as above
        how["average"] = False
    if rule == "logistic":  # its default depends on the sum of the weights
        how["strength"] = 1e-3
    together = model_of(class_weight=weights, **how)
    assert together.several is not None and not any(one.threshold for one in together.several.decisions)
    for number, label in enumerate(together.classes):
        own = ["yes" if label in labels else "no" for labels in LABELS]
        given = weights if weights == "balanced" else {"yes": weights.get(label, 1)}
        alone = markone.train(TEXTS, target=own, features=features, class_weight=given, **how)
        np.testing.assert_allclose(together.scores(TEXTS)[:, number], alone.scores(TEXTS)[:, 1], atol=2e-3)
    plain = model_of(**how)
    changed = np.abs(together.scores(TEXTS) - plain.scores(TEXTS)).max(axis=0) > 0.01
    if rule != "perceptron":  # after a step, it makes no mistake when it sees the row again
        assert changed.tolist() == [weights == "balanced" or name == "food" for name in together.classes]


def test_weights_of_labels_find_more_of_a_rare_label() -> None:
    texts = [f"{text} {'rare' if i % 20 == 0 else ''}" for i, text in enumerate(TEXTS)]
    labels = [[*own, "odd"] if i % 20 in (0, 1) else own for i, own in enumerate(LABELS)]
    found = [
        markone.train(texts, target=labels, **more).evaluate(texts[:100], labels[:100]).recall[2]
        for more in ({"threshold": 0.5}, {"class_weight": {"odd": 30}})
    ]
    assert found[1] > found[0]


def test_training_goes_on_from_a_model_of_several_labels() -> None:
    base = model_of(epochs=1)
    fresh = (["ball court net"] * 20, [["tennis"], ["tennis", "sports"]] * 10)
    more = markone.train(fresh[0] + TEXTS, target=fresh[1] + LABELS, from_model=base)
    assert more.classes == ["film", "food", "sports", "tennis"]
    assert "tennis" in more.predict("ball court net") and "tennis" not in more.predict("bread and sauce")
    assert more.evaluate(TEXTS, LABELS).micro_f1 > 0.8
    started = markone.train(TEXTS[:50], target=LABELS[:50], from_model=base, epochs=1, C=1e-9, average=False)
    np.testing.assert_allclose(started.scores(TEXTS), base.scores(TEXTS), atol=1e-5)  # steps that are too small to see
    with pytest.raises(DataError, match="predicts several labels for each row, and these rows have one label each"):
        markone.train(TEXTS, target=["a", "b"] * 100, from_model=base)


def test_validation_is_a_training_and_an_evaluation_for_each_fold() -> None:
    how: dict[str, Any] = {"rule": "svm", "class_weight": "balanced"}
    found = markone.validate(TEXTS, target=LABELS, folds=4, **how)
    assert [fold.evaluation.total for fold in found.folds] == [50] * 4 and found.pooled.total == 200
    assert found.micro_f1 == pytest.approx(np.mean([fold.evaluation.micro_f1 for fold in found.folds]))
    assert found.pooled.support.tolist() == [sum(label in own for own in LABELS) for label in found.pooled.classes]
    low, high = found.interval
    assert low < found.micro_f1 < high

    [first, *_] = Plan(folds=4).divide(len(TEXTS))[0]
    learned = [TEXTS[row] for row in first.learned], [LABELS[row] for row in first.learned]
    tested = [TEXTS[row] for row in first.tested], [LABELS[row] for row in first.tested]
    expected = markone.train(learned[0], target=learned[1], **how).evaluate(*tested)
    assert expected.hits.tolist() == found.folds[0].evaluation.hits.tolist()
    assert "micro F1" in str(found) and json.loads(json.dumps(found.as_dict()))["pooled"]["examples"] == 200
    with pytest.raises(SettingsError, match="method is 'loo', which is for rows with one label each"):
        markone.validate(TEXTS, target=LABELS, method="loo")
    once = markone.validate(TEXTS, target=LABELS, method="holdout")
    assert once.interval is None and "by hold-out of 30% of 200 rows" in str(once)


def test_parts_of_f1_are_the_influence_of_rows() -> None:
    rng = np.random.default_rng(0)
    truth, found = rng.random((40, 3)) < 0.4, rng.random((40, 3)) < 0.5
    parts = parts_of_f1(truth, found)
    assert parts.mean() == pytest.approx(f1_score(truth, found, average="micro"))
    times = 1000  # a row that counts a thousandth more
    many = [np.repeat(one, times, axis=0) for one in (truth, found)]
    for row in (0, 7, 23):
        more = [np.vstack([one, own[row : row + 1]]) for one, own in zip(many, (truth, found), strict=True)]
        change = f1_score(*more, average="micro") - parts.mean()
        assert change * times * len(truth) == pytest.approx(parts[row] - parts.mean(), abs=1e-3)
    assert parts_of_f1(np.zeros((2, 3), bool), np.zeros((2, 3), bool)).tolist() == [0, 0]


def by_hand(split: Split, rule: str) -> tuple[np.ndarray, np.ndarray]:
    """The scores of the test rows of a split, and which labels they have."""
    learned = [TEXTS[row] for row in split.learned], [LABELS[row] for row in split.learned]
    model = markone.train(learned[0], target=learned[1], rule=rule)
    truth = np.array([[label in LABELS[row] for label in model.classes] for row in split.tested])
    return np.asarray(model.scores([TEXTS[row] for row in split.tested])), truth


def thresholded(scores: np.ndarray, rest: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Which labels are found in scores, with thresholds that are chosen on the rest."""
    cuts = choose_for_micro_f1(rest, truth.astype(np.int64), None)
    return np.column_stack(
        [own >= cut.score if cut is not None else own > 0 for own, cut in zip(scores.T, cuts, strict=True)]
    )


@pytest.mark.parametrize("rule", ["mira", "svm"])
def test_rules_are_compared_by_micro_f1_with_thresholds_of_other_folds(rule: str) -> None:
    found = markone.compare(TEXTS, target=LABELS, rules=["mira", "svm"], folds=4)
    splits = Plan(folds=4).divide(len(TEXTS))[0]
    folds = [by_hand(split, rule) for split in splits]
    for i, (fold, (scores, truth)) in enumerate(zip(found[rule].validation.folds, folds, strict=True)):
        np.testing.assert_allclose(fold.scores, scores, atol=1e-5)
        others = [one for j, one in enumerate(folds) if j != i]
        predicted = thresholded(scores, *(np.concatenate(one) for one in zip(*others, strict=True)))
        assert (fold.predicted == predicted).all() and fold.score == pytest.approx(micro_f1(truth, predicted))
    assert found[rule].validation.mean == pytest.approx(np.mean([fold.score for fold in found[rule].validation.folds]))


def test_a_comparison_of_several_labels() -> None:
    found = markone.compare(TEXTS, target=LABELS, folds=3)
    assert {one.name for one in found.contenders} == {"averaged-perceptron", "logistic-online", *RULES}
    assert not found.failures and found.metric == "micro F1" and found.best is not None
    assert "ways to learn from 200 rows of 3 labels" in str(found) and "its micro F1 on test rows is" in found.verdict
    assert "accuracy" not in str(found)
    [test, *_] = found.tests
    better, worse = found[test.better], found[test.worse]
    lead = better.worth - worse.worth
    assert better.validation.mean >= worse.validation.mean
    assert test.p == pytest.approx(2 * norm.sf(abs(lead.mean() / (lead.std(ddof=1) / np.sqrt(len(lead))))))
    assert test.wins == sum(a.sum() > b.sum() for a, b in zip(better.right, worse.right, strict=True))
    for one in found.contenders:
        assert one.log_loss is not None and one.log_loss < 0.5 and one.calibration is not None
        low, high = one.validation.interval
        assert 0 <= low < one.validation.mean < high <= 1
    assert json.loads(json.dumps(found.as_dict()))["metric"] == "micro F1"
    assert "right about more labels" in found.html() and "<svg" not in found.html()


def test_a_hold_out_is_compared_by_halves() -> None:
    found = markone.compare(TEXTS, target=LABELS, rules="mira", method="holdout", share=0.5)
    [fold] = found["mira"].validation.folds
    scores, half = fold.scores, np.arange(100) % 2 == 0
    assert scores is not None
    for tested in (half, ~half):
        expected = thresholded(scores[tested], scores[~tested], fold.truth[~tested])
        assert (fold.predicted[tested] == expected).all()
    low, high = found["mira"].validation.interval
    assert low < fold.score < high


def test_settings_of_several_labels_are_tuned_by_micro_f1() -> None:
    tuning = markone.tune(TEXTS, target=LABELS, rule="mira")
    assert tuning.metric == "micro F1" and {one.settings.get("rule", "mira") for one in tuning.trials} == {"mira"}
    assert all(one.reason is None for one in tuning.trials)
    first = next(one for one in tuning.trials if one.round == 1 and one.settings == {"C": 0.01})
    [split] = Plan(method="holdout", share=0.2).divide(len(TEXTS))[0]
    learned = [TEXTS[row] for row in split.learned], [LABELS[row] for row in split.learned]
    model = markone.train(learned[0], target=learned[1], C=0.01)
    truth = np.array([[label in LABELS[row] for label in model.classes] for row in split.tested])
    scores = np.asarray(model.scores([TEXTS[row] for row in split.tested]))
    predicted, half = np.zeros_like(truth), np.arange(len(truth)) % 2 == 0
    for tested in (half, ~half):
        predicted[tested] = thresholded(scores[tested], scores[~tested], truth[~tested])
    assert first.score == pytest.approx(micro_f1(truth, predicted)) and (predicted != (scores > 0)).any()
    assert json.loads(json.dumps(tuning.as_dict()))["micro_f1"] == tuning.score and "micro F1" in str(tuning)
    again = markone.tune(TEXTS, target=LABELS, rule="mira")
    assert [one.score for one in again.trials] == [one.score for one in tuning.trials]


def test_tuning_of_several_labels_tries_only_rules_that_learn_them() -> None:
    rare = [own if i % 4 else [*own, "odd"] for i, own in enumerate(LABELS)]
    tuning = markone.tune([f"{text} {i % 4 or 'odd'}" for i, text in enumerate(TEXTS)], target=rare)
    rules = {one.settings["rule"] for one in tuning.trials if "rule" in one.settings}
    assert rules == {"logistic", "svm", "hinge"} and tuning.rule in RULES
    assert markone.train(TEXTS, target=LABELS, features=tuning.features, **tuning.settings).several is not None
    assert not any("weight" in one.text for one in tuning.trials)  # the default weight is idf already
    nested = markone.compare(TEXTS, target=LABELS, rules="hinge", folds=2, tune=True)
    assert all(fold.settings is not None for fold in nested["hinge"].validation.folds)


def test_thresholds_of_half_of_the_rows_are_chosen_on_the_other_half() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random((400, 2)) < 0.2
    scores = truth + rng.normal(size=truth.shape) - 2.0
    found = found_by_others(scores, truth, np.arange(400) % 2, Settings())
    assert micro_f1(truth, found) > micro_f1(truth, scores > 0) + 0.05
    expected = thresholded(scores[::2], scores[1::2], truth[1::2])
    assert (found[::2] == expected).all()


@pytest.mark.parametrize(
    ("use", "sentence"),
    [
        (lambda: markone.compare(TEXTS, target=LABELS, rules="naive-bayes"), "'naive-bayes', which cannot learn sev"),
        (lambda: markone.compare(TEXTS, target=LABELS, rules="curves"), "must not contain 'curves'"),
        (lambda: markone.compare(TEXTS, target=LABELS, method="loo"), "method is 'loo', which is for rows with one"),
        (lambda: markone.tune(TEXTS, target=LABELS, rule="mlp"), "'mlp', which cannot learn several labels"),
        (
            lambda: markone.tune(TEXTS, target=LABELS, features={"text": {"weight": "odds"}}),
            "text.weight is 'odds', which needs one class",
        ),
        (
            lambda: markone.compare(TEXTS, target=LABELS, features={"text": {"weight": "odds"}}),
            "text.weight is 'odds', which needs one class",
        ),
        (lambda: markone.tune(["a", "b"], target=[[], []]), "none of the rows has a label"),
    ],
)
def test_what_experiments_with_several_labels_refuse(use: Callable[[], Any], sentence: str) -> None:
    with pytest.raises((SettingsError, DataError), match=sentence):
        use()


def test_a_sample_of_several_labels_can_be_sent(tmp_path: Path) -> None:
    rows = zip(TEXTS, LABELS, strict=True)
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": text, "tags": own}) + "\n" for text, own in rows))
    sample = open_labelled(tmp_path / "a.jsonl", "tags", 1, None)
    sent = pickle.loads(pickle.dumps(sample))
    assert sent.classes == ["film", "food", "sports"] and (sent.sets == sample.sets).all()
    some = sent.part(np.arange(0, 200, 3))
    assert some.targets(np.array([1])).tolist() == [[label in LABELS[3] for label in WORDS]]


def test_rows_are_filtered_by_one_of_several_labels(tmp_path: Path) -> None:
    model, path = model_of(), tmp_path / "texts.jsonl"
    path.write_text("".join(f"{json.dumps({'text': text})}\n" for text in TEXTS))
    report = markone.filter_files(model, str(path), tmp_path / "out", label="food")
    assert report.kept == sum("food" in own for own in model.predict(TEXTS)) and report.rows == 200
    with pytest.raises(SettingsError, match="label is 'fod', but there is no such label. Did you mean 'food'"):
        markone.filter_files(model, str(path), tmp_path / "other", label="fod")


def test_experiments_refuse_lists_of_labels() -> None:
    uses: list[Any] = [markone.audit, markone.trace]
    for use in uses:
        with pytest.raises(DataError, match="needs one label for each row, and these rows have lists of labels"):
            use(TEXTS, target=LABELS)
    with pytest.raises(DataError, match="a certificate needs one label for each row"):
        markone.certify(np.eye(3), [["a"], [], ["a", "b"]])
    with pytest.raises(DataError, match="none of the rows has a label"):
        markone.train(["a", "b"], target=[[], []])
    with pytest.raises(SettingsError, match="micro-f1, which is for rows with several labels; use f1"):
        markone.train(TEXTS, target=["a", "b"] * 100, threshold="micro-f1")


# ---- thresholds and probabilities


@settings(max_examples=60, deadline=None)
@drawn(rows=st.integers(2, 6), labels=st.integers(1, 2), seed=st.integers(0, 10_000))
def test_thresholds_for_micro_f1_are_never_better_than_the_best(rows: int, labels: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    scores = chance.integers(-3, 4, (rows, labels)) / 2
    truth = chance.random((rows, labels)) < 0.5
    chosen = choose_for_micro_f1(scores, truth.astype(int), None)
    found = np.column_stack(
        [own > 0 if one is None else own >= one.score for one, own in zip(chosen, scores.T, strict=True)]
    )
    best = best_micro_f1(scores.tolist(), truth.tolist())
    reached, before = (micro_f1(truth, one) for one in (found, scores > 0))
    assert before - 1e-12 <= reached <= best + 1e-12


def test_thresholds_for_micro_f1_are_the_best_where_the_gain_is_certain() -> None:
    chance = np.random.default_rng(0)
    truth = chance.random((300, 2)) < [0.3, 0.6]
    scores = np.round(2.0 * truth + chance.normal(size=(300, 2)) - [3.0, 0.0], 1)  # the first label is too low
    chosen = choose_for_micro_f1(scores, truth.astype(int), None)
    assert chosen[0] is not None and chosen[0].score < -1 and chosen[0].aim == "micro-f1"
    found = np.column_stack(
        [own > 0 if one is None else own >= one.score for one, own in zip(chosen, scores.T, strict=True)]
    )
    reached = f1_score(truth, found, average="micro")
    assert reached > f1_score(truth, scores > 0, average="micro") + 0.05
    assert reached > best_micro_f1(scores.tolist(), truth.tolist()) - 0.005
    doubled = choose_for_micro_f1(np.repeat(scores, 2, axis=0), np.repeat(truth, 2, axis=0).astype(int), None)
    weighted = choose_for_micro_f1(scores, truth.astype(int), np.full(300, 2.0))
    assert [one and one.score for one in weighted] == [one and one.score for one in doubled]


def test_labels_without_a_positive_score_get_thresholds() -> None:
    scores = np.linspace(-2, -1, 100)[:, None].repeat(2, axis=1)
    truth = np.array([[row >= 60, row >= 90] for row in range(100)]).astype(np.int64)
    cuts = [cut.score for cut in choose_for_micro_f1(scores, truth, None) if cut is not None]
    assert (scores >= cuts).sum(axis=0).tolist() == [40, 10]
    timid = markone.train(TEXTS, target=LABELS, C=0.01)
    assert (timid.scores(TEXTS) < 0).all() and timid.evaluate(TEXTS, LABELS).micro_f1 > 0.8


def test_what_a_threshold_is_for_changes_the_predictions() -> None:
    texts, labels = articles(800, seed=1)
    test, truth = articles(400, seed=2)
    many = markone.train(texts, target=labels, threshold="recall=0.99").evaluate(test, truth)
    few = markone.train(texts, target=labels, threshold="precision=0.999").evaluate(test, truth)
    assert many.micro_recall > few.micro_recall and many.micro_precision < few.micro_precision
    half = markone.train(texts, target=labels, threshold=0.5)
    assert half.several is not None and all(one.threshold.score == 0 for one in half.several.decisions if one.threshold)
    tenth = markone.train(texts, target=labels, threshold=0.1)
    np.testing.assert_array_equal(tenth.decide(test)[0], tenth.probabilities(test) >= 0.1)
    with pytest.raises(DataError, match="a threshold for micro-f1 is chosen on at least 50 rows"):
        markone.train(texts[:20], target=labels[:20], threshold="micro-f1")


@pytest.mark.parametrize("rule", ["mira", "logistic"])
def test_probabilities_hold(rule: str) -> None:
    texts, labels = articles(3000, seed=3)
    model = markone.train(texts, target=labels, rule=rule)
    test, truth = articles(2000, seed=4)
    p, sets = model.probabilities(test), np.array([[one in own for one in model.classes] for own in truth])
    for low in np.arange(0, 1, 0.1):
        there = (p >= low) & (p < low + 0.1)
        if there.sum() > 300:
            assert abs(p[there].mean() - sets[there].mean()) < 0.06
    wanted = -np.log(np.where(sets, p, 1 - p)).mean()
    assert model.evaluate(test, truth).log_loss == pytest.approx(wanted, rel=1e-6)
    np.testing.assert_allclose(model.probabilities("bread"), model.probabilities(["bread"])[0])


# ---- the model


def test_predictions_are_tuples_of_labels() -> None:
    model = model_of()
    found = model.predict(TEXTS)
    assert isinstance(found, list) and all(isinstance(one, tuple) for one in found)
    assert model.predict("goal team match") == ("sports",) and model.predict("") in found
    assert model.predict(["bread"]) == [model.predict("bread")]
    assert found == model.labels_of(model.decide(TEXTS, threads=2)[0])
    assert model.accuracy(TEXTS, LABELS) == np.mean([set(a) == set(b) for a, b in zip(found, LABELS, strict=True)])
    model.prepare()
    assert model.predict(TEXTS) == found


def test_the_evaluation_is_that_of_scikit_learn() -> None:
    model = model_of(rule="perceptron", epochs=1, threshold=0.5)
    test, truth = articles(300, seed=5)
    found = model.evaluate(test, truth)
    Y = np.array([[one in own for one in model.classes] for own in truth])
    P = np.array([[one in own for one in model.classes] for own in model.predict(test)])
    assert found.micro_f1 == pytest.approx(f1_score(Y, P, average="micro"))
    assert found.macro_f1 == pytest.approx(f1_score(Y, P, average="macro"))
    assert found.accuracy == pytest.approx(accuracy_score(Y, P))
    assert found.hamming_loss == pytest.approx(hamming_loss(Y, P))
    np.testing.assert_allclose(found.f1, f1_score(Y, P, average=None))
    np.testing.assert_array_equal(found.support, Y.sum(axis=0))
    facts = found.as_dict()
    assert facts["labels"][0]["f1"] == found.f1[0] and json.dumps(facts)
    assert f"micro F1{found.micro_f1:>10.2%}" in str(found)


@settings(max_examples=50, deadline=None)
@drawn(
    st.lists(
        st.tuples(st.frozensets(st.sampled_from("abx")), st.frozensets(st.sampled_from("ab"))), min_size=1, max_size=8
    )
)
def test_the_measures_are_those_of_the_plain_twin(pairs: list[tuple[frozenset[str], frozenset[str]]]) -> None:
    truth, found = zip(*pairs, strict=True)
    names = [*dict.fromkeys(tuple(sorted(own)) for own in truth)]
    tally = SeveralTally(["a", "b"], None)
    numbers = np.array([names.index(tuple(sorted(own))) for own in truth], np.int32)
    said = sets_of([tuple(sorted(own)) for own in found], ["a", "b"]).T
    half = len(pairs) // 2
    for part in (slice(0, half), slice(half, None)):  # in two batches
        tally.add(
            names[: numbers[part].max(initial=-1) + 1 or 0] or names,
            numbers[part],
            said[part],
            np.zeros((len(said[part]), 2), np.float32),
        )
    known = any(own & {"a", "b"} for own in truth)
    if not known and any("x" in own for own in truth):
        with pytest.raises(DataError, match="is a label of the model"):
            tally.evaluation()
        return
    result = tally.evaluation()
    assert result.unknown == sum("x" in own for own in truth)
    wanted = measures_of_labels(truth, found, "abx")  # a label that the model does not know is missed
    assert result.micro_f1 == pytest.approx(wanted["micro_f1"]) and result.accuracy == wanted["accuracy"]
    without = measures_of_labels([own - {"x"} for own in truth], found, "ab")
    assert result.macro_f1 == pytest.approx(without["macro_f1"])
    assert result.hamming_loss == pytest.approx(without["hamming_loss"])


def test_products_sum_to_the_score_of_each_label() -> None:
    model = model_of()
    for text in ("goal bread actor a b", "nothing known"):
        found = model.explain(text)
        assert isinstance(found, SeveralExplanation) and found.prediction == model.predict(text)
        scores = dict(zip(model.classes, model.scores(text).tolist(), strict=True))
        assert [one.difference.label for one in found.labels[: len(found.prediction)]] == sorted(
            found.prediction, key=lambda label: -scores[label]
        )
        assert len(found.labels) == min(len(model.classes), len(found.prediction) + 1)
        for one in found.labels:
            assert one.difference.score == scores[one.difference.label]  # to the last bit
            assert sum(row.product for row in one.difference.rows) == pytest.approx(one.difference.score, abs=1e-5)
            is_found = one.difference.label in found.prediction
            assert one.prediction == (one.difference.label if is_found else f"not {one.difference.label}")
        assert json.dumps(found.as_dict()) and str(found).startswith("predictions: ") and "<table" in found.html()


def test_a_single_label_is_a_model_of_two_classes() -> None:
    model = model_of()
    for number, label in enumerate(model.classes):
        one = model.of_label(label)
        assert one.classes == [f"not {label}", label]
        np.testing.assert_allclose(one.scores(TEXTS)[:, 1], model.scores(TEXTS)[:, number], rtol=1e-5)
        assert [label in found for found in model.predict(TEXTS)] == (one.predict(TEXTS) == label).tolist()
        np.testing.assert_allclose(one.probabilities(TEXTS)[:, 1], model.probabilities(TEXTS)[:, number], rtol=1e-4)
    with pytest.raises(SettingsError, match="is 'filn', but there is no such label. Did you mean 'film'"):
        model.of_label("filn")
    with pytest.raises(SettingsError, match="an example has only one label"):
        one.of_label("film")


def test_what_needs_one_label_is_refused_by_the_model(tmp_path: Path) -> None:
    model = model_of()
    for use in (model.errors, model.losses, lambda *data: markone.margins(model, *data)):
        with pytest.raises(SettingsError, match="model predicts several labels for each example, and has no"):
            use(TEXTS, LABELS)
    with pytest.raises(SettingsError, match="label must name the label to keep, because rows can have several"):
        markone.filter_files(model, str(tmp_path / "a.jsonl"), tmp_path / "out")
    with pytest.raises(
        DataError, match="the model predicts several labels for each example, but the target 'label' has"
    ):
        model.evaluate(TEXTS, ["a"] * len(TEXTS))
    with pytest.raises(DataError, match="this model needs one label for each row"):
        markone.train(TEXTS, target=["a", "b"] * 100).evaluate(TEXTS, LABELS)


def test_arrow_card_and_brief() -> None:
    model = model_of()
    batch = model.score_arrow(pa.array(TEXTS[:3]))
    assert batch["prediction"].to_pylist() == [list(one) for one in model.predict(TEXTS[:3])]
    assert batch.schema.names[1:] == [f"{what}:{label}" for what in ("score", "probability") for label in model.classes]
    card = model.card().markdown()
    assert "3 labels, of which an example can have several" in card and "decides about each of them on its own" in card
    assert repr(model).endswith("3 labels: 'film', 'food', 'sports'>")


# ---- the file


@pytest.mark.parametrize("rule", ["mira", "svm"])
@pytest.mark.parametrize("final", [False, True])
def test_a_saved_model_is_the_same(rule: str, final: bool, tmp_path: Path) -> None:
    model = model_of(rule=rule)
    model.save(tmp_path / "model", final=final)
    again = markone.load(tmp_path / "model")
    np.testing.assert_array_equal(again.scores(TEXTS), model.scores(TEXTS))
    np.testing.assert_array_equal(again.probabilities(TEXTS), model.probabilities(TEXTS))
    assert again.predict(TEXTS) == model.predict(TEXTS) and again.several == model.several
    assert pickle.loads(pickle.dumps(model)).digest == model.digest


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda told: told["facts"]["several"]["labels"].pop(), "its decisions do not match its labels"),
        (lambda told: told["facts"]["several"].pop("labels"), "its decisions do not match its labels"),
        (lambda told: told["facts"].pop("several"), "the shape of its weights does not match its classes"),
        (lambda told: told["facts"]["classes"].clear(), "it has no labels"),
        (lambda told: told["facts"]["classes"].__setitem__(0, "food"), "a label occurs twice"),
        (lambda told: told["facts"]["several"]["labels"][0].pop("threshold"), "has the wrong parts"),
        (lambda told: told["facts"]["several"]["labels"][0].update(threshold=[1]), "a decision about a label is"),
        (
            lambda told: told["facts"]["several"]["labels"][0]["threshold"].update(score="x"),
            "its threshold has the wrong values",
        ),
        (lambda told: told["facts"]["several"]["labels"][0]["threshold"].update(aim="x"), "its threshold is for 'x'"),
        (lambda told: told["facts"]["several"]["labels"][0]["calibrator"].update(slopes=[-1.0]), "its calibration has"),
    ],
)
def test_a_forged_file_is_refused(change: Callable[[Any], Any], problem: str, tmp_path: Path) -> None:
    labels = [own if one % 5 == 0 else [*own, "film"] for one, own in enumerate(LABELS)]
    model = markone.train(TEXTS, target=[[one for one in own if one != "sports"] for own in labels], threshold="f1")
    forged = Forged(saved(model, tmp_path))
    change(forged.told)
    (tmp_path / "forged").write_bytes(forged.assembled())
    with pytest.raises(ModelFileError, match=problem):
        markone.load(tmp_path / "forged")


# ---- estimators

ESTIMATORS = [
    Perceptron(tol=None, max_iter=5),
    MIRA(tol=None, max_iter=5),
    LogisticRegression(),
    LogisticRegression(solver="online", alpha=1e-4, tol=None, max_iter=5),
    LinearSVM(),
    LinearSVM(loss="squared_hinge"),
]
X, Y = make_multilabel_classification(n_samples=300, n_features=20, n_classes=4, random_state=0)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: str(one)[:40])
@pytest.mark.parametrize("sparse", [False, True])
def test_estimators_learn_an_indicator_matrix(estimator: Any, sparse: bool) -> None:
    given = (scipy.sparse.csr_matrix(X), scipy.sparse.csr_matrix(Y)) if sparse else (X, Y)
    fitted = estimator.fit(*given)
    found, scores = fitted.predict(X), fitted.decision_function(X)
    assert found.shape == scores.shape == Y.shape and found.dtype.kind == "i" and {*found.ravel()} == {0, 1}
    np.testing.assert_array_equal(found, scores > 0)
    np.testing.assert_array_equal(fitted.classes_, np.arange(4))
    assert fitted.coef_.shape == (4, 20) and fitted.intercept_.shape == (4,)
    np.testing.assert_allclose(scores, X @ fitted.coef_.T + fitted.intercept_, rtol=1e-5, atol=1e-5)
    assert fitted.score(X, Y) == accuracy_score(Y, found) > 0.3
    assert fitted.n_iter_ > 1
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.decision_function(X), scores)
    for label in range(4):  # a label is learned as if it were alone
        np.testing.assert_allclose(estimator.fit(X, Y[:, label]).decision_function(X), scores[:, label], rtol=1e-9)
    assert estimator.predict(X).shape == (300,)


def test_estimators_are_one_versus_rest_of_liblinear() -> None:
    ours = LinearSVM(loss="squared_hinge", tol=1e-8).fit(X, Y)
    theirs = OneVsRestClassifier(LinearSVC(tol=1e-8, max_iter=1_000_000)).fit(X, Y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-3)
    p = LogisticRegression().fit(X, Y).predict_proba(X)
    assert p.shape == Y.shape and ((p > 0.5) == LogisticRegression().fit(X, Y).predict(X)).all()


def test_estimators_refuse_what_several_labels_do_not_have() -> None:
    for given, more, sentence in (
        ({"class_weight": "balanced"}, {}, "class_weight is for rows with one label each"),
        ({}, {"coef_init": np.zeros((4, 20))}, "coef_init is for rows with one label each"),
        ({"early_stopping": True}, {"X_val": X, "y_val": Y}, "X_val is for rows with one label each"),
    ):
        with pytest.raises(SettingsError, match=sentence):
            Perceptron(**given).fit(X, Y, **more)
    with pytest.raises(DataError, match="must have a 1 where a row has a label"):
        Perceptron().fit(X, 2 * Y)
    with pytest.raises(DataError, match="there are 300 rows but 299 rows of labels"):
        Perceptron().fit(X, Y[1:])
    warm = Perceptron(warm_start=True).fit(X, Y)
    with pytest.raises(SettingsError, match="warm_start is for rows with one label each"):
        warm.fit(X, Y)
    with pytest.raises(AttributeError, match="support_ does not exist if rows can have several labels"):
        LinearSVM().fit(X, Y).support_  # noqa: B018
    with pytest.raises(ValueError, match="y should be a 1d array"):
        Perceptron().partial_fit(X, Y)
    assert Perceptron(early_stopping=True, validation_fraction=0.2).fit(X, Y).history_.held_out == 60


# ---- the reader of fastText


@settings(max_examples=200, deadline=None)
@drawn(
    st.lists(
        st.lists(st.sampled_from(["__label__a", "__label__b", "__label__", "x", " ", "\t", "__label__é", "y__label__"]))
        .map(" ".join)
        .map(str.encode),
        min_size=1,
        max_size=5,
    ),
    st.booleans(),
)
def test_lines_of_fasttext_are_read_as_by_their_twin(lines: list[bytes], several: bool) -> None:
    reader = _core.FastTextReader()
    reader.several = several
    chunk = b"".join(line + b"\n" for line in lines)
    read = reader.read(chunk, skip_bad=True)
    wanted = []
    for line in lines:
        try:
            wanted.append(read_fasttext(line, several=several))
        except ValueError:
            continue
    assert read.bad == len(lines) - len(wanted)
    names = [None if number < 0 else reader.label_name(number).encode() for number in read.labels.tolist()]
    texts = [chunk[start:end] for start, end in zip(read.starts.tolist(), read.ends.tolist(), strict=True)]
    assert [*zip(names, texts, strict=True)] == wanted
