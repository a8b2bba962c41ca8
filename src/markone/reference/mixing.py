"""Iterative parameter mixing: partitions learn on their own within a pass, and then their weights are mixed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from copy import deepcopy

from markone.reference.online import Learner, Tally
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
