"""Runs of the core for the page: what the page asks for is checked, and the answer has the form of the page's steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.kinds import written
from markone.errors import DataError, SettingsError
from markone.features.map import BIAS
from markone.learning.training import train
from markone.model.history import Stop
from markone.play.shown import MOST_CLASSES, MOST_POINTS, Shown
from markone.theory.tracing import trace

MOST_STEPS = 6000
MOST_FEATURES = 20_000
PASSES_ON_ALL = 20
RULES = ("perceptron", "mira", "logistic", "hinge")
STOPS: dict[Stop | None, str] = {"converged": "converged", "epochs": "passes", None: "steps"}
PRODUCTS = {"x1": (0,), "x2": (1,), "x11": (0, 0), "x22": (1, 1), "x12": (0, 1)}
"""The features of the patchboard, as products of the two coordinates."""


def settings_of(asked: Any, bias: Any) -> dict[str, Any]:
    """The settings of the core that the page's settings mean."""
    given = need(asked, dict, "settings")
    rule = given.get("rule")
    if rule not in RULES:
        raise SettingsError("rule", f"must be one of {', '.join(RULES)} for the core, not {rule!r:.40}")
    settings = {name: given.get(name) for name in ("rule", "tie", "order", "seed")}
    settings |= {"epochs": given.get("passes"), "bias": need(bias, bool, "bias")}
    settings |= {"C": given.get("C")} if rule == "mira" else {"eta": given.get("eta")}
    if rule == "logistic":
        settings |= {"solver": "online", "schedule": "constant"}
    if rule in ("perceptron", "mira") and given.get("form", "label") != "label":
        settings["form"] = given["form"]
    if rule == "mira" and given.get("update", "margin") != "margin":
        settings["update"] = given["update"]
    return settings


def traced(asked: Any) -> dict[str, Any]:
    """Make a run on the rows that the page sends, and return its steps.

    Changed weights are numbered as in the page: class by class, the features in their order, and the bias last.
    """
    asked = need(asked, dict, "the request")
    settings = settings_of(asked.get("settings"), asked.get("bias"))
    width = len(need(asked.get("names"), list, "names"))
    classes = need(asked.get("classes"), int, "classes")
    matrix, labels = matrix_of(need(asked.get("rows"), list, "rows"), width)
    if not 2 <= classes <= MOST_CLASSES or sorted(set(labels)) != list(range(classes)):
        raise DataError(f"there must be 2 to {MOST_CLASSES} classes, and each must have rows")
    run = trace(matrix, labels, steps=MOST_STEPS, **settings)
    size = width + bool(settings["bias"])
    # Features that are always 0 have no weights, and sparse ones are numbered in another order: names tell them apart.
    place = {BIAS: width, **{column_name(i): i for i in range(width)}}
    steps = []
    for step in run:
        scores = [0.0, *step.scores.values()] if classes == 2 else list(step.scores.values())
        steps.append(
            {
                "pass": step.epoch,
                "row": step.rows[0],
                "scores": scores,
                "said": step.predicted,
                "wrong": step.mistakes > 0,
                "at": [(one.column + (classes == 2)) * size + place[one.feature] for one in step.changes],
                "after": [one.after for one in step.changes],
            }
        )
    return {"steps": steps, "stopped": STOPS[run.stopped]}


def trained_on_all(shown: Shown, asked: Any) -> dict[str, Any]:
    """Train on all rows of the file with the page's features, and return the weights and their accuracy."""
    asked = need(asked, dict, "the request")
    columns = need(asked.get("columns"), dict, "columns")
    coordinates = [shown.along(str(columns.get(axis))) for axis in ("x", "y")]
    features = need(asked.get("features"), list, "features")
    if not features or not all(name in PRODUCTS for name in features):
        raise SettingsError("features", f"must be some of {', '.join(PRODUCTS)}")
    matrix = np.column_stack([np.prod([coordinates[i] for i in PRODUCTS[name]], axis=0) for name in features])
    settings = settings_of(asked.get("settings"), asked.get("bias"))
    settings["epochs"] = min(PASSES_ON_ALL, int(settings["epochs"]))
    truth = shown.sample.truth
    model = train(matrix, target=[written(int(y)) for y in truth.tolist()], holdout=0, average=False, **settings)
    weights = model.scorer.weights
    assert weights is not None
    learned = weights.matrix()
    numbers = np.zeros((max(2, learned.shape[1]), len(features) + bool(settings["bias"])))
    columns_by_name = {column_name(i): i for i in range(len(features))}
    moving = numbers[-learned.shape[1] :]
    for i, name in enumerate(model.features.names()):
        moving[:, columns_by_name[name]] = learned[i]
    if settings["bias"]:
        moving[:, -1] = weights.bias()
    right = model.predict(matrix) == np.array([written(int(y)) for y in truth.tolist()])
    return {
        "rows": len(truth),
        "accuracy": float(np.mean(right)),
        "numbers": numbers.ravel().tolist(),
    }


def matrix_of(rows: list[Any], width: int) -> tuple[Any, list[int]]:
    """The rows as an array or, if there are many features, as a sparse matrix; and the numbers of their classes."""
    if not 1 <= len(rows) <= MOST_POINTS:
        raise DataError(f"there must be 1 to {MOST_POINTS:,} rows, not {len(rows):,}")
    if not 1 <= width <= MOST_FEATURES:
        raise DataError(f"there must be 1 to {MOST_FEATURES:,} features, not {width:,}")
    labels, places, values, ends = [], [], [], [0]
    for row in rows:
        row = need(row, dict, "a row")
        at, value = need(row.get("at"), list, "at"), need(row.get("value"), list, "value")
        if len(at) != len(value) or not all(type(i) is int and 0 <= i < width for i in at) or len({*at}) < len(at):
            raise DataError("the features of a row must be different numbers of features, each with a value")
        places += at
        values += [float(need(one, (int, float), "a value")) for one in value]
        ends.append(len(places))
        labels.append(need(row.get("y"), int, "y"))
    numbers: NDArray[np.float64] = np.array(values, np.float64)
    if width > 64:
        import scipy.sparse

        return scipy.sparse.csr_array((numbers, places, ends), shape=(len(rows), width)), labels
    dense = np.zeros((len(rows), width))
    dense[np.repeat(np.arange(len(rows)), np.diff(ends)), places] = numbers
    return dense, labels


def column_name(i: int) -> str:
    """The name that Markone gives to a column of a matrix."""
    return f"x{i}"


def need(value: Any, kind: type | tuple[type, ...], name: str) -> Any:
    """The value, if it is of this kind."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise DataError(f"{name} is missing or has the wrong type")
    return value


def as_mapping(query: Mapping[str, list[str]]) -> dict[str, str]:
    """The last value of each of the axes in a query."""
    return {name: query[name][-1] for name in ("x", "y") if name in query}
