"""The multi-layer perceptron, number by number: each operation stands beside its derivative.

A `Node` is a number that remembers what it was computed from, and how fast it changes with each of these. `backward`
follows the chain rule from the loss to every weight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(eq=False)
class Node:
    """A number, what it was made of, and how fast it changes with each of them."""

    value: float
    parents: tuple[tuple[Node, float], ...] = ()
    slope: float = field(default=0.0, init=False)
    """How fast the loss changes with it, after `backward`."""

    def __add__(self, other: Node | float) -> Node:
        other = as_node(other)
        return Node(self.value + other.value, ((self, 1), (other, 1)))

    def __mul__(self, other: Node | float) -> Node:
        other = as_node(other)
        return Node(self.value * other.value, ((self, other.value), (other, self.value)))

    def relu(self) -> Node:
        return Node(max(0.0, self.value), ((self, float(self.value > 0)),))

    def tanh(self) -> Node:
        a = math.tanh(self.value)
        return Node(a, ((self, 1 - a * a),))

    def sigmoid(self) -> Node:
        a = 1 / (1 + math.exp(-self.value))
        return Node(a, ((self, a * (1 - a)),))

    def exp(self) -> Node:
        a = math.exp(self.value)
        return Node(a, ((self, a),))

    def log(self) -> Node:
        return Node(math.log(self.value), ((self, 1 / self.value),))

    def backward(self) -> None:
        """The slope of everything that this number was made of."""
        order: list[Node] = []
        seen: set[Node] = set()

        def visit(node: Node) -> None:
            if node not in seen:
                seen.add(node)
                for parent, _ in node.parents:
                    visit(parent)
                order.append(node)

        visit(self)
        for node in order:
            node.slope = 0.0
        self.slope = 1.0
        for node in reversed(order):
            for parent, change in node.parents:
                parent.slope += node.slope * change


def as_node(value: Node | float) -> Node:
    return value if isinstance(value, Node) else Node(value)


def total(nodes: Sequence[Node]) -> Node:
    return Node(sum(node.value for node in nodes), tuple((node, 1.0) for node in nodes))


class Network:
    """Layers of weights, inputs × outputs, and a bias for each output. Two classes share one output."""

    def __init__(self, layers: Sequence[tuple[Sequence[Sequence[float]], Sequence[float]]], activation: str) -> None:
        self.weights = [[[Node(float(w)) for w in row] for row in weights] for weights, _ in layers]
        self.biases = [[Node(float(b)) for b in bias] for _, bias in layers]
        self.activation = activation

    def scores(self, x: Sequence[float]) -> list[Node]:
        a = [Node(float(value)) for value in x]
        for number, (weights, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            a = [total([unit * row[j] for unit, row in zip(a, weights, strict=True)]) + b for j, b in enumerate(bias)]
            if number < len(self.weights) - 1:
                a = [getattr(z, self.activation)() for z in a]
        return a

    def loss(
        self, rows: Sequence[Sequence[float]], labels: Sequence[int], importance: Sequence[float], strength: float = 0.0
    ) -> Node:
        """The mean cross-entropy of the rows by their importance, and strength / 2 times the squared weights."""
        share = 1 / sum(importance)
        losses = []
        for x, y, h in zip(rows, labels, importance, strict=True):
            s = self.scores(x)
            s = [Node(0.0), *s] if len(s) == 1 else s
            losses.append((total([k.exp() for k in s]).log() + s[y] * -1) * (h * share))
        weights = [w for layer in self.weights for row in layer for w in row]
        return total(losses) + total([w * w for w in weights]) * (strength / 2)

    def gradient(
        self, rows: Sequence[Sequence[float]], labels: Sequence[int], importance: Sequence[float], strength: float = 0.0
    ) -> list[tuple[list[list[float]], list[float]]]:
        """How fast the loss changes with each weight and each bias, layer by layer."""
        self.loss(rows, labels, importance, strength).backward()
        return [
            ([[w.slope for w in row] for row in weights], [b.slope for b in bias])
            for weights, bias in zip(self.weights, self.biases, strict=True)
        ]


# ---- optimizers: how a gradient g moves a weight w


@dataclass
class Memory:
    """What an optimizer remembers of a weight."""

    mean: float = 0.0
    squares: float = 0.0
    steps: int = 0


def sgd(w: float, g: float, eta: float, memory: Memory) -> float:
    return w - eta * g


def adagrad(w: float, g: float, eta: float, memory: Memory) -> float:
    """The more a weight has been pulled at, the less it moves."""
    memory.squares += g * g
    return w - eta * g / math.sqrt(memory.squares) if g else w


def adam(w: float, g: float, eta: float, memory: Memory) -> float:
    """By the mean of the last gradients over the root of the mean of their squares, both freed of their start at 0."""
    memory.steps += 1
    memory.mean = 0.9 * memory.mean + 0.1 * g
    memory.squares = 0.999 * memory.squares + 0.001 * g * g
    mean, squares = memory.mean / (1 - 0.9**memory.steps), memory.squares / (1 - 0.999**memory.steps)
    return w - eta * mean / (math.sqrt(squares) + 1e-8)
