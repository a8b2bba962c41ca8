"""The structured perceptron: learns to choose among answers of any making, of which the user says what their features
are and how the best is found."""

from __future__ import annotations

import inspect
import math
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np

from markone.errors import DataError, SettingsError
from markone.features.saved import Contents, Saved, blob, check_finite
from markone.features.texts import Texts
from markone.learning.examples import epoch_of_order, shuffled
from markone.learning.holdout import split
from markone.learning.interruption import Interruption
from markone.learning.progress import Progress, Silence, visible_progress
from markone.model.container import Path, read_file, write_file
from markone.model.explaining import Row
from markone.model.file import check_keys, history_of, in_json, row_of, settings_of
from markone.model.history import History, Pass, Stop
from markone.model.rules import Rule
from markone.model.settings import Order, Settings
from markone.structured.deciding import Decision, StructuredMargins

KIND = "structured"
RULES: tuple[Rule, ...] = ("perceptron", "mira")
SETTINGS = ("rule", "C", "epochs", "average", "order", "seed", "holdout", "patience")
"""Those of `markone.Settings` that mean something here."""
ROUNDING = 1e-13
Example = tuple[Any, Any]
Callback = Callable[[Pass], bool | None]


class Weights(dict[str, float]):
    """The weights of features by name. What has none weighs 0.

    >>> w = Weights({"a": 2.0})
    >>> w["a"], w["b"], w.score({"a": 3, "b": 1}), len(w)
    (2.0, 0.0, 6.0, 1)
    """

    def __missing__(self, name: str) -> float:
        return 0.0

    def score(self, features: Mapping[str, float] | Iterable[str]) -> float:
        """The sum of weights times values."""
        return math.fsum(self[name] * value for name, value in named(features).items())


def named(features: Any) -> Mapping[str, float]:
    """Features as values by name: a list of names counts how often each is there."""
    if isinstance(features, Mapping):
        return features
    if isinstance(features, str) or not isinstance(features, Iterable):
        raise DataError(f"features must be values by name, or a list of names, not {features!r:.80}")
    return Counter(features)


def checked(features: Mapping[str, float]) -> Mapping[str, float]:
    for name, value in features.items():
        if not isinstance(name, str):
            raise DataError(f"the name of a feature must be a string, not {name!r:.80}")
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise DataError(f"the value of the feature {name!r:.80} must be a finite number, not {value!r:.80}")
    return features


