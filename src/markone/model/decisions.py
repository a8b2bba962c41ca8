"""Decisions that are not made by the best score alone: a threshold for the positive class, and abstention.

A threshold moves the score from which the second of two classes is predicted, so that F1, the cost of mistakes, recall
or precision is best on rows that the model was not trained on. Abstention leaves out predictions with a small margin,
so that the error of the others has a bound that holds with 95% confidence (learn then test, Angelopoulos et al. 2021).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from markone.brief import Brief
from markone.errors import DataError, Setting, SettingsError
from markone.storage.saved import Saved

Kind = Literal["probability", "f1", "micro-f1", "recall", "precision", "cost"]
FORMS = (
    "a probability between 0 and 1, f1, recall=0.9, precision=0.9, or cost=1:5 (of a false positive : a missed one); "
    "or micro-f1 if rows have several labels"
)
DOUBT = 0.05
"""The probability that the promise of abstention does not hold."""
SHARES = 20
"""The number of shares of rows for which the promise is tested."""
ABSTAINED = -1
"""Stands for the number of a class where there is no prediction."""
ALMOST = 1e-9
ROUNDS = 20
"""The largest number of times that the thresholds of several labels are chosen."""
Floats = NDArray[np.float64]


# ---- thresholds


class Aim(NamedTuple):
    """What a threshold is chosen for."""

    kind: Kind
    numbers: tuple[float, ...] = ()

    @classmethod
    def of(cls, value: Any) -> Aim:
        """Return the aim that a number or a text means.

        >>> Aim.of(0.3), Aim.of("recall>=90%")
        (Aim(kind='probability', numbers=(0.3,)), Aim(kind='recall', numbers=(0.9,)))
        >>> str(Aim.of("cost 1:5"))
        'cost=1:5'
        """
        if isinstance(value, Aim):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = in_digits(value)
        text = value.strip().lower() if isinstance(value, str) else ""
        if text in ("f1", "micro-f1"):
            return cls("f1" if text == "f1" else "micro-f1")
        share, cost = (
            re.fullmatch(r"(?:(recall|precision) *>?= *)?([\d.]+%?)", text),
            re.fullmatch(r"cost[ =]+([\d.]+) *: *([\d.]+)", text),
        )
        try:
            if share is not None and 0 < (number := number_in(share[2])) < 1:
                return cls("recall" if share[1] == "recall" else "precision" if share[1] else "probability", (number,))
            if cost is not None and min(costs := (float(cost[1]), float(cost[2]))) > 0:
                return cls("cost", costs)
        except ValueError:  # such as two points
            pass
        raise SettingsError("threshold", f"must be {FORMS}, not {value!r:.80}")

    def __str__(self) -> str:
        numbers = ":".join(map(in_digits, self.numbers))
        return numbers if self.kind == "probability" else f"{self.kind}={numbers}" if numbers else self.kind


def in_digits(number: float) -> str:
    """Return the shortest digits of a number that give the same number back, without an exponent.

    >>> in_digits(5), in_digits(0.00001)
    ('5', '0.00001')
    """
    return np.format_float_positional(number, trim="-")


def number_in(text: str) -> float:
    """
    >>> number_in("0.25"), number_in("1%")
    (0.25, 0.01)
    """
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


@dataclass(frozen=True, repr=False)
class Threshold(Brief):
    """The score from which the second of two classes is predicted."""

    aim: str
    """What it was chosen for, such as `f1`; or a probability."""
    score: float = 0.0
    """The smallest score for which the second class is predicted."""
    rows: int = 0
    """The number of rows on which it was chosen, which the model was not trained on; 0 for a probability."""
    precision: float | None = None
    """The precision of the second class on these rows."""
    recall: float | None = None
    """The recall of the second class on these rows."""

    @property
    def aim_in_words(self) -> str:
        """What it was chosen for, so that a probability is called one."""
        return f"a probability of {self.aim}" if self.aim[:1].isdigit() else self.aim

    def in_brief(self) -> str:
        return f"{self.aim}: a score of {self.score:.4g}"

    def winners(self, scores: NDArray[Any]) -> NDArray[np.int64]:
        return (scores[:, 0] >= self.score).astype(np.int64)

    def as_dict(self) -> dict[str, Any]:
        return {
            "aim": self.aim,
            "score": self.score,
            "rows": self.rows,
            "precision": self.precision,
            "recall": self.recall,
        }

    def save(self) -> Saved:
        return Saved(self.as_dict(), {})

    @classmethod
    def load(cls, saved: Saved, classes: int) -> Self:
        """Restore a threshold from a file, and check it."""
        facts = saved.facts
        if saved.arrays or facts.keys() != cls("").as_dict().keys() or classes != 2:
            raise DataError("its threshold has the wrong parts, or there are not two classes")
        numbers = [facts["score"], *(one for one in (facts["precision"], facts["recall"]) if one is not None)]
        good = type(facts["aim"]) is str and all(type(one) is float and math.isfinite(one) for one in numbers)
        if not good or type(facts["rows"]) is not int or not 0 <= facts["rows"] <= 2**53:
            raise DataError(f"its threshold has the wrong values {facts!r:.100}")
        try:
            Aim.of(facts["aim"])
        except SettingsError as error:
            raise DataError(f"its threshold is for {facts['aim']!r:.50}") from error
        return cls(**facts)


def choose_threshold(aim: Aim, scores: Floats, truth: NDArray[Any], importance: Floats | None) -> Threshold:
    """Choose the score from which the second class is predicted, on rows that the model was not trained on."""
    weights = np.ones(len(truth)) if importance is None else importance
    order = np.argsort(-scores, kind="stable")
    scores, second, weights = scores[order], (truth[order] == 1), weights[order]
    last = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)  # of equal scores, all are predicted or none
    hits = np.append(0.0, np.cumsum(weights * second)[last])
    false = np.append(0.0, np.cumsum(weights * ~second)[last])
    highest = scores[last]
    cuts = np.concatenate([[highest[0] + 1], between(highest[:-1], highest[1:]), [highest[-1] - 1]])
    all_hits = float(hits[-1])
    if all_hits == 0 or false[-1] == 0:
        raise DataError("no threshold can be chosen: all held-out rows have the same label")
    recall, precision = hits / all_hits, hits / np.maximum(hits + false, 1e-300)
    worth, allowed = worth_of(aim, hits, false, recall, precision)
    if not allowed.any():
        wanted, best = aim.numbers[0], float(precision[1:].max())
        raise DataError(f"no threshold has a precision of {wanted:.1%} on {len(truth):,} rows; the best is {best:.1%}")
    worth = np.where(allowed, worth, -math.inf)
    best_ones = np.flatnonzero(worth >= worth.max() - ALMOST * max(1.0, abs(float(worth.max()))))
    at = int(best_ones[np.argmin(np.abs(cuts[best_ones]))])
    return Threshold(str(aim), float(cuts[at]), len(truth), float(precision[at]), float(recall[at]))


def worth_of(
    aim: Aim, hits: Floats, false: Floats, recall: Floats, precision: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return how good each cut is, and which cuts are allowed."""
    everywhere = np.ones(len(hits), bool)
    if aim.kind == "recall":
        return precision, recall >= aim.numbers[0] - ALMOST
    if aim.kind == "precision":
        return recall, (precision >= aim.numbers[0] - ALMOST) & (hits + false > 0)
    if aim.kind == "cost":
        return -(aim.numbers[0] * false + aim.numbers[1] * (hits[-1] - hits)), everywhere
    return 2 * hits / (hits + false + hits[-1]), everywhere


