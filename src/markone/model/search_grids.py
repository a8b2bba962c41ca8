"""The settings that tuning tries for each rule. The defaults come first: the first of equally good ones is chosen."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markone.model.settings import Settings

Choice = dict[str, Any]

C_OF_MIRA = (0.3, 0.01, 0.03, 0.1, 1.0, 3.0)
C_OF_SVM = (1.0, 0.01, 0.03, 0.1, 0.3, 3.0, 10.0)
K = (1.0, 0.01, 0.03, 0.1, 0.3, 3.0)
ALPHA = (0.5, 0.8, 0.9, 0.99)
ETA = (1.0, 0.03, 0.1, 0.3, 3.0)
PENALTIES: tuple[Choice, ...] = (
    {},
    *({"penalty": "l2", "strength": strength} for strength in (1e-6, 1e-5, 1e-4)),
    *({"penalty": "l1", "strength": strength} for strength in (1e-6, 1e-5)),
)
STRENGTHS = (1e-4, 0.0, 1e-6, 1e-5, 1e-3, 1e-2)
"""These are tried after the default, which depends on the rows."""
HIDDEN = ((32,), (64, 64), (256,))
ETA_TIMES = (1.0, 0.3, 3.0)
RIVALS: dict[str, tuple[Choice, ...]] = {
    "mira": ({}, {"C": 0.03}),
    "logistic": ({}, {"strength": 1e-4}, {"strength": 1e-2}),
    "svm": ({}, {"C": 0.1}),
    "hinge": ({},),
    "mlp": ({}, {"eta": 0.003}),
}
"""The rules and settings that tuning tries if no rule is given."""


def nothing(usual: Settings) -> Iterator[Choice]:
    """Vary no setting."""
    yield {}


def caps(usual: Settings) -> Iterator[Choice]:
    """Vary the longest step of `mira`."""
    return ({"C": C} for C in C_OF_MIRA)


def costs(usual: Settings) -> Iterator[Choice]:
    """Vary the cost of mistakes of the `svm`."""
    return ({"C": C} for C in C_OF_SVM)


def rates(usual: Settings) -> Iterator[Choice]:
    """Vary learning rates and penalties. If the default rate depends on the rows, it comes first."""
    if usual.eta is None:
        yield {}
    yield from ({"eta": eta, **penalty} for penalty, eta in product(PENALTIES, ETA))


def strengths(usual: Settings) -> Iterator[Choice]:
    """Vary the strength of the penalty."""
    yield {}
    yield from ({"strength": strength} for strength in STRENGTHS)


def smoothings(usual: Settings) -> Iterator[Choice]:
    """Vary the smoothing of counts."""
    yield from ({"k": k} for k in K)
    yield from ({"alpha": alpha} for alpha in ALPHA)


def sizes_and_rates(usual: Settings) -> Iterator[Choice]:
    """Vary hidden layers and learning rates."""
    eta = usual.eta or 0.001
    sizes: list[Choice] = [{}, *({"hidden": hidden} for hidden in HIDDEN)]
    return ({**size, "eta": eta * times} for size, times in product(sizes, ETA_TIMES))
