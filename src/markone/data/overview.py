"""Overview: the columns of a source as a small table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markone.data.kinds import decoded, is_list_of_words
from markone.reporting.grids import Grid
from markone.reporting.shown import Content

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


@dataclass(frozen=True, slots=True)
class Overview:
    """The columns of a source. `rows` is the number of rows that were examined."""

    name: str
    looks: Sequence[Look]
    rows: int | None = None

    def title(self) -> str:
        if self.rows is None:
            return shortened(self.name, NAME_WIDTH)
        first = f"{self.rows:,} rows" if self.rows > 1 else "row"
        return shortened(f"{self.name}, by its first {first}", NAME_WIDTH)

    def lines(self) -> list[tuple[str, str, str, str]]:
        lines = [("column", "kind", "", "") if self.rows is None else ("column", "kind", "missing", "examples")]
        for look in self.looks:
            missing = "" if look.missing is None else str(look.missing)
            lines.append((shortened(look.name), shortened(look.kind, KIND_WIDTH), missing, look.examples))
        return lines

    def __str__(self) -> str:
        lines = self.lines()
        widths = [max(len(line[i]) for line in lines) for i in range(3)]
        table = [f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}  {d}".rstrip() for a, b, c, d in lines]
        return "\n".join([self.title(), *table])

    def parts(self) -> Iterator[Content]:
        yield self.title()
        head, *rows = (list(line if self.rows is not None else line[:2]) for line in self.lines())
        yield Grid([head], rows, words=(0, 1, 3))