def choose_for_micro_f1(scores: Floats, truth: NDArray[Any], importance: Floats | None) -> list[Threshold | None]:
    """Choose the thresholds of several labels that make the F1 of all decisions together best. None is a score above 0.

    At the best micro F1, called F, each label has the threshold that is best if a false positive costs F and a missed
    one 2 - F (Dinkelbach 1967). So thresholds and F are computed in turn, until they stay the same. A label keeps the
    score 0 unless another threshold is better by more than one standard error. If no score is above 0, F is 0 at first,
    and any hit is a gain.
    """
    weights = np.ones(len(truth)) if importance is None else importance
    truth = truth == 1
    chosen: list[Threshold | None] = [None] * truth.shape[1]
    at_zero = scores > 0
    found = at_zero.copy()
    for _ in range(ROUNDS):
        hits = float((weights[:, None] * (found & truth)).sum())
        f1 = 2 * hits / max(1e-300, float((weights[:, None] * found).sum() + (weights[:, None] * truth).sum()))
        before = found.copy()
        for label in range(truth.shape[1]):
            own = truth[:, label]
            chosen[label], found[:, label] = None, at_zero[:, label]
            if not own.any() or own.all():
                continue
            best = choose_threshold(Aim("cost", (f1, 2 - f1)), scores[:, label], own.astype(np.int64), importance)
            there = scores[:, label] >= best.score
            gains = weights * (there.astype(np.int64) - at_zero[:, label]) * np.where(own, 2 - f1, -f1)
            if gains.sum() > math.sqrt((gains**2).sum()):
                chosen[label], found[:, label] = replace(best, aim="micro-f1"), there
        if (found == before).all():
            break
    return chosen


