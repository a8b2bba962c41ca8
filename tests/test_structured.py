"""The structured perceptron: against its plain twin and brute force, and what else is asked of every learner."""

from __future__ import annotations

import json
import math
import os
import random
import signal
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import markone
from forging import Forged, damaged, forge
from markone import DataError, SettingsError, StructuredPerceptron, reference
from markone.model.history import Pass
from markone.storage.container import read_file, write_file
from markone.structured.named_features import Weights
from markone.structured.pairwise_explanation import StructuredMargins
from stopping import Stopping

# ---- a small structure: a tag for each word, with the pairs of tags that follow each other

TAGS = "DN"
Words = tuple[str, ...]


def features(words: Words, tags: Words) -> dict[str, float]:
    found: dict[str, float] = {}
    for name in [
        *map(" ".join, zip(words, tags, strict=True)),
        *map(" ".join, zip(("^", *tags), (*tags, "$"), strict=True)),
    ]:
        found[name] = found.get(name, 0) + 1
    return found


def answers(words: Words) -> list[Words]:
    return list(product(TAGS, repeat=len(words)))


def hamming(y: Words, z: Words) -> float:
    return sum(a != b for a, b in zip(y, z, strict=True))


def viterbi(words: Words, w: Weights, y: Words | None = None) -> Words:
    """The best tags, or with the right ones the best after a cost of 1 for each wrong tag."""
    best: dict[str, tuple[float, Words]] = {"^": (0.0, ())}
    for i, word in enumerate(words):
        scored: dict[str, tuple[float, Words]] = {}
        for tag in TAGS:
            own = w[f"{word} {tag}"] + (y is not None and y[i] != tag)
            scored[tag] = max(
                ((score + w[f"{before} {tag}"] + own, (*tags, tag)) for before, (score, tags) in best.items()),
                key=lambda one: one[0],
            )
        best = scored
    return max(((score + w[f"{tag} $"], tags) for tag, (score, tags) in best.items()), key=lambda one: one[0])[1]


words_and_tags = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(TAGS)), min_size=1, max_size=4)
corpora = st.lists(
    words_and_tags.map(lambda pairs: (tuple(w for w, _ in pairs), tuple(t for _, t in pairs))), min_size=1, max_size=6
)
CORPUS = [
    (("a", "b"), ("D", "N")),
    (("c",), ("N",)),
    (("a", "c", "a", "b"), ("D", "N", "D", "N")),
    (("b", "a"), ("N", "D")),
]


def learner(**settings: Any) -> StructuredPerceptron:
    return StructuredPerceptron(features, **{"answers": answers, "order": "given", **settings})


# ---- against the twin


def exact_features(words: Words, tags: Words) -> dict[str, Fraction]:
    return {name: Fraction(value) for name, value in features(words, tags).items()}


class Rounding(reference.StructuredLearner):
    """Takes scores that differ by a rounding error for equal, as does the other."""

    def predict(self, x: Words) -> Words:
        return rounding(x, lambda z: float(self.score(x, z)))

    def best(self, x: Words, y: Words) -> Words:
        return self.predict(x) if self.cost is None else rounding(x, lambda z: float(self.score(x, z)), y)


def rounding(words: Words, score: Callable[[Words], float], y: Words | None = None) -> Words:
    return max(answers(words), key=lambda z: round(score(z), 9) + (0 if y is None else hamming(y, z)))


def search(words: Words, w: Weights, y: Words | None = None) -> Words:
    return rounding(words, lambda z: w.score(features(words, z)), y)


