"""The lectures' worked examples, with their figures."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from markone import reference
from markone.data.blocks import Block
from markone.learning.online import Linear
from markone.learning.passes import teach
from markone.model.settings import Settings

# ---- representation


def headline_weights() -> tuple[list[str], np.ndarray]:
    features = ["BIAS", "win", "game", "vote", "the"]
    sports, politics, tech = [-2, 4, 4, 0, 0], [1, 2, 0, 4, 0], [2, 0, 2, 0, 0]
    return features, np.array([sports, politics, tech], float).T


def scorer(matrix: np.ndarray, bias: list[float] | None = None) -> Linear:
    columns = matrix.shape[1]
    linear = Linear(
        Settings(bias=bias is not None, average=False), features=len(matrix), classes=2 if columns == 1 else columns
    )
    linear.start_at(matrix, np.zeros(columns) if bias is None else np.array(bias))
    return linear


def rows(*values: list[float]) -> Any:
    return Block.of(np.array(values, float), np.zeros(len(values), int)).rows


def test_free_money_is_spam() -> None:
    linear = scorer(np.array([[4.0], [2.0]]), bias=[-3.0])
    assert linear.scores(rows([1, 1])).tolist() == [[3]]
    assert linear.predict(rows([1, 1])).tolist() == [1]
    assert reference.dot({"BIAS": -3, "free": 4, "money": 2}, {"BIAS": 1, "free": 1, "money": 1}) == 3


def test_win_the_vote_is_politics() -> None:
    features, matrix = headline_weights()
    x = [float(word in ("BIAS", "win", "the", "vote")) for word in features]
    linear = scorer(matrix)
    assert linear.scores(rows(x)).tolist() == [[2, 7, 2]]
    assert linear.predict(rows(x)).tolist() == [1]


def test_a_review_is_positive_with_probability_0_69() -> None:
    w = [2.5, -5.0, -1.2, 0.5, 2.0, 0.7]
    x = [3, 2, 1, 3, 0, 4.15]
    assert [a * b for a, b in zip(w, x, strict=True)] == pytest.approx([7.5, -10, -1.2, 1.5, 0, 2.905])
    z = float(scorer(np.array(w)[:, None], bias=[0.1]).scores(rows(x))[0, 0])
    assert z == pytest.approx(0.805)
    assert round(reference.sigmoid(z), 2) == 0.69
    assert round(reference.cross_entropy(z, 1), 2) == 0.37
    # With 0.69 rounded first, as on the board, it is 1.17; unrounded it is 1.1742.
    assert round(reference.cross_entropy(z, 0), 2) == 1.17
    assert round(math.log(64), 2) == 4.16


def test_the_review_by_the_estimator() -> None:
    from markone import LogisticRegression

    x = np.array([[3, 2, 1, 3, 0, 4.15], [0, 0, 0, 0, 0, 0]])
    model = LogisticRegression(penalty=None, solver="ascent", eta0=1e-12, max_iter=1, tol=10.0)
    model.fit(x, [1, 0], coef_init=[2.5, -5.0, -1.2, 0.5, 2.0, 0.7], intercept_init=0.1)
    assert model.classes_.tolist() == [0, 1]
    np.testing.assert_allclose(model.predict_proba(x[:1])[0].round(2), [0.31, 0.69])  # P(1), the second, is 0.69


AND = [([0, 0], 0), ([0, 1], 0), ([1, 0], 0), ([1, 1], 1)]
XOR = [([0, 0], 0), ([0, 1], 1), ([1, 0], 1), ([1, 1], 0)]


def test_and_has_the_lectures_line() -> None:
    linear = scorer(np.array([[1.0], [1.0]]), bias=[-1.5])
    assert linear.predict(rows(*(x for x, _ in AND))).tolist() == [y for _, y in AND]


def train(table: list[tuple[list[int], int]], **chosen: Any) -> tuple[Linear, Any]:
    block = Block.of(np.array([x for x, _ in table], float), np.array([y for _, y in table]))
    linear = Linear(Settings(order="given", average=False, **chosen), features=block.rows.width, classes=2)
    return linear, teach(linear, block)


def test_and_is_learned_and_xor_is_not() -> None:
    linear, history = train(AND, epochs=100)
    assert history.stopped == "converged" and history[-1].mistakes == 0
    assert linear.predict(rows(*(x for x, _ in AND))).tolist() == [y for _, y in AND]
    _, history = train(XOR, epochs=1000)
    assert history.stopped == "epochs" and all(one.mistakes > 0 for one in history)


def test_bias_as_a_feature_and_bias_apart_are_one_model() -> None:
    random = np.random.default_rng(1)
    X, y = random.integers(-3, 4, (40, 3)).astype(float), random.integers(0, 2, 40)
    apart = Linear(Settings(), features=3, classes=2)
    apart.learn(Block.of(X, y))
    feature = Linear(Settings(bias=False), features=4, classes=2)
    feature.learn(Block.of(np.hstack([np.ones((40, 1)), X]), y))
    for averaged in (False, True):
        assert apart.weights(averaged).bias()[0] == feature.weights(averaged).matrix()[0, 0]
        np.testing.assert_array_equal(apart.weights(averaged).matrix(), feature.weights(averaged).matrix()[1:])


def test_a_transformation_of_features_makes_a_curved_boundary_linear() -> None:
    random = np.random.default_rng(2)
    x1, x2 = random.uniform(-10, 10, (2, 500))
    curve = x1**2 - 2 * x2 + 27
    linear = scorer(np.array([[1.0], [-2.0]]), bias=[27.0])
    np.testing.assert_allclose(linear.scores(rows(*np.column_stack([x1**2, x2]).tolist()))[:, 0], curve)
    plain = scorer(np.array([[1.0], [-5.0]]), bias=[-17.0])
    np.testing.assert_allclose(plain.scores(rows([22.0, 1.0]))[:, 0], [0.0], atol=1e-12)


def test_with_unit_weights_the_score_is_the_distance() -> None:
    w, x = {"a": 0.6, "b": 0.8}, {"a": 3.0, "b": -1.0}
    assert reference.dot(w, x) == pytest.approx(math.sqrt(reference.length2(x)) * reference.cosine(w, x))


# ---- the perceptron

THREE_POINTS = np.array([[3, 2], [-2, 2], [-2, -3]], float)
THREE_LABELS = np.array([1, 0, 1])


def test_the_three_point_run() -> None:
    linear = Linear(Settings(tie="negative", bias=False, average=False), features=2, classes=2)
    block = Block.of(THREE_POINTS, THREE_LABELS)
    after = []
    for i in range(3):
        linear.learn(block, np.array([i]))
        after.append(linear.weights().matrix()[:, 0].tolist())
    assert after == [[3, 2], [3, 2], [1, -1]]
    assert linear.learn(block).mistakes == 0
    # x2 = x1 is the boundary.
    assert linear.scores(rows([5, 5])).tolist() == [[0]]
    examples = [(dict(enumerate(x)), 1 if y else -1) for x, y in zip(THREE_POINTS.tolist(), THREE_LABELS, strict=True)]
    assert reference.perceptron(examples, 5) == ({0: 1, 1: -1}, 0)


def test_the_three_point_run_stops_by_itself() -> None:
    linear = Linear(Settings(tie="negative", bias=False, order="given", epochs=50), features=2, classes=2)
    history = teach(linear, Block.of(THREE_POINTS, THREE_LABELS))
    assert [one.mistakes for one in history] == [2, 0]
    assert history.stopped == "converged"
    # The average of (3,2), (3,2), (1,-1) and three times (1,-1).
    np.testing.assert_allclose(linear.weights(True).matrix()[:, 0], [10 / 6, 0])


def test_the_tie_conventions_at_zero_weights() -> None:
    x, moved = np.array([[1.0, 2.0]]), {}
    for tie in ("negative", "error", "positive"):
        for y in (0, 1):
            linear = Linear(Settings(tie=tie), features=2, classes=2)
            linear.learn(Block.of(x, np.array([y])))
            moved[tie, y] = bool(linear.weights(False).matrix().any())
    assert moved == {
        ("negative", 0): False,
        ("negative", 1): True,
        ("error", 0): True,
        ("error", 1): True,
        ("positive", 0): True,
        ("positive", 1): False,
    }


def test_the_forms_of_the_update() -> None:
    block = Block.of(np.array([[1.0, 2.0]]), np.array([1]))
    found = {}
    for form in ("label", "difference"):
        for tie in ("negative", "error"):
            linear = Linear(Settings(tie=tie, form=form, eta=0.5, bias=False), features=2, classes=2)
            linear.learn(block)
            found[form, tie] = linear.weights(False).matrix()[:, 0].tolist()
    assert found["label", "negative"] == found["label", "error"] == [0.5, 1]
    assert found["difference", "negative"] == [1, 2]  # y - f(x) = 1 - (-1) = 2
    assert found["difference", "error"] == [0.5, 1]  # sign(0) = 0, so y - f(x) = 1


def test_labels_of_one_kind_or_another_give_the_same_boundary() -> None:
    from markone import Perceptron

    random = np.random.default_rng(3)
    X = random.normal(size=(60, 4))
    y = (X @ [1, -1, 2, 0] > 0.3).astype(int)
    coefs = [Perceptron(random_state=0).fit(X, labels).coef_ for labels in (y, 2 * y - 1, np.array(["no", "yes"])[y])]
    np.testing.assert_array_equal(coefs[0], coefs[1])
    np.testing.assert_array_equal(coefs[0], coefs[2])


def test_each_update_raises_the_margin_of_its_example() -> None:
    random = np.random.default_rng(4)
    X, y = random.integers(-3, 4, (80, 5)).astype(float), random.integers(0, 2, 80)
    for bias in (False, True):
        linear = Linear(Settings(bias=bias), features=5, classes=2)
        block = Block.of(X, y)
        for i in range(80):
            sign, row = 2 * y[i] - 1, rows(X[i].tolist())
            before = sign * linear.scores(row, averaged=False)[0, 0]
            if linear.learn(block, np.array([i])).updates:
                after = sign * linear.scores(row, averaged=False)[0, 0]
                assert after - before == X[i] @ X[i] + bias


def test_eta_only_scales_the_perceptron_from_zero() -> None:
    random = np.random.default_rng(5)
    X, y = random.normal(size=(200, 6)), random.integers(0, 3, 200)
    found = {}
    for eta in (0.125, 1.0, 8.0):
        linear = Linear(Settings(eta=eta), features=6, classes=3)
        linear.learn(Block.of(X, y))
        found[eta] = linear.weights(averaged=True).matrix()
    np.testing.assert_allclose(found[8.0], 8 * found[1.0], rtol=1e-12)
    np.testing.assert_allclose(found[0.125], found[1.0] / 8, rtol=1e-12)


HEADLINES = ["win the vote", "win the election", "win the game"]
SPORTS, POLITICS, TECH = 0, 1, 2


def headline_run(kind: str, bias_feature: bool) -> tuple[list[str], list[np.ndarray]]:
    words = ["win", "game", "vote", "the", "election"]
    X = np.array([[float(word in text.split()) for word in words] for text in HEADLINES])
    first = np.zeros((len(words), 3))
    bias = np.array([1.0, 0, 0])  # SPORTS starts with BIAS 1
    if bias_feature:
        words, X = ["BIAS", *words], np.hstack([np.ones((3, 1)), X])
        first, bias = np.vstack([bias, first]), np.zeros(3)
    linear = Linear(Settings(bias=not bias_feature, average=False), features=len(words), classes=3)
    linear.start_at(first, bias)
    block = Block.of(scipy.sparse.csr_array(X) if kind == "sparse" else X, np.array([POLITICS, POLITICS, SPORTS]))
    after = []
    for i in range(3):
        linear.learn(block, np.array([i]))
        weights = linear.weights()
        after.append(weights.matrix() if bias_feature else np.vstack([weights.bias(), weights.matrix()]))
    return words if bias_feature else ["BIAS", *words], after


@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.parametrize("bias_feature", [False, True])
def test_the_three_headlines(kind: str, bias_feature: bool) -> None:
    words, after = headline_run(kind, bias_feature)
    assert words == ["BIAS", "win", "game", "vote", "the", "election"]
    # "win the vote": SPORTS wins by its bias and is wrong.
    assert after[0][:, SPORTS].tolist() == [0, -1, 0, -1, -1, 0]
    assert after[0][:, POLITICS].tolist() == [1, 1, 0, 1, 1, 0]
    # "win the election": POLITICS has 3, SPORTS -2: right.
    np.testing.assert_array_equal(after[1], after[0])
    # "win the game": POLITICS wins again, and is wrong.
    assert after[2][:, SPORTS].tolist() == [1, 0, 1, -1, 0, 0]
    assert after[2][:, POLITICS].tolist() == [0, 0, -1, 1, 0, 0]
    assert after[2][:, TECH].tolist() == [0] * 6


def test_binary_is_multiclass_whose_negative_class_has_weight_zero() -> None:
    random = np.random.default_rng(6)
    w, X = random.normal(size=(4, 1)), random.normal(size=(50, 4))
    one = scorer(w)
    three = Linear(Settings(bias=False, average=False), features=4, classes=3)
    three.start_at(np.hstack([np.zeros((4, 1)), w, np.full((4, 1), 0.0)]), np.zeros(3))
    block = Block.of(X, np.zeros(50, int))
    np.testing.assert_array_equal(one.predict(block.rows), three.predict(block.rows))


def test_mira_takes_the_smallest_step_that_wins_by_one() -> None:
    x = np.array([[1.0, 2.0, 0.0]])
    linear = Linear(Settings(rule="mira", C=math.inf, bias=False), features=3, classes=3)
    linear.start_at(np.array([[0.5, 0, 0], [0, 0.2, 0], [0, 0, 1.0]]), np.zeros(3))
    # Scores 0.5, 0.4, 0; the right class is the second: tau = (0.5 - 0.4 + 1) / (2 * 5) = 0.11.
    linear.learn(Block.of(x, np.array([1])))
    np.testing.assert_allclose(
        linear.weights(False).matrix(), [[0.39, 0.11, 0], [-0.22, 0.42, 0], [0, 0, 1]], atol=1e-12
    )
    scores = linear.scores(rows([1, 2, 0]), averaged=False)[0]
    assert scores[1] - scores[0] == pytest.approx(1)


def test_mira_caps_its_step() -> None:
    x = np.array([[1.0, 2.0]])
    linear = Linear(Settings(rule="mira", C=0.01, bias=False), features=2, classes=2)
    linear.learn(Block.of(x, np.array([1])))
    np.testing.assert_allclose(linear.weights(False).matrix()[:, 0], [0.01, 0.02])


def learned_by_mira(x: list[float], y: int, **how: Any) -> list[float]:
    """The shared weights of two classes after one visit of a row without a bias, from (1, 0)."""
    linear = Linear(Settings(rule="mira", bias=False, average=False, **how), features=2, classes=2)
    linear.start_at(np.array([[1.0], [0.0]]), np.zeros(1))
    linear.learn(Block.of(np.array([x]), np.array([y])))
    found: list[float] = linear.weights(False).matrix()[:, 0].tolist()
    return found


def test_mira_moves_on_mistakes_only_or_below_a_margin_of_one() -> None:
    # The score is 0.25 and right: tau = (1 - 0.25) / |x|² = 12, if it moves at all.
    assert learned_by_mira([0.25, 0.0], 1, C=math.inf, update="mistake") == [1.0, 0.0]
    assert learned_by_mira([0.25, 0.0], 1, C=math.inf, update="margin") == [4.0, 0.0]
    # A score of -1 is a mistake: tau = (1 + 1) / 1 = 2, by either.
    for update in ("margin", "mistake"):
        assert learned_by_mira([-1.0, 0.0], 1, C=math.inf, update=update) == [-1.0, 0.0]
    # A score of 0 is a mistake as the ties are set: tau = 1 / 4.
    for tie, y, moves in (("error", 1, True), ("error", 0, True), ("negative", 1, True), ("negative", 0, False),
                          ("positive", 1, False), ("positive", 0, True)):  # fmt: skip
        after = learned_by_mira([0.0, 2.0], y, C=math.inf, update="mistake", tie=tie)
        assert after == [1.0, (0.5 if y == 1 else -0.5) if moves else 0.0]


def test_with_two_vectors_each_moves_by_the_cap() -> None:
    # By the lecture's formula each of two vectors moves by tau = min(C, 2 / 2) = 0.125, their difference by twice that.
    assert learned_by_mira([-1.0, 0.0], 1, C=0.125) == [0.875, 0.0]
    assert learned_by_mira([-1.0, 0.0], 1, C=0.125, form="difference") == [0.75, 0.0]
    # Where C does not matter, both are the same.
    assert learned_by_mira([-1.0, 0.0], 1, C=10.0) == learned_by_mira([-1.0, 0.0], 1, C=10.0, form="difference")


@given(st.sampled_from([2, 2, 3, 4]), st.integers(0, 2**32 - 1), st.sampled_from([Fraction(1, 20), 1, math.inf]))
def test_mira_is_the_lectures_to_the_letter(classes: int, seed: int, C: Any) -> None:
    random = np.random.default_rng(seed)
    examples = [
        ({j: Fraction(int(v)) for j, v in enumerate(x)}, int(y))
        for x, y in zip(random.integers(-2, 3, (8, 3)), random.integers(0, classes, 8), strict=True)
    ]
    w, mistakes = reference.mira(examples, classes, passes=3, C=C)
    how: dict[str, Any] = {"rule": "mira", "update": "mistake", "tie": "negative", "bias": False}

    def learned(**more: Any) -> dict[int, Any]:
        learner = reference.Learner(classes, **how, **more)
        tallies = [learner.learn([(x, y, 1) for x, y in examples]) for _ in range(3)]
        assert tallies[-1].mistakes == mistakes
        return learner.w

    found = learned(C=C, form="difference")
    for feature in range(3):
        each = [vector.get(feature, 0) for vector in w]
        if classes == 2:
            assert each[0] == -each[1] and found[1].get(feature, 0) == each[1] - each[0]
        else:
            assert [found[k].get(feature, 0) for k in range(classes)] == each
    assert found == learned(C=2 * C if classes == 2 else C, form="label")


def test_averaging_helps_where_weights_thrash() -> None:
    random = np.random.default_rng(8)
    X = random.normal(size=(3000, 20))
    y = (X @ random.normal(size=20) + 3 * random.normal(size=3000) > 0).astype(int)
    linear = Linear(Settings(epochs=5), features=20, classes=2)
    history = teach(linear, Block.of(X[:2000], y[:2000]), holdout=Block.of(X[2000:], y[2000:]))
    assert all(one.mistakes > 200 for one in history)
    assert history[-1].holdout_averaged > history[-1].holdout_last + 0.02
