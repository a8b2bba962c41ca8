"""Validation: rows are divided fairly, nothing leaks, and the statistics are those of the books."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import t as student
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import markone
from markone.cli import main
from markone.data.blocks import Block
from markone.data.source import Column
from markone.data.subsets import Held, Subset
from markone.errors import DataError, SettingsError
from markone.experiments import contenders
from markone.experiments.folds import divided
from markone.experiments.loo_online import learn_without
from markone.experiments.splits import Plan
from markone.experiments.statistics import Calibration, corrected_interval, interval_of_mean, log_loss, mcnemar, wilson
from markone.experiments.validation import Fold, Validation
from markone.features.dependence import what_learns
from markone.features.map import FeatureMap
from markone.features.spec import Features
from markone.learning.samples import open_sample
from markone.model.history import History, Pass

CLASSES = np.array([0] * 60 + [1] * 30 + [2] * 10)


def points(rows: int = 200, seed: int = 0, noise: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 4))
    return X, (X[:, 0] - X[:, 1] + noise * random.normal(size=rows) > 0).astype(int)


# ---- splits


def test_folds_are_disjoint_and_complete_and_have_every_class():
    splits, remarks = Plan(folds=5, repeats=2).divide(100, CLASSES)
    assert remarks == [] and [(one.repeat, one.number) for one in splits] == [
        (r, n) for r in (1, 2) for n in range(1, 6)
    ]
    for repeat in (1, 2):
        tested = np.concatenate([one.tested for one in splits if one.repeat == repeat])
        assert sorted(tested) == list(range(100))
    for one in splits:
        assert np.bincount(CLASSES[one.tested]).tolist() == [12, 6, 2]
        assert sorted([*one.tested, *one.learned]) == list(range(100))
    assert not np.array_equal(splits[0].tested, splits[5].tested)


def test_a_hold_out_has_its_share_of_each_class():
    [split], _ = Plan(method="holdout").divide(100, CLASSES)
    assert np.bincount(CLASSES[split.tested]).tolist() == [18, 9, 3]
    [split], _ = Plan(method="holdout", share=0.1).divide(100, CLASSES)
    assert np.bincount(CLASSES[split.tested]).tolist() == [6, 3, 1]


def test_leave_one_out_tests_each_row_alone():
    splits, _ = Plan(method="loo").divide(4, np.array([0, 1, 0, 1]))
    assert [one.tested.tolist() for one in splits] == [[0], [1], [2], [3]]
    assert splits[1].learned.tolist() == [0, 2, 3]


def test_the_seed_decides_and_nothing_else():
    def tested(seed: int) -> list[list[int]]:
        return [one.tested.tolist() for one in Plan(folds=4, seed=seed).divide(100, CLASSES)[0]]

    assert tested(0) == tested(0) != tested(1)


@pytest.mark.parametrize("plan", [Plan(folds=20), Plan(method="holdout", share=0.02)])
def test_a_class_that_is_too_small_is_remarked_upon(plan):
    splits, [remark] = plan.divide(100, CLASSES)
    assert remark.startswith("A class has") and sum(len(one.tested) for one in splits) == (
        100 if plan.folds == 20 else 2
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"method": "kfolds"}, "method must be one of 'holdout', 'kfold', 'loo', not 'kfolds'. Did you mean 'kfold'?"),
        ({"folds": 1}, "folds must be a whole number of at least 2, not 1"),
        ({"repeats": 0}, "repeats must be a whole number of at least 1, not 0"),
        ({"share": 1}, "share must be a number greater than 0 and less than 1, not 1"),
        ({"method": "loo", "repeats": 2}, "repeats has no effect on leave-one-out"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(options, sentence):
    with pytest.raises(SettingsError, match=sentence[:40]) as raised:
        Plan(**options)
    assert str(raised.value).startswith(sentence)


def test_rows_that_are_too_few_are_refused():
    with pytest.raises(DataError, match="5 rows cannot be divided into 10 folds"):
        Plan().divide(5, np.array([0, 1, 0, 1, 0]))
    with pytest.raises(DataError, match="3 rows are too few to hold out a share of 0.1"):
        Plan(method="holdout", share=0.1).divide(3, np.array([0, 1, 0]))


# ---- subsets


TABLE = {
    "text": ["a b", "b c", "", "d", "e f g"],
    "size": [1.0, None, 3.0, 4.0, 5.0],
    "kind": ["x", "y", "x", None, "z"],
    "yes": [True, False, True, None, False],
}


@pytest.mark.parametrize(
    ("what", "seen"),
    [
        (TABLE, lambda batch: [batch.columns[name].to_pylist() for name in ("size", "kind", "yes")]),
        (["aa b", "b", "c c", "d", "e"], lambda batch: batch.columns["text"].to_pylist()),
        (np.arange(10.0).reshape(5, 2), lambda batch: batch.columns["features"].matrix.tolist()),
        (csr_matrix(np.eye(5)), lambda batch: batch.columns["features"].matrix.indices.tolist()),
    ],
)
def test_a_subset_has_just_its_rows(what, seen):
    held = Held(markone.read(what, target=["p", "q", "p", "q", "q"], importance=[1, 2, 3, 4, 5]), 10**6)
    rows = np.array([1, 3, 4])
    [batch] = Subset(held, rows).batches()
    [whole] = held.batches()
    everything, some = seen(whole), seen(batch)
    if isinstance(everything[0], list) and len(everything) == 3:
        assert some == [[column[row] for row in rows] for column in everything]
    else:
        assert some == [everything[row] for row in rows]
    assert [held.labels[label] for label in batch.labels] == ["q", "q", "q"]
    assert batch.importance.tolist() == [2, 4, 5]


def test_images_and_texts_of_lines_can_be_divided(tmp_path):
    (tmp_path / "texts.txt").write_text("p\tone\nq\ttwo two\np\tthree\n")
    held = Held(markone.read(tmp_path / "texts.txt"), 10**6)
    [batch] = Subset(held, np.array([1])).batches()
    assert batch.columns["text"].to_pylist() == ["two two"]


def test_rows_of_many_batches_keep_their_numbers():
    held = Held(markone.read(np.arange(20000.0)[:, None], target=[i % 3 for i in range(20000)]), 10**7)
    rows = np.array([0, 4095, 4096, 9000, 19999])
    batches = list(Subset(held, rows).batches())
    assert len(batches) > 1
    assert np.concatenate([batch.columns["features"].matrix[:, 0] for batch in batches]).tolist() == rows.tolist()


def test_rows_without_a_label_take_no_part_and_keep_their_places():
    X, y = points(40)
    labels = [None if i in (0, 7) else int(label) for i, label in enumerate(y)]
    validation = markone.validate(X, target=labels, folds=2)
    assert sorted(np.concatenate([fold.rows for fold in validation.folds])) == [i for i in range(40) if i not in (0, 7)]
    assert validation.remarks == ["2 rows have no label and cannot be used."]


def test_rows_must_fit_into_memory():
    X = np.zeros((40_000, 10))
    with pytest.raises(DataError, match=r"after [\d,]+ rows .* memory=\.\.\."):
        markone.validate(X, target=[0, 1] * 20_000, memory="2 MiB")


# ---- statistics


def test_wilsons_interval():
    """Newcombe 1998, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29."""
    for right, total, low, high in [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ]:
        assert wilson(right, total) == pytest.approx((low, high), abs=5e-5)


def test_the_corrected_interval_is_wider_than_students_by_what_folds_share():
    scores = [0.80, 0.82, 0.78, 0.85, 0.75]
    low, high = interval_of_mean(scores)
    assert (low, high) == pytest.approx(
        student.interval(0.95, 4, np.mean(scores), np.std(scores, ddof=1) / math.sqrt(5))
    )
    wider = corrected_interval(scores, 1 / 4)
    assert (wider[1] - wider[0]) / (high - low) == pytest.approx(math.sqrt((1 / 5 + 1 / 4) / (1 / 5)))
    assert sum(wider) / 2 == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("wins", "losses", "p"), [(10, 2, 158 / 4096), (2, 10, 158 / 4096), (6, 0, 2 / 64), (5, 5, 1.0), (0, 0, 1.0)]
)
def test_mcnemars_exact_p(wins, losses, p):
    """Twice the chance of at most the fewer of n coins: 12 coins, at most 2: (1 + 12 + 66) / 4096."""
    assert mcnemar(wins, losses) == pytest.approx(p)


def test_calibration_of_two_classes_is_by_the_second():
    said = np.array([0.15, 0.15, 0.15, 0.15, 0.95, 0.95])
    truth = np.array([0, 0, 0, 1, 1, 1])
    calibration = Calibration.of(truth, np.column_stack([1 - said, said]))
    assert [(one.predicted, one.observed, one.count) for one in calibration.bins] == [
        (pytest.approx(0.15), 0.25, 4),
        (pytest.approx(0.95), 1.0, 2),
    ]
    assert calibration.error == pytest.approx((4 * 0.10 + 2 * 0.05) / 6)


def test_calibration_of_more_classes_is_by_the_one_predicted():
    probabilities = np.array([[0.72, 0.2, 0.08], [0.1, 0.85, 0.05], [0.2, 0.05, 0.75], [0.74, 0.2, 0.06]])
    calibration = Calibration.of(np.array([0, 1, 1, 0]), probabilities)
    assert [one.count for one in calibration.bins] == [3, 1]
    assert calibration.bins[0].observed == pytest.approx(2 / 3)


def test_log_loss_is_of_the_right_classes():
    probabilities = np.array([[0.5, 0.5], [0.2, 0.8]])
    assert log_loss(np.array([0, 1]), probabilities) == pytest.approx(-(math.log(0.5) + math.log(0.8)) / 2)


# ---- what is measured


def test_a_fold_is_what_training_on_its_other_rows_gives():
    X, y = points()
    validation = markone.validate(X, target=y, rule="perceptron", epochs=4, folds=4, seed=3)
    for fold in validation.folds:
        learned = np.setdiff1d(np.arange(200), fold.rows)
        model = markone.train(X[learned], target=y[learned], rule="perceptron", epochs=4, seed=3)
        assert model.predict(X[fold.rows]).tolist() == fold.predicted.tolist()
        assert fold.score == (fold.predicted == y[fold.rows]).mean() and fold.learned == 150
    assert validation.mean == np.mean([fold.score for fold in validation.folds])
    assert validation.std == np.std([fold.score for fold in validation.folds], ddof=1)


def test_the_curve_is_the_accuracy_after_each_pass():
    X, y = points()
    validation = markone.validate(X, target=y, rule="perceptron", epochs=3, folds=2, seed=1)
    learned = np.setdiff1d(np.arange(200), validation.folds[0].rows)
    for epoch in (1, 2, 3):
        for average, name in ((False, "holdout_last"), (True, "holdout_averaged")):
            settings = {"rule": "perceptron", "epochs": epoch, "seed": 1, "average": average}
            model = markone.train(X[learned], target=y[learned], **settings)
            right = model.accuracy(X[validation.folds[0].rows], y[validation.folds[0].rows])
            assert getattr(validation.folds[0].history[epoch - 1], name) == right
    points_of = validation.curve()
    assert [point.epoch for point in points_of] == [1, 2, 3]
    assert points_of[1].last == np.mean([fold.history[1].holdout_last for fold in validation.folds])
    assert points_of[2].averaged == pytest.approx(validation.mean)


def test_many_passes_are_not_all_measured_but_the_last_is():
    X, y = points()
    history = (
        markone.validate(X, target=y, rule="logistic", solver="online", epochs=60, method="holdout").folds[0].history
    )
    measured = [one.epoch for one in history if one.holdout is not None]
    assert measured[:20] == list(range(1, 21)) and len(measured) < 40 and measured[-1] == 60


def test_patience_waits_for_rows_to_learn_from_and_not_for_the_tested(monkeypatch):
    X, y = points(400)
    blocks = []
    teach = contenders.teach

    def watched(learner, block, **rest):
        assert rest.keys() == {"callback"}
        blocks.append((len(block), learner.settings.holdout))
        return teach(learner, block, **rest)

    monkeypatch.setattr(contenders, "teach", watched)
    options = {"rule": "perceptron", "epochs": 50, "patience": 2, "holdout": 0.2, "folds": 4}
    first = markone.validate(X, target=y, **options)
    assert blocks == [(300, 0.2)] * 4
    assert {fold.history.stopped for fold in first.folds} == {"held-out"}
    # What the tested rows' labels are changes what is said of them, and nothing else.
    split = first.folds[0]
    other = y.copy()
    other[split.rows] = 1 - other[split.rows]
    sample = open_sample(X, y, 1, None)
    division = Plan(folds=4).divide(400, y)[0][0]
    way = contenders.by_rule(
        "perceptron", {name: value for name, value in options.items() if name != "folds"}, 0, None, None
    )
    rows = divided(sample, division, way.spec)
    answers = [way.answer(replace(rows, tested_truth=truth[split.rows])) for truth in (y, other)]
    assert answers[0].predicted.tolist() == answers[1].predicted.tolist()
    assert answers[0].history.passes != answers[1].history.passes


def test_nothing_leaks_from_the_tested_rows():
    """Random words tell nothing of a random label, unless they are weighed by the labels of the tested rows."""
    random = np.random.default_rng(5)
    texts = [" ".join(f"w{word}" for word in random.integers(0, 20_000, 30)) for _ in range(300)]
    labels = random.integers(0, 2, 300)
    spec = {"text": {"words": [1, 1], "weight": "odds"}}
    honest = markone.validate(texts, target=labels, features=spec, folds=5)
    assert 0.38 < honest.mean < 0.62
    everything = FeatureMap(Features.of(spec), (Column("text", "text"),)).fit(markone.read(texts, target=labels))
    [batch] = markone.read(texts).batches()
    matrix = everything.transform(batch)
    rows = csr_matrix((matrix.data, matrix.indices.astype(int), matrix.indptr), shape=matrix.shape)
    leaky = markone.validate(rows, target=labels, folds=5)
    assert leaky.mean > 0.9


def test_scaling_is_learned_within_the_fold():
    X, y = points(60)
    sample = open_sample({f"x{i}": X[:, i] for i in range(4)}, y, 1, None)
    split = Plan(folds=3).divide(60, y)[0][0]
    rows = divided(sample, split, Features())
    learned = X[split.learned]
    expected = (X[split.tested] - learned.mean(axis=0)) / learned.std(axis=0)
    assert rows.tested == pytest.approx(expected, abs=1e-5)
    assert rows.learned.mean(axis=0) == pytest.approx(np.zeros(4), abs=1e-6)


def test_importance_counts_in_learning_and_not_in_tests():
    X, y = points(100)
    importance = np.where(np.arange(100) % 2, 3.0, 1.0)
    source = markone.read(X, target=y, importance=importance)
    weighed, plain = markone.validate(source, folds=2), markone.validate(X, target=y, folds=2)
    assert weighed.predicted.tolist() != plain.predicted.tolist()
    assert weighed.mean == np.mean([(fold.predicted == fold.truth).mean() for fold in weighed.folds])
    assert weighed.curve()[-1].averaged == pytest.approx(weighed.mean)


def test_the_same_seed_gives_the_same():
    X, y = points()

    def predicted(**options) -> list:
        return markone.validate(X, target=y, epochs=2, **options).predicted.tolist()

    assert predicted(seed=1, threads=1) == predicted(seed=1, threads=2) != predicted(seed=2)


def test_probabilities_are_those_of_the_model():
    X, y = points()
    fold = markone.validate(X, target=y, rule="logistic", method="holdout").folds[0]
    learned = np.setdiff1d(np.arange(200), fold.rows)
    model = markone.train(X[learned], target=y[learned], rule="logistic")
    assert fold.probabilities == pytest.approx(model.probabilities(X[fold.rows]), abs=1e-6)
    assert markone.validate(X, target=y, method="holdout").folds[0].probabilities is None


# ---- intervals and over-training


def made(scores: list[list[int]], history: list[list[float]] | None = None) -> Validation:
    """Folds of right (1) and wrong (0) tests."""
    folds = []
    for number, right in enumerate(scores, 1):
        passes = None
        if history is not None:
            passes = History([Pass(i, 0, 0, 0.0, 0.0, 0.0, one) for i, one in enumerate(history[number - 1], 1)])
        truth = np.zeros(len(right), int)
        rows = np.arange(len(right)) + 100 * number
        folds.append(Fold(number, 1, 400, rows, truth, 1 - np.array(right), None, np.mean(right), 0.0, passes))
    return Validation("kfold" if len(scores) > 1 else "holdout", "mira", "accuracy", ["a", "b"], folds, len(scores))


def test_one_hold_out_has_wilsons_interval_and_no_deviation():
    validation = made([[1] * 81 + [0] * 19])
    assert validation.interval == wilson(81, 100) and validation.std is None


def test_folds_that_differ_have_the_corrected_interval_and_folds_that_do_not_wilsons():
    unlike = made([[1] * 90 + [0] * 10, [1] * 60 + [0] * 40, [1] * 75 + [0] * 25])
    assert unlike.interval == (pytest.approx(corrected_interval([0.9, 0.6, 0.75], 100 / 400)[0]), 1.0)
    alike = made([[1] * 75 + [0] * 25] * 3)
    assert alike.interval == pytest.approx(wilson(225, 300))


def test_over_training_is_a_fall_that_is_no_chance():
    right = [[1] * 80 + [0] * 20] * 4
    assert made(right, [[0.7, 0.9, 0.8], [0.7, 0.91, 0.8], [0.72, 0.9, 0.81], [0.7, 0.9, 0.8]]).over_training == 2
    assert made(right, [[0.7, 0.9, 0.8], [0.7, 0.8, 0.9], [0.7, 0.85, 0.8], [0.7, 0.8, 0.84]]).over_training is None
    assert made(right, [[0.7, 0.8, 0.9]] * 4).over_training is None
    assert made(right[:1], [[0.7, 0.9, 0.5]]).over_training == 2
    assert made(right[:1], [[0.7, 0.9, 0.89]]).over_training is None
    few = [[1] * 45 + [0] * 5] * 2
    assert made(few, [[0.7, 0.94, 0.9]] * 2).over_training is None  # alike, but only 4 rows
    assert made(few, [[0.7, 0.94, 0.7]] * 2).over_training == 2


def test_a_fold_that_stopped_stays_as_it_was():
    curve = made([[1], [1]], [[0.5, 0.7], [0.6, 0.8, 0.9]]).curve()
    assert [(point.epoch, point.last) for point in curve] == [
        (1, pytest.approx(0.55)),
        (2, pytest.approx(0.75)),
        (3, pytest.approx(0.8)),
    ]


# ---- estimators


def test_an_estimator_of_scikit_learn_learns_from_the_same_folds():
    X, y = points()
    validation = markone.validate(X, target=y, estimator=LogisticRegression(), folds=5, seed=2)
    X = X.astype(np.float32)
    for fold in validation.folds:
        learned = np.setdiff1d(np.arange(200), fold.rows)
        twin = LogisticRegression().fit(X[learned], y[learned])
        assert twin.predict(X[fold.rows]).tolist() == fold.predicted.tolist()
        assert twin.predict_proba(X[fold.rows]) == pytest.approx(fold.probabilities)
    assert validation.name == "LogisticRegression" and validation.curve() == []


def test_the_folds_are_scikit_learns():
    X, y = points()
    validation = markone.validate(X, target=y, estimator=GaussianNB(), folds=5, seed=2)
    counts = [np.bincount(fold.truth).tolist() for fold in validation.folds]
    assert counts == [np.bincount(y[tested]).tolist() for _, tested in StratifiedKFold(5).split(X, y)]


def test_an_estimator_sees_labels_and_gives_probabilities_for_classes_it_has_not_learned():
    labels = ["rare"] + ["no", "yes"] * 10
    validation = markone.validate(np.eye(21), target=labels, estimator=DummyClassifier(strategy="prior"), folds=3)
    assert validation.classes == ["no", "rare", "yes"] and "A class has 1 row" in validation.remarks[0]
    without = next(fold for fold in validation.folds if 0 in fold.rows)
    assert without.probabilities.shape[1] == 3 and not without.probabilities[:, 1].any()
    assert without.probabilities.sum(axis=1) == pytest.approx(1)


def test_texts_become_features_for_an_estimator():
    texts = ["free money", "see you"] * 20
    validation = markone.validate(texts, target=["spam", "ham"] * 20, estimator=KNeighborsClassifier(1), folds=4)
    assert validation.mean == 1


def test_a_regressor_is_measured_by_its_squared_error():
    random = np.random.default_rng(0)
    table = {"x": random.normal(size=60), "z": random.normal(size=60)}
    table["y"] = 2 * table["x"] - table["z"] + 0.1 * random.normal(size=60)
    by_name = markone.validate(table, target="y", estimator=LinearRegression(), folds=3)
    assert by_name.metric == "mean squared error" and by_name.mean < 0.02 and by_name.classes == []
    numbers = markone.validate(
        {name: table[name] for name in "xz"}, target=table["y"], estimator=LinearRegression(), folds=3
    )
    assert numbers.mean == pytest.approx(by_name.mean)
    low, high = markone.validate(table, target="y", estimator=LinearRegression(), method="loo").interval
    assert 0 < low < high < 0.02
    assert "mean squared error 0.0" in str(by_name)


def test_a_regression_without_numbers_is_refused():
    table = {"x": [1.0, 2.0, 3.0], "name": ["a", "b", "c"]}
    with pytest.raises(DataError, match="'name' does not contain numbers: it is categorical"):
        markone.validate(table, target="name", estimator=LinearRegression(), method="loo")
    with pytest.raises(DataError, match="but 'a' is not a number"):
        markone.validate([[1.0], [2.0]], target=["a", "b"], estimator=LinearRegression(), method="loo")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"estimator": GaussianNB}, "estimator must be an object, not a class: GaussianNB()"),
        ({"estimator": 3}, "estimator must have the methods of a scikit-learn estimator, and 3 does not"),
        ({"estimator": GaussianNB(), "rule": "mira"}, "rule is only for rules; an estimator has its own settings"),
        ({"rule": "mirra"}, "rule must be one of"),
        ({"epoch": 3}, "epoch is unknown"),
        ({"holdout": 0.1}, "holdout is only used by patience"),
        ({"patience": 2}, "patience needs held-out accuracy"),
        ({"progress": 3}, "progress must be True, False, or have the methods"),
    ],
)
def test_what_means_nothing_is_refused(options, sentence):
    X, y = points(40)
    with pytest.raises(SettingsError) as raised:
        markone.validate(X, target=y, **options)
    assert str(raised.value).startswith(sentence)


def test_data_of_which_nothing_can_be_learned_are_refused():
    with pytest.raises(DataError, match="all examples have the label 1"):
        markone.validate(np.eye(20), target=[1] * 20)
    with pytest.raises(DataError, match="there is nothing to predict"):
        markone.validate(np.eye(20))


# ---- leave-one-out


@pytest.mark.parametrize(
    ("what", "spec", "reason"),
    [
        (np.eye(4), {}, None),
        (csr_matrix(np.eye(4)), {}, None),
        (csr_matrix(np.eye(4)), {"unit": True}, "the scaling of rows to length 1"),
        (np.eye(4), {"rows": {"scale": "standard"}}, "the scale of given rows"),
        ({"x": [1.0, 2, 3, 4]}, {}, "the scale of numbers"),
        ({"x": [1.0, 2, 3, 4]}, {"numeric": {"scale": "none"}}, None),
        ({"x": [1.0, None, 3, 4]}, {"numeric": {"scale": "none"}}, "the values for missing numbers"),
        ({"x": ["a", "b", "a", "b"]}, {}, "the choice of categories"),
        (["a", "b", "c d", "d"], {}, "the choice of words"),
        (["a", "b", "c d", "d"], {"text": {"hash_bits": 8}}, "the weights of words"),
        (["a", "b", "c d", "d"], {"text": {"hash_bits": 8, "weight": "none"}}, None),
    ],
)
def test_features_know_whether_they_learn_from_rows(what, spec, reason):
    source = markone.read(what, target=[0, 1, 0, 1])
    found = what_learns(FeatureMap(Features.of(spec), source.columns).fit(source))
    assert found is None if reason is None else found.startswith(reason)


@pytest.mark.parametrize("rule", ["perceptron", "mira", "hinge", "logistic"])
@pytest.mark.parametrize("form", ["dense", "table"])
def test_leave_one_out_is_as_many_trainings(rule, form):
    X, y = points(40)
    data = X if form == "dense" else {f"x{i}": X[:, i].tolist() for i in range(4)}
    options = {"rule": rule, "epochs": 3, "order": "given"}
    validation = markone.validate(data, target=y, method="loo", **options)
    expected = []
    for row in range(40):
        others = np.arange(40) != row
        rest = X[others] if form == "dense" else {name: np.array(data[name])[others].tolist() for name in data}
        one = X[[row]] if form == "dense" else {name: [data[name][row]] for name in data}
        expected.append(markone.train(rest, target=y[others], **options).predict(one)[0])
    assert validation.predicted.tolist() == expected
    [fold] = validation.folds
    assert fold.rows.tolist() == list(range(40)) and fold.learned == 39
    assert validation.interval == wilson(int((np.array(expected) == y).sum()), 40)
    assert (validation.probabilities is not None) == (rule == "logistic")
    quick = form == "dense" and rule != "logistic"
    assert (validation.trained == 40) != quick and len(validation.remarks) == 1


@pytest.mark.parametrize("what", [lambda X: X, csr_matrix])
def test_leave_one_out_keeps_the_order_of_the_run_with_all(what):
    X, y = points(60)
    X[abs(X) < 0.5] = 0
    validation = markone.validate(what(X), target=y, rule="perceptron", method="loo", epochs=4, seed=3)
    settings = contenders.settings_for({"rule": "perceptron", "epochs": 4}, 3)
    block = Block.of(X.astype(np.float32), y)
    assert validation.predicted.tolist() == [learn_without(block, settings, 2, row) for row in range(60)]
    assert "rows caused no step" in validation.remarks[0] and 1 < validation.trained < 60


def test_settings_that_bar_the_quick_way_are_named():
    X, y = points(30)
    validation = markone.validate(X, target=y, rule="hinge", penalty="l2", method="loo", epochs=1)
    assert (
        validation.trained == 30
        and "There is a faster way to the same result, but penalty must be None" in (validation.remarks[0])
    )


@pytest.mark.parametrize("options", [{}, {"k": 0.1}, {"alpha": 0.7}, {"k": 0.0}, {"priors": "uniform"}])
@pytest.mark.parametrize("form", ["dense", "sparse", "table"])
def test_naive_bayes_leaves_out_counts_and_trains_once(form, options):
    random = np.random.default_rng(1)
    X = random.poisson(0.8, (60, 5)).astype(float)
    y = (X[:, 0] + random.normal(size=60) > X[:, 1]).astype(int) + (X[:, 2] > 2)
    data = {"dense": X, "sparse": csr_matrix(X), "table": {f"x{i}": X[:, i].tolist() for i in range(5)}}[form]
    validation = markone.validate(data, target=y, rule="naive-bayes", method="loo", **options)
    sample = open_sample(data, y, 1, None)
    way = contenders.by_rule("naive-bayes", {"rule": "naive-bayes", **options}, 0, None, None)
    answers = [way.answer(divided(sample, split, way.spec)) for split in Plan(method="loo").divide(60)[0]]
    assert validation.predicted.tolist() == [answer.predicted[0] for answer in answers]
    assert validation.probabilities == pytest.approx(np.concatenate([answer.probabilities for answer in answers]))
    assert validation.trained == 1 and "subtracting its counts" in validation.remarks[0]


def test_what_learns_features_takes_a_training_for_each_row_and_says_why():
    X, y = points(30)
    validation = markone.validate({"x": X[:, 0]}, target=y, method="loo", epochs=1)
    assert validation.trained == 30 and "the scale of numbers depends on the rows" in validation.remarks[0]


def test_a_regression_that_knows_its_errors_is_trained_once():
    class Known(LinearRegression):
        def leave_one_out_errors(self, X, y):
            with_one = np.column_stack([np.ones(len(X)), X])
            hat = with_one @ np.linalg.pinv(with_one)
            return (y - hat @ y) / (1 - np.diag(hat))

    random = np.random.default_rng(0)
    X = random.normal(size=(25, 2))
    y = X @ [1.0, -2.0] + random.normal(size=25)
    quick = markone.validate(X, target=y, estimator=Known(), method="loo")
    plain = markone.validate(X, target=y, estimator=LinearRegression(), method="loo")
    assert quick.trained == 1 and plain.trained == 25
    assert quick.predicted == pytest.approx(plain.predicted, abs=1e-5) and quick.mean == pytest.approx(plain.mean)


# ---- what people and machines read


def test_a_validation_says_all_of_it_in_a_table():
    X, y = points()
    text = str(markone.validate(X, target=y, folds=3, epochs=2))
    assert text.startswith("mira: accuracy ") and ", 95% interval " in text and "standard deviation" in text
    assert "3-fold: 200 rows, each tested once." in text and "after pass" in text
    assert max(map(len, text.split("\n"))) <= 100


def test_progress_is_told_of_every_fold():
    class Told:
        def __init__(self) -> None:
            self.steps, self.closed = 0, False
            self.said: list[str] = []

        def start(self, steps: int) -> None:
            self.steps = steps

        def step(self, what: str) -> None:
            self.said.append(what)

        def close(self) -> None:
            self.closed = True

    X, y = points(40)
    told = Told()
    markone.validate(X, target=y, folds=3, repeats=2, progress=told)
    assert told.steps == 6 and told.closed
    assert told.said[0] == "mira, fold 1 of 6" and told.said[-1] == "mira, fold 6 of 6"


def test_progress_is_lines_where_nobody_watches(capsys):
    X, y = points(40)
    markone.validate(X, target=y, folds=2, progress=True)
    assert capsys.readouterr().err.splitlines() == ["1 of 2: mira, fold 1 of 2", "2 of 2: mira, fold 2 of 2"]


def test_progress_is_a_bar_where_somebody_watches(capsys, monkeypatch):
    X, y = points(40)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    markone.validate(X, target=y, folds=2, progress=True)
    assert "mira, fold 2 of 2" in capsys.readouterr().err


@pytest.fixture
def people(tmp_path):
    random = np.random.default_rng(0)
    path = tmp_path / "people.csv"
    lines = []
    for _ in range(120):
        age, job = random.integers(20, 70), random.choice(["clerk", "baker"])
        lines.append(f"{age},{job},{'high' if age + 10 * (job == 'clerk') + random.normal(0, 5) > 50 else 'low'}\n")
    path.write_text("age,job,income\n" + "".join(lines))
    return path


def test_the_command_prints_what_the_library_says(people, capsys):
    assert main(["validate", str(people), "--target", "income", "--folds", "4", "--rule", "perceptron"]) == 0
    printed = capsys.readouterr()
    expected = markone.validate(people, target="income", folds=4, rule="perceptron")
    without_seconds = [line.rsplit(" ", 1)[0] for line in str(expected).splitlines()]
    assert [line.rsplit(" ", 1)[0] for line in printed.out.splitlines()] == without_seconds
    assert printed.err == ""


def test_the_command_speaks_json(people, capsys):
    command = [
        "validate",
        str(people),
        "--target",
        "income",
        "--method",
        "holdout",
        "--share",
        "0.25",
        "--repeats",
        "2",
    ]
    assert main([*command, "--json", "--seed", "5", "--epochs", "3"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = markone.validate(people, target="income", method="holdout", share=0.25, repeats=2, seed=5, epochs=3)
    assert found["mean"] == expected.mean and found["interval"] == list(expected.interval)
    assert [fold["tested"] for fold in found["folds"]] == [30, 30] and found["classes"] == ["high", "low"]
    assert [point["epoch"] for point in found["curve"]] == [1, 2, 3]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--folds", "1"], "--folds must be a whole number of at least 2, not 1"),
        (["--method", "loo", "--repeats", "3"], "--repeats has no effect on leave-one-out"),
        (["--share", "2", "--method", "holdout"], "--share must be a number greater than 0"),
        (["--holdout", "0.1"], "--holdout is only used by patience"),
    ],
)
def test_the_command_refuses_in_its_own_words(people, capsys, options, sentence):
    assert main(["validate", str(people), "--target", "income", *options]) == 2
    assert capsys.readouterr().err.startswith(f"markone: {sentence}")


def test_the_command_needs_data(capsys):
    assert main(["validate", "--target", "income"]) == 2
    assert "no file was given; name a file" in capsys.readouterr().err
