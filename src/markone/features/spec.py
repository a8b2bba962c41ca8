"""The spec of a feature map: how each kind of column becomes features. It can be printed and stored in a file."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Literal

from markone.brief import Brief, one_line
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
from markone.data.source import Column
from markone.errors import DataError, SettingsError, did_you_mean
from markone.features.derived import made_columns

LONGEST_NGRAM = 5
SUBWORDS = (2, 5)
"""The lengths of n-grams within words, where they are chosen (features/choices.py)."""
AUTO: Literal["auto"] = "auto"
MOST_HASH_BITS = 30
MOST_COUNT = 2**31 - 1
DOCUMENT_FEATURES = ("no", "pronouns", "exclamation", "log-words")

Function = Callable[[Any], Any]


# ---- the values that only these settings can have


def lengths(value: Any) -> Any:
    """[shortest, longest]; None or an empty list for none."""
    if value is None or (isinstance(value, list | tuple) and len(value) == 0):
        return None
    good = isinstance(value, list | tuple) and len(value) == 2 and all(type(length) is int for length in value)
    if not (good and 1 <= value[0] <= value[1] <= LONGEST_NGRAM):
        raise ValueError(f"must be [shortest, longest] with lengths from 1 to {LONGEST_NGRAM}, not {value!r}")
    return tuple(value)


def lengths_or_auto(value: Any) -> Any:
    if value == AUTO:
        return value
    try:
        return lengths(value)
    except ValueError as error:
        raise ValueError(str(error).replace("must be ", f"must be {AUTO!r}, or ", 1)) from None


def lexicons(value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise ValueError(f"must map names to files of words or to lists of words, not {value!r}")
    return {str(name): read_lexicon(words) for name, words in value.items()}


def read_lexicon(words: Any) -> tuple[str, ...]:
    """The words of a list, or of a file with one word per line, in which ; starts a comment."""
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
        raise ValueError(f"must contain lists of words, not {listed!r}")
    return tuple(word for word in listed if word)


# ---- the settings of each kind of column


class ColumnSettings(Brief):
    """The checked settings of one kind of column."""

    __slots__ = ()
    LATER: ClassVar[tuple[str, ...]] = ()
    """Settings that older files do not have. If they have their defaults, files leave them out."""

    def __post_init__(self) -> None:
        check_fields(self)

    def as_dict(self, *, full: bool = False) -> dict[str, Any]:
        """The settings that differ from the defaults, or all of them."""
        return {
            setting.name: plain(getattr(self, setting.name))
            for setting in fields(self)  # type: ignore[arg-type]
            if (full and setting.name not in self.LATER) or getattr(self, setting.name) != default_of(setting)
        }


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Text(ColumnSettings):
    """How texts become features. The defaults gave good results on many data sets (docs/accuracy.md)."""

    words: tuple[int, int] | None = checked((1, 3), lengths)
    """N-grams of words as features: [shortest, longest], in words. Empty for none."""
    characters: tuple[int, int] | None = checked(None, lengths)
    """N-grams of characters as features: [shortest, longest], in characters. Empty for none."""
    subwords: tuple[int, int] | Literal["auto"] | None = checked(AUTO, lengths_or_auto)
    """N-grams of characters within each word: [shortest, longest], in characters. Empty for none; "auto" for [2, 5] if
    words rarely repeat and no other n-grams are set, else none."""
    case: Literal["fold", "keep"] = checked("fold", one_of("fold", "keep"))
    """Whether `Free` and `free` are one word."""
    signs: bool = checked(True, switch)
    """Punctuation and symbols are words of one character."""
    unspaced: Literal["characters", "words"] = checked("characters", one_of("characters", "words"))
    """Scripts without spaces, such as Chinese and Thai: each letter is a word, or everything up to a gap is one."""
    emoji: Literal["whole", "parts"] = checked("whole", one_of("whole", "parts"))
    """Whether an emoji of several characters, such as a flag, is one word or several."""
    negation: bool = checked(False, switch)
    """A word between a negation and the next punctuation mark becomes another word: `NOT_good`."""
    templates: tuple[str, ...] = checked((), some_of("lower", "not"))
    """More features for each word: `lower:word` if it occurs in lower case; `NOT_word`, its count after a negation."""
    lexicons: dict[str, tuple[str, ...]] = checked(dict, lexicons)
    """Features that count the words of a lexicon: names, each with a file or a list of words."""
    document: tuple[str, ...] = checked((), some_of(*DOCUMENT_FEATURES))
    """Features of the whole text: whether "no" occurs, first and second person pronouns, whether "!" occurs, and the
    natural logarithm of the number of words."""
    value: Literal["count", "binary", "log"] = checked("binary", one_of("count", "binary", "log"))
    """The value of a word that occurs n times: n, 1, or ln(1 + n)."""
    weight: Literal["none", "idf", "odds"] = checked("odds", one_of("none", "idf", "odds"))
    """The factor of the values: 1, the inverse document frequency, or the log odds ratio of naive Bayes."""
    smoothing: float | None = checked(None, or_empty(number(above=0, most=1e6)))
    """The number that is added to each count for `odds`; None is 1 for two classes, and 2 / classes for more."""
    discount: float = checked(0.5, number(least=0, most=1))
    """The `odds` of an n-gram are divided by n to this power, because its words are features, too."""
    shrinkage: float | None = checked(None, or_empty(number(least=0, most=1e6)))
    """The `odds` of an n-gram that was counted n times are multiplied by n / (n + this); None is 0.5 for 100 or more
    examples if `min_count` is set to 1 or chosen to be 1, else 0."""
    min_count: int | None = checked(None, or_empty(whole(1, MOST_COUNT)))
    """Leave out n-grams that occur in fewer examples; None is 2 for 1,000 or more examples whose words repeat, else
    1."""
    max_features: int | None = checked(None, or_empty(whole(1, MOST_COUNT)))
    """The maximum number of n-grams; the most frequent are kept."""
    hash_bits: int | None = checked(None, or_empty(whole(1, MOST_HASH_BITS)))
    """Use a table of 2^bits places, which n-grams share by their hash, instead of a vocabulary."""

    def __post_init__(self) -> None:
        ColumnSettings.__post_init__(self)
        if self.hash_bits is not None:
            for name in ("min_count", "max_features"):
                if getattr(self, name) not in (1, None):
                    raise SettingsError(name, "prunes a vocabulary, but with hash_bits there is none; leave one out")
        if self.weight != "odds":
            for name, usual in (("smoothing", [None]), ("discount", [0.5]), ("shrinkage", [None, 0])):
                if getattr(self, name) not in usual:
                    raise SettingsError(name, "is for the weight 'odds'; leave it out")
        if self.negation and "not" in self.templates:
            raise SettingsError("templates", "must not contain 'not' if negation already makes NOT_ words")


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Numeric(ColumnSettings):
    """How numbers, booleans and given rows become features."""

    scale: Literal["none", "standard", "max-abs"] = checked("standard", one_of("none", "standard", "max-abs"))
    """Scaling: none; to mean 0 and standard deviation 1; or division by the largest absolute value."""
    missing: Literal["mean", "zero", "error"] = checked("mean", one_of("mean", "zero", "error"))
    """A missing number becomes the mean or 0, and another feature shows that it was missing; or it is an error."""
    curves: bool = checked(False, switch)
    """Beside the number, intervals of it are features, so that scores can follow a curve instead of a line. How smooth
    the curve is, and whether lines are better, is found with held-out training rows."""

    LATER: ClassVar[tuple[str, ...]] = ("curves",)


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Categorical(ColumnSettings):
    """How categories become features: one for each, and one for all rare or new ones. Sets have one for each item."""

    min_count: int = checked(1, whole(1, MOST_COUNT))
    """A category that occurs in fewer examples is treated as a new one."""
    max_features: int | None = checked(None, or_empty(whole(1, MOST_COUNT)))
    """The maximum number of categories; the most frequent are kept."""


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Image(ColumnSettings):
    """How images become features."""

    pixels: Literal["grey", "on-off", "none"] = checked("grey", one_of("grey", "on-off", "none"))
    """Pixels as numbers from 0 to 1, or as 1 if they are on."""
    threshold: float = checked(0.5, number(above=0, most=1))
    """A pixel is on if it has at least this brightness; the maximum is 1."""
    patches: int | None = checked(2, or_empty(whole(2, 4)))
    """The side lengths of patches, in pixels: each pattern of pixels in a square is a feature. Empty for none."""

    def __post_init__(self) -> None:
        ColumnSettings.__post_init__(self)
        if self.threshold != 0.5 and self.pixels != "on-off" and self.patches is None:
            raise SettingsError("threshold", "is only for binary pixels and for patches; leave it out")


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class FeatureRows(ColumnSettings):
    """How rows that already have features are changed."""

    scale: Literal["none", "standard", "max-abs"] = checked("none", one_of("none", "standard", "max-abs"))
    """The same as for numbers, but sparse rows are only scaled to standard deviation 1, and not shifted to mean 0."""


GROUPS: dict[str, type[ColumnSettings]] = {
    "text": Text,
    "numeric": Numeric,
    "categorical": Categorical,
    "image": Image,
    "rows": FeatureRows,
}
GROUP_OF_KIND: dict[str, str] = {
    "text": "text",
    "numeric": "numeric",
    "boolean": "numeric",
    "categorical": "categorical",
    "set": "categorical",
    "image": "image",
    "rows": "rows",
}
"""The settings of each kind of column that the parts of a feature map use."""


BEFORE: dict[str, Any] = {"subwords": [], "unspaced": "words", "emoji": "parts", "shrinkage": 0.0}
"""What texts meant before there were these settings: for model files of that time."""
COUNTABLE: dict[str, Any] = {
    "unit": False,
    "text": {"words": [1, 1], "subwords": [], "value": "count", "weight": "none"},
    "numeric": {"scale": "none"},
    "image": {"pixels": "on-off", "patches": []},
}
"""The defaults for rules that count: counts of words, numbers without scaling, binary pixels."""
CURVED: dict[str, Any] = {"numeric": {"curves": True}, "pairs": True}
"""The defaults for tables, if no rule is chosen."""
UNSCALED: dict[str, Any] = {"numeric": {"scale": "none"}}
"""The defaults for the theory, whose margins and bounds are about the numbers as they are."""
CLASSLESS: dict[str, Any] = {"text": {"weight": "idf"}}
"""The defaults if numbers, or several labels, are predicted: there are no classes for odds."""
BUILT_IN: dict[Any, dict[str, Any]] = {"email": {"email": True}}
"""Specs that can be used by name."""


# ---- the spec


def as_group(
    group: type[ColumnSettings], name: str, given: Any, default: ColumnSettings | None = None
) -> ColumnSettings:
    """The settings of a group, or settings from a dict; other settings are those of `default`."""
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
            raise ValueError(f"must contain names of columns with * between them, not {one!r}")
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
    """How each kind of column becomes features, with exceptions for single columns.

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
    """Settings for single columns, by name, that differ from those of their kind."""
    conjunctions: tuple[str, ...] = checked((), check_conjunctions)
    """Products of categories and numbers, such as `"make*cylinders"`."""
    degree: int = checked(1, whole(1, 3))
    """The maximum number of factors in products of numeric columns: 1 for none, 2 or 3."""
    pairs: bool = checked(False, switch)
    """Find pairs of columns that matter together, and make features of them, such as `age × hours`."""
    unit: bool | None = checked(None, or_empty(switch))
    """Whether rows are scaled to length 1; None is yes if there are words among the features, else no."""
    email: bool = checked(False, switch)
    """More features of e-mails whose parts are in columns with the usual names, such as sender, subject and body."""
    functions: dict[str, Function] = checked(dict, check_functions)
    """Python functions, by name. Each is called with an example, and returns a feature or a dict of features."""

    KEYS: ClassVar[tuple[str, ...]] = (
        *GROUPS,
        "columns",
        "conjunctions",
        "degree",
        "pairs",
        "unit",
        "email",
        "functions",
    )

    def __post_init__(self) -> None:
        check_fields(self)

    @classmethod
    def of(
        cls,
        spec: Any = None,
        functions: Mapping[str, Function] | None = None,
        *,
        countable: bool = False,
        scaled: bool = True,
        curved: bool = False,
        classless: bool = False,
    ) -> Features:
        """A spec from a `Features`, a dict or a TOML file. The functions that it names must be given again.

        Other settings have their defaults or, if `countable` is set, the defaults for rules that count. Unless `scaled`
        is set, numbers are not scaled by default. If `curved` is set, there are curves and pairs. If rows are
        `classless`, because they have numbers or several labels, words are weighted without classes. A `Features` has
        no defaults left, so it does not change.
        """
        if isinstance(spec, Features):
            more = check_functions_given(functions)
            return replace(spec, functions={**spec.functions, **more}) if more else spec
        if spec is None:
            spec = {}
        if isinstance(spec, str | PathLike):
            spec = BUILT_IN[spec] if spec in [*BUILT_IN] else read_toml(Path(spec))
        if not isinstance(spec, Mapping):
            raise SettingsError(
                "features", f"must be a Features, a dict, the name of a TOML file or 'email', not {spec!r}"
            )
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
                f"must be given: the spec uses the Python function {missing[0]!r}, which it cannot contain; "
                f"give it in Python, as functions={{{missing[0]!r}: ...}}",
            )
        given = named if isinstance(named, Mapping) else {}
        for wanted, usual in ((countable, COUNTABLE), (not scaled, UNSCALED), (curved, CURVED), (classless, CLASSLESS)):
            spec = with_defaults(spec, usual) if wanted else spec
        return cls(**{**spec, "functions": {**given, **found}})

    def for_column(self, column: Column) -> Any:
        """The settings of a column: those of its kind, with its own exceptions."""
        word = GROUP_OF_KIND[column.kind]
        return as_group(GROUPS[word], f"columns.{column.name}", self.columns.get(column.name, {}), getattr(self, word))

    def settled(self, columns: Iterable[Column]) -> Features:
        """The same spec for these columns. Lexicon files in the settings of a column are replaced by their words."""
        exceptions = dict(self.columns)
        for column in made_columns(columns):
            if column.name in exceptions:
                how = self.for_column(column)
                exceptions[column.name] = {name: getattr(how, name) for name in exceptions[column.name]}
        return replace(self, columns=exceptions)

    def as_dict(self, *, full: bool = False) -> dict[str, Any]:
        """The settings that differ from the defaults, as values of JSON and TOML. Functions are represented by name.

        With `full`, all settings are returned, for a file whose meaning must not change with the defaults.
        """
        spec: dict[str, Any] = {}
        if full or self.conjunctions:
            spec["conjunctions"] = list(self.conjunctions)
        if full or self.degree != 1:
            spec["degree"] = self.degree
        if self.pairs:
            spec["pairs"] = True
        if self.unit is not None:
            spec["unit"] = self.unit
        if self.email:
            spec["email"] = True
        if self.functions:
            spec["functions"] = list(self.functions)
        for name in GROUPS:
            settings = getattr(self, name).as_dict(full=full)
            if settings:
                spec[name] = settings
        if self.columns:
            spec["columns"] = {name: plain(settings) for name, settings in self.columns.items()}
        return spec

    def __repr__(self) -> str:
        """Return the settings that differ from the defaults."""
        return one_line(f"Features({', '.join(f'{name}={value!r}' for name, value in self.as_dict().items())})")

    def __str__(self) -> str:
        return as_toml(self.as_dict())

    def _repr_html_(self) -> str:
        from markone.reporting import html

        changed = str(self)
        return html.fragment([html.preformatted(changed) if changed else html.paragraph("Features: the defaults")])


