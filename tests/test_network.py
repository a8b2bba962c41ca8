"""The multi-layer perceptron: gradients, optimizers, what it can learn, and that nothing but the seed decides it."""

from __future__ import annotations

import copy
import gzip
import os
import pickle
import warnings
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

import markone
from levels import check_levels
from markone import MLP, DataError, SettingsError, _core, reference
from markone.data import store as store_module
from markone.data.blocks import Block, as_rows
from markone.data.store import RowStore
from markone.learning import examples
from markone.learning.examples import BlockExamples, StoredExamples
from markone.learning.network import Multilayer
from markone.learning.passes import LearnerTraining, teach
from markone.learning.run import Run
from markone.model.network import Network
from markone.model.settings import Settings
from markone.storage.saved import Saved

ACTIVATIONS = ["relu", "tanh", "sigmoid"]
OPTIMIZERS = ["sgd", "adagrad", "adam"]
DATA = Path(__file__).parents[1] / os.environ.get("MARKONE_DATA", "../shared/data")
Layers = list[tuple[NDArray[np.float32], NDArray[np.float32]]]


def random_layers(widths: Sequence[int], seed: int = 0, scale: float = 0.7) -> Layers:
    random = np.random.default_rng(seed)
    return [
        (random.normal(0, scale, shape).astype(np.float32), random.normal(0, scale, shape[1]).astype(np.float32))
        for shape in pairwise(widths)
    ]


def random_block(
    rows: int = 40, features: int = 6, classes: int = 3, kind: str = "dense", density: float = 0.7, seed: int = 0
) -> Block:
    """Rows, their classes, which depend on them, and importances, some of which are 0."""
    random = np.random.default_rng(seed)
    X = (random.normal(size=(rows, features)) * (random.random((rows, features)) < density)).astype(np.float32)
    y = ((X @ random.normal(size=(features, classes))) ** 2).argmax(axis=1)
    importance = random.choice([0, 0.5, 1, 1, 3.25], rows)
    importance[0] = 1
    return Block.of(scipy.sparse.csr_array(X) if kind == "sparse" else X, y, importance)


def learner(block: Block, classes: int = 3, **chosen: Any) -> Multilayer:
    return Multilayer(Settings(rule="mlp", **chosen), features=block.rows.width, classes=classes)


def dense(block: Block) -> NDArray[np.float64]:
    return np.asarray(block.matrix.toarray() if scipy.sparse.issparse(block.matrix) else block.matrix, np.float64)


def bits(layers: Layers) -> list[bytes]:
    return [array.tobytes() for layer in layers for array in layer]


def weights_of(block: Block) -> NDArray[np.float64]:
    return np.ones(len(block)) if block.importance is None else block.importance


# ---- gradients


