"""The structured perceptron: learns to choose among answers of any kind. The user provides functions that compute the
features of an answer and find the best answer."""

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
"""The settings of `markone.Settings` that apply here."""


class StructuredPerceptron(Brief):
    """Learns to choose among structured answers of any kind, for example tag sequences, trees, matchings or
    segmentations.

    The score of an answer y for an input x is the sum of the weights of its features. The answer with the highest score
    is predicted. If it is wrong in training, the weights of the right answer's features increase, and those of the
    wrong answer's features decrease by the same amount.

    Parameters
    ----------
    features
        `features(x, y)` returns the features of an answer: a dict of values by name, or a list of names. In a list, the
        value of a feature is the number of its occurrences.
    argmax
        `argmax(x, w)` returns the best answer. The weights `w` are a dict by feature names, in which missing features
        have the weight 0, so that a search can score an answer part by part. With a `cost` it takes a third argument,
        `argmax(x, w, y=None)`. In training, y is the right answer, and the function must return the answer z for which
        the sum of its score and `cost(y, z)` is highest.
    answers
        An alternative to `argmax` if there are not too many answers: `answers(x)` returns all of them. Among equally
        good answers the first is predicted. `margins` needs `answers` or `best_other`.
    cost
        `cost(y, z)` is the cost, at least 0, of the answer z if y is right. The right answer must then win against
        each other answer by at least its cost.
    best_other
        `best_other(x, w, y)` returns the best answer that is not y, or None if there is none.
    rule
        `perceptron`; or `mira`, which takes the shortest step with which the right answer wins by the cost, which is 1
        by default.
    C
        The longest step of `mira`. The default is 0.3.
    epochs
        The largest number of passes over the examples. The default is 10. Training stops after a pass without changes.
    average
        Use the average of the weights after all visits, instead of the last weights.
    order
        Visit the examples as `given`, shuffled `once`, or shuffled again for `each` pass.
    seed
        The seed of the order.
    holdout
        The share of examples that are held out. After each pass they measure the accuracy, which is the share of
        completely right answers.
    patience
        Stop after this number of passes without improvement of the held-out accuracy, and use the best weights.
    partitions
        Must be 1. Taggers and parsers learn in partitions, but the functions given here are Python code, of which only
        one thread runs at a time.

    Examples
    --------
    Splitting a text without blanks into words: an answer is a list of words, and its features are the words.

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
        partitions: int = 1,
    ) -> None:
        if partitions != 1:
            raise SettingsError(
                "partitions",
                "must be 1 for a StructuredPerceptron, whose functions are Python code, of which only one thread runs "
                "at a time",
                value=partitions,
                advice="leave it out",
            )
        if rule not in RULES:
            known = " or ".join(map(repr, RULES))
            raise SettingsError("rule", f"must be {known} for structured prediction, not {rule!r}")
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
        """The settings of the training."""
        check_functions(features, argmax, answers, cost)
        self.features = features
        self.argmax = argmax
        self.answers = answers
        self.cost = cost
        self.best_other = best_other
        self.weights = Weights()
        """The weights by feature names, after training."""
        self.history = History()
        """The passes of the training."""
        self.resume: Saved | None = None
        """The state from which training can be resumed. Only checkpoints have it."""

    def in_brief(self) -> str:
        return f"{self.settings.rule}, {len(self.weights):,} features, {len(self.history)} passes"

    # ---- prediction

    def predict(self, x: Any) -> Any:
        """Return the best answer."""
        return self.search(x, self.weights)

    def score(self, x: Any, y: Any) -> float:
        """Return the score of an answer."""
        return self.weights.score(self.features(x, y))

    def accuracy(self, examples: Iterable[Example]) -> float:
        """Return the share of examples with a completely right answer."""
        return share_right(self.search, self.weights, list_of(examples))

    def strongest(self, few: int = 20) -> list[tuple[str, float]]:
        """Return the features with the largest weights, positive or negative."""
        return sorted(self.weights.items(), key=lambda one: (-abs(one[1]), one[0]))[:few]

    def explain(self, x: Any, y: Any = None, other: Any = None, *, top: int = 20) -> Decision:
        """Explain which features decide between two answers. By default these are the best and the second best."""
        y = self.predict(x) if y is None else y
        other = self._best_other(x, y) if other is None else other
        if other is None:
            raise DataError(f"{y!r:.80} is the only answer")
        one, two = named(self.features(x, y)), named(self.features(x, other))
        rows = [
            Row(name, value, self.weights[name], value * self.weights[name])
            for name, value in difference(one, two).items()
        ]
        rows.sort(key=lambda row: (-abs(row.product), row.feature))
        return Decision(y, other, self.weights.score(one), self.weights.score(two), rows, top)

    def margins(self, examples: Iterable[Example]) -> StructuredMargins:
        """Return the margins by which right answers win against the best others. Needs `answers` or `best_other`."""
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
        """Return the best answer with these weights."""
        if self.argmax is not None:
            return self.argmax(x, w)
        return best_of(self._all(x), lambda z: w.score(self.features(x, z)))

    def rival(self, x: Any, w: Weights, y: Any) -> Any:
        """Return the answer that the right one must win against: the best one, with costs added to scores."""
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
            raise SettingsError("answers", "or best_other must be given, to find the best other answer")
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
        """Train on pairs of x and the right answer y, from the start or from a checkpoint.

        Parameters
        ----------
        examples
            The pairs.
        held_out
            Pairs on which accuracy is measured after each pass, instead of a share of the examples.
        checkpoint
            The path of a checkpoint file, which is written after every pass and when Ctrl-C or SIGTERM interrupts the
            training; or a `Checkpoints`, which says how often to write it.
        resume
            Resume the training from the checkpoint file, if it exists, or from another file. The weights will have the
            same bits as without the interruption. Examples and settings must be the same; only `epochs` may be larger.
            Examples count as the same if their right answers have the same features, in the same order. Markone cannot
            check that the functions are the same.
        callback
            A function that is called after each pass. Training ends when it returns True.
        progress
            By default, a bar is shown on a terminal or in a notebook if the work takes more than two seconds. True
            shows it at once, or prints lines elsewhere. False shows nothing. Or an object that receives the progress.
        """
        options = RunOptions.of(checkpoint=checkpoint, resume=resume, callback=callback, progress=progress)
        train_perceptron(self, examples, held_out, options)
        return self

    # ---- files

    def save(self, path: Path, *, final: bool = False) -> None:
        """Write weights, settings and history into a file. The functions are code and are not saved.

        Parameters
        ----------
        path
            The name of the file.
        final
            Leave out the state from which training can be resumed.
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
        """Load a file that `save` has written. The functions must be those of the training."""
        saved = read_file(path)
        with making("model", path):
            settings, history, weights, resume = parts_of(saved)
        own = {name: getattr(settings, name) for name in SETTINGS}
        learner = cls(features, argmax, answers=answers, cost=cost, best_other=best_other, **own)
        learner.history, learner.weights, learner.resume = history, weights, resume
        return learner


