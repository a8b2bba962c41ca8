"""States: what a learner keeps to go on from, in a file that may come from anywhere."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.errors import ModelFileError

Arrays = dict[str, NDArray[Any]]

MOST = 2**53
OWED = ("owed_visits", "owed_asked", "owed_asked_area")
"""What grows while weights owe to a penalty, so that its length is not known beforehand."""


def prefixed(prefix: str, arrays: Arrays) -> Arrays:
    return {prefix + name: array for name, array in arrays.items()}


def without_prefix(prefix: str, arrays: Arrays) -> Arrays:
    """Those whose names have the prefix, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def check_forms(state: Arrays, like: Arrays, *, growing: Container[str] = (), unbounded: Container[str] = ()) -> None:
    """That arrays are of the same kind and size as these, but for the length of those that grow, and that all numbers
    are finite, but for those of the unbounded ones, which may be infinite."""
    need(state.keys() == like.keys(), "it has other arrays than it should")
    for name, array in state.items():
        fits = array.ndim == 1 and len(array) > 0 if name in growing else array.shape == like[name].shape
        need(array.dtype == like[name].dtype and fits, f"the array {name} has another form than it should")
        good = not np.isnan(array).any() if name in unbounded else np.isfinite(array).all()
        need(bool(good), f"the array {name} contains NaN or infinity")


def check_in_core(check: Callable[[Arrays], None], state: Arrays) -> None:
    """That the core finds nothing in a state that its loops could not bear."""
    try:
        check(state)
    except ValueError as error:
        need(False, str(error))


def need_no_negative(name: str, array: NDArray[Any]) -> None:
    need(bool((array >= 0).all()), f"the array {name} has negative numbers")


def need(holds: bool, problem: str) -> None:
    if not holds:
        raise damaged(problem)


def damaged(problem: str) -> ModelFileError:
    return ModelFileError(f"what the file has to go on from is damaged: {problem}; start anew")
