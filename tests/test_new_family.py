"""A family that is added at run time, in few places, does all that the others do: nothing else knows its name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import markone
from markone import _core
from markone.data.blocks import Block, Rows, as_scipy
from markone.errors import DataError, SettingsError
from markone.experiments.contenders import ByRule, taught
from markone.experiments.folds import FoldRows
from markone.experiments.shortcuts import LeftOutAnswers, Shortcut
from markone.learning.examples import Examples
from markone.learning.learner import CommonLearner, Counted, State
from markone.learning.states import check_forms
from markone.model import rules
from markone.model.explaining import ModelExplanation, explain_weights
from markone.model.named_numbers import FeatureNames, NamedNumbers
from markone.model.rules import Family, Traits, register
from markone.model.scorer import Contributions, LinearScorer
from markone.model.settings import Settings, SpelledOut
from markone.storage.saved import Saved

RULE: Any = "nearest-mean"


# ---- place 1: the settings


class MeanSettings(SpelledOut):
    """Of the rule `nearest-mean`, which has none of its own."""

    __slots__ = ()


# ---- place 2: the scorer


class MeanScorer:
    """The nearest class mean wins: the score of class k is mₖ·x - |mₖ|²/2. Of two classes, the second's less the
    first's."""

    kind: ClassVar[str] = "mean"
    adds_up: ClassVar[bool] = True
    has_probabilities = False

    def __init__(self, means: NDArray[np.float32]) -> None:
        self.means = means
        """Classes × features."""
        biases = -(means**2).sum(axis=1) / 2
        if len(means) == 2:
            means, biases = means[1:] - means[:1], biases[1:] - biases[:1]
        self.weights = _core.Weights32(np.ascontiguousarray(means.T), biases, self.classes)

    @property
    def features(self) -> int:
        return self.means.shape[1]

    @property
    def classes(self) -> int:
        return len(self.means)

    def scores(self, rows: Rows) -> NDArray[Any]:
        return self.weights.scores(rows)

    def contributions(self, *row: Any) -> Contributions:
        return LinearScorer(self.weights, False).contributions(*row)

    def explain(self, model: Any, top: int) -> ModelExplanation:
        return explain_weights(model, self.weights, top)

    def named_numbers(self, features: Any, labels: list[str]) -> list[NamedNumbers]:
        return [NamedNumbers(FeatureNames(features), labels, self.means.T.astype(np.float64))]

    def used(self) -> NDArray[np.bool_]:
        return np.asarray((self.means != 0).any(axis=0))

    def prune(self, kept: NDArray[np.bool_]) -> MeanScorer:
        return MeanScorer(np.ascontiguousarray(self.means[:, kept]))

    def save(self) -> Saved:
        return Saved({}, {"means": self.means})

    @classmethod
    def load(cls, saved: Saved, classes: int, has_probabilities: bool) -> MeanScorer:
        means = saved.arrays.get("means", np.zeros(0))
        if means.ndim != 2 or len(means) != classes or means.dtype != np.float32:
            raise DataError("the shape of its means does not match the classes")
        return cls(means)


# ---- place 3: the learner