@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("hidden", [(5,), (5, 9)])
@pytest.mark.parametrize(("classes", "strength"), [(2, 0.0), (3, 0.0), (3, 0.5)])
def test_gradients_are_those_of_the_reference(
    kind: str, activation: str, hidden: tuple[int, ...], classes: int, strength: float
) -> None:
    block = random_block(12, classes=classes, kind=kind)
    chosen: dict[str, Any] = {"penalty": "l2", "strength": strength} if strength else {}
    network = learner(block, classes, hidden=hidden, activation=activation, optimizer="sgd", eta=1.0, **chosen)
    layers = random_layers(network.widths)
    network.start_at(layers)
    oracle = reference.Network([(w.tolist(), b.tolist()) for w, b in layers], activation)
    rows, labels, importance = dense(block).tolist(), block.labels.tolist(), weights_of(block).tolist()

    np.testing.assert_allclose(
        network.scores(block.rows), [[s.value for s in oracle.scores(x)] for x in rows], rtol=1e-4, atol=1e-5
    )
    expected = oracle.gradient(rows, labels, importance, strength)
    tally = network.learn(block)
    # one step of length 1 goes against the gradient, and so shows it
    for (before_w, before_b), (after_w, after_b), (g_w, g_b) in zip(layers, network.layers(), expected, strict=True):
        np.testing.assert_allclose(before_w - after_w, g_w, rtol=1e-3, atol=2e-6)
        np.testing.assert_allclose(before_b - after_b, g_b, rtol=1e-3, atol=2e-6)
    loss = oracle.loss(rows, labels, importance).value
    assert tally.loss == pytest.approx(loss * sum(importance), rel=1e-5)
    assert tally.importance == pytest.approx(sum(importance)) and tally.updates == 1


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_references_gradients_are_finite_differences(activation: str, classes: int) -> None:
    block = random_block(8, features=3, classes=classes)
    layers = [(w.astype(float), b.astype(float)) for w, b in random_layers([3, 4, 3, 1 if classes == 2 else 3], seed=1)]
    rows, labels, importance = dense(block).tolist(), block.labels.tolist(), weights_of(block).tolist()

    def loss() -> float:
        return reference.Network(layers, activation).loss(rows, labels, importance, 0.3).value  # type: ignore[arg-type]

    gradient = reference.Network(layers, activation).gradient(rows, labels, importance, 0.3)  # type: ignore[arg-type]
    for layer, slopes in zip(layers, gradient, strict=True):
        for array, slope in zip(layer, slopes, strict=True):
            for place in np.ndindex(array.shape):
                start, ends = array[place], []
                for change in (1e-5, -1e-5):
                    array[place] = start + change
                    ends.append(loss())
                array[place] = start
                assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(np.array(slope)[place], rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_steps_are_the_optimizers_formulas(optimizer: str) -> None:
    block = random_block(20, density=1.0)
    chosen: dict[str, Any] = {"hidden": (4,), "activation": "tanh", "optimizer": optimizer, "batch": 20}
    network, still = learner(block, **chosen, eta=0.05), learner(block, **chosen, eta=1e-20)
    still.learn(block)  # the weights of features start when these are met
    layers = still.layers()
    w = [np.concatenate([weights.reshape(-1), bias]).astype(float) for weights, bias in layers]
    memory = [[reference.Memory() for _ in some] for some in w]
    move = getattr(reference, optimizer)
    for _ in range(6):
        now = [(some[: -b.size].reshape(-1, b.size), some[-b.size :]) for some, (_, b) in zip(w, layers, strict=True)]
        slopes = reference.Network([(a.tolist(), b.tolist()) for a, b in now], "tanh").gradient(
            dense(block).tolist(), block.labels.tolist(), weights_of(block).tolist()
        )
        for some, (g_w, g_b), kept in zip(w, slopes, memory, strict=True):
            g = np.concatenate([np.reshape(g_w, -1), g_b])
            some[:] = [move(float(a), float(b), 0.05, c) for a, b, c in zip(some, g, kept, strict=True)]
        network.learn(block)
    for some, (weights, bias) in zip(w, network.layers(), strict=True):
        np.testing.assert_allclose(np.concatenate([weights.reshape(-1), bias]), some, rtol=2e-3, atol=2e-4)


def test_an_importance_is_a_number_of_copies() -> None:
    block = random_block(10)
    twice = Block.of(dense(block), block.labels, np.where(np.arange(10) < 4, 2.0, 1.0))
    copies = Block.of(np.vstack([dense(block), dense(block)[:4]]), np.concatenate([block.labels, block.labels[:4]]))
    networks = []
    for some in (twice, copies):
        network = learner(block, optimizer="sgd", eta=1.0, hidden=(7,))
        network.learn(network.ready(some))
        networks.append(network.layers())
    for (w, b), (other_w, other_b) in zip(*networks, strict=True):
        np.testing.assert_allclose(w, other_w, atol=1e-6)
        np.testing.assert_allclose(b, other_b, atol=1e-6)


def test_rows_without_importance_change_nothing() -> None:
    block = random_block(10)
    network = learner(block)
    before = bits(network.layers())
    tally = network.learn(Block.of(block.matrix, block.labels, np.zeros(10)))
    assert bits(network.layers()) == before
    assert (tally.mistakes, tally.updates, tally.loss, tally.importance) == (0, 0, 0, 0)


# ---- one network, to the bit


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.45, 0.55, 1.0]), st.sampled_from(OPTIMIZERS))
def test_sparse_and_dense_rows_make_the_same_network(seed: int, density: float, optimizer: str) -> None:
    found = []
    for kind in ("sparse", "dense"):
        block = random_block(100, 9, kind=kind, density=density, seed=seed)
        network = learner(block, hidden=(11, 3), optimizer=optimizer, batch=16, epochs=2, penalty="l2", strength=0.01)
        teach(network, block)
        found.append([*bits(network.layers()), network.scores(block.rows).tobytes()])
    assert found[0] == found[1]


def test_zeros_that_are_stored_are_no_features() -> None:
    block = random_block(30, kind="sparse", density=0.3)
    stored = block.matrix.copy()
    stored.data[::3] = 0
    plain = stored.copy()
    plain.eliminate_zeros()
    assert plain.nnz < stored.nnz
    networks = [learner(block, hidden=(4,)) for _ in range(2)]
    for network, matrix in zip(networks, (stored, plain), strict=True):
        network.learn(Block.of(matrix, block.labels))
    assert bits(networks[0].layers()) == bits(networks[1].layers())


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_a_rows_scores_do_not_depend_on_the_others_nor_on_their_type(kind: str) -> None:
    block = random_block(150, 20, kind=kind, density=0.5)
    network = Network(random_layers([20, 30, 70, 3]), "tanh", 3)
    together = network.scores(block.rows)
    alone = [network.scores(as_rows(block.matrix[i : i + 1])) for i in range(len(block))]
    np.testing.assert_array_equal(together, np.concatenate(alone))
    np.testing.assert_array_equal(together, network.scores(as_rows(block.matrix.astype(np.float64))))


