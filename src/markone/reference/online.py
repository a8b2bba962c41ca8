"""The perceptron, and all other online rules, which learn from one example at a time."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from markone.reference.vectors import BIAS, Number, Vector, dot, length2, softmax

# ---- the perceptron and MIRA, as in the lecture


def perceptron(examples: Sequence[tuple[Vector, int]], passes: int) -> tuple[dict[Hashable, Number], int]:
    """The perceptron for labels -1 and +1 with sign(0) = -1: the weights, and the mistakes of the last pass."""
    w: dict[Hashable, Number] = {}
    mistakes = 0
    for _ in range(passes):
        mistakes = 0
        for x, y in examples:
            guess = 1 if dot(w, x) > 0 else -1
            if guess != y:
                mistakes += 1
                for feature, value in x.items():
                    w[feature] = w.get(feature, 0) + y * value
        if mistakes == 0:
            break
    return w, mistakes


def mira(
    examples: Sequence[tuple[Vector, int]], classes: int, passes: int, C: Number = math.inf
) -> tuple[list[dict[Hashable, Number]], int]:
    """MIRA with a weight vector for each class: the vectors, and the mistakes of the last pass.

    On a mistake, the right class y* and the winner y move by the smallest tau that lets y* win by 1, but at most by C:
    tau = min(C, ((w_y − w_y*)·f + 1) / (2 f·f)), w_y −= tau f, w_y* += tau f. The first of several winners counts.
    """
    w: list[dict[Hashable, Number]] = [{} for _ in range(classes)]
    mistakes = 0
    for _ in range(passes):
        mistakes = 0
        for f, right in examples:
            scores = [dot(vector, f) for vector in w]
            guess = scores.index(max(scores))
            if guess != right:
                mistakes += 1
                tau = min(C, (scores[guess] - scores[right] + 1) / (2 * length2(f))) if length2(f) else 0
                for feature, value in f.items():
                    w[guess][feature] = w[guess].get(feature, 0) - tau * value
                    w[right][feature] = w[right].get(feature, 0) + tau * value
        if mistakes == 0:
            break
    return w, mistakes


# ---- all online rules, two classes or more


@dataclass
class Tally:
    mistakes: int = 0
    updates: int = 0
    loss: Number = 0


@dataclass
class Learner:
    """One weight vector for each class. `markone.model.settings` explains the settings.

    With two classes, the vector of the first class is always zero.
    """

    classes: int
    rule: str = "perceptron"
    eta: Number = 1
    schedule: str = "constant"
    C: Number = 1
    penalty: str | None = None
    strength: Number = 0
    tie: str = "error"
    form: str = "label"
    update: str = "margin"
    bias: bool = True

    w: dict[int, dict[Hashable, Number]] = field(default_factory=dict)
    total: dict[int, dict[Hashable, Number]] = field(default_factory=dict)
    squares: dict[int, dict[Hashable, Number]] = field(default_factory=dict)
    t: Number = 0

    def __post_init__(self) -> None:
        self.moving = [1] if self.classes == 2 else list(range(self.classes))
        for k in self.moving:
            for vectors in (self.w, self.total, self.squares):
                vectors.setdefault(k, {})

    def scores(self, x: Vector) -> list[Number]:
        return [dot(self.w[k], self.extend(x)) if k in self.moving else 0 for k in range(self.classes)]

    def average(self) -> dict[int, dict[Hashable, Number]]:
        """The mean of the weight vectors after each visit."""
        return {k: {feature: value / self.t for feature, value in self.total[k].items()} for k in self.moving}

    def predict(self, x: Vector) -> int:
        return winner(self.scores(x), range(self.classes), self.tie)

    def learn(self, examples: Iterable[tuple[Vector, int, Number]]) -> Tally:
        """One pass over (features, class, importance)."""
        tally = Tally()
        for x, y, importance in examples:
            if self.rule == "perceptron":
                whole, rest = divmod(importance, 1)
                for h in [1] * int(whole) + ([rest] if rest else []):
                    self.visit(x, y, h, tally)
            elif importance > 0:
                self.visit(x, y, importance, tally)
        return tally

    def visit(self, x: Vector, y: int, h: Number, tally: Tally) -> None:
        x = self.extend(x)
        s = [dot(self.w[k], x) if k in self.moving else 0 for k in range(self.classes)]
        rival = winner(s, [k for k in range(self.classes) if k != y], self.tie)
        margin = s[y] - s[rival]
        wrong = margin < 0 or (margin == 0 and self.is_lost(y, rival))
        rate = self.rate()
        pulls = self.pulls(x, s, y, rival, margin, wrong, h)
        for k, pull in pulls.items():
            for feature, value in x.items():
                self.move(k, feature, rate * pull * value)
        tally.mistakes += wrong
        tally.updates += any(pulls.values())
        tally.loss += h * self.loss(s, y, margin)
        self.t += h
        self.shrink_and_sum(rate, h)

    def extend(self, x: Vector) -> Vector:
        return {**x, BIAS: 1} if self.bias else x

    def is_lost(self, y: int, rival: int) -> bool:
        """Whether a tie between the right class and its rival is a mistake."""
        return {"error": True, "negative": rival < y, "positive": rival > y}[self.tie]

    def rate(self) -> Number:
        if self.rule == "mira" or self.schedule == "adagrad":
            return 1
        if self.schedule == "sqrt":
            return self.eta / math.sqrt(1 + self.t)
        if self.schedule == "inverse":
            return self.eta / (1 + self.eta * self.strength * self.t)
        return self.eta

    def pulls(
        self, x: Vector, s: list[Number], y: int, rival: int, margin: Number, wrong: bool, h: Number
    ) -> dict[int, Number]:
        """The factor of the step for the weight vector of each class."""
        if self.rule == "logistic":
            p = softmax(s)
            return {k: h * ((k == y) - p[k]) for k in self.moving}
        ups_and_downs = {y: 1, rival: -1}
        moved = {k: sign for k, sign in ups_and_downs.items() if k in self.moving}
        if self.rule == "perceptron":
            twice = self.form == "difference" and not (margin == 0 and self.tie == "error")
            pull = h * (2 if twice else 1) if wrong else 0
        elif self.rule == "mira":
            norm2 = len(moved) * length2(x)
            most = 2 * self.C if self.classes == 2 and self.form == "difference" else self.C
            tau = min(h * most, max(0, 1 - margin) / norm2) if norm2 else 0
            pull = tau if wrong or self.update == "margin" else 0
        else:
            pull = h if margin < 1 else 0
        return {k: sign * pull for k, sign in moved.items()}

    def loss(self, s: list[Number], y: int, margin: Number) -> Number:
        if self.rule == "logistic":
            return -math.log(softmax(s)[y])
        return max(0, -margin) if self.rule == "perceptron" else max(0, 1 - margin)

    def move(self, k: int, feature: Hashable, step: Number) -> None:
        if self.schedule == "adagrad":
            self.squares[k][feature] = self.squares[k].get(feature, 0) + step * step
            step *= self.own_rate(k, feature)
        self.w[k][feature] = self.w[k].get(feature, 0) + step

    def own_rate(self, k: int, feature: Hashable) -> Number:
        squares = self.squares[k].get(feature, 0)
        return self.eta / math.sqrt(squares) if squares else 0

    def shrink_and_sum(self, rate: Number, h: Number) -> None:
        """Apply the penalty to every weight except the bias, then add the weights to the total."""
        for k in self.moving:
            for feature, v in self.w[k].items():
                ask = self.strength * (self.own_rate(k, feature) if self.schedule == "adagrad" else rate)
                if self.penalty is None or feature == BIAS or ask == 0:
                    after, visited = v, h * v
                elif self.penalty == "l2":
                    # h visits, each dividing by 1 + ask: a geometric series
                    after = v * (1 + ask) ** -h
                    visited = (v - after) / ask
                else:
                    after = math.copysign(max(0, abs(v) - h * ask), v)
                    visited = h * after
                self.w[k][feature] = after
                self.total[k][feature] = self.total[k].get(feature, 0) + visited


def winner(scores: Sequence[Number], among: Iterable[int], tie: str) -> int:
    """The class with the highest score. Among equal scores it is the last if ties are positive, otherwise the first."""
    best = max(scores[k] for k in among)
    tied = [k for k in among if scores[k] == best]
    return tied[-1] if tie == "positive" else tied[0]