@pytest.mark.parametrize("cost", [None, hamming])
@pytest.mark.parametrize("rule", ["perceptron", "mira"])
@pytest.mark.parametrize("average", [True, False])
@given(corpus=corpora)
def test_it_is_its_plain_twin(rule: Any, cost: Any, average: bool, corpus: list[tuple[Words, Words]]) -> None:
    longest = 0.25 if rule == "mira" else None
    fast = learner(argmax=search, rule=rule, C=longest, cost=cost, average=average, epochs=3).train(corpus)
    twin = Rounding(exact_features, answers, rule, Fraction(1, 4), cost)
    for one in fast.history:
        before = (twin.mistakes, twin.updates, twin.loss)
        for x, y in corpus:
            twin.visit(x, y)
        assert (one.mistakes, one.updates) == (twin.mistakes - before[0], twin.updates - before[1])
        assert one.loss == pytest.approx(float(twin.loss - before[2]) / len(corpus), abs=1e-10)
    wanted = twin.average() if average else twin.w
    for name, value in wanted.items():
        assert fast.weights[str(name)] == pytest.approx(float(value), abs=1e-10)
    assert fast.weights.keys() <= {str(name) for name in wanted}
    assert fast.history[-1].norm2 == pytest.approx(float(reference.length2(twin.w)), abs=1e-9)


@given(corpus=corpora)
def test_it_is_what_stands_on_the_board(corpus: list[tuple[Words, Words]]) -> None:
    fast = learner(average=False, epochs=5).train(corpus)
    w, mistakes = reference.structured_perceptron(corpus, features, answers, 5)
    assert fast.weights == {name: value for name, value in w.items() if value}
    assert fast.history[-1].mistakes == mistakes


@pytest.mark.parametrize("cost", [None, hamming])
@pytest.mark.parametrize("rule", ["perceptron", "mira"])
def test_a_search_finds_what_brute_force_finds(rule: Any, cost: Any) -> None:
    """The scores of what both find are equal all along, though ties may fall otherwise."""
    brute = learner(rule=rule, cost=cost, epochs=5).train(CORPUS)
    for x, _ in CORPUS:
        assert brute.score(x, viterbi(x, brute.weights)) == pytest.approx(brute.score(x, brute.predict(x)))
    quick = StructuredPerceptron(features, viterbi, rule=rule, cost=cost).train(CORPUS)
    assert quick.accuracy(CORPUS) == brute.accuracy(CORPUS) == 1


def test_every_setting_changes_something() -> None:
    corpus = [*CORPUS, (("a", "b", "a"), ("N", "N", "D")), (("b", "c"), ("D", "D")), (("c", "c"), ("N", "D"))]
    usual = learner(epochs=3).train(corpus).weights
    for change in (
        {"epochs": 1},
        {"average": False},
        {"rule": "mira"},
        {"rule": "mira", "C": 0.05},
        {"rule": "mira", "cost": hamming},
        {"cost": hamming},
        {"order": "once"},
        {"order": "each"},
        {"order": "each", "seed": 1},
        {"holdout": 0.4},
    ):
        assert learner(**{"epochs": 3, **change}).train(corpus).weights != usual, change
    seeds = {json.dumps(learner(order="each", seed=seed).train(corpus).weights) for seed in (0, 0, 1)}
    assert len(seeds) == 2


def test_mira_wins_by_the_cost() -> None:
    """One step from 0, long enough: the right answer then wins by just its cost."""
    one = [(("a", "b"), ("D", "N"))]
    found = learner(rule="mira", C=100.0, cost=hamming, epochs=1, average=False).train(one)
    step = reference.structured.difference(features(*one[0]), features(("a", "b"), ("N", "D")))
    assert found.history[0].loss == 2 and found.history[0].norm2 == pytest.approx(4 / reference.length2(step))
    assert found.score(*one[0]) - found.score(("a", "b"), ("N", "D")) == pytest.approx(2)


# ---- another structure: matchings


def test_matchings_are_learned() -> None:
    """People and tasks: an answer gives each person another task; who can do what is to be found out."""

    def all_matchings(people: Words) -> list[Words]:
        return list(permutations(("cook", "sing", "dig")[: len(people)]))

    def pairs(people: Words, tasks: Words) -> list[str]:
        return [f"{person} can {task}" for person, task in zip(people, tasks, strict=True)]

    examples = [(("ann", "bob", "cy"), ("sing", "dig", "cook")), (("bob", "cy"), ("sing", "cook"))]
    found = StructuredPerceptron(pairs, answers=all_matchings).train(examples)
    assert found.accuracy(examples) == 1
    assert found.predict(("cy", "ann")) == ("cook", "sing")


