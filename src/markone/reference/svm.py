"""The linear support vector machine: the largest margin, with a cost for violations."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from markone.reference.vectors import BIAS, Number, Vector, dot, length2

STILL = 1e-13


@dataclass
class SVM:
    """Minimises ½‖w‖² + Σ C·h·loss. Each visit finds the best multipliers of one example while all others are fixed.

    With two classes there is one weight vector, of the second class; its margin is y·w·x. With more there is one for
    each class, and the margin is the score of the right class minus the best of the wrong ones (Crammer and Singer).
    One-versus-rest trains a machine with two classes for each class: see `one_versus_rest`. The loss is
    max(0, 1 - margin), or its square. The bias is the weight of a feature that is always 1.
    """

    classes: int
    C: Number = 1
    loss: str = "hinge"
    bias: bool = True
    spread: Number = 1
    """How many times as far the weights go as the multipliers say: in partitions, the others move them, too."""

    w: dict[int, dict[Hashable, Number]] = field(default_factory=dict)
    alpha: list[dict[int, Number]] = field(default_factory=list)
    """The multipliers of each example, one for each weight vector: w_k = Σ alpha_k·x."""

    def __post_init__(self) -> None:
        self.moving = [1] if self.classes == 2 else list(range(self.classes))

    def extend(self, x: Vector) -> Vector:
        return {**x, BIAS: 1} if self.bias else x

    def scores(self, x: Vector) -> list[Number]:
        return [dot(self.w.get(k, {}), self.extend(x)) if k in self.moving else 0 for k in range(self.classes)]

    def learn(self, examples: Sequence[tuple[Vector, int, Number]], passes: int) -> int:
        """Make passes until nothing changes, at most `passes`. Returns the number of passes."""
        self.w = {k: {} for k in self.moving}
        self.alpha = [dict.fromkeys(self.moving, 0) for _ in examples]
        for number in range(1, passes + 1):
            changes = [self.visit(i, *example) for i, example in enumerate(examples)]
            if max(changes, default=0) <= STILL:
                return number
        return passes

    def learn_in_parts(self, examples: Sequence[tuple[Vector, int, Number]], parts: int, passes: int) -> None:
        """Do the same in partitions (CoCoA+, Ma et al. 2015). In each pass, all of them start at the same weights, and
        make steps as if the others did the same. Then their moves of the weights are added."""
        self.w = {k: {} for k in self.moving}
        self.alpha = [dict.fromkeys(self.moving, 0) for _ in examples]
        ends = [len(examples) * part // parts for part in range(parts + 1)]
        for _ in range(passes):
            moved = {k: dict(vector) for k, vector in self.w.items()}
            for start, end in pairwise(ends):
                own = SVM(self.classes, self.C, self.loss, self.bias, spread=parts, alpha=self.alpha)
                own.w = {k: dict(vector) for k, vector in self.w.items()}
                for i in range(start, end):
                    own.visit(i, *examples[i])
                for k, vector in own.w.items():
                    for feature, value in vector.items():
                        step = (value - self.w[k].get(feature, 0)) / parts
                        moved[k][feature] = moved[k].get(feature, 0) + step
            self.w = moved

    def visit(self, i: int, x: Vector, y: int, h: Number) -> Number:
        """Set the multipliers of an example to their optimum, and return their largest change."""
        norm2 = self.spread * length2(self.extend(x))
        if h == 0:
            return 0
        best = self.best_of_two if self.classes == 2 else self.best_of_many
        optimum = best(self.alpha[i], self.scores(x), y, norm2, self.C * h)
        change: Number = 0
        for k, alpha in optimum.items():
            step = alpha - self.alpha[i][k]
            change = max(change, abs(step))
            self.alpha[i][k] = alpha
            for feature, value in self.extend(x).items():
                self.w[k][feature] = self.w[k].get(feature, 0) + self.spread * step * value
        return change

    def best_of_two(
        self, alpha: dict[int, Number], s: list[Number], y: int, norm2: Number, cost: Number
    ) -> dict[int, Number]:
        sign = 1 if y == 1 else -1
        a = sign * alpha[1]
        if self.loss == "squared":
            a = max(0, a + (1 - sign * s[1] - a / (2 * cost)) / (norm2 + 1 / (2 * cost)))
        elif norm2 == 0:
            a = cost
        else:
            a = min(max(0, a + (1 - sign * s[1]) / norm2), cost)
        return {1: sign * a}

    def best_of_many(
        self, alpha: dict[int, Number], s: list[Number], y: int, norm2: Number, cost: Number
    ) -> dict[int, Number]:
        """Minimise ½·norm2·Σ(a_k - alpha_k)² + Σ s_k·a_k - a_y [+ a_y²/4C], where all a_k sum to 0 and only a_y may be
        positive.

        At the optimum all a_k that are not at a bound have the same slope, the level. The lower it is, the more wrong
        classes are below their bound of 0: those with the highest scores.
        """
        extra = 1 / (2 * cost) if self.loss == "squared" else 0
        if norm2 == 0:
            return {k: (1 / extra if extra else cost) * ((k == y) - (k == (y == 0))) for k in alpha}
        right = s[y] - norm2 * alpha[y]
        slopes = {k: s[k] + 1 - norm2 * alpha[k] for k in alpha if k != y}
        level, total = 0.0, 0.0
        for count, slope in enumerate(sorted(slopes.values(), reverse=True), start=1):
            if count > 1 and slope <= level:
                break
            total += slope
            level = (total / norm2 + right / (norm2 + extra)) / (count / norm2 + 1 / (norm2 + extra))
            if not extra and level - right > norm2 * cost:
                level = (total - norm2 * cost) / count
        found = {k: min(0, (level - slope) / norm2) for k, slope in slopes.items()}
        return {**found, y: -sum(found.values())}

    def lack(self, s: list[Number], y: int) -> Number:
        """The amount by which the margin is below 1."""
        if self.classes == 2:
            return max(0, 1 - (s[1] if y == 1 else -s[1]))
        return max(0, 1 + max(s[k] for k in range(self.classes) if k != y) - s[y])

    def primal(self, examples: Sequence[tuple[Vector, int, Number]]) -> Number:
        """The objective, which is minimised, with the current weights."""
        power = 2 if self.loss == "squared" else 1
        costs = sum(self.C * h * self.lack(self.scores(x), y) ** power for x, y, h in examples)
        return self.norm2() / 2 + costs

    def dual(self, examples: Sequence[tuple[Vector, int, Number]]) -> Number:
        """A lower bound of the objective, from the current multipliers."""
        total: Number = 0
        for alpha, (_, y, h) in zip(self.alpha, examples, strict=True):
            a = abs(alpha[1]) if self.classes == 2 else alpha[y]
            total += a - (a * a / (4 * self.C * h) if self.loss == "squared" and h else 0)
        return total - self.norm2() / 2

    def norm2(self) -> Number:
        return sum(length2(vector) for vector in self.w.values())


def one_versus_rest(
    examples: Sequence[tuple[Vector, int, Number]], classes: int, passes: int, C: Number = 1, loss: str = "hinge"
) -> list[SVM]:
    """Train a machine for each class, which separates it from all others."""
    machines = [SVM(2, C=C, loss=loss) for _ in range(classes)]
    for k, machine in enumerate(machines):
        machine.learn([(x, int(y == k), h) for x, y, h in examples], passes)
    return machines
