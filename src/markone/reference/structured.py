"""Structured prediction: the structured perceptron and MIRA, with a search through all answers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from markone.reference.vectors import Number, Vector, dot, length2

Features = Callable[[Any, Any], Vector]
Answers = Callable[[Any], Sequence[Any]]

# ---- as in the lecture


def structured_perceptron(
    examples: Sequence[tuple[Any, Any]], features: Features, answers: Answers, passes: int
) -> tuple[dict[Hashable, Number], int]:
    """After a mistake, add the features of the right answer and subtract those of the guess. Returns the weights, and
    the mistakes of the last pass."""
    w: dict[Hashable, Number] = {}
    mistakes = 0
    for _ in range(passes):
        mistakes = 0
        for x, y in examples:
            scores = [(dot(w, features(x, z)), z) for z in answers(x)]
            guess = max(scores, key=itemgetter(0))[1]
            if guess != y:
                mistakes += 1
                for feature, value in difference(features(x, y), features(x, guess)).items():
                    w[feature] = w.get(feature, 0) + value
        if mistakes == 0:
            break
    return w, mistakes


def difference(a: Vector, b: Vector) -> dict[Hashable, Number]:
    return {feature: a.get(feature, 0) - b.get(feature, 0) for feature in {**a, **b}}


# ---- with every option


@dataclass
class StructuredLearner:
    """The perceptron and MIRA, with costs of wrong answers and averaged weights.

    With a cost, the search finds the answer with the highest sum of score and cost, and the right answer must win by
    this cost. Without one, every wrong answer has the cost 1.
    """

    features: Features
    answers: Answers
    rule: str = "perceptron"
    C: Number = 1
    cost: Callable[[Any, Any], Number] | None = None

    w: dict[Hashable, Number] = field(default_factory=dict)
    total: dict[Hashable, Number] = field(default_factory=dict)
    visits: int = 0
    mistakes: int = 0
    updates: int = 0
    loss: Number = 0

    def score(self, x: Any, y: Any) -> Number:
        return dot(self.w, self.features(x, y))

    def predict(self, x: Any) -> Any:
        return max(self.answers(x), key=lambda z: self.score(x, z))

    def best(self, x: Any, y: Any) -> Any:
        """The answer that the right one is compared with."""
        cost = self.cost
        if cost is None:
            return self.predict(x)
        return max(self.answers(x), key=lambda z: self.score(x, z) + cost(y, z))

    def visit(self, x: Any, y: Any) -> None:
        self.visits += 1
        self.mistakes += self.predict(x) != y
        guess = self.best(x, y)
        if guess != y:
            owed = self.cost(y, guess) if self.cost is not None else 1 if self.rule == "mira" else 0
            loss = max(0, owed + self.score(x, guess) - self.score(x, y))
            self.loss += loss
            step = difference(self.features(x, y), self.features(x, guess))
            norm2 = length2(step)
            if norm2 > 0 and (loss > 0 or self.rule == "perceptron"):
                tau = 1 if self.rule == "perceptron" else min(self.C, loss / norm2)
                self.updates += 1
                for feature, value in step.items():
                    self.w[feature] = self.w.get(feature, 0) + tau * value
        for feature, value in self.w.items():
            self.total[feature] = self.total.get(feature, 0) + value

    def average(self) -> dict[Hashable, Number]:
        """The mean of the weights after each visit."""
        return {feature: value / self.visits for feature, value in self.total.items()}
