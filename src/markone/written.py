"""Values and labels as text, for files, tables and messages."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any


def written(label: Any) -> str:
    """A label as text, for files, tables and messages."""
    return str(word(label))


def word(value: Any) -> str | None:
    """A value as text; whole numbers of any type are written as digits without a decimal point.

    >>> word(2e16), word(Decimal("2.00")), word(Decimal("2.50")), word(2.5), word(True)
    ('20000000000000000', '2', '2.5', '2.5', 'true')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return str(int(value)) if value == int(value) else f"{value.normalize():f}"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else None if math.isnan(value) else repr(value)
    return str(value)
