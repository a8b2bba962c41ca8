"""States: what learners and models of the core are made again of, given to the core itself with nothing between.

Python checks what it reads from files before the core sees it. Here nobody does: whatever the arrays say, the core must
refuse them or work within its bounds.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import Parser, Tagger, _core
from markone.data.blocks import Block
from markone.data.spill import Spill
from markone.features.map import FeatureMap
from markone.learning.examples import BlockExamples
from markone.learning.learners import learner_for
from markone.structured import parser_training, tagger_training
from markone.structured.sentences import Sentences

from .mutations import Arrays, change_array
from .readers import FROM_THE_CORE
from .subjects import (
    FEW_TEMPLATES,
    PHRASES,
    TAGGED,
    TEXTS,
    TREES,
    Classifier,
    ParserSubject,
    TaggerSubject,
    every_subject,
)
from .targets import Case, Outcome, Target

ROWS, FEATURES = 8, 5
X = np.random.default_rng(3).integers(-2, 3, (ROWS, FEATURES)).astype(np.float32)
ROOM = 2**24
ANOTHER_TYPE = "std::bad_cast"
"""How the bindings refuse an array in a state whose type is another."""


@dataclass
class Kind:
    """Valid arrays, and what uses them, be they changed."""

    arrays: Arrays
    use: Callable[[Arrays], object]


# ---- learners


def classifier_state(subject: Classifier) -> Kind:
    """The state of a learner in the middle of its second pass."""
    labels = np.arange(ROWS, dtype=np.int32) % subject.classes
    settings = markone_settings(subject.settings)

    def fresh() -> tuple[Any, BlockExamples]:
        made = learner_for(settings, features=FEATURES, classes=subject.classes, dtype=np.float32)
        examples = BlockExamples(made.ready(Block.of(sparse(X), labels)), made.settings)
        made.begin(examples)
        return made, examples

    learner, examples = fresh()
    for epoch in (1, 2):
        for _ in learner.learn_pass(examples, epoch, 0):
            pass

    def use(arrays: Arrays) -> object:
        other, same = fresh()
        other.set_state(arrays)
        told = [tally.updates for tally, _ in other.learn_pass(same, 3, 0)]
        return [told, other.norm2(), other.course(), other.scorer().scores(same.whole()[0].rows), other.get_state()]

    return Kind(learner.get_state(), use)


def markone_settings(given: dict[str, Any]) -> Any:
    from markone import Settings

    others = ("bounds", "holdout", "patience", "threshold", "abstain")
    return Settings(**{name: value for name, value in given.items() if name not in others})


def sparse(dense: NDArray[np.float32]) -> Any:
    import scipy.sparse

    return scipy.sparse.csr_array(dense)


def tagger_state(data: Any, **settings: Any) -> Kind:
    sentences = Sentences.of(data)
    usual = dict.fromkeys(["column", "inputs", "C", "beam", "templates", "scheme", "learn_as", "patience"])
    usual |= {"rule": "mira", "epochs": 2, "average": True, "decode": "viterbi", "seed": 0, "holdout": 0.0}
    how = tagger_training.settings_for(sentences, {**usual, **settings})

    def fresh() -> _core.TaggerLearner:
        return tagger_training.TaggerTraining(Tagger, sentences, how, Spill(ROOM)).learner

    order = np.arange(len(sentences))
    learner = fresh()
    learner.learn(order)

    def use(arrays: Arrays) -> object:
        other = fresh()
        other.set_state(arrays)
        told = [other.learn(order).mistakes, other.norm2(), other.features()]
        keys = other.weights(True)[0]
        return [told, other.weights(False), other.names(keys), other.get_state()]

    return Kind(learner.get_state(), use)


def parser_state(**settings: Any) -> Kind:
    sentences = Sentences.of(TREES)
    usual = dict.fromkeys(["epochs", "round", "beam", "C", "patience"])
    usual |= {"tags": "upos", "features": 1000, "crossing": "lift", "seed": 0, "holdout": 0.0}
    how = parser_training.settings_for({**usual, **settings})
    training = parser_training.ParserTraining(Parser, sentences, how, Spill(ROOM), None)
    order = np.arange(len(sentences))
    training.learner.learn(training.bank, order, False, 1)
    state = training.learner.get_state()

    def use(arrays: Arrays) -> object:
        steps = arrays.pop("steps").tolist()
        other = _core.TreeLearner(training.uses, how.width, how.C)
        other.set_state(steps[0] if isinstance(steps, list) and steps else steps, **arrays)
        told = other.learn(training.bank, order, True, 2)
        return [told, other.norm2(), other.average(1000, 0.01), other.get_state()]

    return Kind({**state, "steps": np.array([state["steps"]], np.int64)}, use)


# ---- models


def frozen_tagger(subject: TaggerSubject) -> Kind:
    model = subject.train(epochs=2)
    batch = Sentences.of(subject.data)
    texts, one = model._texts(batch), batch.some(0, 1)
    how = model._templates.for_core(), model.settings.for_core(model.tags)
    words = dict(zip(["words", "sets", "name_offsets", "name_bytes"], model.words, strict=True))
    rows = dict(zip(["keys", "indptr", "columns", "weights"], model.weights.rows, strict=True))

    def use(arrays: Arrays) -> object:
        made = _core.Tagging(*how, tuple(arrays[name] for name in words), tuple(arrays[name] for name in rows))
        found = [made.tag(batch.starts, texts), made.scores(batch.starts, texts)]
        first = model._texts(one)
        tags = made.tag(one.starts, first)
        return [*found, made.best(one.starts, first, 3), made.features(one.starts, first, tags, 1)]

    return Kind({**words, **rows}, use)


def frozen_parser(subject: ParserSubject) -> Kind:
    model = subject.train(epochs=2)
    sentences = Sentences.of(TREES)
    bank = parser_training.bank_of(sentences, "upos")
    names = ["label_uses", "move_keys", "move_weights", "label_keys", "label_starts", "label_weights"]
    arrays = {name: getattr(model.weights, name) for name in [*names, "arc_keys", "arc_weights"]}
    exact = model.settings.mode == "exact"

    def use(arrays: Arrays) -> object:
        made = _core.TreeParser(width=model.settings.width, exact=exact, **arrays)
        found: list[Any] = [made.parse(bank)]
        if exact:
            return [*found, made.arc_scores(bank, 0), made.look_at_arc(bank, 0, 0, 1)]
        moves, labels = made.path(bank, 0)
        arc = int(np.flatnonzero(moves)[0])  # the first move that is no shift
        before = moves[:arc].copy(), labels[:arc].copy()
        return [*found, made.look_at_moves(bank, 0, *before), made.look_at_labels(bank, 0, *before, int(moves[arc]))]

    return Kind(arrays, use)


def vocabulary(characters: bool) -> Kind:
    how = ngrams(characters)
    offsets, data = strings(TEXTS)
    first = _core.NgramVocabulary(how)
    first.absorb(first.collect(offsets, data))
    first.keep(first.frequent(1, 1000))
    words, octets = first.words()
    count = first.features

    def use(arrays: Arrays) -> object:
        made = _core.NgramVocabulary(how)
        made.restore(arrays["offsets"], arrays["data"], arrays["parts"], count)
        found = [made.names(), made.read(offsets, data), made.occurrences(TEXTS[0].encode())]
        made.prune(np.arange(0, count, 2, dtype=np.uint32))
        return [*found, made.names()]

    return Kind({"offsets": words, "data": octets, "parts": first.parts()}, use)


def hashed(cls: type[Any]) -> Kind:
    how = ngrams(False)
    offsets, data = strings(TEXTS)
    first = _core.HashedVocabulary(how, 4)
    first.absorb(first.collect(offsets, data))
    owners, octets = first.owners()

    def use(arrays: Arrays) -> object:
        made = cls(how, 4)
        told = made.add(arrays["offsets"], arrays["data"], arrays["sharing"])
        return [told, made.names(), made.sharing(), made.read(offsets, data), made.occurrences(TEXTS[0].encode())]

    return Kind({"offsets": owners, "data": octets, "sharing": first.sharing()}, use)


def ngrams(characters: bool) -> _core.NgramSettings:
    return _core.NgramSettings(
        fold=True,
        signs=True,
        negation=False,
        choice=_core.TokenChoice.all,
        shortest=1,
        longest=2,
        characters=characters,
    )


def strings(texts: list[str]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    data = [text.encode() for text in texts]
    return np.cumsum([0, *map(len, data)], dtype=np.int64), np.frombuffer(b"".join(data), np.uint8)


def event_tables(subject: Classifier) -> Kind:
    model = subject.train()
    rows = [batch_rows(model.features, batch) for batch in subject.source.batches()]
    scorer = model.scorer
    arrays = scorer.events.arrays()

    def use(arrays: Arrays) -> object:
        some = {name: arrays[name] for name in scorer.events.arrays()}
        found: list[Any] = []
        for odds in (False, model.scorer.classes == 2):
            made = _core.EventTables(
                groups=scorer.events.core, **some, **scorer.smoothing.in_core(), priors=scorer.priors, odds=odds
            )
            found += [made.scores(one) for one in rows]
            found += [made.starts(), made.bells(), made.totals(), made.of(np.arange(scorer.features, dtype=np.uint32))]
        return found

    return Kind(dict(arrays), use)


def batch_rows(features: FeatureMap, batch: Any) -> Any:
    from markone.data.blocks import as_rows

    return as_rows(features.transform(batch))


def network() -> Kind:
    widths = [FEATURES, 3, 1]
    random = np.random.default_rng(1)
    arrays = {f"w{i}": np.ascontiguousarray(random.random((a, 8)), np.float32) for i, a in enumerate(widths[:-1])}
    arrays |= {f"b{i}": np.zeros(8, np.float32) for i in range(2)}
    dense = _core.DenseRows32(X)

    def use(arrays: Arrays) -> object:
        weights, biases = [arrays["w0"], arrays["w1"]], [arrays["b0"], arrays["b1"]]
        return _core.Network(_core.Bend.relu, widths, weights, biases).scores(dense)

    return Kind(arrays, use)


def linear_weights(classes: int) -> Kind:
    columns = 1 if classes == 2 else classes
    arrays = {"matrix": np.ones((FEATURES, columns), np.float32), "bias": np.zeros(columns, np.float32)}
    dense = _core.DenseRows32(X)

    def use(arrays: Arrays) -> object:
        made = _core.Weights32(arrays["matrix"], arrays["bias"], classes)
        scores = made.scores(dense)
        return [scores, _core.winners(scores, _core.Tie.negative), made.of(np.array([0], np.uint32)), made.matrix()]

    return Kind(arrays, use)


# ---- arrays that go from one part of the core to another


def rows_of_arrays() -> Kind:
    indptr, indices, values = _core.sparse_rows(X)
    which = np.array([1, 0, 3], np.int64)
    labels = np.arange(ROWS, dtype=np.int32) % 2
    arrays = {"indptr": indptr, "indices": indices, "values": values, "which": which}

    def use(arrays: Arrays) -> object:
        some = arrays["indptr"], arrays["indices"], arrays["values"]
        found: list[Any] = []
        for work in (
            lambda: _core.SparseRows32(*some, FEATURES).names_twice(),
            lambda: _core.take_rows(*some, FEATURES, arrays["which"]),
            lambda: _core.join_rows([(*some, FEATURES), (indptr, indices, values, FEATURES)]),
            lambda: _core.refine_rows(*some, FEATURES, value=_core.CountedAs.log),
            lambda: _core.unit_rows(some[0], some[2].copy()),
            lambda: _core.ClassCounts().add(*some, FEATURES, labels, True),
        ):
            try:
                found.append(work())
            except FROM_THE_CORE as error:
                found.append(error)
        return found

    return Kind(arrays, use)


def trees() -> Kind:
    sentences = Sentences.of(TREES)
    assert sentences.heads is not None
    form = sentences.form
    arrays = {"starts": sentences.starts, "heads": sentences.heads, "bytes": form.data, "offsets": form.offsets}

    def use(arrays: Arrays) -> object:
        starts, heads = arrays["starts"], arrays["heads"]
        column = [(3, arrays["bytes"], arrays["offsets"])]
        found: list[Any] = []
        for work in (
            lambda: _core.find_bad_tree(starts, heads),
            lambda: _core.projective(starts, heads),
            lambda: _core.write_conllu(starts, column, heads),
            lambda: _core.move_costs(heads[:5], np.zeros(3, np.int32)),
            lambda: _core.gather(arrays["bytes"], arrays["offsets"][:-1], arrays["offsets"][1:]),
        ):
            try:
                found.append(work())
            except FROM_THE_CORE as error:
                found.append(error)
        return found

    return Kind(arrays, use)


def image_patterns() -> Kind:
    from .subjects import IMAGES

    first = _core.Patterns()
    first.count_patches(IMAGES, size=2, level=100)

    def use(arrays: Arrays) -> object:
        made = _core.Patterns(arrays["keys"])
        return [made.find_patches(IMAGES, size=2, level=100), made.counts, len(made)]

    return Kind({"keys": first.keys}, use)


def every_kind() -> dict[str, Callable[[], Kind]]:
    subjects = every_subject()
    found: dict[str, Callable[[], Kind]] = {}
    for name, one in subjects.items():
        if isinstance(one, Classifier) and "-of-" not in name and "bayes" not in name and "patience" not in name:
            found[f"state {name}"] = lambda one=one: classifier_state(one)
        elif isinstance(one, Classifier) and "bayes" in name:
            found[f"counts {name}"] = lambda one=one: event_tables(one)
    found |= {
        "state viterbi": lambda: tagger_state(TAGGED),
        "state greedy": lambda: tagger_state(TAGGED, decode="greedy", templates=[*FEW_TEMPLATES, "tag[-2] tag[-1]"]),
        "state beam": lambda: tagger_state(TAGGED, decode="beam", rule="perceptron"),
        "state spans": lambda: tagger_state(PHRASES, column="tag", inputs=["pos"]),
        "state fast": lambda: parser_state(mode="fast"),
        "state accurate": lambda: parser_state(mode="accurate", beam=2),
        "state exact": lambda: parser_state(mode="exact"),
        "vocabulary words": lambda: vocabulary(False),
        "vocabulary characters": lambda: vocabulary(True),
        "vocabulary hashed": lambda: hashed(_core.HashedVocabulary),
        "vocabulary compact": lambda: hashed(_core.CompactVocabulary),
        "network": network,
        "weights 2": lambda: linear_weights(2),
        "weights 3": lambda: linear_weights(3),
        "rows": rows_of_arrays,
        "trees": trees,
        "patterns": image_patterns,
    }
    for name, one in subjects.items():
        if isinstance(one, TaggerSubject) and "patience" not in name:
            found[f"frozen {name}"] = lambda one=one: frozen_tagger(one)
        if isinstance(one, ParserSubject) and "patience" not in name and "tagger" not in name:
            found[f"frozen {name}"] = lambda one=one: frozen_parser(one)
    return found


class States(Target):
    """What the core is made again of."""

    name = "states"
    share = 1

    def __init__(self) -> None:
        self.makers = every_kind()
        self.made: dict[str, Kind] = {}

    def kinds(self) -> list[str]:
        return list(self.makers)

    def prepare(self, folder: Path) -> None:
        """Nothing: what a case needs is made when it is first needed."""

    def kind(self, name: str) -> Kind:
        if name not in self.made:
            self.made[name] = self.makers[name]()
        return self.made[name]

    def make(self, chance: random.Random) -> Case:
        name = chance.choice(list(self.makers))
        arrays, changes = self.kind(name).arrays, []
        for _ in range(chance.choice([1, 1, 1, 2, 3])):
            arrays, told = change_array(arrays, chance)
            changes.append(told)
        return Case(name, changes, arrays)

    def use(self, case: Case, chance: random.Random, outcome: Outcome) -> None:
        outcome.steps.append("use")
        arrays = {name: np.ascontiguousarray(array) for name, array in case.content.items()}
        try:
            self.kind(case.kind).use(arrays)
        except (*FROM_THE_CORE, KeyError):
            return
        except RuntimeError as error:
            if str(error) != ANOTHER_TYPE:
                raise
            return
        outcome.accepted, outcome.resumed = True, case.kind.startswith("state")