# ---- what it tells


def test_margins_are_those_of_brute_force() -> None:
    found = learner().train(CORPUS)
    margins = found.margins(CORPUS)
    for (x, y), margin in zip(CORPUS, margins.functional, strict=True):
        assert margin == found.score(x, y) - max(found.score(x, z) for z in answers(x) if z != y)
    radius2 = max(
        reference.length2(reference.structured.difference(features(x, y), features(x, z)))
        for x, y in CORPUS
        for z in answers(x)
    )
    assert margins.radius == pytest.approx(math.sqrt(radius2))
    assert margins.norm == pytest.approx(math.sqrt(sum(w * w for w in found.weights.values())))
    assert margins.separates and margins.smallest > 0 and margins.bound is not None and margins.mistakes is not None
    assert 0 < margins.mistakes <= margins.bound
    assert f"{margins.mistakes} mistakes in training; the theory allows at most {math.floor(margins.bound):,}" in str(
        margins
    )
    by_search = StructuredPerceptron(
        features,
        viterbi,
        best_other=lambda x, w, y: max((z for z in answers(x) if z != y), key=lambda z: w.score(features(x, z))),
    )
    by_search.weights = found.weights
    assert by_search.margins(CORPUS).functional == margins.functional and by_search.margins(CORPUS).radius is None


def test_scores_and_bounds_beyond_floats() -> None:
    largest = sys.float_info.max
    for weights in ({"a": largest, "b": largest}, {"a": math.inf, "b": -math.inf}, {"a": largest}):
        with pytest.raises(DataError, match="the score of an answer overflows"):
            Weights(weights).score({"a": 2.0, "b": 1.0})
    with pytest.raises(DataError, match="must be a dict of values by name"):
        Weights().score("text")
    assert StructuredMargins([1.0], norm=2.0, radius=3.0).bound == 36
    for norm in (math.inf, 1e200, 1e300):
        margins = StructuredMargins([1.0], norm=norm, radius=1.0, mistakes=3)
        assert margins.bound is None and "no bound is known" in str(margins)


def test_margins_where_nothing_separates() -> None:
    both = [(("a",), ("D",)), (("a",), ("N",))]
    margins = learner(epochs=2).train(both).margins(both)
    assert not margins.separates and margins.bound is None and "no bound is known" in str(margins)
    assert learner().margins(CORPUS).smallest == 0
    alone = StructuredPerceptron(lambda x, y: [y], answers=lambda x: ["a"])
    assert alone.margins([(1, "a")]).functional == (math.inf,)
    with pytest.raises(DataError, match="'a' is the only answer"):
        alone.explain(1)


def test_an_explanation_adds_up() -> None:
    found = learner().train(CORPUS)
    x, y = CORPUS[2]
    told = found.explain(x)
    assert told.answer == y and told.difference == pytest.approx(found.margins([(x, y)]).functional[0])
    assert told.difference == pytest.approx(told.score - told.other_score)
    for row in told.rows:
        assert row.value == features(x, y).get(row.feature, 0) - features(x, told.other).get(row.feature, 0)
        assert row.weight == found.weights[row.feature] and row.product == row.value * row.weight
    assert [abs(row.product) for row in told.rows] == sorted((abs(row.product) for row in told.rows), reverse=True)
    other = found.explain(x, y, ("N", "N", "N", "N"), top=1)
    assert other.other == ("N", "N", "N", "N") and "more features" in str(other)
    assert json.loads(json.dumps(other.as_dict()))["difference"] == other.difference
    assert "feature" in other.html()


def test_the_strongest_features() -> None:
    found = learner().train(CORPUS)
    first, *_ = found.strongest(3)
    assert len(found.strongest(3)) == 3 and abs(first[1]) == max(map(abs, found.weights.values()))


