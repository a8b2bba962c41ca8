"""The structured perceptron: learns to choose among answers of any making, of which the user says what their features
are and how the best is found."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

from markone.brief import Brief
from markone.errors import DataError, SettingsError
from markone.learning.progress import Progress
from markone.learning.run_options import Callback, RunOptions
from markone.model.explaining import Row
from markone.model.file import check_keys, history_in_json, in_json, making, settings_of
from markone.model.history import History
from markone.model.rules import Rule
from markone.model.settings import Order, Settings
from markone.storage.container import Path, read_file, write_file
from markone.storage.saved import Saved, joined
from markone.structured.checking import history_in
from markone.structured.named_features import (
    Example,
    Weights,
    difference,
    list_of,
    named,
    norm2_of,
    save_numbers,
    share_right,
    weights_in,
)
from markone.structured.pairwise_explanation import Decision, StructuredMargins
from markone.structured.perceptron_training import train_perceptron
from markone.structured.sentence_model import contents_of

KIND = "structured"
RULES: tuple[Rule, ...] = ("perceptron", "mira")
SETTINGS = ("rule", "C", "epochs", "average", "order", "seed", "holdout", "patience")
"""Those of `markone.Settings` that mean something here."""


class StructuredPerceptron(Brief):
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
        self.weights = Weights()
        """By names of features, once it has learned."""
        self.history = History()
        """How the training went, pass by pass."""
        self.resume: Saved | None = None
        """What is needed to go on with the training, in what is loaded from a file of checkpoints."""

    def in_brief(self) -> str:
        return f"{self.settings.rule}, {len(self.weights):,} features, {len(self.history)} passes"

    # ---- using it

    def predict(self, x: Any) -> Any:
        """The best answer."""
        return self.search(x, self.weights)

    def score(self, x: Any, y: Any) -> float:
        """The score of an answer."""
        return self.weights.score(self.features(x, y))

    def accuracy(self, examples: Iterable[Example]) -> float:
        """The share of examples whose answer is all right."""
        return share_right(self.search, self.weights, list_of(examples))

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

    def search(self, x: Any, w: Weights) -> Any:
        """The best answer by these weights."""
        if self.argmax is not None:
            return self.argmax(x, w)
        return best_of(self._all(x), lambda z: w.score(self.features(x, z)))

    def rival(self, x: Any, w: Weights, y: Any) -> Any:
        """The answer that the right one must win against: with a cost, the best after it is added."""
        cost = self.cost
        if cost is None:
            return self.search(x, w)
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
        checkpoint: Any = None,
        resume: Any = False,
        callback: Callback | None = None,
        progress: Progress | bool | None = None,
    ) -> Self:
        """Learns from pairs of x and the right answer y, from the start or from where it was interrupted.

        Parameters
        ----------
        examples
            The pairs.
        held_out
            Pairs to measure accuracy on after each pass, instead of a share of the examples.
        checkpoint
            The path of a file in which the training is kept, after every pass and when Ctrl-C or SIGTERM interrupts it;
            or a `Checkpoints` that says how often.
        resume
            Take up the training that is kept in the file of checkpoints, if there is one, or in another file: the
            weights will be, to the bit, what they would have been without the interruption. Examples and settings must
            be the same; `epochs` may be more. Examples are taken for the same if their right answers have the same
            features, in the same order. That the functions are the same cannot be checked.
        callback
            Called with each pass; training ends when it returns True.
        progress
            True for a bar on a terminal and lines elsewhere; or an object that is told how far the work is.
        """
        options = RunOptions.of(checkpoint=checkpoint, resume=resume, callback=callback, progress=progress)
        train_perceptron(self, examples, held_out, options)
        return self

    # ---- files

    def save(self, path: Path, *, final: bool = False) -> None:
        """Writes weights, settings and history into a file. The functions are code, and no file has them.

        Parameters
        ----------
        path
            The name of the file.
        final
            Leave out what is needed only to go on with the training.
        """
        facts = {
            "kind": KIND,
            "settings": {name: in_json(getattr(self.settings, name)) for name in SETTINGS},
            "history": history_in_json(self.history),
        }
        parts = {} if final or self.resume is None else {"resume": self.resume}
        saved = joined(parts, facts)
        write_file(path, saved.facts, {**save_numbers(sorted(self.weights), weights=self.weights), **saved.arrays})

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
        with making("model", path):
            settings, history, weights, resume = parts_of(saved)
        own = {name: getattr(settings, name) for name in SETTINGS}
        learner = cls(features, argmax, answers=answers, cost=cost, best_other=best_other, **own)
        learner.history, learner.weights, learner.resume = history, weights, resume
        return learner


def parts_of(saved: Saved) -> tuple[Settings, History, Weights, Saved | None]:
    contents = contents_of(saved, KIND, "structured perceptron")
    told = contents.fact("settings", dict)
    check_keys(told, set(SETTINGS), "its settings")
    settings = settings_of(told)
    if settings.rule not in RULES:
        raise DataError(f"its rule is {settings.rule!r:.50}, which is none for answers made of parts")
    history = history_in(contents)
    resume = contents.saved("resume") if "resume" in saved.facts else None
    return settings, history, weights_in(contents), resume


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
