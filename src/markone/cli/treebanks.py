"""What the commands for sentences have in common: how files of them are read, and what is written of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from markone.cli.options import options, parameter_docs
from markone.errors import DataError

if TYPE_CHECKING:
    from markone.structured.corpora import Corpus
    from markone.structured.sentences import Sentences

Output = Literal["conllu", "columns", "jsonl"]
SAID_OTHERWISE = {"once", "what"}
WRITTEN = {
    "columns": " Written as form,pos,chunk.",
    "separator": " Written as tab or space.",
}


def corpus_options() -> Any:
    """Those of `open_corpus`, in its own words."""
    from markone.structured.corpora import FORMATS, open_corpus

    types = {name: kind for name, kind in get_type_hints(open_corpus).items() if name not in {*SAID_OTHERWISE, "return"}}
    helps = {name: text + WRITTEN.get(name, "") for name, text in parameter_docs(open_corpus).items()}
    return options("Sentences", types | {"format": Literal[FORMATS]}, helps, "Reading sentences")


def open_files(data: Sequence[str], said: dict[str, Any], *, once: bool = False) -> Corpus:
    """Files of one format, or standard input."""
    from markone.structured.corpora import open_corpus

    what: Any = data[0] if len(data) == 1 else [Path(name) for name in data]
    return open_corpus(what, once=once, **said)


def read_all(data: Sequence[str], said: dict[str, Any], example: str) -> Sentences:
    if not data:
        raise DataError(f"there are no sentences to learn from; name a file, as in: {example}")
    return open_files(data, said).read()


if TYPE_CHECKING:
    ReadingSentences = dict[str, Any]
else:
    ReadingSentences = corpus_options()
