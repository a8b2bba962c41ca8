"""The tagger: predicts a tag for each word of a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.brief import of_fields
from markone.checks import check_named, whole
from markone.data.strings import Strings
from markone.errors import SettingsError, did_you_mean
from markone.learning.progress import Progress
from markone.learning.run_options import Callback, RunOptions
from markone.model.explaining import check_top
from markone.model.history import History
from markone.reporting.grids import label_in_words, plain_number
from markone.reporting.shown import Content, Shown
from markone.storage.saved import Saved
from markone.structured.alternatives import NOBODY, ROWS_SHOWN, Choice, Term
from markone.structured.answers import Tagged
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
    """A sequence tagger: predicts a tag for each word, for example parts of speech, or spans such as phrases and names.

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
        """The tags in the order of scores. Tags of spans are in the scheme of the training (`learn_as`)."""
        self.settings = settings
        """The settings of its features and its training."""
        self.weights = weights
        self.words = words
        """The tags that each word had in training."""
        self.forms = forms
        """The hashes of all training words, in ascending order; None in files of older versions."""
        self.columns = columns
        """The names of the columns of the training file, if the user has named them."""
        self.repairs: Repairs | None = None
        """The invalid tags of spans in the training data. Files do not contain this."""
        self.history = history
        """The passes of its training."""
        self.resume = resume
        """The state from which training can be resumed; None in a final model."""
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
        partitions: int = 1,
        threads: int | None = None,
        memory: int | str | None = None,
        checkpoint: Any = None,
        resume: Any = False,
        callback: Callback | None = None,
        progress: Progress | bool | None = None,
    ) -> Tagger:
        """Train a tagger on sentences whose words have tags.

        Parameters
        ----------
        source
            `Sentences`, the path of a file, or Python lists: pairs of a word and its tag, or a dict of columns for each
            sentence.
        column
            The column to predict. The default is the tags of pairs, `upos`, or the last column.
        inputs
            Other columns that features may use. They must be known when words are tagged. The default is none or, for
            a file whose columns have no names, the columns before the predicted one.
        rule
            `mira`, which takes the shortest step with which the right sequence wins by the number of wrong tags in the
            other sequence; or `perceptron`, which adds the difference of the features of both sequences.
        epochs
            The number of passes.
        C
            The longest step of `mira`. The default is 0.02.
        average
            Use the average of the weights after each sentence, instead of the last weights.
        decode
            The search for the best sequence: `viterbi`, which is exact; `greedy`, which decides word by word; or
            `beam`. The latter two also use features of the two previous tags.
        beam
            The number of partial sequences in a beam. The default is 4.
        templates
            The feature templates, for example `lower[-1] lower[0]`. `usual` stands for the default templates. See
            `markone.structured.templates`.
        scheme
            The scheme of tags of spans: `IOB1`, `IOB2` or `IOBES`. Only valid sequences are then predicted. By default
            the scheme is guessed; `none` means that tags are not tags of spans. Invalid tags are replaced by the
            nearest valid ones, as in conlleval; `Tagger.repairs` says how many there were.
        learn_as
            The scheme in which spans are learned. The default is `IOBES` for all schemes, because it also marks the
            ends of spans.
        strict
            Raise an error if tags of spans are not valid in their scheme.
        seed
            The seed for the orders of the sentences and the choice of held-out sentences.
        holdout
            The share of sentences that are held out.
        patience
            Stop after this number of passes without improvement of the held-out accuracy, and use the best weights.
        partitions
            The number of partitions of the sentences, which learn at the same time. Their weights are mixed after each
            pass. The tagger depends on this number, but not on the number of threads.
        threads
            The number of threads that learn partitions; by default one per core. The result does not depend on it.
        memory
            The memory limit for the sentences of files and data made from them, for example `"500 MB"`. The default is
            half of the machine's memory. Beyond the limit a temporary file is used; the result is the same.
        checkpoint
            The path of a checkpoint file, which is written after every pass and when Ctrl-C or SIGTERM interrupts the
            training; or a `Checkpoints`, which says how often to write it.
        resume
            Resume the training from the checkpoint file, if it exists, or from another file. The tagger will have the
            same bits as without the interruption. Source and settings must be the same; only `epochs` may be larger.
        callback
            A function that is called after each pass. Training ends when it returns True.
        progress
            By default, a bar is shown on a terminal or in a notebook if the work takes more than two seconds. True
            shows it at once, or prints lines elsewhere. False shows nothing. Or an object that receives the progress.
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
            "partitions": partitions,
        }
        options = RunOptions.of(
            checkpoint=checkpoint, resume=resume, callback=callback, progress=progress, memory=memory, threads=threads
        )
        return train_tagger(cls, source, given, options, strict=strict)

    def to_saved(self, *, final: bool = False) -> Saved:
        return saved_tagger(self, final=final)

    @classmethod
    def parts_of(cls, saved: Saved) -> dict[str, Any]:
        return tagger_parts(saved)

    # ---- tagging

    def tag(self, sentences: Any) -> Tagged:
        """Return the tags of each sentence.

        Parameters
        ----------
        sentences
            Lists of words, one list of words, a dict of columns for each sentence, the path of a file, or `Sentences`.
        """
        batch = self._read(sentences)
        numbers = self._numbers(batch)
        if self._in_scheme is not None:
            tags = _core.lists_of_names(numbers, batch.starts, self._in_scheme)
        else:
            found = numbers.tolist()
            tags = [self._names_of(found[begin:end]) for begin, end in pairwise(batch.starts.tolist())]
        tagged: Tagged = Tagged.of(tags, batch)
        return tagged

    def tag_columns(self, sentences: Sentences) -> Strings:
        """Return the tags of all words as a column."""
        if self._in_scheme is None:
            return Strings.of([tag for tags in self.tag(sentences) for tag in tags])
        return Strings.of(self._in_scheme).take(self._numbers(sentences))

    def scores(self, sentences: Any) -> list[NDArray[np.float32]]:
        """Return for each sentence a matrix with a row for each word and a column for each of `tags`.

        With exact search, the score of a tag is that of the best sequence in which the word has this tag. With other
        searches, it is the score of the tag after the predicted tags before it. Impossible tags have the score -inf.
        """
        batch = self._read(sentences)
        scores = self._tagging.scores(batch.starts, self._texts(batch))
        return [scores[begin:end] for begin, end in pairwise(batch.starts.tolist())]

    def margins(self, sentences: Any) -> list[NDArray[np.float32]]:
        """Return the margin of each word: the score of its best tag minus that of the second best."""
        found = []
        for scores in self.scores(sentences):
            if len(self.tags) == 1:
                found.append(np.full(len(scores), np.inf, np.float32))
                continue
            best = np.partition(scores, -2, axis=1)[:, -2:]
            found.append(best[:, 1] - best[:, 0])
        return found

    def best(self, words: Any, k: int = 5) -> list[tuple[list[str], float]]:
        """Return at most `k` sequences of tags for one sentence, with their scores, the best first."""
        check_named("k", whole(1, 10_000), k)
        batch = self._one(words)
        found = self._tagging.best(batch.starts, self._texts(batch), k)
        return [(self._names_of(numbers.tolist()), score) for score, numbers in found]

    def evaluate(self, sentences: Any) -> TaggerEvaluation:
        """Measure how many predicted tags, and spans, are right. The sentences contain the right ones."""
        batch = self._read(sentences)
        right, found = batch.lists(self.settings.column), self.tag(batch)
        if self.settings.scheme is None:
            spans = None
        else:
            check_parts(batch, self.settings.column)
            spans = score_spans(right, found)
        return TaggerEvaluation(score_tags(right, found, self._known(batch)), spans)

    # ---- explanations

    def explain(self, words: Any, i: int, against: str | None = None) -> TagExplanation:
        """Compare the features for the tag of word `i` with those for another tag, while all other words keep theirs.

        Parameters
        ----------
        words
            One sentence.
        i
            The number of the word, counted from 0.
        against
            The other tag. The default is the tag with the second-best score.
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
        """Return the features with the largest weights for or against a tag, the largest first."""
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
        """Whether each word occurs in the training data; None if the model does not know."""
        if self.forms is None:
            return None
        forms = set(self.forms.tolist())
        known = {form: hash_of(form) in forms for form in set(batch.form.tolist())}
        return [[known[form] for form in words] for words in batch.lists()]

    def _texts(self, batch: Sentences) -> list[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
        return batch.arrays(self._templates.columns)

    def _numbers(self, batch: Sentences) -> NDArray[np.int32]:
        return self._tagging.tag(batch.starts, self._texts(batch))

    def _names_of(self, numbers: list[int]) -> list[str]:
        """The tags of a sentence, in the scheme of the training data."""
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
        """The name of each feature that depends on the tag of word `i`, and its weights for all tags of this word."""
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
                        weights = later.setdefault(template, np.zeros(len(self.tags)))
                        weights[tag] = row[numbers[i + distance]]
            rows += [(f"{self._templates.texts[template]}{where}", weights) for template, weights in later.items()]
        return rows


def tags_in_scheme(tags: list[str], settings: TaggerSettings) -> list[str] | None:
    """Each tag in the scheme of the training data; None if the conversion depends on the neighbouring tags.

    A tag of IOBES tells whether a word begins a span, so the tag of IOB2 follows from it alone.
    """
    if settings.scheme == settings.learn_as:
        return tags
    if settings.learn_as == "IOBES" and settings.scheme == "IOB2":
        begins = {"S": "B", "E": "I"}
        return [begins.get(tag[:1], tag[:1]) + tag[1:] for tag in tags]
    return None


@dataclass(frozen=True, repr=False)
class TaggerEvaluation(Shown):
    """The accuracy of a tagger. It is printed in a few lines."""

    tags: TagScore
    spans: SpanScore | None
    """None if tags are not tags of spans."""

    def in_brief(self) -> str:
        return "; ".join(part.in_brief() for part in (self.tags, self.spans) if part is not None)

    @property
    def accuracy(self) -> float:
        """The share of words with the right tag."""
        return self.tags.accuracy

    @property
    def f1(self) -> float | None:
        """The F1 score of spans; None if tags are not tags of spans."""
        return None if self.spans is None else self.spans.f1

    def parts(self) -> Iterator[Content]:
        for part in (self.tags, self.spans):
            yield from () if part is None else part.parts()

    def __str__(self) -> str:
        unknown = "known words: this model was saved by an older version, which did not store its training words"
        note = unknown if self.tags.known is None else None
        return "\n".join(str(part) for part in (self.tags, note, self.spans) if part is not None)

    def as_dict(self) -> dict[str, Any]:
        """The content as JSON values."""
        return {"tags": self.tags.as_dict(), "spans": None if self.spans is None else self.spans.as_dict()}


class TagFeature(NamedTuple):
    """A feature and its weight for a tag."""

    feature: str
    weight: float

    def __repr__(self) -> str:
        return of_fields(self)


@dataclass(frozen=True, repr=False)
class TagExplanation(Choice, Shown):
    """The reasons for the tag of a word, compared with another tag. The differences add up to the margin."""

    word: str = ""

    def in_brief(self) -> str:
        return f"{self.word!r} is {self.chosen} and not {self.against or NOBODY}, by {plain_number(self.margin)}"

    def as_dict(self) -> dict[str, Any]:
        return {"word": self.word, **super().as_dict()}

    def parts(self) -> Iterator[Content]:
        chosen, against = (label_in_words(one) for one in (self.chosen, self.against or NOBODY))
        yield f"{self.word!r} is {chosen} and not {against}, by {plain_number(self.margin)}"
        yield self.grid()
