"""Corpora: reads files of sentences, all at once or batch by batch."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from markone import _core
from markone.brief import Brief
from markone.checks import check_named, one_of
from markone.checks import names as unique_names
from markone.data.chunks import Chunk, chunks, last_line_end
from markone.data.files import STANDARD_INPUT, File, file_at, standard_input
from markone.data.finding import find, name_without_compression
from markone.data.options import Options
from markone.data.strings import Strings
from markone.errors import DataError, NoDataError, Setting, SettingsError, Words, did_you_mean
from markone.structured.passages import Passage
from markone.structured.sentences import FORM, HEAD, TAG, Sentences, check_row, heads_of, names_of

FORMATS = ("conllu", "columns", "jsonl", "text", "lines")
FORMAT_OF_ENDING = {
    "conllu": "conllu",
    "conllup": "conllu",
    "conll": "columns",
    "iob": "columns",
    "iob2": "columns",
    "bio": "columns",
    "tsv": "columns",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "json": "jsonl",
}
COLUMNS_OF_CONLLU = {
    FORM: 1,
    "lemma": 2,
    "upos": 3,
    "xpos": 4,
    "feats": 5,
    "deprel": 7,
    "deps": 8,
    "misc": 9,
}
USUAL = (FORM, "lemma", "upos", "xpos", "feats", "deprel")
FIELDS_OF_JSON = {"tokens": FORM, "words": FORM, "tags": TAG, "heads": HEAD}
"""Usual names of columns in JSON, and our names for them. Other names stay the same."""
WORD = re.compile(rb"^[^#\s]", re.MULTILINE)
"""A line that is neither blank nor a comment. In a file of columns a word may begin with #, but not all words do."""
LINES_LOOKED_AT = 50
LONGEST_PARAGRAPH = 2**20


@dataclass(frozen=True, eq=False, repr=False)
class Corpus(Brief):
    """Files of sentences that can be read several times, batch by batch: `for batch in corpus`."""

    files: Sequence[File]
    name: str
    format: str
    columns: Sequence[str] | None = None
    """For a file of columns, the names of all columns. For CoNLL-U, the names of the columns to read."""
    tabs: bool = False
    """Whether columns are separated by tabs, so that they may contain blanks."""
    heads: bool = True
    """Whether the heads in CoNLL-U are read and checked. Otherwise they are ignored."""
    options: Options = field(default_factory=Options)
    usual: Sequence[str] | None = None
    """The names for the columns of a file of columns if `columns` is None, for example those of a model's file."""

    def __iter__(self) -> Iterator[Sentences]:
        read = self.reader()
        found = chunks(self.files, self.options, CUTS[self.format])
        for chunk in with_words(found, self.options) if self.format in ("conllu", "columns") else found:
            check_text(chunk)
            batch = read(chunk)
            if len(batch) > 0:
                yield batch

    def batches(self) -> Iterator[Sentences]:
        """The batches of the corpus. It is an error if there are no sentences."""
        empty = True
        for batch in self:
            empty = False
            yield batch
        if empty:
            raise NoDataError(f"{self.name} has no sentences")

    def read(self) -> Sentences:
        """All sentences at once."""
        return Sentences.joined(list(self.batches()))

    def reader(self) -> Callable[[Chunk], Sentences]:
        if self.format == "conllu":
            return self.read_conllu
        if self.format == "columns":
            return ColumnReader(self.columns, self.tabs, self.usual)
        if self.format == "jsonl":
            return JsonReader()
        return self.read_text

    def read_conllu(self, chunk: Chunk) -> Sentences:
        names = USUAL if self.columns is None else self.columns
        wanted = [COLUMNS_OF_CONLLU[name] for name in names]
        return sentences_of(chunk, names, lambda: _core.read_conllu(chunk.data, wanted, self.heads), "conllu")

    def read_text(self, chunk: Chunk) -> Sentences:
        lines = self.format == "lines"
        return sentences_of(chunk, (FORM, "misc"), lambda: _core.read_text(chunk.data, lines), self.format)


