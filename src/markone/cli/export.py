"""`markone export`: writes a linear model in a form that works without Markone."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from markone.cli.options import FileName, Flag, Reading, given
from markone.cli.shared_options import Json, ModelFile, Quiet
from markone.errors import SettingsError


def export(
    model: ModelFile,
    /,
    *,
    to: Literal["json", "js", "sql", "c", "onnx"] | None = None,
    out: Annotated[FileName | None, Parameter(name=["--out", "-o"])] = None,
    sample: FileName | None = None,
    dialect: Literal["duckdb", "sqlite", "postgresql"] | None = None,
    name: str | None = None,
    overwrite: Flag = False,
    json: Json = False,
    quiet: Quiet = False,
    reading: Reading | None = None,
) -> None:
    """Write a linear model in a form that works without Markone: as SQL, JavaScript, C, ONNX or JSON.

    Before the file is written, it is run on sample rows. It must give the labels of the model, and its scores within
    0.000001; otherwise nothing is written, and the error names the feature that is the reason. If nothing on this
    machine can run the file, the report says so.

    For example:

    `markone export reviews.model --to js`

    `markone export reviews.model -o reviews.json --sample new.csv`

    Parameters
    ----------
    to
        json: a document that people can read, with a documented schema. js: one module without dependencies, for
        browsers and Node. sql: a table of weights and one query. c: one header of C99. onnx: a graph for ONNX Runtime
        and others, for tables of numbers and categories. By default, the ending of --out says it.
    out
        The file to write. It appears when it is complete. The default is the name of the model, with the ending of the
        target.
    sample
        A file with rows for the check, which is read like the training data. By default, rows are made from what the
        model knows.
    dialect
        The dialect of SQL; by default duckdb.
    name
        The name of the table that the SQL query reads, by default `data`; or the beginning of the names in C, by
        default `model`.
    overwrite
        Replace a file that exists already.
    """
    from markone.cli.models import check_kind
    from markone.cli.output import check_not_read
    from markone.cli.reading import open_data
    from markone.cli.terminal import say
    from markone.exporting.targets import path_for
    from markone.model.model import load

    if sample is None and given(reading):
        raise SettingsError(next(iter(given(reading))), "is only for reading --sample; leave it out, or give a sample")
    check_kind(model, "classifier", "use")
    path = path_for(model, to) if out is None else out
    check_not_read(path, model, sample)
    loaded = load(model)
    rows = None if sample is None else open_data(sample, loaded, given(reading))
    report = loaded.export(path, to=to, sample=rows, dialect=dialect, name=name, overwrite=overwrite)
    if json:
        from markone.cli.report import print_json

        print_json(report.as_dict())
    elif not quiet:
        say(report)
