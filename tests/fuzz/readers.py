"""Readers: files of every text format, and chunks of them for the readers of the core."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import markone
from files_of import LINES, PICTURES, TABLE_SETTINGS, TABLES
from markone import MarkoneError, _core
from markone.data.formats import FORMATS, Format, format_of_name
from markone.data.strings import Strings
from markone.structured.corpora import read_sentences
from markone.structured.writing import append_column, write_conllu

from .mutations import mutate_bytes
from .targets import Case, Outcome, Target

CONLLU = (
    "# text = Dogs bark.\n1-2\tDogsbark\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tDogs\tdog\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t_\t_\n2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\tSpaceAfter=No\n"
    "2.1\tthere\tthere\tADV\t_\t_\t_\t_\t_\t_\n3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_\n\n"
    "1\tЖук\tжук\tNOUN\t_\t_\t0\troot\t_\t_\n"
).encode()
COLUMNS = "the DET B-NP\ndog NOUN I-NP\n\n-DOCSTART- X O\n\nnaïve ADJ O\n".encode()
PLAIN = "Dogs bark. They don't stop!\nMr. Жук said: “No.”\n\n- one (1,000.5)\n".encode()


def format_at(name: str) -> Format:
    """The format of a file with this name."""
    return FORMATS[format_of_name(name) or ""]


def core_reader(name: str) -> Any:
    """The core's reader for the lines of a file with this name."""
    return getattr(_core, format_at(name).line_reader)


TEXT_TABLES = {name: data for name, data in TABLES.items() if "encoding" in format_at(name).options}
"""The other tables are read by other libraries, which have their own tests."""

Use = Callable[[bytes, Path, random.Random], object]


def read_lines(reader: type[Any]) -> Use:
    """One of the readers of lines in the core, chunk after chunk; names go to another one."""

    def use(data: bytes, _: Path, chance: random.Random) -> object:
        skips, one, other = chance.random() < 0.7, reader(), reader()
        cut = chance.randint(0, len(data))
        found = []
        for chunk in (data[:cut], np.frombuffer(data[cut:], np.uint8)):
            read = one.read(chunk, skip_bad=skips)
            found.append([read.labels, read.lines, read.bad, read.first_bad])
            if isinstance(read, _core.LabelledRows):
                found.append([read.indptr, read.indices, read.values, read.importance])
                rows = _core.SparseRows32(read.indptr, read.indices, read.values, one.features)
                found.append([rows.names_twice(), len(rows)])
            else:
                found.append([_core.gather(chunk, read.starts, read.ends)])
        other.add_labels(*one.label_names())
        if hasattr(one, "feature_names"):
            other.add_features(*one.feature_names())
            found.append([other.feature_name(i) for i in range(other.features)])
        return [found, [other.label_name(i) for i in range(other.labels)]]

    return use


def read_table(data: bytes, _: Path, chance: random.Random) -> object:
    separator, quote = chance.choice([",", "\t", ";", "a", "\0"]), chance.choice([None, '"', "'"])
    fields, end = _core.first_row(data, separator=separator, quote=quote)
    kinds = [chance.choice(list(_core.TableKind.__members__.values())) for _ in fields]
    reader = _core.TableReader(
        separator=separator, quote=quote, missing=["", "NA"], kinds=kinds, names=[f"c{i}" for i in range(len(kinds))]
    )
    read = reader.read(data[end:], skip_bad=chance.random() < 0.7)
    return [_core.whole_rows(data, separator=separator, quote=quote), read.columns, read.row_lines, read.first_bad]


def read_trees(data: bytes, _: Path, chance: random.Random) -> object:
    wanted = chance.sample(range(1, 10), 3)
    read = _core.read_conllu(data, wanted, chance.random() < 0.7)
    words = len(read.places)
    found = [read.starts, read.ends, read.width]
    heads = read.heads if len(read.heads) == words else None
    if heads is not None:
        found += [_core.find_bad_tree(read.starts, heads)]
        found += [_core.projective(read.starts, heads)]
    columns = [(wanted[0], *read.columns[0])]
    return [
        *found,
        _core.rewrite_conllu(data, read.places, columns, heads),
        _core.write_conllu(read.starts, columns, heads),
    ]


def read_columns(data: bytes, _: Path, chance: random.Random) -> object:
    tabs = chance.random() < 0.5
    read = _core.read_columns(data, chance.choice([1, 2, 3, 3, 3, 100]), tabs)
    return [read.starts, read.ends, _core.append_column(data, read.places, *read.columns[0], tabs)]


