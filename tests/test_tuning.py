"""Tuning: it finds what is better, by rows held out from those to learn from, and always the same."""

from __future__ import annotations

import json

import numpy as np
import pytest

import markone
from markone.errors import DataError, SettingsError
from markone.experiments.contenders import settings_for
from markone.experiments.tuning import TuningSearch, tune
from markone.learning.learners import new_learner
from markone.learning.samples import open_sample
from markone.model import search_grids
from markone.model.settings import Settings


def points(rows: int = 400, seed: int = 0, noise: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 4))
    return X, (X[:, 0] - X[:, 1] + noise * random.normal(size=rows) > 0).astype(int)


def test_what_is_chosen_was_best_on_the_rows_held_out():
    X, y = points()
    tuning = tune(X, target=y, rule="mira", seed=1)
    last = [trial for trial in tuning.trials if trial.round == tuning.trials[-1].round]
    assert tuning.score == max(trial.score for trial in last) == tuning.chosen.score
    assert tuning.settings == {"rule": "mira", **tuning.chosen.settings, "epochs": tuning.chosen.passes}
    assert tuning.rows == 320 and tuning.held_out == 80


def test_its_score_is_that_of_a_training_with_what_was_chosen():
    X, y = points()
    tuning = tune(X, target=y, rule="mira", seed=1)
    search = TuningSearch(open_sample(X, y, 1, None), {"rule": "mira"}, None, None, 1)
    learned, held_out = search.split.learned, search.split.tested
    model = markone.train(X[learned], target=y[learned], features=tuning.features, seed=1, **tuning.settings)
    assert model.accuracy(X[held_out], y[held_out]) == tuning.score


def test_a_better_setting_is_found():
    """With features of very different lengths, a long step of MIRA is wild."""
    random = np.random.default_rng(0)
    X = random.normal(size=(1500, 30))
    y = (X[:, 0] + 0.3 * X[:, 1] + 1.5 * random.normal(size=1500) > 0).astype(int)
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


def test_few_rows_have_one_round():
    X, y = points(300)
    tuning = tune(X, target=y, rule="mira")
    assert {trial.round for trial in tuning.trials} == {1} and {trial.rows for trial in tuning.trials} == {240}


def test_of_equals_the_usual_is_taken():
    X = np.repeat([[1.0, 0.0], [0.0, 1.0]], 100, axis=0)
    tuning = tune(X, target=[0] * 100 + [1] * 100, rule="mira")
    assert tuning.settings == {"rule": "mira", "C": 0.3, "epochs": 1} and tuning.score == 1


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
    assert tuning.features.text.words[1] > 1 and tuning.score == 1
    single = next(trial for trial in tuning.trials if trial.words == [1, 1])
    assert single.score < 0.7
    kept = tune(texts, target=labels, rule="perceptron", features={"text": {"words": [1, 1]}})
    assert kept.features.text.words == (1, 1) and {trial.words for trial in kept.trials} == {None}


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
    assert tuning.settings["eta"] == 1.0
    wild = [trial for trial in tuning.trials if trial.reason is not None]
    assert wild and "training diverged" in wild[0].reason
    assert wild[0].as_dict()["accuracy"] is None
    monkeypatch.setattr(search_grids, "ETA", (1e30,))
    with pytest.raises(DataError, match="training diverged"):
        tune(1e10 * X, target=y, rule="hinge", schedule="sqrt")


def test_an_svm_starts_where_the_one_before_ended_and_ends_where_one_alone_does(monkeypatch):
    X, y = points(1500)
    warm = tune(X, target=y, rule="svm")
    monkeypatch.setattr(
        TuningSearch, "learner", lambda _, candidate, rows, how: new_learner(how, rows.features, rows.classes)
    )
    cold = tune(X, target=y, rule="svm")
    assert [trial.settings for trial in warm.trials] == [trial.settings for trial in cold.trials]
    assert [trial.score for trial in warm.trials] == pytest.approx([trial.score for trial in cold.trials], abs=0.01)
    assert warm.settings["C"] in [trial.settings["C"] for trial in warm.trials] and "epochs" not in warm.settings
    passes = [sum(trial.passes for trial in tuning.trials) for tuning in (warm, cold)]
    assert passes[0] < passes[1]


def test_naive_bayes_is_tuned_by_leaving_out_each_row():
    random = np.random.default_rng(0)
    X = random.poisson(np.where(random.random((40, 1)) < 0.5, [3, 1, 0.2, 1], [1, 3, 1, 0.1])).astype(float)
    y = (X[:, 0] + random.normal(size=40) > X[:, 1]).astype(int)
    tuning = tune(X, target=y, rule="naive-bayes", likelihood="multinomial")
    assert len(tuning.trials) == 10 and tuning.rows == 39 and tuning.held_out == 1
    for trial in tuning.trials:
        settings = {"rule": "naive-bayes", "likelihood": "multinomial", **trial.settings}
        right = 0
        for row in range(40):
            others = np.arange(40) != row
            right += markone.train(X[others], target=y[others], **settings).predict(X[[row]])[0] == y[row]
        assert trial.score == right / 40
    assert tuning.score == max(trial.score for trial in tuning.trials)
    assert "10 trials in one round, tested on all 40 training rows, held out one at a time." in str(tuning)


def test_naive_bayes_leaves_out_no_row_that_its_features_have_learned_from():
    """Coins are tossed for texts, and words weighed by how well they foretell them: by all rows, they would."""
    random = np.random.default_rng(0)
    texts = [" ".join(f"word{number}" for number in random.integers(0, 1000, 20)) for _ in range(300)]
    coins = random.integers(0, 2, 300).tolist()
    tuning = tune(texts, target=coins, rule="naive-bayes", features={"text": {"weight": "odds", "signs": False}})
    assert tuning.held_out == 60 and tuning.rows == 240
    assert np.mean([trial.score for trial in tuning.trials]) < 0.6
    assert "tested on all 300 training rows, held out 60 at a time." in str(tuning)
    how = {"features": tuning.features, **tuning.settings}
    assert tuning.score == markone.validate(texts, target=coins, folds=5, **how).mean


def test_naive_bayes_can_be_tuned_by_two_rows():
    tuning = tune([[1.0, 0.0], [0.0, 1.0]], target=["a", "b"], rule="naive-bayes")
    assert tuning.rows == 1 and tuning.settings["k"] == 1
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
    assert text.startswith(
        f"Tuned mira: {len(tuning.trials)} trials in 2 rounds, tested on 600 held-out rows of 3,000 "
    )
    assert f"Chosen: C {tuning.settings['C']:g}, epochs {tuning.settings['epochs']}. No test data were read." in text
    assert max(map(len, text.splitlines()[2:])) <= 80
    found = json.loads(json.dumps(tuning.as_dict()))
    assert found["settings"] == tuning.settings and len(found["trials"]) == len(tuning.trials)
