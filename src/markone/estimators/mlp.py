"""The multi-layer perceptron with scikit-learn's interface."""

from __future__ import annotations

from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from markone.errors import SettingsError
from markone.estimators.base import one_of, plain_number
from markone.estimators.probabilities import ProbabilisticClassifier
from markone.learning.network import USUAL_BATCH, Multilayer

ACTIVATIONS = {"relu": "relu", "tanh": "tanh", "logistic": "sigmoid"}
SOLVERS = ("adam", "adagrad", "sgd")


class MLP(ProbabilisticClassifier):
    """The multi-layer perceptron: one or two hidden layers and a softmax, trained with mini-batches.

    It can replace `sklearn.neural_network.MLPClassifier`. It always computes with 32-bit floats. Sparse rows stay
    sparse, and zeros cost no time.

    Parameters
    ----------
    hidden_layer_sizes
        The sizes of the hidden layers, one or two.
    activation
        The activation function of the hidden units: "relu", "tanh" or "logistic".
    solver
        The optimizer: "adam", "adagrad" or "sgd" (without momentum).
    alpha
        The strength of the l2 penalty, as in scikit-learn: alpha / 2 times the squared weights, once for each batch,
        not for each row. Features that do not occur in the batch have no penalty.
    batch_size
        The number of rows of a mini-batch; "auto" means 64.
    learning_rate_init
        The learning rate. None means 0.001 for "adam", 0.05 for "adagrad" and 0.1 for "sgd".
    max_iter, tol, n_iter_no_change
        Stop after `max_iter` passes or, if `tol` is given, when the loss (with `early_stopping` the held-out accuracy)
        has not improved by `tol` in `n_iter_no_change` passes.
    dropout
        The share of hidden units that are randomly left out at each training step.
    shuffle, random_state, early_stopping, validation_fraction, class_weight, warm_start, verbose
        As for `Perceptron`.

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> model = MLP((8,), solver="adagrad", learning_rate_init=0.5, max_iter=200, tol=None).fit(X, y)
    >>> model.predict(X).tolist()
    [0, 1, 1, 0]
    """

    words: ClassVar[dict[str, str]] = {
        **ProbabilisticClassifier.words,
        "hidden": "hidden_layer_sizes",
        "optimizer": "solver",
        "eta": "learning_rate_init",
        "batch": "batch_size",
    }

    hidden_layer_sizes: Any
    activation: str
    solver: str
    alpha: float
    batch_size: Any
    learning_rate_init: float | None
    dropout: float

    def __init__(
        self,
        hidden_layer_sizes: Any = (128,),
        activation: str = "relu",
        *,
        solver: str = "adam",
        alpha: float = 1e-4,
        batch_size: Any = "auto",
        learning_rate_init: float | None = None,
        max_iter: int = 200,
        shuffle: bool = True,
        random_state: Any = 0,
        tol: float | None = 1e-4,
        verbose: int = 0,
        warm_start: bool = False,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        dropout: float = 0.0,
        class_weight: Any = None,
    ) -> None:
        self._keep(locals())

    def _all_settings(self, importance: float | None) -> dict[str, Any]:
        batch = plain_number(self.batch_size)
        if batch == "auto":
            batch = USUAL_BATCH
        alpha = plain_number(self.alpha)
        if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 0 <= alpha < np.inf:
            raise SettingsError("alpha", f"must be a number of at least 0, not {self.alpha!r}")
        if not isinstance(batch, int):
            raise SettingsError("batch_size", f"must be 'auto' or a whole number, not {self.batch_size!r}")
        return {
            **self._pass_settings(),
            "rule": "mlp",
            "hidden": sizes_of(self.hidden_layer_sizes),
            "activation": ACTIVATIONS[one_of("activation", self.activation, ACTIVATIONS)],
            "optimizer": one_of("solver", self.solver, SOLVERS),
            "eta": self.learning_rate_init,
            "penalty": "l2" if alpha > 0 else None,
            "strength": alpha / max(1, batch),
            "batch": batch,
            "dropout": self.dropout,
        }

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
    ) -> Self:
        """Learn from the rows of X and their labels y.

        With `early_stopping`, held-out accuracy is measured on `X_val` and `y_val` if they are given, else on a
        share `validation_fraction` of the rows, taken at random.
        """
        return self._fit(X, y, sample_weight, X_val, y_val)

    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Train on more rows, once each, in the given order.

        Unlike in scikit-learn, every call may contain new labels. `classes` lists the classes that are already known.
        Parameters that change after the first call have no effect.
        """
        return self._partial_fit(X, y, classes, sample_weight)

    # ---- using

    @property
    def coefs_(self) -> list[NDArray[np.float32]]:
        """The weights of each layer, inputs × outputs."""
        return [weights for weights, _ in self._layers()]

    @property
    def intercepts_(self) -> list[NDArray[np.float32]]:
        """The biases of each layer."""
        return [bias for _, bias in self._layers()]

    @property
    def loss_curve_(self) -> list[float]:
        """The mean loss of each pass, without the penalty."""
        self._need("loss_curve_")
        return [one.loss for one in self.history_ if one.loss is not None]

    @property
    def loss_(self) -> float:
        """The mean loss of the last pass."""
        return self.loss_curve_[-1]

    def _layers(self) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        self._need("coefs_")
        with self._turns:
            return cast(Multilayer, self._learner).layers()

    def _need(self, name: str) -> None:
        if "_learner" not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} has no {name} before fit or partial_fit")


def sizes_of(sizes: Any) -> Any:
    """Return the sizes of layers as a tuple of Python numbers, or without changes if they are not sizes."""
    if isinstance(sizes, np.ndarray | list | tuple):
        return tuple(plain_number(size) for size in np.asarray(sizes).reshape(-1))
    return plain_number(sizes)
