"""Pictures of results: checks the file of --plot before any work, chooses the plots of each command, and saves them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from markone.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.figure import Figure

    from markone.data.source import Source
    from markone.experiments.comparing import Comparison
    from markone.experiments.curve import LearningCurve
    from markone.experiments.statistics import Calibration
    from markone.experiments.validation import Validation
    from markone.model.evaluation import Evaluation
    from markone.model.model import Model
    from markone.theory.certificate import Certificate
    from markone.theory.invariants import Invariants
    from markone.theory.trace import Trace

TOP_IN_TRAINING = 10
"""The number of features of each class whose weights are drawn after a training."""


def check_picture(
    path: str | None, *inputs: str | None, written: Iterable[str | None] = (), moves: bool = False
) -> None:
    """Check that a picture can be drawn and saved, so that no work is lost. `moves` if there is an animation.

    The file must not be an input, nor another file that the command writes.
    """
    if path is None:
        return
    from markone.cli.output import check_not_read
    from markone.plots.saving import ANIMATED, STILL, check_file

    check_file(path, ANIMATED if moves else STILL, "plot")
    check_not_read(path, *inputs)
    if any(same_file(path, other) for other in written if other is not None):
        raise SettingsError("plot", f"is {path}, which the command also writes something else to; name another file")


def same_file(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def save_picture(path: str | None, figures: Callable[[], Iterable[Figure]], title: str) -> None:
    """Save the plots in the file, if there is one. `figures` is a function that draws them."""
    if path is not None:
        from markone.plots.saving import save

        save(list(figures()), path, title=title)


# ---- what is drawn


def of_training(model: Model) -> Iterator[Figure]:
    """Yield the learning curve, the mistake bounds, and the strongest weights, as far as the model has them."""
    from markone import plots

    history = model.history
    if any(one.mistakes is not None or one.holdout is not None for one in history):
        yield plots.curves(history)
    if history.bounds is not None and history.bounds.points:
        yield plots.bounds(history)
    yield from of_model(model, TOP_IN_TRAINING)


def of_model(model: Model, top: int) -> Iterator[Figure]:
    """Yield the weights of a model, as images if its features are pixels, and its curves; or its odds."""
    from markone import plots
    from markone.model.odds import OddsExplanation
    from markone.model.shapes import shapes_of
    from markone.plots.feature_weights import MOST_PANELS, has_images

    if model.settings.traits.linear:
        if has_images(model):
            yield plots.weight_images(model)
            return
        several = len(model.classes) > MOST_PANELS
        yield plots.weights(model, top, most_frequent(model, MOST_PANELS) if several else None)
        charts = list(shapes_of(model.features, model.classes, model.weight_arrays()[0]).charts())
        for start in range(0, len(charts), MOST_PANELS):
            yield plots.chart(charts[start : start + MOST_PANELS])
    elif model.settings.rule == "naive-bayes":
        found = model.explain(top=top)
        assert isinstance(found, OddsExplanation)
        if any(one.ratios for one in found.classes):
            yield plots.odds(found)
        if found.numbers:
            yield plots.measurements(found)


def most_frequent(model: Model, count: int) -> list[Any]:
    """Return the classes with the most training examples or, if these were not counted, the first classes."""
    if model.counts is None:
        return model.classes[:count]
    order = (-model.counts.rows).argsort(kind="stable")[:count]
    return [model.classes[number] for number in sorted(order.tolist())]


class Calibrated(NamedTuple):
    """A model with the calibration of its probabilities."""

    name: str
    calibration: Calibration


def of_evaluation(evaluation: Evaluation, model: Model, source: Source, threads: int | None) -> Iterator[Figure]:
    """Yield the confusion matrix, the ROC curve of two classes, and the calibration of probabilities."""
    from markone import plots

    yield plots.confusion(evaluation)
    if len(model.classes) == 2 and not evaluation.unknown and evaluation.support.all():
        yield plots.roc(model, source)
    if model.has_probabilities:
        yield plots.calibration(Calibrated(model.settings.rule, calibration_of(model, source, threads)))


def calibration_of(model: Model, source: Source, threads: int | None) -> Calibration:
    import numpy as np

    from markone.experiments.statistics import Calibration

    number = model.label_numbers(source)
    truth, chances = [], []
    for batch, _, scores in model.answers(source, threads=threads):
        labels = number(batch)
        truth.append(labels[labels >= 0])
        chances.append(np.exp(model.log_probabilities(scores[labels >= 0])))
    return Calibration.of(np.concatenate(truth), np.concatenate(chances))


def of_validation(validation: Validation) -> Iterator[Figure]:
    """Yield the accuracy of each fold, the accuracy after each pass, and the confusion matrix."""
    from markone import plots

    if len(validation.folds) > 1:
        yield plots.folds(validation)
    if len(validation.curve()) > 1:
        yield plots.curves(validation)
    yield plots.confusion(validation)


def of_learning_curve(curve: LearningCurve) -> Iterator[Figure]:
    from markone import plots

    yield plots.learning_curve(curve)


def of_invariants(found: Invariants) -> Iterator[Figure]:
    """Yield the length of the weights between its bounds and, if a plane is known that separates, the angle to it."""
    from markone import plots

    yield plots.bounds(found)
    if found.margin is not None:
        yield plots.angles(found)


def save_trace(path: str | None, trace: Trace, title: str) -> None:
    """Save a trace: as an animation, as the plane after its last change, or as the paths of its weights.

    Two features can be seen in the plane. Of more, a GIF shows the plane of two principal components, and everything
    else shows the paths of the weights.
    """
    if path is None:
        return
    from markone import plots

    moves = [number for number, step in enumerate(trace.steps) if step.changes]
    in_plane = trace.features.width == 2 and trace.settings.traits.linear and bool(moves)
    ending = path.lower().rpartition(".")[2]
    if ending == "gif" or (ending == "html" and in_plane):
        plots.animation(trace, path)
    else:
        save_picture(path, lambda: [plots.step(trace, moves[-1]) if in_plane else plots.paths(trace)], title)


def refuse_pictures(source: Source) -> None:
    """Raise an error if rows have several labels, for which there are no pictures of experiments."""
    if source.several:
        raise SettingsError("plot", "draws accuracies of classes, but here rows can have several labels; leave it out")


def of_comparison(comparison: Comparison) -> Iterator[Figure]:
    """Yield the accuracies, and the calibration of the contenders that have probabilities."""
    from markone import plots

    yield plots.accuracies(comparison)
    if any(contender.has_probabilities for contender in comparison.contenders):
        yield plots.calibration(comparison)


def of_certificate(certificate: Certificate, source: Source) -> Iterator[Figure]:
    from markone import plots

    yield plots.certificate(certificate, source)


def of_explanation(found: Any, model: Model) -> Iterator[Figure]:
    """Yield the products behind one prediction, or the weights of a model."""
    from markone import plots
    from markone.model.explaining import Explanation

    if isinstance(found, Explanation):
        yield plots.products(found)
    else:
        yield from of_model(model, found.top)