ONE_NETWORK = """
import hashlib, numpy as np, sys
from markone.data.blocks import Block
from markone.learning.network import Multilayer
from markone.learning.passes import teach
from markone.model.settings import Settings
random = np.random.default_rng(0)
sums = hashlib.sha256()
for density in (0.2, 1.0):
    for activation in ("relu", "tanh", "sigmoid"):
        for optimizer in ("sgd", "adagrad", "adam"):
            X = (random.normal(size=(90, 21)) * (random.random((90, 21)) < density)).astype(np.float32)
            chosen = {"activation": activation, "optimizer": optimizer, "dropout": 0.1, "epochs": 2}
            how = Settings(rule="mlp", hidden=(19, 70), **chosen)
            network = Multilayer(how, features=21, classes=3)
            block = Block.of(X, random.integers(0, 3, 90))
            teach(network, block)
            for array in network.get_state().values():
                sums.update(array.tobytes())
            sums.update(network.scores(block.rows).tobytes())
print(sums.hexdigest())
"""


def test_every_processor_computes_the_same_bits() -> None:
    check_levels(ONE_NETWORK)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_feature_that_a_batch_does_not_have_is_left_alone(optimizer: str) -> None:
    X = np.array([[1, 2, 0], [3, 1, 0], [1, 0, 1], [2, 0, 5]], np.float32)
    y = np.array([0, 1, 1, 0])
    network = learner(Block.of(X, y), 2, hidden=(6,), optimizer=optimizer, batch=2, penalty="l2", strength=0.1)
    network.learn(Block.of(X, y), np.array([0, 1]))
    before = network.get_state()
    network.learn(Block.of(X, y), np.array([2, 3]))
    after = network.get_state()
    for name in before:
        if name.endswith("0") and "bias" not in name:
            np.testing.assert_array_equal(before[name][1], after[name][1])
            assert (before[name][0] != after[name][0]).any()
    assert before["met"].tolist() == [1, 1, 0] and after["met"].tolist() == [2, 1, 1]


def test_what_was_never_met_has_no_say() -> None:
    block = random_block(60)
    X = np.hstack([dense(block), np.zeros((60, 2))]).astype(np.float32)
    network = learner(Block.of(X, block.labels), epochs=3)
    teach(network, Block.of(X, block.labels))
    with_new = X.copy()
    with_new[:, 6:] = 100
    np.testing.assert_array_equal(network.scores(as_rows(X)), network.scores(as_rows(with_new)))
    assert network.scorer().used().tolist() == [True] * 6 + [False] * 2


def test_numbers_without_a_leading_digit_are_as_usual_afterwards() -> None:
    block = random_block(10)
    learner(block).learn(block)
    assert np.float32(1e-38) * np.float32(0.01) > 0


# ---- what it can learn


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_xor(activation: str, optimizer: str) -> None:
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
    block = Block.of(X, np.array([0, 1, 1, 0]))
    eta = {"sgd": 1.0, "adagrad": 0.3, "adam": 0.03}[optimizer]
    network = learner(block, 2, hidden=(16,), activation=activation, optimizer=optimizer, eta=eta, epochs=1500)
    teach(network, block)
    assert network.predict(block.rows).tolist() == [0, 1, 1, 0]
    linear = markone.Perceptron(max_iter=100).fit(X, block.labels)
    assert linear.score(X, block.labels) < 1


def test_two_spirals() -> None:
    random = np.random.default_rng(0)
    turns = np.sqrt(random.random(600)) * 3 * np.pi
    arm = np.stack([np.cos(turns), np.sin(turns)], axis=1) * turns[:, None]
    X = np.vstack([arm, -arm]) + random.normal(0, 0.1, (1200, 2))
    y = np.repeat([0, 1], 600)
    X_train, X_test, y_train, y_test = train_test_split(X / 5, y, random_state=0, stratify=y)
    model = MLP((64, 32), learning_rate_init=0.01, max_iter=100, tol=None, batch_size=32).fit(X_train, y_train)
    assert model.score(X_test, y_test) >= 0.95


@pytest.fixture(scope="module")
def digits() -> tuple[NDArray[Any], ...]:
    X, y = load_digits(return_X_y=True)
    return X / 16, y


def test_digits_are_read_as_well_as_by_scikit_learn(digits: tuple[NDArray[Any], ...]) -> None:
    ours, theirs = [], []
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for seed in range(4):
            X, X_test, y, y_test = train_test_split(*digits, test_size=0.4, random_state=seed, stratify=digits[1])
            ours.append(MLP((100,), max_iter=60, random_state=seed).fit(X, y).score(X_test, y_test))
            theirs.append(MLPClassifier((100,), max_iter=60, random_state=seed).fit(X, y).score(X_test, y_test))
    assert np.mean(ours) >= np.mean(theirs) - 0.002


def test_two_layers_of_any_bend_read_digits(digits: tuple[NDArray[Any], ...]) -> None:
    X, X_test, y, y_test = train_test_split(*digits, random_state=0, stratify=digits[1])
    for activation in ("relu", "tanh", "logistic"):
        how: dict[str, Any] = {"learning_rate_init": 0.005, "max_iter": 40, "tol": None, "dropout": 0.1}
        model = MLP((64, 32), activation, **how).fit(X, y)
        assert model.score(X_test, y_test) > 0.95, activation