def test_held_out_examples_stop_the_training() -> None:
    corpus = CORPUS * 5
    shares = learner(holdout=0.25, patience=2, epochs=20, order="each").train(corpus)
    history = shares.history
    assert (history.rows, history.held_out) == (15, 5) and history.stopped in ("held-out", "converged")
    assert all(one.holdout_last is not None and one.holdout_averaged is not None for one in history)
    # What never gets better stops after the patience, with the weights of the best pass.
    wrong = [(("a",), ("N",)), (("a",), ("D",))]
    seen: list[Pass] = []
    stuck = learner(patience=2, epochs=9).train(
        CORPUS[:1] + wrong, held_out=[(("z", "z"), ("N", "D"))], callback=seen.append
    )
    assert (
        stuck.history.stopped == "held-out" and stuck.history.best_epoch == 1 and len(stuck.history) == len(seen) == 3
    )
    assert stuck.weights == learner(epochs=1).train(CORPUS[:1] + wrong).weights
    assert learner(epochs=9).train(CORPUS, callback=lambda one: one.epoch == 2).history.stopped in (
        "callback",
        "converged",
    )
    last = learner(average=False, holdout=0.25).train(corpus)
    assert all(one.holdout_averaged is None and one.holdout == one.holdout_last for one in last.history)


def test_progress_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    found = learner(epochs=3).train(CORPUS, progress=True)
    told = capsys.readouterr().err.splitlines()
    assert len(told) == len(found.history) and told[0].startswith(f"pass 1: {found.history[0].mistakes} mistakes")
    learner(epochs=3).train(CORPUS, progress=False)
    assert capsys.readouterr().err == ""


def test_ctrl_c_keeps_what_was_learned() -> None:
    visits = 0

    def interrupted(words: Words) -> list[Words]:
        nonlocal visits
        visits += 1
        if visits == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return answers(words)

    found = learner(answers=interrupted).train(CORPUS)
    assert found.history.stopped == "interrupted" and len(found.history) == 0 and found.weights


# ---- files


def test_a_file_keeps_what_was_learned(tmp_path: Path) -> None:
    found = learner(rule="mira", C=math.inf, holdout=0.25, patience=3, seed=7, cost=hamming).train(CORPUS * 2)
    found.save(tmp_path / "one.model")
    again = StructuredPerceptron.load(tmp_path / "one.model", features, viterbi, cost=hamming)
    assert again.weights == found.weights and again.settings == found.settings
    assert [one.mistakes for one in again.history] == [one.mistakes for one in found.history]
    assert again.predict(("c", "b")) == found.predict(("c", "b"))
    again.save(tmp_path / "two.model")
    assert (tmp_path / "one.model").read_bytes() == (tmp_path / "two.model").read_bytes()
    learner(rule="mira", C=math.inf, holdout=0.25, patience=3, seed=7, cost=hamming).train(CORPUS * 2).save(
        tmp_path / "three.model"
    )
    assert (tmp_path / "one.model").read_bytes() == (tmp_path / "three.model").read_bytes()


def test_forged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.model"
    learner().train(CORPUS).save(path)
    saved = read_file(path)
    facts, arrays = saved.facts, saved.arrays
    for wrong, other in [
        ({"kind": "classifier"}, {}),
        ({"settings": {}}, {}),
        ({"settings": {**facts["settings"], "rule": "svm"}}, {}),
        ({"settings": {**facts["settings"], "C": -1}}, {}),
        ({"settings": {**facts["settings"], "tol": 0.1}}, {}),
        ({"history": {}}, {}),
        ({"more": 1}, {}),
        ({}, {"weights": arrays["weights"][:-1]}),
        ({}, {"weights": arrays["weights"] * math.inf}),
        ({}, {"weights": arrays["weights"].astype("f4")}),
        ({}, {"names_offsets": arrays["names_offsets"] + 1}),
        ({}, {"more": arrays["weights"]}),
    ]:
        write_file(path, facts | dict(wrong), arrays | dict(other))
        with pytest.raises(DataError, match="cannot load the model"):
            StructuredPerceptron.load(path, features, viterbi)
    learner().train(CORPUS).save(path)
    with pytest.raises(DataError, match="instead of a classifier; markone.StructuredPerceptron.load opens it"):
        markone.load(path)
    markone.train(["a", "b"], target=["x", "y"]).save(path)
    with pytest.raises(DataError, match="it contains 'classifier', not a structured perceptron"):
        StructuredPerceptron.load(path, features, viterbi)


