"""The feature map: all parts of a spec, fitted on a source. It turns batches into rows of named features."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.brief import Brief
from markone.data.blocks import Sparse
from markone.data.source import KINDS, Batch, Column, Source
from markone.errors import DataError, SettingsError, did_you_mean
from markone.features.categories import Categories
from markone.features.choices import choose
from markone.features.conjunctions import Conjunctions
from markone.features.curves import Curves
from markone.features.derived import made_columns, with_derived
from markone.features.documents import Documents
from markone.features.event_kinds import Event, Group
from markone.features.event_kinds import joined as joined_groups
from markone.features.examples import batches_of, is_one
from markone.features.functions import Functions
from markone.features.images import ImagePart, image_parts
from markone.features.moments import row_sums
from markone.features.ngrams import Ngrams
from markone.features.numbers import Numbers
from markone.features.part import Matrix, Neighbours, Part
from markone.features.precomputed import Given
from markone.features.sets import Sets
from markone.features.spec import AUTO, BEFORE, Features, Function, Text
from markone.parallel import in_order
from markone.reporting.grids import Grid
from markone.storage.saved import Contents, Saved, damaged, joined

BIAS = "BIAS"
SCALES = {
    "none": "used as they are",
    "standard": "scaled to mean 0 and standard deviation 1",
    "max-abs": "divided by the largest absolute value",
}
"""What happens to numbers, in words."""


class FeatureMap(Brief, Part):
    """The map from the columns of a source to features. It consists of parts, whose rows are put side by side."""

    def __init__(self, spec: Features, columns: tuple[Column, ...]) -> None:
        if not isinstance(spec, Features):
            raise SettingsError("spec", f"must be a Features; make one with Features.of({spec!r})")
        check_spec(spec, columns)
        self.spec = spec.settled(columns)
        self.columns = columns
        self.made = made_columns(columns)
        """The columns that the parts use, with pieces of dates instead of dates."""
        self.of_numbers = False
        """Whether the labels, while it is fitted, are numbers and not classes."""
        self.parts = parts_of(self.spec, columns)
        if not self.parts:
            raise DataError("there is no column to make features from")
        self.unit = any(isinstance(part, Ngrams) for part in self.parts) if spec.unit is None else spec.unit
        """Whether rows are scaled to length 1."""
        self._starts: NDArray[np.int64] | None = None

    def in_brief(self) -> str:
        names = ", ".join(column.name for column in self.columns)
        return f"{'not fitted' if self._starts is None else f'{self.width:,} features'} of {names}"

    def _repr_html_(self) -> str:
        rows = [[column.name, str(column.kind)] for column in self.columns]
        from markone.reporting.shown import fragment_of

        return fragment_of([f"Features: {self.in_brief()}", Grid([["column", "kind"]], rows, words=(0, 1))])

    def fit(self, source: Source, threads: int = 1) -> FeatureMap:
        """Fit the features on a source, which is read once."""
        for batch, collected in self.collected(source, threads):
            self.absorb(collected, batch.labels)
        self.finish()
        self.settle()
        return self

    def collected(self, source: Source, threads: int) -> Iterator[tuple[Batch, Any]]:
        """The batches of a source, each with the results of `collect`, which `absorb` needs."""
        if self._starts is not None:
            raise DataError("this feature map is already fitted; make another one")
        batches = self.choose(source)
        yield from in_order(lambda batch: (batch, self.collect(batch)), batches, threads)

    def choose(self, source: Source) -> Iterator[Batch]:
        """Choose the settings that depend on the first batches, and return all batches."""
        spec, batches = choose(self.spec, self.columns, iter(source.batches()))
        if spec is not self.spec:
            self.spec, self.parts = spec, parts_of(spec, self.columns)
        return batches

    # ---- as a part

    def collect(self, batch: Batch) -> list[Any]:
        batch = with_derived(batch, self.columns)
        return [part.collect(batch) for part in self.parts]

    def absorb(self, collected: list[Any], labels: NDArray[np.int32] | None) -> list[Any]:
        return [part.absorb(one, labels) for part, one in zip(self.parts, collected, strict=True)]

    @property
    def mergeable(self) -> bool:  # type: ignore[override]  # it depends on the parts
        return all(part.mergeable for part in self.parts)

    def absorbed(self) -> list[Any]:
        return [part.absorbed() for part in self.parts]

    def absorb_all(self, absorbed: list[Any]) -> None:
        for part, one in zip(self.parts, absorbed, strict=True):
            part.absorb_all(one)

    def counts_labels(self) -> bool:
        return any(part.counts_labels() for part in self.parts)

    def put_off_labels(self) -> None:
        for part in self.parts:
            part.put_off_labels()

    def with_labels(self, absorbed: list[Any], batches: Iterable[tuple[list[Any], NDArray[np.int32]]]) -> list[Any]:
        drafts = [*batches]
        return [
            part.with_labels(one, ((draft[i], labels) for draft, labels in drafts))
            for i, (part, one) in enumerate(zip(self.parts, absorbed, strict=True))
        ]

    def numbers_of(self, absorbed: list[Any]) -> list[Any]:
        return [part.numbers_of(one) for part, one in zip(self.parts, absorbed, strict=True)]

    def finish(self) -> None:
        for part in self.parts:
            if isinstance(part, Curves):
                part.of_numbers = self.of_numbers
            part.finish()
        self.count()
        if self.width == 0:
            raise DataError("the examples have no features at all: every text is empty, or everything was pruned")

    def count(self) -> None:
        """Number the features of all parts."""
        check_names(self.parts)
        self._starts = np.cumsum([0, *(part.width for part in self.parts)])

    def refines_at_once(self) -> bool:
        return all(part.refines_at_once() for part in self.parts)

    def held(self) -> int:
        return sum(part.held() for part in self.parts)

    def settle(self) -> None:
        for part in self.parts:
            part.settle()

    def refine(self, draft: list[Any]) -> Matrix:
        return self._joined([part.refine(one) for part, one in zip(self.parts, draft, strict=True)])

    def refine_with(self, draft: list[Any], numbers: list[Any]) -> Matrix:
        found = zip(self.parts, draft, numbers, strict=True)
        return self._joined([part.refine_with(one, some) for part, one, some in found])

    def transform(self, batch: Batch) -> Matrix:
        batch = with_derived(batch, self.columns)
        return self._joined([part.transform(batch) for part in self.parts])

    @property
    def width(self) -> int:
        return int(self.starts[-1])

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the features of each part start, and where those of the last part end."""
        return self._check_fitted()

    def name(self, number: int) -> str:
        if not 0 <= number < self.width:
            raise IndexError(f"there is no feature {number}; there are {self.width}")
        which = int(self.starts.searchsorted(number, side="right")) - 1
        return feature_name(self.parts[which].name(number - int(self.starts[which])))

    def names(self) -> list[str]:
        """The names of all features, by number."""
        self._check_fitted()
        names = [name for part in self.parts for name in part.names()]
        return list(map(feature_name, names)) if BIAS in names else names

    def groups(self, likelihood: Event | None = None) -> list[Group]:
        found = zip(self.starts[:-1].tolist(), self.parts, strict=True)
        return joined_groups([group.moved(start) for start, part in found for group in part.groups(likelihood)])

    def neighbours(self) -> list[Neighbours]:
        found = zip(self.starts[:-1].tolist(), self.parts, strict=True)
        return [one.moved(start) for start, part in found for one in part.neighbours()]

    def may_be_counted_otherwise(self) -> bool:
        """Whether setting a likelihood changes the kinds of events."""
        kinds: tuple[Event, ...] = ("multinomial", "bernoulli", "gaussian")
        return any(part.groups(kind) != part.groups() for part in self.parts for kind in kinds)

    # ---- after learning

    def save(self) -> Saved:
        """The spec, the columns and everything that was learned. Functions are stored by name only."""
        parts = {f"part{i}": part.save() for i, part in enumerate(self.parts)}
        facts = {
            "spec": self.spec.as_dict(full=True),
            "unit": self.unit,
            "columns": [[column.name, column.kind] for column in self.columns],
            "widths": np.diff(self.starts).tolist(),
        }
        return joined(parts, facts)

    @classmethod
    def load(cls, saved: Saved, width: int, functions: Mapping[str, Function] | None = None) -> FeatureMap:
        """Restore a saved feature map.

        The saved state is not trusted: anything that `save` would not write is a `DataError`, and no other file is ever
        opened. `width` is the number of features with weights: memory use is limited to a small multiple of the weights
        and the saved state. The functions that the spec names must be given again.
        """
        contents = Contents(saved)
        columns = columns_of(contents.fact("columns", list))
        spec = as_meant(contents.fact("spec", dict))
        check_saved_spec(spec)
        match_functions(spec.get("functions", []), functions)
        try:
            loaded = cls(Features.of(spec, functions), columns)
        except SettingsError as error:
            raise damaged(str(error)) from None
        except RecursionError:
            raise damaged("the spec is nested too deeply") from None
        if loaded.spec.as_dict(full=True) != spec:
            raise damaged("the spec has been changed")
        widths = contents.facts("widths", int, len(loaded.parts))
        if min(widths) < 0 or sum(widths) != width:
            raise damaged(f"there are weights for {width} features, but the feature map has {sum(widths)}")
        loaded.restore(saved, width)
        return loaded

    def take(self, contents: Contents) -> None:
        for name in ("spec", "columns"):  # already used for this map
            contents.fact(name, dict if name == "spec" else list)
        self.unit = contents.fact("unit", bool)
        widths = contents.facts("widths", int, len(self.parts))
        for i, (part, width) in enumerate(zip(self.parts, widths, strict=True)):
            part.restore(contents.saved(f"part{i}"), width)
        self.count()

    def become(self, fitted: FeatureMap) -> None:
        """Take over what a map of the same columns has learned elsewhere."""
        self.spec, self.parts, self.unit, self._starts = fitted.spec, fitted.parts, fitted.unit, fitted.starts

    def copy(self) -> FeatureMap:
        """A copy that can be extended or pruned without changing this map."""
        return copy(self)

    def extend(self, other: FeatureMap) -> NDArray[np.int64]:
        """Add the features of a map with the same spec, fitted on other data; return the old ones' new numbers.

        If this fails, the map stays unchanged.
        """
        other._check_fitted()
        if self.columns != other.columns or self.spec.as_dict() != other.spec.as_dict():
            raise DataError("features can only be added to those of the same spec and columns")
        extended = self._own_parts()
        numbers = [part.extend(more) for part, more in zip(extended.parts, other.parts, strict=True)]
        extended.count()
        self.parts, self._starts = extended.parts, extended.starts
        return np.concatenate([start + some for start, some in zip(self.starts[:-1], numbers, strict=True)])

    def prune(self, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Remove features that are not used; return which of the old ones stay.

        If rows are scaled to length 1, all features stay, because a feature of weight 0 contributes to the length.
        """
        if used.shape != (self.width,):
            raise DataError(f"used must have a value for each of the {self.width} features, not the shape {used.shape}")
        if self.unit:
            return np.ones(self.width, np.bool_)
        pruned = self._own_parts()
        each = np.split(used, self.starts[1:-1])
        stay = [part.prune(some) for part, some in zip(pruned.parts, each, strict=True)]
        pruned.count()
        self.parts, self._starts = pruned.parts, pruned.starts
        return np.concatenate(stay)

    def _own_parts(self) -> FeatureMap:
        """The same map with its own copies of the parts, which it can change."""
        own = FeatureMap(self.spec, self.columns)
        for part, mine in zip(own.parts, self.parts, strict=True):
            part.restore(mine.save(), mine.width)
        own.count()
        return own

    # ---- examples

    def batches(self, examples: Any) -> Iterator[Batch]:
        """The examples of a user as batches with the columns of this map."""
        return batches_of(examples, self.columns)

    def named(self, examples: Any) -> Any:
        """The features of each example that are not 0, by name; a single dict for one text or one dict."""
        found: list[dict[str, float]] = []
        for batch in self.batches(examples):
            matrix = self.transform(batch)
            sparse = matrix if isinstance(matrix, Sparse) else thin(matrix)
            for begin, end in pairwise(sparse.indptr.tolist()):
                numbers, values = sparse.indices[begin:end].tolist(), sparse.data[begin:end].tolist()
                found.append({self.name(i): value for i, value in zip(numbers, values, strict=True) if value != 0})
        return found[0] if is_one(examples, self.columns) else found

    def scales(self) -> dict[str, list[str]]:
        """The names of the numeric columns, by the scaling of their numbers."""
        found: dict[str, list[str]] = {}
        for column in self.made:
            if column.kind == "numeric":
                found.setdefault(self.spec.for_column(column).scale, []).append(column.name)
        return found

    def numbers_in_words(self) -> str | None:
        """What happens to numbers, as the end of a sentence that begins with "Numbers are"; None if there are none."""
        scales = self.scales()
        if not scales:
            return None
        most = max(scales, key=lambda scale: len(scales[scale]))
        others = "; ".join(f"{', '.join(names)}: {SCALES[one]}" for one, names in scales.items() if one != most)
        then = ", before rows are scaled to length 1" if self.unit else ""
        return f"{SCALES[most]}{f' ({others})' if others else ''}{then}"

    def check_scaled(self, scaled: bool) -> None:
        """Check that numbers are scaled, or are not, as a user wants."""
        scales = self.scales()
        if not scales:
            raise SettingsError("scaled", "is about numeric columns, but there are none; leave it out")
        if scaled and [*scales] == ["none"]:
            raise SettingsError("scaled", "is of no use, because the rule or the features say otherwise; leave it out")
        if not scaled and "none" not in scales:
            raise SettingsError("scaled", "is of no use, because the features scale all numbers; leave it out")

    def report(self) -> list[str]:
        """Remarks about the features, as sentences."""
        return [sentence for part in self.parts if isinstance(part, Ngrams) for sentence in part.report()]

    def shapes_in_words(self) -> list[str]:
        """The curves and pairs that were found, as sentences."""
        return [sentence for part in self.parts if isinstance(part, Curves) for sentence in part.report()]

    @property
    def is_fitted(self) -> bool:
        """Whether it has been fitted."""
        return self._starts is not None

    def _check_fitted(self) -> NDArray[np.int64]:
        if self._starts is None:
            raise DataError("this feature map is not fitted yet; call fit(source) first")
        return self._starts

    def _joined(self, matrices: list[Matrix]) -> Matrix:
        matrices = [matrix for matrix in matrices if matrix.shape[1]] or matrices[:1]
        matrix = matrices[0] if len(matrices) == 1 else beside(matrices)
        if not self.unit:
            return matrix
        given = any(isinstance(part, Given) for part in self.parts)  # whose rows may be those of the user
        return unit_length(matrix, own=len(matrices) > 1 or not given)


def parts_of(spec: Features, columns: tuple[Column, ...]) -> list[Part]:
    """One part for all numbers, one for all categories, and at least one for each other column."""
    settled = [(column, spec.for_column(column)) for column in made_columns(columns)]
    numbers = [(column, how) for column, how in settled if column.kind in ("numeric", "boolean")]
    categories = [(column, how) for column, how in settled if column.kind == "categorical"]
    parts: list[Part] = []
    if numbers:
        parts.append(Numbers(numbers, spec.degree))
    if categories:
        parts.append(Categories(categories))
    if spec.conjunctions:
        parts.append(Conjunctions(spec.conjunctions, settled))
    if any(how.curves for _, how in numbers) or (spec.pairs and len(numbers) + len(categories) > 1):
        parts.append(Curves(numbers, categories, pairs=spec.pairs))
    for column, how in settled:
        prefix = "" if len(settled) == 1 else f"{column.name}:"
        if column.kind == "text":
            parts += text_parts(column.name, how, prefix)
        elif column.kind == "image":
            parts += image_parts(column, how, prefix)
        elif column.kind == "rows":
            parts.append(Given(column, how))
        elif column.kind == "set":
            parts.append(Sets(column, how))
    if spec.email:
        from markone.features.emails import Emails

        parts.append(Emails(columns))
    if spec.functions:
        parts.append(Functions(spec.functions, columns))
    return parts


def text_parts(column: str, settings: Text, prefix: str) -> Iterator[Part]:
    if settings.words is not None:
        yield Ngrams(column, settings, lengths=settings.words, prefix=prefix)
    if settings.characters is not None:
        yield Ngrams(column, settings, lengths=settings.characters, characters=True, prefix=f"{prefix}chars:")
    if settings.subwords is not None and settings.subwords != AUTO:
        yield Ngrams(column, settings, lengths=settings.subwords, within_words=True, prefix=f"{prefix}part:")
    if "lower" in settings.templates:
        yield Ngrams(column, settings, lengths=(1, 1), choice="lower", prefix=f"{prefix}lower:")
    if "not" in settings.templates:
        yield Ngrams(column, settings, lengths=(1, 1), choice="negated", prefix=prefix)
    if settings.lexicons or settings.document:
        alone = settings.words is None and settings.characters is None and not settings.templates
        yield Documents(column, settings, prefix=prefix if alone else f"{prefix}document:")


def feature_name(name: str) -> str:
    """The name of a feature; one that has the name of the bias gets another one."""
    return f"{BIAS} (feature)" if name == BIAS else name


def check_names(parts: list[Part]) -> None:
    """Check that all features have different names, except words, pixels and given rows, which cannot clash."""
    names: set[int] = set()  # compared by hashes, because products of long names would need much memory
    for part in parts:
        if isinstance(part, Ngrams | Given | ImagePart):
            continue
        for name in map(part.name, range(part.width)):
            if hash(name) in names:
                raise DataError(
                    f"two features would be called {name!r}; rename a column, a function or a lexicon, or leave out "
                    "the conjunction that degree already makes"
                )
            names.add(hash(name))


def check_spec(spec: Features, columns: tuple[Column, ...]) -> None:
    made = made_columns(columns)
    if spec.degree > 1 and not any(column.kind in ("numeric", "boolean") for column in made):
        raise SettingsError(
            "degree",
            f"of {spec.degree} makes products of numeric columns, but there are none; name the columns, for instance "
            "{'x1': ..., 'x2': ...}",
        )
    if spec.email:
        from markone.features.emails import check_columns

        check_columns(columns)
    names = [column.name for column in made]
    for text in (column.name for column in made if column.kind == "text"):
        for name in names:
            if name.startswith(f"{text}:"):
                raise DataError(f"the column {name!r} is named like a word of the text {text!r}; rename one of them")
    for name in spec.columns:
        if name not in names:
            raise SettingsError(
                f"columns.{name}", f"is not a column; the data has {', '.join(names)}.{did_you_mean(name, names)}"
            )


# ---- what a file says of the spec and the columns


def columns_of(saved: list[Any]) -> tuple[Column, ...]:
    for column in saved:
        if type(column) is not list or len(column) != 2 or type(column[0]) is not str or column[1] not in KINDS:
            raise damaged(f"{column!r} is not a column")
    if len({name for name, _ in saved}) != len(saved):
        raise damaged("two columns have the same name")
    return tuple(Column(name, kind) for name, kind in saved)


def check_saved_spec(spec: dict[str, Any]) -> None:
    """Check that lexicons are lists of words, because the name of a file would be opened."""
    columns = spec.get("columns", {})
    for table in (spec.get("text"), *(columns.values() if isinstance(columns, dict) else ())):
        lexicons = table.get("lexicons", {}) if isinstance(table, dict) else {}
        if not isinstance(lexicons, dict) or any(type(words) is not list for words in lexicons.values()):
            raise damaged("a lexicon is not a list of words")


def as_meant(spec: dict[str, Any]) -> dict[str, Any]:
    """The spec of a file with all settings. A file that was written before a setting existed does not have it; it means
    what was the only way then."""
    text = spec.get("text")
    return {**spec, "text": {**BEFORE, **text}} if isinstance(text, dict) else spec


def match_functions(names: Any, functions: Mapping[str, Function] | None) -> None:
    if type(names) is not list or any(type(name) is not str for name in names):
        raise damaged("the functions are not a list of names")
    given = functions or {}
    for name in names:
        if name not in given:
            raise DataError(
                f"the model uses the Python function {name!r}, which a file cannot contain; "
                f"load the model in Python with the function: markone.load(path, functions={{{name!r}: ...}})"
            )
    for name in given:
        if name not in names:
            raise SettingsError("functions", f"has {name!r}, which the model does not use.{did_you_mean(name, names)}")


# ---- rows


def beside(matrices: list[Matrix]) -> Matrix:
    """The matrices side by side; the result is dense if all of them are."""
    dense = [matrix for matrix in matrices if not isinstance(matrix, Sparse)]
    if len(dense) == len(matrices):
        return np.hstack(dense)
    parts = [matrix if isinstance(matrix, Sparse) else thin(matrix) for matrix in matrices]
    rows = _core.join_rows([(part.indptr, part.indices, part.data, part.width) for part in parts])
    return Sparse(*rows, sum(part.width for part in parts))


def thin(matrix: NDArray[np.float32]) -> Sparse:
    """The matrix without stored zeros."""
    return Sparse(*_core.sparse_rows(np.ascontiguousarray(matrix)), matrix.shape[1])


def unit_length(matrix: Matrix, *, own: bool) -> Matrix:
    """Each row divided by its length. The values of sparse rows that are our own, not the user's, are overwritten."""
    if isinstance(matrix, Sparse):
        values = matrix.data if own else matrix.data.copy()
        _core.unit_rows(matrix.indptr, values)
        return Sparse(matrix.indptr, matrix.indices, values, matrix.width)
    lengths = np.sqrt(row_sums(np.square(matrix, dtype=np.float64)))
    lengths[lengths == 0] = 1
    return np.asarray(matrix / lengths[:, None], np.float32)
