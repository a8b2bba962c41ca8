"""Overview: the columns of a source as a small table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markone.data.kinds import decoded, is_list_of_words

EXAMPLES = 3
EXAMPLES_FROM = 60
EXAMPLE_WIDTH = 24
KIND_WIDTH = 60
NAME_WIDTH = 200


@dataclass(frozen=True, slots=True)
class Look:
    """What is shown of a column, from its first rows."""

    name: str
    kind: str
    missing: int | None = None
    examples: str = ""

    @classmethod
    def of(cls, name: str, kind: str, array: Any) -> Look:
        import pyarrow as pa

        missing = array.null_count
        array = decoded(array)
        has_lists = is_list_of_words(array.type)
        can_show = has_lists or not (pa.types.is_nested(array.type) or pa.types.is_null(array.type))
        try:
            values = array.drop_null()[:EXAMPLES_FROM].to_pylist() if can_show else []
        except (
            ValueError,
            OverflowError,
            LookupError,
        ):  # Python does not have all dates and time zones
            values = []
        values = ["; ".join(map(str, value)) for value in values] if has_lists else values
        distinct = list(dict.fromkeys(values))[:EXAMPLES]
        return cls(name, kind, missing, ", ".join(map(shortened, distinct)))


def shortened(value: object, width: int = EXAMPLE_WIDTH) -> str:
    text = str(value)
    if isinstance(value, float):
        text = str(int(value)) if value.is_integer() and abs(value) < 10**width else f"{value:g}"
    line = "".join(c if c.isprintable() else " " for c in text[: width + 1])
    return line if len(line) <= width else line[: width - 1] + "…"


def overview(name: str, looks: Sequence[Look], rows: int | None = None) -> str:
    """The overview as text; `rows` is the number of rows that were examined."""
    if rows is not None:
        name += f", by its first {rows:,} rows" if rows > 1 else ", by its first row"
    lines = [("column", "kind", "", "") if rows is None else ("column", "kind", "missing", "examples")]
    for look in looks:
        missing = "" if look.missing is None else str(look.missing)
        lines.append((shortened(look.name), shortened(look.kind, KIND_WIDTH), missing, look.examples))
    widths = [max(len(line[i]) for line in lines) for i in range(3)]
    table = [f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}  {d}".rstrip() for a, b, c, d in lines]
    return "\n".join([shortened(name, NAME_WIDTH), *table])
