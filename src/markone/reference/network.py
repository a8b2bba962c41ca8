"""The multilayer perceptron, number by number. Each operation computes a value and its derivatives.

A `Node` is a number that remembers the numbers from which it was computed, and its derivatives with respect to them.
`backward` applies the chain rule from the loss to every weight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(eq=False)
class Node:
    """A number, the numbers from which it was computed, and its derivatives with respect to them."""

    value: float
    parents: tuple[tuple[Node, float], ...] = ()
    slope: float = field(default=0.0, init=False)
    """The derivative of the loss with respect to this number, after `backward`."""

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
        """Compute the slopes of all numbers from which this number was computed."""
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
        """The mean cross-entropy of the rows, weighted by importance, plus strength / 2 times the squared weights."""
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
        """The gradient of the loss: the derivatives for all weights and biases, layer by layer."""
        self.loss(rows, labels, importance, strength).backward()
        return [
            ([[w.slope for w in row] for row in weights], [b.slope for b in bias])
            for weights, bias in zip(self.weights, self.biases, strict=True)
        ]


# ---- optimizers: the new value of a weight w with the gradient g


@dataclass
class Memory:
    """The state of an optimizer for one weight."""

    mean: float = 0.0
    squares: float = 0.0
    steps: int = 0


def sgd(w: float, g: float, eta: float, memory: Memory) -> float:
    return w - eta * g


def adagrad(w: float, g: float, eta: float, memory: Memory) -> float:
    """The step is divided by the root of the sum of all squared gradients of this weight."""
    memory.squares += g * g
    return w - eta * g / math.sqrt(memory.squares) if g else w


def adam(w: float, g: float, eta: float, memory: Memory) -> float:
    """The step is the mean of recent gradients divided by the root of the mean of their squares. Both means start at 0
    and are corrected for it."""
    memory.steps += 1
    memory.mean = 0.9 * memory.mean + 0.1 * g
    memory.squares = 0.999 * memory.squares + 0.001 * g * g
    mean, squares = memory.mean / (1 - 0.9**memory.steps), memory.squares / (1 - 0.999**memory.steps)
    return w - eta * mean / (math.sqrt(squares) + 1e-8)