def mnist(part: str) -> tuple[NDArray[Any], NDArray[np.int32]]:
    def read(what: str, dimensions: int) -> NDArray[np.uint8]:
        [file] = (DATA / "mnist").glob(f"{part}-{what}-*.gz")
        return np.frombuffer(gzip.decompress(file.read_bytes()), np.uint8, offset=4 + 4 * dimensions)

    labels = read("labels", 1).astype(np.int32)
    return read("images", 3).reshape(len(labels), -1).astype(np.float32) / 255, labels


@pytest.mark.slow
@pytest.mark.parametrize("hidden", [(256,), (256, 128)])
def test_mnist(hidden: tuple[int, ...]) -> None:
    if not (DATA / "mnist").is_dir():
        pytest.skip("there is no folder mnist in MARKONE_DATA")
    (X, y), (X_test, y_test) = mnist("train"), mnist("t10k")
    network = learner(Block.of(X, y), 10, hidden=hidden, dropout=0.2, epochs=15)
    teach(network, Block.of(X, y))
    assert (network.predict(as_rows(X_test)) == y_test).mean() >= 0.98


# ---- dropout


def test_dropout_leaves_out_its_share_and_keeps_the_mean() -> None:
    units, share = 4096, 0.3
    block = Block.of(np.zeros((1, 1), np.float32), np.array([1]))
    network = learner(block, 2, hidden=(units,), dropout=share, optimizer="sgd", eta=1.0)
    ones = [(np.zeros((1, units)), np.ones(units)), (np.zeros((units, 1)), np.zeros(1))]
    network.start_at([(w.astype(np.float32), b.astype(np.float32)) for w, b in ones])
    network.learn(block)
    # every unit is 1, the probability is 1/2, and so a unit that stays moves its weight by half of what it counts
    moved = network.layers()[1][0][:, 0]
    kept = moved != 0
    np.testing.assert_allclose(moved[kept], 0.5 / (1 - share), rtol=1e-6)
    assert kept.mean() == pytest.approx(1 - share, abs=0.03)
    assert moved.mean() == pytest.approx(0.5, abs=0.02)
    network.learn(block)
    assert ((network.layers()[1][0][:, 0] != moved) != kept).any()  # others at the next step


def test_dropout_is_for_learning_only() -> None:
    block = random_block()
    layers = random_layers([6, 128, 3])
    networks = [learner(block, dropout=dropout) for dropout in (0.0, 0.5)]
    for network in networks:
        network.start_at(layers)
    plain, dropping = networks
    np.testing.assert_array_equal(plain.scores(block.rows), dropping.scores(block.rows))
    for network in networks:
        network.learn(block)
    assert bits(plain.layers()) != bits(dropping.layers())


# ---- options


def trained(block: Block, **chosen: Any) -> list[bytes]:
    network = learner(block, **{"epochs": 3, "hidden": (8,), "batch": 16, **chosen})
    teach(network, block)
    return bits(network.layers())


@pytest.mark.parametrize(
    "chosen",
    [
        {"hidden": (9,)},
        {"hidden": (8, 8)},
        {"activation": "tanh"},
        {"activation": "sigmoid"},
        {"optimizer": "sgd"},
        {"optimizer": "adagrad"},
        {"eta": 0.01},
        {"penalty": "l2"},
        {"dropout": 0.2},
        {"batch": 17},
        {"seed": 1},
        {"order": "given"},
        {"epochs": 4},
        {"holdout": 0.2},
    ],
)
def test_every_option_changes_something(chosen: dict[str, Any]) -> None:
    block = random_block(100)
    assert trained(block) == trained(block)
    assert trained(block, **chosen) != trained(block)
    if "penalty" in chosen:
        assert trained(block, **chosen, strength=0.1) != trained(block, **chosen)


def test_what_is_usual_depends_on_the_data() -> None:
    for features, hidden in ((2**15, (128,)), (2**15 + 1, (32,))):
        network = Multilayer(Settings(rule="mlp"), features=features, classes=2)
        assert network.settings.hidden == hidden and network.widths == [features, *hidden, 1]
    steps = []
    for rows in (40, 2000, 6400):
        block = random_block(rows)
        network = learner(block, epochs=1)
        teach(network, block)
        steps.append(int(network.get_state()["steps"][0]))
    assert steps == [5, 65, 100]  # batches of 8, 31 and 64 rows


def test_early_stopping_keeps_the_best() -> None:
    block = random_block(300)
    network = learner(block, epochs=100, holdout=0.2, patience=3, eta=0.01)
    history = teach(network, block)
    assert history.stopped == "held-out" and len(history) < 100
    held_out = next(iter(BlockExamples(block, network.settings).held_out()))
    right = (network.predict(held_out.rows) == held_out.labels) @ weights_of(held_out) / weights_of(held_out).sum()
    assert right == pytest.approx(max(result.holdout_last or 0 for result in history))


def test_batches_end_alike_wherever_the_first_are_skipped() -> None:
    network = learner(random_block(), batch=10)
    for visits in (1, 4, 10, 14, 15, 20, 24, 25, 104, 105):
        ends = network._ends(visits)
        sizes = np.diff(ends, prepend=0)
        assert sizes.sum() == visits and (sizes[:-1] == 10).all()
        assert visits < 5 or 5 <= sizes[-1] < 15
        for skipped in ends[:-1]:
            np.testing.assert_array_equal(network._ends(visits - skipped) + skipped, ends[ends > skipped])