# ---- going on


def noisy(count: int = 30, seed: int = 0) -> list[tuple[Words, Words]]:
    """What no weights separate."""
    chance = random.Random(seed)
    lengths = [chance.randint(1, 4) for _ in range(count)]
    return [(tuple(chance.choices("abc", k=n)), tuple(chance.choices(TAGS, k=n))) for n in lengths]


def content(found: StructuredPerceptron, folder: Path) -> bytes:
    found.save(folder / "content.model")
    return (folder / "content.model").read_bytes()


RUNS: list[dict[str, Any]] = [
    {},
    {"average": False, "order": "given"},
    {"rule": "mira", "cost": hamming, "order": "once"},
    {"holdout": 0.3, "patience": 2, "epochs": 9},
    {"rule": "mira", "C": 0.05, "holdout": 0.3, "patience": 3},
    {"answers": None, "argmax": viterbi, "cost": hamming, "seed": 5},
]


@pytest.mark.parametrize("how", RUNS, ids=lambda how: "-".join(how) or "usual")
def test_a_training_that_was_interrupted_ends_with_the_same_bytes(how: dict[str, Any], tmp_path: Path) -> None:
    options = {"epochs": 4, "order": "each", **how}
    corpus, kept = noisy(), tmp_path / "kept.model"
    whole = learner(**options).train(corpus)
    chance, stops, within = random.Random(str(sorted(how))), 0, 0
    while True:
        found = learner(**options).train(
            corpus, checkpoint=kept, resume=True, progress=Stopping(chance.randint(2, len(corpus)))
        )
        if found.history.stopped != "interrupted":
            break
        stops += 1
        resume = StructuredPerceptron.load(kept, features, answers=answers).resume
        assert resume is not None
        within += resume.facts["sums"]["visits"] > 0
        assert stops < 100
    assert stops > 2 and within > 1
    assert content(found, tmp_path) == content(whole, tmp_path)
    assert found.weights == whole.weights and list(found.weights) == list(whole.weights)
    assert [str(one.loss) for one in found.history] == [str(one.loss) for one in whole.history]


def test_a_checkpoint_predicts_and_can_be_made_final(tmp_path: Path) -> None:
    corpus, kept = noisy(), tmp_path / "kept.model"
    found = learner(epochs=2).train(corpus, checkpoint=kept)
    assert found.resume is None
    again = StructuredPerceptron.load(kept, features, answers=answers)
    assert again.weights == found.weights and again.predict(corpus[0][0]) == found.predict(corpus[0][0])
    assert content(again, tmp_path) == kept.read_bytes()
    again.save(tmp_path / "final.model", final=True)
    assert (tmp_path / "final.model").read_bytes() == content(found, tmp_path)
    assert (tmp_path / "final.model").stat().st_size < kept.stat().st_size


def test_more_passes_can_be_made_later(tmp_path: Path) -> None:
    corpus, kept = noisy(), tmp_path / "kept.model"
    learner(epochs=2).train(corpus, checkpoint=kept)
    more = learner(epochs=5).train(corpus, checkpoint=kept, resume=True)
    assert content(more, tmp_path) == content(learner(epochs=5).train(corpus), tmp_path) and len(more.history) == 5
    usual = learner(rule="mira").train(corpus, checkpoint=kept)
    same = learner(rule="mira", C=0.3, epochs=10).train(corpus, resume=kept)  # only that it is said is new
    assert same.weights == usual.weights and len(same.history) == len(usual.history)


def test_what_ended_by_itself_stays_ended(tmp_path: Path) -> None:
    kept = tmp_path / "kept.model"
    done = learner(epochs=50).train(CORPUS, checkpoint=kept)
    assert done.history.stopped == "converged"
    again = learner(epochs=90).train(CORPUS, resume=kept)
    assert again.history.stopped == "converged" and len(again.history) == len(done.history)
    assert again.weights == done.weights
    stopped = learner(epochs=9).train(noisy(), checkpoint=kept, callback=lambda one: one.epoch == 2)
    assert stopped.history.stopped == "callback"
    assert len(learner(epochs=9).train(noisy(), resume=kept).history) == 9


