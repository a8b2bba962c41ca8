"""Settings of a tagger: its input and output, its features and its training."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from markone import _core
from markone.brief import Brief
from markone.checks import (
    Check,
    check_fields,
    check_named,
    checked,
    number,
    one_of,
    optional,
    required,
    switch,
    text,
    whole,
)
from markone.errors import DataError, Setting, SettingsError
from markone.model.settings import MOST_PARTITIONS
from markone.structured.checking import check_patience
from markone.structured.sentences import FORM, TAG, Sentences
from markone.structured.spans import (
    SCHEMES,
    Repairs,
    Scheme,
    are_spans,
    check_scheme,
    find_repairs,
    guess_scheme,
    transition_mask,
)
from markone.structured.templates import PLACE, Templates, templates_with

TagRule = Literal["perceptron", "mira"]
Decode = Literal["viterbi", "greedy", "beam"]
USUAL_C = 0.02
USUAL_BEAM = 4
USUAL_SCHEME: Scheme = "IOBES"
"""The default scheme in which spans are learned. It also marks the ends of spans."""
WIDEST_BEAM = 1024
USUAL = "usual"
"""The name that stands for the default templates."""
LOOKING_BACK = ("tag[-2] tag[-1]", "tag[-1] lower[0]")
"""Additional default templates for searches that are not exact."""


def list_of(what: str) -> Check:
    """A check for lists. `what` names their elements in the message."""

    def check(value: Any) -> Any:
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise ValueError(f"must be a list of {what}, not {value!r:.80}")
        return tuple(value)

    return check


def names_of_columns(value: Any) -> Any:
    names = list_of("names of columns")(value)
    for name in names:
        text("names of columns")(name)
    return names


@dataclass(frozen=True, slots=True, repr=False)
class TaggerSettings(Brief):
    """The complete settings of a tagger, without defaults: see `Tagger.train`."""

    column: str = required(text("the name of a column"))
    inputs: tuple[str, ...] = required(names_of_columns)
    rule: TagRule = required(one_of(*get_args(TagRule)))
    epochs: int = required(whole(1))
    C: float | None = required(optional(number(above=0, below=math.inf)))
    average: bool = required(switch)
    decode: Decode = required(one_of(*get_args(Decode)))
    beam: int | None = required(optional(whole(2, WIDEST_BEAM)))
    templates: tuple[str, ...] = required(list_of("texts such as 'lower[0]'"))
    scheme: Scheme | None = required(optional(one_of(*SCHEMES)))
    learn_as: Scheme | None = required(optional(one_of(*SCHEMES)))
    seed: int = required(whole(0))
    holdout: float = required(number(least=0, below=1))
    patience: int | None = required(optional(whole(1)))
    partitions: int = checked(1, whole(1, most=MOST_PARTITIONS))

    def __post_init__(self) -> None:
        check_fields(self)
        if (self.scheme is None) != (self.learn_as is None):
            raise SettingsError("learn_as", "is only for tags of spans, and these tags are not; leave it out")
        check_patience(self.holdout, self.patience)
        if self.rule != "mira" and self.C is not None:
            raise SettingsError("C", f"is only for the rule 'mira', not for {self.rule!r}; leave it out")
        if self.decode != "beam" and self.beam is not None:
            only = ("is only for ", Setting("decode", "beam"), f", not for {self.decode!r}")
            raise SettingsError("beam", only, value=self.beam, advice="leave it out")
        if self.rule == "mira" and self.C is None:
            raise SettingsError("C", "must be a number greater than 0 for the rule 'mira', not None")
        if self.decode == "beam" and self.beam is None:
            raise SettingsError("beam", ("must be a whole number for ", Setting("decode", "beam"), ", not None"))
        if self.column in self.inputs or FORM in (self.column, *self.inputs):
            raise SettingsError("inputs", "must not contain the column of words or the predicted column")
        self.seen()

    def seen(self) -> Templates:
        """The templates of the features."""
        return Templates.of(self.templates, self.inputs, looks_back=self.decode != "viterbi")

    def for_core(self, tags: Sequence[str]) -> _core.TagSettings:
        """The tags, the allowed transitions and the search, in the form of the core."""
        if self.learn_as is None:
            allowed = np.ones((len(tags) + 1, len(tags) + 1), bool)
        else:
            allowed = transition_mask(tags, self.learn_as)
        return _core.TagSettings(
            tags=[tag.encode("utf-8", "surrogatepass") for tag in tags],
            allowed=allowed,
            decode=self.decode,
            width=1 if self.beam is None else self.beam,
        )


def settings_for(sentences: Sentences, given: dict[str, Any]) -> TaggerSettings:
    """The given settings, with defaults for these sentences where they are None."""
    column = given["column"] if given["column"] is not None else usual_column(sentences)
    column = check_named("column", text("the name of a column"), column)
    inputs = given["inputs"]
    if inputs is None:
        inputs = usual_inputs(sentences, column, given["templates"])
    inputs = check_named("inputs", names_of_columns, inputs)
    templates = [USUAL] if given["templates"] is None else given["templates"]
    templates = check_named("templates", list_of("texts such as 'lower[0]'"), templates)
    usually = templates_with(inputs) + (() if given["decode"] == "viterbi" else LOOKING_BACK)
    templates = [one for text in templates for one in (usually if text == USUAL else [text])]
    usual = {
        "C": USUAL_C if given["rule"] == "mira" and given["C"] is None else given["C"],
        "beam": USUAL_BEAM if given["decode"] == "beam" and given["beam"] is None else given["beam"],
    }
    scheme = scheme_of(sentences, column, given["scheme"])
    learn_as = USUAL_SCHEME if given["learn_as"] is None and scheme is not None else given["learn_as"]
    return TaggerSettings(
        **{
            **given,
            **usual,
            "column": column,
            "inputs": inputs,
            "templates": tuple(templates),
            "scheme": scheme,
            "learn_as": learn_as,
        }
    )


def scheme_of(sentences: Sentences, column: str, given: Any) -> Scheme | None:
    """The scheme of the tags, if they are tags of spans."""
    if given == "none":
        return None
    if given is None:
        tags: Counter[str] = Counter()
        for part in sentences.parts():
            tags.update(part.column(column).tolist())
        if not are_spans(tags):  # so their order, which takes longer to examine, does not matter
            return None
        return guess_scheme(tags for part in sentences.parts() for tags in part.lists(column))
    check_scheme(given)
    scheme: Scheme = given
    return scheme


def repairs_for(sentences: Sentences, settings: TaggerSettings, strict: bool) -> Repairs | None:
    """The repairs of invalid tags of spans. With `strict`, invalid tags are an error."""
    check_named("strict", switch, strict)
    found = None if settings.scheme is None else find_repairs(sentences, settings.column, settings.scheme)
    if found is not None and strict:
        advice = ("correct the tags, or leave out ", Setting("strict", True), " to use the nearest valid tags")
        raise DataError(found.first, advice=advice)
    return found


def usual_column(sentences: Sentences) -> str:
    """The default column: the tags of pairs, `upos`, or the last column of a file of columns."""
    for name in (TAG, "upos"):
        if name in sentences.columns:
            return name
    others = [name for name in sentences.columns if name != FORM]
    if not others:
        raise DataError("there is no column to learn: the sentences have words, but no tags")
    return others[-1]


def usual_inputs(sentences: Sentences, column: str, templates: Any) -> tuple[str, ...]:
    """The columns that templates name. If the default templates are used and columns have no names, also all columns
    before the predicted one."""
    texts = [USUAL] if templates is None else [text for text in templates if isinstance(text, str)]
    named = {place["name"] for text in texts for place in PLACE.finditer(text)}
    before = USUAL in texts and column.isdigit()
    others = [name for name in sentences.columns if name not in (FORM, column)]
    return tuple(name for name in others if name in named or (before and name.isdigit() and int(name) < int(column)))
