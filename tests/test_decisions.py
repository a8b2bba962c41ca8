"""Thresholds and abstention: chosen on rows that the model was not trained on, kept in the model, and used by it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import markone
from markone.errors import DataError, MarkoneError, SettingsError
from markone.model.calibrator import Calibrator
from markone.model.decisions import (
    DOUBT,
    SHARES,
    Abstention,
    Aim,
    Threshold,
    chance_of_few,
    choose_abstention,
    choose_threshold,
    largest_error,
    promised_error,
)
from markone.storage.saved import Saved

ROWS = 900


def made(seed: int = 0, rows: int = ROWS, classes: int = 2) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    kinds = random.choice(classes, rows, p=[0.8, 0.2] if classes == 2 else None)
    words = [" ".join(f"w{word}" for word in random.choice(30, 8, p=shares(kind, classes))) for kind in kinds]
    return {"text": words, "kind": [f"k{kind}" for kind in kinds]}


def shares(kind: int, classes: int) -> Any:
    own = 1.0 + 1.2 * (np.arange(30) % classes == kind)
    return own / own.sum()


# ---- thresholds


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (0.3, "0.3"),
        ("30%", "0.3"),
        ("F1", "f1"),
        ("recall>=0.9", "recall=0.9"),
        ("recall = 90%", "recall=0.9"),
        ("precision=0.5", "precision=0.5"),
        ("cost 1:5", "cost=1:5"),
        ("cost=0.5 : 2", "cost=0.5:2"),
    ],
)
def test_aims_are_numbers_and_texts(text: Any, shown: str) -> None:
    assert str(Aim.of(text)) == shown
    assert Aim.of(shown) == Aim.of(text)


@given(st.floats(1e-12, 1 - 1e-12))
def test_an_aim_is_the_same_when_it_is_read_again(probability: float) -> None:
    assert Aim.of(str(Aim.of(probability))).numbers == (probability,)


@pytest.mark.parametrize(
    "text", ["f2", "", "recall=2", 0, 1, 1.5, True, "cost=0:1", "cost=1", "1..2", "recall", None, -0.1, math.nan]
)
def test_other_aims_get_a_sentence(text: Any) -> None:
    with pytest.raises(SettingsError, match=r"threshold must be a probability between 0 and 1, f1, recall=0\.9"):
        Aim.of(text)


def outcomes(scores: Any, truth: Any, weights: Any) -> list[tuple[float, float, float, float]]:
    """By brute force: hits, false positives and missed rows of each possible cut."""
    found = []
    for cut in [*sorted(set(scores)), math.inf]:
        said = scores >= cut
        hits, false = (weights * (said & (truth == 1))).sum(), (weights * (said & (truth == 0))).sum()
        found.append((cut, hits, false, (weights * (truth == 1)).sum() - hits))
    return found


def judged(aim: Aim, hits: float, false: float, missed: float) -> float:
    recall, precision = hits / (hits + missed), hits / (hits + false) if hits + false else 0.0
    if aim.kind == "f1":
        return 2 * hits / (2 * hits + false + missed)
    if aim.kind == "cost":
        return -(aim.numbers[0] * false + aim.numbers[1] * missed)
    if aim.kind == "recall":
        return precision if recall >= aim.numbers[0] - 1e-9 else -math.inf
    return recall if hits + false and precision >= aim.numbers[0] - 1e-9 else -math.inf


@given(
    st.integers(0, 10_000),
    st.integers(2, 60),
    st.sampled_from(["f1", "recall=0.9", "recall=0.5", "precision=0.6", "cost=1:5", "cost=3:1"]),
    st.booleans(),
)
def test_a_threshold_is_the_best_of_all(seed: int, rows: int, text: str, weighted: bool) -> None:
    random = np.random.default_rng(seed)
    scores = random.integers(-6, 7, rows) / 2.0  # with ties
    truth = (random.random(rows) < 1 / (1 + np.exp(-scores))).astype(int)
    truth[:2] = [0, 1]
    weights = random.integers(1, 4, rows).astype(float) if weighted else np.ones(rows)
    aim = Aim.of(text)
    best = max(judged(aim, *one) for _, *one in outcomes(scores, truth, weights))
    if best == -math.inf:
        with pytest.raises(DataError, match="no threshold has a precision of 60"):
            choose_threshold(aim, scores, truth, weights)
        return
    found = choose_threshold(aim, scores, truth, weights if weighted else None)
    said = found.winners(scores[:, None]) == 1
    hits, false = (weights * (said & (truth == 1))).sum(), (weights * (said & (truth == 0))).sum()
    missed = (weights * (truth == 1)).sum() - hits
    assert judged(aim, hits, false, missed) == pytest.approx(best)
    assert found.recall == pytest.approx(hits / (hits + missed))
    assert found.precision == pytest.approx(hits / max(hits + false, 1e-300))


@given(st.integers(0, 500), st.floats(0.01, 0.99))
def test_a_probability_is_turned_into_a_score(seed: int, probability: float) -> None:
    random = np.random.default_rng(seed)
    knots = tuple(sorted({0.0, *random.normal(size=4).round(3).tolist()}))
    for one in (Calibrator((0.7,), (), 9), Calibrator(tuple(random.uniform(0.1, 4, len(knots) + 1)), knots, 9)):
        wanted = math.log(probability / (1 - probability))
        assert float(one.log_odds(np.array(one.score_of(wanted)))) == pytest.approx(wanted)


@pytest.mark.parametrize("rule", ["mira", "naive-bayes", "logistic", "svm", "mlp"])
def test_a_model_has_the_recall_that_was_asked_for(rule: Any) -> None:
    plain, model = (
        markone.train(made(), target="kind", rule=rule, positive="k1", threshold=one) for one in (None, "recall=0.9")
    )
    before, after = plain.evaluate(made(1, 3000)), model.evaluate(made(1, 3000))
    assert plain.threshold is None and model.threshold is not None and model.threshold.rows == ROWS
    assert before.recall[1] < 0.85 < after.recall[1] < 0.96
    assert after.log_loss < 1.05 * before.log_loss  # probabilities do not follow the threshold
    assert "k1 is predicted from this score on, for recall=0.9" in str(after)
    assert after.as_dict()["threshold"]["aim"] == "recall=0.9"


def test_a_probability_as_threshold_is_that_of_the_model() -> None:
    model = markone.train(made(), target="kind", positive="k1", threshold=0.25)
    texts = made(1)["text"]
    expected = np.where(model.probabilities(texts)[:, 1] >= 0.25, "k1", "k0")
    assert (model.predict(texts) == expected).mean() > 0.999
    assert [model.predict(one) for one in texts[:20]] == model.predict(texts[:20]).tolist()
    [text] = [one for one in texts if 0.3 < model.probabilities(one)[1] < 0.45][:1]
    explanation = model.explain(text)
    assert explanation.prediction == "k1" and "k1 is predicted from a score of" in str(explanation)
    assert explanation.as_dict()["remark"] == explanation.remark


def test_cost_moves_the_threshold_to_the_cheap_side() -> None:
    dear, cheap = (
        markone.train(made(), target="kind", positive="k1", threshold=f"cost={cost}").threshold.score
        for cost in ("1:10", "10:1")
    )
    assert dear < 0 < cheap


# ---- abstention


@given(st.integers(0, 40), st.integers(1, 200), st.floats(0.001, 0.9))
def test_the_tail_is_that_of_the_binomial_distribution(wrong: int, rows: int, error: float) -> None:
    wrong = min(wrong, rows)
    assert chance_of_few(wrong, rows, error) == pytest.approx(binom.cdf(wrong, rows, error), rel=1e-9, abs=1e-12)


def test_the_smallest_margin_that_can_be_promised_is_chosen() -> None:
    margins = np.linspace(0, 10, 2000)
    right = np.ones(2000, bool)
    right[:400] = False  # the errors have the smallest margins
    found = choose_abstention(0.05, margins, right)
    assert found.answered >= 1500 and chance_of_few(found.wrong, found.answered, 0.05) <= DOUBT / SHARES
    assert choose_abstention(0.3, margins, right).margin == -1  # always predicts
    with pytest.raises(
        DataError, match=r"an error of at most 0\.10% cannot be promised by 2,000 held-out rows"
    ) as caught:
        choose_abstention(0.001, margins, right)
    least = f"{largest_error(0, 1600):.2%}"
    assert f"the smallest error that can is {least}; accept a larger error, as in abstain='{least}'" in str(
        caught.value
    )
    assert "hold out more rows with holdout=..." in str(caught.value)
    assert choose_abstention(promised_error(least), margins, right).answered > 0  # the advice works


def test_the_promise_holds_on_200_random_splits() -> None:
    """The error of all rows above the margin is known, because there are very many of them."""
    random = np.random.default_rng(5)
    margins = random.exponential(size=400_000)
    right = random.random(400_000) < 1 / (1 + np.exp(-2.5 * margins))
    broken, answered = 0, []
    for split in range(200):
        rows = np.random.default_rng(split).choice(400_000, 3000, replace=False)
        found = choose_abstention(0.05, margins[rows], right[rows])
        above = margins > found.margin
        broken += float((~right[above]).mean()) > 0.05
        answered.append(float(above.mean()))
    assert broken <= 200 * DOUBT
    assert np.mean(answered) > 0.3  # of 43% for which it is true


@pytest.mark.parametrize("classes", [2, 3])
def test_a_model_abstains(classes: int, tmp_path: Any) -> None:
    model = markone.train(made(0, 4000, classes), target="kind", abstain="15%")
    tests = made(1, 4000, classes)
    found = model.evaluate(tests)
    assert abs(model.history.held_out - 800) <= classes and model.abstention is not None
    assert 1 - found.accuracy < 0.15 and 0 < found.abstained < 4000 and found.abstained + found.total == 4000
    assert f"For {found.abstained:,} more, the model makes no prediction." in str(found)
    said = model.predict(tests["text"])
    assert said.tolist().count(None) == found.abstained
    [text] = [text for text, one in zip(tests["text"], said, strict=True) if one is None][:1]
    assert model.predict(text) is None and "The model makes no prediction" in str(model.explain(text))
    assert model.losses(tests).examples == found.total
    assert all(one.margin < -model.abstention.margin for one in model.errors(tests, most=50))
    model.save(tmp_path / "a.model")
    again = markone.load(tmp_path / "a.model")
    assert again.abstention == model.abstention and (again.predict(tests["text"]) == said).all()


# ---- in files and commands


def test_it_is_kept_and_resumed(tmp_path: Any) -> None:
    path = tmp_path / "a.model"
    whole = markone.train(made(), target="kind", epochs=6, threshold="f1")
    markone.train(made(), target="kind", epochs=3, threshold="f1").save(path)
    again = markone.load(path)
    assert again.threshold is not None and again.threshold.aim == "f1"
    resumed = markone.train(made(), target="kind", epochs=6, resume=path)
    assert resumed.threshold == whole.threshold != again.threshold


def test_a_checkpoint_keeps_the_wish(tmp_path: Any) -> None:
    path = tmp_path / "a.checkpoint"
    whole = markone.train(made(), target="kind", epochs=4, threshold="f1")

    kept = []

    def stop(one: Any) -> bool:
        if one.epoch == 2:  # the checkpoint of the first pass is there
            kept.append(markone.load(path).threshold)
            raise KeyboardInterrupt
        return False

    markone.train(made(), target="kind", epochs=4, threshold="f1", checkpoint=path, callback=stop)
    assert kept == [Threshold("f1")]
    assert markone.train(made(), target="kind", epochs=4, checkpoint=path, resume=True).threshold == whole.threshold


def test_a_model_that_goes_on_chooses_again_on_held_out_rows() -> None:
    base = markone.train(made(), target="kind", threshold="f1")
    after = markone.train(made(1, 3000), from_model=base, target="kind", holdout=0.2)
    assert after.threshold is not None and after.threshold.rows == after.history.held_out > 590
    with pytest.raises(DataError, match="a threshold for f1 is chosen on at least 50 rows"):
        markone.train(made(1, 100), from_model=base, target="kind")


@pytest.mark.parametrize("memory", [None, "4 MB"])
@pytest.mark.parametrize("threads", [1, 3])
def test_memory_and_threads_change_nothing(memory: Any, threads: int) -> None:
    usual = markone.train(made(), target="kind", threshold="f1")
    other = markone.train(made(), target="kind", threshold="f1", memory=memory, threads=threads)
    assert (other.threshold, other.calibrator) == (usual.threshold, usual.calibrator)


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ({"threshold": "f1", "abstain": 0.1}, "abstain does not work together with threshold"),
        (
            {"threshold": "f1", "class_weight": "balanced"},
            "threshold is chosen for rows as they are, without class_weight",
        ),
        ({"abstain": 0.1, "class_weight": "balanced"}, "abstain is chosen for rows as they are"),
        ({"abstain": 0.1, "holdout": 0.1, "patience": 2}, "abstain needs held-out rows that patience does not use"),
        ({"abstain": 0.1, "holdout": 0}, "abstain needs held-out rows, and holdout is 0"),
        ({"abstain": "2"}, "abstain must be the largest share of wrong predictions, such as 1% or 0.01, not '2'"),
        ({"abstain": "x%"}, "abstain must be the largest share"),
        ({"abstain": True}, "abstain must be the largest share"),
        ({"threshold": "best"}, "threshold must be a probability"),
    ],
)
def test_what_does_not_fit_gets_a_sentence(how: dict[str, Any], problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        markone.train(made(), target="kind", **how)


def test_what_the_rows_do_not_allow_gets_a_sentence() -> None:
    with pytest.raises(SettingsError, match="threshold is for two classes, and there are 3"):
        markone.train(made(classes=3), target="kind", threshold=0.3)
    few = {name: values[:40] for name, values in made().items()}
    with pytest.raises(DataError, match="a threshold for f1 is chosen on at least 50 rows"):
        markone.train(few, target="kind", threshold="f1")
    with pytest.raises(DataError, match="fewer than 50 rows, so there is no threshold of 0.3"):
        markone.train(few, target="kind", threshold=0.3)
    with pytest.raises(DataError, match="cannot be promised by 180 held-out rows"):
        markone.train(made(), target="kind", abstain=0.001)
    counted = markone.read({**made(), "times": [2.0] * ROWS}, target="kind", importance="times")
    with pytest.raises(SettingsError, match="abstain needs rows that all count the same"):
        markone.train(counted, abstain=0.1)


FORGED: list[dict[str, Any]] = [
    {"score": math.nan},
    {"score": 1},
    {"aim": "best"},
    {"aim": 3},
    {"rows": -1},
    {"more": 1},
]


@pytest.mark.parametrize("changed", FORGED, ids=str)
def test_forged_thresholds_are_refused(changed: dict[str, Any]) -> None:
    facts = Threshold("f1", 0.5, 100, 0.5, 0.6).as_dict()
    assert Threshold.load(Saved(facts, {}), 2) == Threshold(**facts)
    for one, classes in ((facts | changed, 2), (facts, 3)):
        with pytest.raises(DataError, match="its threshold"):
            Threshold.load(Saved(one, {}), classes)


@pytest.mark.parametrize(
    "changed", [{"error": 1.0}, {"margin": math.inf}, {"rows": 1.5}, {"wrong": -1}, {"x": 1}], ids=str
)
def test_forged_abstentions_are_refused(changed: dict[str, Any]) -> None:
    facts = Abstention(0.1, 0.5, 100, 50, 2).as_dict()
    assert Abstention.load(Saved(facts, {})) == Abstention(**facts)
    with pytest.raises(MarkoneError, match="its abstention"):
        Abstention.load(Saved(facts | changed, {}))