def read_text(data: bytes, _: Path, chance: random.Random) -> object:
    read = _core.read_text(data, chance.random() < 0.5)
    return [read.starts, read.ends, read.places, read.columns, [_core.word_shape(data[:100])]]


def read_tokens(data: bytes, _: Path, chance: random.Random) -> object:
    """Texts as n-grams, whatever bytes they have."""
    switch = [chance.random() < 0.5 for _ in range(4)]
    how = _core.NgramSettings(
        fold=switch[0],
        signs=switch[1],
        negation=switch[2],
        choice=chance.choice(list(_core.TokenChoice.__members__.values())),
        shortest=1,
        longest=chance.randint(1, 5),
        characters=switch[3],
    )
    cuts = sorted(chance.randint(0, len(data)) for _ in range(2))
    offsets, octets = np.array([0, *cuts, len(data)], np.int64), np.frombuffer(data, np.uint8)
    found: list[Any] = []
    for vocabulary in (_core.NgramVocabulary(how), _core.HashedVocabulary(how, chance.choice([1, 4, 10]))):
        found.append(vocabulary.absorb(vocabulary.collect(offsets, octets)))
        found += [vocabulary.names(), vocabulary.counts(), vocabulary.lengths()]
        if isinstance(vocabulary, _core.NgramVocabulary):
            vocabulary.keep(vocabulary.frequent(1, chance.choice([3, 1000])))
        found += [vocabulary.read(offsets, octets), vocabulary.occurrences(data)]
    return found


def through_file(name: str, **settings: Any) -> Use:
    """`markone.read` of a file of this name."""

    def use(data: bytes, folder: Path, chance: random.Random) -> object:
        path = folder / name
        path.write_bytes(data)
        more = {"skip_bad": chance.random() < 0.5} if "idx" not in name else {}
        source = markone.read(path, threads=1, **settings, **more)
        batches = [(batch.columns, batch.labels, batch.importance) for batch in source.batches()]
        return [batches, source.labels, str(source.overview()) if hasattr(source, "overview") else None]

    return use


def sentences_through_file(name: str) -> Use:
    """Sentences of a file of this name, which are written again."""

    def use(data: bytes, folder: Path, chance: random.Random) -> object:
        path = folder / name
        path.write_bytes(data)
        sentences = read_sentences(path)
        again = append_column if name.endswith("iob") else lambda found, column: write_conllu(found, {"upos": column})
        return again(sentences, Strings.of(["X"] * sentences.words))

    return use


USES: dict[str, tuple[bytes, Use]] = {
    **{
        (reader := format_at(name).line_reader): (data, read_lines(getattr(_core, reader)))
        for name, data in LINES.items()
    },
    "TableReader": (TABLES["table.csv"], read_table),
    "read_conllu": (CONLLU, read_trees),
    "read_columns": (COLUMNS, read_columns),
    "read_text": (PLAIN, read_text),
    "vocabularies": (PLAIN, read_tokens),
    **{name: (data, through_file(name, **TABLE_SETTINGS)) for name, data in TEXT_TABLES.items()},
    **{name: (data, through_file(name)) for name, data in LINES.items()},
    **{name: (data, through_file(name)) for name, data in PICTURES.items()},
    "trees.conllu": (CONLLU, sentences_through_file("trees.conllu")),
    "phrases.iob": (COLUMNS, sentences_through_file("phrases.iob")),
    "plain.txt": (PLAIN, sentences_through_file("plain.txt")),
}
FROM_THE_CORE = (ValueError, IndexError, TypeError, OverflowError)
"""With what the core refuses what it is given. A `BadLine` is a `ValueError`."""


class Readers(Target):
    """What reads text, in the core and before it."""

    name = "readers"
    share = 1

    def kinds(self) -> list[str]:
        return list(USES)

    def prepare(self, folder: Path) -> None:
        self.folder = folder

    def make(self, chance: random.Random) -> Case:
        kind = chance.choice(list(USES))
        data, changes = mutate_bytes(USES[kind][0], chance)
        return Case(kind, changes, data)

    def use(self, case: Case, chance: random.Random, outcome: Outcome) -> None:
        folder = self.folder / f"read.{os.getpid()}"
        folder.mkdir(exist_ok=True)
        outcome.steps.append("read")
        through_file = "." in case.kind or "-" in case.kind
        refusals = (MarkoneError,) if through_file else FROM_THE_CORE
        try:
            USES[case.kind][1](case.content, folder, chance)
        except refusals:
            return
        outcome.accepted = True
