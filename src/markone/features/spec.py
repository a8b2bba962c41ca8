"""The spec of a feature map: what becomes of each kind of column. It is data: it can be printed, and be in a file."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Literal

from markone.brief import Brief
from markone.checks import (
    check_fields,
    check_named,
    checked,
    default_of,
    number,
    one_of,
    or_empty,
    some_of,
    switch,
    whole,
)
from markone.data.source import Column, Kind
from markone.errors import DataError, SettingsError, did_you_mean

LONGEST_NGRAM = 5
MOST_HASH_BITS = 30
MOST_COUNT = 2**31 - 1
DOCUMENT_FEATURES = ("no", "pronouns", "exclamation", "log-words")

Function = Callable[[Any], Any]


# ---- what only these settings may be


def lengths(value: Any) -> Any:
    """[shortest, longest]; nothing, or an empty list, is none at all."""
    if value is None or (isinstance(value, list | tuple) and len(value) == 0):
        return None
    good = isinstance(value, list | tuple) and len(value) == 2 and all(type(length) is int for length in value)
    if not (good and 1 <= value[0] <= value[1] <= LONGEST_NGRAM):
        raise ValueError(f"must be [shortest, longest] with lengths from 1 to {LONGEST_NGRAM}, not {value!r}")
    return tuple(value)


def lexicons(value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise ValueError(f"must map names to files of words or to lists of words, not {value!r}")
    return {str(name): read_lexicon(words) for name, words in value.items()}


def read_lexicon(words: Any) -> tuple[str, ...]:
    """The words of a list, or of a file with one on each line, in which ; starts a comment."""
    if isinstance(words, str | PathLike):
        try:
            data = Path(words).read_bytes()
        except OSError as error:
            raise DataError(f"cannot read the lexicon {words}: {error.strerror}") from None
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = data.decode("latin-1")
        words = [line.strip() for line in text.splitlines() if not line.startswith(";")]
    listed = list(words) if isinstance(words, Iterable) else [words]
    if not all(isinstance(word, str) for word in listed):
        raise ValueError(f"must have words in its lists, not {listed!r}")
    return tuple(word for word in listed if word)


# ---- the settings of each kind of column


class ColumnSettings(Brief):
    """Settings that are checked, and known to the spec by a word."""

    __slots__ = ()

    def __post_init__(self) -> None:
        check_fields(self)

    def as_dict(self, *, full: bool = False) -> dict[str, Any]:
        """What differs from the defaults, or all."""
        return {
            setting.name: plain(getattr(self, setting.name))
            for setting in fields(self)  # type: ignore[arg-type]
            if full or getattr(self, setting.name) != default_of(setting)
        }


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Text(ColumnSettings):
    """How texts become features. The defaults are what did well on all texts that were tried (docs/accuracy.md)."""

    words: tuple[int, int] | None = checked((1, 3), lengths)
    """Runs of words as features: [shortest, longest], in words. Empty for none."""
    characters: tuple[int, int] | None = checked(None, lengths)
    """Runs of characters, likewise."""
    case: Literal["fold", "keep"] = checked("fold", one_of("fold", "keep"))
    """Whether `Free` and `free` are one word."""
    signs: bool = checked(True, switch)
    """Punctuation and symbols are words of one character."""
    negation: bool = checked(False, switch)
    """A word between a negation and the next punctuation is another word: `NOT_good`."""
    templates: tuple[str, ...] = checked((), some_of("lower", "not"))
    """More features for each word: `lower:word`, it occurs in lower case; `NOT_word`, its count where it is negated."""
    lexicons: dict[str, tuple[str, ...]] = checked(dict, lexicons)
    """Features that count the words of a list: names, each with a file or a list of words."""
    document: tuple[str, ...] = checked((), some_of(*DOCUMENT_FEATURES))
    """Features of the whole text: whether "no" occurs, first and second person pronouns, whether "!" occurs, and the
    natural logarithm of the number of words."""
    value: Literal["count", "binary", "log"] = checked("binary", one_of("count", "binary", "log"))
    """What a word that occurs n times counts: n, 1, or ln(1 + n)."""
    weight: Literal["none", "idf", "odds"] = checked("odds", one_of("none", "idf", "odds"))
    """What values are multiplied by: nothing, the inverse document frequency, or naive Bayes' log odds ratio."""
    smoothing: float | None = checked(None, or_empty(number(above=0, most=1e6)))
    """What is added to the counts of which `odds` are made; None is 1 for two classes, and 2 / classes for more."""
    discount: float = checked(0.5, number(least=0, most=1))
    """The `odds` of a run of n words are divided by n to this power: its words speak for themselves already."""
    min_count: int | None = checked(None, or_empty(whole(1, MOST_COUNT)))
    """Leave out what occurs in fewer examples; None is 2 where there are 1,000 examples or more, else 1."""
    max_features: int | None = checked(None, or_empty(whole(1, MOST_COUNT)))
    """Keep so many of the most frequent."""
    hash_bits: int | None = checked(None, or_empty(whole(1, MOST_HASH_BITS)))
    """Instead of a vocabulary, a table of 2^bits places that words share by their hash."""

    def __post_init__(self) -> None:
        ColumnSettings.__post_init__(self)
        if self.hash_bits is not None:
            for name in ("min_count", "max_features"):
                if getattr(self, name) not in (1, None):
                    raise SettingsError(name, "prunes a vocabulary, and with hash_bits there is none; leave one out")
        if self.weight != "odds":
            for name, default in (("smoothing", None), ("discount", 0.5)):
                if getattr(self, name) != default:
                    raise SettingsError(name, "is for the weight 'odds'; leave it out")
        if self.negation and "not" in self.templates:
            raise SettingsError("templates", "must not have 'not' where negation makes NOT_ words already")


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Numeric(ColumnSettings):
    """How numbers, booleans and given rows become features."""

    scale: Literal["none", "standard", "max-abs"] = checked("standard", one_of("none", "standard", "max-abs"))
    """As they are; with mean 0 and standard deviation 1; or divided by the largest absolute value."""
    missing: Literal["mean", "zero", "error"] = checked("mean", one_of("mean", "zero", "error"))
    """A missing number becomes the mean or 0, and a feature of its own says that it was missing; or it is an error."""


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Categorical(ColumnSettings):
    """How categories become features: one for each, and one for all that are rare or were never seen."""

    min_count: int = checked(1, whole(1, MOST_COUNT))
    """A category that occurs in fewer examples counts as never seen."""
    max_features: int | None = checked(None, or_empty(whole(1, MOST_COUNT)))
    """Keep so many of the most frequent."""


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Image(ColumnSettings):
    """How images become features."""

    pixels: Literal["grey", "on-off", "none"] = checked("grey", one_of("grey", "on-off", "none"))
    """Pixels as numbers from 0 to 1, or as 1 where they are on."""
    threshold: float = checked(0.5, number(above=0, most=1))
    """A pixel is on from this brightness; the brightest is 1."""
    patches: int | None = checked(2, or_empty(whole(2, 4)))
    """Conjunctions of neighbours: each square of so many pixels across, by which of its pixels are on. Empty for none.
    """

    def __post_init__(self) -> None:
        ColumnSettings.__post_init__(self)
        if self.threshold != 0.5 and self.pixels != "on-off" and self.patches is None:
            raise SettingsError("threshold", "is for pixels that are on or off, and for patches; leave it out")


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class FeatureRows(ColumnSettings):
    """What becomes of rows that come with features."""

    scale: Literal["none", "standard", "max-abs"] = checked("none", one_of("none", "standard", "max-abs"))
    """As for numbers. A sparse row is not moved to mean 0, only stretched to standard deviation 1."""


