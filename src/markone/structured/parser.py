"""The dependency parser: finds a tree over the words of each sentence."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.brief import of_fields
from markone.data.strings import Strings
from markone.errors import DataError
from markone.learning.progress import Progress
from markone.learning.run_options import Callback, RunOptions
from markone.model.history import History
from markone.reporting.shown import fragment_of
from markone.reporting.svg import Drawing
from markone.storage.saved import Saved
from markone.structured.alternatives import Choice, Term, choice
from markone.structured.answers import Trees
from markone.structured.corpora import read_sentences
from markone.structured.drawing import tree_svg
from markone.structured.parser_explanation import LEFT, MOVES, RIGHT, SHIFT, ParseExplanation, Replay
from markone.structured.parser_file import KIND, parser_parts, saved_parser
from markone.structured.parser_settings import USUAL_FEATURES, Crossing, Mode, ParserSettings
from markone.structured.parser_training import train_parser
from markone.structured.parser_weights import OF_OTHERS, OF_ROOT, ParserWeights
from markone.structured.scoring import TreeScore, score_trees
from markone.structured.sentence_model import SentenceModel, check_word
from markone.structured.sentences import Sentences
from markone.structured.tagger import Tagger
from markone.structured.tree_bank import DEPREL, bank_of, check_tags, with_tags


class Tree(NamedTuple):
    """The head and the label of each word of a sentence."""

    heads: list[int]
    """The number of each word's head, counted from 1; 0 for the root."""
    labels: list[str]

    def __repr__(self) -> str:
        return of_fields(self)

    def _repr_html_(self) -> str:
        numbers = [str(number) for number in range(1, len(self.heads) + 1)]
        return fragment_of([Drawing(tree_svg(numbers, self.heads, self.labels), repr(self))])


