"""The parser: a tree over the words of each sentence."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.brief import Brief, of_fields
from markone.data.spill import Room
from markone.errors import DataError, Setting, SettingsError, Words
from markone.learning.checkpoints import Path
from markone.learning.passes import Callback
from markone.learning.progress import Progress
from markone.model.history import History
from markone.storage.container import to_bytes
from markone.storage.saved import Saved
from markone.structured.alternatives import Choice, Term, choice
from markone.structured.corpora import read_sentences
from markone.structured.parser_explanation import LEFT, MOVES, RIGHT, SHIFT, ParseExplanation, Replay
from markone.structured.parser_file import load_parser, save_parser, to_saved, unpickled
from markone.structured.parser_settings import USUAL_FEATURES, Crossing, Mode, ParserSettings
from markone.structured.parser_weights import OF_OTHERS, OF_ROOT, ParserWeights
from markone.structured.scoring import TreeScore, score_trees
from markone.structured.sentences import FORM, TAG, Sentences, Strings
from markone.structured.tagger import Tagger

DEPREL = "deprel"
FEATS = "feats"
TAG_FIRST = ("tag the words first, or train a parser with ", Setting("tag", True), ", which does so itself")


class Tree(NamedTuple):
    """The head and the label of each word of a sentence."""

    heads: list[int]
    """The number of the word on which each depends, from 1; 0 for the root."""
    labels: list[str]

    def __repr__(self) -> str:
        return of_fields(self)


class Parser(Brief):
    """A tree over each sentence: on which word each depends, and how.

    Examples
    --------
    >>> dogs = {"form": ["dogs", "bark"], "upos": ["NOUN", "VERB"], "head": [2, 0], "deprel": ["nsubj", "root"]}
    >>> parser = Parser.train([dogs], mode="fast", epochs=5)
    >>> parser.parse([{"form": ["cats", "meow"], "upos": ["NOUN", "VERB"]}])
    [Tree(heads=[2, 0], labels=['nsubj', 'root'])]
    """

    def __init__(
        self,
        *,
        labels: list[str],
        settings: ParserSettings,
        weights: ParserWeights,
        history: History,
        crossing: int = 0,
        tagger: Tagger | None = None,
        resume: Saved | None = None,
    ) -> None:
        self.labels = labels
        """Of arcs."""
        self.settings = settings
        """How it was trained."""
        self.weights = weights
        self.history = history
        """The passes of its training."""
        self.crossing = crossing
        """How many sentences it was trained on had arcs that cross, which were lifted, or were skipped for it."""
        self.tagger = tagger
        """What tags the words before they are parsed, if it was learned with the parser."""
        self.resume = resume
        """What is needed to go on with the training, in a file of checkpoints."""
        self._core = weights.parser(settings.width, settings.mode == "exact")
        self._names = Strings.of(labels)

    def __reduce__(self) -> tuple[Any, ...]:
        """The content of its file, which is checked when it is read."""
        return unpickled, (to_bytes(to_saved(self)),)

    def in_brief(self) -> str:
        return f"{self.settings.mode!r}, {len(self.labels)} labels, {len(self.weights):,} features"

    # ---- learning

    @classmethod
    def train(
        cls,
        source: Any,
        *,
        mode: Mode = "accurate",
        tags: str = "upos",
        tag: bool = False,
        epochs: int | None = None,
        round: int | None = None,
        beam: int | None = None,
        C: float | None = None,
        features: int = USUAL_FEATURES,
        crossing: Crossing = "lift",
        seed: int = 0,
        holdout: float = 0.0,
        patience: int | None = None,
        memory: int | str | None = None,
        checkpoint: Any = None,
        resume: Any = False,
        callback: Callback | None = None,
        progress: Progress | bool | None = None,
    ) -> Parser:
        """Learns from sentences that have trees.

        Parameters
        ----------
        source
            `Sentences`, the path of a file of them in CoNLL-U, or lists in Python: a dict of columns for each sentence,
            with `form`, `head`, `deprel` and a column of tags.
        mode
            `fast`: move by move, learned with a dynamic oracle that knows what is best after mistakes, too. `accurate`:
            with a beam of states, learned where the best of them is furthest above the right one. `exact`: the best
            tree of all whose score is the sum of its arcs' scores, by Eisner's algorithm and learned with MIRA, in time
            that grows with the third power of a sentence's length.
        tags
            The column of parts of speech that is looked at.
        tag
            Learn a tagger of that column as well, which is part of the parser and tags whatever it parses. The parser
            then learns from tags as good as those will be: each of five parts of the sentences is tagged by a tagger
            that has learned from the others.
        epochs
            How many passes are made; 32 if it is to be accurate, and else 10.
        round
            After so many passes the weights start from 0 again, and sentences come in other orders: the weights are
            the mean of all rounds, which is better than each. 8 by default if it is to be accurate; else one round is
            all.
        beam
            How many states are kept, if it is to be accurate; 8 by default.
        C
            The longest step of MIRA, if the search is exact; 0.01 by default.
        features
            How many features of moves, or of arcs, are kept: those with the largest weights.
        crossing
            What becomes of trees whose arcs cross, which it cannot make: `lift` gives the shortest such arc the next
            higher head until none cross, `skip` leaves the sentence out. How many there were is `Parser.crossing`.
        seed
            Of the order of sentences, which is another in each pass, of how it explores, and of what is held out.
        holdout
            The share of sentences that are held out.
        patience
            Stop when the share of held-out words with the right head and label has not got better for so many passes,
            and take the best weights.
        memory
            How much of it the sentences of files and what is made of them may take, as in `"500 MB"`; half of the
            machine's by default. What does not fit goes through a temporary file; the parser is the same.
        checkpoint
            The path of a file in which the training is kept, after every pass and when Ctrl-C or SIGTERM interrupts it;
            or a `Checkpoints` that says how often.
        resume
            Take up the training that is kept in the file of checkpoints, if there is one, or in another file: the
            parser will be, to the bit, what it would have been without the interruption. Source and settings must be
            the same; `epochs` may be more.
        callback
            Called with each pass; training ends when it returns True.
        progress
            True for a bar on a terminal and lines elsewhere; or an object that is told how far the work is.
        """
        from markone.structured.parser_training import train_parser

        given = {
            "mode": mode,
            "tags": tags,
            "epochs": epochs,
            "round": round,
            "beam": beam,
            "C": C,
            "features": features,
            "crossing": crossing,
            "seed": seed,
            "holdout": holdout,
            "patience": patience,
        }
        return train_parser(
            source,
            given,
            tag=tag,
            memory=memory,
            checkpoint=checkpoint,
            resume=resume,
            callback=callback,
            progress=progress,
        )

    def save(self, path: Path, *, final: bool = False) -> None:
        """Writes the parser into a file, which is replaced when the new one is whole.

        Parameters
        ----------
        path
            The name of the file.
        final
            Leave out what is needed only to go on with the training; only files of checkpoints have that.
        """
        save_parser(self, path, final=final)

    @classmethod
    def load(cls, path: Path) -> Parser:
        """The parser in a file that `save` has written. The file may come from anywhere: nothing in it is run."""
        return load_parser(path)

    # ---- parsing

    def parse(self, sentences: Any) -> list[Tree]:
        """The tree of each sentence.

        Parameters
        ----------
        sentences
            A dict of columns for each sentence, with `form` and the column of tags; lists of pairs of a word and its
            tag; the path of a file; or `Sentences`.
        """
        batch = self._read(sentences)
        heads, numbers = self._parse(self._tagged(batch))
        all_heads, names = heads.tolist(), [self.labels[number] for number in numbers.tolist()]
        return [Tree(all_heads[begin:end], names[begin:end]) for begin, end in pairwise(batch.starts.tolist())]

    def parse_columns(self, sentences: Sentences) -> tuple[NDArray[np.int32], Strings]:
        """The heads and the labels of all words, as columns."""
        parsed = self.parsed(sentences)
        assert parsed.heads is not None
        return parsed.heads, parsed.column(DEPREL)

    def parsed(self, sentences: Sentences) -> Sentences:
        """The sentences with the heads and labels that it finds and, if it has a tagger, with that one's tags."""
        batch = self._tagged(with_tags(sentences, self.settings.tags))
        heads, numbers = self._parse(batch)
        return batch.with_columns({DEPREL: self._names.chosen(numbers)}, heads)

    def evaluate(self, sentences: Any) -> TreeScore:
        """How many heads and labels are right; the sentences have the right ones."""
        batch = self._read(sentences)
        return score_trees(batch, *self.parse_columns(batch))

    def explain(self, words: Any, i: int) -> ParseExplanation:
        """What spoke for the head of word `i`, when it got one, and not for another move; and for its label.

        Parameters
        ----------
        words
            One sentence.
        i
            The number of the word, from 0.
        """
        batch = self._read([words] if isinstance(words, dict) else words)
        if len(batch) != 1:
            raise DataError(f"one sentence is wanted, not {len(batch)}")
        if isinstance(i, bool) or not isinstance(i, int) or not 0 <= i < batch.words:
            raise SettingsError("i", f"must be the number of one of {batch.words} words, from 0, not {i!r}")
        batch = self._tagged(batch)
        bank = bank_of(batch, self.settings.tags)
        moves, labels = self._path(bank)
        state = Replay(batch.form.tolist(), batch.column(self.settings.tags).tolist(), self.labels)
        step = 0
        while not (moves[step] != SHIFT and state.stack[-1] == i):
            state.make(int(moves[step]), int(labels[step]))
            step += 1
        before = np.ascontiguousarray(moves[:step]), np.ascontiguousarray(labels[:step])
        how, label, root = int(moves[step]), int(labels[step]), batch.words
        head = state.next if how == LEFT else state.stack[-2]
        if self.settings.mode == "exact":
            arc = self._why_head(bank, state, head, i)
        else:
            weights, nodes = self._core.look_at_moves(bank, 0, *before)
            names = [state.name(template, nodes) for template in _core.move_templates()]
            arc = choice(names, weights.reshape(-1, 3) * self.weights.move_unit, how, MOVES, state.allowed())
        weights, nodes = self._core.look_at_labels(bank, 0, *before, how)
        names = [state.name(template, nodes) for template in _core.label_templates()]
        possible = np.flatnonzero(self.weights.label_uses & (OF_ROOT if head == root else OF_OTHERS)).tolist()
        rows = weights.reshape(-1, len(self.labels)) * self.weights.label_unit
        return ParseExplanation(
            word=batch.form[i],
            head=state.forms[head],
            arc=arc,
            label=choice(names, rows, label, self.labels, possible),
        )

    def _path(self, bank: _core.TreeBank) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The moves that make the tree of the only sentence, and the labels of its arcs."""
        if self.settings.mode != "exact":
            return self._core.path(bank, 0)
        heads, numbers = self._core.parse(bank)
        moves: list[int] = []
        labels: list[int] = []
        stack: list[int] = []
        for _ in range(2 * len(heads)):
            costs = _core.move_costs(heads, np.array(moves, np.int32))
            move = next(move for move in (LEFT, RIGHT, SHIFT) if costs[move] == 0)
            if move == SHIFT:
                stack.append(moves.count(SHIFT))
            moves.append(move)
            labels.append(-1 if move == SHIFT else int(numbers[stack.pop()]))
        return np.array(moves, np.int32), np.array(labels, np.int32)

    def _why_head(self, bank: _core.TreeBank, state: Replay, head: int, word: int) -> Choice:
        """What spoke for the arc from its head, and not for that from the next best one."""
        scores = self._core.arc_scores(bank, 0)[:, word].copy()
        scores[[head, word]] = -np.inf
        other = int(np.argmax(scores))
        if not np.isfinite(scores[other]):
            return Choice(state.forms[head], None, [])
        said: dict[str, list[float]] = {}
        for side, one in enumerate((head, other)):
            weights = self._core.look_at_arc(bank, 0, one, word).tolist()
            for name, weight in zip(state.arc_names(one, word), weights, strict=True):
                said.setdefault(name, [0.0, 0.0])[side] = weight
        terms = [Term(name, *both) for name, both in said.items() if both[0] != both[1]]
        terms.sort(key=lambda term: -abs(term.difference))
        return Choice(state.forms[head], state.forms[other], terms)

    def _parse(self, sentences: Sentences) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        try:
            return self._core.parse(bank_of(sentences, self.settings.tags))
        except ValueError as error:  # a sentence is too long
            raise DataError(str(error)) from None

    def _read(self, sentences: Any) -> Sentences:
        return with_tags(read_sentences(sentences), self.settings.tags)

    def _tagged(self, batch: Sentences) -> Sentences:
        if self.tagger is None:
            check_tags(batch, self.settings.tags)
            return batch
        return batch.with_columns({self.settings.tags: self.tagger.tag_columns(batch)})


# ---- what the core reads


def with_tags(batch: Sentences, tags: str) -> Sentences:
    """Pairs of a word and its tag will do, whatever the column is called."""
    if tags not in batch.columns and batch.words == 0:
        return batch.with_columns({tags: Strings.of([])})
    if tags not in batch.columns and set(batch.columns) == {FORM, TAG}:
        return batch.with_columns({tags: batch.column(TAG)})
    return batch


def check_tags(batch: Sentences, tags: str, advice: Words = TAG_FIRST) -> None:
    """That every word has a tag. Of features an underscore says that there are none."""
    if tags == FEATS:
        return
    blank = batch.column(tags).blank()
    if len(blank) > 0:
        more = "" if len(blank) == 1 else f", as have {len(blank) - 1:,} more"
        raise DataError(
            f"{batch.place_of(int(blank[0]))}: {batch.form[int(blank[0])]!r} has no {tags}{more}, and a parser goes by "
            "them",
            column=tags,
            advice=advice,
        )


def bank_of(sentences: Sentences, tags: str, room: Room | None = None) -> _core.TreeBank:
    """Sentences as the core sees them."""
    make = np.empty if room is None else room.empty
    forms, names = sentences.arrays((FORM, tags))
    atoms = make((sentences.words, _core.TreeBank.atoms_of_word), np.uint64)
    return _core.TreeBank(np.ascontiguousarray(sentences.starts), *forms, *names, atoms)