def sentences_of(
    chunk: Chunk, names: Sequence[str] | None, read: Callable[[], _core.SentencesRead], format: str
) -> Sentences:
    """The sentences that the core reads from a chunk."""
    try:
        found = read()
    except _core.BadLine as error:
        raise DataError(error.problem, **chunk.at(error.line)) from None
    ends = found.ends
    begins = np.concatenate([np.zeros(min(1, len(ends)), np.int64), ends[:-1]])
    passage = Passage(format, (chunk,), np.zeros(len(ends), np.int64), begins, ends, found.places)
    names = names_of(len(found.columns)) if names is None else names
    columns = {name: Strings(*column) for name, column in zip(names, found.columns, strict=True)}
    has_heads = format == "conllu" and len(found.heads) == len(found.places)
    return Sentences(found.starts, columns, found.heads if has_heads else None, passage)


def check_text(chunk: Chunk) -> None:
    """Check that the text is valid UTF-8 and contains no byte 0."""
    data = chunk.data
    problem: Words = "there is a byte 0, which text never contains; is this a text file in another encoding?"
    place = data.find(b"\0")
    if place < 0:
        if data.isascii():
            return
        try:
            data.decode("utf-8")
            return
        except UnicodeDecodeError as error:
            place = error.start
            problem = (
                f"{data[error.start : error.end]!r} is not UTF-8; if the file has another encoding, name it, for "
                "example ",
                Setting("encoding", "latin-1"),
            )
    line = 1 + data.count(b"\n", 0, place)
    byte = place - data.rfind(b"\n", 0, place)
    raise DataError((f"{chunk.place(line)}, byte {byte}: ", problem))


class ColumnReader:
    """Reads files of columns. Every line must have as many columns as the first one.

    If the columns have no names, they get the usual names, and numbers if there are more columns than usual names.
    """

    def __init__(self, names: Sequence[str] | None, tabs: bool, usual: Sequence[str] | None = None) -> None:
        self.names = names
        self.tabs = tabs
        self.usual = usual
        self.width = 0 if names is None else len(names)

    def __call__(self, chunk: Chunk) -> Sentences:
        try:
            batch = sentences_of(
                chunk, self.names, lambda: _core.read_columns(chunk.data, self.width, self.tabs), "columns"
            )
        except DataError as error:
            if self.names is None:
                raise
            words = str(error.words).replace(" as on the lines before", ", which is the number of names")
            raise DataError(words, file=error.file, line=error.line) from None
        self.width = self.width or len(batch.columns)
        return batch if self.names is not None or self.usual is None else self.renamed(batch, self.usual)

    def renamed(self, batch: Sentences, usual: Sequence[str]) -> Sentences:
        names = [*usual[: self.width], *map(str, range(len(usual), self.width))]
        if FORM not in names:
            example = Setting("columns", ["form", "pos"])
            raise DataError(
                f"there are {self.width} columns, but in the training file of this model the words were in column "
                f"{list(usual).index(FORM) + 1}",
                advice=("name the columns, for example ", example),
            )
        return replace(batch, columns=dict(zip(names, batch.columns.values(), strict=True)))


