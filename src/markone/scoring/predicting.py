"""Predictions for many files, each of which becomes a part: by threads, or on the workers of a cluster."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal

from markone.addresses import is_address
from markone.checks import check_named, switch
from markone.cluster.engine import Engine, Threads, in_turn
from markone.cluster.engines import opened
from markone.data.finding import find_each, format_of
from markone.data.read import read
from markone.data.source import Source
from markone.data.strings import Strings
from markone.errors import DataError, NoDataError, SettingsError
from markone.extras import need
from markone.features.examples import completed
from markone.model.model import Model, load
from markone.model.writing import in_csv, make_writer
from markone.parallel import count_threads
from markone.scoring.report import PartsReport
from markone.storage.atomic import writing
from markone.storage.result_folder import begin_or_resume, states_of

Output = Literal["parquet", "jsonl", "csv", "labels"]
OUTPUTS: dict[str, str] = {"parquet": ".parquet", "jsonl": ".jsonl", "csv": ".csv", "labels": ".txt"}
"""The formats of parts, and how their names end."""
MANIFEST = "parts.journal"
Seen = Callable[[int, float], None]
"""A function that gets the number of rows so far, and the share of the files."""


def predict_files(
    model: Model | str | os.PathLike[str],
    files: str | Sequence[str],
    out: str | os.PathLike[str],
    *,
    output: Output = "parquet",
    keep: Sequence[str] | str = (),
    scores: bool = False,
    probabilities: bool = False,
    reading: Mapping[str, Any] | None = None,
    cluster: Any = None,
    threads: int | None = None,
    seen: Seen | None = None,
) -> PartsReport:
    """Predict the rows of many files. The predictions for each file are written to a part with the file's number.

    If the same predictions are started again after they were interrupted or killed, the parts that are there are not
    made again: each appears when it is complete.

    Parameters
    ----------
    model
        A classifier, or its path.
    files
        Paths, patterns such as `crawl/*.parquet`, folders, or addresses such as `s3://bucket/crawl/*.parquet`. Part 17
        has the predictions for file 17, from 0.
    out
        The folder to write to. It is made if it is not there. On a cluster, all workers must see it.
    output
        The format of the parts: "parquet", "jsonl", "csv", or "labels" for one label per line.
    keep
        Columns to copy to the output before the prediction, or "all".
    scores
        Whether to write the score of each class as well.
    probabilities
        Whether to write the probability of each class as well.
    reading
        Options of `markone.read` for the files; by default those of the training data.
    cluster
        The address of a Dask scheduler such as "tcp://host:8786", a `dask.distributed.Client`, the address of a Ray
        cluster such as "ray://host:10001", or the module `ray`. By default the work is done by threads of this process.
    threads
        The number of threads without a cluster; by default, the number of cores. The result is the same.
    seen
        A function that is called with the number of rows so far, and the share of the files.

    Examples
    --------
    >>> import markone, pathlib, tempfile
    >>> model = markone.train(["good text", "bad spam"], target=["good", "bad"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for number, text in enumerate(["a good text", "bad, bad"]):
    ...         _ = pathlib.Path(folder, f"crawl{number}.jsonl").write_text(f'{{"text": "{text}"}}\\n')
    ...     report = markone.predict_files(model, folder + "/crawl*.jsonl", folder + "/out", output="labels")
    ...     pathlib.Path(report.files[1]).name, pathlib.Path(report.files[1]).read_text()
    ('part-00001.txt', 'bad\\n')
    """
    if output not in OUTPUTS:
        raise SettingsError("output", f"must be one of {', '.join(OUTPUTS)}, not {output!r}")
    for name, value in (("scores", scores), ("probabilities", probabilities)):
        check_named(name, switch, value)
    if output == "parquet":
        need("pyarrow")
    if output == "labels" and (keep or scores or probabilities):
        raise SettingsError("output", "must be parquet, csv or jsonl to write columns or scores, not 'labels'")
    if not isinstance(model, Model):
        model = load(model)
    if scores and model.predicts_numbers:
        raise SettingsError("scores", "are those of classes, and this model predicts numbers; leave it out")
    if probabilities:
        model.check_probabilities()
    paths = [path if is_address(path) else os.path.abspath(path) for path in found(files)]
    options = usual_reading(model, paths[0]) if reading is None else dict(reading)
    if output != "parquet":
        make_writer(output, model, scores=scores, probabilities=probabilities)  # an error now and not later
    kept = keep if isinstance(keep, str) else list(keep)
    what = Answers(options, output, kept, scores, probabilities)
    folder = os.path.abspath(os.fspath(out))
    asked = {"model": model.digest, "files": states_of(paths), **asdict(what)}
    begin_or_resume(folder, MANIFEST, "predictions", asked)
    start = time.perf_counter()
    names = [os.path.join(folder, f"part-{number:05}{OUTPUTS[output]}") for number in range(len(paths))]
    missing = [number for number, name in enumerate(names) if not os.path.exists(name)]
    report = PartsReport(names, len(names) - len(missing))
    if missing:
        with engine_for(cluster, count_threads(threads), model, [*paths, os.path.join(folder, MANIFEST)]) as engine:
            report.workers = engine.workers()
            for rows in parts(engine, model, [(paths[number], names[number]) for number in missing], what):
                report.rows += rows
                report.made += 1
                if seen is not None:
                    seen(report.rows, (report.before + report.made) / len(names))
    report.seconds = time.perf_counter() - start
    if absent := [name for name in names if not os.path.exists(name)]:
        raise DataError(
            f"{absent[0]} was written by a worker, but is not here",
            advice="the folder must be the same on all machines, as on a shared disk",
        )
    return report


@dataclass(frozen=True)
class Answers:
    """What is read and written."""

    reading: dict[str, Any]
    output: Output
    keep: list[str] | str
    scores: bool
    probabilities: bool


@contextmanager
def engine_for(cluster: Any, threads: int, model: Model, files: Sequence[str]) -> Iterator[Engine]:
    if cluster is not None:
        with opened(cluster, files, model.features.spec.functions) as engine:
            yield engine
        return
    with Threads(threads) as engine:
        yield engine


def parts(engine: Engine, model: Model, files: Sequence[tuple[str, str]], what: Answers) -> Iterator[int]:
    """Make the part of each file, and yield the numbers of their rows."""
    sent = engine.put(model)
    yield from in_turn(engine, make_part, ((sent, path, name, what) for path, name in files))
    engine.free([sent])


def make_part(model: Model, path: str, name: str, what: Answers) -> int:
    """Predict the rows of a file, write them, and return how many there are."""
    try:
        source: Source | None = completed(
            read(path, once=True, threads=1, keep=what.keep, **what.reading), model.features.columns
        )
    except NoDataError:  # an empty file has no predictions
        source = None
    rows = 0
    write = write_parquet if what.output == "parquet" else write_lines
    with writing(name) as file:
        for size in write(file, model, source, what):
            rows += size
    return rows


def write_lines(file: Any, model: Model, source: Source | None, what: Answers) -> Iterator[int]:
    writer = make_writer(what.output, model, scores=what.scores, probabilities=what.probabilities)
    for batch, winners, scores in () if source is None else model.answers(source, threads=1):
        file.write(writer.lines(batch.kept, winners, scores))
        yield len(batch)


def write_parquet(file: Any, model: Model, source: Source | None, what: Answers) -> Iterator[int]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from markone.model.arrow import answer_columns, score_batch

    wanted = {"wants_scores": what.scores, "wants_probabilities": what.probabilities}
    if source is None:
        none = score_batch(model, pa.table({column.name: pa.nulls(0) for column in model.features.columns}))
        names = [
            name
            for name in none.schema.names
            if not (name.startswith("score:") and not what.scores)
            and not (name.startswith("probability:") and not what.probabilities)
        ]
        pq.write_table(pa.Table.from_batches([none.select(names)]), file)
        return
    writer = None
    try:
        for batch, winners, scores in model.answers(source, threads=1):
            kept = {name: as_arrow(values) for name, values in batch.kept.items()}
            table = pa.table(answer_columns(model, winners, scores, kept, **wanted))
            writer = writer or pq.ParquetWriter(file, table.schema)
            writer.write_table(table)
            yield len(batch)
    finally:
        if writer is not None:
            writer.close()


def as_arrow(values: Any) -> Any:
    """Return a kept column for Arrow. Values of JSON, which can have any types, become texts as in CSV."""
    import pyarrow as pa

    if isinstance(values, Strings):
        return pa.array(values.tolist(), pa.string())
    if isinstance(values, list):
        return pa.array([None if value is None else in_csv(value) for value in values], pa.string())
    return values


def found(files: str | Sequence[str]) -> list[str]:
    paths = find_each(files, format_of)
    if not paths:
        raise DataError("there are no files to predict; name files, a pattern, or a folder of files")
    return paths


def usual_reading(model: Model, path: str) -> dict[str, Any]:
    """Return the options with which the training data were read, if this file has their format."""
    if format_of(path) not in (None, model.reading.get("format")):
        return {}
    return {name: value for name, value in model.reading.items() if name not in ("kinds", "named")}
