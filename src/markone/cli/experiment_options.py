"""What `markone validate` and `markone compare` share: options, rows to test on, and how a result is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from cyclopts import Parameter

from markone.cli.options import FileName, Number, Reading, WholeNumber, given
from markone.errors import DataError

if TYPE_CHECKING:
    from markone.data.source import Source

Files = Annotated[
    FileName,
    Parameter(help="Files of one format, a pattern, a folder, or - for standard input. Their rows are held in memory."),
]
Target = Annotated[
    str | None, Parameter(help="The column to be predicted. Formats that have labels of their own need none.")
]
Method = Literal["kfold", "holdout", "loo"]
Folds = Annotated[WholeNumber, Parameter(help="How many folds `kfold` has.")]
Repeats = Annotated[
    WholeNumber, Parameter(help="How often `kfold` or `holdout` is done, each time with other divisions.")
]
Share = Annotated[Number, Parameter(help="The share of rows that `holdout` tests.")]
Spec = Annotated[FileName | None, Parameter(help="A file of TOML that says what features are made of the columns.")]
Importance = Annotated[
    str | None,
    Parameter(help="A column that says how much each example counts in learning. In tests all count the same."),
]
Threads = Annotated[
    WholeNumber | None,
    Parameter(help="How many threads make features; as many as there are cores by default. The result is the same."),
]
Memory = Annotated[
    str | None, Parameter(help='How much memory the rows may need: "2 GB"; half of the machine\'s by default.')
]


class Result(Protocol):
    def as_dict(self) -> dict[str, Any]: ...


def open_rows(command: str, data: tuple[str, ...], reading: Reading | None, **how: Any) -> Source:
    from markone.cli.train import open_source

    if not data:
        raise DataError(
            f"there are no data to test on; name a file, as in: markone {command} reviews.csv --target label"
        )
    return open_source(data, None, given(reading), **how)


def show(result: Result, source: Source, *, json: bool, more: dict[str, Any] | None = None) -> None:
    from markone.cli.report import bad_lines, print_json
    from markone.cli.terminal import say

    if json:
        print_json({**result.as_dict(), **(more or {}), "bad_lines": source.bad.count})
        return
    say(str(result))
    bad_lines(source.bad)