class Parser(SentenceModel):
    """A dependency parser: finds the head of each word, and the label of the relation between them.

    Examples
    --------
    >>> dogs = {"form": ["dogs", "bark"], "upos": ["NOUN", "VERB"], "head": [2, 0], "deprel": ["nsubj", "root"]}
    >>> parser = Parser.train([dogs], mode="fast", epochs=5)
    >>> parser.parse([{"form": ["cats", "meow"], "upos": ["NOUN", "VERB"]}])
    [Tree(heads=[2, 0], labels=['nsubj', 'root'])]
    """

    kind = KIND

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
        """The labels of arcs."""
        self.settings = settings
        """The settings of its training."""
        self.weights = weights
        self.history = history
        """The passes of its training."""
        self.crossing = crossing
        """The number of training sentences with crossing arcs. These arcs were lifted, or the sentences skipped."""
        self.tagger = tagger
        """The tagger that was trained with the parser, if any. It tags words before they are parsed."""
        self.resume = resume
        """The state from which training can be resumed. Only checkpoints have it."""
        self._core = weights.parser(settings.width, settings.mode == "exact")
        self._names = Strings.of(labels)

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
        partitions: int = 1,
        threads: int | None = None,
        memory: int | str | None = None,
        checkpoint: Any = None,
        resume: Any = False,
        callback: Callback | None = None,
        progress: Progress | bool | None = None,
    ) -> Parser:
        """Train a parser on sentences that have trees.

        Parameters
        ----------
        source
            `Sentences`, the path of a CoNLL-U file, or a Python list with a dict of columns for each sentence: `form`,
            `head`, `deprel` and a column of tags.
        mode
            `fast`: greedy transition-based parsing, trained with a dynamic oracle, which knows the best moves after
            mistakes, too. `accurate`: transition-based parsing with a beam, trained with updates at the largest
            violation. `exact`: the tree with the highest sum of arc scores, found with Eisner's algorithm and trained
            with MIRA. Its time grows with the third power of the sentence length.
        tags
            The column of part-of-speech tags that the parser uses.
        tag
            Also train a tagger for this column. It becomes part of the parser and tags all sentences before they are
            parsed. The parser is then trained with predicted tags: the sentences are divided into five parts, and each
            part is tagged by a tagger that was trained on the others.
        epochs
            The number of passes. The default is 32 in the mode `accurate`, and 10 in the other modes.
        round
            After this number of passes the weights start from 0 again, with other orders of the sentences. The final
            weights are the mean of all rounds, which is better than each of them. The default is 8 in the mode
            `accurate`, and a single round in the other modes.
        beam
            The number of states in the beam in the mode `accurate`. The default is 8.
        C
            The longest step of MIRA in the mode `exact`. The default is 0.01.
        features
            The number of features of moves, or of arcs, to keep: those with the largest weights.
        crossing
            How to handle trees with crossing arcs, which the parser cannot produce. `lift` moves the shortest crossing
            arc to the head of its head until no arcs cross. `skip` ignores the sentence. `Parser.crossing` is the
            number of such sentences.
        seed
            The seed for the orders of the sentences, the exploration, and the choice of held-out sentences.
        holdout
            The share of sentences that are held out.
        patience
            Stop after this number of passes without improvement of the held-out accuracy (the share of words with the
            right head and label), and use the best weights.
        partitions
            The number of partitions of the sentences, which learn at the same time. Their weights are mixed after each
            pass. The parser depends on this number, but not on the number of threads.
        threads
            The number of threads that learn partitions; by default one per core. The result does not depend on it.
        memory
            The memory limit for the sentences of files and data made from them, for example `"500 MB"`. The default is
            half of the machine's memory. Beyond the limit a temporary file is used; the result is the same.
        checkpoint
            The path of a checkpoint file, which is written after every pass and when Ctrl-C or SIGTERM interrupts the
            training; or a `Checkpoints`, which says how often to write it.
        resume
            Resume the training from the checkpoint file, if it exists, or from another file. The parser will have the
            same bits as without the interruption. Source and settings must be the same; only `epochs` may be larger.
        callback
            A function that is called after each pass. Training ends when it returns True.
        progress
            By default, a bar is shown on a terminal or in a notebook if the work takes more than two seconds. True
            shows it at once, or prints lines elsewhere. False shows nothing. Or an object that receives the progress.
        """
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
            "partitions": partitions,
        }
        options = RunOptions.of(
            checkpoint=checkpoint, resume=resume, callback=callback, progress=progress, memory=memory, threads=threads
        )
        return train_parser(cls, source, given, options, tag=tag)

    def to_saved(self, *, final: bool = False) -> Saved:
        return saved_parser(self, final=final)

    @classmethod
    def parts_of(cls, saved: Saved) -> dict[str, Any]:
        return parser_parts(saved)

    # ---- parsing

    def parse(self, sentences: Any) -> Trees:
        """Return the tree of each sentence.

        Parameters
        ----------
        sentences
            A dict of columns for each sentence, with `form` and the column of tags; lists of pairs of a word and its
            tag; the path of a file; or `Sentences`.
        """
        batch = self._read(sentences)
        heads, numbers = self._parse(self._tagged(batch))
        all_heads = heads.tolist()
        heads_of = (all_heads[begin:end] for begin, end in pairwise(batch.starts.tolist()))
        labels = _core.lists_of_names(numbers, batch.starts, self.labels)
        trees: Trees = Trees.of(map(Tree, heads_of, labels), batch)
        return trees

    def parse_columns(self, sentences: Sentences) -> tuple[NDArray[np.int32], Strings]:
        """Return the heads and the labels of all words, as columns."""
        parsed = self.parsed(sentences)
        assert parsed.heads is not None
        return parsed.heads, parsed.column(DEPREL)

    def parsed(self, sentences: Sentences) -> Sentences:
        """Return the sentences with predicted heads and labels and, if the parser has a tagger, predicted tags."""
        batch = self._tagged(with_tags(sentences, self.settings.tags))
        heads, numbers = self._parse(batch)
        return batch.with_columns({DEPREL: self._names.take(numbers)}, heads)

    def evaluate(self, sentences: Any) -> TreeScore:
        """Measure how many predicted heads and labels are right. The sentences contain the right ones."""
        batch = self._read(sentences)
        return score_trees(batch, *self.parse_columns(batch))

    def explain(self, words: Any, i: int) -> ParseExplanation:
        """Explain the head of word `i`, at the move that chose it, and its label.

        Parameters
        ----------
        words
            One sentence.
        i
            The number of the word, counted from 0.
        """
        batch = self._one(words)
        check_word(i, batch)
        batch = self._tagged(batch)
        bank = bank_of(batch, self.settings.tags)
        moves, labels = self._path(bank)
        state = Replay(batch.form.tolist(), batch.column(self.settings.tags).tolist(), self.labels)
        step = 0
        while not (moves[step] != SHIFT and state.stack[-1] == i):
            state.make(int(moves[step]), int(labels[step]))
            step += 1
        before = np.ascontiguousarray(moves[:step]), np.ascontiguousarray(labels[:step])
        move, label, root = int(moves[step]), int(labels[step]), batch.words
        head = state.next if move == LEFT else state.stack[-2]
        if self.settings.mode == "exact":
            arc = self._why_head(bank, state, head, i)
        else:
            weights, nodes = self._core.look_at_moves(bank, 0, *before)
            names = [state.name(template, nodes) for template in _core.move_templates()]
            arc = choice(names, weights.reshape(-1, 3) * self.weights.move_unit, move, MOVES, state.allowed())
        weights, nodes = self._core.look_at_labels(bank, 0, *before, move)
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
        """The moves that build the tree of the only sentence, and the labels of its arcs."""
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
        """Compare the arc from the predicted head with the arc from the second-best head."""
        scores = self._core.arc_scores(bank, 0)[:, word].copy()
        scores[[head, word]] = -np.inf
        other = int(np.argmax(scores))
        if not np.isfinite(scores[other]):
            return Choice(state.forms[head], None, [])
        weights_of: dict[str, list[float]] = {}
        for side, one in enumerate((head, other)):
            weights = self._core.look_at_arc(bank, 0, one, word).tolist()
            for name, weight in zip(state.arc_names(one, word), weights, strict=True):
                weights_of.setdefault(name, [0.0, 0.0])[side] = weight
        terms = [Term(name, *both) for name, both in weights_of.items() if both[0] != both[1]]
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
