"""Scores of tags, spans and trees. Scores can be added, so that a corpus is evaluated batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.strings import Strings
from markone.errors import DataError
from markone.reporting.grids import SCREEN, Facts, Grid
from markone.reporting.shown import Content, Shown
from markone.structured.sentences import Sentences
from markone.structured.spans import spans_of

Tags = Sequence[Sequence[str]]


def share(part: int, whole: int) -> float:
    """The quotient, or 0 if `whole` is 0, as in conlleval."""
    return part / whole if whole else 0.0


def percent(number: float) -> str:
    return f"{100 * number:.2f}"


# ---- tags


@dataclass(frozen=True, repr=False)
class TagScore(Shown):
    """The number of words with the right tag, and of sentences in which all tags are right."""

    words: int = 0
    right: int = 0
    sentences: int = 0
    right_sentences: int = 0
    confusions: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often each pair of a right tag and a wrong prediction occurs."""
    known: int | None = None
    """The number of words that occur in the training data; None if this is unknown."""
    right_known: int = 0
    """The number of these words with the right tag."""

    def in_brief(self) -> str:
        return str(self).split("\n")[0]

    @property
    def accuracy(self) -> float:
        return share(self.right, self.words)

    @property
    def known_accuracy(self) -> float | None:
        """The accuracy for words that occur in the training data."""
        return None if self.known is None else share(self.right_known, self.known)

    @property
    def unknown_accuracy(self) -> float | None:
        """The accuracy for words that do not occur in the training data."""
        return None if self.known is None else share(self.right - self.right_known, self.words - self.known)

    @property
    def sentence_accuracy(self) -> float:
        return share(self.right_sentences, self.sentences)

    def __add__(self, other: TagScore) -> TagScore:
        return TagScore(
            self.words + other.words,
            self.right + other.right,
            self.sentences + other.sentences,
            self.right_sentences + other.right_sentences,
            self.confusions + other.confusions,
            self.known + other.known if self.known is not None and other.known is not None else None,
            self.right_known + other.right_known,
        )

    def commonest(self, few: int = 5) -> list[tuple[tuple[str, str], int]]:
        """The most frequent pairs of a right tag and a wrong prediction."""
        return sorted(self.confusions.items(), key=lambda pair: (-pair[1], pair[0]))[:few]

    def __str__(self) -> str:
        lines = [f"{name} {percent(share)} % ({counts})" for name, share, counts in self._shares()]
        if self.confusions:
            pairs = ", ".join(f"{gold} as {found} ({count:,})" for (gold, found), count in self.commonest())
            lines += wrap(f"most frequent errors: {pairs}", SCREEN, subsequent_indent="  ", break_on_hyphens=False)
        return "\n".join(lines)

    def _shares(self) -> Iterator[tuple[str, float, str]]:
        yield "accuracy", self.accuracy, f"{self.right:,} of {self.words:,} words"
        sentences = f"{self.right_sentences:,} of {self.sentences:,} sentences"
        yield "sentences all right", self.sentence_accuracy, sentences
        if self.known is not None and self.known_accuracy is not None and self.unknown_accuracy is not None:
            yield "known words", self.known_accuracy, f"{self.right_known:,} of {self.known:,} words"
            right, words = self.right - self.right_known, self.words - self.known
            yield "unknown words", self.unknown_accuracy, f"{right:,} of {words:,} words"

    def parts(self) -> Iterator[Content]:
        yield Facts([(name, f"{percent(share)} %", counts) for name, share, counts in self._shares()])
        if self.confusions:
            rows = [[gold, found, f"{count:,}"] for (gold, found), count in self.commonest()]
            yield Grid([["is", "said", "words"]], rows, words=(0, 1))

    def as_dict(self) -> dict[str, Any]:
        """The content as JSON values."""
        return {
            "words": self.words,
            "right": self.right,
            "accuracy": self.accuracy,
            "sentences": self.sentences,
            "right_sentences": self.right_sentences,
            "sentence_accuracy": self.sentence_accuracy,
            "known": self.known,
            "right_known": None if self.known is None else self.right_known,
            "known_accuracy": self.known_accuracy,
            "unknown_accuracy": self.unknown_accuracy,
            "confusions": [
                {"gold": gold, "found": found, "count": count}
                for (gold, found), count in self.commonest(len(self.confusions))
            ],
        }