def difference(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """What the one has more of, or less, than the other."""
    found = dict(checked(one))
    for name, value in checked(other).items():
        found[name] = found.get(name, 0) - value
    return {name: float(value) for name, value in found.items() if value != 0}


@dataclass
class State:
    """Weights while they are learned.

    The average of the weights after each of t visits is w - late / t: a step at visit i is missing from the i - 1
    vectors before it, and `late` is the sum of the steps, each as often as it is missing.
    """

    w: Weights = field(default_factory=Weights)
    late: dict[str, float] = field(default_factory=dict)
    visits: int = 0

    def step(self, by: Mapping[str, float], tau: float) -> None:
        """Takes a step at the visit that is being made."""
        for name, value in by.items():
            self.w[name] = self.w[name] + tau * value
            self.late[name] = self.late.get(name, 0.0) + (self.visits - 1) * tau * value

    def copy(self) -> State:
        return State(Weights(self.w), dict(self.late), self.visits)

    def average(self) -> Weights:
        return Weights({name: value - self.late[name] / self.visits for name, value in self.w.items()})

    def norm2(self) -> float:
        return math.fsum(value * value for value in self.w.values())


@dataclass
class Sums:
    """What the visits of a pass come to."""

    mistakes: int = 0
    updates: int = 0
    loss: float = 0.0


class StructuredPerceptron:
    """Learns to choose among answers of any making: tag sequences, trees, matchings, cuts of a text.

    The score of an answer y for x is the sum of the weights of its features. The best answer is predicted; where it is
    wrong in training, the features of the right answer gain weight and those of the wrong one lose as much.

    Parameters
    ----------
    features
        `features(x, y)` gives the features of an answer: values by name, or a list of names, of which each counts as
        often as it is there.
    argmax
        `argmax(x, w)` gives the best answer. The weights `w` are a dict by names of features, in which what has no
        weight weighs 0, so that a search can score an answer part by part. With a `cost` it takes a third argument,
        `argmax(x, w, y=None)`: in training that is the right answer, and the answer z is asked for of which score and
        `cost(y, z)` together are highest.
    answers
        Instead of `argmax`, where there are not too many: `answers(x)` gives all that there are. Of equally good ones
        the first is taken. `margins` needs them, or `best_other`.
    cost
        `cost(y, z)`, at least 0, is how bad it is to answer z where y is right. The right answer must then win by as
        much as the other costs.
    best_other
        `best_other(x, w, y)` gives the best answer that is not y, or None if there is none.
    rule
        `perceptron`, or `mira`, whose step is just as long as is needed to win by the cost, which is 1 by default.
    C
        The longest step of `mira`; 0.3 by default.
    epochs
        Passes over the examples, at most; 10 by default. A pass that changes nothing is the last.
    average
        Use the average of the weights after each visit instead of the last ones.
    order
        Visit the examples as given, shuffled `once`, or shuffled anew for `each` pass.
    seed
        Makes the order repeatable.
    holdout
        The share of examples kept apart to measure accuracy after each pass: the share of answers that are all right.
    patience
        Stop after so many passes in which that has not got better, and take the best weights.

    Examples
    --------
    Cutting a text without blanks into words: an answer is a list of words, its features are the words.

    >>> def answers(text):
    ...     yield [text]
    ...     for i in range(1, len(text)):
    ...         for rest in answers(text[i:]):
    ...             yield [text[:i], *rest]
    >>> learner = StructuredPerceptron(lambda text, words: words, answers=answers)
    >>> examples = [("thedog", ["the", "dog"]), ("adogbarks", ["a", "dog", "barks"])]
    >>> learner.train(examples).predict("thedogbarks")
    ['the', 'dog', 'barks']
    >>> print(learner.history)
    2 passes; stopped because a pass changed nothing
    """

    def __init__(
        self,
        features: Callable[[Any, Any], Any],
        argmax: Callable[..., Any] | None = None,
        *,
        answers: Callable[[Any], Iterable[Any]] | None = None,
        cost: Callable[[Any, Any], float] | None = None,
        best_other: Callable[[Any, Weights, Any], Any] | None = None,
        rule: Rule = "perceptron",
        C: float | None = None,
        epochs: int | None = None,
        average: bool = True,
        order: Order = "each",
        seed: int = 0,
        holdout: float = 0.0,
        patience: int | None = None,
    ) -> None:
        if rule not in RULES:
            known = " or ".join(map(repr, RULES))
            raise SettingsError("rule", f"must be {known} for answers made of parts, not {rule!r}")
        self.settings = Settings(
            rule=rule,
            C=C,
            epochs=epochs,
            average=average,
            order=order,
            seed=seed,
            holdout=holdout,
            patience=patience,
        )
        """How it learns."""
        check_functions(features, argmax, answers, cost)
        self.features = features
        self.argmax = argmax
        self.answers = answers
        self.cost = cost
        self.best_other = best_other
        self._longest = self.settings.spelled_out().C or math.inf
        self.weights = Weights()
        """By names of features, once it has learned."""
        self.history = History()
        """How the training went, pass by pass."""

    # ---- using it

    def predict(self, x: Any) -> Any:
        """The best answer."""
        return self._search(x, self.weights)

    def score(self, x: Any, y: Any) -> float:
        """The score of an answer."""
        return self.weights.score(self.features(x, y))

    def accuracy(self, examples: Iterable[Example]) -> float:
        """The share of examples whose answer is all right."""
        return share_right(self._search, self.weights, list_of(examples))

    def strongest(self, few: int = 20) -> list[tuple[str, float]]:
        """The features of largest weight, be it positive or negative."""
        return sorted(self.weights.items(), key=lambda one: (-abs(one[1]), one[0]))[:few]

    def explain(self, x: Any, y: Any = None, other: Any = None, *, top: int = 20) -> Decision:
        """Which features decided between two answers: by default the best one and the next best."""
        y = self.predict(x) if y is None else y
        other = self._best_other(x, y) if other is None else other
        if other is None:
            raise DataError(f"there is no other answer than {y!r:.80}")
        one, two = named(self.features(x, y)), named(self.features(x, other))
        rows = [
            Row(name, value, self.weights[name], value * self.weights[name])
            for name, value in difference(one, two).items()
        ]
        rows.sort(key=lambda row: (-abs(row.product), row.feature))
        return Decision(y, other, self.weights.score(one), self.weights.score(two), rows, top)

    def margins(self, examples: Iterable[Example]) -> StructuredMargins:
        """By how much the right answers win over the best of the others. Needs `answers` or `best_other`."""
        pairs = list_of(examples)
        found: list[float] = []
        radius = 0.0
        for x, y in pairs:
            other = self._best_other(x, y)
            found.append(math.inf if other is None else self.score(x, y) - self.score(x, other))
            if self.answers is not None:
                right = named(self.features(x, y))
                for z in self.answers(x):
                    radius = max(radius, norm2_of(difference(right, named(self.features(x, z)))))
        made = sum(one.mistakes or 0 for one in self.history)
        return StructuredMargins(
            tuple(found),
            math.sqrt(math.fsum(value * value for value in self.weights.values())),
            math.sqrt(radius) if self.answers is not None else None,
            made if len(self.history) and self.settings.rule == "perceptron" and self.cost is None else None,
        )

    # ---- searching

    def _search(self, x: Any, w: Weights) -> Any:
        """The best answer."""
        if self.argmax is not None:
            return self.argmax(x, w)
        return best_of(self._all(x), lambda z: w.score(self.features(x, z)))

    def _search_with_cost(self, x: Any, w: Weights, y: Any) -> Any:
        """The answer that the right one must win against: with a cost, the best after it is added."""
        cost = self.cost
        if cost is None:
            return self._search(x, w)
        if self.argmax is not None:
            return self.argmax(x, w, y)
        return best_of(self._all(x), lambda z: w.score(self.features(x, z)) + cost(y, z))

    def _all(self, x: Any) -> list[Any]:
        assert self.answers is not None
        found = list(self.answers(x))
        if not found:
            raise DataError(f"there are no answers for {x!r:.80}")
        return found

    def _best_other(self, x: Any, y: Any) -> Any:
        if self.best_other is not None:
            return self.best_other(x, self.weights, y)
        if self.answers is None:
            raise SettingsError("answers", "or best_other must be given, to find the best of the other answers")
        others = [z for z in self._all(x) if z != y]
        return best_of(others, lambda z: self.score(x, z)) if others else None

    # ---- learning

    def train(
        self,
        examples: Iterable[Example],
        *,
        held_out: Iterable[Example] | None = None,
        callback: Callback | None = None,
        progress: Progress | bool | None = None,
    ) -> Self:
        """Learns from pairs of x and the right answer y, from the start.

        Parameters
        ----------
        examples
            The pairs.
        held_out
            Pairs to measure accuracy on after each pass, instead of a share of the examples.
        callback
            Called with each pass; training ends when it returns True.
        progress
            True for a bar on a terminal and lines elsewhere; or an object that is told how far the work is.
        """
        learned, apart = self._divide(list_of(examples), held_out)
        if not learned:
            raise DataError("there are no examples to learn from")
        if isinstance(progress, bool):
            progress = visible_progress() if progress else None
        progress = progress or Silence()
        self.history = History(rows=len(learned), held_out=len(apart))
        state, watch = State(), Watch(self.settings)
        progress.start(len(learned), epochs_of(self.settings))
        with Interruption((signal.SIGINT,)) as interruption:
            try:
                for result in self._passes(state, learned, apart, interruption, progress):
                    self.history.passes.append(result)
                    self.history.best_epoch = watch.look(result, state)
                    progress.finish_pass(result)
                    reason = watch.reason(result, bool(callback and callback(result)))
                    if reason is not None:
                        self.history.stopped = reason
                        break
            except KeyboardInterrupt:
                self.history.stopped = "interrupted"
            finally:
                progress.close()
        state = watch.best or state
        found = state.average() if self.settings.average and state.visits else state.w
        self.weights = Weights({name: value for name, value in found.items() if value != 0})
        return self

    def _passes(
        self,
        state: State,
        learned: list[Example],
        apart: list[Example],
        interruption: Interruption,
        progress: Progress,
    ) -> Iterator[Pass]:
        for epoch in range(1, epochs_of(self.settings) + 1):
            start = time.perf_counter()
            sums = Sums()
            for i in self._order(len(learned), epoch):
                if interruption.signal is not None:
                    raise KeyboardInterrupt
                self._visit(state, *learned[i], sums)
                progress.advance(1)
            yield self._result(state, sums, epoch, len(learned), apart, start)

    def _order(self, rows: int, epoch: int) -> list[int]:
        order = np.arange(rows)
        if self.settings.order != "given":
            order = shuffled(order, self.settings.seed, epoch_of_order(self.settings, epoch))
        return order.tolist()

    def _divide(self, pairs: list[Example], held_out: Iterable[Example] | None) -> tuple[list[Example], list[Example]]:
        share = self.settings.holdout
        if held_out is not None:
            if share:
                raise SettingsError("holdout", "must be 0 where the held-out examples are given")
            return pairs, list_of(held_out)
        if share == 0:
            return pairs, []
        learned, apart = split(np.zeros(len(pairs), np.int32), share, self.settings.seed)
        return [pairs[i] for i in learned.tolist()], [pairs[i] for i in apart.tolist()]

    def _visit(self, state: State, x: Any, y: Any, sums: Sums) -> None:
        """THE step: search, compare, move the weights."""
        state.visits += 1
        guess = self._search_with_cost(x, state.w, y)
        if guess == y:  # with a cost too: then nothing scores more than it
            return
        sums.mistakes += self.cost is None or self._search(x, state.w) != y
        mira = self.settings.rule == "mira"
        right, wrong = named(self.features(x, y)), named(self.features(x, guess))
        by = difference(right, wrong)
        owed = checked_cost(self.cost(y, guess)) if self.cost is not None else 1.0 if mira else 0.0
        loss = excess(owed, state.w.score(wrong), state.w.score(right))
        sums.loss += loss
        norm2 = norm2_of(by)
        if norm2 > 0 and (loss > 0 or not mira):
            tau = min(self._longest, loss / norm2) if mira else 1.0
            sums.updates += 1
            state.step(by, tau)

    def _result(self, state: State, sums: Sums, epoch: int, rows: int, apart: list[Example], start: float) -> Pass:
        norm2 = state.norm2()
        if not (math.isfinite(sums.loss) and math.isfinite(norm2)):
            raise DataError(f"the weights grew beyond all numbers in pass {epoch}: the features are too large")
        averaged = apart and self.settings.average
        return Pass(
            epoch=epoch,
            mistakes=sums.mistakes,
            updates=sums.updates,
            loss=sums.loss / rows,
            norm2=norm2,
            seconds=time.perf_counter() - start,
            holdout_last=share_right(self._search, state.w, apart) if apart else None,
            holdout_averaged=share_right(self._search, state.average(), apart) if averaged else None,
        )

    # ---- files

    def save(self, path: Path) -> None:
        """Writes weights, settings and history into a file. The functions are code, and no file has them."""
        names = sorted(self.weights)
        facts = {
            "kind": KIND,
            "settings": {name: in_json(getattr(self.settings, name)) for name in SETTINGS},
            "history": {**asdict(self.history), "passes": [row_of(one) for one in self.history], "bounds": None},
        }
        weights = np.array([self.weights[name] for name in names], np.float64)
        write_file(path, facts, {**blob("names", Texts.of(names)), "weights": weights})

    @classmethod
    def load(
        cls,
        path: Path,
        features: Callable[[Any, Any], Any],
        argmax: Callable[..., Any] | None = None,
        *,
        answers: Callable[[Any], Iterable[Any]] | None = None,
        cost: Callable[[Any, Any], float] | None = None,
        best_other: Callable[[Any, Weights, Any], Any] | None = None,
    ) -> Self:
        """What `save` has written, with the functions that it learned with."""
        saved = read_file(path)
        try:
            settings, history, weights = contents_of(saved)
        except DataError as error:
            raise DataError(f"cannot load the model {path}: {error}") from error
        own = {name: getattr(settings, name) for name in SETTINGS}
        learner = cls(features, argmax, answers=answers, cost=cost, best_other=best_other, **own)
        learner.history, learner.weights = history, weights
        return learner


def contents_of(saved: Saved) -> tuple[Settings, History, Weights]:
    kind = saved.facts.get("kind")
    if kind != KIND:
        raise DataError(f"it holds {kind!r:.50}, no structured perceptron")
    contents = Contents(saved)
    contents.fact("kind", str)
    told = contents.fact("settings", dict)
    check_keys(told, set(SETTINGS), "its settings")
    settings = settings_of(told)
    if settings.rule not in RULES:
        raise DataError(f"its rule is {settings.rule!r:.50}, which is none for answers made of parts")
    history = history_of({"history": contents.fact("history", dict)})
    names = contents.names("names")
    weights = contents.array("weights", np.float64, len(names))
    check_finite("weights", weights)
    contents.close()
    return settings, history, Weights(zip(names, weights.tolist(), strict=True))


class Watch:
    """Decides when to stop, and remembers the best weights."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.best: State | None = None
        self.best_epoch: int | None = None
        self.best_accuracy = -math.inf
        self.passes_without_gain = 0

    def look(self, result: Pass, state: State) -> int | None:
        if result.holdout is None:
            return None
        self.passes_without_gain += 1
        if result.holdout > self.best_accuracy:
            self.best_accuracy, self.best_epoch, self.passes_without_gain = result.holdout, result.epoch, 0
            self.best = state.copy() if self.settings.patience is not None else None
        return self.best_epoch

    def reason(self, result: Pass, asked: bool) -> Stop | None:
        if asked:
            return "callback"
        if result.updates == 0:
            return "converged"
        patience = self.settings.patience
        return "held-out" if patience is not None and self.passes_without_gain >= patience else None


def check_functions(features: Any, argmax: Any, answers: Any, cost: Any) -> None:
    if not callable(features):
        raise SettingsError("features", f"must be a function of x and an answer, not {features!r:.80}")
    if argmax is None and answers is None:
        raise SettingsError("argmax", "must be given, or answers instead, among which the best is looked for")
    for name, function in (("argmax", argmax), ("answers", answers), ("cost", cost)):
        if function is not None and not callable(function):
            raise SettingsError(name, f"must be a function, not {function!r:.80}")
    if argmax is not None and not takes(argmax, 2):
        raise SettingsError("argmax", "must take x and the weights, and need no more to predict")
    if argmax is not None and cost is not None and not takes(argmax, 3):
        raise SettingsError(
            "argmax", "must take the right answer as a third argument where there is a cost, and add the cost to scores"
        )


def takes(function: Callable[..., Any], count: int) -> bool:
    """Whether it can be called with so many arguments. What is not written in Python may not tell."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def best_of(answers: Sequence[Any], score: Callable[[Any], float]) -> Any:
    """The first of the best."""
    return max(answers, key=score)


def share_right(search: Callable[[Any, Weights], Any], w: Weights, pairs: Sequence[Example]) -> float:
    return sum(bool(search(x, w) == y) for x, y in pairs) / len(pairs) if pairs else 0.0


def excess(owed: float, wrong: float, right: float) -> float:
    """By how much the wrong answer scores too high; 0 where that is below what rounding does to the numbers, lest a
    step that made it just right be followed by others that change nothing."""
    found = owed + wrong - right
    return found if found > ROUNDING * (owed + abs(wrong) + abs(right)) else 0.0


def norm2_of(features: Mapping[str, float]) -> float:
    return math.fsum(value * value for value in features.values())


def checked_cost(cost: float) -> float:
    if not cost >= 0 or math.isinf(cost):
        raise DataError(f"a cost must be at least 0 and finite, not {cost!r}")
    return float(cost)


def epochs_of(settings: Settings) -> int:
    epochs = settings.spelled_out().epochs
    assert epochs is not None
    return epochs


def list_of(examples: Iterable[Any]) -> list[Example]:
    pairs = list(examples)
    for number, pair in enumerate(pairs, 1):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise DataError(f"example {number} is {pair!r:.80}, not a pair of x and the right answer")
    return [(x, y) for x, y in pairs]