def between(higher: Floats, lower: Floats) -> Floats:
    """Return numbers between neighbouring scores."""
    middle = lower + (higher - lower) / 2
    found: Floats = np.where(middle > lower, middle, higher)
    return found


# ---- abstention


@dataclass(frozen=True, repr=False)
class Abstention(Brief):
    """The margin above which a model predicts. For other examples it makes no prediction."""

    error: float
    """The promised error: with 95% confidence, at most this share of the predictions is wrong."""
    margin: float = -1.0
    """The score of the best class minus that of the next must be larger."""
    rows: int = 0
    """The number of held-out rows on which it was chosen."""
    answered: int = 0
    """The number of these rows for which the model predicts."""
    wrong: int = 0
    """The number of wrong predictions among them."""

    def in_brief(self) -> str:
        return f"error of at most {self.error:.2%}, a margin of {self.margin:.4g}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "error": self.error,
            "margin": self.margin,
            "rows": self.rows,
            "answered": self.answered,
            "wrong": self.wrong,
        }

    def save(self) -> Saved:
        return Saved(self.as_dict(), {})

    @classmethod
    def load(cls, saved: Saved) -> Self:
        """Restore it from a file, and check it."""
        facts = saved.facts
        if saved.arrays or facts.keys() != cls(0.1).as_dict().keys():
            raise DataError("its abstention has the wrong parts")
        counts = [facts["rows"], facts["answered"], facts["wrong"]]
        good = all(type(one) is int and 0 <= one <= 2**53 for one in counts)
        good = good and type(facts["margin"]) is float and math.isfinite(facts["margin"])
        if not good or type(facts["error"]) is not float or not 0 < facts["error"] < 1:
            raise DataError(f"its abstention has the wrong values {facts!r:.100}")
        return cls(**facts)


def promised_error(value: Any) -> float:
    """Return the largest error that a user accepts.

    >>> promised_error("1%"), promised_error(0.05)
    (0.01, 0.05)
    """
    try:
        number = number_in(value.strip()) if isinstance(value, str) else value
        if isinstance(number, float) and 0 < number < 1:
            return number
    except ValueError:
        pass
    raise SettingsError("abstain", f"must be the largest share of wrong predictions, such as 1% or 0.01, not {value!r}")


def choose_abstention(error: float, margins: Floats, right: NDArray[np.bool_]) -> Abstention:
    """Choose the smallest margin for which the promised error is certain enough.

    `margins` are those of the predictions for held-out rows. The rows are sorted by margin, and for fixed shares of
    them, the margin of the last row is a candidate. The rows above it are a random sample of all rows above it, so the
    number of errors among them has a binomial distribution. With as many tests as there are shares, each of them may
    fail with DOUBT / SHARES.
    """
    rows = len(margins)
    sorted_margins = -np.sort(-margins)
    candidates = []
    for share in range(SHARES, 0, -1):
        last = math.ceil(rows * share / SHARES) - 1
        margin = -1.0 if share == SHARES else float(sorted_margins[last])
        above = margins > margin
        candidates.append(Abstention(error, margin, rows, int(above.sum()), int((above & ~right).sum())))
    for one in candidates:
        if chance_of_few(one.wrong, one.answered, error) <= DOUBT / SHARES:
            return one
    least = min(largest_error(one.wrong, one.answered) for one in candidates)
    raise DataError(
        f"an error of at most {error:.2%} cannot be promised by {rows:,} held-out rows; the smallest error that can is "
        f"{least:.2%}",
        advice=(
            "accept a larger error, as in ",
            Setting("abstain", f"{least:.2%}"),
            ", hold out more rows with ",
            Setting("holdout", ...),
            ", or use more data",
        ),
    )


def largest_error(wrong: int, rows: int) -> float:
    """Return an error that is certain enough not to be exceeded, rounded up to hundredths of a percent."""
    low, high = 0.0, 1.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (low, middle) if chance_of_few(wrong, rows, middle) <= DOUBT / SHARES else (middle, high)
    return math.ceil(high * 1e4) / 1e4


def chance_of_few(wrong: int, rows: int, error: float) -> float:
    """Return the probability of at most this number of errors in rows, each wrong with the probability `error`.

    >>> round(chance_of_few(0, 10, 0.1), 4), round(chance_of_few(2, 20, 0.1), 4)
    (0.3487, 0.6769)
    """
    term, total = rows * math.log1p(-error), 0.0
    for count in range(wrong + 1):
        total += math.exp(term)
        term += math.log((rows - count) / (count + 1)) + math.log(error / (1 - error)) if count < rows else 0.0
    return min(1.0, total)