# ---- going on


def in_pieces(network: Multilayer, rows: Any, epoch: int, skip: int = 0, stop: int | None = None) -> int:
    visited = 0
    for number, (_, visits) in enumerate(network.learn_pass(rows, epoch, skip), 1):
        visited += visits
        if number == stop:
            break
    return visited


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_it_goes_on_to_the_bit_from_within_a_pass(optimizer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "VALUES_BETWEEN_LOOKS", 200)
    block = random_block(200)
    chosen: dict[str, Any] = {"optimizer": optimizer, "dropout": 0.2, "batch": 16, "penalty": "l2"}
    straight, interrupted = learner(block, **chosen), learner(block, **chosen)
    rows = BlockExamples(block, straight.settings)
    for epoch in (1, 2, 3):
        in_pieces(straight, rows, epoch)
    in_pieces(interrupted, rows, 1)
    skip = in_pieces(interrupted, rows, 2, stop=2)
    assert 0 < skip < 200
    state = {name: array.copy() for name, array in interrupted.get_state().items()}
    resumed = learner(block, **chosen)
    resumed.check_state(state)
    resumed.set_state(state)
    in_pieces(resumed, rows, 2, skip)
    in_pieces(resumed, rows, 3)
    for name, array in straight.get_state().items():
        assert array.tobytes() == resumed.get_state()[name].tobytes(), name


def test_pieces_and_the_place_of_the_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "PIECE_VALUES", 60)
    monkeypatch.setattr(store_module, "WINDOW_PIECES", 3)
    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 5)).astype(np.float32), random.integers(0, 3, 200).astype(np.int32)
    found = set()
    for memory in (10**9, 100):
        for values in (10**9, 100):
            monkeypatch.setattr(examples, "VALUES_BETWEEN_LOOKS", values)
            with RowStore(memory) as store:
                for part in np.split(np.arange(200), 20):
                    store.add(X[part], y[part], None)
                store.finish(np.arange(3, dtype=np.int32))
                assert store.on_disk == (memory == 100) and store.pieces > 6
                network = Multilayer(Settings(rule="mlp", batch=8, epochs=2, dropout=0.1), features=5, classes=3)
                Run(LearnerTraining(network, StoredExamples(store, network.settings))).make_passes()
            found.add(tuple(bits(network.layers())))
    assert len(found) == 1


def test_what_was_kept_is_checked() -> None:
    block = random_block()
    network = learner(block)
    network.learn(block)
    good = network.get_state()
    network.check_state(good)
    spoiled: list[tuple[str, Any]] = [
        ("weights0", good["weights0"][:-1]),
        ("weights0", good["weights0"].astype(np.float64)),
        ("weights1", np.full_like(good["weights1"], np.nan)),
        ("squares0", -1 - good["squares0"]),
        ("met", good["met"] + np.uint32(5)),
        ("steps", np.zeros(2, np.uint64)),
    ]
    for name, array in spoiled:
        with pytest.raises(DataError, match="damaged"):
            network.check_state({**good, name: array})
    with pytest.raises(DataError, match="wrong arrays"):
        network.check_state({name: array for name, array in good.items() if name != "met"})


def test_copies_learn_on_their_own() -> None:
    block = random_block()
    network = learner(block, epochs=1)
    teach(network, block)
    before = bits(network.layers())
    twins = [copy.copy(network), pickle.loads(pickle.dumps(network))]
    for twin in twins:
        twin.learn(block)
    assert bits(network.layers()) == before
    network.learn(block)
    assert all(bits(twin.layers()) == bits(network.layers()) for twin in twins)


def test_growing_keeps_what_it_knows() -> None:
    block = random_block(100, classes=2)
    network = learner(block, 2, epochs=5)
    teach(network, block)
    before = network.scores(block.rows)
    network.grow(features=8, classes=2, places=[0, 1])
    np.testing.assert_array_equal(network.scores(block.rows), before)
    network.grow(features=8, classes=4, places=[1, 3])
    scores = network.scores(block.rows)
    np.testing.assert_allclose(scores[:, [3]] - scores[:, [1]], before, rtol=1e-6)
    four = network.scores(block.rows)
    network.grow(features=8, classes=5, places=[0, 1, 2, 4])
    np.testing.assert_array_equal(network.scores(block.rows)[:, [0, 1, 2, 4]], four)
    teach(network, Block.of(np.hstack([dense(block), np.ones((100, 2))]), block.labels * 3 + 1))
    assert (network.predict(block.rows) == 1).any()


def test_one_class_is_no_question() -> None:
    block = random_block(10, classes=1)
    network = learner(block, 1)
    assert network.learn(block).updates == 0
    assert network.predict(block.rows).tolist() == [0] * 10


