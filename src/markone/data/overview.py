"""Overview: the columns of a source as people see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

EXAMPLES = 3
EXAMPLE_WIDTH = 24


@dataclass(frozen=True, slots=True)
class Look:
    """What one sees of a column in its first rows."""

    name: str
    kind: str
    missing: int | None = None
    examples: str = ""

    @classmethod
    def of(cls, name: str, kind: str, array: Any) -> Look:
        distinct = array.drop_null()[: 20 * EXAMPLES].unique()[:EXAMPLES].to_pylist() if can_show(array.type) else []
        return cls(name, kind, array.null_count, ", ".join(map(shortened, distinct)))


def can_show(kind: Any) -> bool:
    import pyarrow as pa

    return not (pa.types.is_nested(kind) or pa.types.is_null(kind) or pa.types.is_dictionary(kind))


def shortened(value: object) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    line = "".join(c if c.isprintable() else " " for c in text)
    return line if len(line) <= EXAMPLE_WIDTH else line[: EXAMPLE_WIDTH - 1] + "…"


def overview(name: str, looks: Sequence[Look], rows: int | None) -> str:
    """A small table."""
    lines = [("column", "kind", "missing", "examples")] if rows is not None else [("column", "kind", "", "")]
    lines += [
        (shortened(look.name), look.kind, "" if look.missing is None else str(look.missing), look.examples)
        for look in looks
    ]
    widths = [max(len(line[i]) for line in lines) for i in range(3)]
    table = [f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}  {d}".rstrip() for a, b, c, d in lines]
    head = name if rows is None else f"{name}, by its first {rows:,} rows" if rows > 1 else f"{name}, by its first row"
    return "\n".join([head, *table])