def test_sigterm_keeps_the_training(tmp_path: Path) -> None:
    kept = tmp_path / "kept.model"
    came: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: came.append(number))
    try:
        progress = Stopping(40, signal.SIGTERM)
        stopped = learner(epochs=3).train(noisy(), checkpoint=kept, progress=progress)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert came == [signal.SIGTERM] and stopped.history.stopped == "interrupted"
    again = learner(epochs=3).train(noisy(), checkpoint=kept, resume=True)
    assert content(again, tmp_path) == content(learner(epochs=3).train(noisy()), tmp_path)


def test_only_the_same_training_is_taken_up(tmp_path: Path) -> None:
    kept, final = tmp_path / "kept.model", tmp_path / "final.model"
    corpus = noisy()
    learner(epochs=2).train(corpus, held_out=CORPUS, checkpoint=kept).save(final)
    others: list[tuple[Any, Any]] = [
        (noisy(seed=1), CORPUS),
        (corpus[:-1], CORPUS),
        (corpus[::-1], CORPUS),
        (corpus, CORPUS[:-1]),
        (corpus, None),
        ([*corpus, *CORPUS], []),
    ]
    for examples, held_out in others:
        with pytest.raises(DataError, match="the examples are not those of the interrupted training"):
            learner(epochs=3).train(examples, held_out=held_out, resume=kept)
    for change, problem in (
        ({"seed": 1}, "seed is 1 now and was 0"),
        ({"rule": "mira"}, "rule is 'mira' now and was 'perceptron'"),
        ({"order": "each"}, "order is 'each' now and was 'given'"),
    ):
        with pytest.raises(SettingsError, match=problem):
            learner(**change).train(corpus, held_out=CORPUS, resume=kept)
    with pytest.raises(DataError, match="without its training state"):
        learner().train(corpus, held_out=CORPUS, resume=final)
    with pytest.raises(SettingsError, match="resume needs the file"):
        learner().train(corpus, resume=True)
    with pytest.raises(SettingsError, match="callback must be a function"):
        learner().train(corpus, callback=7)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="there is no folder"):
        learner().train(corpus, checkpoint=tmp_path / "nowhere" / "kept")
    assert len(learner(epochs=1).train(corpus, resume=tmp_path / "nothing").history) == 1


def test_what_tells_examples_apart_does_not_depend_on_the_order_of_names(tmp_path: Path) -> None:
    """A set of names comes in another order in each process."""

    def backwards(words: Words, tags: Words) -> dict[str, float]:
        return dict(reversed(features(words, tags).items()))

    kept = tmp_path / "kept.model"
    learner(epochs=2).train(noisy(), checkpoint=kept)
    again = StructuredPerceptron(backwards, answers=answers, order="given", epochs=4).train(noisy(), resume=kept)
    assert content(again, tmp_path) == content(learner(epochs=4).train(noisy()), tmp_path)


@pytest.fixture(scope="module")
def kept_file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("structured") / "kept"
    learner(epochs=2, patience=2).train(CORPUS, held_out=CORPUS[:2], checkpoint=path)
    return path.read_bytes()


