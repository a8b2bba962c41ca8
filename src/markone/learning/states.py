"""Checks the saved states of learners, which may come from damaged files."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.errors import ModelFileError

Arrays = dict[str, NDArray[Any]]

MOST = 2**53
OWED = ("owed_visits", "owed_asked", "owed_asked_area")
"""The arrays of delayed penalties, whose length changes during training."""


def prefixed(prefix: str, arrays: Arrays) -> Arrays:
    return {prefix + name: array for name, array in arrays.items()}


def without_prefix(prefix: str, arrays: Arrays) -> Arrays:
    """Return the arrays whose names have the prefix, under their names without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def check_forms(state: Arrays, like: Arrays, *, growing: Container[str] = (), unbounded: Container[str] = ()) -> None:
    """Raise an error if arrays differ from `like` in type or shape, or contain NaN or infinity.

    Arrays in `growing` may have another length, and arrays in `unbounded` may contain infinity.
    """
    need(state.keys() == like.keys(), "it has the wrong arrays")
    for name, array in state.items():
        fits = array.ndim == 1 and len(array) > 0 if name in growing else array.shape == like[name].shape
        need(array.dtype == like[name].dtype and fits, f"the array {name} has the wrong type or shape")
        good = not np.isnan(array).any() if name in unbounded else np.isfinite(array).all()
        need(bool(good), f"the array {name} contains NaN or infinity")


def check_in_core(check: Callable[[Arrays], None], state: Arrays) -> None:
    """Raise an error if the core rejects a state."""
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
    return ModelFileError(f"the training state in the file is damaged: {problem}; start a new training")
