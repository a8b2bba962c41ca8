"""`markone demo`: four learners, their last and their averaged weights, pass by pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from markone.cli.options import WholeNumber
from markone.cli.terminal import Terminal

if TYPE_CHECKING:
    from rich.table import Table

    from markone.data.blocks import Block
    from markone.model.settings import Rule, Settings

RULES: tuple[Rule, ...] = ("perceptron", "mira", "logistic", "hinge")
HOLDOUT = 0.3
BRIGHTEST = 16
SHOWN_PASSES = (1, 2, 5)
BARS = "▁▂▃▄▅▆▇█"
MOST_BARS = 16
WIDTH_FOR_BARS = 80
SNIPPET = """\
import markone, sklearn.datasets
X, y = sklearn.datasets.load_digits(return_X_y=True)
print(markone.Perceptron().fit(X[:1200], y[:1200]).score(X[1200:], y[1200:]))"""


def demo(*, epochs: WholeNumber = 12, seed: WholeNumber = 0) -> None:
    """Watch four learners read handwritten digits.

    The perceptron, MIRA, logistic regression and the SVM (the rule `hinge`) learn from 70% of scikit-learn's digits.
    After each pass the rest, which they never see, is classified twice: by the last weights, and by the average of all
    weights so far. The table shows what averaging is good for.

    Example: `markone demo --epochs 30 --seed 7`

    Parameters
    ----------
    epochs
        Passes over the data.
    seed
        Chooses the digits that are held out, and the order in which the others are visited.
    """
    from markone.model.settings import Settings

    trainings = [Settings(rule=rule, epochs=epochs, seed=seed, holdout=HOLDOUT) for rule in RULES]
    terminal = Terminal(highlight=False)
    terminal.print(f"Four learners read handwritten digits and are tested on {HOLDOUT:.0%} they never saw.")
    digits = load()
    curves = [curve for settings in trainings for curve in learn(settings, digits)]
    bars = terminal.width >= WIDTH_FOR_BARS and not terminal.options.ascii_only
    terminal.print(draw(curves, epochs, bars=bars))
    terminal.print()
    for sentence in conclude(curves):
        terminal.print(sentence)
    terminal.print("\nTry next, in Python:\n")
    terminal.print(SNIPPET, soft_wrap=True)


@dataclass(frozen=True, slots=True)
class Curve:
    """The held-out accuracy of a learner's last or averaged weights, pass by pass.

    In per cent, rounded as the table shows it, so that the sentences below agree with the table.
    """

    rule: str
    weights: str
    accuracy: Sequence[float]

    def after(self, epoch: int) -> float:
        """The accuracy after a pass, or after the last one where a learner that made no mistake stopped before."""
        return self.accuracy[min(epoch, len(self.accuracy)) - 1]

    def unrest(self) -> float:
        """The largest change from one pass to the next."""
        return max((abs(after - before) for before, after in pairwise(self.accuracy)), default=0.0)


def load() -> Block:
    """1,797 images of 8 by 8 pixels, each from 0 to 1."""
    from sklearn.datasets import load_digits

    from markone.data.blocks import Block

    pixels, labels = load_digits(return_X_y=True)
    return Block.of(pixels / BRIGHTEST, labels)


def learn(settings: Settings, digits: Block) -> tuple[Curve, Curve]:
    """One training, seen by its last and by its averaged weights."""
    from markone.learning.linear import Linear
    from markone.learning.passes import train_linear

    linear = Linear(settings, features=digits.matrix.shape[1], classes=10)
    history = train_linear(linear, digits)
    if history.stopped == "interrupted":
        raise KeyboardInterrupt
    last = [round(100 * result.holdout_last, 1) for result in history if result.holdout_last is not None]
    averaged = [round(100 * result.holdout_averaged, 1) for result in history if result.holdout_averaged is not None]
    return Curve(settings.rule, "last", last), Curve(settings.rule, "averaged", averaged)


def draw(curves: Sequence[Curve], epochs: int, *, bars: bool) -> Table:
    """A row for each curve; `bars` are for a terminal that is wide enough and knows more than ASCII."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    shown = [*(epoch for epoch in SHOWN_PASSES if epoch < epochs), epochs]
    low = min(min(curve.accuracy) for curve in curves)
    high = max(max(curve.accuracy) for curve in curves)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, caption="Held-out accuracy in %", caption_justify="left")
    table.add_column("rule")
    table.add_column("weights")
    if bars:
        table.add_column("pass by pass", style="cyan", no_wrap=True)
        table.caption = f"Held-out accuracy in %; the bars reach from {low:.1f} to {high:.1f}"
    for epoch in shown:
        table.add_column(f"pass {epoch}" if epoch == 1 else str(epoch), justify="right")
    table.add_column("best", justify="right")
    for curve in curves:
        numbers = [curve.after(epoch) for epoch in shown] + [max(curve.accuracy)]
        picture = [sparkline(curve.accuracy, low, high)] if bars else []
        table.add_row(curve.rule, curve.weights, *picture, *(f"{number:.1f}" for number in numbers))
    return table


def sparkline(values: Sequence[float], low: float, high: float) -> str:
    """A bar for each value, or for some evenly spaced where they are many; always for the last.

    >>> sparkline([80, 85, 90], low=80, high=90)
    '▁▅█'
    """
    count = min(len(values), MOST_BARS)
    chosen = [values[(place + 1) * len(values) // count - 1] for place in range(count)]
    step = (high - low) / (len(BARS) - 1) or 1.0
    return "".join(BARS[int((value - low) / step + 0.5)] for value in chosen)


def conclude(curves: Sequence[Curve]) -> Iterator[str]:
    """What the numbers say, in sentences."""
    pairs = list(zip(curves[::2], curves[1::2], strict=True))
    gains = {last.rule: averaged.accuracy[-1] - last.accuracy[-1] for last, averaged in pairs}
    for verb, sign in (("raised", 1), ("lowered", -1)):
        changes = [f"{sign * gain:.1f} ({rule})" for rule, gain in gains.items() if sign * gain > 0]
        if changes:
            yield f"Averaging {verb} the accuracy after the last pass by {enumerate_words(changes)} points."
    rough, smooth = (max(curve.unrest() for curve in side) for side in zip(*pairs, strict=True))
    if rough > 0:
        yield (
            f"From one pass to the next, accuracy moved by up to {rough:.1f} points with the last weights, "
            f"by up to {smooth:.1f} with the averaged ones."
        )
    top = max(curve.accuracy[-1] for curve in curves)
    best = [f"{curve.rule} ({curve.weights})" for curve in curves if curve.accuracy[-1] == top]
    yield f"Best in the end: {enumerate_words(best)}, {top:.1f}% right."


def enumerate_words(words: Sequence[str]) -> str:
    """
    >>> enumerate_words(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
