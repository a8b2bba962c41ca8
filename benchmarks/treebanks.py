"""Sentences for the benchmarks: a treebank, and phrases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

from benchmarks.datasets import Dataset, folder
from markone.structured.corpora import read_sentences
from markone.structured.sentences import Sentences

CHUNK_COLUMNS = ("form", "pos", "chunk")


@dataclass(frozen=True, slots=True)
class Treebank:
    """Training sentences and test sentences."""

    train: Sentences
    test: Sentences


def ewt() -> Treebank:
    read = partial(read_sentences, format="conllu")
    return Treebank(*(read(str(folder("ewt") / f"en_ewt-ud-{part}.conllu.gz")) for part in ("train", "test")))


def conll2000() -> Treebank:
    read: Callable[[str], Sentences] = partial(read_sentences, format="columns", columns=CHUNK_COLUMNS)
    return Treebank(*(read(str(folder("conll2000") / f"{part}.txt.gz")) for part in ("train", "test")))


EWT = Dataset("ewt", "12,544 sentences (205,000 words) of English from the web, with tags and trees", cache(ewt))
CONLL2000 = Dataset(
    "conll2000", "8,936 sentences (212,000 words) of newspapers, with tags and phrases", cache(conll2000)
)
