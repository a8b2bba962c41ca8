"""The document of a model: everything that its predictions need, as facts, texts and numbers of JSON.

The page on exporting describes the document. All targets are written from it, and nothing else of the model is used.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from markone.data.dates import STYLES
from markone.errors import DataError, SettingsError
from markone.exporting.parts import ExportError, characters_of, parts_of, plain_numbers
from markone.features.derived import SAME
from markone.features.event_kinds import numbers_of

if TYPE_CHECKING:
    from markone.model.model import Model

FORMAT, VERSION = "markone-export", 1
Document = dict[str, Any]

FAMILIES = ("online", "optimum", "svm", "naive-bayes", "regression")
"""The families of rules whose scores can be sums over features."""


def document_of(model: Model) -> Document:
    """Return the document of a model. A model whose scores are no sums, and a feature that cannot be described, are
    errors."""
    rule = model.settings.rule
    if model.settings.traits.family not in FAMILIES or model.scorer.kind not in WEIGHTS:
        raise SettingsError("rule", f"is {rule!r}; only models whose score is a sum over features can be exported")
    if model.several is not None:
        raise DataError(
            "a model of several labels cannot be exported; export each label: model.of_label(label).export(...)"
        )
    weights, bias, once = WEIGHTS[model.scorer.kind](model)
    labels = [plain_label(label) for label in model.classes]
    parts = parts_of(model.features, weights, once)
    dense = all(part["dense"] for part in parts)
    one = weights.shape[1] == 1
    document: Document = {
        "format": FORMAT,
        "version": VERSION,
        "rule": rule,
        "target": model.target,
        "classes": labels,
        "columns": [column_facts(column.name, column.kind) for column in model.features.columns],
        "decision": decision_of(model, narrow=weights.dtype == np.float32),
        "probabilities": probabilities_of(model),
        "bits": 32 if weights.dtype == np.float32 else 64,
        "unit": model.features.unit,
        "zeros": dense and one,
        "lanes": (32 if dense and weights.shape[0] >= 64 else 8) if one else 2,
        "bias": plain_numbers(bias),
        "parts": parts,
    }
    if any("tokens" in part for part in parts):
        document["characters"] = characters_of()
    return document


def as_table(document: Document) -> Document:
    """Return the document of a model of given rows as one of a table, whose columns are the features; for others, the
    document itself."""
    if [column["kind"] for column in document["columns"]] != ["rows"]:
        return document
    [part] = document["parts"]
    names = [feature["name"] for feature in part["features"]]
    columns = [
        {"column": feature["name"], "center": feature["center"], "spread": feature["spread"], "fill": 0.0}
        for feature in part["features"]
    ]
    features = [
        {"name": feature["name"], "weights": feature["weights"], "number": i}
        for i, feature in enumerate(part["features"])
    ]
    table = {**part, "part": "numbers", "columns": columns, "features": features}
    return {**document, "columns": [{"name": name, "kind": "numeric"} for name in names], "parts": [table]}


def column_facts(name: str, kind: str) -> dict[str, Any]:
    if kind in STYLES:
        return {"name": name, "kind": "datetime" if STYLES[kind].has_time else "date"}
    return {"name": name, "kind": SAME.get(kind, kind)}


def plain_label(label: Any) -> Any:
    """Return a label as a value of JSON."""
    found = label.item() if isinstance(label, np.generic) else label
    if isinstance(found, bool | str | int) or (isinstance(found, float) and math.isfinite(found)):
        return found
    raise DataError(f"the label {label!r} is neither a text nor a number, so no file can contain it")


def decision_of(model: Model, *, narrow: bool) -> dict[str, Any]:
    """Return how a label follows from scores. A threshold is compared in the precision of the scores."""
    threshold = None if model.threshold is None else model.threshold.score
    if threshold is not None and narrow:
        threshold = float(np.float32(threshold))
    return {
        "tie": "second" if model.settings.tie == "positive" else "first",
        "threshold": threshold,
        "margin": None if model.abstention is None else model.abstention.margin,
    }


def probabilities_of(model: Model) -> dict[str, Any] | None:
    """Return the slopes and knots by which scores become log-odds; None if the model has no probabilities."""
    if model.predicts_numbers or not model.has_probabilities:
        return None
    if model.calibrator is None:
        return {"slopes": [1.0], "knots": [], "heights": [], "offsets": [], "lead": 0.0}
    knots = model.calibrator.knots
    heights = model.calibrator.log_odds(np.array(knots)).tolist() if knots else []
    return {
        "slopes": [*model.calibrator.slopes],
        "knots": [*knots],
        "heights": heights,
        "offsets": [*model.calibrator.offsets],
        "lead": model.calibrator.lead,
    }


# ---- weights


def linear_weights(model: Model) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    weights, bias = model.weight_arrays()
    return weights, bias, np.zeros(len(weights), np.bool_)


def bayes_weights(model: Model) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    """The logarithms of naive Bayes as weights, and its priors as the bias."""
    scorer: Any = model.scorer
    name = model.features.name
    used, groups = scorer.used(), scorer.events.groups
    for number in numbers_of(groups).tolist():
        if used[number]:
            raise ExportError(name(number), "is a measurement, whose log-density is not a product with a weight")
    logs, impossible = scorer.tables.of(np.arange(scorer.features, dtype=np.uint32))
    log_priors, bases, never = scorer.tables.starts()
    if impossible.any() or never.any() or not np.isfinite(log_priors).all():
        number = int(np.argmax((impossible != 0).any(axis=1)))
        raise ExportError(name(number), "has a probability of 0 in some class; train with a smoothing `k` above 0")
    once = np.zeros(scorer.features, np.bool_)
    for group in groups:
        once[group.start : group.end] = group.kind in ("bernoulli", "categorical")
    start = log_priors + bases
    bias = start[1:] - start[:1] if scorer.classes == 2 else start
    return np.asarray(logs, np.float64), np.asarray(bias, np.float64), once


WEIGHTS = {"linear": linear_weights, "naive-bayes": bayes_weights}
"""By the kind of the scorer: its weights, its bias, and for which features any value that is not 0 counts as 1."""