def parts_of(saved: Saved) -> tuple[Settings, History, Weights, Saved | None]:
    contents = contents_of(saved, KIND, "structured perceptron")
    stored = contents.fact("settings", dict)
    check_keys(stored, set(SETTINGS), "its settings")
    settings = settings_of(stored)
    if settings.rule not in RULES:
        raise DataError(f"its rule is {settings.rule!r:.50}, which is not a rule for structured prediction")
    history = history_in(contents)
    resume = contents.saved("resume") if "resume" in saved.facts else None
    return settings, history, weights_in(contents), resume


def check_functions(features: Any, argmax: Any, answers: Any, cost: Any) -> None:
    if not callable(features):
        raise SettingsError("features", f"must be a function of x and an answer, not {features!r:.80}")
    if argmax is None and answers is None:
        raise SettingsError("argmax", "must be given, or answers, from which the best one is chosen")
    for name, function in (("argmax", argmax), ("answers", answers), ("cost", cost)):
        if function is not None and not callable(function):
            raise SettingsError(name, f"must be a function, not {function!r:.80}")
    if argmax is not None and not takes(argmax, 2):
        raise SettingsError("argmax", "must take x and the weights, and must not need other arguments to predict")
    if argmax is not None and cost is not None and not takes(argmax, 3):
        raise SettingsError(
            "argmax", "must take the right answer as a third argument if there is a cost, and add the cost to scores"
        )


def takes(function: Callable[..., Any], count: int) -> bool:
    """Whether a function can be called with `count` arguments. Functions that do not tell are accepted."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def best_of(answers: Sequence[Any], score: Callable[[Any], float]) -> Any:
    """The first answer with the highest score."""
    return max(answers, key=score)
