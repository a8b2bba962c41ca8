"""`markone audit`: finds labels that are probably wrong, and repeated rows."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Literal

from cyclopts import Parameter

from markone.cli.options import FileName, Reading, WholeNumber, given
from markone.cli.shared_options import (
    HeldFiles,
    Importance,
    Json,
    Memory,
    NoProgress,
    Out,
    Plain,
    Spec,
    Target,
    Threads,
)
from markone.errors import SettingsError
from markone.model.rules import Rule


def audit(
    *data: HeldFiles,
    target: Target = None,
    against: FileName | None = None,
    rule: Annotated[Rule | None, Parameter(help="The rule that judges the labels. By default that of train.")] = None,
    features: Spec = None,
    plain: Plain = False,
    importance: Importance = None,
    folds: WholeNumber = 3,
    seed: WholeNumber = 0,
    out: Out = None,
    output: Literal["csv", "jsonl"] | None = None,
    threads: Threads = None,
    memory: Memory = None,
    json: Json = False,
    quiet: NoProgress = False,
    reading: Reading | None = None,
) -> None:
    """Find labels that are probably wrong, and rows that are the same or nearly the same.

    Each label is judged by models that were trained on other rows: a label that loses clearly against another one is
    probably wrong. The most doubtful labels come first. Rows that are the same, or texts that are nearly the same, are
    found among the training rows, and with --against in a test file, too.

    For example:

    `markone audit reviews.csv --target label`

    `markone audit reviews.csv --target label --against test.csv`

    `markone audit reviews.csv --target label -o findings.csv`

    Parameters
    ----------
    against
        A test file in the same format, with or without labels. Its rows that are the same or nearly the same as a
        training row are shown, too.
    folds
        The number of folds. Each row is judged by a model that was trained on the other folds.
    seed
        The seed of all random choices.
    out
        Also write all findings to this file. It appears when it is complete.
    output
        The format of this file: csv or jsonl (JSON lines). By default, its name decides.
    """
    from markone.cli.output import check_not_read, opened, output_format
    from markone.cli.progress import wished
    from markone.cli.reading import open_like, open_rows
    from markone.cli.report import bad_lines, show
    from markone.experiments.auditing import audit as look
    from markone.experiments.findings import Finding
    from markone.model.writing import table_lines

    check_not_read(out, *data, against, features)
    if output is not None and out is None:
        raise SettingsError("output", "is the format of a file; name the file, too: -o findings.csv")
    format = None if out is None else output_format(output, out, more=True)
    source = open_rows("audit", data, reading, target=target, importance=importance, threads=threads)
    tests = None if against is None else open_like(against, source, given(reading), threads)
    found = look(
        source,
        against=tests,
        rule=rule,
        features=features,
        plain=plain,
        folds=folds,
        seed=seed,
        threads=threads,
        memory=memory,
        progress=wished(quiet=quiet),
    )
    if out is not None and format is not None:
        names = [field.name for field in fields(Finding)]
        with opened(out) as write:
            write(table_lines(format, names, [one.as_dict() for one in found.findings]))
    show(found, source, json=json)
    if tests is not None:
        bad_lines(tests.bad)
