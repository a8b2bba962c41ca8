"""The topics of the lecture on learning and generalisation, with the lecture's figures and claims."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from markone import Model, lecture, reference
from markone.lectures import bayes, digits, mail, mira, neurons, odds, overfitting, smoothing, updates


def text_of(topic: str) -> str:
    return lecture("003", topic).shown.text


def rows_of(topic: str) -> list[list[str]]:
    return [line.split() for line in text_of(topic).splitlines()]


# ---- naive Bayes for texts


def test_every_order_of_the_words_has_the_same_probability() -> None:
    rows = rows_of("bag-of-words")[1:7]
    assert len({tuple(row[:3]) for row in rows}) == 6 and len({tuple(row[3:]) for row in rows}) == 1


def test_the_tables_of_the_lecture() -> None:
    shown = text_of("spam-tables")
    assert "P(ham) = 0.66, P(spam) = 0.33" in shown
    for entry in ("the : 0.0156", "the : 0.0210", "2002 : 0.0110", "you : 0.0093"):
        assert entry in shown


def test_the_totals_of_the_spam_example() -> None:
    totals = bayes.running_totals()
    assert [round(totals[label][0], 1) for label in ("spam", "ham")] == [-1.1, -0.4]
    # The lecture's totals come from tables before rounding: they differ by less than rounding can explain.
    gap = totals["spam"][-1] - totals["ham"][-1]
    assert abs(gap - (bayes.SLIDE["spam"] - bayes.SLIDE["ham"])) < bayes.rounding()
    shown = text_of("spam-example")
    assert "98.9%" in shown and f"= {reference.sigmoid(gap):.1%}" in shown
    gaps = [a - b for a, b in zip(totals["spam"], totals["ham"], strict=True)]
    words = ["(prior)", *(word for word, *_ in bayes.WORDS)]
    assert words[next(i for i, value in enumerate(gaps) if value > 0)] == "weight"


def test_the_totals_are_those_of_a_model_from_the_tables() -> None:
    tables = {label: {w.lower(): row[i] for w, *row in bayes.WORDS} for i, label in enumerate(("spam", "ham"))}
    found = Model.from_tables(tables, priors=bayes.PRIORS).explain(" ".join(w for w, *_ in bayes.WORDS), running=True)
    totals = bayes.running_totals()
    for row, spam, ham in zip(found.rows, totals["spam"], totals["ham"], strict=True):
        named = dict(zip(found.classes, row.totals, strict=True))
        assert [named["spam"], named["ham"]] == pytest.approx([spam, ham], abs=1e-4)


# ---- overfitting


def test_relative_frequencies_overfit() -> None:
    training, _, test = overfitting.sets()
    zero, one = overfitting.accuracies((0.0, 1.0), training, test)
    assert zero[0] >= one[0] and zero[1] < one[1] - 0.03


def test_the_whole_message_is_perfect_in_training_and_useless_in_the_test() -> None:
    rows = {" ".join(row[:-3]): [float(cell.rstrip("%")) for cell in row[-3:]] for row in rows_of("whole-email")[1:4]}
    whole, words = rows["the whole e-mail"], rows["words"]
    shown = text_of("whole-email")
    assert whole[0] == 1 and whole[2] == 0 and shown.endswith(f"{whole[1]:.3f}.")
    assert words[1] > whole[1] + 0.15


def test_the_learning_curves_approach_each_other() -> None:
    rows = [[*map(float, row)] for row in rows_of("few-examples")[1:]]
    gaps = [training - test for _, training, test in rows]
    assert gaps[0] > 0.3 > 0.06 > gaps[-1]


def test_an_empty_region_is_predicted_worse() -> None:
    few, many = ([*map(float, row[-2:])] for row in rows_of("empty-region")[1:3])
    assert few[1] < many[1] - 0.08 and abs(few[0] - many[0]) < 0.03


# ---- zeros and odds


def test_two_wins_by_a_zero_and_three_after_smoothing() -> None:
    plain, smooth = odds.digit_products(0)[-1], odds.digit_products(1)[-1]
    assert plain == pytest.approx((0.1 * 0.8 * 0.1 * 0.1 * 0.01, 0)) and plain[0] > plain[1]
    assert smooth[1] > smooth[0] > 0


def test_odds_are_infinite_before_smoothing_and_finite_after() -> None:
    before, after = odds.odds_tables(0), odds.odds_tables(1)
    assert dict(before[mail.HAM])["south-west"] == dict(before[mail.SPAM])["screens"] == math.inf
    assert 1 < dict(after[mail.HAM])["south-west"] < math.inf
    assert all(math.isfinite(value) for table in after.values() for _, value in table)
    shown = text_of("odds")
    assert "south-west" in shown and "screens" in shown


# ---- estimates


def test_the_estimates_of_the_three_draws() -> None:
    assert reference.maximum_likelihood(smoothing.DRAWS)["r"] == Fraction(2, 3)
    assert "count(r) / total = 2/3" in text_of("maximum-likelihood")
    rows = {row[2]: row[3] for row in rows_of("laplace") if row[:2] == ["k", "="]}
    assert rows["100"] == "102/203"
    assert "k = 1              3/5" in text_of("laplace")


@pytest.mark.parametrize("k", [1, 2, 7.5, 100])
def test_laplace_is_the_mode_and_the_mean_of_a_dirichlet_posterior(k: float) -> None:
    estimate = float(reference.laplace(smoothing.DRAWS, k)["r"])
    assert smoothing.posterior_mode(k) == pytest.approx(estimate, abs=1e-5)
    assert smoothing.posterior_mean(k) == pytest.approx(estimate, abs=1e-6)


def test_interpolation_with_0_and_1() -> None:
    rows = {row[0]: [*map(float, row[1:])] for row in rows_of("interpolation")[1:]}
    assert rows["1"][2] == 0 and rows["0"][2] > 0  # nation never occurs in spam
    assert max(rows["0.25"][3], rows["0.5"][3]) > max(rows["0"][3], rows["1"][3])


def test_k_is_chosen_by_held_out_messages() -> None:
    shown = text_of("tuning")
    (chosen,) = (row for row in shown.splitlines() if row.endswith("chosen"))
    assert 0.1 < float(chosen.split()[0]) < 30


# ---- errors and features


def test_features_that_are_not_words_correct_most_errors() -> None:
    rows = [[*map(float, row[-2:])] for row in rows_of("errors")[-3:]]
    assert all(words < 0.7 < 0.93 < more for words, more in rows)


# ---- neurons and classes


def test_and_has_the_lectures_weights_and_xor_has_none() -> None:
    assert neurons.AND_WEIGHTS == (-1.5, 1, 1)
    shown = text_of("and")
    assert "AND: separable" in shown and "XOR: not separable" in shown
    assert [row[2] == row[4] for row in rows_of("and")[1:5]] == [True] * 4


def test_the_three_headlines() -> None:
    run = neurons.headline_run()
    assert [scores for _, scores, _, _ in run] == [[1, 0, 0], [-2, 3, 0], [-2, 3, 0]]
    assert [said for _, _, said, _ in run] == ["SPORTS", "POLITICS", "POLITICS"]
    sports, politics, tech = run[-1][3]
    assert {w: v for w, v in sports.items() if v} == {"BIAS": 1, "game": 1, "vote": -1}
    assert {w: v for w, v in politics.items() if v} == {"vote": 1, "game": -1}
    assert not any(tech.values())


def test_binary_and_multiclass_agree() -> None:
    assert all(row[-1] == row[-4] for row in rows_of("binary-multiclass")[2:])


def test_mistakes_stay_below_k_over_delta_squared() -> None:
    rows = [float(row[-1]) for row in rows_of("k-over-delta")]
    k, delta, bound, fewest, most = rows
    assert bound == pytest.approx(k / delta**2, rel=1e-2) and 0 < fewest <= most < bound


# ---- MIRA and the SVM


def test_mira_leads_by_exactly_one_after_each_mistake() -> None:
    steps = mira.mistake_steps()
    assert [tau for *_, tau in steps] == [Fraction(1, 4), Fraction(3, 16)]
    for text, before, after, tau in steps:
        right = neurons.CLASSES.index(dict(neurons.HEADLINES)[text])
        wrong = max(range(3), key=lambda k: before[k])
        assert after[right] - after[wrong] == 1
        assert tau == (before[wrong] - before[right] + 1) / Fraction(2 * 4)


def test_mira_is_capped() -> None:
    steps = mira.mistake_steps(C=0.1)
    assert len(steps) == 3  # so small a step does not correct the mistake
    assert [float(tau) for *_, tau in steps] == pytest.approx([0.1] * 3)


def test_a_cap_helps_with_wrong_labels_and_mira_beats_the_perceptron() -> None:
    rows = rows_of("maximum-step")[2:7]
    assert float(rows[-1][-2]) > float(rows[0][-2]) + 0.05
    noise = [[*map(float, row[1:])] for row in rows_of("mira-and-noise")[2:6]]
    assert all(mira_accuracy > perceptron for perceptron, mira_accuracy in noise)


def test_only_support_vectors_matter() -> None:
    X, y = updates.separable()
    w, b = mira.fitted_plane(X, y)
    support = y * (X @ w + b) < 1.001
    assert 2 <= support.sum() < len(y) / 4
    again, bias = mira.fitted_plane(X[support], y[support])
    np.testing.assert_allclose([*again, bias], [*w, b], atol=1e-4)
    others = np.arange(len(y)) != np.flatnonzero(support)[0]
    assert np.abs(mira.fitted_plane(X[others], y[others])[0] - w).max() > 0.01


def test_the_svm_has_the_shortest_weights_with_leads_of_one() -> None:
    sizes = [float(row[-2]) for row in rows_of("svm-and-mira")[2:] if row[-2] != "possible"]
    assert sizes[0] == min(sizes) and len(sizes) > 1


# ---- digits


def test_digits_are_recognised() -> None:
    X, y, test, truth = digits.images()
    assert len(X) + len(test) == 1797 and len(y) + len(truth) == 1797
    found = {name: float(model.score(test, truth)) for name, model in digits.models().items()}
    assert found["averaged perceptron"] > 0.94 and found["MIRA"] > 0.93
    assert 0.85 < found["naive Bayes (pixel on or off)"] < found["MIRA"]
