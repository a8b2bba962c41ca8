"""The topics of the lecture on discriminative classification, with the lecture's figures and claims."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from markone import lecture, reference
from markone.demo.dots import DOTS
from markone.lectures import approximation, bayes, descent, independence, networks, sentiment, updates, validation
from markone.lectures.mail import counts_of, messages
from markone.reference.network import Node, total


def text_of(topic: str) -> str:
    return lecture("002", topic).shown.text


# ---- naive Bayes


def test_the_order_of_words_does_not_matter_and_words_are_not_independent() -> None:
    shown = text_of("independence")
    lines = [line for line in shown.splitlines() if line.startswith("P(spam |")]
    assert len(lines) == 2 and len({line.split("=")[1] for line in lines}) == 1
    assert "free, money          0.67        0.67     0.44            0.67" in shown


def test_copies_of_a_feature_hurt_naive_bayes_and_not_logistic_regression() -> None:
    found = {copies: independence.both_on_copies(copies) for copies in (1, 8)}
    accuracy = {
        (name, copies): float(((p > 0.5) == truth).mean())
        for copies, models in found.items()
        for name, (p, truth) in models.items()
    }
    error = {
        (name, copies): independence.calibration(p, truth)[2]
        for copies, models in found.items()
        for name, (p, truth) in models.items()
    }
    assert accuracy["naive Bayes", 8] < accuracy["naive Bayes", 1] - 0.03
    assert abs(accuracy["logistic", 8] - accuracy["logistic", 1]) < 0.01
    assert error["naive Bayes", 8] > 0.15 > 0.03 > error["naive Bayes", 1]
    assert error["logistic", 8] < 0.03


def test_calibration_is_the_mean_distance_in_each_bin() -> None:
    p, y = np.array([0.05, 0.05, 0.95, 0.95]), np.array([0, 1, 1, 1])
    assert independence.calibration(p, y)[2] == pytest.approx(0.5 * 0.45 + 0.5 * 0.05)


def test_words_are_sampled_from_the_tables_of_their_class() -> None:
    samples = text_of("sampling").split("\n\n")[0].splitlines()[1:]
    assert [line.split()[0] for line in samples] == ["ham"] * independence.SAMPLES + ["spam"] * independence.SAMPLES
    some = messages(300, seed=3)
    assert {word for line in samples for word in line.split()[1:]} <= {*counts_of(some)[0]}


def test_a_line_separates_what_normal_distributions_cannot_model() -> None:
    rows = {line.rsplit(maxsplit=1)[0].strip(): float(line.split()[-1]) for line in text_of("visual").splitlines()[1:]}
    generative, discriminative = rows.values()
    assert discriminative > 0.99 > 0.8 > generative


# ---- the sentiment classifier


def test_the_review_has_the_six_values_and_64_words() -> None:
    found = sentiment.features_of(sentiment.REVIEW)
    assert [*found.values()] == pytest.approx([3, 2, 1, 3, 0, math.log(64)], rel=1e-6)
    assert len(reference.tokenize(sentiment.REVIEW)) == 64


def test_z_and_its_products_are_the_lectures() -> None:
    made, z = sentiment.products()
    assert [*made.values()] == pytest.approx([7.5, -10, -1.2, 1.5, 0, 2.905])
    assert z == pytest.approx(0.805)
    shown = text_of("computing-z")
    assert "σ(0.805)" in shown and "= 0.69" in shown


def test_the_cross_entropy_is_0_37_or_1_17() -> None:
    rows = [line.split() for line in text_of("cross-entropy").splitlines() if line.startswith("y = ")]
    assert [row[-1] for row in rows] == ["0.37", "1.17"]
    assert [row[3] for row in rows] == ["0.69", "0.31"]


def test_cosines_are_1_0_and_minus_1_and_never_negative_for_counts() -> None:
    rows = text_of("linear-algebra").splitlines()
    cosine = {row.split("°")[0]: row.split()[-1] for row in rows if "°" in row}
    assert (cosine["0"], cosine["90"], cosine["180"]) == ("+1.00", "+0.00", "-1.00")
    documents = rows[rows.index("Cosine similarity of word counts") + 2 :]
    assert all(0 <= float(cell) <= 1 for row in documents for cell in row.split()[-4:])


def test_three_templates_make_features_of_each_word() -> None:
    rows = {row.split()[0]: row.split()[1:] for row in text_of("feature-templates").splitlines()[2:9]}
    assert rows["great"] == ["3", "1", "2"] and rows["plot"] == ["1", "1", "1"] and rows["cast"] == ["1", "1", "0"]


def test_the_slope_of_the_squared_error_vanishes_at_confident_mistakes() -> None:
    def slope(loss: str, z: float) -> float:
        losses = {
            "cross": lambda z: reference.cross_entropy(z, 1),
            "squared": lambda z: reference.squared_error([z], 1),
        }
        return (losses[loss](z + 1e-5) - losses[loss](z - 1e-5)) / 2e-5

    shown = text_of("loss-functions")
    assert f"{slope('cross', -5):.3f}" in shown and f"{slope('squared', -5):.5f}" in shown


# ---- learning


def test_gradient_descent_is_slow_right_or_overshoots() -> None:
    best = descent.best_weight()
    assert abs(descent.slope(best)) < 1e-9
    walks = {name: descent.path(eta) for name, eta in descent.RATES.items()}
    assert walks["too small"][-1] < best / 2
    assert abs(walks["right"][-1] - best) < 0.05
    assert max(walks["too large"]) > 5 * best
    losses = [descent.loss(w) for w in walks["right"]]
    assert losses == sorted(losses, reverse=True)


def test_the_closed_form_is_where_the_iteration_ends() -> None:
    shown = text_of("closed-form")
    assert "100 · 101 / 2 = 5050" in shown and "5050 by 100 additions" in shown
    (row,) = (row for row in shown.splitlines() if row.startswith("least squares"))
    closed, walked, *_ = row.split("=")[-1].split()
    assert closed == walked


def test_naive_bayes_overfits_less_on_few_rows() -> None:
    rows = [[*map(float, row.split())] for row in text_of("pros-and-cons").splitlines() if row[:1].isdigit()]
    few, many = rows[1], rows[-1]
    assert few[3] == 1.0 and few[2] > few[4] + 0.03  # logistic regression is perfect in training and worse in the test
    assert abs(many[2] - many[4]) < 0.02


# ---- cross-validation


def test_both_rankings_of_the_regressions() -> None:
    by_test, loo = validation.errors("holdout"), validation.errors("loo")
    assert max(by_test, key=by_test.__getitem__) == "linear"
    assert max(loo, key=loo.__getitem__) == "join-the-dots"
    assert min(by_test, key=by_test.__getitem__) == min(loo, key=loo.__getitem__) == "quadratic"


def test_r_fold_is_leave_one_out() -> None:
    size = len(DOTS)
    assert validation.errors("kfold", folds=size) == pytest.approx(validation.errors("loo"))


def test_the_test_set_has_the_highest_variance() -> None:
    rows = {row.split()[0]: float(row.split()[-1]) for row in text_of("which-validation").splitlines()[1:6]}
    assert rows["test-set"] > rows["3-fold"] > rows["10-fold"] > rows["leave-one-out"] == 0


# ---- the perceptron of this lecture


def test_ties_are_positive_and_a_mistake_moves_by_two() -> None:
    assert updates.step(0.0) == 1
    shown = text_of("update-rule")
    assert "+1    -1        +2    1             +2" in shown and "-1    +1        -2   -2             +4" in shown


def test_random_starts_end_at_different_planes_without_mistakes() -> None:
    X, y = updates.separable()
    found = []
    for seed in range(3):
        w, mistakes, right = updates.run_from(np.random.default_rng(seed).normal(size=3), X, y)
        assert mistakes[-1] == 0 and right[-1] == 1
        found.append(w / np.linalg.norm(w))
    assert all(np.abs(a - b).max() > 0.01 for a, b in itertools.combinations(found, 2))


def test_inseparable_points_never_stop() -> None:
    X, y = updates.separable()
    y[:2] *= -1
    assert min(updates.run_from(np.zeros(3), X, y, most=200)[1]) > 0


def test_eta_only_scales_from_zero_and_matters_from_elsewhere() -> None:
    X, y = updates.separable()
    zero = [updates.run_from(np.zeros(3), X, y, eta)[0] / eta for eta in updates.RATES]
    for one in zero[1:]:
        np.testing.assert_allclose(one, zero[0], rtol=1e-9)
    start = np.array([4.0, 7.0, -5.0])
    counts = [sum(updates.run_from(start, X, y, eta, most=1000)[1]) for eta in (0.01, 1.0, 100.0)]
    assert counts[0] > counts[2] > counts[1]


# ---- networks


def test_win_the_vote_is_one_layer() -> None:
    assert "xW + b             2           7       2" in text_of("network")


def test_xor_needs_a_hidden_layer() -> None:
    X, y = np.array([x for x, _ in networks.XOR], float), np.array([label for _, label in networks.XOR])
    scores = [float(model.score(X, y)) for model in networks.xor_models().values()]
    assert scores[0] < 1 and scores[1:] == [1, 1]


@pytest.mark.parametrize("hidden", [(3,), (3, 2)])
def test_slopes_are_those_of_the_reference(hidden: tuple[int, ...]) -> None:
    chance = np.random.default_rng(0)
    x, y = chance.normal(size=(5, 1)), chance.normal(size=(5, 1))
    sizes = [1, *hidden, 1]
    layers = [(chance.normal(size=shape), chance.normal(size=shape[1])) for shape in itertools.pairwise(sizes)]
    network = reference.Network([(W.tolist(), b.tolist()) for W, b in layers], "tanh")
    errors = [network.scores(row.tolist())[0] + -float(target[0]) for row, target in zip(x, y, strict=True)]
    loss: Node = total([error * error for error in errors]) * (1 / len(x))
    loss.backward()
    assert loss.value == pytest.approx(approximation.mean_squared(layers, x, y))
    for (W, b), weights, biases in zip(
        approximation.slopes(layers, x, y), network.weights, network.biases, strict=True
    ):
        np.testing.assert_allclose(W, [[w.slope for w in row] for row in weights], rtol=1e-9)
        np.testing.assert_allclose(b, [bias.slope for bias in biases], rtol=1e-9)


def test_more_hidden_units_approximate_a_curve_better() -> None:
    x, y = approximation.sample()
    errors = [approximation.mean_squared(approximation.learned((width,), x, y), x, y) for width in approximation.WIDTHS]
    assert errors[0] > 0.1 > 0.001 > errors[1] > errors[2]


def test_only_a_network_or_squares_find_the_circle() -> None:
    rows = [float(row.split()[-1]) for row in text_of("three-models").splitlines()[1:]]
    assert rows[2] > 0.98 and rows[3] > 0.95 and rows[1] < 0.7


def test_the_tiny_messages_are_counted_exactly() -> None:
    found = bayes.tiny_bayes()
    assert found.prior("spam") == found.prior("ham")
    assert sum(found.draws("spam")[0].values()) == 1
