"""`markone inspect`: shows the columns of data before training, and warns about common problems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from markone.cli.options import Reading, given
from markone.cli.shared_options import Files, Json, Target, Threads


def inspect(
    *data: Files, target: Target = None, threads: Threads = None, json: Json = False, reading: Reading | None = None
) -> None:
    """Show the columns of data, what is made of them, and what may be wrong.

    Each column is shown with its kind, the reason for this kind, the number of missing and of different values, some
    examples, and what becomes of it. Warnings follow: ids, constant columns, copies of other columns, columns that give
    the target away, a target that is no class, rare classes, equal rows with different labels, and a separator or a
    header that may be wrong. At most 50,000 rows are read.

    For example:

    `markone inspect reviews.csv`

    `markone inspect reviews.csv --target label`

    `markone inspect reviews.csv --target label --kinds text=categorical --json`
    """
    from markone.cli.app import options_of
    from markone.cli.messages import as_option
    from markone.cli.reading import check_given
    from markone.cli.report import print_json
    from markone.cli.terminal import say
    from markone.experiments.inspecting import inspect as look

    check_given("inspect", data)
    what: Any = data[0] if len(data) == 1 else [Path(name) for name in data]
    found = look(what, target=target, threads=threads, **given(reading))
    if json:
        print_json(found.as_dict())
        return
    say("\n".join(found.lines(lambda setting: as_option(options_of("inspect"), setting))))