def test_it_starts_at_a_network_with_features_elsewhere() -> None:
    block = random_block(50)
    base = learner(block, epochs=2, hidden=(7,))
    teach(base, block)
    places = np.array([9, 1, 2, 5, 0, 4])
    moved = np.zeros((50, 10), np.float32)
    moved[:, places] = dense(block)
    network = Multilayer(base.settings, features=10, classes=3)
    network.start_at(base.scorer().layers, places)
    # the sums are taken in another order
    np.testing.assert_allclose(network.scores(as_rows(moved)), base.scores(block.rows), rtol=1e-4, atol=1e-5)
    with pytest.raises(DataError, match="cannot start"):
        Multilayer(base.settings, features=10, classes=4).start_at(base.scorer().layers)


# ---- what a model predicts with


def test_saved_and_loaded_it_scores_the_same() -> None:
    block = random_block()
    for classes, widths in ((2, [6, 5, 1]), (3, [6, 16, 9, 3])):
        network = Network(random_layers(widths), "sigmoid", classes)
        again = Network.load(network.save(), classes, True)
        np.testing.assert_array_equal(network.scores(block.rows), again.scores(block.rows))
        assert (again.features, again.classes, again.activation) == (6, classes, "sigmoid")


def test_a_damaged_network_is_no_network() -> None:
    good = Network(random_layers([6, 5, 4, 3]), "relu", 3).save()
    arrays = good.arrays
    spoiled: list[tuple[Any, Any]] = [
        ({"activation": "cube"}, arrays),
        ({"activation": ["relu"]}, arrays),
        ({}, arrays),
        ({**good.facts, "more": 1}, arrays),
        (good.facts, {**arrays, "more": arrays["bias0"]}),
        (good.facts, {name: array for name, array in arrays.items() if name != "bias1"}),
        (good.facts, {**arrays, "weights0": arrays["weights0"].astype(np.float64)}),
        (good.facts, {**arrays, "weights0": arrays["weights0"][:, :-1]}),
        (good.facts, {**arrays, "weights1": arrays["weights1"][:-1]}),
        (good.facts, {**arrays, "weights2": arrays["weights2"][:, :2], "bias2": arrays["bias2"][:2]}),
        (good.facts, {**arrays, "weights1": arrays["weights1"] * np.float32(np.inf)}),
        (good.facts, {**arrays, "bias1": arrays["bias1"][None]}),
        (good.facts, {"weights0": arrays["weights0"][:, :3], "bias0": arrays["bias2"]}),
        (good.facts, {**arrays, "weights0": arrays["weights0"][:, :0], "bias0": arrays["bias0"][:0]}),
    ]
    for facts, some in spoiled:
        with pytest.raises(DataError):
            Network.load(Saved(facts, some), 3, True)
    with pytest.raises(DataError):
        Network.load(good, 3, False)


def test_pruned_it_scores_the_same_without_what_it_does_not_use() -> None:
    layers = random_layers([6, 5, 3])
    layers[0][0][[1, 4]] = 0
    network = Network(layers, "tanh", 3)
    used = network.used()
    assert used.tolist() == [True, False, True, True, False, True]
    block = random_block()
    np.testing.assert_array_equal(
        network.scores(block.rows), network.prune(used).scores(as_rows(np.ascontiguousarray(block.matrix[:, used])))
    )


