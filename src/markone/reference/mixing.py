"""Iterative parameter mixing: partitions learn on their own within a pass, and then their weights are mixed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from copy import deepcopy
from fractions import Fraction
from math import floor

from markone.reference.online import Learner, Tally
from markone.reference.parsing import LEFT, RIGHT, SHIFT, GreedyParser
from markone.reference.parsing import Sentence as Tree
from markone.reference.sequences import Sentence, TagLearner, Tags
from markone.reference.vectors import Number, Vector

Vectors = dict[int, dict[Hashable, Number]]


def mixed_pass(learner: Learner, parts: Sequence[Sequence[tuple[Vector, int, Number]]], mixing: str) -> list[Tally]:
    """One pass of a learner over partitions of (features, class, importance), with the tally of each.

    The new weights are the weighted mean of those of the partitions that have examples. The total is that of all
    weights that any of them has met; so are AdaGrad's sums of squares, and the time.
    """
    own = [deepcopy(learner) for _ in parts]
    tallies = [one.learn(part) for one, part in zip(own, parts, strict=True)]
    learned = [i for i, part in enumerate(parts) if part]
    mistakes = sum(tallies[i].mistakes for i in learned)
    by_mistakes = mixing == "mistakes" and mistakes > 0
    share = {i: tallies[i].mistakes / mistakes if by_mistakes else 1 / len(learned) for i in learned}
    before = deepcopy(learner)
    for k in learner.moving:
        for feature in {feature for i in learned for feature in own[i].w[k]}:
            learner.w[k][feature] = sum(share[i] * own[i].w[k].get(feature, 0) for i in learned)
            for now, old, new in (
                (learner.total, before.total, [own[i].total for i in learned]),
                (learner.squares, before.squares, [own[i].squares for i in learned]),
            ):
                start = old[k].get(feature, 0)
                now[k][feature] = start + sum(one[k].get(feature, 0) - start for one in new)
    learner.t += sum(own[i].t - before.t for i in learned)
    return tallies


def mixed_pass_of_tagger(learner: TagLearner, parts: Sequence[Sequence[tuple[Sentence, Tags]]]) -> None:
    """The same for a tagger, whose partitions all have the same share."""
    own = [deepcopy(learner) for _ in parts]
    for one, part in zip(own, parts, strict=True):
        one.learn(part)
    before = deepcopy(learner)
    for feature in {feature for one in own for feature in one.total}:
        learner.w[feature] = sum(one.w.get(feature, 0) for one in own) / len(own)
        start = before.total.get(feature, 0)
        learner.total[feature] = start + sum(one.total.get(feature, 0) - start for one in own)
    learner.t += sum(one.t - before.t for one in own)
    for name in ("mistakes", "updates", "loss"):
        start = getattr(before, name)
        setattr(learner, name, start + sum(getattr(one, name) - start for one in own))


def mixed_pass_of_parser(
    parser: GreedyParser, parts: Sequence[list[Tree]], learn: Callable[[GreedyParser, list[Tree]], int], unit: int
) -> int:
    """The same for a parser, with the number of mistakes. Changes of weights are rounded to multiples of 1 / unit."""
    own = [deepcopy(parser) for _ in parts]
    mistakes = sum(learn(one, part) for one, part in zip(own, parts, strict=True))
    for name in ("moves", "label_weights"):
        now, before = getattr(parser, name), deepcopy(getattr(parser, name))
        each = [getattr(one, name) for one in own]
        for place in {place for one in each for place in one.w}:
            start, met = before.w.get(place, 0), before.total.get(place, 0)
            mean = Fraction(sum(one.w.get(place, 0) - start for one in each)) / len(own)
            now.w[place] = start + nearest(mean * unit) / unit
            now.total[place] = met + sum(one.total.get(place, 0) - met for one in each)
    w = parser.moves.w
    for feature in {feature for feature, _ in w}:  # the weights of a feature for the moves sum to 0
        w[feature, RIGHT] = -w[feature, SHIFT] - w[feature, LEFT]
    parser.steps += sum(one.steps - parser.steps for one in own)
    return mistakes


def nearest(number: Fraction) -> Fraction:
    """The nearest whole number. Halves are rounded away from 0."""
    return Fraction(floor(abs(number) + Fraction(1, 2)) * (1 if number > 0 else -1))