def with_defaults(spec: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """The spec with other defaults, except for settings that it sets."""
    made = dict(spec)
    for name, default in usual.items():
        if not isinstance(default, Mapping):
            made.setdefault(name, default)
        elif isinstance(made.get(name, {}), Mapping):
            made[name] = {**default, **made.get(name, {})}
    return made


def check_functions_given(functions: Any) -> dict[str, Function]:
    found: dict[str, Function] = check_named("functions", check_functions, {} if functions is None else functions)
    return found


def plain(value: Any) -> Any:
    """The value for JSON and TOML: lists instead of tuples, and an empty list instead of None."""
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return [] if value is None else value


def read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        known = f"; {', '.join(BUILT_IN)} is built in.{did_you_mean(str(path), BUILT_IN)}" if path.suffix == "" else ""
        raise DataError(f"cannot read the spec {path}: {error.strerror}{known}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"the spec {path} is not TOML: {error}") from None


def as_toml(table: Mapping[str, Any], path: tuple[str, ...] = ()) -> str:
    """The lines of a table in TOML, with its settings before its sub-tables."""
    own = [f"{key_of(name)} = {quoted(value)}" for name, value in table.items() if not isinstance(value, Mapping)]
    head = [f"[{'.'.join(map(key_of, path))}]"] if path and (own or not table) else []
    parts = ["\n".join(head + own)] if head + own else []
    parts += [as_toml(value, (*path, name)) for name, value in table.items() if isinstance(value, Mapping)]
    return "\n\n".join(parts)


def key_of(name: str) -> str:
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else quoted(name)


def quoted(value: Any) -> str:
    """A string in TOML: as in JSON, except for one character that TOML escapes, and without surrogate pairs."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
