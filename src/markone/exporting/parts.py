"""The parts of a document: how columns become features, and the weights of these."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.dates import STYLES
from markone.data.strings import Strings
from markone.errors import DataError
from markone.features.categories import Categories
from markone.features.conjunctions import Conjunctions
from markone.features.curves import SIDE, Curves
from markone.features.derived import pieces_of
from markone.features.documents import Documents, count, log_words, presence
from markone.features.map import FeatureMap, feature_name
from markone.features.ngrams import Ngrams
from markone.features.numbers import Numbers
from markone.features.part import Part
from markone.features.precomputed import Given
from markone.features.sets import Sets

DocumentPart = dict[str, Any]
Weights = NDArray[Any]
VERSION_OF_UNICODE = "14.0.0"


class ExportError(DataError):
    """A feature cannot be exported."""

    def __init__(self, feature: str, problem: str) -> None:
        super().__init__(f"the model cannot be exported, because the feature {feature!r} {problem}")
        self.args = (feature, problem)
        self.feature = feature


class Numbered:
    """The names and the weights of a part, by the number of the feature within the part."""

    def __init__(self, part: Part, weights: Weights) -> None:
        self.names = [] if isinstance(part, Ngrams) else part.names()
        self.weights = weights

    def of(self, number: int) -> dict[str, Any]:
        return {"name": feature_name(self.names[number]), "weights": plain_numbers(self.weights[number])}


def plain_numbers(numbers: NDArray[Any]) -> list[float]:
    """Return numbers as floats with the fewest digits. Those of 32-bit floats have to be rounded to 32 bits again."""
    if numbers.dtype == np.float32:
        return [float(text) for text in map(str, numbers)]
    return [float(number) for number in numbers]


def parts_of(features: FeatureMap, weights: Weights, once: NDArray[np.bool_]) -> list[DocumentPart]:
    """Return the parts of the features, with their weights. `once` says for which features any value that is not 0
    counts as 1."""
    dates = [column for column in features.columns if column.kind in STYLES]
    made = {f"{date.name}.{piece.word}": (date.name, piece.word) for date in dates for piece in pieces_of(date)}
    found: list[DocumentPart] = []
    for part, (begin, end) in zip(features.parts, pairwise(features.starts.tolist()), strict=True):
        if begin == end:
            continue
        describe = DESCRIBED.get(type(part))
        if describe is None:
            raise ExportError(part.name(0), f"is of a kind that no export has ({type(part).__name__.lower()})")
        own = Numbered(part, weights[begin:end])
        for one in describe(part, own):
            one["presence"] = bool(once[begin:end].any())
            for column in columns_of(one):
                if column["column"] in made:
                    column["date"], column["piece"] = made[column["column"]]
            found.append(one)
    return found


def columns_of(part: DocumentPart) -> list[dict[str, Any]]:
    """The columns that a part of a document uses, with what it says about them."""
    return [*part["columns"], *part.get("axes", []), *part.get("factors", [])]


def first_name(part: DocumentPart) -> str:
    """The name of the first feature of a part of a document."""
    first = part["features"][0]
    return str(part["prefix"] + first[0] if isinstance(first, list) else first["name"])


def places_on(axis: Mapping[str, Any]) -> int:
    """The number of places on an axis."""
    if "cuts" in axis:
        return len(axis["cuts"]) + 1
    return int(max(axis["missing"], axis["other"], len(axis["values"]) - 1)) + 1


def cell_of(places: Sequence[int], sizes: Sequence[int]) -> int:
    """The number of a cell among all cells, from its places on the axes.

    >>> cell_of([1, 2], [3, 4])
    6
    """
    cell = 0
    for place, size in zip(places, sizes, strict=True):
        cell = cell * size + place
    return cell


# ---- numbers


def scaled(numbers: Numbers, i: int) -> dict[str, Any]:
    """How a number is scaled: minus the center, divided by the spread; a spread of null makes it 0."""
    spread = float(numbers.spread[i])
    return {
        "column": numbers.columns[i].name,
        "center": float(numbers.center[i]),
        "spread": spread if np.isfinite(spread) else None,
        "fill": None if numbers.settings[i].missing == "error" else float(numbers.fill[i]),
    }


def of_numbers(part: Numbers, own: Numbered) -> Iterator[DocumentPart]:
    columns = [scaled(part, i) for i in range(len(part.columns))]
    features = [{**own.of(i), "number": i} for i in range(len(columns))]
    features += [{**own.of(len(columns) + i), "missing": int(column)} for i, column in enumerate(part.indicators)]
    for column, begin, end, _ in part.products:
        features += [{**own.of(len(features) + i), "product": [column, begin + i]} for i in range(end - begin)]
    yield {"part": "numbers", "dense": True, "columns": columns, "features": features}


# ---- cells: categories, intervals, and what is made of several of them


def category_axis(part: Categories, i: int, most: int | None = None) -> dict[str, Any]:
    """The place of each category of a column, and those of missing and of other values. Beyond `most` places, all
    others have the last one."""
    values, width = part.kept[i], part.widths[i]
    missing, other = part.place_of[i][None], width - 1
    if most is not None and width > most:
        values, missing, other = values[: most - 1], min(missing, most - 1), most - 1
    return {"column": part.columns[i].name, "values": [*values], "missing": missing, "other": other}


def cells(axes: list[Any], places: Any, own: Numbered, start: int, factors: Any = (), *, dense: bool = False) -> Any:
    features = [{**own.of(start + i), "at": list(place)} for i, place in enumerate(places)]
    named = {"columns": [], "axes": axes, "factors": list(factors)}
    return {"part": "cells", "dense": dense, **named, "features": features}


def of_categories(part: Categories, own: Numbered) -> Iterator[DocumentPart]:
    for i, (begin, end) in enumerate(pairwise(part.begins)):
        yield cells([category_axis(part, i)], [(place,) for place in range(end - begin)], own, begin)


def of_curves(part: Curves, own: Numbered) -> Iterator[DocumentPart]:
    for begin, column in zip(part.begins, part.curves, strict=False):
        yield cells([number_axis(part, column)], [(place,) for place in range(part.parts(column))], own, begin)
    for begin, pair in zip(part.begins[len(part.curves) :], part.pairs, strict=False):
        sides = part.side(pair.first), part.side(pair.second)
        axes = [side_axis(part, column) for column in (pair.first, pair.second)]
        yield cells(axes, [*np.ndindex(*sides)], own, begin)


def number_axis(part: Curves, column: int) -> dict[str, Any]:
    """The interval of a number is the number of cuts that are not above it. A missing number has none."""
    return {"column": part.columns[column].name, "cuts": part.cuts[column].tolist()}


def side_axis(part: Curves, column: int) -> dict[str, Any]:
    own = column - len(part.numbers.columns)
    if own >= 0:
        return category_axis(part.categories, own, SIDE)
    coarse = part.coarse(column, np.arange(part.parts(column)))
    return {**number_axis(part, column), "cuts": part.cuts[column][np.flatnonzero(np.diff(coarse))].tolist()}


def of_conjunctions(part: Conjunctions, own: Numbered) -> Iterator[DocumentPart]:
    dense = all(one is None for one in part.combinations)
    for begin, one, multiplied in zip(part.begins, part.combinations, part.multiplied, strict=False):
        factors = [scaled(part.numbers, i) for i in multiplied]
        if one is None:
            yield cells([], [()], own, begin, factors, dense=dense)
        elif len(one.features):
            axes = [category_axis(part.categories, i) for i in one.columns]
            places = np.stack(one.unpack(one.features), axis=1).tolist()
            yield cells(axes, places, own, begin, factors, dense=dense)


# ---- sets and given features


def of_sets(part: Sets, own: Numbered) -> Iterator[DocumentPart]:
    features = [{**own.of(i), "item": item} for i, item in enumerate(part.kept)]
    if part.has_missing:
        features.append({**own.of(len(features)), "missing": True})
    yield {"part": "set", "dense": False, "columns": [{"column": part.column.name}], "features": features}


def of_given(part: Given, own: Numbered) -> Iterator[DocumentPart]:
    features = []
    for i, spread in enumerate(part.spread.tolist()):
        center = float(part.center[i]) if part.dense else 0.0
        features.append({**own.of(i), "center": center, "spread": spread if np.isfinite(spread) else None})
    columns = [{"column": part.column.name}]
    yield {"part": "given", "dense": bool(part.dense), "columns": columns, "features": features}


# ---- texts


def of_ngrams(part: Ngrams, own: Numbered) -> Iterator[DocumentPart]:
    """Each n-gram is a list: the n-gram, its factor if there are factors, and its weights."""
    vocabulary, settings, places = part.vocabulary, part.settings, part.places()
    if isinstance(vocabulary, _core.NgramVocabulary):
        names, shared = Strings.of_core(*vocabulary.names()), None
    else:
        offsets, data, sharing = part.owners()
        names, shared = Strings.of_core(offsets, data), np.flatnonzero(sharing).tolist()
    weights = own.weights[places]
    columns: list[list[Any]] = [names.tolist("surrogatepass")]
    if part.weights is not None:
        columns.append(plain_numbers(part.weights[places]))
    columns += [plain_numbers(weights[:, k]) for k in range(weights.shape[1])]
    everything = part.choice == "all"
    tokens = {
        "fold": settings.case == "fold",
        "signs": settings.signs and everything,
        "unspaced": settings.unspaced == "characters",
        "emoji": settings.emoji == "whole",
        "negation": settings.negation and everything and not part.within_words,
        "choice": part.choice,
        "runs": [*part.lengths] if part.characters else None,
        "within_words": part.within_words,
    }
    yield {
        "part": "ngrams",
        "dense": False,
        "columns": [{"column": part.column}],
        "prefix": part.prefix,
        "tokens": tokens,
        "lengths": [1, 1] if part.characters else [*part.lengths],
        "value": part.value.name,
        "weighted": part.weights is not None,
        "hash_bits": settings.hash_bits,
        "shared": shared,
        "features": [*map(list, zip(*columns, strict=True))],
    }


def of_documents(part: Documents, own: Numbered) -> Iterator[DocumentPart]:
    values: dict[Any, str] = {count: "count", presence: "presence", log_words: "log-words"}
    features = [
        {**own.of(i), "entries": part.entries_of(feature), "value": values[feature.value]}
        for i, feature in enumerate(part.features)
    ]
    yield {
        "part": "document",
        "dense": True,
        "columns": [{"column": part.column}],
        "tokens": {
            "fold": True,
            "signs": True,
            "negation": False,
            "choice": "all",
            "runs": None,
            "within_words": False,
            "unspaced": part.settings.unspaced == "characters",
            "emoji": part.settings.emoji == "whole",
        },
        "features": features,
    }


def characters_of() -> dict[str, Any]:
    """Return what the tokenizer knows of characters: flat lists of the first and last characters of ranges, and the
    foldings, each a character and the three that stand for it, 0 for none."""
    return {"unicode": VERSION_OF_UNICODE, **{name: table.tolist() for name, table in _core.unicode_tables().items()}}


DESCRIBED: dict[type[Part], Callable[[Any, Numbered], Iterator[DocumentPart]]] = {
    Numbers: of_numbers,
    Categories: of_categories,
    Conjunctions: of_conjunctions,
    Curves: of_curves,
    Sets: of_sets,
    Given: of_given,
    Ngrams: of_ngrams,
    Documents: of_documents,
}
"""How each kind of part is described; others cannot be exported."""
