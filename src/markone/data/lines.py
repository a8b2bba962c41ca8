"""Lines: LIBSVM, Vowpal Wabbit, fastText and label<tab>text, read by the core, a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Sparse
from markone.data.chunks import Chunk, chunks
from markone.data.files import File
from markone.data.labels import Labels, canonical
from markone.data.options import Options
from markone.data.source import UNLABELLED, BadLines, Batch, Column, GivenRows, Names, Source
from markone.errors import DataError
from markone.parallel import count_threads, in_order

Reader = _core.LibsvmReader | _core.VWReader | _core.FastTextReader | _core.TabReader
Read = _core.LabelledRows | _core.LabelledTexts

LINE_ADVICE = "; skip_bad=True passes over such lines"


class LineSource(Source):
    """Files of lines that are read alike. `kept` is the reader that knows the names of all that was ever read."""

    readers: ClassVar[dict[str, type[Reader]]]

    def __init__(self, files: Sequence[File], name: str, options: Options, format: str) -> None:
        self.files = files
        self.name = name
        self.format = format
        self.options = options
        self.bad = BadLines()
        self.target = "label"
        self.known_labels = Labels(self.target, numbers_are_texts=format in ("libsvm", "vw"))
        self.labels = self.known_labels.values
        self.kept: Any = self.readers[format]()
        self.names = ReaderNames(self.kept)
        self.label_numbers = np.array([UNLABELLED], np.int32)
        if next(chunks(files, options), None) is None:
            raise DataError(f"{name} is empty")

    def batches(self) -> Iterator[Batch]:
        self.bad = BadLines()
        size = 0
        threads = count_threads(self.options.threads)
        # One thread needs no reader for each chunk, and no merging: it can number names as it meets them.
        reader = self.kept if threads == 1 else None
        tasks = ((chunk, reader) for chunk in chunks(self.files, self.options))
        for chunk, reader, read in in_order(lambda task: self.read(*task), tasks, threads):
            for line, problem in read.first_bad:
                self.bad.add_all(0, [f"{chunk.place(line)}: {problem}"])
            self.bad.count += read.bad
            labels, batch = self.batch_of(chunk, reader, read)
            size += len(labels)
            if len(labels) > 0:
                yield Batch(batch, len(labels), self.numbers_of(labels), self.importance_of(read))
        if size == 0:
            raise DataError(f"{self.name} has no lines that can be read as {self.format}")

    def read(self, chunk: Chunk, reader: Any) -> tuple[Chunk, Reader, Any]:
        """A chunk, read by the given reader or by one of its own, so that threads do not wait for each other."""
        reader = self.readers[self.format]() if reader is None else reader
        try:
            return chunk, reader, reader.read(chunk.data, skip_bad=self.options.skip_bad)
        except _core.BadLine as bad:
            raise DataError(f"{chunk.place(bad.line)}: {bad.problem}{LINE_ADVICE}") from None

    def batch_of(self, chunk: Chunk, reader: Reader, read: Any) -> tuple[NDArray[np.int32], dict[str, Any]]:
        """The labels as `kept` has them, and the columns."""
        raise NotImplementedError

    def importance_of(self, read: Any) -> NDArray[np.float64] | None:
        return None

    def numbers_of(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """The source's numbers of labels that the reader has numbered. It may know several ways to write one."""
        known = len(self.label_numbers) - 1  # the last is for those without a label
        if self.kept.labels > known:
            names = (self.kept.label_name(i) for i in range(known, self.kept.labels))
            rule = canonical if self.known_labels.numbers_are_texts else str
            fresh = [self.known_labels.number(rule(name)) for name in names]
            self.label_numbers = np.array([*self.label_numbers[:-1], *fresh, UNLABELLED], np.int32)
        return self.label_numbers[labels]


class TextLines(LineSource):
    """Lines of a label and a text."""

    readers: ClassVar[dict[str, type[Reader]]] = {"fasttext": _core.FastTextReader, "tab": _core.TabReader}
    columns = (Column("text", "text"),)

    def batch_of(self, chunk: Chunk, reader: Reader, read: Any) -> tuple[NDArray[np.int32], dict[str, Any]]:
        labels = read.labels
        if reader is not self.kept:
            labels = np.append(self.kept.merge(reader), np.int32(UNLABELLED))[labels]
        return labels, {"text": texts(*_core.gather(chunk.data, read.starts, read.ends))}


class RowLines(LineSource):
    """Lines of a label and features with values."""

    readers: ClassVar[dict[str, type[Reader]]] = {"libsvm": _core.LibsvmReader, "vw": _core.VWReader}
    columns = (Column("features", "rows"),)

    def batch_of(self, chunk: Chunk, reader: Reader, read: Any) -> tuple[NDArray[np.int32], dict[str, Any]]:
        indices, labels = read.indices, read.labels
        if reader is not self.kept:
            features, numbers = self.kept.merge(reader)
            indices, labels = features[indices], np.append(numbers, np.int32(UNLABELLED))[labels]
        matrix = Sparse(read.indptr, indices, read.values, self.kept.features)
        return labels, {"features": GivenRows(matrix, self.names)}

    def importance_of(self, read: Any) -> NDArray[np.float64] | None:
        importance: NDArray[np.float64] | None = read.importance
        return None if importance is None or (importance == 1).all() else importance


class ReaderNames(Names):
    """The names of the features that a reader has met."""

    def __init__(self, reader: Any) -> None:
        self.reader = reader

    def __len__(self) -> int:
        return int(self.reader.features)

    def since(self, start: int) -> list[str]:
        offsets, data = self.reader.feature_names(start)
        whole = data.tobytes()
        places = pairwise(offsets.tolist())
        return [whole[begin:end].decode("utf-8", "backslashreplace") for begin, end in places]


def texts(offsets: NDArray[np.int32], data: NDArray[np.uint8]) -> Any:
    """Texts as Arrow's binary: they may be no UTF-8."""
    import pyarrow as pa

    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