@pytest.mark.parametrize("at_once", [2**22, 5])
def test_contributions_are_differences_of_scores(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("markone.model.network.VALUES_AT_ONCE", at_once)
    network = Network(random_layers([9, 12, 3]), "tanh", 3)
    features, values = np.array([8, 1, 4], np.uint32), np.array([0.5, -2.0, 3.0])
    found = network.contributions(features, values, [2, 0], 1)
    x = np.zeros((1, 9), np.float32)
    x[0, features] = values
    whole = network.scores(as_rows(x))[0, [2, 0]]
    np.testing.assert_allclose(found.sums, whole, rtol=1e-6)
    np.testing.assert_allclose(found.bias, network.scores(as_rows(np.zeros((1, 9), np.float32)))[0, [2, 0]])
    for feature, product in zip(features, found.products, strict=True):
        without = x.copy()
        without[0, feature] = 0
        np.testing.assert_allclose(product, whole - network.scores(as_rows(without))[0, [2, 0]], rtol=1e-4, atol=1e-6)
    assert np.isnan(found.weights).all() and found.weights.shape == (3, 2)
    assert abs(found.products.sum(axis=0) + found.bias - found.sums).max() > 0.01
    none = network.contributions(np.zeros(0, np.uint32), np.zeros(0), [0], 1)
    assert none.products.shape == (0, 1) and none.sums == none.bias


# ---- the whole way


TEXTS = ["good film", "bad film", "not good", "not bad", "good", "bad", "film not good", "film not bad"] * 4
LABELS = ["up", "down", "down", "up", "up", "down", "down", "up"] * 4


def test_texts_are_learned_saved_and_loaded(tmp_path: Path) -> None:
    how: dict[str, Any] = {
        "features": {"text": {"words": [1, 1], "weight": "none"}},
        "hidden": (16,),
        "eta": 0.02,
        "epochs": 60,
    }
    model = markone.train(TEXTS, target=LABELS, rule="mlp", holdout=0, **how)
    assert model.predict(["good", "not good", "bad film", "film not bad"]).tolist() == ["up", "down", "down", "up"]
    assert model.probabilities("good").sum() == pytest.approx(1)
    paths = [tmp_path / name for name in ("one.model", "other.model", "final.model")]
    model.save(paths[0])
    markone.train(TEXTS, target=LABELS, rule="mlp", holdout=0, **how).save(paths[1])
    assert paths[0].read_bytes() == paths[1].read_bytes()
    model.save(paths[2], final=True)
    for path in paths:
        np.testing.assert_array_equal(markone.load(path).scores(TEXTS), model.scores(TEXTS))


def test_an_interrupted_training_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    how: dict[str, Any] = {"target": LABELS, "rule": "mlp", "hidden": (8,), "dropout": 0.1, "holdout": 0.2}
    straight = markone.train(TEXTS, **how, epochs=6)
    kept = tmp_path / "kept.model"
    markone.train(TEXTS, **how, epochs=6, checkpoint=kept, callback=lambda result: result.epoch == 3)
    resumed = markone.train(TEXTS, **how, epochs=6, checkpoint=kept, resume=True)
    for model, name in ((straight, "straight"), (resumed, "resumed")):
        model.save(tmp_path / name)
    assert len(resumed.history) == 6
    assert (tmp_path / "straight").read_bytes() == (tmp_path / "resumed").read_bytes()


# ---- the estimator

EXPECTED_FAILURES = dict.fromkeys(
    ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"],
    "batches of rows with weights are other batches than those of their copies; in one batch both are the same, as "
    "test_an_importance_is_a_number_of_copies shows",
)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
@parametrize_with_checks([MLP()], expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_estimator_has_what_scikit_learns_has(digits: tuple[NDArray[Any], ...]) -> None:
    X, y = digits
    for labels in (y, y > 4):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours = MLP((20, 10), max_iter=5).fit(X, labels)
            theirs = MLPClassifier((20, 10), max_iter=5).fit(X, labels)
        assert [w.shape for w in ours.coefs_] == [w.shape for w in theirs.coefs_]
        assert [b.shape for b in ours.intercepts_] == [b.shape for b in theirs.intercepts_]
        assert ours.n_iter_ == theirs.n_iter_ == len(ours.loss_curve_) == 5
        assert ours.loss_ == ours.loss_curve_[-1] < ours.loss_curve_[0]
        p = ours.predict_proba(X[:50])
        assert p.shape == theirs.predict_proba(X[:50]).shape
        np.testing.assert_allclose(p.sum(axis=1), 1)
        np.testing.assert_array_equal(ours.classes_[p.argmax(axis=1)], ours.predict(X[:50]))
    hidden = np.maximum(0, X @ ours.coefs_[0] + ours.intercepts_[0])
    hidden = np.maximum(0, hidden @ ours.coefs_[1] + ours.intercepts_[1])
    by_hand = (hidden @ ours.coefs_[2] + ours.intercepts_[2])[:, 0]
    np.testing.assert_allclose(ours.decision_function(X), by_hand, rtol=1e-3, atol=1e-4)


def test_alpha_is_scikit_learns() -> None:
    X, y = load_iris(return_X_y=True)
    X = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32)
    how: dict[str, Any] = {"alpha": 30.0, "batch_size": 150, "max_iter": 300, "learning_rate_init": 0.01}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = MLP((30,), **how, tol=None).fit(X, y)
        theirs = MLPClassifier((30,), **how, n_iter_no_change=300).fit(X, y)
    sizes = [np.sqrt(sum((w**2).sum() for w in model.coefs_)) for model in (ours, theirs)]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.05)


def test_partial_fit_meets_new_classes(digits: tuple[NDArray[Any], ...]) -> None:
    X, X_test, y, y_test = train_test_split(*digits, random_state=0, stratify=digits[1])
    model = MLP(learning_rate_init=0.005)
    order = np.argsort(y % 4, kind="stable")
    for part in np.array_split(order, 8):
        model.partial_fit(X[part], y[part])
    assert model.classes_.tolist() == list(range(10))
    for seed in range(8):
        mixed = np.random.default_rng(seed).permutation(len(y))
        model.partial_fit(scipy.sparse.csr_array(X[mixed]), y[mixed])
    assert model.score(X_test, y_test) > 0.9
    announced = MLP().partial_fit(X[:5], y[:5], classes=range(10))
    assert announced.coefs_[-1].shape == (128, 10)


def test_warm_start_goes_on(digits: tuple[NDArray[Any], ...]) -> None:
    X, y = digits
    how: dict[str, Any] = {"max_iter": 2, "tol": None, "shuffle": False}
    straight = MLP(**{**how, "max_iter": 4}).fit(X, y)
    model = MLP(**how, warm_start=True).fit(X, y)
    once = model.loss_
    model.fit(X, y)
    assert [w.tobytes() for w in model.coefs_] == [w.tobytes() for w in straight.coefs_]
    # by other settings it goes on from the same weights
    model.set_params(solver="sgd").fit(X, y)
    assert model.loss_ < once
    with pytest.raises(SettingsError, match=r"hidden_layer_sizes is \(7,\) now and was \(128,\) before"):
        model.set_params(hidden_layer_sizes=(7,)).fit(X, y)