class JsonReader:
    """Reads JSON objects with a list of tokens, and other lists with one entry for each token."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, chunk: Chunk) -> Sentences:
        rows: list[dict[str, list[Any]]] = []
        begins: list[int] = []
        ends: list[int] = []
        at = 0
        for number, line in enumerate(chunk.data.split(b"\n"), 1):
            begin, at = at, at + len(line) + 1
            if not line.strip():
                continue
            try:
                rows.append(self.fields(line))
            except DataError as error:
                raise DataError(error, **chunk.at(number)) from None
            begins.append(begin)
            ends.append(min(at, len(chunk.data)))
        counts = [len(row[FORM]) for row in rows]
        columns = {name: [one for row in rows for one in row[name]] for name in self.names}
        heads = columns.pop(HEAD, None)
        places = np.repeat(np.array(begins, np.int64), counts)
        return Sentences(
            np.cumsum([0, *counts]),
            {name: Strings.of(column) for name, column in columns.items()},
            None if heads is None else heads_of(heads),
            Passage(
                "jsonl",
                (chunk,),
                np.zeros(len(rows), np.int64),
                np.array(begins, np.int64),
                np.array(ends, np.int64),
                places,
            ),
        )

    def fields(self, line: bytes) -> dict[str, list[Any]]:
        """The columns of a line, under our names for them."""
        try:
            found: Any = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"this is not valid JSON: {error}") from None
        if not isinstance(found, dict):
            raise DataError('a line must be an object, as in {"tokens": ["a", "dog"], "tags": ["DET", "NOUN"]}')
        row: dict[str, list[Any]] = {
            FIELDS_OF_JSON.get(str(name), str(name)): value for name, value in found.items() if isinstance(value, list)
        }
        if FORM not in row:
            raise DataError(f'there is no list of "tokens".{did_you_mean("tokens", found)}')
        self.names = self.names or [name for name in row if is_column(name, row)]
        row = {name: row[name] for name in self.names if name in row}
        check_row(row, self.names)
        return row


def is_column(name: str, row: Mapping[str, list[Any]]) -> bool:
    """Whether a list is a column of strings, one for each word. Lists with well-known names must be, and are checked
    later."""
    fits = len(row[name]) == len(row[FORM]) and all(isinstance(one, str) for one in row[name])
    return name in FIELDS_OF_JSON.values() or fits


# ---- where chunks end


def with_words(found: Iterable[Chunk], options: Options) -> Iterator[Chunk]:
    """Join chunks that contain only blank lines and comments with a neighbour that contains words.

    That is the next chunk, or the previous one unless the input is a pipe, whose sentences should not wait.
    """
    before: Chunk | None = None
    for chunk in found:
        if before is None:
            before = chunk
        elif before.file == chunk.file and not (has_words(before) and has_words(chunk)) and is_short(before, options):
            before = Chunk(before.file, before.data + chunk.data, before.lines_before)
        else:
            yield before
            before = chunk
        if options.once and has_words(before):
            yield before
            before = None
    if before is not None:
        yield before


def has_words(chunk: Chunk) -> bool:
    return WORD.search(chunk.data) is not None


def is_short(chunk: Chunk, options: Options) -> bool:
    return len(chunk.data) < options.longest_line


def last_sentence_end(data: bytes) -> int:
    """The position after the last blank line."""
    plain, dos = data.rfind(b"\n\n"), data.rfind(b"\n\r\n")
    return max(plain + 2 if plain >= 0 else 0, dos + 3 if dos >= 0 else 0)


def last_paragraph_end(data: bytes) -> int:
    """The position after the last blank line. A long text without blank lines is cut at the end of a line."""
    end = last_sentence_end(data)
    return last_line_end(data) if end == 0 and len(data) > LONGEST_PARAGRAPH else end


CUTS = {
    "conllu": last_sentence_end,
    "columns": last_sentence_end,
    "jsonl": last_line_end,
    "text": last_paragraph_end,
    "lines": last_line_end,
}

# ---- opening


def open_corpus(
    what: Any,
    format: str | None = None,
    columns: Sequence[str] | None = None,
    *,
    separator: str | None = None,
    encoding: str = "utf-8",
    heads: bool = True,
    once: bool = False,
) -> Corpus:
    """Open files of sentences, which are then read batch by batch.

    Parameters
    ----------
    what
        The name of a file or a pattern, `-` for standard input, or a list of paths. Files may be compressed.
    format
        `conllu`; `columns`, separated by blanks or tabs, as in the CoNLL shared tasks of 2000 and 2003; `jsonl`, with
        lists such as `tokens` and `tags`; `text`, which is split into sentences and words; or `lines`, which is text
        with one sentence on each line. By default the format is guessed from the file's name or its first lines.
    columns
        For a file of columns, the names of all its columns. One of them must be `form`, the words. The default is
        `form`, `1`, `2`, and so on. For CoNLL-U, the names of the columns to read.
    separator
        The separator of columns: `"\\t"`, or `" "` for any blanks. The default is tabs if the first line has any.
    encoding
        The encoding of the files.
    heads
        Read the heads in CoNLL-U, which must then be valid. Otherwise they are ignored.
    once
        The files will be read only once, so that the content of a pipe need not be kept.
    """
    options = Options(encoding=encoding, once=once)
    if format is not None:
        check_named("format", one_of(*FORMATS), format)
    if separator not in (None, " ", "\t"):
        raise SettingsError("separator", f"must be a tab or a blank, not {separator!r}")
    files = files_of(what, once)
    name = files[0].name if len(files) == 1 else f"{files[0].name} and {len(files) - 1} more"
    start = next(chunks(files, options), None)
    if start is None:
        raise NoDataError(f"{name} is empty")
    if format is None:
        format = named_format(files[0].name) or guess_format(start.data)
    if separator is not None and format != "columns":
        raise SettingsError("separator", f"has no meaning for the format {format!r}; leave it out")
    if columns is not None:
        columns = checked_columns(columns, format)
    tabs = separator == "\t" if separator is not None else b"\t" in start.data.lstrip().split(b"\n", 1)[0]
    return Corpus(files, name, format, columns, tabs, heads, options)


def read_sentences(
    what: Any,
    format: str | None = None,
    columns: Sequence[str] | None = None,
    *,
    separator: str | None = None,
    encoding: str = "utf-8",
    heads: bool = True,
) -> Sentences:
    """Read all sentences of files (see `open_corpus`) or of Python lists (see `Sentences.of`)."""
    if isinstance(what, Sentences):
        return what
    if isinstance(what, Corpus):
        return what.read()
    if not is_path(what):
        return Sentences.of(what, columns)
    return open_corpus(what, format, columns, separator=separator, encoding=encoding, heads=heads).read()


def is_path(what: Any) -> bool:
    """Whether it names files. A list of strings is a sentence; a list of paths must be of `pathlib.Path`."""
    if isinstance(what, list | tuple) and what:
        return all(isinstance(one, os.PathLike) for one in what)
    return isinstance(what, str | os.PathLike)


def files_of(what: Any, once: bool) -> list[File]:
    if what == STANDARD_INPUT:
        return [standard_input(once)]
    if not is_path(what):
        raise DataError(f"the files must be given by a name, a pattern or a list of paths, not {what!r:.80}")
    paths = [os.fspath(one) for one in (what if isinstance(what, list | tuple) else [what])]
    found = [path for one in paths for path in find(one)]
    for path in found:
        if os.path.isdir(path):
            raise DataError(f"{path} is a folder; name the files in it, for example {os.path.join(path, '*.conllu')}")
    return [file_at(path, once) for path in found]


def named_format(path: str) -> str | None:
    ending = os.path.splitext(name_without_compression(path))[1].removeprefix(".")
    return FORMAT_OF_ENDING.get(ending)


def guess_format(start: bytes) -> str:
    """Guess the format from the first lines of a file."""
    lines = [line.rstrip(b"\r") for line in islice(start.split(b"\n"), LINES_LOOKED_AT)]
    content = [line for line in lines if line.strip() and not line.startswith(b"#")]
    if content and content[0].count(b"\t") == 9:
        return "conllu"
    if content and content[0].lstrip().startswith(b"{"):
        return "jsonl"
    widths = {len(line.split()) for line in lines if line.strip() and not line.startswith(b"-DOCSTART-")}
    return "columns" if len(widths) == 1 and widths.pop() > 1 and len(content) > 1 else "text"


def checked_columns(columns: Sequence[str], format: str) -> list[str]:
    names = list(check_named("columns", unique_names, columns))
    if format == "conllu":
        for name in names:
            if name not in COLUMNS_OF_CONLLU:
                known = ", ".join(map(repr, COLUMNS_OF_CONLLU))
                guess = did_you_mean(name, COLUMNS_OF_CONLLU)
                raise SettingsError("columns", f"must be among {known}, not {name!r}.{guess}")
        return list(dict.fromkeys([FORM, *names]))
    if format != "columns":
        raise SettingsError("columns", f"has no meaning for the format {format!r}; leave it out")
    if FORM not in names:
        raise SettingsError("columns", f"must contain {FORM!r}, the column of words, but are {names!r}")
    return names


# ---- trees


def check_trees(sentences: Sentences) -> None:
    """Check that the heads of each sentence form a tree with one root. The error names the first wrong place."""
    if sentences.heads is None:
        raise DataError("the sentences have no heads, so there are no trees")
    found = _core.find_bad_tree(sentences.starts, np.ascontiguousarray(sentences.heads, np.int32))
    if found is not None:
        word, problem = found
        raise DataError(f"{sentences.place_of(word)}: {problem}")