@given(st.data())
def test_damaged_files_of_checkpoints_are_refused(
    kept_file: bytes, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.model"
    path.write_bytes(data.draw(damaged(kept_file)))
    if path.read_bytes() != kept_file:
        with pytest.raises(DataError):
            learner(patience=2).train(CORPUS, held_out=CORPUS[:2], resume=path)


@given(st.data())
def test_forged_files_of_checkpoints_are_refused_or_harmless(
    kept_file: bytes, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    forged = Forged(kept_file)
    forge(data.draw, forged)
    path = tmp_path_factory.getbasetemp() / "forged.model"
    path.write_bytes(forged.assembled())
    try:
        found = learner(epochs=3, patience=2).train(CORPUS, held_out=CORPUS[:2], resume=path)
    except (DataError, SettingsError):
        return
    assert all(math.isfinite(value) for value in found.weights.values())


# ---- what is refused


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"rule": "svm"}, "rule must be 'perceptron' or 'mira' for structured prediction, not 'svm'"),
        ({"answers": None}, "argmax must be given, or answers"),
        ({"answers": 7}, "answers must be a function, not 7"),
        ({"cost": 7}, "cost must be a function, not 7"),
        ({"argmax": lambda x, w: None, "cost": hamming}, "argmax must take the right answer as a third argument"),
        ({"argmax": lambda x: None}, "argmax must take x and the weights"),
        ({"argmax": lambda x, w, y: None, "cost": hamming}, "argmax must take x and the weights"),
        ({"C": 0.1}, "C belongs to the rule"),
        ({"rule": "mira", "C": 0}, "C must be a number greater than 0"),
        ({"epochs": 0}, "epochs must be a whole number of at least 1"),
        ({"order": "sorted"}, "order must be one of"),
        ({"holdout": 1.5}, "holdout must be a number of at least 0 and less than 1"),
    ],
)
def test_settings_that_mean_nothing(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        learner(**given)
    with pytest.raises(SettingsError, match="features must be a function"):
        StructuredPerceptron({}, answers=answers)  # type: ignore[arg-type]


def test_examples_and_features_that_are_none() -> None:
    with pytest.raises(DataError, match="there are no training examples"):
        learner().train([])
    with pytest.raises(DataError, match="example 2 is 'ab', not a pair"):
        learner().train([CORPUS[0], "ab"])  # type: ignore[list-item]
    with pytest.raises(DataError, match=r"there are no answers for \('a', 'b'\)"):
        learner(answers=lambda x: []).train(CORPUS)
    with pytest.raises(DataError, match="4 rows are too few to hold out a share of 0.01"):
        learner(holdout=0.01).train(CORPUS)
    with pytest.raises(SettingsError, match="holdout must be 0 if held-out examples are given"):
        learner(holdout=0.5).train(CORPUS, held_out=CORPUS)
    with pytest.raises(SettingsError, match="answers or best_other must be given"):
        StructuredPerceptron(features, viterbi).margins(CORPUS)
    for wrong, problem in {
        "ab": "features must be a dict of values by name, or a list of names, not 'ab'",
        7: "features must be a dict of values by name",
        (("a", 7),): "the name of a feature must be a string",
    }.items():
        with pytest.raises(DataError, match=problem):
            StructuredPerceptron(lambda x, y, wrong=wrong: wrong if y == "b" else ["b"], answers=lambda x: "ab").train(
                [(1, "b")]
            )
    for value in (math.nan, math.inf, "1"):
        with pytest.raises(DataError, match="must be a finite number"):
            StructuredPerceptron(lambda x, y, value=value: {y: value}, lambda x, w: "a").train([(1, "b")])
    with pytest.raises(DataError, match="a cost must be at least 0 and finite, not -1"):
        StructuredPerceptron(lambda x, y: [y], lambda x, w, y=None: "a", cost=lambda y, z: -1, rule="mira").train(
            [(1, "b")]
        )


def test_features_may_be_names_or_values() -> None:
    by_names = StructuredPerceptron(lambda x, y: [*y, *y], answers=lambda x: ["a", "b", "bb"]).train(
        [(1, "b"), (2, "b")]
    )
    by_values = StructuredPerceptron(lambda x, y: {c: 2 * y.count(c) for c in y}, answers=lambda x: ["a", "b", "bb"])
    assert by_names.weights == by_values.train([(1, "b"), (2, "b")]).weights != {}


def test_partitions_are_refused() -> None:
    with pytest.raises(markone.SettingsError, match="partitions must be 1 for a StructuredPerceptron") as caught:
        StructuredPerceptron(lambda x, y: [y], answers=lambda x: ["a", "b"], partitions=2)
    assert "only one thread" in str(caught.value)