class MeanLearner(CommonLearner):
    """Adds up the rows of each class, in one pass."""

    settings: MeanSettings
    classes: int

    def __init__(self, settings: Settings, *, features: int, classes: int, dtype: Any = np.float64) -> None:
        self.settings = MeanSettings.of(settings)
        self.features, self.classes, self.dtype = features, classes, np.dtype(dtype)
        self.sums, self.rows = np.zeros((classes, features)), np.zeros(classes)

    def learn_pass(self, examples: Examples, epoch: int, skip: int) -> Iterator[tuple[Counted, int]]:
        for block, order in examples.visits(self.settings, epoch, skip):
            part = block if order is None else block.take(order)
            self.learn(part)
            yield Counted(None, len(part), None, float(len(part))), len(part)

    def learn(self, block: Block) -> None:
        np.add.at(self.sums, block.labels, dense(block))
        self.rows += np.bincount(block.labels, minlength=self.classes)

    def scorer(self) -> MeanScorer:
        return MeanScorer((self.sums / np.maximum(self.rows, 1)[:, None]).astype(np.float32))

    def scores(self, rows: Rows, averaged: bool | None = None) -> NDArray[Any]:
        return self.scorer().scores(rows)

    def grown_from(self, scorer: MeanScorer, moved: NDArray[np.int64], places: list[int]) -> MeanLearner:
        """Each old mean counts as one row."""
        self.sums[np.ix_(places, moved)] += scorer.means
        self.rows[places] += 1
        return self

    def get_state(self) -> State:
        return {"sums": self.sums.copy(), "rows": self.rows.copy()}

    def check_state(self, state: State) -> None:
        check_forms(state, self.get_state())

    def set_state(self, state: State) -> None:
        self.sums, self.rows = state["sums"].copy(), state["rows"].copy()


def dense(block: Block) -> NDArray[Any]:
    matrix = as_scipy(block.matrix)
    return np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), np.float64)


# ---- place 4: exact leave-one-out, which a family need not have


def left_out(way: ByRule, rows: FoldRows, threads: int) -> LeftOutAnswers:
    """A row is taken away from the sums of its class."""
    learner: Any = way.learner(rows)
    taught(learner, rows)
    predicted = np.zeros(len(rows.truth), np.int64)
    for i, (x, label) in enumerate(zip(dense(rows.block), rows.truth, strict=True)):
        sums, counts = learner.sums.copy(), learner.rows.copy()
        sums[label] -= x
        counts[label] -= 1
        means = sums / np.maximum(counts, 1)[:, None]
        predicted[i] = int((means @ x - (means**2).sum(axis=1) / 2).argmax())
    return LeftOutAnswers(predicted, None, 1, ["Each row was left out by taking it away from the mean of its class."])


# ---- place 5: the record


FAMILY = Family(
    name="means",
    changes="means",
    settings=MeanSettings,
    scorer=MeanScorer,  # type: ignore[arg-type]  # the protocol has more precise signatures
    learner=MeanLearner,
    leave_one_out=Shortcut(answers=left_out),
)
TRAITS = Traits(family="means", usual={**rules.SHARED, "epochs": 1, "average": False})


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    tables: tuple[dict[str, Any], ...] = (rules.FAMILIES, rules.RULES, rules.COMPARED)
    before = [dict(table) for table in tables]
    register(FAMILY, {RULE: TRAITS})
    yield
    for table, old in zip(tables, before, strict=True):
        table.clear()
        table.update(old)


# ---- what it can do then


def points(rows: int = 60, classes: int = 3) -> tuple[NDArray[np.float64], list[str]]:
    random = np.random.default_rng(0)
    labels = random.integers(0, classes, rows)
    return random.normal(size=(rows, 2)) + 1.5 * np.array([[0, 0], [2, 0], [0, 2]])[labels], [f"c{k}" for k in labels]


PLAIN = {"numeric": {"scale": "none"}, "rows": {"scale": "none"}, "unit": False}


