"""Writing: sentences with what was found of their words, as files of columns and as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Sequence

from markone.errors import DataError
from markone.structured.sentences import FORM, HEAD, TAG, Sentences

NAMES_IN_JSON = {FORM: "tokens", TAG: "tags", HEAD: "heads"}


def write_columns(sentences: Sentences, names: Sequence[str]) -> bytes:
    """A line for each word, with tabs between its columns, and an empty line after each sentence.

    >>> write_columns(Sentences.of([[("dogs", "NOUN"), ("bark", "VERB")]]), ["form", "tag"])
    b'dogs\\tNOUN\\nbark\\tVERB\\n\\n'
    """
    parts = []
    for words in zip(*(sentences.lists(name) for name in names), strict=True):
        for fields in zip(*words, strict=True):
            for field in fields:
                if not field or set(field) & set("\t\n\r"):
                    raise DataError(
                        f"{field!r:.80} cannot be written as a column: it is empty, or has a tab or a line end"
                    )
            parts.append("\t".join(fields) + "\n")
        parts.append("\n")
    return "".join(parts).encode("utf-8", "surrogatepass")


def write_json(sentences: Sentences, names: Sequence[str]) -> bytes:
    """An object for each sentence, with a list of each column.

    >>> write_json(Sentences.of([[("dogs", "NOUN")]]), ["form", "tag"])
    b'{"tokens": ["dogs"], "tags": ["NOUN"]}\\n'
    """
    columns = {
        NAMES_IN_JSON.get(name, name): sentences.head_lists() if name == HEAD else sentences.lists(name)
        for name in names
    }
    rows = (dict(zip(columns, one, strict=True)) for one in zip(*columns.values(), strict=True))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8", "surrogatepass")
