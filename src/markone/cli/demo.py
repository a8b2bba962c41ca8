"""`markone demo`: runs the most important commands on small data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from markone.cli.console import Terminal
from markone.cli.messages import readable, typed
from markone.cli.options import WholeNumber
from markone.cli.terminal import WIDE
from markone.extras import need

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.table import Table

    from markone.model.rules import Rule
    from markone.model.settings import Settings

RULES: tuple[Rule, ...] = ("perceptron", "mira", "logistic", "hinge")
TRAINING_REVIEWS, TEST_REVIEWS = 2000, 500
TRAINING_DIGITS = 1200
BRIGHTEST = 16
"""The largest pixel value in the digits of scikit-learn."""
HOLDOUT = 0.3
SHOWN_PASSES = (1, 2, 5)
BARS = "▁▂▃▄▅▆▇█"
MOST_BARS = 16
REVIEW = "The room was not clean, but what a lovely garden!"
TRAINING_STORIES, TEST_STORIES = 300, 100
STORY = "The old guest plays in the light green of the garden."
STRANGE = 7
"""The word of the story to explain: "light" is an adjective here, but it can also be a noun."""


def demo(*, folder: str = "markone-demo", epochs: WholeNumber = 12, seed: WholeNumber = 0) -> None:
    """Show the most important commands on generated reviews and sentences and on handwritten digits.

    The demo first writes its data to a folder: invented hotel reviews, sentences about hotel guests, and the digits of
    scikit-learn. It then shows and runs commands: it classifies the reviews, parses the sentences, and recognises the
    digits with four rules. The last table shows the effect of averaging the weights.

    Example: `markone demo --seed 7`

    Parameters
    ----------
    folder
        The folder for the data and the models.
    epochs
        The number of passes over the digits in the last table.
    seed
        The seed for the reviews and sentences, the choice of held-out digits, and the order of the other digits.
    """
    from markone.model.settings import Settings

    trainings = [Settings(rule=rule, epochs=epochs, seed=seed, holdout=HOLDOUT) for rule in RULES]
    terminal = Terminal(highlight=False)
    place = Path(folder)
    pixels, labels = load_digits()
    write_data(place, pixels, labels, seed)
    where = f"The data are in the folder {readable(folder)}. We start with the reviews."
    terminal.print(where, soft_wrap=True, markup=False)
    show(terminal, "train", place / "reviews.csv", "--target", "guest", "-o", place / "reviews.model")
    show(terminal, "evaluate", place / "reviews.model", place / "new-reviews.csv")
    show(terminal, "explain", place / "reviews.model", "--text", REVIEW)
    terminal.print("\nThe model was trained with one of several rules. Which rule is best for the reviews?")
    show(terminal, "compare", place / "reviews.csv", "--target", "guest", "--method", "holdout", "--no-contrasts")
    terminal.print("\nWhat can be proved about the data? Whether a plane separates the two classes of the new reviews.")
    show(terminal, "certify", place / "new-reviews.csv", "--target", "guest")
    terminal.print("\nA parser predicts trees instead of classes. With --tag, it also learns the parts of speech.")
    known, new, parser = place / "sentences.conllu", place / "new-sentences.conllu", place / "sentences.parser"
    show(terminal, "parse", "train", known, "--tag", "--mode", "fast", "--test", new, "-o", parser)
    show(terminal, "parse", "run", parser, place / "story.txt", "--output", "tree")
    show(terminal, "explain", parser, "--word", STRANGE, "--top", 5, STORY)
    terminal.print("\nThe last data are the digits.")
    show(terminal, "train", place / "digits-images-idx3-ubyte", "-o", place / "digits.model")
    show(terminal, "evaluate", place / "digits.model", place / "new-digits-images-idx3-ubyte")
    terminal.print(f"\nFour rules are trained on the digits, and tested on {HOLDOUT:.0%} of them, which are held out.")
    curves = [curve for settings in trainings for curve in learn(settings, pixels, labels)]
    terminal.print(fitting_table(terminal, curves, epochs))
    terminal.print()
    for sentence in conclude(curves):
        terminal.print(sentence)
    terminal.print("\nTry next:\n")
    for command in next_commands(place):
        terminal.print(f"  {command}", soft_wrap=True, markup=False)


def show(terminal: Terminal, *words: object) -> None:
    """Print a command, and run it."""
    from markone.cli.app import run

    arguments = list(map(str, words))
    terminal.print(f"\n$ {typed('markone', *arguments)}\n", style="bold", soft_wrap=True, markup=False)
    run(arguments)


def next_commands(place: Path) -> Iterator[str]:
    model, new = place / "reviews.model", place / "new-reviews.csv"
    for words in (
        ("explain", model),
        ("explain", model, "--row", 1, new),
        ("predict", model, new, "--keep", "all", "--output", "csv"),
        ("train", place / "reviews.csv", "--target", "guest", "--rule", "logistic", "-o", place / "logistic.model"),
        ("train", "--help"),
    ):
        yield typed("markone", *words)


# ---- the data


def load_digits() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return 1,797 images of 8 by 8 pixels, with values from 0 to 16, and their labels."""
    need("sklearn")
    from sklearn import datasets

    pixels, labels = datasets.load_digits(return_X_y=True)
    return pixels, labels


