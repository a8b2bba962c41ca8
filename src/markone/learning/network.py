"""The multi-layer perceptron: one or two hidden layers, trained with mini-batches.

The core does all arithmetic, each sum in a fixed order. The bits of NumPy's BLAS would depend on the machine, on the
number of threads and on its version; here, the same seed gives the same network everywhere. Only values that are not 0
cost time, in sparse and in dense rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Block, Rows, as_matrix, as_rows
from markone.errors import DataError, SettingsError
from markone.learning.examples import Examples
from markone.learning.learner import CommonLearner, Counted, State, Tally
from markone.learning.states import MOST, check_forms, need, need_no_negative
from markone.model.network import Floats, Network, padded, zeros
from markone.model.settings import NetworkSettings, Settings, with_values

COLUMNS_OF_UNIT = 1 / 16
"""The time for a hidden unit, relative to that for a weight vector of an online rule."""
WEIGHTS, MEANS, SQUARES = "weights", "means", "squares"
REMEMBERED = {"sgd": (), "adagrad": (SQUARES,), "adam": (MEANS, SQUARES)}
"""The numbers that an optimizer stores for each weight."""
USUAL_HIDDEN, HIDDEN_OF_MANY, MANY_FEATURES = (128,), (32,), 2**15
"""For texts, the first layer is nearly the whole network: with a million features, each unit needs 12 MB."""
USUAL_BATCH, SMALLEST_BATCH, ENOUGH_STEPS = 64, 8, 64
"""If there are few rows, batches are smaller, so that a pass makes enough steps. Very small ones are too noisy."""
NEXT_TO_NOTHING = 1e-30
"""A learning rate that is so small that no weight changes, because weights are rounded to 32 bits."""
STEP = ("activation", "optimizer", "eta", "penalty", "strength", "dropout", "batch")
"""The settings that determine a step."""


class Multilayer(CommonLearner):
    """A network that learns, and the state that is needed to resume.

    A step goes against the mean gradient of a batch. If no row of the batch has a feature, the weights of the feature
    do not change or shrink, and Adam counts the steps of each feature separately. The time for a step therefore depends
    only on the features of the batch.
    """

    settings: NetworkSettings
    classes: int

    def __init__(self, settings: Settings, *, features: int, classes: int, dtype: Any = np.float32) -> None:
        """Rows of any `dtype` are converted to 32-bit floats."""
        usual = USUAL_HIDDEN if features <= MANY_FEATURES else HIDDEN_OF_MANY
        given = NetworkSettings.of(settings)
        self.settings = given if given.hidden else with_values(NetworkSettings, {**given.values(), "hidden": usual})
        self.dtype = np.dtype(np.float32)
        self.features = features
        self.classes = classes
        self._steps = 0
        self._starts: tuple[Block, Floats] | None = None
        """A block of rows, and the first weights of its features."""
        self._batch = self.settings.batch or USUAL_BATCH
        self._make_arrays()
        self._ready_to_teach()

    @property
    def _optimizer(self) -> str:
        return self.settings.optimizer

    # ---- learning

    def ready(self, block: Block) -> Block:
        if isinstance(block.rows, _core.SparseRows32 | _core.DenseRows32):
            return block
        matrix = as_matrix(block.matrix, self.dtype)
        return Block(as_rows(matrix), matrix, block.labels, block.importance)

    def begin(self, examples: Examples) -> None:
        self._batch = self.settings.batch or max(SMALLEST_BATCH, min(USUAL_BATCH, examples.rows // ENOUGH_STEPS))

    def learn_pass(self, examples: Examples, epoch: int, skip: int) -> Iterator[tuple[Tally, int]]:
        size = examples.between_looks(max(1, round(self.widths[1] * COLUMNS_OF_UNIT)))
        for block, order in examples.visits(self.settings, epoch, skip):
            ends = self._ends(len(block) if order is None else len(order))
            start = 0
            while len(ends):
                some = max(1, int(ends.searchsorted(start + size, "right")))
                piece = np.arange(start, ends[some - 1]) if order is None else order[start : ends[some - 1]]
                yield self._teach(block, piece, ends[:some] - start), len(piece)
                start, ends = int(ends[some - 1]), ends[some:]
            del block, order  # releases this window before the next one is read

    def learn(self, block: Block, order: NDArray[np.int64] | None = None) -> Tally:
        """Visit all rows of a block, or those in `order`, and return the results."""
        return self._teach(block, order, self._ends(len(block) if order is None else len(order)))

    def _ends(self, visits: int) -> NDArray[np.int64]:
        """Return the ends of the batches. A rest of less than half a batch joins the last one, to avoid a noisy step.

        The ends stay the same if whole batches are skipped.
        """
        batch = self._batch
        whole = np.arange(batch, visits + 1, batch, dtype=np.int64)
        rest = visits - batch * len(whole)
        if len(whole) and 2 * rest < batch:
            whole = whole[:-1]
        return np.append(whole, visits).astype(np.int64)

    def _teach(self, block: Block, order: NDArray[np.int64] | None, ends: NDArray[np.int64]) -> Tally:
        if self.classes < 2:
            return Counted(0, 0, 0.0, 0.0)
        assert isinstance(block.rows, _core.SparseRows32 | _core.DenseRows32)  # `ready` has converted it
        tally = self._teaching.teach(block.rows, block.labels, block.importance, order, ends)
        self._steps = self._teaching.steps
        return tally

    # ---- using

    def scores(self, rows: Rows, averaged: bool | None = None) -> Floats:
        return self._network.scores(rows)

    def norm2(self) -> float:
        arrays = [array for layer in self._tables[WEIGHTS] for array in layer]
        return sum(_core.sum(np.square(array, dtype=np.float64).ravel()) for array in arrays)

    def layers(self) -> list[tuple[Floats, Floats]]:
        """Return the weights, inputs × outputs, and the bias of each layer."""
        return [
            (w[:, :width].copy(), b[:width].copy())
            for (w, b), width in zip(self._tables[WEIGHTS], self.widths[1:], strict=True)
        ]

    def scorer(self) -> Network:
        return Network(self.layers(), self.settings.activation, self.classes)

    def start_of(self, block: Block) -> Floats:
        """Return the first weights, in the first layer, of the features of these rows."""
        twin = Multilayer(self.settings, features=self.features, classes=self.classes)
        twin._ready_to_teach(eta=NEXT_TO_NOTHING)
        twin._teach(block, None, np.array([len(block)], np.int64))
        return twin.layers()[0][0]

    def judge(self, block: Block) -> Network:
        """Return the current network. Features that have not occurred yet get their first weights."""
        if self._starts is None or self._starts[0] is not block:
            self._starts = block, self.start_of(block)
        start = self._starts[1]
        (weights, bias), *upper = self.layers()
        fresh = self._met == 0
        weights[fresh] = start[fresh]
        return Network([(weights, bias), *upper], self.settings.activation, self.classes)

    # ---- state

    def get_state(self) -> State:
        state: State = {"met": self._met.copy(), "steps": np.array([self._steps], np.uint64)}
        for name, array, width in self._arrays():
            state[name] = array[..., :width].copy()
        return state

    def set_state(self, state: State) -> None:
        self._met = np.array(state["met"])
        self._steps = int(state["steps"][0])
        for name, array, width in self._arrays():
            array[..., :width] = state[name]
        self._ready_to_teach()

    def check_state(self, state: State) -> None:
        check_forms(state, self.get_state())
        for name, array in state.items():
            if name.startswith(SQUARES):
                need_no_negative(name, array)
        need(int(state["steps"][0]) <= MOST, "its number of steps is too large")
        need(bool(state["met"].max(initial=0) <= state["steps"][0]), "a feature was in more batches than there were")

    def _arrays(self) -> Iterator[tuple[str, Floats, int]]:
        """Return each array of floats that training changes: its name, the array, and its columns without padding."""
        for kind, layers in self._tables.items():
            for number, (layer, width) in enumerate(zip(layers, self.widths[1:], strict=True)):
                for what, array in zip(("", "_bias"), layer, strict=True):
                    yield f"{kind}{what}{number}", array, width

    def _make_arrays(self) -> None:
        self.widths = [self.features, *self.settings.hidden, self.columns]
        self._met = np.zeros(self.features, np.uint32)
        self._tables = {WEIGHTS: [self._first_weights(layer) for layer in range(len(self.widths) - 1)]}
        for kind in REMEMBERED[self._optimizer]:
            self._tables[kind] = [(zeros(*w.shape), zeros(*b.shape)) for w, b in self._tables[WEIGHTS]]

    def _ready_to_teach(self, eta: float | None = None) -> None:
        """Pass the arrays to the core."""
        eta = self.settings.eta if eta is None else eta
        bend = _core.Bend[self.settings.activation]

        def both(kind: str) -> tuple[list[Floats], list[Floats]]:
            layers = self._tables.get(kind, [])
            return [weights for weights, _ in layers], [bias for _, bias in layers]

        weights, biases = both(WEIGHTS)
        means, mean_biases = both(MEANS)
        squares, square_biases = both(SQUARES)
        self._network = _core.Network(bend, self.widths, weights, biases)
        self._teaching = _core.Teaching(
            bend=bend,
            widths=self.widths,
            weights=weights,
            biases=biases,
            means=means,
            mean_biases=mean_biases,
            squares=squares,
            square_biases=square_biases,
            met=self._met,
            steps=self._steps,
            optimizer=_core.Optimizer[self._optimizer],
            eta=float(eta),
            strength=float(self.settings.strength) if self.settings.penalty == "l2" else 0.0,
            dropout=float(self.settings.dropout),
            seed=int(np.random.SeedSequence([self.settings.seed, 2]).generate_state(1, np.uint64)[0]),
            bound=float(self._bound(0)),
        )

    def _first_weights(self, layer: int) -> tuple[Floats, Floats]:
        """Return random weights and a bias of 0.

        The weights of a feature stay 0 until it occurs, so that unknown features are ignored.
        """
        inputs, outputs = self.widths[layer : layer + 2]
        weights = zeros(inputs, padded(outputs))
        if layer > 0:
            random = np.random.default_rng([self.settings.seed, 2, layer])
            bound = self._bound(layer)
            weights[:, :outputs] = random.random((inputs, outputs), np.float32) * (2 * bound) - bound
        return weights, zeros(padded(outputs))

    def _bound(self, layer: int) -> np.float32:
        """Return the largest first weight of a layer, so that sums neither vanish nor explode from layer to layer.

        It follows He et al. (2015) for inputs of a relu, and Glorot and Bengio (2010) otherwise.
        """
        inputs, outputs = self.widths[layer : layer + 2]
        into_relu = self.settings.activation == "relu" and layer < len(self.widths) - 2
        return np.float32(np.sqrt(6 / max(1, inputs if into_relu else inputs + outputs)))

    # ---- starting from other weights

    def start_at(self, layers: Sequence[tuple[Floats, Floats]], places: NDArray[np.int64] | None = None) -> None:
        """Set the first weights. Feature i of these layers is feature `places[i]` here."""
        found = [weights.shape for weights, _ in layers]
        (features, units), *others = found
        if [units, *(shape[1] for shape in others)] != self.widths[1:] or features > self.features:
            raise DataError(
                f"a network with hidden layers of {[shape[1] for shape in found[:-1]]} units cannot start from layers "
                f"of the shapes {found}"
            )
        rows = np.arange(features) if places is None else places
        (weights, bias), *upper = self._tables[WEIGHTS]
        weights[rows, :units], bias[:units] = layers[0]
        for (weights, bias), (from_weights, from_bias) in zip(upper, layers[1:], strict=True):
            weights[:, : len(from_bias)], bias[: len(from_bias)] = from_weights, from_bias
        self._met[rows] = (layers[0][0] != 0).any(axis=1)
        self._steps = 1
        self._ready_to_teach()

    def with_settings(self, settings: Settings) -> Multilayer:
        """Return a learner that continues with other settings. If they change a step, the optimizer starts again."""
        fresh = Multilayer(settings, features=self.features, classes=self.classes)
        if fresh.settings.hidden != self.settings.hidden:
            raise SettingsError(
                "hidden",
                f"is {fresh.settings.hidden} now and was {self.settings.hidden} before; a network can only continue "
                "with the same layers",
            )
        if all(getattr(fresh.settings, name) == getattr(self.settings, name) for name in STEP):
            fresh.set_state(self.get_state())
        else:
            met = self._met > 0
            fresh.start_at(self.layers())
            fresh._met[:] = met
        return fresh

    def grown_from(self, scorer: Network, moved: NDArray[np.int64], places: list[int]) -> Multilayer:
        learner = Multilayer(self.settings, features=self.features, classes=scorer.classes)
        learner.start_at(scorer.layers, moved)
        learner.grow(features=self.features, classes=self.classes, places=places)
        return learner

    def grow(self, *, features: int, classes: int, places: list[int]) -> None:
        """Make room for new features and classes: class k moves to `places[k]`."""
        before, widths = self._tables, self.widths
        met, old_columns = self._met, self.columns
        self.features, self.classes = features, classes
        self._make_arrays()
        self._met[: len(met)] = met
        columns = np.array([0] if self.columns == 1 else places if old_columns > 1 else places[1:], np.int64)
        for kind, layers in self._tables.items():
            for number, ((weights, bias), (old_weights, old_bias)) in enumerate(zip(layers, before[kind], strict=True)):
                last = number == len(layers) - 1
                to = columns if last else np.arange(widths[number + 1])
                weights[: len(old_weights), to] = old_weights[:, : len(to)]
                bias[to] = old_bias[: len(to)]
                if last and kind == WEIGHTS and self.columns > old_columns == 1:
                    weights[:, places[0]] = 0  # the single score belonged to the second class; the first has 0
        self._ready_to_teach()

    def __getstate__(self) -> dict[str, Any]:
        return {
            "settings": self.settings,
            "features": self.features,
            "classes": self.classes,
            "batch": self._batch,
            "state": self.get_state(),
        }

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__init__(saved["settings"], features=saved["features"], classes=saved["classes"])  # type: ignore[misc]
        self._batch = saved["batch"]
        self.set_state(saved["state"])
