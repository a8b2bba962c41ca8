"""Cases of which the quick tests need only some, because the others take the same ways through the program."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def slow_but(quick: Collection[Any], cases: Iterable[Any]) -> list[Any]:
    """The cases for `parametrize`, all of them slow but these, each of which must be there."""
    cases = [*cases]
    missing = [one for one in quick if one not in cases]
    assert not missing, missing
    return [one if one in quick else slow(one) for one in cases]


def slow(case: Any) -> Any:
    """A case of one or several values, which only the slow tests try."""
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
