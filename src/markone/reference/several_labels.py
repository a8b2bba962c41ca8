"""Rows with several labels: one learner of two classes for each label, and the measures of their predictions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import product
from typing import TypeVar

from markone.reference.vectors import Number, Vector

Sets = Sequence[frozenset[Hashable]]
Learned = TypeVar("Learned")


def learn_labels(
    examples: Sequence[tuple[Vector, frozenset[Hashable], Number]],
    labels: Sequence[Hashable],
    learn: Callable[[list[tuple[Vector, int, Number]]], Learned],
) -> list[Learned]:
    """What is learned for each label, if the class of an example is 1 where it has the label, and otherwise 0."""
    return [learn([(x, int(label in own), importance) for x, own, importance in examples]) for label in labels]


def decisions(truth: Sets, found: Sets, labels: Sequence[Hashable]) -> Iterator[tuple[bool, bool]]:
    """Whether each example has each label, and whether it was found."""
    for (own, said), label in product(zip(truth, found, strict=True), labels):
        yield label in own, label in said


def f1_of(pairs: Sequence[tuple[bool, bool]]) -> float:
    """2 · hits / (2 · hits + false + missed); 0 if there is nothing to find, and nothing was found."""
    hits, false, missed = (pairs.count(one) for one in ((True, True), (False, True), (True, False)))
    return 2 * hits / (2 * hits + false + missed) if hits else 0.0


def measures_of_labels(truth: Sets, found: Sets, labels: Sequence[Hashable]) -> dict[str, float]:
    """Micro and macro F1, the share of examples whose labels are all right, and the share of wrong decisions.

    >>> found = measures_of_labels([frozenset("ab"), frozenset()], [frozenset("a"), frozenset("a")], "ab")
    >>> {name: round(value, 3) for name, value in found.items()}
    {'micro_f1': 0.5, 'macro_f1': 0.333, 'accuracy': 0.0, 'hamming_loss': 0.5}
    """
    every = [*decisions(truth, found, labels)]
    by_label = [[*decisions(truth, found, [label])] for label in labels]
    met = [pairs for pairs in by_label if any(own or said for own, said in pairs)]
    return {
        "micro_f1": f1_of(every),
        "macro_f1": sum(map(f1_of, met)) / len(met) if met else 0.0,
        "accuracy": sum(own == said for own, said in zip(truth, found, strict=True)) / len(truth),
        "hamming_loss": sum(own != said for own, said in every) / len(every),
    }


def best_micro_f1(scores: Sequence[Sequence[float]], truth: Sequence[Sequence[bool]]) -> float:
    """The best micro F1 of any thresholds of the labels, by trying all of them."""
    columns = [
        [*zip(own, is_so, strict=True)]
        for own, is_so in zip(zip(*scores, strict=True), zip(*truth, strict=True), strict=True)
    ]
    cuts = [[*dict.fromkeys(score for score, _ in column), float("inf")] for column in columns]
    return max(
        f1_of([(is_so, score >= cut) for column, cut in zip(columns, chosen, strict=True) for score, is_so in column])
        for chosen in product(*cuts)
    )
