"""Line formats: LIBSVM, Vowpal Wabbit, fastText, label<tab>text and plain texts, read in chunks."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Sparse
from markone.data.chunks import Chunk, Span, chunks, line_pieces
from markone.data.files import File
from markone.data.formats import FORMATS, LABEL_OF_LINES
from markone.data.labels import Labels, canonical, in_fixed_order
from markone.data.options import Options
from markone.data.sets import SET_KINDS, items_in
from markone.data.source import UNLABELLED, BadLines, Batch, Column, GivenRows, Label, Names, Source
from markone.data.strings import Strings
from markone.data.tables import chosen
from markone.errors import DataError, NoDataError, Setting, SettingsError
from markone.parallel import count_threads, in_order

Reader = _core.LibsvmReader | _core.VWReader | _core.FastTextReader | _core.TabReader

BETWEEN_LABELS = r"[ \t]+__label__"
LINE_ADVICE = (Setting("skip_bad", True), " skips such lines")


class Worker:
    """The reader of one thread, and the numbers in the source of the names that this reader has numbered.

    A thread reads its chunks in their order. The new names of each chunk are merged in the order of all chunks, so the
    source numbers the names as if one thread had read everything.
    """

    def __init__(self, reader: Any) -> None:
        self.reader = reader
        self.has_indices = isinstance(reader, _core.LibsvmReader)
        """Whether the source numbers the features: their names are numbers, and there is nothing to translate."""
        self.has_features = hasattr(reader, "features") and not self.has_indices
        self.told = [0, 0]
        self.features = np.zeros(0, np.uint32)
        self.labels = np.zeros(0, np.int32)

    def new_names(self) -> list[Any]:
        """The names of the features and labels that are new since the last call."""
        names = [self.reader.feature_names(self.told[0]) if self.has_features else None]
        names.append(self.reader.label_names(self.told[1]))
        self.told = [self.reader.features if self.has_features else 0, self.reader.labels]
        return names

    def merge(self, names: list[Any], kept: Any) -> None:
        features, labels = names
        if features is not None:
            self.features = np.concatenate([self.features, kept.add_features(*features)])
        self.labels = np.concatenate([self.labels, kept.add_labels(*labels)])


class LineSource(Source):
    """Files of a line format. The reader `kept` knows the names of everything that has been read."""

    numbers_are_texts: ClassVar[bool]
    """Whether labels are always texts, and all spellings of a number are the same label."""

    def __init__(self, files: Sequence[File], name: str, options: Options, format: str) -> None:
        self.files = files
        self.name = name
        self.format = format
        self.options = options
        self.bad = BadLines()
        self.target = LABEL_OF_LINES
        self.known_labels = Labels(self.target, numbers_are_texts=self.numbers_are_texts)
        self.labels = self.known_labels.values
        self.set_kind = set_kind_in(options, format)
        """The kind of sets, if each line can have several labels."""
        self.labels.several = self.set_kind is not None
        self.kept = self.new_reader()
        self.names = ReaderNames(self.kept)
        nothing = UNLABELLED if self.set_kind is None else self.known_labels.number(())
        self.label_numbers = np.array([nothing], np.int32)
        if next(chunks(files, options), None) is None:
            raise NoDataError(f"{name} is empty")

    def new_reader(self) -> Any:
        reader: Reader = getattr(_core, FORMATS[self.format].line_reader)()
        if isinstance(reader, _core.FastTextReader):
            reader.several = self.set_kind is not None
        return reader

    def batches(self) -> Iterator[Batch]:
        self.bad = BadLines()
        size = 0
        threads = count_threads(self.options.threads)
        # One thread uses the source's reader. Several threads have one reader each, whose numbers are translated.
        own = threading.local()

        def work(piece: Chunk | Span) -> tuple[Chunk | Span, Any, Any, Any]:
            worker = None
            if threads > 1:
                if not hasattr(own, "worker"):
                    own.worker = Worker(self.new_reader())
                worker = own.worker
            data = piece.read()
            try:
                reader = self.kept if worker is None else worker.reader
                read_rows = reader.read_indices if worker is not None and worker.has_indices else reader.read
                read = read_rows(data, skip_bad=self.options.skip_bad)
            except _core.BadLine as bad:
                return piece, bad, None, None
            merging = None if worker is None else (worker, worker.new_names())
            return piece, read, self.column_of(data, read), merging

        source, lines = None, 0  # the file that is being read, and how many lines of it were read before
        for piece, read, column, merging in in_order(work, line_pieces(self.files, self.options), threads):
            if isinstance(piece, Chunk):
                lines = piece.lines_before
            elif piece.source is not source:
                source, lines = piece.source, 0
            if isinstance(read, _core.BadLine):
                raise self.refused(read, piece.file, lines)
            for line, problem in read.first_bad:
                self.bad.add_all(0, [f"{piece.file}, line {lines + line}: {problem}"])
            lines += read.lines
            self.bad.count += read.bad
            worker = None
            if merging is not None:
                worker, names = merging
                worker.merge(names, self.kept)
            labels = read.labels if worker is None else np.append(worker.labels, np.int32(UNLABELLED))[read.labels]
            size += len(labels)
            if len(labels) > 0:
                columns = self.columns_of(column, read, worker)
                numbers = self.numbers_of(labels)
                yield Batch(columns, len(labels), numbers, self.importance_of(read), self.kept_of(columns, numbers))
        if size == 0:
            raise DataError(f"{self.name} has no lines that can be read as {self.format}")

    def refused(self, bad: Any, file: str, lines_before: int) -> DataError:
        """The error for a line that cannot be read."""
        others: tuple[Any, ...] = ()
        if self.format == "tab":
            others = (Setting("format", "lines"), " reads lines without labels; ")
        if self.format == "fasttext" and not self.several:
            others = (Setting("kinds", {LABEL_OF_LINES: "set"}), " reads lines with several labels; ")
        return DataError(bad.problem, file=file, line=lines_before + bad.line, advice=(*others, *LINE_ADVICE))

    def column_of(self, data: bytes, read: Any) -> Any:
        """What can be made of some lines without knowing those before them. Several threads do this at once."""
        return None

    def columns_of(self, column: Any, read: Any, worker: Worker | None) -> dict[str, Any]:
        """The columns, from a result of `column_of`."""
        raise NotImplementedError

    def importance_of(self, read: Any) -> NDArray[np.float64] | None:
        return None

    def kept_of(self, columns: dict[str, Any], numbers: NDArray[np.int32]) -> dict[str, Any]:
        return {}

    def numbers_of(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """The source's numbers of the reader's labels. The reader may have several spellings of one label."""
        known = len(self.label_numbers) - 1  # the last one is for rows without a label
        if self.kept.labels > known:
            names = (self.kept.label_name(i) for i in range(known, self.kept.labels))
            fresh = [self.known_labels.number(self.label_of(name)) for name in names]
            self.label_numbers = np.array([*self.label_numbers[:-1], *fresh, self.label_numbers[-1]], np.int32)
        return self.label_numbers[labels]

    def label_of(self, name: str) -> Label:
        """The label that a line has before its text or its features, or all of them."""
        rule = canonical if self.known_labels.numbers_are_texts else str
        if self.set_kind is None:
            return rule(name)
        names = re.split(BETWEEN_LABELS, name) if self.format == "fasttext" else items_in(name, self.set_kind)
        return in_fixed_order(map(rule, names))


def set_kind_in(options: Options, format: str) -> str | None:
    """The kind of the labels, if the user says that they are sets."""
    for name, kind in options.kinds.items():
        if name != LABEL_OF_LINES or kind not in SET_KINDS:
            problem = f"of {format} files can only say that each line has several labels, not {name}={kind}"
            raise SettingsError("kinds", (problem, ": ", Setting("kinds", {LABEL_OF_LINES: "set"})))
    return options.kinds.get(LABEL_OF_LINES)


class TextLines(LineSource):
    """Lines that consist of a label and a text."""

    numbers_are_texts = False
    columns = (Column("text", "text"),)

    def __init__(self, files: Sequence[File], name: str, options: Options, format: str) -> None:
        super().__init__(files, name, options, format)
        self.keep = chosen(options.keep, ["label", "text"], name)

    def column_of(self, data: bytes, read: Any) -> Any:
        return Strings.of_core(*_core.gather(data, read.starts, read.ends))

    def columns_of(self, column: Any, read: Any, worker: Worker | None) -> dict[str, Any]:
        return {"text": column}

    def kept_of(self, columns: dict[str, Any], numbers: NDArray[np.int32]) -> dict[str, Any]:
        if not self.keep:
            return {}
        labels = [*self.labels, None]
        found = {"text": columns["text"], "label": [labels[number] for number in numbers.tolist()]}
        return {name: found[name] for name in self.keep}


class RowLines(LineSource):
    """Lines that consist of a label and features with values."""

    numbers_are_texts = True
    columns = (Column("features", "rows"),)

    def columns_of(self, column: Any, read: Any, worker: Worker | None) -> dict[str, Any]:
        indices = read.indices
        if worker is not None and worker.has_indices:
            self.kept.number(indices)
        elif worker is not None:
            indices, _ = _core.renumber(indices, worker.features)
        return {"features": GivenRows(Sparse(read.indptr, indices, read.values, self.kept.features), self.names)}

    def importance_of(self, read: Any) -> NDArray[np.float64] | None:
        importance: NDArray[np.float64] | None = read.importance
        return None if importance is None or (importance == 1).all() else importance


class ReaderNames(Names):
    """The names of the features that a reader has read."""

    def __init__(self, reader: Any) -> None:
        self.reader = reader

    def __len__(self) -> int:
        return int(self.reader.features)

    def since(self, start: int) -> list[str]:
        offsets, data = self.reader.feature_names(start)
        whole = data.tobytes()
        places = pairwise(offsets.tolist())
        return [whole[begin:end].decode("utf-8", "backslashreplace") for begin, end in places]


class PlainLines(Source):
    """Files in which each line is a text without a label, even if it is empty."""

    columns = (Column("text", "text"),)
    target = None

    def __init__(self, files: Sequence[File], name: str, options: Options, _: str) -> None:
        self.files = files
        self.name = name
        self.options = options
        self.bad = BadLines()
        self.labels = []
        self.keep = chosen(options.keep, ["text"], name)
        if next(chunks(files, options), None) is None:
            raise NoDataError(f"{name} is empty")

    def batches(self) -> Iterator[Batch]:
        for chunk in chunks(self.files, self.options):
            texts = Strings.of_core(*_core.gather(chunk.data, *lines_in(chunk.data)))
            yield Batch({"text": texts}, len(texts), kept=dict.fromkeys(self.keep, texts))


def lines_in(data: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the lines start and end, without their line ends, which are \\n or \\r\\n."""
    signs = np.frombuffer(data, np.uint8)
    breaks = np.flatnonzero(signs == ord("\n"))
    starts = np.concatenate([np.zeros(1, np.int64), breaks + 1])
    if data.endswith(b"\n"):
        starts = starts[:-1]
    else:
        breaks = np.append(breaks, len(data))
    returns = (breaks > starts) & (signs[np.maximum(breaks - 1, 0)] == ord("\r"))
    return starts, breaks - returns