GROUPS: dict[str, type[ColumnSettings]] = {
    "text": Text,
    "numeric": Numeric,
    "categorical": Categorical,
    "image": Image,
    "rows": FeatureRows,
}
GROUP_OF_KIND: dict[Kind, str] = {
    "text": "text",
    "numeric": "numeric",
    "boolean": "numeric",
    "categorical": "categorical",
    "image": "image",
    "rows": "rows",
}


COUNTABLE: dict[str, Any] = {
    "unit": False,
    "text": {"words": [1, 1], "value": "count", "weight": "none"},
    "numeric": {"scale": "none"},
    "image": {"pixels": "on-off", "patches": []},
}
"""What is usual for rules that count: words as often as they occur, numbers as they are, pixels that are on or off."""


# ---- the spec


def as_group(
    group: type[ColumnSettings], name: str, given: Any, default: ColumnSettings | None = None
) -> ColumnSettings:
    """The settings of a group from themselves or from a dict; what is not given is as in `default`."""
    if isinstance(given, group):
        return given
    if not isinstance(given, Mapping):
        raise SettingsError(name, f"must be a table of settings, not {given!r}")
    known = [setting.name for setting in fields(group)]  # type: ignore[arg-type]
    for key in given:
        if key not in known:
            raise SettingsError(
                f"{name}.{key}", f"is unknown; there are {', '.join(known)}.{did_you_mean(str(key), known)}"
            )
    try:
        return group(**given) if default is None else replace(default, **given)  # type: ignore[type-var]
    except SettingsError as error:
        raise SettingsError(f"{name}.{error.name}", error.problem) from None