def score_tags(gold: Tags, found: Tags, known: Sequence[Sequence[bool]] | None = None) -> TagScore:
    """Compare predicted tags with the right ones. `known` says which words occur in the training data.

    >>> print(score_tags([["DET", "NOUN"], ["VERB"]], [["DET", "VERB"], ["VERB"]]))
    accuracy 66.67 % (2 of 3 words)
    sentences all right 50.00 % (1 of 2 sentences)
    most frequent errors: NOUN as VERB (1)
    """
    check_sizes(gold, found)
    confusions: Counter[tuple[str, str]] = Counter()
    words = right_sentences = 0
    for one, other in zip(gold, found, strict=True):
        words += len(one)
        wrong = [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
        confusions.update(wrong)
        right_sentences += not wrong
    if known is None:
        return TagScore(words, words - confusions.total(), len(gold), right_sentences, confusions)
    check_sizes(gold, known)
    right_known = sum(
        one == other
        for three in zip(gold, found, known, strict=True)
        for one, other, is_known in zip(*three, strict=True)
        if is_known
    )
    return TagScore(
        words, words - confusions.total(), len(gold), right_sentences, confusions, sum(map(sum, known)), right_known
    )


def check_sizes(gold: Sequence[Sequence[Any]], found: Sequence[Sequence[Any]]) -> None:
    if len(gold) != len(found):
        raise DataError(f"there are {len(gold)} sentences, but predictions for {len(found)}")
    for number, (one, other) in enumerate(zip(gold, found, strict=True), 1):
        if len(one) != len(other):
            raise DataError(f"sentence {number} has {len(one)} words, but predictions for {len(other)}")


# ---- spans


@dataclass(frozen=True)
class Hits:
    """The numbers of right spans (`gold`), of predicted spans (`found`), and of predicted spans that are right."""

    gold: int = 0
    found: int = 0
    right: int = 0

    @property
    def precision(self) -> float:
        return share(self.right, self.found)

    @property
    def recall(self) -> float:
        return share(self.right, self.gold)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return share(2 * self.right, self.gold + self.found)

    def __add__(self, other: Hits) -> Hits:
        return Hits(self.gold + other.gold, self.found + other.found, self.right + other.right)

    def as_dict(self) -> dict[str, Any]:
        return {
            "gold": self.gold,
            "found": self.found,
            "right": self.right,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
        }


@dataclass(frozen=True, repr=False)
class SpanScore(Shown):
    """Scores of spans. A predicted span is right if its words and its kind are right, as in conlleval."""

    tags: TagScore = field(default_factory=TagScore)
    kinds: dict[str, Hits] = field(default_factory=dict)

    def in_brief(self) -> str:
        return next(self.lines())

    @property
    def all(self) -> Hits:
        """The numbers of all kinds together."""
        return sum(self.kinds.values(), Hits())

    @property
    def precision(self) -> float:
        return self.all.precision

    @property
    def recall(self) -> float:
        return self.all.recall

    @property
    def f1(self) -> float:
        return self.all.f1

    def __add__(self, other: SpanScore) -> SpanScore:
        names = sorted(self.kinds.keys() | other.kinds.keys())
        none = Hits()
        return SpanScore(
            self.tags + other.tags, {name: self.kinds.get(name, none) + other.kinds.get(name, none) for name in names}
        )

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def parts(self) -> Iterator[Content]:
        first, second, *_ = self.lines()
        rows = [
            [name, *map(percent, (one.precision, one.recall, one.f1)), f"{one.gold:,}"]
            for name, one in [*self.kinds.items(), ("all", self.all)]
        ]
        yield from (first, second, Grid([["kind", "precision", "recall", "F1", "spans"]], rows[:-1], rows[-1:]))

    def lines(self) -> Iterator[str]:
        hits = self.all
        yield f"F1 {percent(self.f1)} % ({hits.right:,} of {hits.gold:,} spans, {hits.found:,} found)"
        yield f"accuracy {percent(self.tags.accuracy)} % ({self.tags.right:,} of {self.tags.words:,} words)"
        wide = max(4, *(len(name) for name in self.kinds)) if self.kinds else 4
        yield f"{'kind':<{wide}}  precision  recall      F1   spans"
        for name, one in [*self.kinds.items(), ("all", hits)]:
            numbers = f"{percent(one.precision):>9}  {percent(one.recall):>6}  {percent(one.f1):>6}"
            yield f"{name:<{wide}}  {numbers}  {one.gold:>6,}"

    def as_dict(self) -> dict[str, Any]:
        """The content as JSON values."""
        kinds = {name: hits.as_dict() for name, hits in self.kinds.items()}
        return {**self.all.as_dict(), "accuracy": self.tags.accuracy, "words": self.tags.words, "kinds": kinds}


def score_spans(gold: Tags, found: Tags) -> SpanScore:
    """Compare the spans of predicted tags with the right spans. Tags are in IOB1, IOB2 or IOBES.

    >>> print(score_spans([["B-NP", "I-NP", "B-VP"]], [["B-NP", "I-NP", "B-NP"]]))
    F1 50.00 % (1 of 2 spans, 2 found)
    accuracy 66.67 % (2 of 3 words)
    kind  precision  recall      F1   spans
    NP        50.00  100.00   66.67       1
    VP         0.00    0.00    0.00       1
    all       50.00   50.00   50.00       2
    """
    tags = score_tags(gold, found)
    counts: dict[str, Counter[str]] = {"gold": Counter(), "found": Counter(), "right": Counter()}
    for one, other in zip(gold, found, strict=True):
        there, seen = spans_of(one), spans_of(other)
        counts["gold"].update(span.kind for span in there)
        counts["found"].update(span.kind for span in seen)
        counts["right"].update(span.kind for span in set(there) & set(seen))
    names = sorted(counts["gold"].keys() | counts["found"].keys())
    return SpanScore(tags, {name: Hits(*(counts[what][name] for what in ("gold", "found", "right"))) for name in names})


# ---- trees


@dataclass(frozen=True, repr=False)
class TreeScore(Shown):
    """The number of words with the right head (UAS), and with the right head and label (LAS).

    As in the CoNLL shared task of 2018, every word counts, including punctuation. Only the part of a label before the
    colon counts, as in `nmod:poss`.
    """

    words: int = 0
    heads: int = 0
    labelled: int = 0
    sentences: int = 0
    whole: int = 0
    """The number of sentences in which all heads and labels are right."""

    @property
    def uas(self) -> float:
        return share(self.heads, self.words)

    @property
    def las(self) -> float:
        return share(self.labelled, self.words)

    def in_brief(self) -> str:
        return str(self).split("\n")[0]

    def __add__(self, other: TreeScore) -> TreeScore:
        return TreeScore(
            self.words + other.words,
            self.heads + other.heads,
            self.labelled + other.labelled,
            self.sentences + other.sentences,
            self.whole + other.whole,
        )

    def __str__(self) -> str:
        return (
            f"UAS {percent(self.uas)} %, LAS {percent(self.las)} % "
            f"({self.heads:,} and {self.labelled:,} of {self.words:,} words)\n"
            f"trees all right {percent(share(self.whole, self.sentences))} % "
            f"({self.whole:,} of {self.sentences:,} sentences)"
        )

    def parts(self) -> Iterator[Content]:
        words, sentences = f"of {self.words:,} words", f"of {self.sentences:,} sentences"
        rows = [
            ("UAS", self.uas, f"right heads: {self.heads:,} {words}"),
            ("LAS", self.las, f"right heads and labels: {self.labelled:,} {words}"),
            ("trees", share(self.whole, self.sentences), f"all right: {self.whole:,} {sentences}"),
        ]
        yield Facts([(name, f"{percent(value)} %", note) for name, value, note in rows])

    def as_dict(self) -> dict[str, Any]:
        """The content as JSON values."""
        return {
            "words": self.words,
            "heads": self.heads,
            "labelled": self.labelled,
            "uas": self.uas,
            "las": self.las,
            "sentences": self.sentences,
            "whole": self.whole,
        }


def score_trees(gold: Sentences, heads: NDArray[np.int32], labels: Strings) -> TreeScore:
    """Compare predicted heads and labels with those of the sentences, which have heads and the column `deprel`.

    >>> gold = Sentences.of([{"form": ["my", "dog"], "head": [2, 0], "deprel": ["nmod:poss", "root"]}])
    >>> print(score_trees(gold, np.array([2, 1], np.int32), Strings.of(["nmod", "root"])))
    UAS 50.00 %, LAS 50.00 % (1 and 1 of 2 words)
    trees all right 0.00 % (0 of 1 sentences)
    """
    if gold.heads is None:
        raise DataError("the sentences have no heads to compare with")
    if not len(heads) == len(labels) == gold.words:
        raise DataError(f"there are {len(heads)} heads and {len(labels)} labels for {gold.words} words")
    same_head = gold.heads == heads
    pairs = zip(gold.column("deprel").tolist(), labels.tolist(), strict=True)
    same_label = np.fromiter((universal(one) == universal(other) for one, other in pairs), bool, gold.words)
    both = same_head & same_label
    wrong_before = np.concatenate([np.zeros(1, np.int64), np.cumsum(~both)])
    whole = wrong_before[gold.starts[1:]] == wrong_before[gold.starts[:-1]]
    return TreeScore(gold.words, int(same_head.sum()), int(both.sum()), len(gold), int(whole.sum()))


def universal(label: str) -> str:
    """The label without its language-specific part."""
    return label.partition(":")[0]
