"""Tuning: it finds what is better, by rows held out from those to learn from, and always the same."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import markone
from markone.errors import DataError, SettingsError
from markone.experiments import tuning as tuning_module
from markone.experiments.contenders import settings_for
from markone.experiments.tuning import TuningSearch, tune
from markone.learning.learners import new_learner
from markone.model import search_grids
from markone.model.settings import Settings


def points(rows: int = 400, seed: int = 0, noise: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 4))
    return X, (X[:, 0] - X[:, 1] + noise * random.normal(size=rows) > 0).astype(int)


def final_of(tuning):
    last = tuning.trials[-1].round
    return [trial for trial in tuning.trials if trial.round == last]


def wild(rows: int = 1000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows on which a long step of MIRA without averaging is wild."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 30))
    return X, (X[:, 0] + 0.3 * X[:, 1] + 1.5 * random.normal(size=rows) > 0).astype(int)


def test_the_defaults_are_in_the_final_and_kept_if_nothing_is_clearly_better():
    X, y = points()
    tuning = tune(X, target=y, rule="mira", seed=1)
    usual, *others = final_of(tuning)
    assert usual is tuning.chosen and tuning.kept and tuning.settings == {"rule": "mira"}
    assert len(others) == 3 and tuning.rival.score == max(trial.score for trial in others)
    assert tuning.gain == pytest.approx(tuning.rival.score - usual.score) and tuning.gain <= 2 * tuning.noise
    assert tuning.rows == 320 and tuning.held_out == 80 and tuning.in_turn
    assert "The defaults are kept" in str(tuning)


def test_scores_of_the_final_are_those_of_validation():
    """By the same folds, and with features that are made in each of them."""
    X, y = points()
    tuning = tune(X, target=y, rule="mira", seed=1)
    for trial in final_of(tuning):
        found = markone.validate(X, target=y, folds=5, repeats=3, seed=2, rule="mira", **trial.settings)
        assert trial.score == pytest.approx(found.mean, abs=0.015)  # the seed of the training is another one


@pytest.mark.parametrize("rule", ["mira", "hinge"])
def test_a_final_with_the_rows_of_the_last_round_is_the_same_without_new_training(rule, monkeypatch):
    monkeypatch.setattr(tuning_module, "FINALS", ())
    X, y = wild(3000)
    known = final_of(tune(X, target=y, rule=rule))
    trained = []
    monkeypatch.setattr(TuningSearch, "known", lambda search, candidate: trained.append(candidate))
    again = final_of(tune(X, target=y, rule=rule))
    assert len(trained) == len(again) == 4
    assert [replace(one, seconds=0) for one in known] == [replace(one, seconds=0) for one in again]


def test_the_noise_is_the_standard_error_of_the_difference():
    X, y = wild()
    tuning = tune(X, target=y, rule="mira", average=False)
    assert not tuning.kept and tuning.gain > 2 * tuning.noise > 0
    # At most the rows on which both differ, each by one: a share of at least the gain.
    assert tuning.noise >= np.sqrt((tuning.gain - tuning.gain**2) / 3 / len(y)) * 0.9
    assert f"better than the defaults by {100 * tuning.gain:.2f} points" in " ".join(str(tuning).split())


def test_the_defaults_of_a_table_are_those_of_train():
    random = np.random.default_rng(0)
    table = {"a": random.normal(size=400), "b": random.normal(size=400)}
    labels = np.where(table["a"] ** 2 + random.normal(size=400) > 1, "far", "near").tolist()
    tuning = tune(table, target=labels)
    assert tuning.kept and tuning.rule == "logistic"
    assert {trial.settings.get("rule") for trial in tuning.trials} == {None, "mira", "logistic", "svm", "hinge", "mlp"}
    model = markone.train(table, target=labels, features=tuning.features, **tuning.settings)
    usual = markone.train(table, target=labels)
    assert [one.tolist() for one in model.weight_arrays()] == [one.tolist() for one in usual.weight_arrays()]
    plain = tune(table, target=labels, plain=True)
    assert final_of(plain)[0].in_words() == "the defaults"
    assert final_of(plain)[0].score < tuning.score - 0.05


def test_another_rule_is_found():
    """On a sphere in ten dimensions, only hidden layers and curves can tell the classes; given rows have no curves."""
    random = np.random.default_rng(0)
    X = random.normal(size=(1200, 4))
    y = ((X**2).sum(axis=1) > 3.4).astype(int)
    tuning = tune(X, target=y)
    assert tuning.rule == "mlp" and tuning.settings["rule"] == "mlp" and tuning.gain > 0.1
    assert tune(X, target=y, C=0.1).rule == "mira"  # a setting of a rule implies the rule


def test_few_rows_are_divided_several_times():
    tables = {rows: points(rows) for rows in (200, 1500, 4000)}
    designs = {rows: tune(X, target=y, rule="mira", epochs=1).design for rows, (X, y) in tables.items()}
    assert designs == {200: "5 folds, 3 times", 1500: "5 folds", 4000: "3 folds"}


def test_a_better_setting_is_found():
    X, y = wild(1500)
    options = {"rule": "mira", "average": False}
    tuning = tune(X[:1000], target=y[:1000], **options)
    usual, tuned = (
        markone.train(X[:1000], target=y[:1000], **settings).accuracy(X[1000:], y[1000:])
        for settings in (options, tuning.settings)
    )
    assert tuning.settings["C"] < 0.3 and tuned > usual + 0.03


def test_rounds_have_more_rows_and_passes_and_fewer_candidates():
    X, y = points(6000)
    tuning = tune(X, target=y, rule="hinge")
    rounds = {number: [trial for trial in tuning.trials if trial.round == number] for number in (1, 2, 3)}
    assert [len(trials) for trials in rounds.values()] == [31, 11, 4]
    assert [{trial.rows for trial in trials} for trials in rounds.values()] == [{533}, {1600}, {4800}]
    best = sorted(rounds[1], key=lambda trial: -trial.score)[10].score
    assert all(trial.score >= best for one in rounds[2] for trial in rounds[1] if trial.settings == one.settings)
    assert max(trial.passes for trial in rounds[1]) <= 5 and max(trial.passes for trial in rounds[3]) <= 20
    assert len(final_of(tuning)) == 4 and {trial.rows for trial in final_of(tuning)} == {4000}


def test_few_rows_have_one_round():
    X, y = points(300)
    tuning = tune(X, target=y, rule="mira")
    assert {trial.round for trial in tuning.trials} == {1, 2} and {trial.rows for trial in tuning.trials} == {240}


def test_of_equals_the_usual_is_taken():
    X = np.repeat([[1.0, 0.0], [0.0, 1.0]], 100, axis=0)
    tuning = tune(X, target=[0] * 100 + [1] * 100, rule="mira")
    assert tuning.settings == {"rule": "mira"} and tuning.score == 1


def test_what_is_given_is_kept():
    X, y = points()
    tuning = tune(X, target=y, rule="logistic", eta=0.7, epochs=3)
    assert tuning.settings["eta"] == 0.7 and tuning.settings["epochs"] == 3
    assert all("eta" not in trial.settings and trial.passes == 3 for trial in tuning.trials)
    assert {trial.settings.get("penalty") for trial in tuning.trials} == {None, "l1", "l2"}


def test_the_lengths_of_ngrams_are_chosen_where_no_features_are_given():
    """Which of two words comes first is all that tells the classes apart: single words say nothing."""
    random = np.random.default_rng(0)
    texts, labels = [], []
    for _ in range(600):
        label = int(random.integers(2))
        texts.append(" ".join(["so"] * int(random.integers(3)) + (["good", "bad"] if label else ["bad", "good"])))
        labels.append(label)
    tuning = tune(texts, target=labels, rule="perceptron")
    assert tuning.kept and tuning.score == 1  # by default, there are n-grams of up to three words
    single = next(trial for trial in tuning.trials if trial.text == {"words": [1, 1]})
    assert single.score < 0.7
    given = {"text": {"words": [1, 1]}}
    kept = tune(texts, target=labels, rule="perceptron", features=given)
    assert kept.features.text.words == (1, 1) and [trial.text for trial in kept.trials] == [{}] * len(kept.trials)
    counting = tune(texts, target=labels, rule="naive-bayes")
    assert not counting.kept and counting.features.text.words[1] > 1 and counting.score > 0.9


def test_parts_of_words_and_weights_are_tried():
    """The endings of words tell the classes, and no word occurs twice."""
    random = np.random.default_rng(0)
    letters = [*"abcdefghij"]

    def word() -> str:
        return "".join(random.choice(letters, 6))

    labels = random.integers(0, 2, 500)
    texts = [f"{word()} {word()}{'xq' if label else 'xz'} {word()}" for label in labels]
    tuning = tune(texts, target=labels.tolist(), rule="mira")
    tried = [trial.text for trial in tuning.trials if trial.text]
    assert {"subwords": []} in tried  # by default, rare words have parts
    assert any(one.get("weight") == "idf" for one in tried)
    assert tuning.kept and tuning.score > 0.95
    common = tune(["same old words"] * 250 + ["and new ones"] * 250, target=[0] * 250 + [1] * 250)
    assert {"subwords": [2, 5]} in [trial.text for trial in common.trials]


def test_the_seed_decides():
    X, y = points()

    def trials(**options) -> list:
        return [(trial.in_words(), trial.score, trial.passes) for trial in tune(X, target=y, **options).trials]

    assert trials(seed=1, threads=1) == trials(seed=1, threads=2) != trials(seed=2)


def test_what_cannot_learn_is_no_choice(monkeypatch):
    """A rate at which the weights grow beyond all numbers is tried, and passed over."""
    X, y = points()
    monkeypatch.setattr(search_grids, "ETA", (1e30, 1.0))
    tuning = tune(1e10 * X, target=y, rule="hinge", schedule="sqrt")
    assert tuning.settings.get("eta", 1.0) == 1.0
    diverged = [trial for trial in tuning.trials if trial.reason is not None]
    assert diverged and "training diverged" in diverged[0].reason
    assert diverged[0].as_dict()["accuracy"] is None
    with pytest.raises(DataError, match="training diverged"):
        tune(1e10 * X, target=y, rule="hinge", schedule="sqrt", eta=1e30)


def test_an_svm_starts_where_the_one_before_ended_and_ends_where_one_alone_does(monkeypatch):
    X, y = points(1500)
    warm = tune(X, target=y, rule="svm")
    monkeypatch.setattr(
        TuningSearch, "learner", lambda _, rows, how, before: new_learner(how, rows.features, rows.classes)
    )
    cold = tune(X, target=y, rule="svm")
    first = [[trial for trial in tuning.trials if trial.round == 1] for tuning in (warm, cold)]
    assert [trial.settings for trial in first[0]] == [trial.settings for trial in first[1]]
    assert [trial.score for trial in first[0]] == pytest.approx([trial.score for trial in first[1]], abs=0.01)
    assert "epochs" not in warm.settings
    passes = [sum(trial.passes for trial in trials) for trials in first]
    assert passes[0] < passes[1]


def test_naive_bayes_is_tuned_by_leaving_out_each_row():
    random = np.random.default_rng(0)
    X = random.poisson(np.where(random.random((40, 1)) < 0.5, [3, 1, 0.2, 1], [1, 3, 1, 0.1])).astype(float)
    y = (X[:, 0] + random.normal(size=40) > X[:, 1]).astype(int)
    tuning = tune(X, target=y, rule="naive-bayes", likelihood="multinomial")
    alone = [trial for trial in tuning.trials if trial.round == 1]
    assert len(alone) == 10 and {trial.rows for trial in alone} == {39} and len(final_of(tuning)) == 4
    for trial in alone:
        settings = {"rule": "naive-bayes", "likelihood": "multinomial", **trial.settings}
        right = 0
        for row in range(40):
            others = np.arange(40) != row
            right += markone.train(X[others], target=y[others], **settings).predict(X[[row]])[0] == y[row]
        assert trial.score == right / 40
    assert "Tuning made 10 trials, and a final of 4 by 5 folds, 3 times." in str(tuning)


def test_naive_bayes_leaves_out_no_row_that_its_features_have_learned_from():
    """Coins are tossed for texts, and words weighed by how well they foretell them: by all rows, they would."""
    random = np.random.default_rng(0)
    texts = [" ".join(f"word{number}" for number in random.integers(0, 1000, 20)) for _ in range(300)]
    coins = random.integers(0, 2, 300).tolist()
    tuning = tune(texts, target=coins, rule="naive-bayes", features={"text": {"weight": "odds", "signs": False}})
    assert tuning.held_out == 60 and tuning.rows == 240 and tuning.kept
    assert np.mean([trial.score for trial in tuning.trials]) < 0.6


def test_naive_bayes_can_be_tuned_by_two_rows():
    tuning = tune([[1.0, 0.0], [0.0, 1.0]], target=["a", "b"], rule="naive-bayes")
    assert tuning.rows == 1 and tuning.kept
    tuning = tune(["one", "two"], target=["a", "b"], rule="naive-bayes")
    assert tuning.rows == 1 and tuning.held_out == 1 and tuning.score == 0


def test_naive_bayes_says_what_it_cannot_count():
    X, y = points(40)
    with pytest.raises(DataError, match="Negative values"):
        tune(X, target=y, rule="naive-bayes", likelihood="multinomial")


@pytest.mark.parametrize(
    ("rule", "names"),
    [
        ("perceptron", set()),
        ("mira", {"C"}),
        ("hinge", {"eta", "penalty", "strength"}),
        ("logistic", {"strength"}),
        ("svm", {"C"}),
        ("naive-bayes", {"k", "alpha"}),
        ("mlp", {"hidden", "eta"}),
    ],
)
def test_every_rule_has_choices_that_its_settings_allow(rule, names):
    usual = settings_for({"rule": rule}, 0)
    found = list(usual.traits.grid(usual))
    assert {name for choice in found for name in choice} == names
    for choice in found:
        assert settings_for({"rule": rule, **choice}, 0).rule == rule
    assert Settings(rule=rule, **found[0]).spelled_out() == Settings(rule=rule).spelled_out()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"patience": 3}, "patience and tuning both use held-out rows"),
        ({"holdout": 0.1}, "holdout and tuning both use held-out rows"),
        ({"rule": "mira", "eta": 1.5}, "eta is not used by the rule 'mira'"),
        ({"epoch": 3}, "epoch is unknown"),
    ],
)
def test_what_means_nothing_is_refused(options, sentence):
    X, y = points(40)
    with pytest.raises(SettingsError) as raised:
        tune(X, target=y, **options)
    assert str(raised.value).startswith(sentence)


def test_a_tuning_says_what_it_did():
    X, y = points(3000)
    tuning = tune(X, target=y, rule="mira")
    text = str(tuning)
    assert text.startswith(f"Tuning made {len(tuning.trials) - 4} trials, and a final of 4 by 5 folds.")
    assert "No test data were read." in " ".join(text.split())
    assert max(map(len, text.splitlines()[2:])) <= 80
    found = json.loads(json.dumps(tuning.as_dict()))
    assert found["settings"] == tuning.settings and len(found["trials"]) == len(tuning.trials)