def test_class_weight(digits: tuple[NDArray[Any], ...]) -> None:
    X, y = digits
    y = (y == 8).astype(int)
    how: dict[str, Any] = {"max_iter": 3, "tol": None}
    by_class = MLP(class_weight={1: 20}, **how).fit(X, y)
    by_example = MLP(**how).fit(X, y, sample_weight=np.where(y == 1, 20, 1))
    assert by_class.coefs_[0].tobytes() == by_example.coefs_[0].tobytes()
    plain = MLP(**how).fit(X, y)
    assert (by_class.predict(X[y == 1]) == 1).mean() > (plain.predict(X[y == 1]) == 1).mean()


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        ({"hidden_layer_sizes": (1, 2, 3)}, "hidden_layer_sizes must be the sizes of one or two layers"),
        ({"hidden_layer_sizes": (0,)}, "hidden_layer_sizes must be the sizes"),
        ({"hidden_layer_sizes": "many"}, "hidden_layer_sizes must be the sizes"),
        ({"activation": "sigmoid"}, "activation must be one of 'relu', 'tanh', 'logistic', not 'sigmoid'"),
        ({"activation": "rely"}, "Did you mean 'relu'"),
        ({"solver": "lbfgs"}, "solver must be one of 'adam', 'adagrad', 'sgd', not 'lbfgs'"),
        ({"alpha": -1}, "alpha must be a number of at least 0"),
        ({"batch_size": 0}, "batch_size must be a whole number of at least 1"),
        ({"batch_size": "all"}, "batch_size must be 'auto' or a whole number"),
        ({"learning_rate_init": 0}, "learning_rate_init must be a number greater than 0"),
        ({"dropout": 1.0}, "dropout must be a number of at least 0 and less than 1"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1"),
    ],
)
def test_bad_parameters_get_a_sentence(chosen: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        MLP(**chosen).fit([[0.0], [1.0]], [0, 1])


def test_steps_that_are_too_long_get_a_sentence() -> None:
    X = np.array([[1e20, 1], [-1e20, 2], [3e20, 3]])
    with pytest.raises(DataError, match="training diverged"):
        MLP(solver="sgd", learning_rate_init=1e10, max_iter=5).fit(X, [0, 1, 0])


# ---- the core refuses what would lead outside an array


def test_the_core_looks_at_what_it_gets() -> None:
    block = random_block(10)
    network = learner(block, batch=5)
    ends = np.array([5, 10])
    with pytest.raises(ValueError, match="no class"):
        network._teaching.teach(block.rows, block.labels + np.int32(3), None, None, ends)
    with pytest.raises(ValueError, match="order names a row"):
        network._teaching.teach(block.rows, block.labels, None, np.array([10]), np.array([1]))
    with pytest.raises(ValueError, match="outside the visits"):
        network._teaching.teach(block.rows, block.labels, None, None, np.array([5, 11]))
    with pytest.raises(ValueError, match="outside the visits"):
        network._teaching.teach(block.rows, block.labels, None, None, np.array([5, 4]))
    with pytest.raises(ValueError, match="wider"):
        network.learn(random_block(10, features=7))
    with pytest.raises(ValueError, match="wider"):
        network.scores(random_block(10, features=7).rows)
    layers = [np.zeros((6, 8), np.float32), np.zeros((8, 8), np.float32)]
    biases = [np.zeros(8, np.float32), np.zeros(8, np.float32)]
    for widths, weights in (([6, 5, 3], layers), ([6, 5], layers), ([7, 8, 3], layers), ([6, 8, 0], layers)):
        with pytest.raises(ValueError, match="a layer"):
            _core.Network(_core.Bend.relu, widths, weights, biases)
    with pytest.raises(TypeError):
        _core.Network(_core.Bend.relu, [6, 8, 3], [array.astype(np.float64) for array in layers], biases)


# ---- models that go on


def test_a_training_is_resumed_with_the_sizes_said_again(tmp_path: Path) -> None:
    texts, labels = ["a b", "b c", "a a", "c c"] * 4, ["x", "y", "x", "y"] * 4
    how: dict[str, Any] = {"rule": "mlp", "hidden": [4], "holdout": 0.0}
    kept = tmp_path / "kept.model"
    markone.train(texts, target=labels, epochs=2, checkpoint=kept, **how)
    assert len(markone.train(texts, target=labels, epochs=3, resume=kept, **how).history) == 3
    with pytest.raises(SettingsError, match=r"hidden is \(5,\) now and was \(4,\) before"):
        markone.train(texts, target=labels, resume=kept, rule="mlp", hidden=[5])


def test_a_model_learns_on_only_with_the_bend_that_its_weights_are_for() -> None:
    texts, labels = ["a b", "b c", "a a", "c c"] * 4, ["x", "y", "x", "y"] * 4
    model = markone.train(texts, target=labels, rule="mlp", epochs=2)
    assert markone.train(texts, target=labels, from_model=model, activation="relu").settings.activation == "relu"
    with pytest.raises(SettingsError, match="activation is 'tanh', but the model has learned its weights for 'relu'"):
        markone.train(texts, target=labels, from_model=model, activation="tanh")
