"""The training of a parser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.spill import Spill
from markone.errors import DataError, Setting
from markone.learning.run_options import RunOptions
from markone.learning.states import damaged, need
from markone.learning.trainable import Arrays, PassTotals
from markone.model.history import History
from markone.storage.saved import Saved
from markone.structured.corpora import check_trees
from markone.structured.corpus_store import held_sentences
from markone.structured.jackknife import jackknifed, learn_to_tag
from markone.structured.parser_settings import (
    USUAL_BEAM,
    USUAL_C,
    USUAL_EPOCHS,
    USUAL_ROUND,
    ParserSettings,
)
from markone.structured.parser_weights import OF_OTHERS, OF_ROOT, STATE, ParserWeights
from markone.structured.partitions import ParserPartitions
from markone.structured.scoring import score_trees
from markone.structured.sentence_training import (
    SentenceTraining,
    arrays_of,
    digest_of,
    kept_model,
    run_of,
    split_sentences,
)
from markone.structured.sentences import FORM, Sentences, numbered
from markone.structured.tagger import Tagger
from markone.structured.tree_bank import DEPREL, bank_of, check_tags, with_tags

if TYPE_CHECKING:
    from markone.structured.parser import Parser

SMALLEST = 0.5
"""Smaller averaged weights for labels are dropped. A mistake changes a weight by 1, so a weight that has changed only
once, late in training, is hardly worth its memory. With partitions, a mistake of one of them changes it by less."""
MOST_LABELS = 4096
MOVES_FOR_A_WORD = 2
UNIT_OF_PARTITIONS = 16
"""With partitions, weights are multiples of one part in 16, so that the mean of some of them is hardly rounded."""
PASSES_OF_TAGGER = 10
"""The passes of the tagger that becomes part of the parser."""


def train_parser(make: type[Parser], source: Any, given: dict[str, Any], options: RunOptions, *, tag: bool) -> Parser:
    """Train a parser: see `Parser.train`."""
    settings = settings_for(given)
    sentences, spill = held_sentences(source, options.memory)
    check_trees(sentences)
    advice = ("name the column of tags with ", Setting("tags", ...))
    check_tags(with_tags(sentences, settings.tags), settings.tags, advice)
    kept = kept_model(make.load, settings, options)
    tagger = None
    if tag:
        column, seed, progress = settings.tags, settings.seed, options.progress
        tagger = learn_to_tag(sentences, column, PASSES_OF_TAGGER, seed=seed, spill=spill, progress=progress)
        tags = jackknifed(sentences, column, seed=seed, spill=spill, progress=progress)
        sentences = sentences.with_columns({column: tags})
    return run_of(ParserTraining(make, sentences, settings, spill, tagger, options.threads), kept).train(options)


def settings_for(given: dict[str, Any]) -> ParserSettings:
    """The given settings, with defaults for those that are None."""
    usual = {
        "epochs": USUAL_EPOCHS.get(given["mode"], 1) if given["epochs"] is None else given["epochs"],
        "round": USUAL_ROUND if given["mode"] == "accurate" and given["round"] is None else given["round"],
        "beam": USUAL_BEAM if given["mode"] == "accurate" and given["beam"] is None else given["beam"],
        "C": USUAL_C if given["mode"] == "exact" and given["C"] is None else given["C"],
    }
    return ParserSettings(**{**given, **usual})


class ParserTraining(SentenceTraining["Parser"]):
    """The training of a parser."""

    def __init__(
        self,
        make: type[Parser],
        sentences: Sentences,
        settings: ParserSettings,
        spill: Spill,
        tagger: Tagger | None,
        threads: int = 1,
    ) -> None:
        self.make = make
        self.settings = settings
        self.tagger = tagger
        learned, held_out = split_sentences(len(sentences), settings.holdout, settings.seed)
        heads, lifted = projective(sentences)
        if settings.crossing == "skip":
            learned = learned[lifted[learned] == 0]
        super().__init__(len(learned), len(held_out), settings)
        self.crossing = int(np.count_nonzero(lifted))
        columns = (FORM, settings.tags, DEPREL)
        self.learned = sentences.chosen(learned, columns, spill)
        self.held_out = sentences.chosen(held_out, columns, spill)
        if self.learned.words == 0:
            raise DataError("there is no training data: the sentences have no words")
        self.heads = heads if len(learned) == len(sentences) else heads[sentences.words_of(learned)]
        self.labels, self.numbers = numbered_labels(self.learned, spill)
        self.uses = np.zeros(len(self.labels), np.uint8)
        for use, which in ((OF_ROOT, self.heads == 0), (OF_OTHERS, self.heads != 0)):
            self.uses[np.unique(self.numbers[which])] |= use
        self.bank = bank_of(self.learned, settings.tags, spill)
        self.bank.set_trees(self.heads, self.numbers)
        unit = 1 if settings.partitions == 1 else UNIT_OF_PARTITIONS
        self.learner = _core.TreeLearner(self.uses, settings.width, settings.C, unit)
        self.partitions: ParserPartitions | None = None
        if settings.partitions > 1:
            how = (self.learner, self.rows, settings.partitions, settings.seed, threads)
            self.partitions = ParserPartitions(self.visit, *how)

    def learn_pass(self, epoch: int, skip: int) -> Iterator[PassTotals]:
        if self.partitions is None:
            yield from super().learn_pass(epoch, skip)
        else:
            self.start_round(epoch)
            yield from self.partitions.learn_pass(epoch)

    def learn(self, some: NDArray[np.int64], epoch: int, first: int, seed: int) -> PassTotals:
        if first == 0:
            self.start_round(epoch)
        return self.visit(self.learner, some, epoch, seed)

    def in_round(self, epoch: int) -> int:
        """The number of passes of a round before this one."""
        return epoch - 1 if self.settings.round is None else (epoch - 1) % self.settings.round

    def start_round(self, epoch: int) -> None:
        """Start from weights of 0 if a round begins. Doing this twice is the same as doing it once."""
        if epoch > 1 and self.in_round(epoch) == 0:
            self.learner.start_anew()

    def visit(self, learner: _core.TreeLearner, some: NDArray[np.int64], epoch: int, seed: int) -> PassTotals:
        try:
            decisions, mistakes, updates = learner.learn(self.bank, some, self.in_round(epoch) > 0, seed)
        except ValueError as error:  # a sentence is too long
            raise DataError(str(error)) from None
        return PassTotals(len(some), mistakes, updates, float(mistakes), weight=decisions)

    def accuracies(self) -> tuple[float | None, float | None]:
        """The share of held-out words with the right head and label, by the averaged weights."""
        if len(self.held_out) == 0:
            return None, None
        parser = self.model(self.weights(), self.new_history(), None)
        parser.tagger = None  # it was trained on the held-out sentences; these already have tags of other taggers
        return None, score_trees(self.held_out, *parser.parse_columns(self.held_out)).las

    def norm2(self) -> float:
        return self.learner.norm2()

    def weights(self) -> Saved:
        smallest = SMALLEST / self.settings.partitions
        return ParserWeights.of(self.learner, self.uses, self.settings.features, smallest).save()

    def model(self, weights: Saved, history: History, resume: Saved | None) -> Parser:
        return self.make(
            labels=self.labels,
            settings=self.settings,
            weights=ParserWeights.load(weights, len(self.labels)),
            history=history,
            crossing=self.crossing,
            tagger=self.tagger,
            resume=resume,
        )

    def state(self) -> Arrays:
        state = self.learner.get_state()
        return {**state, "steps": np.array([state["steps"]], np.int64)}

    def steps_of(self, passes: int, visits: int) -> int:
        """The number of steps after some passes and some visits of the next one. In the mode `fast` a step is a move,
        in the other modes it is a sentence."""
        if self.settings.mode != "fast":
            return passes * self.rows + visits
        lengths = np.diff(self.learned.starts)
        visited = lengths[self.order(passes + 1)[:visits]] if visits else lengths[:0]
        return MOVES_FOR_A_WORD * (passes * self.learned.words + int(visited.sum()))

    def set_state(self, state: Arrays, passes: int, visits: int) -> None:
        need(visits == 0 or self.partitions is None, "it was saved within a pass of partitions")
        if state.keys() != STATE.keys():
            raise damaged("its arrays are not those of a parser's training")
        for name, dtype in STATE.items():
            if state[name].dtype != dtype or state[name].ndim != 1:
                raise damaged(f"the array {name} has a wrong type or shape")
        try:
            arrays: dict[str, Any] = {**state}
            steps = arrays.pop("steps").tolist()
            if len(steps) != 1:
                raise damaged("the array steps has a wrong type or shape")
            if steps[0] != self.steps_of(passes, visits):
                raise damaged(f"it has made {steps[0]} steps, not {self.steps_of(passes, visits)}")
            self.learner.set_state(*steps, **arrays)
        except DataError:
            raise
        except ValueError as error:
            raise damaged(str(error)) from None

    def digest(self) -> str:
        arrays: list[NDArray[Any]] = [self.heads, self.numbers]
        for some in (self.learned, self.held_out):
            arrays += [some.starts, *arrays_of(some, (FORM, self.settings.tags))]
        return digest_of(self.labels, arrays)


def numbered_labels(sentences: Sentences, spill: Spill) -> tuple[list[str], NDArray[np.int32]]:
    """The labels in the order of their numbers, and the number of each word's label."""
    parts = (part.column(DEPREL).tolist() for part in sentences.parts())
    labels, numbers = numbered(parts, sentences.words, spill)
    if len(labels) > MOST_LABELS:
        raise DataError(
            f"there are {len(labels):,} labels, but at most {MOST_LABELS:,} are allowed; does the column {DEPREL!r} "
            "contain labels?"
        )
    return labels, numbers


def gold_heads(sentences: Sentences) -> NDArray[np.int32]:
    assert sentences.heads is not None  # `check_trees` has checked it
    return np.ascontiguousarray(sentences.heads, np.int32)


def projective(sentences: Sentences) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The heads of trees without crossing arcs, and the number of arcs that were lifted in each sentence."""
    return _core.projective(sentences.starts, gold_heads(sentences))