def write_data(place: Path, pixels: NDArray[np.float64], labels: NDArray[np.int64], seed: int) -> None:
    from markone.demo.reviews import write_reviews
    from markone.demo.stories import write_stories
    from markone.errors import DataError

    try:
        place.mkdir(parents=True, exist_ok=True)
        write_reviews(place / "reviews.csv", TRAINING_REVIEWS, seed)
        write_reviews(place / "new-reviews.csv", TEST_REVIEWS, seed + 1)
        write_stories(place / "sentences.conllu", TRAINING_STORIES, seed)
        write_stories(place / "new-sentences.conllu", TEST_STORIES, seed + 1)
        (place / "story.txt").write_text(STORY + "\n", encoding="utf-8")
        images = (pixels * (255 / BRIGHTEST)).astype("uint8").reshape(-1, 8, 8)
        for name, rows in (("digits", slice(TRAINING_DIGITS)), ("new-digits", slice(TRAINING_DIGITS, None))):
            write_idx(place / f"{name}-images-idx3-ubyte", images[rows])
            write_idx(place / f"{name}-labels-idx1-ubyte", labels[rows].astype("uint8"))
    except OSError as error:
        raise DataError(f"cannot write to the folder {place}: {error.strerror}") from None


def write_idx(path: Path, numbers: NDArray[np.uint8]) -> None:
    """Write an array in the format of MNIST: the number of dimensions, their sizes, and the bytes."""
    sizes = b"".join(size.to_bytes(4, "big") for size in numbers.shape)
    path.write_bytes(bytes([0, 0, 8, numbers.ndim]) + sizes + numbers.tobytes())


# ---- the comparison of four rules


@dataclass(frozen=True, slots=True)
class Curve:
    """The held-out accuracy of a rule after each pass, with the last or the averaged weights.

    It is in per cent, and rounded as in the table, so that the sentences below agree with the table.
    """

    rule: str
    weights: str
    accuracy: Sequence[float]

    def after(self, epoch: int) -> float:
        """Return the accuracy after a pass, or after the last pass if training stopped earlier without a mistake."""
        return self.accuracy[min(epoch, len(self.accuracy)) - 1]

    def unrest(self) -> float:
        """Return the largest change from one pass to the next."""
        return max((abs(after - before) for before, after in pairwise(self.accuracy)), default=0.0)


def learn(settings: Settings, pixels: NDArray[np.float64], labels: NDArray[np.int64]) -> tuple[Curve, Curve]:
    """Train once, and return the accuracy of the last and of the averaged weights."""
    from markone.data.blocks import Block
    from markone.learning.online import Linear
    from markone.learning.passes import teach

    linear = Linear(settings, features=pixels.shape[1], classes=10)
    history = teach(linear, Block.of(pixels / BRIGHTEST, labels))
    if history.stopped == "interrupted":
        raise KeyboardInterrupt
    last = [round(100 * result.holdout_last, 1) for result in history if result.holdout_last is not None]
    averaged = [round(100 * result.holdout_averaged, 1) for result in history if result.holdout_averaged is not None]
    return Curve(settings.rule, "last", last), Curve(settings.rule, "averaged", averaged)


def fitting_table(terminal: Terminal, curves: Sequence[Curve], epochs: int) -> Table:
    """Return a table with as many columns as fit on the terminal, so that no number is cut."""
    from rich.measure import Measurement

    early = [epoch for epoch in SHOWN_PASSES if epoch < epochs]
    layouts = [(early, False), (early[:1], False), ([], False)]
    if not terminal.options.ascii_only:
        layouts.insert(0, (early, True))
    for some, bars in layouts:
        table = draw(curves, [*some, epochs], bars=bars)
        if Measurement.get(terminal, terminal.options.update(width=WIDE), table).maximum <= terminal.width:
            break
    return table


def draw(curves: Sequence[Curve], shown: Sequence[int], *, bars: bool) -> Table:
    """Return a table with a row for each curve, and its accuracy after the passes in `shown`."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    low = min(min(curve.accuracy) for curve in curves)
    high = max(max(curve.accuracy) for curve in curves)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, caption="Held-out accuracy in %", caption_justify="left")
    table.add_column("rule")
    table.add_column("weights")
    if bars:
        table.add_column("pass by pass", style="cyan", no_wrap=True)
        table.caption = f"Held-out accuracy in %; the bars reach from {low:.1f} to {high:.1f}"
    for epoch in shown:
        table.add_column(f"pass {epoch}" if epoch == shown[0] else str(epoch), justify="right", no_wrap=True)
    table.add_column("best", justify="right", no_wrap=True)
    for curve in curves:
        numbers = [curve.after(epoch) for epoch in shown] + [max(curve.accuracy)]
        picture = [sparkline(curve.accuracy, low, high)] if bars else []
        table.add_row(curve.rule, curve.weights, *picture, *(f"{number:.1f}" for number in numbers))
    return table


def sparkline(values: Sequence[float], low: float, high: float) -> str:
    """Return a bar for each value, or for some evenly spaced values if there are many. The last value is always shown.

    >>> sparkline([80, 85, 90], low=80, high=90)
    '▁▅█'
    """
    count = min(len(values), MOST_BARS)
    chosen = [values[(place + 1) * len(values) // count - 1] for place in range(count)]
    step = (high - low) / (len(BARS) - 1) or 1.0
    return "".join(BARS[int((value - low) / step + 0.5)] for value in chosen)


def conclude(curves: Sequence[Curve]) -> Iterator[str]:
    """Yield sentences that summarise the curves."""
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
    yield f"The best accuracy after the last pass is {top:.1f}%, with {enumerate_words(best)}."


def enumerate_words(words: Sequence[str]) -> str:
    """
    >>> enumerate_words(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
