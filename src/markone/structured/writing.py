"""Writes sentences with predicted columns, as CoNLL-U, files of columns and JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.strings import Strings
from markone.errors import DataError, did_you_mean
from markone.structured.corpora import COLUMNS_OF_CONLLU
from markone.structured.passages import Passage
from markone.structured.sentences import FORM, HEAD, TAG, Sentences

NAMES_IN_JSON = {FORM: "tokens", TAG: "tags", HEAD: "heads"}


def write_conllu(
    sentences: Sentences, columns: Mapping[str, Strings] | None = None, heads: NDArray[np.int32] | None = None
) -> bytes:
    """Return the sentences in CoNLL-U, in which these columns and heads replace their own.

    Sentences that were read from CoNLL-U keep their comments, their lines of multiword tokens and empty nodes, and all
    other columns.

    >>> write_conllu(Sentences.of([["dogs"]]), {"upos": Strings.of(["NOUN"])})
    b'1\\tdogs\\t_\\tNOUN\\t_\\t_\\t_\\t_\\t_\\t_\\n\\n'
    """
    columns = columns or {}
    for name in columns:
        if name not in COLUMNS_OF_CONLLU:
            raise DataError(f"CoNLL-U has no column {name!r}.{did_you_mean(name, COLUMNS_OF_CONLLU)}")
    sentences = sentences.with_columns(columns, heads)
    source = sentences.source
    try:
        if not isinstance(source, Passage) or source.format != "conllu":
            known = {name: strings for name, strings in sentences.columns.items() if name in COLUMNS_OF_CONLLU}
            heads = sentences.heads
            return _core.write_conllu(sentences.starts, new_columns(known), whole(heads)).tobytes()
        return b"".join(in_a_row(rewritten(sentences, source, list(columns), heads is not None)))
    except ValueError as error:
        raise DataError(f"this cannot be written as CoNLL-U: {error}") from None


def append_column(sentences: Sentences, column: Strings) -> bytes:
    """Return the content of files of columns with one additional column."""
    source = sentences.source
    if not isinstance(source, Passage) or source.format != "columns":
        raise DataError("a column can be added only to sentences from a file of columns")
    sentences = sentences.with_columns({"added": column})
    try:
        found = (
            _core.append_column(
                data, places, *arrays(part.columns["added"]), b"\t" in data[places[0] :].split(b"\n", 1)[0]
            ).tobytes()
            for data, places, part in pieces(sentences, source)
        )
        return b"".join(in_a_row(found))
    except ValueError as error:
        raise DataError(f"this cannot be written as columns: {error}") from None


def rewritten(sentences: Sentences, source: Passage, names: Sequence[str], with_heads: bool) -> Iterator[bytes]:
    """The pieces of the files that contain the sentences, with new values in these columns."""
    for data, places, part in pieces(sentences, source):
        new = new_columns({name: part.columns[name] for name in names})
        yield _core.rewrite_conllu(data, places, new, whole(part.heads) if with_heads else None).tobytes()


def in_a_row(found: Iterable[bytes]) -> Iterator[bytes]:
    """Join pieces of CoNLL-U or of columns. In a file, the last line may lack its line end, and the last sentence may
    lack its blank line; they are added if another piece follows.

    >>> b"".join(in_a_row([b"a\\tDET", b"dog\\tNOUN\\n", b"barks\\tVERB"]))
    b'a\\tDET\\n\\ndog\\tNOUN\\n\\nbarks\\tVERB'
    """
    before, line_end = b"", b"\n"
    for piece in found:
        if before and not before.endswith((b"\n\n", b"\n\r\n")):
            yield line_end if before.endswith(b"\n") else line_end * 2
        yield piece
        before = piece
        if b"\n" in piece:
            line_end = b"\r\n" if b"\r\n" in piece else b"\n"


def pieces(sentences: Sentences, source: Passage) -> Iterator[tuple[bytes, NDArray[np.int64], Sentences]]:
    """The pieces of files, with the positions of the words and the sentences in each piece."""
    joined = (source.which[1:] == source.which[:-1]) & (source.begins[1:] == source.ends[:-1])
    breaks = [0, *(np.flatnonzero(~joined) + 1).tolist(), len(sentences)]
    for begin, end in pairwise(breaks):
        if begin == end:
            continue
        first, last = int(source.begins[begin]), int(source.ends[end - 1])
        data = source.chunks[int(source.which[begin])].data[first:last]
        places = source.places[sentences.starts[begin] : sentences.starts[end]] - first
        yield data, places, sentences.some(begin, end)


def new_columns(columns: Mapping[str, Strings]) -> list[tuple[int, NDArray[np.uint8], NDArray[np.int64]]]:
    return [(COLUMNS_OF_CONLLU[name], *arrays(strings)) for name, strings in columns.items()]


def arrays(strings: Strings) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    return np.ascontiguousarray(strings.data), np.ascontiguousarray(strings.offsets)


def whole(heads: NDArray[np.int32] | None) -> NDArray[np.int32] | None:
    return None if heads is None else np.ascontiguousarray(heads, np.int32)


def write_columns(sentences: Sentences, names: Sequence[str]) -> bytes:
    """Return a line for each word, with tabs between its columns, and an empty line after each sentence.

    >>> write_columns(Sentences.of([[("dogs", "NOUN"), ("bark", "VERB")]]), ["form", "tag"])
    b'dogs\\tNOUN\\nbark\\tVERB\\n\\n'
    """
    parts = []
    for words in zip(*(sentences.lists(name) for name in names), strict=True):
        for fields in zip(*words, strict=True):
            for field in fields:
                if not field or set(field) & set("\t\n\r"):
                    raise DataError(
                        f"{field!r:.80} cannot be written as a column: it is empty, or contains a tab or a line end"
                    )
            parts.append("\t".join(fields) + "\n")
        parts.append("\n")
    return "".join(parts).encode("utf-8", "surrogatepass")


def write_json(sentences: Sentences, names: Sequence[str]) -> bytes:
    """Return a JSON object for each sentence, with a list for each column.

    >>> write_json(Sentences.of([[("dogs", "NOUN")]]), ["form", "tag"])
    b'{"tokens": ["dogs"], "tags": ["NOUN"]}\\n'
    """
    columns = {
        NAMES_IN_JSON.get(name, name): sentences.head_lists() if name == HEAD else sentences.lists(name)
        for name in names
    }
    rows = (dict(zip(columns, one, strict=True)) for one in zip(*columns.values(), strict=True))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8", "surrogatepass")