@pytest.mark.parametrize("classes", [2, 3])
def test_it_trains_predicts_saves_loads_and_explains(classes: int, tmp_path: Path) -> None:
    X, y = points(classes=classes)
    model = markone.train(X, target=y, rule=RULE, holdout=0, features=PLAIN)
    means = np.array([X[[label == name for label in y]].mean(axis=0) for name in model.classes])
    nearest = ((X[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert model.predict(X).tolist() == [model.classes[k] for k in nearest]
    model.save(tmp_path / "a.model")
    model.save(tmp_path / "final.model", final=True)
    for name in ("a.model", "final.model"):
        again = markone.load(tmp_path / name)
        assert again.settings == model.settings and (again.scores(X) == model.scores(X)).all()
    assert "features that support c1" in str(model.explain())
    assert model.explain(X[:1]) is not None
    why = next(model.explain(X[:1]))
    assert why.prediction == model.predict(X[:1])[0]


def test_it_learns_from_texts_and_goes_on_from_a_model(tmp_path: Path) -> None:
    texts, labels = ["free money", "money now", "see you", "see you soon"], ["spam", "spam", "ham", "ham"]
    model = markone.train(texts, target=labels, rule=RULE, checkpoint=tmp_path / "kept.model")
    assert model.predict("money") == "spam"
    resumed = markone.train(texts, target=labels, rule=RULE, checkpoint=tmp_path / "kept.model", resume=True)
    assert (resumed.scores(texts) == model.scores(texts)).all()
    grown = markone.train(["tea time", "more tea"], target=["tea", "tea"], from_model=model)
    assert grown.predict("tea") == "tea" and grown.predict("money") == "spam"
    with pytest.raises(SettingsError, match="'nearest-mean', which cannot continue training from a model of 'mira'"):
        markone.train(texts, target=labels, rule=RULE, from_model=markone.train(texts, target=labels))


def test_its_settings_are_checked() -> None:
    with pytest.raises(SettingsError, match="C belongs to the rules 'mira' and 'svm', not to 'nearest-mean'"):
        Settings(rule=RULE, C=1.0)
    with pytest.raises(SettingsError, match="Did you mean 'nearest-mean'"):
        Settings(rule="nearest-men")  # type: ignore[arg-type]
    assert isinstance(Settings(rule=RULE).spelled_out(), MeanSettings)


def test_it_is_validated_with_and_without_its_shortcut() -> None:
    X, y = points()
    assert markone.validate(X, target=y, rule=RULE, folds=3).mean > 0.7
    exact = markone.validate(X, target=y, rule=RULE, method="loo", features=PLAIN)
    scaled = {"rows": {"scale": "standard"}}  # which is learned from the rows, anew without each
    plain = markone.validate(X, target=y, rule=RULE, method="loo", features=scaled)
    assert exact.trained == 1 and plain.trained == len(X)
    assert "taking it away from the mean" in exact.remarks[0]
    FAMILY.leave_one_out, shortcut = None, FAMILY.leave_one_out
    try:
        one_by_one = markone.validate(X, target=y, rule=RULE, method="loo", features=PLAIN)
    finally:
        FAMILY.leave_one_out = shortcut
    assert one_by_one.trained == len(X)
    assert (exact.folds[0].predicted == one_by_one.folds[0].predicted).all()


def test_it_is_compared_tuned_and_traced() -> None:
    X, y = points()
    found = markone.compare(X, target=y, rules=[RULE, "mira"], folds=3, contrasts=False, tune=True)
    assert {one.name for one in found.contenders} == {RULE, "mira"} and not found.failures
    assert markone.tune(X, target=y, rule=RULE).settings == {"rule": RULE}
    trace = markone.trace(X[:4], y[:4], rule=RULE, features=PLAIN)
    assert len(trace) and "means" in str(trace)


def test_the_command_line_knows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = points()
    lines = [f"{a},{b},{label}" for (a, b), label in zip(X.tolist(), y, strict=True)]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,label", *lines]))
    model = markone.train(markone.read(tmp_path / "data.csv", target="label"), rule=RULE)
    model.save(tmp_path / "a.model")
    from markone.cli import main

    assert main(["evaluate", str(tmp_path / "a.model"), str(tmp_path / "data.csv")]) in (0, None)
    assert "accuracy" in capsys.readouterr().out.lower()


def test_it_takes_fewer_than_ten_places() -> None:
    """Those of this file; `docs/add-a-rule.md` names the files in which they stand for a family that comes with
    Markone, and there are no others."""
    root = Path(__file__).parents[1]
    page = (root / "docs" / "add-a-rule.md").read_text(encoding="utf-8")
    table = page.split("## A rule of another family", 1)[1]
    named = [line.split("`")[1] for line in table.splitlines() if line.startswith("| `")]
    assert 0 < len(named) < 10
    for name in named:
        assert "<" in name or (root / name).exists(), name