def check_conjunctions(value: Any) -> Any:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ValueError(f"must be a list such as ['make*cylinders'], not {value!r}")
    for one in (value := tuple(value)):
        names = [name.strip() for name in one.split("*")] if isinstance(one, str) else []
        if len(names) < 2 or not all(names):
            raise ValueError(f"must have names of columns with * between them, not {one!r}")
    return value


def check_columns(value: Any) -> Any:
    if not isinstance(value, Mapping) or not all(isinstance(settings, Mapping) for settings in value.values()):
        raise ValueError(f"must be a table of settings for each column, not {value!r}")
    return {str(name): dict(settings) for name, settings in value.items()}


def check_functions(value: Any) -> Any:
    if not isinstance(value, Mapping) or not all(callable(function) for function in value.values()):
        raise ValueError(f"must map names to functions, not {value!r}")
    return {str(name): function for name, function in value.items()}


@dataclass(frozen=True, kw_only=True, repr=False)
class Features(Brief):
    """What becomes of each kind of column, with exceptions for single columns.

    >>> print(Features(text={"words": [1, 2], "weight": "idf"}, columns={"title": {"words": [1, 1]}}, unit=True))
    unit = true
    <BLANKLINE>
    [text]
    words = [1, 2]
    weight = "idf"
    <BLANKLINE>
    [columns.title]
    words = [1, 1]
    """

    text: Text = checked(Text(), partial(as_group, Text, "text"))
    numeric: Numeric = checked(Numeric(), partial(as_group, Numeric, "numeric"))
    categorical: Categorical = checked(Categorical(), partial(as_group, Categorical, "categorical"))
    image: Image = checked(Image(), partial(as_group, Image, "image"))
    rows: FeatureRows = checked(FeatureRows(), partial(as_group, FeatureRows, "rows"))
    columns: dict[str, dict[str, Any]] = checked(dict, check_columns)
    """For single columns, by name: what differs from the settings of their kind."""
    conjunctions: tuple[str, ...] = checked((), check_conjunctions)
    """Products of columns, such as `"make*cylinders"`, of categories and numbers."""
    degree: int = checked(1, whole(1, 3))
    """Products of as many numeric columns as this, too: 2 or 3."""
    unit: bool | None = checked(None, or_empty(switch))
    """Rows are scaled to length 1; None is yes where there are words among the features, else no."""
    functions: dict[str, Function] = checked(dict, check_functions)
    """Python functions, by name, each called with an example; a number, or a dict of them, is more features."""

    KEYS: ClassVar[tuple[str, ...]] = (*GROUPS, "columns", "conjunctions", "degree", "unit", "functions")

    def __post_init__(self) -> None:
        check_fields(self)

    @classmethod
    def of(
        cls, spec: Any = None, functions: Mapping[str, Function] | None = None, *, countable: bool = False
    ) -> Features:
        """The spec itself, or from a dict, or from a TOML file. A spec that names functions needs them here, again.

        What a dict or a file does not say is as usual or, if it has to be `countable`, as suits rules that count.
        """
        if isinstance(spec, Features):
            more = check_functions_given(functions)
            return replace(spec, functions={**spec.functions, **more}) if more else spec
        if spec is None:
            spec = {}
        if isinstance(spec, str | PathLike):
            spec = read_toml(Path(spec))
        if not isinstance(spec, Mapping):
            raise SettingsError("features", f"must be a Features, a dict or the name of a TOML file, not {spec!r}")
        for key in spec:
            if key not in cls.KEYS:
                raise SettingsError(
                    f"features.{key}", f"is unknown; there are {', '.join(cls.KEYS)}.{did_you_mean(str(key), cls.KEYS)}"
                )
        found = check_functions_given(functions)
        named = spec.get("functions", {})
        missing = [name for name in named if name not in found and not isinstance(named, Mapping)]
        if missing:
            raise SettingsError(
                "functions",
                f"must be given: the spec makes features by the Python function {missing[0]!r}, which is not in it; "
                f"give it in Python, as functions={{{missing[0]!r}: ...}}",
            )
        given = named if isinstance(named, Mapping) else {}
        if countable:
            spec = with_counts(spec)
        return cls(**{**spec, "functions": {**given, **found}})

    def for_column(self, column: Column) -> Any:
        """The settings of a column: those of its kind, with its own exceptions."""
        word = GROUP_OF_KIND[column.kind]
        return as_group(GROUPS[word], f"columns.{column.name}", self.columns.get(column.name, {}), getattr(self, word))

    def settled(self, columns: Iterable[Column]) -> Features:
        """The same spec for these columns, with the words of lexicons where a column's own settings name files."""
        exceptions = dict(self.columns)
        for column in columns:
            if column.name in exceptions:
                how = self.for_column(column)
                exceptions[column.name] = {name: getattr(how, name) for name in exceptions[column.name]}
        return replace(self, columns=exceptions)

    def as_dict(self, *, full: bool = False) -> dict[str, Any]:
        """What differs from the defaults, in what JSON and TOML know. Functions are there by name.

        A file that is to mean the same when defaults have changed has it in `full`.
        """
        spec: dict[str, Any] = {}
        if full or self.conjunctions:
            spec["conjunctions"] = list(self.conjunctions)
        if full or self.degree != 1:
            spec["degree"] = self.degree
        if self.unit is not None:
            spec["unit"] = self.unit
        if self.functions:
            spec["functions"] = list(self.functions)
        for name in GROUPS:
            settings = getattr(self, name).as_dict(full=full)
            if settings:
                spec[name] = settings
        if self.columns:
            spec["columns"] = {name: plain(settings) for name, settings in self.columns.items()}
        return spec

    def __str__(self) -> str:
        return as_toml(self.as_dict())


