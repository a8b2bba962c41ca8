"""Leave-one-out in the plain way: train on all examples except one, and predict that one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markone.reference.online import Learner, winner
from markone.reference.vectors import Number, Vector, dot


def leave_one_out(
    examples: Sequence[tuple[Vector, int, Number]],
    orders: Sequence[Sequence[int]],
    classes: int,
    *,
    average: bool,
    rests: bool,
    **settings: Any,
) -> list[int]:
    """The prediction for each example. A pass visits all others in its order. With `rests`, training stops after a pass
    without updates.

    >>> examples = [({"a": 1}, 1, 1), ({"b": 1}, 0, 1), ({"a": 2}, 1, 1)]
    >>> leave_one_out(examples, [[0, 1, 2]], 2, average=False, rests=True, bias=False)
    [1, 0, 1]
    """
    found = []
    for left_out, (x, _, _) in enumerate(examples):
        learner = Learner(classes, **settings)
        for order in orders:
            tally = learner.learn(examples[i] for i in order if i != left_out)
            if rests and tally.updates == 0:
                break
        w = learner.average() if average and learner.t else learner.w
        scores = [dot(w[k], learner.extend(x)) if k in learner.moving else 0 for k in range(classes)]
        found.append(winner(scores, range(classes), learner.tie))
    return found
