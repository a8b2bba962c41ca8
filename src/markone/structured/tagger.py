"""The tagger: a tag for each word of a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.brief import Brief, of_fields
from markone.checks import check_named, whole
from markone.data.strings import Strings
from markone.errors import SettingsError, did_you_mean
from markone.learning.progress import Progress
from markone.learning.run_options import Callback, RunOptions
from markone.model.explaining import Shown, check_top
from markone.model.history import History
from markone.reporting.grids import Grid, label_in_words, plain_number
from markone.reporting.marking import MarkedText
from markone.storage.saved import Saved
from markone.structured.alternatives import NOBODY, ROWS_SHOWN, Choice, Term
from markone.structured.corpora import read_sentences
from markone.structured.scoring import SpanScore, TagScore, score_spans, score_tags
from markone.structured.sentence_model import SentenceModel, check_word
from markone.structured.sentences import Sentences
from markone.structured.spans import Repairs, check_parts, convert
from markone.structured.sparse_weights import KeyedWeights
from markone.structured.tagger_file import KIND, saved_tagger, tagger_parts
from markone.structured.tagger_settings import Decode, TaggerSettings, TagRule
from markone.structured.tagger_training import hash_of, train_tagger

NEXT = " of the next word"
AFTER_NEXT = " of the word after the next"


class Tagger(SentenceModel):
    """A tag for each word: parts of speech, or the parts of phrases and names.

    Examples
    --------
    >>> sentences = [[("the", "DET"), ("dog", "NOUN"), ("barks", "VERB")], [("a", "DET"), ("cat", "NOUN")]]
    >>> tagger = Tagger.train(sentences, epochs=5)
    >>> tagger.tag([["the", "cat", "barks"]])
    [['DET', 'NOUN', 'VERB']]
    """

    kind = KIND

    def __init__(
        self,
        *,
        tags: list[str],
        settings: TaggerSettings,
        words: tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint8]],
        weights: KeyedWeights,
        history: History,
        forms: NDArray[np.uint64] | None = None,
        columns: tuple[str, ...] | None = None,
        resume: Saved | None = None,
    ) -> None:
        self.tags = tags
        """In the order in which scores have them. Those of spans are of the scheme in which they were learned."""
        self.settings = settings
        """How it was trained, and what it looks at."""
        self.weights = weights
        self.words = words
        """Which tags words had in training."""
        self.forms = forms
        """Hashes of the words that it has learned from, in ascending order; None in files of older versions."""
        self.columns = columns
        """The names of the columns of the file that it has learned from, where somebody gave them names."""
        self.repairs: Repairs | None = None
        """What was wrong with the tags of spans that it has just learned from; a file does not keep it."""
        self.history = history
        """The passes of its training."""
        self.resume = resume
        """What is needed to go on with the training; None in a final model."""
        self._in_scheme = tags_in_scheme(tags, settings)
        self._templates = settings.seen()
        self._tagging = _core.Tagging(self._templates.for_core(), settings.for_core(tags), words, weights.rows)

    def in_brief(self) -> str:
        return f"{self.settings.column!r}, {len(self.tags)} tags, {len(self.weights):,} features"

    # ---- learning

    @classmethod
    def train(
        cls,
        source: Any,
        *,
        column: str | None = None,
        inputs: Sequence[str] | None = None,
        rule: TagRule = "mira",
        epochs: int = 10,
        C: float | None = None,
        average: bool = True,
        decode: Decode = "viterbi",
        beam: int | None = None,
        templates: Sequence[str] | None = None,
        scheme: str | None = None,
        learn_as: str | None = None,
        strict: bool = False,
        seed: int = 0,
        holdout: float = 0.0,
        patience: int | None = None,
        memory: int | str | None = None,
        checkpoint: Any = None,
        resume: Any = False,
        callback: Callback | None = None,
        progress: Progress | bool | None = None,
    ) -> Tagger:
        """Learns from sentences whose words have tags.

        Parameters
        ----------
        source
            `Sentences`, the path of a file of them, or lists in Python: of pairs of a word and its tag, or a dict of
            columns for each sentence.
        column
            The column that is learned. By default the tags of pairs, `upos`, or the last column.
        inputs
            Other columns that are looked at, which must be known when words are tagged; by default none or, of a file
            whose columns have no names, those before the one that is learned.
        rule
            `mira`, the shortest step by which the right sequence wins by as much as the other has wrong tags; or
            `perceptron`, which adds the difference of both sequences' features.
        epochs
            How many passes are made.
        C
            The longest step of `mira`; 0.02 by default.
        average
            Whether the weights are the mean of those after each sentence, or the last.
        decode
            How the best sequence is searched for: `viterbi`, which is exact; `greedy`, word by word; or by a `beam`.
            The latter two may look back at two tags, and do.
        beam
            How many beginnings a beam keeps; 4 by default.
        templates
            What is looked at, as texts such as `lower[-1] lower[0]`, among which `usual` stands for those that are
            taken by default: see `markone.structured.templates`.
        scheme
            The scheme of spans that the tags are of, `IOB1`, `IOB2` or `IOBES`, so that none but valid sequences are
            found. By default it is guessed; `none` for none. Tags that are not valid in it are taken for the nearest
            that are, as conlleval does; `Tagger.repairs` says how many there were.
        learn_as
            The scheme in which spans are learned: `IOBES` by default, which tells where they end, whatever the scheme
            of the tags is.
        strict
            Refuse tags of spans that are not valid in their scheme.
        seed
            Of the order of sentences, which is another in each pass, and of which ones are held out.
        holdout
            The share of sentences that are held out.
        patience
            Stop when held-out accuracy has not got better for so many passes, and take the best weights.
        memory
            How much of it the sentences of files and what is made of them may take, as in `"500 MB"`; half of the
            machine's by default. What does not fit goes through a temporary file; the tagger is the same.
        checkpoint
            The path of a file in which the training is kept, after every pass and when Ctrl-C or SIGTERM interrupts it;
            or a `Checkpoints` that says how often.
        resume
            Take up the training that is kept in the file of checkpoints, if there is one, or in another file: the
            tagger will be, to the bit, what it would have been without the interruption. Source and settings must be
            the same; `epochs` may be more.
        callback
            Called with each pass; training ends when it returns True.
        progress
            True for a bar on a terminal and lines elsewhere; or an object that is told how far the work is.
        """
        given = {
            "column": column,
            "inputs": inputs,
            "rule": rule,
            "epochs": epochs,
            "C": C,
            "average": average,
            "decode": decode,
            "beam": beam,
            "templates": templates,
            "scheme": scheme,
            "learn_as": learn_as,
            "seed": seed,
            "holdout": holdout,
            "patience": patience,
        }
        options = RunOptions.of(
            checkpoint=checkpoint, resume=resume, callback=callback, progress=progress, memory=memory
        )
        return train_tagger(cls, source, given, options, strict=strict)

    def to_saved(self, *, final: bool = False) -> Saved:
        return saved_tagger(self, final=final)

    @classmethod
    def parts_of(cls, saved: Saved) -> dict[str, Any]:
        return tagger_parts(saved)

    # ---- tagging

    def tag(self, sentences: Any) -> list[list[str]]:
        """The tags of each sentence.

        Parameters
        ----------
        sentences
            Lists of words, one list of words, a dict of columns for each sentence, the path of a file, or `Sentences`.
        """
        batch = self._read(sentences)
        numbers, ends = self._numbers(batch).tolist(), batch.starts.tolist()
        if self._in_scheme is None:
            return [self._said(numbers[begin:end]) for begin, end in pairwise(ends)]
        tags = [self._in_scheme[number] for number in numbers]
        return [tags[begin:end] for begin, end in pairwise(ends)]

    def tag_columns(self, sentences: Sentences) -> Strings:
        """The tags of all words as a column."""
        if self._in_scheme is None:
            return Strings.of([tag for tags in self.tag(sentences) for tag in tags])
        return Strings.of(self._in_scheme).take(self._numbers(sentences))

    def scores(self, sentences: Any) -> list[NDArray[np.float32]]:
        """For each sentence a row for each word: the scores of `tags`, each that of the best sequence with this tag.

        If the search is not exact, that of the tag after those that were found before. Impossible tags have -inf.
        """
        batch = self._read(sentences)
        scores = self._tagging.scores(batch.starts, self._texts(batch))
        return [scores[begin:end] for begin, end in pairwise(batch.starts.tolist())]

    def margins(self, sentences: Any) -> list[NDArray[np.float32]]:
        """For each word of each sentence, by how much its best tag wins over the next: how sure it is."""
        found = []
        for scores in self.scores(sentences):
            if len(self.tags) == 1:
                found.append(np.full(len(scores), np.inf, np.float32))
                continue
            best = np.partition(scores, -2, axis=1)[:, -2:]
            found.append(best[:, 1] - best[:, 0])
        return found

    def best(self, words: Any, k: int = 5) -> list[tuple[list[str], float]]:
        """The best sequences of tags for one sentence and their scores, so many at most, the best first."""
        check_named("k", whole(1, 10_000), k)
        batch = self._one(words)
        found = self._tagging.best(batch.starts, self._texts(batch), k)
        return [(self._said(numbers.tolist()), score) for score, numbers in found]

    def evaluate(self, sentences: Any) -> TaggerEvaluation:
        """How many tags are right, and spans where tags are parts of them; the sentences have the right ones."""
        batch = self._read(sentences)
        right, found = batch.lists(self.settings.column), self.tag(batch)
        if self.settings.scheme is None:
            spans = None
        else:
            check_parts(batch, self.settings.column)
            spans = score_spans(right, found)
        return TaggerEvaluation(score_tags(right, found, self._known(batch)), spans)

    # ---- why

    def explain(self, words: Any, i: int, against: str | None = None) -> TagExplanation:
        """What speaks for the tag of word `i`, and not for another while the other words keep theirs.

        Parameters
        ----------
        words
            One sentence.
        i
            The number of the word, from 0.
        against
            The other tag; by default the one that would lose least.
        """
        batch = self._one(words)
        check_word(i, batch)
        numbers = self._numbers(batch)
        chosen = int(numbers[i])
        rows = self._rows(batch, numbers, i)
        if against is None:
            totals = np.sum([row[1] for row in rows], axis=0)
            totals[chosen] = -np.inf
            other = int(np.argmax(totals)) if len(self.tags) > 1 else chosen
        else:
            other = self._number(against)
        terms = [
            Term(name, float(weights[chosen]), float(weights[other]))
            for name, weights in rows
            if weights[chosen] != 0 or weights[other] != 0
        ]
        terms.sort(key=lambda term: -abs(term.difference))
        return TagExplanation(self.tags[chosen], self.tags[other], terms, batch.form[i])

    def strongest(self, tag: str, n: int = 20) -> list[TagFeature]:
        """The features with the largest weights for a tag, and against it, the strongest first."""
        number, n = self._number(tag), check_top(n)
        mine = np.flatnonzero(self.weights.columns == number)
        weights = self.weights.weights[mine]
        chosen = mine[np.argsort(-np.abs(weights), kind="stable")[:n]]
        rows = np.searchsorted(self.weights.indptr, chosen, "right") - 1
        return [
            TagFeature(self._name(int(row)), float(self.weights.weights[at]))
            for row, at in zip(rows.tolist(), chosen.tolist(), strict=True)
        ]

    # ---- helpers

    def _read(self, sentences: Any) -> Sentences:
        return read_sentences(sentences, heads=False)

    def _known(self, batch: Sentences) -> list[list[bool]] | None:
        """Whether each word was among those that were learned from; None where nobody can tell."""
        if self.forms is None:
            return None
        forms = set(self.forms.tolist())
        known = {form: hash_of(form) in forms for form in set(batch.form.tolist())}
        return [[known[form] for form in words] for words in batch.lists()]

    def _texts(self, batch: Sentences) -> list[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
        return batch.arrays(self._templates.columns)

    def _numbers(self, batch: Sentences) -> NDArray[np.int32]:
        return self._tagging.tag(batch.starts, self._texts(batch))

    def _said(self, numbers: list[int]) -> list[str]:
        """The tags of a sentence in the scheme in which they were given."""
        if self._in_scheme is not None:
            return [self._in_scheme[number] for number in numbers]
        assert self.settings.scheme is not None
        return convert([self.tags[number] for number in numbers], self.settings.scheme)

    def _number(self, tag: str) -> int:
        if tag not in self.tags:
            known = ", ".join(self.tags[:ROWS_SHOWN])
            raise SettingsError("tag", f"{tag!r:.50} is unknown; there are {known}.{did_you_mean(str(tag), self.tags)}")
        return self.tags.index(tag)

    def _name(self, row: int) -> str:
        return self._templates.name(int(self.weights.templates[row]), self.weights.names[row])

    def _features(
        self, batch: Sentences, numbers: NDArray[np.int32], i: int
    ) -> list[tuple[int, str, NDArray[np.float32]]]:
        """Template, name and weights of each feature of a word."""
        templates, offsets, data, weights = self._tagging.features(batch.starts, self._texts(batch), numbers, i)
        names = Strings(data, offsets).tolist()
        rows = weights.reshape(-1, len(self.tags))
        return [
            (template, self._templates.name(template, name), row)
            for template, name, row in zip(templates.tolist(), names, rows, strict=True)
        ]

    def _rows(self, batch: Sentences, numbers: NDArray[np.int32], i: int) -> list[tuple[str, NDArray[np.float64]]]:
        """What each feature that the tag of word `i` has to do with says to each tag that it might have."""
        rows = [(name, row.astype(np.float64)) for _, name, row in self._features(batch, numbers, i)]
        for distance, where in ((1, NEXT), (2, AFTER_NEXT)):
            if i + distance >= batch.words:
                break
            later: dict[int, NDArray[np.float64]] = {}
            for tag in range(len(self.tags)):
                changed = numbers.copy()
                changed[i] = tag
                for template, _, row in self._features(batch, changed, i + distance):
                    looks = any(
                        place.name == "tag" and place.offset == -distance for place in self._templates.places[template]
                    )
                    if looks:
                        said = later.setdefault(template, np.zeros(len(self.tags)))
                        said[tag] = row[numbers[i + distance]]
            rows += [(f"{self._templates.texts[template]}{where}", said) for template, said in later.items()]
        return rows


def tags_in_scheme(tags: list[str], settings: TaggerSettings) -> list[str] | None:
    """What each tag is in the scheme in which tags were given; None where that depends on those around it.

    IOB2 has the same tags as IOBES for words that begin spans or not.
    """
    if settings.scheme == settings.learn_as:
        return tags
    if settings.learn_as == "IOBES" and settings.scheme == "IOB2":
        begins = {"S": "B", "E": "I"}
        return [begins.get(tag[:1], tag[:1]) + tag[1:] for tag in tags]
    return None


@dataclass(frozen=True, repr=False)
class TaggerEvaluation(Brief):
    """How right a tagger is. Printed, it is a few lines."""

    tags: TagScore
    spans: SpanScore | None
    """Where tags are parts of spans."""

    def in_brief(self) -> str:
        return "; ".join(part.in_brief() for part in (self.tags, self.spans) if part is not None)

    @property
    def accuracy(self) -> float:
        """The share of words that have the right tag."""
        return self.tags.accuracy

    @property
    def f1(self) -> float | None:
        """Of spans."""
        return None if self.spans is None else self.spans.f1

    def __str__(self) -> str:
        untold = "known words: this model is of an older version, and cannot tell which words it has learned from"
        told = untold if self.tags.known is None else None
        return "\n".join(str(part) for part in (self.tags, told, self.spans) if part is not None)

    def as_dict(self) -> dict[str, Any]:
        """All of it, in what JSON has."""
        return {"tags": self.tags.as_dict(), "spans": None if self.spans is None else self.spans.as_dict()}


class TagFeature(NamedTuple):
    """A feature and its weight for a tag."""

    feature: str
    weight: float

    def __repr__(self) -> str:
        return of_fields(self)


@dataclass(frozen=True, repr=False)
class TagExplanation(Choice, Shown):
    """Why a word has its tag and not another: the differences add up to by how much it wins."""

    word: str = ""

    def in_brief(self) -> str:
        return f"{self.word!r} is {self.chosen} and not {self.against or NOBODY}, by {plain_number(self.margin)}"

    def as_dict(self) -> dict[str, Any]:
        return {"word": self.word, **super().as_dict()}

    def parts(self) -> Iterator[str | Grid | list[MarkedText]]:
        chosen, against = (label_in_words(one) for one in (self.chosen, self.against or NOBODY))
        yield f"{self.word!r} is {chosen} and not {against}, by {plain_number(self.margin)}"
        yield self.grid()
