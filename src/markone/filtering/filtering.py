"""Filters: the rows of large files that a model likes are copied to shards. A filter that is killed can go on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.checks import check_named, switch
from markone.checks import number as a_number
from markone.data.budget import memory_budget
from markone.data.finding import find_each, format_of, name_without_compression
from markone.data.kinds import written
from markone.data.labels import KnownLabels
from markone.data.source import Label
from markone.errors import DataError, Setting, SettingsError, did_you_mean
from markone.extras import need
from markone.filtering.report import FilterReport
from markone.filtering.rows import CODECS, LinesFile, ParquetRows, Rows, RowsFile, size_of, writing_lines
from markone.model.evaluation import of_each_class
from markone.model.model import Model, load
from markone.parallel import count_threads, in_order
from markone.storage.atomic import writing
from markone.storage.journal import Journal, checked_entries
from markone.storage.result_folder import begin_or_resume, states_of

MANIFEST = "manifest.journal"
SHARD = "256 MB"
SAMPLED_BATCHES = 16
"""About 16 MB of text, from the beginnings of files."""
BINS = 10
FASTTEXT_MAGIC = (793712314).to_bytes(4, "little")
FORMATS: dict[str, type[LinesFile] | type[ParquetRows]] = {"jsonl": LinesFile, "parquet": ParquetRows}
Seen = Callable[[int, float], None]
"""A function that gets the number of rows so far, and the share of all input."""


def filter_files(
    model: Model | str | os.PathLike[str],
    files: str | Sequence[str],
    out: str | os.PathLike[str],
    *,
    keep: float | str | None = None,
    threshold: float | None = None,
    label: Label | None = None,
    text: str | None = None,
    scores: bool = False,
    shard: int | str = SHARD,
    skip_bad: bool = False,
    threads: int | None = None,
    seen: Seen | None = None,
) -> FilterReport:
    """Copy the rows of JSON lines or Parquet files that a model likes to files in a folder.

    The rows that are kept have the same bytes as before, in the same order. If the same filter is started again after
    it was interrupted or killed, it goes on where it stopped: no row is lost, and none is written twice.

    Parameters
    ----------
    model
        A classifier, or its path.
    files
        JSON lines or Parquet files: paths, patterns such as `crawl/*.jsonl.zst`, or folders. They may be compressed.
    out
        The folder to write to. It is made if it is not there.
    keep
        The share of rows to keep, such as 0.1 or "10%". The threshold for it is estimated from a sample.
    threshold
        Keep rows whose value is at least this: the probability of the label or, if the model has no probabilities, the
        margin by which the label wins over all others.
    label
        The label of the rows to keep; by default the positive class of two. If rows can have several labels, it must
        be given, and the value of a row is the probability or the score of this label. If neither `keep` nor
        `threshold` is given, all rows with this prediction are kept.
    text
        The field or column with the text, if it has another name than in the training data.
    scores
        Add the value as a last field or column, `score`.
    shard
        The input that goes into one output file, in bytes or as in "256 MB".
    skip_bad
        Skip lines that cannot be used, and count them. By default they are an error.
    threads
        The number of threads; by default, the number of cores. The result is the same.
    seen
        A function that is called with the number of rows so far, and the share of the input.

    Examples
    --------
    >>> import markone, pathlib, tempfile
    >>> model = markone.train(["good text", "bad spam"], target=["good", "bad"], positive="good")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "crawl.jsonl"
    ...     _ = path.write_text('{"text": "a good text"}\\n{"text": "bad, bad"}\\n')
    ...     report = markone.filter_files(model, str(path), folder + "/good", label="good")
    >>> report.kept, report.rows
    (1, 2)
    """
    need("pyarrow")
    if not isinstance(model, Model):
        check_not_fasttext(os.fspath(model))
        model = load(model)
    if model.several is not None:
        model = model_of_label(model, label)
    model.need_classes("classes to filter by")
    threads = count_threads(threads)
    size = memory_budget(shard, "shard")
    scores, skip_bad = check_named("scores", switch, scores), check_named("skip_bad", switch, skip_bad)
    sources = [opened(path, model, text, skip_bad) for path in found(files)]
    chooser = Chooser.of(model, keep, threshold, label)
    out = os.fspath(out)
    begun = begin(out, model, sources, chooser, {"text": text, "scores": scores, "shard": size, "skip_bad": skip_bad})
    run = Run(out, model, sources, begun.chooser, begun.journal, begun.done, scores, size, threads, seen)
    return run.report()


def model_of_label(model: Model, label: Label | None) -> Model:
    """Return the model of one label, if a row can have several."""
    if label is None:
        names = ", ".join(written(one) for one in model.classes[:5])
        raise SettingsError("label", f"must name the label to keep, because rows can have several; there are {names}")
    return model.of_label(label)


def check_not_fasttext(path: str) -> None:
    """Refuse a model of fastText, with advice."""
    try:
        with open(path, "rb") as file:
            is_fasttext = file.read(4) == FASTTEXT_MAGIC
    except OSError:
        is_fasttext = False  # the loader says what is wrong
    if is_fasttext:
        raise DataError(
            f"{path} is a model of fastText, which Markone cannot read; train a model on the same training file "
            "instead, which may have fastText's format: markone train FILE.ft"
        )


def found(files: str | Sequence[str]) -> list[str]:
    paths = find_each(files, lambda path: format_of(path) in FORMATS)
    if not paths:
        raise DataError("there are no files to filter; name JSON lines or Parquet files")
    return paths


def opened(path: str, model: Model, text: str | None, skip_bad: bool) -> RowsFile:
    form = format_of(path)
    if form not in FORMATS:
        raise DataError(
            f"{path} is neither a file of JSON lines (.jsonl, .jsonl.gz, .jsonl.zst) nor Parquet (.parquet)"
        )
    columns = model.features.columns
    if text is not None and not (len(columns) == 1 and columns[0].kind == "text"):
        raise SettingsError("text", "is only for models with one column of texts; leave it out")
    return FORMATS[form](path, model, text, skip_bad)


# ---- which rows are kept


@dataclass(frozen=True)
class Chooser:
    """Decides which rows are kept."""

    model: Model
    label: int
    """The number of the class."""
    share: float | None
    threshold: float | None
    edges: tuple[float, ...] = ()
    """The edges of the histogram."""

    @classmethod
    def of(cls, model: Model, keep: Any, threshold: Any, label: Any) -> Chooser:
        if keep is not None and threshold is not None:
            raise SettingsError("keep", ("and ", Setting("threshold"), " cannot both be given"))
        if keep is None and threshold is None and label is None:
            problem = ("or ", Setting("threshold"), " or ", Setting("label"), " must say which rows to keep")
            raise SettingsError("keep", problem, advice="for example 10%")
        if threshold is not None:
            limit = a_number(least=0, most=1) if model.has_probabilities else a_number(below=np.inf)
            check_named("threshold", limit, threshold)
        share = None if keep is None else share_of(keep)
        return cls(model, class_number(model, label), share, threshold)

    @property
    def probabilities(self) -> bool:
        return self.model.has_probabilities

    def values(self, scores: NDArray[Any]) -> NDArray[np.float64]:
        """Return the probability of the label or, without probabilities, the margin by which it wins."""
        if self.probabilities:
            found: NDArray[np.float64] = np.exp(self.model.log_probabilities(scores))[:, self.label]
            return found
        each = of_each_class(scores).astype(np.float64)
        others = np.delete(each, self.label, axis=1)
        margin: NDArray[np.float64] = each[:, self.label] - others.max(axis=1)
        return margin

    def chosen(self, rows: Rows, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        numbers, _ = rows.scored
        return numbers == self.label if self.threshold is None else values >= self.threshold

    def fitted(self, values: NDArray[np.float64]) -> Chooser:
        """Return the chooser with the threshold for the share, and the edges of the histogram, from a sample."""
        values = values[np.isfinite(values)]
        if self.share is not None and len(values) == 0:
            raise DataError("the sample has no rows, so there is no threshold for the share to keep")
        threshold = (
            self.threshold if self.share is None else float(np.quantile(values, 1 - self.share, method="higher"))
        )
        low, high = (0.0, 1.0) if self.probabilities else (float(values.min(initial=0)), float(values.max(initial=0)))
        edges = np.linspace(low, high if high > low else low + 1, BINS + 1)
        return replace(self, threshold=threshold, edges=tuple(edges.tolist()))

    def counts(self, values: NDArray[np.float64]) -> list[int]:
        clipped = np.clip(values, self.edges[0], self.edges[-1])
        return [int(count) for count in np.histogram(clipped, self.edges)[0]]


def share_of(keep: Any) -> float:
    """
    >>> share_of("10%"), share_of(0.25)
    (0.1, 0.25)
    """
    if isinstance(keep, str):
        text = keep.strip()
        try:
            keep = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            raise SettingsError("keep", f"must be a share such as 10% or 0.1, not {keep!r:.80}") from None
    return float(check_named("keep", a_number(above=0, most=1), keep))


def class_number(model: Model, label: Any) -> int:
    if label is None:
        if len(model.classes) > 2:
            raise SettingsError("label", "must name the class to keep, because the model has more than two")
        return 1
    known = KnownLabels(model.classes).number(label)
    names = [written(one) for one in model.classes]
    if known is None and written(label) in names:
        known = names.index(written(label))
    if known is None:
        guess = did_you_mean(written(label), names)
        raise SettingsError("label", f"is {label!r:.80}, but the model has {', '.join(names[:5])}.{guess}")
    return known


# ---- the manifest


@dataclass(frozen=True)
class Begun:
    """A filter that can write its shards."""

    chooser: Chooser
    journal: Journal
    done: dict[tuple[int, int], dict[str, Any]]
    """What the manifest has about each finished piece, by file and piece."""


def begin(out: str, model: Model, sources: list[RowsFile], chooser: Chooser, options: dict[str, Any]) -> Begun:
    """Begin a filter, or go on with one that is in the folder."""
    asked = {
        "model": model.digest,
        "files": states_of([one.path for one in sources]),
        "label": chooser.label,
        "share": chooser.share,
        "asked": chooser.threshold,
        **options,
    }

    def decided() -> dict[str, Any]:
        fitted = chooser.fitted(sampled(sources, chooser))
        return {"threshold": fitted.threshold, "edges": list(fitted.edges)}

    journal, entries = begin_or_resume(out, MANIFEST, "filtered rows", asked, decided)
    with checked_entries(journal.path):
        start = journal.start
        threshold, edges = start["threshold"], tuple(map(float, start["edges"]))
        chooser = replace(chooser, threshold=None if threshold is None else float(threshold), edges=edges)
        done = {(entry["file"], entry["piece"]): checked_entry(entry) for entry in entries}
    return Begun(chooser, journal, done)


def checked_entry(entry: dict[str, Any]) -> dict[str, Any]:
    """Return what the manifest has about a piece, if its numbers can be those of a piece."""
    numbers = [entry["file"], entry["piece"], *(entry[name] for name in ("rows", "kept", "bad", "size"))]
    if len(entry["counts"]) != BINS or not all(type(one) is int and one >= 0 for one in [*numbers, *entry["counts"]]):
        raise ValueError("its numbers are not those of a piece")
    if entry["output"] is not None and os.path.basename(entry["output"]) != entry["output"]:
        raise ValueError("its output is not the name of a file")
    return entry


def sampled(sources: list[RowsFile], chooser: Chooser) -> NDArray[np.float64]:
    """Return the values of some rows from the beginnings of files that are spread over all of them."""
    if chooser.share is None and chooser.probabilities:
        return np.zeros(0)
    step = max(1, len(sources) // SAMPLED_BATCHES)
    some = sources[::step]
    most = max(1, SAMPLED_BATCHES // len(some))
    values = [
        chooser.values(source.scored(batch).scored[1]) for source in some for batch in islice(source.batches(), most)
    ]
    return np.concatenate([np.zeros(0), *values])


# ---- the run


@dataclass
class Run:
    """Writes a shard for each piece of the input that has none."""

    out: str
    model: Model
    sources: list[RowsFile]
    chooser: Chooser
    journal: Journal
    done: dict[tuple[int, int], dict[str, Any]]
    scores: bool
    size: int
    threads: int
    seen: Seen | None
    entries: list[dict[str, Any]] = field(default_factory=list)

    def report(self) -> FilterReport:
        """Write all shards, and return what was done."""
        began, read, rows = time.perf_counter(), 0, 0
        self.model.prepare()
        for number, source in enumerate(self.sources):
            for piece, batches in enumerate(divided(source.batches(), self.size)):
                entry = self.done.get((number, piece))
                if entry is None:
                    entry = self.write(number, piece, source, batches)
                    self.journal.add(entry)
                    read += entry["size"]
                else:
                    for _ in batches:  # the bytes of a compressed file can only be skipped by reading them
                        pass
                self.entries.append(entry)
                rows += entry["rows"]
                if self.seen is not None:
                    self.seen(rows, (number + 1) / len(self.sources))
        total = {name: sum(entry[name] for entry in self.entries) for name in ("rows", "kept", "bad")}
        counts = np.sum([np.zeros(BINS, int), *(entry["counts"] for entry in self.entries)], axis=0)
        label = written(self.model.classes[self.chooser.label])
        value = f"the probability of {label}" if self.chooser.probabilities else f"the margin of {label}"
        files = [entry["output"] for entry in self.entries if entry["output"] is not None]
        return FilterReport(
            **total,
            size=read,
            seconds=time.perf_counter() - began,
            files=files,
            value=value,
            threshold=self.chooser.threshold,
            edges=list(self.chooser.edges),
            counts=[int(count) for count in counts],
        )

    def write(self, number: int, piece: int, source: RowsFile, batches: Iterator[Any]) -> dict[str, Any]:
        """Write the kept rows of a piece to a file, which appears when it is complete."""
        tally = Tally()
        score: Callable[[Any], Rows] = source.scored
        rows = (self.noted(tally, one) for one in in_order(score, batches, self.threads))
        kept = ((one, which, values) for one, which, values in rows if which.any())
        first = next(kept, None)
        output = None
        if first is not None:
            output = self.name_of(number, piece, source)
            parts = (one.kept(which, values if self.scores else None) for one, which, values in chain([first], kept))
            with writing(os.path.join(self.out, output)) as file:
                (write_parquet if isinstance(source, ParquetRows) else write_lines)(file, parts, source.compression)
        return {"file": number, "piece": piece, "output": output, **tally.as_dict()}

    def noted(self, tally: Tally, rows: Rows) -> tuple[Rows, NDArray[np.bool_], NDArray[np.float64]]:
        values = self.chooser.values(rows.scored[1])
        which = self.chooser.chosen(rows, values)
        tally.rows += len(values)
        tally.kept += int(which.sum())
        tally.bad += rows.bad
        tally.size += rows.size
        tally.counts = [a + b for a, b in zip(tally.counts, self.chooser.counts(values), strict=True)]
        return rows, which, values

    def name_of(self, number: int, piece: int, source: RowsFile) -> str:
        """The name of an output file: the number and the name of the input, and the number of the piece."""
        stem = os.path.splitext(name_without_compression(source.path))[0]
        ending = CODECS[source.compression][0]
        return f"{number:05d}-{stem}-{piece:05d}.{source.ending}{f'.{ending}' if ending else ''}"


@dataclass
class Tally:
    rows: int = 0
    kept: int = 0
    bad: int = 0
    size: int = 0
    counts: list[int] = field(default_factory=lambda: [0] * BINS)

    def as_dict(self) -> dict[str, Any]:
        return {"rows": self.rows, "kept": self.kept, "bad": self.bad, "size": self.size, "counts": self.counts}


def divided(batches: Iterator[Any], size: int) -> Iterator[Iterator[Any]]:
    """Divide batches into pieces of at least `size` bytes. Each piece must be used before the next one."""
    for first in batches:
        yield until_full(first, batches, size)


def until_full(first: Any, batches: Iterator[Any], size: int) -> Iterator[Any]:
    left = size - size_of(first)
    yield first
    while left > 0:
        batch = next(batches, None)
        if batch is None:
            return
        left -= size_of(batch)
        yield batch


def write_lines(file: Any, parts: Iterable[bytes], compression: str | None) -> None:
    with writing_lines(file, CODECS[compression][1]) as write:
        for part in parts:
            write(part)


def write_parquet(file: Any, parts: Iterable[Any], _: str | None) -> None:
    import pyarrow.parquet as pq

    parts = iter(parts)
    first = next(parts)
    with pq.ParquetWriter(file, first.schema, compression="zstd") as writer:
        writer.write_batch(first)
        for part in parts:
            writer.write_batch(part)
