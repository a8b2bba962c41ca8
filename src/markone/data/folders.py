"""Folders of texts: one folder for each class, with one file for each text."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator

import numpy as np

from markone.data.files import NamedFile, open_plain, readable
from markone.data.finding import files_in
from markone.data.foreign import LOOKED_AT, check_start
from markone.data.labels import Labels
from markone.data.options import Options
from markone.data.source import BadLines, Batch, Column, Source
from markone.errors import DataError, LimitError, Setting
from markone.parallel import count_threads, in_order

GROUP = 256
Group = list[tuple[int, str, str]]


class FolderSource(Source):
    """A folder that contains one folder per class. The classes are sorted by name."""

    columns = (Column("text", "text"),)

    def __init__(self, folder: str, options: Options) -> None:
        self.options = options
        self.bad = BadLines()
        self.target = "label"
        self.known_labels = Labels(self.target)
        self.labels = self.known_labels.values
        self.classes = {os.path.basename(path): files_in(path)[0] for path in files_in(folder)[1]}
        self.classes = {name: files for name, files in self.classes.items() if files}
        self.identities = np.zeros(sum(map(len, self.classes.values())), np.int64)
        """A hash of each file's identity when it was first read; 0 before."""
        self.name = f"{folder}, texts of the classes {', '.join(self.classes)}"
        if not self.classes:
            raise DataError(f"{folder} has no folders that contain files, one folder for each class")

    def batches(self) -> Iterator[Batch]:
        import pyarrow as pa

        self.bad = BadLines()
        for texts, sentences in in_order(self.read, self.groups(), count_threads(self.options.threads)):
            self.bad.add_all(len(sentences), sentences)
            if texts:
                numbers = np.array([self.known_labels.number(label) for label, _ in texts], np.int32)
                yield Batch({"text": pa.array([text for _, text in texts], pa.binary())}, len(texts), numbers)

    def groups(self) -> Iterator[Group]:
        """Some hundred files at a time, each with its number and its label."""
        paths = ((label, path) for label, paths in self.classes.items() for path in paths)
        every = [(number, label, path) for number, (label, path) in enumerate(paths)]
        return (every[i : i + GROUP] for i in range(0, len(every), GROUP))

    def read(self, group: Group) -> tuple[list[tuple[str, bytes]], list[str]]:
        """The texts with their labels, and messages about files that cannot be read."""
        texts: list[tuple[str, bytes]] = []
        sentences = []
        for number, label, path in group:
            try:
                texts.append((label, self.read_text(number, path)))
            except DataError as error:
                if not self.options.skip_bad:
                    raise
                sentences.append(str(error))
        return texts, sentences

    def read_text(self, number: int, path: str) -> bytes:
        longest = self.options.longest_line
        file = NamedFile(path)
        with readable(path):
            with open_plain(file) as stream:
                data: bytes = stream.read(longest + 1)
                file.check_again()
            self.check_same(number, file)
            check_start(path, data[:LOOKED_AT])
            if len(data) > longest:
                advice = ("allow longer texts with ", Setting("longest_line"))
                raise LimitError(f"{path} is longer than {longest:,} bytes", advice=advice, file=path)
            if codecs.lookup(self.options.encoding).name != "utf-8":
                data = data.decode(self.options.encoding).encode()
        return data.removeprefix(codecs.BOM_UTF8)

    def check_same(self, number: int, file: NamedFile) -> None:
        """Raise an error if a file has changed since it was last read. There may be millions, so a hash is kept."""
        now = hash(file.identity) or 1
        if self.identities[number] not in (0, now):
            raise DataError(
                f"{file.path} has changed since it was first read; start again when no program writes to the folder, "
                "or read a copy of it"
            )
        self.identities[number] = now
