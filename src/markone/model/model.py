"""A model: a scorer, such as weights, with its features and its classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.brief import Brief
from markone.checks import check_named, whole
from markone.data.blocks import as_rows
from markone.data.labels import KnownLabels, numbers_of, refuse_several
from markone.data.source import UNLABELLED, Batch, Label, Source
from markone.errors import DataError, Setting, SettingsError, did_you_mean
from markone.features.examples import completed, is_one, opened
from markone.features.map import BIAS, FeatureMap
from markone.features.spec import Function
from markone.model.calibrator import Calibrator
from markone.model.counts import Counts
from markone.model.decisions import ABSTAINED, Abstention, Threshold
from markone.model.evaluation import EvaluationTally, log_probabilities, of_each_class
from markone.model.file import making, parts_of, to_saved
from markone.model.history import History
from markone.model.margins import functional_margins
from markone.model.rules import Rule
from markone.model.scorer import LinearScorer, Scorer
from markone.model.settings import Likelihood, Settings, Tie, TrainSettings
from markone.model.several_labels import SeveralLabels, against
from markone.model.text_scoring import TextScoring
from markone.parallel import count_threads, in_order
from markone.reporting.grids import counted
from markone.storage.container import PICKLED, Path, digest_of, from_bytes, read_file, to_bytes, write_file
from markone.storage.saved import Saved

if TYPE_CHECKING:
    from markone.exporting.options import Dialect
    from markone.exporting.targets import Exported, To
    from markone.features.named import Kinds
    from markone.model.card import Card
    from markone.model.explaining import Explanation, Explanations
    from markone.model.given_weights import WeightsByName
    from markone.model.losses import Losses
    from markone.model.number_evaluation import NumberEvaluation
    from markone.model.running import RunningTotals
    from markone.model.several_evaluation import SeveralTally
    from markone.model.worst_errors import WorstError

OneExample: TypeAlias = "str | Mapping[str, str | float | None]"
"""The types of single examples that an editor recognises. Images and rows of frames are others."""
ManyExamples: TypeAlias = "list[Any] | NDArray[Any] | PathLike[str] | Source | Mapping[str, Sequence[Any]]"
"""The types of several examples that an editor recognises. Frames of any library are others."""
NAMES_OF_ESTIMATORS = {
    "predict_proba": "use model.probabilities(examples), with a column for each of model.classes",
    "predict_log_proba": "use the logarithm of model.probabilities(examples)",
    "decision_function": "use model.scores(examples), with a column for each of model.classes",
    "score": "use model.accuracy(examples), or model.evaluate(examples) for all figures",
    "fit": "markone.train(examples, target) makes a new model, and from_model=model continues the training of this one",
    "coef_": "use model.weights(), the weights of each feature for all classes",
    "intercept_": "the bias is the feature BIAS of model.weights()",
    "classes_": "use model.classes",
    "feature_names_in_": "use model.features.columns",
    "get_feature_names_out": "use model.features.names()",
    "feature_importances_": "use model.explain() for the strongest features",
}
"""What a model has instead of the methods and attributes of scikit-learn's estimators."""
FEW_TEXTS = 4096
"""A list of up to this many texts is scored at once, in one thread."""


