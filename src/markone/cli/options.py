"""What an option may hold, where Cyclopts is too generous."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter, Token


def whole_number(_: type, tokens: Sequence[Token]) -> int:
    """Cyclopts would round 1.5 to 2."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"must be a whole number, not {tokens[0].value!r}") from None


WholeNumber = Annotated[int, Parameter(converter=whole_number)]
