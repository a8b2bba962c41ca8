"""What a user may choose about an export, and what comes back from running one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from markone.checks import check_fields, checked, one_of, or_empty
from markone.exporting.interpreter import Answer

Dialect = Literal["duckdb", "sqlite", "postgresql"]
LONGEST_NAME = 60


def identifier(value: Any) -> Any:
    if not isinstance(value, str) or not value.isascii() or not value.isidentifier() or len(value) > LONGEST_NAME:
        raise ValueError(f"must be a name of letters, digits and _, not {value!r:.80}")
    return value


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of the targets."""

    dialect: Dialect | None = checked(None, or_empty(one_of(*get_args(Dialect))))
    """The dialect of SQL; `duckdb` by default."""
    name: str | None = checked(None, or_empty(identifier))
    """The name of the table that SQL reads, `data` by default; or of the C functions, `model` by default."""

    def __post_init__(self) -> None:
        check_fields(self)


class Ran(NamedTuple):
    """The answers of an export for rows, and what ran it."""

    engine: str
    answers: Sequence[Answer]