class Model(Brief):
    """A trained model, as `markone.train` returns it."""

    def __init__(
        self,
        *,
        features: FeatureMap,
        classes: list[Label],
        scorer: Scorer,
        settings: Settings,
        history: History,
        target: str | None = None,
        reading: dict[str, Any] | None = None,
        counts: Counts | None = None,
        resume: Saved | None = None,
        calibrator: Calibrator | None = None,
        threshold: Threshold | None = None,
        abstention: Abstention | None = None,
        several: SeveralLabels | None = None,
    ) -> None:
        self.features = features
        """The feature map, which turns examples into rows of named features."""
        self.classes = classes
        """The labels, in the order of the columns of `scores`; empty for a regression, which predicts numbers."""
        self.settings = settings
        """The settings of the training."""
        self.history = history
        """The passes of the training, and why it ended."""
        self.target = target
        """The name of the predicted column."""
        self.reading = reading or {}
        """The options with which `markone.read` read the training data. Files in the same format are read with them."""
        self.counts = counts
        """In how many training examples the strongest features occur; None if they were not counted."""
        self.resume = resume
        """The state that is needed to resume the training; None in a final model."""
        self.scorer = scorer
        """Computes scores from rows of features."""
        self.calibrator = calibrator
        """Turns scores into probabilities; None if it was not learned."""
        self.threshold = threshold
        """The score from which the second of two classes is predicted; None for a score above 0."""
        self.abstention = abstention
        """The margin below which there is no prediction; None if there is always one."""
        self.several = several
        """How each label is decided, if an example can have several of them; None if it has one class."""
        self._texts = TextScoring.of(features, scorer)
        self._tie = _core.Tie[settings.tie]
        self._labels = as_array(classes if abstention is None else [*classes, None])  # ABSTAINED is the last

    @classmethod
    def from_weights(
        cls,
        weights: WeightsByName | Path,
        *,
        classes: Sequence[Label] | None = None,
        positive: Label | None = None,
        kinds: Kinds = "text",
        features: Any = None,
        target: str | None = "label",
        rule: Rule = "perceptron",
        **settings: Unpack[TrainSettings],
    ) -> Self:
        """Make a model from weights that you give, without training.

        Parameters
        ----------
        weights
            The weight of each feature by name, for two classes; or the weights of each class, by class and feature;
            or a JSON, TOML, CSV or TSV file with them. `BIAS` is the bias. Features that are not named have no weight.
        classes
            The labels in their order. With two classes, positive weights support the second. By default, the classes
            that `weights` names.
        positive
            Which of the two classes that `weights` names is the positive one, if `classes` are not given.
        kinds
            What the names of the features mean. "text": words of a text. "numeric", "boolean" or "categorical": each
            name is a column, or for categories a column with a value, such as `make=asia`. "rows": features that the
            data already have, as in LIBSVM files. For several columns, their kinds by name, as in `markone.read`; words
            are then named `column:word`.
        features
            The specification of the features. By default, words are counted, and numbers are not scaled.
        target
            The name of the column with the labels.
        rule
            The rule, `perceptron`, `mira`, `hinge` or `logistic`, with which training can continue. Scores of
            `logistic` become probabilities.
        settings
            All other settings, as in `markone.Settings`, such as `tie`.

        Examples
        --------
        >>> model = Model.from_weights({"BIAS": -3, "free": 4, "money": 2}, classes=["ham", "spam"])
        >>> print(model.explain("free money"))
        prediction: spam
        The score of spam is 3. Positive numbers support spam, negative numbers ham.
        feature  value  weight  product
        free         1       4       +4
        BIAS         1      -3       -3
        money        1       2       +2
        sum                          +3
        """
        from markone.model.given_models import parts_of_weights

        parts = parts_of_weights(
            weights,
            classes=classes,
            positive=positive,
            kinds=kinds,
            features=features,
            target=target,
            given={"rule": rule, **settings},
        )
        return cls(**parts)

    @classmethod
    def from_tables(
        cls,
        words: Mapping[Any, Mapping[str, float]],
        *,
        priors: Mapping[Any, float] | None = None,
        unlisted: float | None = None,
        likelihood: Likelihood = "multinomial",
        classes: Sequence[Label] | None = None,
        positive: Label | None = None,
        kinds: Kinds = "text",
        features: Any = None,
        target: str | None = "label",
        tie: Tie = "error",
    ) -> Self:
        """Make a naive Bayes model from probabilities that you give, without training.

        Parameters
        ----------
        words
            P(word | class) for each class and word. A probability of 0 makes the class impossible for texts with the
            word. The probabilities of a class sum to at most 1; the rest is that of all other words, which predictions
            ignore.
        priors
            The prior probability of each class. They sum to 1; if they are rounded, the sum may differ by 0.02. By
            default, all are equal.
        unlisted
            The probability of words that only other classes have in their tables. By default, predictions ignore
            words that are not in all tables.
        likelihood
            `multinomial` for words that are counted, or `bernoulli` for features that are present or absent; then each
            number is the probability that the feature is present.
        classes, positive, kinds, features, target
            As for `from_weights`.
        tie
            The meaning of a score of 0, as in `markone.Settings`.

        Examples
        --------
        >>> tables = {"ham": {"free": 0.001, "see": 0.01}, "spam": {"free": 0.008, "see": 0.005}}
        >>> model = Model.from_tables(tables, priors={"ham": 0.66, "spam": 0.33})
        >>> model.probabilities("free").round(2).tolist()
        [0.2, 0.8]
        """
        from markone.model.given_models import parts_of_tables

        parts = parts_of_tables(
            words,
            priors=priors,
            unlisted=unlisted,
            likelihood=likelihood,
            classes=classes,
            positive=positive,
            kinds=kinds,
            features=features,
            target=target,
            tie=tie,
        )
        return cls(**parts)

    @property
    def predicts_numbers(self) -> bool:
        """Whether it predicts numbers, not classes."""
        return self.settings.traits.predicts_numbers

    @property
    def sides(self) -> list[Label]:
        """What the weights support: the classes or, for a regression, smaller and larger numbers."""
        if self.several is not None and len(self.classes) == 1:
            return [against(self.classes[0]), *self.classes]
        if not self.predicts_numbers:
            return self.classes
        return [f"{size} {self.target or 'numbers'}" for size in ("smaller", "larger")]

    @property
    def positive(self) -> Label | None:
        """The positive class of two, which is the second; None if there are more classes."""
        return self.classes[1] if len(self.classes) == 2 and self.several is None else None

    @property
    def scoring_bytes(self) -> int:
        """The memory of the tables that a linear model of texts makes when it scores many texts, in bytes; else 0.

        A model that has scored only a few texts does not have them yet. They do not change the scores.
        """
        return 0 if self._texts is None else self._texts.nbytes

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the file that `save` writes, as 64 hexadecimal digits. Models with the same content have the
        same digest."""
        return digest_of(to_saved(self))

    def prepare(self) -> Self:
        """Make the tables that a linear model of texts makes after some texts, now; return the model.

        The first texts are then scored as fast as later ones. Other models need no preparation.
        """
        if self._texts is not None:
            self._texts.prepare()
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the content of the model file, which is checked when it is read, and the user's functions by name."""
        return unpickled, (to_bytes(to_saved(self)), self.features.spec.functions)

    def __copy__(self) -> Model:
        return self  # models are immutable

    def __deepcopy__(self, _: Any) -> Model:
        return self

    def in_brief(self) -> str:
        if self.predicts_numbers:
            return f"{self.settings.rule}, {counted(self.features.width, 'feature')}, predicts numbers"
        shown = ", ".join(map(repr, self.classes[:5])) + (", ..." if len(self.classes) > 5 else "")
        classes = counted(len(self.classes), *(("class", "classes") if self.several is None else ("label",)))
        return f"{self.settings.rule}, {counted(self.features.width, 'feature')}, {classes}: {shown}"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say what the methods of scikit-learn's classifiers are called here."""
            here = f"; {NAMES_OF_ESTIMATORS[name]}" if name in NAMES_OF_ESTIMATORS else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{here}", name=name, obj=self)

    def __str__(self) -> str:
        from markone.model.card import overview

        return "\n".join(map(str, overview(self)))

    def _repr_html_(self) -> str:
        from markone.model.card import overview
        from markone.reporting.shown import fragment_of

        return fragment_of([*overview(self), *self.history.charts()])

    @overload
    def predict(self, examples: OneExample, *, threads: int | None = None) -> Any: ...
    @overload
    def predict(self, examples: ManyExamples, *, threads: int | None = None) -> NDArray[Any]: ...
    @overload
    def predict(self, examples: Any, *, threads: int | None = None) -> Any: ...
    def predict(self, examples: Any, *, threads: int | None = None) -> Any:
        """Return the label of each example, or a single label for a single text, dict, image or row. A label is None
        where a model with `abstention` makes no prediction. A regression returns numbers. If an example can have
        several labels, return a tuple of labels for each, which may be empty."""
        numbers, scores = self.decide(examples, threads=threads)
        if self.several is not None:
            found = self.labels_of(numbers)
            return found[0] if self._is_one(examples) else found
        if self.predicts_numbers:
            return float(scores[0, 0]) if self._is_one(examples) else scores[:, 0].astype(np.float64)
        return self.labels_of(numbers)[0] if self._is_one(examples) else self._labels[numbers]

    def winners(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return the number of the predicted class for each row of scores, as `answers` returns them; -1 where the
        model abstains. If an example can have several labels, return for each label whether it is predicted."""
        if self.several is not None:
            return self.several.found(scores, self._tie)
        found = _core.winners(scores, self._tie) if self.threshold is None else self.threshold.winners(scores)
        if self.abstention is not None:
            found[functional_margins(scores, found) <= self.abstention.margin] = ABSTAINED
        return found

    def labels_of(self, numbers: NDArray[Any]) -> list[Any]:
        """Return the labels of class numbers, as `winners` returns them: None where the model abstains, and a tuple
        where an example can have several labels."""
        if self.several is not None:
            return [tuple(self.classes[label] for label in np.flatnonzero(row)) for row in numbers]
        return [None if number == ABSTAINED else self.classes[number] for number in numbers.tolist()]

    def scores(self, examples: Any, *, threads: int | None = None) -> NDArray[np.float32]:
        """Return a row of scores for each example, in the order of `classes`. With two classes, the first scores 0.

        A regression has one score for each example, which is its prediction.
        """
        _, scores = self.decide(examples, threads=threads)
        found: NDArray[np.float32] = self.as_rows(scores)
        return found[0] if self._is_one(examples) else found

    def decide(self, examples: Any, *, threads: int | None = None) -> tuple[NDArray[Any], NDArray[np.float32]]:
        """Return the class numbers and the scores of all examples at once, with a row also for a single example.

        With two classes there is only the score of the second; the first has the score 0.
        """
        quick = self._quick_scores(examples, threads)
        if quick is not None:
            return self.winners(quick), quick
        found = [(winners, scores) for _, winners, scores in self.answers(examples, threads=threads)]
        if len(found) == 1:
            return found[0]
        none = np.zeros((0, 1 if self.scorer.classes == 2 and not self.several else self.scorer.classes), np.float32)
        numbers = np.concatenate([self.winners(none), *(winners for winners, _ in found)])
        return numbers, np.concatenate([none, *(scores for _, scores in found)])

    def as_rows(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return scores, as `answers` returns them, in the form of `scores`."""
        if self.several is not None:
            return scores
        return scores[:, 0] if self.predicts_numbers else of_each_class(scores)

    def probabilities(self, examples: Any, *, threads: int | None = None) -> NDArray[np.float64]:
        """Return a row of probabilities for each example, in the order of `classes`, or one row for a single example.

        Scores become probabilities by what was learned from held-out rows. Models of the rules `logistic`,
        `naive-bayes` and `mlp` have probabilities also without such rows: with two classes, by the sigmoid of the
        second class's score; with more classes, by the softmax of the scores. If an example can have several labels,
        each label has a probability of its own.
        """
        self.check_probabilities()
        none = np.zeros((0, len(self.classes)))
        answers = (self.log_probabilities(one) for _, _, one in self.answers(examples, threads=threads))
        found: NDArray[np.float64] = np.exp(np.concatenate([none, *answers]))
        return found[0] if self._is_one(examples) else found

    @property
    def has_probabilities(self) -> bool:
        """Whether the model has probabilities, by its rule or because they were learned from held-out rows."""
        calibrated = self.calibrator is not None if self.several is None else self.several.calibrated
        return calibrated or self.scorer.has_probabilities

    def check_probabilities(self) -> None:
        """Raise an error if the model has no probabilities."""
        self.need_classes("probabilities")
        if not self.has_probabilities:
            raise SettingsError(
                "probabilities",
                f"cannot be computed: scores of the rule {self.settings.rule!r} become probabilities by rows that the "
                "model was not trained on, and there were fewer than 50; train with more rows, or with the rule "
                "'logistic', 'naive-bayes' or 'mlp'",
            )

    def log_probabilities(self, scores: NDArray[Any]) -> NDArray[np.float64]:
        """Return the logarithms of the probabilities of the classes for scores, as `answers` returns them."""
        if self.several is not None:
            return self.several.log_probabilities(scores)
        return log_probabilities(scores) if self.calibrator is None else self.calibrator.log_probabilities(scores)

    def answers(
        self, examples: Any, *, threads: int | None = None
    ) -> Iterator[tuple[Batch, NDArray[Any], NDArray[Any]]]:
        """Predict batch by batch, in constant memory. Return the examples, their class numbers, and their scores.

        With two classes there is only the score of the second; the first has the score 0.
        """
        return in_order(self.answer, self.features.batches(examples), count_threads(threads))

    def answer(self, batch: Batch) -> tuple[Batch, NDArray[Any], NDArray[Any]]:
        """Predict a batch that has the model's columns, as `answers` does for each."""
        scores = None if self._texts is None else self._texts.scores(batch)
        if scores is None:
            scores = self.scorer.scores(as_rows(self.features.transform(batch)))
        return batch, self.winners(scores), scores

    @overload
    def explain(self, example: None = None, *, top: int = 20, running: bool = False) -> Any: ...
    @overload
    def explain(self, example: OneExample, *, top: int = 20, running: Literal[False] = False) -> Explanation: ...
    @overload
    def explain(self, example: OneExample, *, top: int = 20, running: Literal[True]) -> RunningTotals: ...
    @overload
    def explain(self, example: ManyExamples, *, top: int = 20, running: bool = False) -> Explanations: ...
    @overload
    def explain(self, example: Any, *, top: int = 20, running: bool = False) -> Any: ...
    def explain(self, example: Any = None, *, top: int = 20, running: bool = False) -> Any:
        """Explain the prediction for an example or, without an example, the whole model by its strongest features.

        Parameters
        ----------
        example
            For one text, dict, image or row of a frame, the result is an `Explanation`. For several examples, such as a
            list, a frame or a source, it is an iterator of them. For None, it is a `ModelExplanation`, or for naive
            Bayes an `OddsExplanation`. If an example can have several labels, the explanation of an example is a
            `SeveralExplanation`: the predicted labels and the next one, each with an `Explanation`.
        top
            The number of features that are shown. `as_dict()` of the explanation contains all of them.
        running
            For naive Bayes and texts: show the words in their order, with P(word | class) and the running totals of
            the logarithms, as `RunningTotals`.

        Examples
        --------
        >>> import markone
        >>> model = markone.train(["free money", "see you"], target=["spam", "ham"], rule="perceptron", average=False)
        >>> print(model.explain("free tea, money, more"))
        prediction: spam
        The score of spam is 0.894427. Positive numbers support spam, negative numbers
        ham.
        feature   value  weight  product
        free     0.7071  0.6325  +0.4472
        money    0.7071  0.6325  +0.4472
        BIAS          1       0   0.0000
        sum                      +0.8944
        """
        from markone.model.explaining import Explanations, check_top, explain_examples

        top = check_top(top)
        explained: Callable[..., Iterator[Any]] = explain_examples
        if running:
            from markone.model.running import check_running, explain_running

            check_running(self, example)
            explained = explain_running
        if example is None:
            return self.scorer.explain(self, top)
        if self._is_one(example):
            return next(explained(self, example, top))
        return Explanations(lambda: explained(self, example, top))

    def accuracy(self, examples: Any, target: Any = None, *, threads: int | None = None) -> float:
        """Return the share of labelled examples that are classified correctly; `target` is as for `evaluate`. If an
        example can have several labels, all of them must be right."""
        self.need_classes("accuracy")
        found: float = self.evaluate(examples, target, threads=threads).accuracy
        return found

    def need_classes(self, what: str) -> None:
        """Raise an error if the model predicts numbers."""
        if self.predicts_numbers:
            raise SettingsError("rule", f"is {self.settings.rule!r}, which predicts numbers and has no {what}")

    def need_one_label(self, what: str) -> None:
        """Raise an error if the model predicts numbers, or several labels for an example."""
        self.need_classes(what)
        if self.several is not None:
            raise SettingsError(
                "model",
                f"predicts several labels for each example, and has no {what}; its `of_label` returns a model of one "
                "label",
            )

    def of_label(self, label: Label) -> Model:
        """Return the model of one label, if an example can have several. Its second class is the label, and its first
        class is every example without it.

        Examples
        --------
        >>> import markone
        >>> texts = ["a new film", "a goal", "a film about a goal"]
        >>> model = markone.train(texts, target=[["film"], ["sports"], ["film", "sports"]])
        >>> model.of_label("film").predict("another goal")
        'not film'
        """
        number = None if self.several is None else KnownLabels(self.classes).number(label)
        if self.several is None or number is None:
            has = "an example has only one label" if self.several is None else "there is no such label"
            raise SettingsError(
                "label", f"is {label!r:.60}, but {has}.{did_you_mean(str(label), map(str, self.classes))}"
            )
        matrix, bias = self.weight_arrays()
        own = _core.Weights32(np.ascontiguousarray(matrix[:, number, None]), bias[number, None].copy(), 2)
        decision = self.several.decisions[number]
        return Model(
            features=self.features,
            classes=[against(self.classes[number]), self.classes[number]],
            scorer=LinearScorer(own, self.scorer.has_probabilities),
            settings=self.settings,
            history=History(rows=self.history.rows, held_out=self.history.held_out, stopped=self.history.stopped),
            target=self.target,
            reading=self.reading,
            calibrator=decision.calibrator,
            threshold=decision.threshold,
        )

    def evaluate(self, examples: Any, target: Any = None, *, threads: int | None = None, cluster: Any = None) -> Any:
        """Return the number of right and wrong predictions for labelled examples, and measures computed from them, as
        an `Evaluation`. Labels that the model does not know count as mistakes.

        For a regression, return the errors of its predictions as a `NumberEvaluation`. If an example can have several
        labels, return a `SeveralEvaluation`.

        Parameters
        ----------
        examples
            A source, or anything that `markone.read` accepts: a path, a frame, a list of texts.
        target
            The column with the labels, or the labels themselves. By default the column that the model predicts.
        threads
            The number of threads that read and predict; by default, the number of cores.
        cluster
            The workers of a cluster, as for `markone.predict_files`, read and predict one file each. The result has the
            same bits.

        Examples
        --------
        >>> import markone
        >>> mail = {"text": ["free money", "see you"], "kind": ["spam", "ham"]}
        >>> model = markone.train(mail, target="kind")
        >>> model.evaluate({"text": ["free tea", "see me"], "kind": ["spam", "spam"]}).accuracy
        0.5
        """
        source = self.labelled(examples, target)
        if cluster is not None:
            from markone.model.evaluating_files import evaluated_on

            return evaluated_on(cluster, self, source)
        if self.predicts_numbers:
            return self.of_numbers(*self.numbers_found(source, threads))
        tally = self.tally()
        for batch, winners, scores in self.answers(source, threads=threads):
            assert batch.labels is not None  # because there is a target
            tally.add(source.labels, batch.labels, winners, scores)
        return tally.evaluation()

    def tally(self) -> EvaluationTally | SeveralTally:
        if self.several is not None:
            from markone.model.several_evaluation import SeveralTally

            return SeveralTally(self.classes, self.several.log_of_both if self.has_probabilities else None)
        tally = EvaluationTally(self.classes, self.log_probabilities if self.has_probabilities else None)
        tally.threshold, tally.abstention = self.threshold, self.abstention
        return tally

    def numbers_found(self, source: Source, threads: int | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the numbers of labelled examples, NaN for missing ones, and the predicted numbers."""
        found, labels = [np.zeros(0)], [np.zeros(0, np.int32)]
        for batch, _, scores in self.answers(source, threads=threads):
            assert batch.labels is not None  # because there is a target
            found.append(scores[:, 0].astype(np.float64))
            labels.append(batch.labels)
        numbers = np.append(numbers_of(source.labels, source.target), np.nan)  # the last is that of a missing label
        return numbers[np.concatenate(labels)], np.concatenate(found)

    def of_numbers(self, numbers: NDArray[np.float64], found: NDArray[np.float64]) -> NumberEvaluation:
        """Return the evaluation of predicted numbers."""
        from markone.model.number_evaluation import evaluate_numbers

        return evaluate_numbers(numbers, found, self.settings)

    def errors(
        self, examples: Any, target: Any = None, *, most: int = 10, top: int = 8, threads: int | None = None
    ) -> list[WorstError]:
        """Return the worst errors on labelled examples with their explanations; `target` is as for `evaluate`.

        An error is the worse, the higher the score of the prediction is above that of the label. Often, labels of the
        worst errors are wrong.

        Parameters
        ----------
        most
            The largest number of errors.
        top
            The number of features that an explanation shows.

        Examples
        --------
        >>> import markone
        >>> model = markone.train(["free money", "see you"], target=["spam", "ham"])
        >>> model.errors(["free tea", "see me"], target=["spam", "spam"])
        [<WorstError: row 2 is 'spam', and not 'ham'>]
        """
        from markone.model.explaining import check_top
        from markone.model.worst_errors import worst_errors

        self.need_one_label("errors of classes")
        most = check_named("most", whole(1), most)
        return worst_errors(self, self.labelled(examples, target), most, check_top(top), threads)

    def losses(self, examples: Any, target: Any = None, *, threads: int | None = None) -> Losses:
        """Return the losses of the scores on labelled examples; `target` is as for `evaluate`.

        These are the number of mistakes, the perceptron's loss, the hinge loss, the cross-entropy and the squared
        error. Examples whose label the model does not know, and those without a prediction, are skipped.

        Examples
        --------
        >>> import markone
        >>> model = markone.train(["free money", "see you"], target=["spam", "ham"])
        >>> model.losses(["free tea", "see me"], target=["spam", "ham"]).zero_one
        0.0
        """
        from markone.model.losses import LossTally

        self.need_one_label("losses of classes")
        source = self.labelled(examples, target)
        number = self.label_numbers(source)
        tally = LossTally(len(self.classes))
        for batch, winners, scores in self.answers(source, threads=threads):
            tally.add(scores, np.where(winners == ABSTAINED, UNLABELLED, number(batch)), winners)
        return tally.losses()

    def label_numbers(self, source: Source) -> Callable[[Batch], NDArray[np.int64]]:
        """Return a function from a batch to the class numbers of its labels; missing and unknown labels become -1."""
        known = KnownLabels(self.classes)

        def number(batch: Batch) -> NDArray[np.int64]:
            assert batch.labels is not None  # because there is a target
            found = [known.number(label) for label in source.labels]
            numbers = np.array([UNLABELLED if number is None else number for number in (*found, None)])
            return numbers[batch.labels]

        return number

    def labelled(self, examples: Any, target: Any) -> Source:
        """Return a labelled source with the model's columns. Without `target`, the labels are in the model's target
        column."""
        columns = self.features.columns
        if isinstance(examples, Source) and target is not None:
            raise second_target()
        source = examples if isinstance(examples, Source) else opened(examples, columns, target)
        if source.target is None:
            name = self.target or "label"
            source = source.with_target(name, self.reading.get("kinds", {}).get(name))
        self._check_labels(source)
        return completed(source, columns)

    def _check_labels(self, source: Source) -> None:
        """Raise an error if examples of the source have one label, but those of the model can have several."""
        if self.several is None:
            refuse_several(source.labels, "this model")
        elif not source.several:
            raise DataError(
                f"the model predicts several labels for each example, but the target {source.target!r} has one",
                advice=(
                    "give lists of labels, or say how they are written: ",
                    Setting("kinds", {source.target: "set"}),
                ),
            )

    def score_arrow(self, batch: Any) -> Any:
        """Return the predictions for Arrow data as a `pyarrow.RecordBatch`, for engines that call functions.

        Its columns are `prediction`, `score:LABEL` for each class and, if the model has them, `probability:LABEL`. The
        page on query engines shows it in DuckDB, Polars, pandas and Spark.

        Parameters
        ----------
        batch
            A record batch, a table or a frame with the columns of the model; a column of structs with these fields; or
            the column itself, if the model has only one. It may have no rows.

        Examples
        --------
        >>> import markone, pyarrow
        >>> model = markone.train(["free money", "see you"], target=["spam", "ham"])
        >>> model.score_arrow(pyarrow.array(["free tea", "see me"]))["prediction"].to_pylist()
        ['spam', 'ham']
        """
        from markone.model.arrow import score_batch

        return score_batch(self, batch)

    def card(self, name: str | None = None) -> Card:
        """Return a card that describes the model: data, training, figures, strongest features and limits.

        `print(card)` is Markdown, and `card.html()` is a page.

        Parameters
        ----------
        name
            The title. By default it names the predicted column.

        Examples
        --------
        >>> import markone
        >>> model = markone.train(["free money", "see you"], target=["spam", "ham"])
        >>> print(model.card("Spam").markdown().splitlines()[0])
        # Spam
        """
        from markone.model.card import card_of

        self.need_classes("card")
        return card_of(self, name)

    def export(
        self,
        path: Path,
        *,
        to: To | None = None,
        sample: Any = None,
        dialect: Dialect | None = None,
        name: str | None = None,
        overwrite: bool = False,
    ) -> Exported:
        """Write a linear model in a form that works without Markone, and return how it was checked.

        Before the file is written, it is run on sample rows, and must give the same labels, and the same scores within
        10⁻⁶. Otherwise nothing is written, and the error names the feature that is the reason.

        Parameters
        ----------
        path
            The name of the file. It is written completely or not at all.
        to
            `json`, `js`, `sql`, `c` or `onnx`; by default, the ending of the file says it.
        sample
            The rows of the check: a file, a frame or other examples. By default, rows are made from what the model
            knows.
        dialect
            The dialect of SQL: `duckdb`, which is the default, `sqlite` or `postgresql`.
        name
            The name of the table that the SQL query reads, by default `data`; or the beginning of the names in C, by
            default `model`.
        overwrite
            Replace a file that exists already.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import markone
        >>> model = markone.train(["free money", "see you"], target=["spam", "ham"])
        >>> with TemporaryDirectory() as folder:
        ...     exported = model.export(f"{folder}/mail.json")
        >>> exported.engine, exported.rows
        ('an interpreter in Python', 200)
        """
        from markone.exporting.targets import export_model

        return export_model(self, path, to=to, sample=sample, dialect=dialect, name=name, overwrite=overwrite)

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Return the weights of each feature by name, in the order of `classes`. With two classes, the first has 0.

        A regression has one weight for each feature.
        """
        weights, bias = self.weight_arrays()
        matrix = np.vstack([bias[None, :], weights])
        if len(self.classes) == 2 and self.several is None:
            matrix = np.hstack([np.zeros_like(matrix), matrix])
        return dict(zip([BIAS, *self.features.names()], matrix, strict=True))

    def save(self, path: Path, *, final: bool = False) -> None:
        """Write the model to one file, which `markone.load` reads.

        An old file is replaced only when the new one is complete and on disk. The user's own functions are not saved.

        Parameters
        ----------
        path
            The name of the file.
        final
            Leave out the state that is only needed to resume training, and the features whose weights are all 0.
        """
        saved = to_saved(self, final=final)
        write_file(path, saved.facts, saved.arrays)

    def weight_arrays(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the weights, features × columns, and the bias. Two classes share one column, that of the second."""
        weights = self.scorer.weights
        if weights is None:
            raise SettingsError("rule", f"is {self.settings.rule!r}, whose features have no weights of their own")
        return weights.matrix(), weights.bias()

    def _quick_scores(self, examples: Any, threads: int | None) -> NDArray[np.float32] | None:
        """Return the scores of a text, or of a list of texts, without a batch around it; None if this is not
        possible."""
        if self._texts is None or threads is not None:
            return None
        if type(examples) is str:
            return self._texts.scores_of_texts([examples])
        if type(examples) is list and 0 < len(examples) <= FEW_TEXTS:
            return self._texts.scores_of_texts(examples)
        return None

    def _is_one(self, examples: Any) -> bool:
        return is_one(examples, self.features.columns)


def load(path: Path, functions: Mapping[str, Function] | None = None) -> Model:
    """Load a model from a file that `Model.save` has written.

    It is safe to load a file from an unknown origin: nothing in it is executed or imported, and sizes and checksums are
    checked before anything is used. If something is wrong, a `DataError` says what.

    Parameters
    ----------
    path
        The name of the file.
    functions
        Your own functions that the model was trained with, by name.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from markone import train
    >>> model = train(["free money", "see you soon"], target=["spam", "ham"])
    >>> with TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/mail.model")
    ...     again = load(f"{folder}/mail.model")
    >>> again.predict("money for free")
    'spam'
    """
    saved = read_file(path)
    with making("model", path):
        return Model(**parts_of(saved, functions))


def unpickled(content: bytes, functions: Mapping[str, Function] | None = None) -> Model:
    """Restore a pickled model. Its content is checked like that of a file."""
    saved = from_bytes(content)
    with making("model", PICKLED):
        return Model(**parts_of(saved, functions))


def second_target() -> SettingsError:
    """The error for a target that is given together with a source, which has its own target."""
    return SettingsError("target", "belongs to markone.read, which opened these examples; pass it there, and not here")


def as_array(labels: list[Label]) -> NDArray[Any]:
    """Return the labels as an array of their own type if NumPy represents them exactly, else of Python objects."""
    kinds = {type(label) for label in labels}
    array = np.array(labels) if len(kinds) == 1 and kinds <= {str, int, bool} else np.empty(0)
    if array.dtype.kind in "Uib" and array.tolist() == labels:
        return array
    plain = np.empty(len(labels), object)
    for i, label in enumerate(labels):
        plain[i] = label
    return plain
