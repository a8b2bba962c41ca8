"""Training sentences that are visited in every pass and need not fit into memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from markone.data.budget import memory_budget
from markone.data.spill import GrowingArray, GrowingStrings, Spill
from markone.structured.corpora import Corpus, is_path, open_corpus
from markone.structured.passages import CorpusLines, Passage
from markone.structured.sentences import Sentences


def held_sentences(source: Any, memory: int | str | None, *, heads: bool = True) -> tuple[Sentences, Spill]:
    """All sentences of a source, and the memory that is left for data made from them.

    Sentences of files are kept in memory up to the limit `memory`, and otherwise in a temporary file. Only the line
    numbers of their words are kept, not the text of the file.
    """
    spill = Spill(memory_budget(memory))
    if isinstance(source, Sentences):
        return source, spill
    if not isinstance(source, Corpus):
        if not is_path(source):
            return Sentences.of(source), spill
        source = open_corpus(source, heads=heads)
    return hold(source.batches(), spill), spill


def hold(batches: Iterable[Sentences], spill: Spill) -> Sentences:
    """Join the sentences of one or more batches. Each batch comes from one piece of a file."""
    columns: defaultdict[str, GrowingStrings] = defaultdict(lambda: GrowingStrings(spill))
    starts, which, lines, heads = (GrowingArray(spill, kind) for kind in (np.int64, np.uint32, np.uint32, np.int32))
    starts.append(np.zeros(1))
    files: list[str] = []
    words = 0
    format = ""
    for batch in batches:
        assert isinstance(batch.source, Passage)
        format, file = batch.source.format, batch.source.chunks[0].file
        if file not in files[-1:]:
            files.append(file)
        starts.append(batch.starts[1:] + words)
        which.append(np.full(len(batch), len(files) - 1))
        lines.append(batch.source.lines())
        if batch.heads is not None:
            heads.append(batch.heads)
        for name, strings in batch.columns.items():
            columns[name].append(strings)
        words += batch.words
    found = heads.finish()
    return Sentences(
        starts.finish(),
        {name: strings.finish() for name, strings in columns.items()},
        found if len(found) == words else None,
        CorpusLines(format, tuple(files), which.finish(), lines.finish()),
    )