def with_counts(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The spec with what suits rules that count, where it does not say otherwise."""
    made = dict(spec)
    for name, usual in COUNTABLE.items():
        if not isinstance(usual, Mapping):
            made.setdefault(name, usual)
        elif isinstance(made.get(name, {}), Mapping):
            made[name] = {**usual, **made.get(name, {})}
    return made


def check_functions_given(functions: Any) -> dict[str, Function]:
    found: dict[str, Function] = check_named("functions", check_functions, {} if functions is None else functions)
    return found


def plain(value: Any) -> Any:
    """As JSON and TOML have it: lists instead of tuples, an empty one instead of None."""
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return [] if value is None else value


def read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot read the spec {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"the spec {path} is not TOML: {error}") from None


def as_toml(table: Mapping[str, Any], path: tuple[str, ...] = ()) -> str:
    """The table, its plain settings before its sub-tables."""
    own = [f"{key_of(name)} = {quoted(value)}" for name, value in table.items() if not isinstance(value, Mapping)]
    head = [f"[{'.'.join(map(key_of, path))}]"] if path and (own or not table) else []
    parts = ["\n".join(head + own)] if head + own else []
    parts += [as_toml(value, (*path, name)) for name, value in table.items() if isinstance(value, Mapping)]
    return "\n\n".join(parts)


def key_of(name: str) -> str:
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else quoted(name)


def quoted(value: Any) -> str:
    """As in JSON, which TOML shares but for one character that it wants escaped and pairs that it does not know."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
