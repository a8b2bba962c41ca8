"""The file of a model: which parts are written, and how a model is restored from a file and checked."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from markone.data.options import MAKE, Options
from markone.data.source import Label
from markone.errors import DataError, LimitError, ModelFileError, SettingsError
from markone.features.map import FeatureMap
from markone.features.spec import Function
from markone.model.bounds import MOST_POINTS, Bounds
from markone.model.calibrator import Calibrator
from markone.model.counts import Counts
from markone.model.decisions import Abstention, Threshold
from markone.model.history import REASONS, History, Pass
from markone.model.rules import SOLVERS
from markone.model.scorer import LinearScorer, Scorer, need
from markone.model.scorers import scorer_kinds
from markone.model.settings import Settings
from markone.model.several_labels import SeveralLabels
from markone.storage.container import Path
from markone.storage.saved import Saved

if TYPE_CHECKING:
    from markone.model.model import Model

KIND = "classifier"
OPENED_BY = {"tagger": "Tagger", "parser": "Parser", "structured": "StructuredPerceptron"}
"""The classes that open files of other kinds."""
FACTS = {"kind", "settings", "classes", "history", "target", "reading", "features", "counts", "resume"}
ADDED = {"scorer", "calibrator", "threshold", "abstention", "several"}
"""Facts that older files do not have: they only have linear models, without probabilities from held-out rows."""
PARTS = ("features", "counts", "resume", *sorted(ADDED))
LATER_SETTINGS = {"quantile": None, "partitions": 1, "mixing": None}
"""Settings that older files do not have. They are left out if they have these defaults, so that the same training makes
the same file as before."""
ADDED_TO_PASSES = ("objective", "gap")
ADDED_TO_HISTORY = ("bounds",)
Arrays = dict[str, NDArray[Any]]
TINY, HUGE = math.ulp(0.0), sys.float_info.max
BOUNDS_BETWEEN: dict[str, tuple[float, float]] = {
    "mistakes": (0, 2**53),
    "stride": (1, 2**53),
    "radius2": (0, HUGE),
    "least": (0, HUGE),
    "given": (TINY, HUGE),
    "found": (TINY, HUGE),
}
"""The ranges of the numbers in `Bounds`."""
NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
"""Numbers that JSON cannot represent are written as strings."""


@contextmanager
def making(what: str, path: Path) -> Iterator[None]:
    """Add the name of the file to errors that occur while it is loaded."""
    try:
        yield
    except DataError as error:
        raise ModelFileError((f"cannot load the {what} {path}: ", error), file=str(path)) from error
    except MemoryError as error:
        raise LimitError(f"cannot load the {what} {path}: there is not enough memory", file=str(path)) from error


def to_saved(model: Model, *, final: bool = False) -> Saved:
    """Return the contents of the file; `final` leaves out what prediction and explanation do not need."""
    features, scorer, counts = model.features, model.scorer, model.counts
    if final:
        features = features.copy()
        kept = features.prune(scorer.used())
        scorer, counts = scorer.prune(kept), None if counts is None else counts.renumbered(kept)
    saved = scorer.save()
    linear = scorer.kind == LinearScorer.kind  # its arrays do not have a prefix
    parts = {
        "features": features.save(),
        "counts": None if counts is None else counts.save(),
        "resume": None if final else model.resume,
        "scorer": None if linear else Saved({"kind": scorer.kind, **saved.facts}, saved.arrays),
    }
    own: dict[str, Any] = {"calibrator": model.calibrator, "threshold": model.threshold}
    own |= {"abstention": model.abstention, "several": model.several}
    parts |= {name: part.save() for name, part in own.items() if part is not None}
    facts = {
        "kind": KIND,
        "settings": {
            name: in_json(value)
            for name, value in asdict(model.settings).items()
            if name not in LATER_SETTINGS or value != LATER_SETTINGS[name]
        },
        "classes": model.classes,
        "history": history_in_json(model.history),
        "target": model.target,
        "reading": model.reading,
        **{name: None if part is None else part.facts for name, part in parts.items()},
    }
    arrays = dict(saved.arrays) if linear else {}
    for name, part in parts.items():
        if part is not None:
            arrays.update({f"{name}.{key}": array for key, array in part.arrays.items()})
    return Saved(facts, arrays)


def parts_of(saved: Saved, functions: Mapping[str, Function] | None = None) -> dict[str, Any]:
    """Return the checked arguments of `Model`."""
    facts = saved.facts
    if facts.get("kind") != KIND:
        kind = str(facts.get("kind"))
        known = f"markone.{OPENED_BY[kind]}.load opens it" if kind in OPENED_BY else "a newer Markone may open it"
        raise DataError(f"it contains {facts.get('kind')!r:.50} instead of a classifier; {known}")
    check_keys({**dict.fromkeys(ADDED), **facts}, FACTS | ADDED, "the model")
    parts, weights = divide(saved)
    settings, history = settings_of(facts["settings"]), history_of(facts)
    several = parts["several"] is not None
    classes = classes_of(facts["classes"], settings, 1 if several else 2)
    need(facts["target"] is None or isinstance(facts["target"], str), "the name of the target is not a string")
    if parts["features"] is None:
        raise DataError("it has no features")
    columns = len(classes) if several or len(classes) > 2 else 1  # a regression has one score, too
    scorer = scorer_of(parts["scorer"], weights, settings, len(classes) or 2, columns)
    return {
        "features": FeatureMap.load(parts["features"], scorer.features, functions),
        "classes": classes,
        "scorer": scorer,
        "settings": settings,
        "history": history,
        "target": facts["target"],
        "reading": reading_of(facts["reading"]),
        "counts": None if parts["counts"] is None else Counts.load(parts["counts"], scorer.features, len(classes)),
        "resume": parts["resume"],
        "calibrator": None if parts["calibrator"] is None else Calibrator.load(parts["calibrator"], len(classes)),
        "threshold": None if parts["threshold"] is None else Threshold.load(parts["threshold"], len(classes)),
        "abstention": None if parts["abstention"] is None else Abstention.load(parts["abstention"]),
        "several": None if parts["several"] is None else SeveralLabels.load(parts["several"], len(classes)),
    }


def scorer_of(saved: Saved | None, weights: Arrays, settings: Settings, classes: int, columns: int) -> Scorer:
    """Return the scorer: weights, or the scorer of another family of rules."""
    kinds = scorer_kinds()
    if saved is None:
        check_keys(weights, {"weights", "bias"}, "its arrays")
        return LinearScorer.load(Saved({}, weights), classes, settings.traits.has_probabilities, columns)
    check_keys(weights, set(), "its arrays")
    facts = dict(saved.facts)
    kind = facts.pop("kind", None)
    if not isinstance(kind, str) or kind not in kinds:
        raise DataError(f"it has the unknown scorer {kind!r:.50}; a newer Markone may open it")
    return kinds[kind].load(Saved(facts, saved.arrays), classes, settings.traits.has_probabilities)


def divide(saved: Saved) -> tuple[dict[str, Saved | None], Arrays]:
    """Return the facts and arrays of each part of the model, or None for a missing part, and all other arrays."""
    arrays: dict[str, Arrays] = {part: {} for part in PARTS}
    alone: Arrays = {}
    for name, array in saved.arrays.items():
        part, dot, key = name.partition(".")
        if dot and part in arrays:
            arrays[part][key] = array
        else:
            alone[name] = array
    parts: dict[str, Saved | None] = {}
    for part in arrays:
        facts = saved.facts.get(part)
        need(isinstance(facts, dict) or (facts is None and not arrays[part]), f"its part {part!r} is not an object")
        parts[part] = None if facts is None else Saved(facts, arrays[part])
    return parts, alone


# ---- checked values from JSON


def check_keys(found: Mapping[str, Any], known: set[str], where: str, optional: bool = False) -> None:
    for name in sorted(known - set(found)) if not optional else ():
        raise DataError(f"{where}: {name!r} is missing")
    for name in sorted(set(found) - known):
        raise DataError(f"{where}: {name!r:.50} is unknown")


def in_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: in_json(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [in_json(one) for one in value]
    return str(float(value)) if isinstance(value, float) and not math.isfinite(value) else value


def from_json(value: Any) -> Any:
    return NOT_FINITE.get(value, value) if isinstance(value, str) else value


def settings_of(found: Any) -> Settings:
    need(isinstance(found, dict), "its settings are not an object")
    check_keys(found, {field.name for field in fields(Settings)}, "its settings", optional=True)
    if found.get("rule") in tuple(SOLVERS):  # older files have no solver, because there was only 'online'
        found = {**found, "solver": found.get("solver") or "online"}
    if found.get("solver") == "ascent":  # in older files, which do not say it, the gradient is the mean
        found = {"gradient": "mean", **found}
    try:
        return Settings(**{name: from_json(value) for name, value in found.items()})
    except SettingsError as error:
        raise DataError(f"in its settings, {error}") from None


def reading_of(found: Any) -> dict[str, Any]:
    """Return the options for reading data. An unknown encoding is only noticed when it is used."""
    need(isinstance(found, dict), "its options for reading data are not an object")
    check_keys(found, {"format", *MAKE}, "its options for reading data", optional=True)
    need(isinstance(found.get("encoding", ""), str), "the encoding of its data is not a string")
    try:
        Options(**{name: value for name, value in found.items() if name != "encoding"})
    except SettingsError as error:
        raise DataError(f"in its options for reading data, {error}") from None
    return dict(found)


def classes_of(found: Any, settings: Settings, fewest: int = 2) -> list[Label]:
    if settings.traits.predicts_numbers:
        need(found == [], "it predicts numbers, but has classes")
        return []
    need(isinstance(found, list) and all(type(label) in (str, int, bool, float) for label in found), "it has no labels")
    need(len(found) >= fewest, "it has fewer than two classes" if fewest == 2 else "it has no labels")
    need(len({(type(label), label) for label in found}) == len(found), "a label occurs twice")
    return list(found)


def history_in_json(history: History) -> dict[str, Any]:
    return {
        **asdict(history),
        "passes": [row_of(one) for one in history],
        "bounds": None if history.bounds is None else in_json(asdict(history.bounds)),
    }


def history_of(facts: Mapping[str, Any]) -> History:
    found = facts["history"]
    need(isinstance(found, dict), "its history is not an object")
    found = {**dict.fromkeys(ADDED_TO_HISTORY), **found}
    check_keys(found, {field.name for field in fields(History)}, "its history")
    need(isinstance(found["passes"], list), "its passes are not a list")
    need(isinstance(found["stopped"], str) and found["stopped"] in REASONS, "it does not say why training ended")
    for field in fields(History):
        if field.name not in ("passes", "stopped", "bounds"):
            need(is_a(found[field.name], str(field.type)), f"its history has {field.name}={found[field.name]!r:.50}")
    bounds = None if found["bounds"] is None else bounds_of(found["bounds"])
    return History(**{**found, "passes": [pass_of(row) for row in found["passes"]], "bounds": bounds})


def bounds_of(found: Any) -> Bounds:
    kinds = {field.name: str(field.type) for field in fields(Bounds)}
    need(isinstance(found, dict), "its bounds are not an object")
    check_keys(found, set(kinds), "its bounds")
    values = {name: from_json(value) for name, value in found.items()}
    for name, value in values.items():
        if name == "bias":
            need(isinstance(value, bool), f"its bounds have {name}={value!r:.50}")
        elif name != "points":
            need(is_a(value, kinds[name]), f"its bounds have {name}={value!r:.50}")
    points = values["points"]
    need(isinstance(points, list) and len(points) <= MOST_POINTS, "the points of its bounds are not a short list")
    for name, (low, high) in BOUNDS_BETWEEN.items():
        good = values[name] is None or low <= values[name] <= high
        need(good, f"its bounds have {name}={values[name]!r:.50}")
    return Bounds(**{**values, "points": tuple(point_of(point) for point in points)})


def point_of(found: Any) -> tuple[int, float]:
    need(isinstance(found, list) and len(found) == 2, f"its bounds have the point {found!r:.50}")
    k, norm2 = found[0], from_json(found[1])
    need(is_a(k, "int") and is_a(norm2, "float"), f"its bounds have the point {found!r:.50}")
    return k, norm2


def row_of(one: Pass) -> dict[str, Any]:
    """Return a pass without its duration, so that the same training makes the same file."""
    return {name: in_json(value) for name, value in asdict(one).items() if name != "seconds"}


def pass_of(row: Any) -> Pass:
    kinds = {field.name: str(field.type) for field in fields(Pass)}
    need(isinstance(row, dict), "a pass of its history is not an object")
    row = {**dict.fromkeys(ADDED_TO_PASSES), **row}
    check_keys(row, set(kinds) - {"seconds"}, "a pass of its history")
    values = {name: from_json(value) for name, value in row.items()}
    for name, value in values.items():
        need(is_a(value, kinds[name]), f"a pass of its history has {name}={value!r:.50}")
    return Pass(**values, seconds=None)


def is_a(value: Any, kind: str) -> bool:
    """Return whether a value has the declared type of a field: `int`, `float`, or one of them `| None`."""
    if value is None:
        return kind.endswith("| None")
    if kind.startswith("float") and type(value) is float:
        return True
    return type(value) is int and 0 <= value < 2**63
