"""Plots the ROC curve of scores, and the calibration of probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import StrMethodFormatter
from numpy.typing import NDArray

from markone.data.source import UNLABELLED
from markone.errors import DataError
from markone.model.model import Model
from markone.plots.colours import BLUE, QUIET
from markone.plots.drawing import (
    SMALL,
    entitle,
    finished,
    in_percent,
    label_text,
    mark_of,
    name_axes,
    name_text,
    new_figure,
    tidy,
)

SMALLEST_DOT, LARGEST_DOT = 10, 80
PARTS_OF_BIN = ("predicted", "observed", "count")


def roc(truth: Any, scores: Any = None) -> Figure:
    """Draw the ROC curve: the true positive rate over the false positive rate, for all thresholds.

    Called in one of three ways: `roc(validation)`, of a validation with probabilities; `roc(model, source)`, of a model
    and a source with labels; or `roc(truth, scores)`. The area under the curve (AUC) is the chance that an example of
    the second class has a higher score than one of the first.

    Parameters
    ----------
    truth
        The labels of examples, of two classes; or a `Validation`; or a `Model`.
    scores
        For each label the higher, the more the example looks like the second class, in the labels' order; or, for a
        model, labelled examples, as for `Model.evaluate`.

    Examples
    --------
    >>> from markone.plots import roc
    >>> figure = roc(["ham", "spam", "ham", "spam"], [-1.5, 0.5, 0.7, 2])
    >>> figure.axes[0].get_title(loc="left")
    'finding spam: AUC 0.750'
    """
    from sklearn.metrics import roc_auc_score, roc_curve

    label, second, values = ranking(truth, scores)
    wrong, found, _ = roc_curve(second, values)
    area = float(roc_auc_score(second, values))
    figure = new_figure(4.4, 4.4)
    axes = tidy(figure.add_subplot())
    axes.plot([0, 1], [0, 1], color=QUIET, linewidth=1, linestyle=(0, (2, 2)), label="chance")
    axes.plot(wrong, found, color=BLUE, linewidth=2, label="ROC", clip_on=False)
    axes.fill_between(wrong, found, color=BLUE, alpha=0.08, linewidth=0)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    in_percent(axes.xaxis)
    in_percent(axes.yaxis)
    axes.tick_params(pad=6)  # both axes have 0% in the corner
    axes.annotate(
        "by chance", (0.62, 0.62), xytext=(4, -4), textcoords="offset points", va="top", fontsize=SMALL, color=QUIET
    )
    name_axes(axes, "false positive rate", f"true positive rate of {label_text(label)}")
    entitle(axes, f"finding {label_text(label)}: AUC {area:.3f}")
    return finished(figure, f"ROC curve of {label_text(label)}, with an area of {area:.3f} under it")


Ranking = tuple[Any, NDArray[np.bool_], NDArray[np.float64]]
"""The second class, whether each example belongs to it, and the score of each example."""


def ranking(truth: Any, scores: Any) -> Ranking:
    if isinstance(truth, Model):
        found = of_model(truth, scores)
    elif hasattr(truth, "folds"):
        found = of_validation(truth)
    else:
        found = of_arrays(truth, scores)
    _, second, values = found
    if not np.isfinite(values).all():
        found = (found[0], second, np.nan_to_num(values))  # naive Bayes may be infinitely sure
    if second.all() or not second.any():
        raise DataError("a ROC curve needs examples of both classes, and all examples belong to one")
    return found


def of_arrays(truth: Any, scores: Any) -> Ranking:
    labels = np.asarray(truth)
    if scores is None:
        raise DataError("a ROC curve needs a validation, or labels and scores: roc(truth, scores)")
    values = np.asarray(scores, np.float64)
    if labels.ndim != 1 or values.shape != labels.shape:
        raise DataError(
            f"there must be one score for each label; the shapes are {labels.shape} and {values.shape}. Of two columns "
            "of scores or probabilities, the second is for the second class"
        )
    if np.isnan(values).any():
        raise DataError("some of the scores are NaN")
    classes, numbers = np.unique(labels, return_inverse=True)
    if len(classes) != 2:
        raise DataError(f"a ROC curve is drawn for two classes, and there are {len(classes)}")
    return classes[1].item(), numbers == 1, values


def of_validation(validation: Any) -> Ranking:
    check_two(validation.classes)
    if validation.probabilities is None:
        raise DataError(
            f"{validation.name} has no probabilities; validate a rule that has them, such as 'logistic', or give "
            "scores: roc(truth, scores)"
        )
    return validation.classes[1], validation.truth == 1, validation.probabilities[:, 1]


def of_model(model: Model, source: Any) -> Ranking:
    check_two(model.classes)
    if source is None:
        raise DataError("the ROC curve of a model needs labelled examples: roc(model, examples)")
    source = model.labelled(source, None)
    truth, scores = [], []
    for batch, _, found in model.answers(source):
        assert batch.labels is not None  # there is a target
        labelled = batch.labels != UNLABELLED
        truth += [source.labels[number] for number in batch.labels[labelled]]
        scores.append(found[labelled, 0])
    strange = set(truth) - set(model.classes)
    if strange:
        raise DataError(f"the model does not know the label {min(map(repr, strange))}")
    second = np.array([label == model.classes[1] for label in truth], np.bool_)
    return model.classes[1], second, np.concatenate([np.zeros(0), *scores])


def check_two(classes: list[Any]) -> None:
    if len(classes) != 2:
        raise DataError(f"a ROC curve is drawn for two classes, and there are {len(classes)}")


# ---- calibration


def calibration(results: Any) -> Figure:
    """Draw the calibration of probabilities: of all predictions with a probability of 80%, 80% should be true.

    Dots on the diagonal are just so; those below it were promised too much. The larger a dot, the more predictions it
    stands for; the lower panel says how many.

    Parameters
    ----------
    results
        A `Validation` with probabilities, or a list of them; or a `Comparison`, whose contenders with probabilities are
        drawn.
    """
    drawn = calibrations(results)
    most = max(one.count for _, found in drawn for one in found.bins)
    figure = new_figure(5.4, 5.2)
    above, below = map(tidy, figure.subplots(2, 1, sharex=True, height_ratios=[3, 1]))
    above.plot([0, 1], [0, 1], color=QUIET, linewidth=1, linestyle=(0, (2, 2)), label="_just so")
    handles = []
    for number, (name, found) in enumerate(drawn):
        colour, marker = mark_of(number)
        predicted, observed, counts = ([getattr(one, name) for one in found.bins] for name in PARTS_OF_BIN)
        said = f"{name_text(name)}: off by {found.error:.1%}"
        above.plot(predicted, observed, color=colour, linewidth=1, alpha=0.6, label=said)
        sizes = [SMALLEST_DOT + (LARGEST_DOT - SMALLEST_DOT) * count / most for count in counts]
        above.scatter(predicted, observed, sizes, color=colour, marker=marker, zorder=3)
        below.plot(predicted, counts, color=colour, marker=marker, markersize=4, linewidth=1, label=said)
        handles.append(Line2D([], [], color=colour, marker=marker, linewidth=1, label=said))
    below.set_yscale("log")  # most predictions are sure, and the few others are what the dots in the middle are of
    below.set_ylim(0.8, 2 * most)
    below.set_xlim(-0.02, 1.02)
    above.set_ylim(-0.02, 1.02)
    below.minorticks_off()
    in_percent(above.yaxis)
    in_percent(below.xaxis)
    below.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False, fontsize=SMALL)
    name_axes(above, None, "share that is so")
    name_axes(below, "probability that was said", "predictions")
    entitle(above, "calibration, with the mean error")
    return finished(figure, "Calibration of " + ", ".join(f"{name}, off by {one.error:.1%}" for name, one in drawn))


def calibrations(results: Any) -> list[tuple[str, Any]]:
    """Return each result with its name."""
    several = getattr(results, "contenders", results)
    if hasattr(several, "calibration"):
        several = [several]
    if not isinstance(several, Sequence) or not all(hasattr(one, "calibration") for one in several):
        raise DataError(f"this plot needs validations or a comparison, not a {type(results).__name__}")
    named = [(str(one.name), one.calibration) for one in several]
    found = [(name, one) for name, one in named if one is not None]
    if not found or (several is results and len(found) < len(named)):
        without = next((name for name, one in named if one is None), "nothing")
        raise DataError(f"calibration needs probabilities, and {without} has none")
    return found
