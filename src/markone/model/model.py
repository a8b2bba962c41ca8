"""A model: weights, the features that they belong to, and the classes that their scores are of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.brief import Brief
from markone.data.blocks import as_rows
from markone.data.labels import KnownLabels
from markone.data.source import UNLABELLED, Batch, Label, Source
from markone.errors import SettingsError
from markone.features.examples import completed, is_one, opened
from markone.features.map import BIAS, FeatureMap
from markone.features.spec import Function
from markone.model.counts import Counts
from markone.model.evaluation import Evaluation, Tally, log_probabilities, of_each_class
from markone.model.explaining import Explanation, check_top, explain_examples
from markone.model.file import making, parts_of, to_saved
from markone.model.history import History
from markone.model.losses import Losses, LossTally
from markone.model.scorer import Scorer
from markone.model.settings import Settings
from markone.parallel import count_threads, in_order
from markone.storage.container import PICKLED, Path, from_bytes, read_file, to_bytes, write_file
from markone.storage.saved import Saved


class Model(Brief):
    """What `markone.train` gives."""

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
    ) -> None:
        self.features = features
        """The feature map: what an example's features are, by name."""
        self.classes = classes
        """The labels, in the order of the columns of `scores`."""
        self.settings = settings
        """How it was trained."""
        self.history = history
        """What happened in training."""
        self.target = target
        """The name of what is predicted."""
        self.reading = reading or {}
        """How `markone.read` read what it was trained on, so that files in the same format are read alike."""
        self.counts = counts
        """In how many training examples the strongest features occur; None where they were not counted."""
        self.resume = resume
        """What is needed to go on with the training; None in a final model."""
        self.scorer = scorer
        """What makes scores of features."""
        self._tie = _core.Tie[settings.tie]
        self._labels = as_array(classes)

    def __reduce__(self) -> tuple[Any, ...]:
        """The content of its file, which is checked when it is read, and the user's own functions by reference."""
        return unpickled, (to_bytes(to_saved(self)), self.features.spec.functions)

    def __copy__(self) -> Model:
        return self  # nothing in it changes

    def __deepcopy__(self, _: Any) -> Model:
        return self

    def in_brief(self) -> str:
        shown = ", ".join(map(repr, self.classes[:5])) + (", ..." if len(self.classes) > 5 else "")
        return f"{self.settings.rule}, {self.features.width:,} features, {len(self.classes)} classes: {shown}"

    def predict(self, examples: Any, *, threads: int | None = None) -> Any:
        """The label of each example; a single label for a single text, dict or image."""
        found = [winners for _, winners, _ in self.answers(examples, threads=threads)]
        numbers = found[0] if len(found) == 1 else np.concatenate([np.zeros(0, np.int64), *found])
        return self.classes[int(numbers[0])] if self._is_one(examples) else self._labels[numbers]

    def scores(self, examples: Any, *, threads: int | None = None) -> NDArray[np.float32]:
        """A row of scores for each example, one for each of `classes`; of two classes the first scores 0."""
        none = np.zeros((0, 1 if len(self.classes) == 2 else len(self.classes)), np.float32)
        found = of_each_class(np.concatenate([none, *(one for _, _, one in self.answers(examples, threads=threads))]))
        return found[0] if self._is_one(examples) else found

    def probabilities(self, examples: Any, *, threads: int | None = None) -> NDArray[np.float64]:
        """A row of probabilities for each example, one for each of `classes`; a single row for a single example.

        They are the sigmoid of the second class's score or, of more than two classes, the softmax of the scores, which
        are probabilities where the rule is `logistic`, `naive-bayes` or `mlp`.
        """
        if not self.scorer.has_probabilities:
            raise SettingsError(
                "rule",
                f"is {self.settings.rule!r}, whose scores are no probabilities; train with the rule 'logistic', "
                "'naive-bayes' or 'mlp'",
            )
        found = self.scores(examples, threads=threads)
        return np.exp(log_probabilities(np.atleast_2d(found))).reshape(found.shape)

    def answers(
        self, examples: Any, *, threads: int | None = None
    ) -> Iterator[tuple[Batch, NDArray[np.int64], NDArray[Any]]]:
        """Batch after batch, in constant memory: the examples, the numbers of their classes, and their scores.

        Of two classes there is only the score of the second; the first has 0.
        """

        def answer(batch: Batch) -> tuple[Batch, NDArray[np.int64], NDArray[Any]]:
            scores = self.scorer.scores(as_rows(self.features.transform(batch)))
            return batch, _core.winners(scores, self._tie), scores

        return in_order(answer, self.features.batches(examples), count_threads(threads))

    def explain(self, example: Any = None, *, top: int = 20) -> Any:
        """Why it predicts what it predicts for an example or, without one, what it goes by as a whole.

        Parameters
        ----------
        example
            One text, dict or image gives an `Explanation`; what `predict` takes besides, such as a list, a frame or a
            source, gives an iterator of them. None gives a `ModelExplanation`, or the `OddsExplanation` of naive Bayes.
        top
            How many features are shown. The explanation has them all, and knows them as a dict, too: `as_dict()`.

        Examples
        --------
        >>> import markone
        >>> model = markone.train(["free money", "see you"], target=["spam", "ham"], rule="perceptron", average=False)
        >>> print(model.explain("free tea, money, more"))
        prediction: spam
        The score of spam is 0.894427: what is positive speaks for spam, what is
        negative for ham.
        feature   value  weight  product
        free     0.7071  0.6325  +0.4472
        money    0.7071  0.6325  +0.4472
        BIAS          1       0   0.0000
        sum                      +0.8944
        """
        top = check_top(top)
        if example is None:
            return self.scorer.explain(self, top)
        found: Iterator[Explanation] = explain_examples(self, example, top)
        return next(found) if self._is_one(example) else found

    def accuracy(self, examples: Any, target: Any = None, *, threads: int | None = None) -> float:
        """The share of labelled examples that are classified rightly; `target` is as for `evaluate`."""
        return self.evaluate(examples, target, threads=threads).accuracy

    def evaluate(self, examples: Any, target: Any = None, *, threads: int | None = None) -> Evaluation:
        """What is classified rightly and what wrongly, of labelled examples.

        Labels that the model does not know count as mistakes.

        Parameters
        ----------
        examples
            A source, or what `markone.read` takes: a path, a frame, a list of texts.
        target
            The column with the labels, or the labels themselves. By default the column that the model predicts.
        threads
            How many threads read and predict; as many as there are cores by default.

        Examples
        --------
        >>> import markone
        >>> mail = {"text": ["free money", "see you"], "kind": ["spam", "ham"]}
        >>> model = markone.train(mail, target="kind")
        >>> model.evaluate({"text": ["free tea", "see me"], "kind": ["spam", "spam"]}).accuracy
        0.5
        """
        source = self.labelled(examples, target)
        tally = Tally(self.classes, has_probabilities=self.scorer.has_probabilities)
        for batch, winners, scores in self.answers(source, threads=threads):
            assert batch.labels is not None  # there is a target
            tally.add(source.labels, batch.labels, winners, scores)
        return tally.evaluation()

    def losses(self, examples: Any, target: Any = None, *, threads: int | None = None) -> Losses:
        """What the scores cost by each of the lectures' losses, of labelled examples; `target` is as for `evaluate`.

        Mistakes, the perceptron's loss, the hinge, the cross-entropy, and the squared error. Examples whose label the
        model does not know are passed over.

        Examples
        --------
        >>> import markone
        >>> model = markone.train(["free money", "see you"], target=["spam", "ham"])
        >>> model.losses(["free tea", "see me"], target=["spam", "ham"]).zero_one
        0.0
        """
        source = self.labelled(examples, target)
        number = self.label_numbers(source)
        tally = LossTally(len(self.classes))
        for batch, winners, scores in self.answers(source, threads=threads):
            tally.add(scores, number(batch), winners)
        return tally.losses()

    def label_numbers(self, source: Source) -> Callable[[Batch], NDArray[np.int64]]:
        """What gives the numbers of a batch's labels among `classes`; -1 for none, and for one that is unknown."""
        known = KnownLabels(self.classes)

        def number(batch: Batch) -> NDArray[np.int64]:
            assert batch.labels is not None  # there is a target
            found = [known.number(label) for label in source.labels]
            numbers = np.array([UNLABELLED if number is None else number for number in (*found, None)])
            return numbers[batch.labels]

        return number

    def labelled(self, examples: Any, target: Any) -> Source:
        """What `target` belongs to or, without it, what has the column that the model predicts, as a source of the
        model's columns."""
        columns = self.features.columns
        if isinstance(examples, Source) and target is not None:
            raise SettingsError("target", "belongs to markone.read where a source is opened by it")
        source = examples if isinstance(examples, Source) else opened(examples, columns, target)
        if source.target is None:
            name = self.target or "label"
            source = source.with_target(name, self.reading.get("kinds", {}).get(name))
        return completed(source, columns)

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """The weights of each feature by its name, in the order of `classes`; of two classes the first has weight 0."""
        weights, bias = self.weight_arrays()
        matrix = np.vstack([bias[None, :], weights])
        if len(self.classes) == 2:
            matrix = np.hstack([np.zeros_like(matrix), matrix])
        return dict(zip([BIAS, *self.features.names()], matrix, strict=True))

    def save(self, path: Path, *, final: bool = False) -> None:
        """Writes the model into one file, which `markone.load` reads.

        An old file is replaced only once the new one is whole and on disk. Functions of the user's own are not in it.

        Parameters
        ----------
        path
            The name of the file.
        final
            Leave out what is needed only to go on with the training, and the features whose weights are all 0.
        """
        saved = to_saved(self, final=final)
        write_file(path, saved.facts, saved.arrays)

    def weight_arrays(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The weights, features × columns, and the bias. Two classes share one column, which is for the second."""
        weights = self.scorer.weights
        if weights is None:
            raise SettingsError("rule", f"is {self.settings.rule!r}, whose features have no weights of their own")
        return weights.matrix(), weights.bias()

    def _is_one(self, examples: Any) -> bool:
        return is_one(examples, self.features.columns)


def load(path: Path, functions: Mapping[str, Function] | None = None) -> Model:
    """The model in a file that `Model.save` has written.

    The file may come from anywhere: nothing in it is run or imported, sizes and checksums are checked before anything
    is used, and what is wrong with it is said in a `DataError`.

    Parameters
    ----------
    path
        The name of the file.
    functions
        The functions of the user's own, by name, that the model was trained with.

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
    """The model whose file has this content, which is checked like a file."""
    saved = from_bytes(content)
    with making("model", PICKLED):
        return Model(**parts_of(saved, functions))


def as_array(labels: list[Label]) -> NDArray[Any]:
    """Labels as NumPy has them where it has all of them just so, else as Python does."""
    kinds = {type(label) for label in labels}
    array = np.array(labels) if len(kinds) == 1 and kinds <= {str, int, bool} else np.empty(0)
    if array.dtype.kind in "Uib" and array.tolist() == labels:
        return array
    plain = np.empty(len(labels), object)
    for i, label in enumerate(labels):
        plain[i] = label
    return plain
