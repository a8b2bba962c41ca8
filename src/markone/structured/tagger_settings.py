"""Settings of a tagger: what it tags, what it looks at, and how it learns."""

from __future__ import annotations

import math
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
    number,
    one_of,
    optional,
    required,
    switch,
    text,
    whole,
)
from markone.errors import DataError, Setting, SettingsError
from markone.structured.checking import check_patience
from markone.structured.sentences import FORM, TAG, Sentences
from markone.structured.spans import (
    SCHEMES,
    Repairs,
    Scheme,
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
"""In which spans are learned: it also tells where they end."""
WIDEST_BEAM = 1024
USUAL = "usual"
"""Among templates, stands for those that are taken by default."""
LOOKING_BACK = ("tag[-2] tag[-1]", "tag[-1] lower[0]")
"""What a search sees beside the usual, if it is not exact."""


def list_of(what: str) -> Check:
    """A list, which the message says is of this."""

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
    """Settings of a tagger, spelled out: see `Tagger.train`."""

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

    def __post_init__(self) -> None:
        check_fields(self)
        if (self.scheme is None) != (self.learn_as is None):
            raise SettingsError("learn_as", "is how spans are learned, and there are none; leave it out")
        check_patience(self.holdout, self.patience)
        if self.rule != "mira" and self.C is not None:
            raise SettingsError("C", f"belongs to the rule 'mira', not to {self.rule!r}; leave it out")
        if self.decode != "beam" and self.beam is not None:
            only = ("is the width of ", Setting("decode", "beam"), f", not of {self.decode!r}")
            raise SettingsError("beam", only, value=self.beam, advice="leave it out")
        if self.rule == "mira" and self.C is None:
            raise SettingsError("C", "must be a number greater than 0 for the rule 'mira', not None")
        if self.decode == "beam" and self.beam is None:
            raise SettingsError("beam", ("must be a whole number for ", Setting("decode", "beam"), ", not None"))
        if self.column in self.inputs or FORM in (self.column, *self.inputs):
            raise SettingsError("inputs", "must be other columns than the words, and than the one that is learned")
        self.seen()

    def seen(self) -> Templates:
        """What is looked at."""
        return Templates.of(self.templates, self.inputs, looks_back=self.decode != "viterbi")

    def for_core(self, tags: Sequence[str]) -> _core.TagSettings:
        """What is said of words, in which order, and how it is searched for."""
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
    """What is given, and else what is usual for these sentences."""
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
    """The scheme of spans that the tags are of, if any."""
    if given == "none":
        return None
    if given is None:
        return guess_scheme(tags for part in sentences.parts() for tags in part.lists(column))
    check_scheme(given)
    scheme: Scheme = given
    return scheme


def repairs_for(sentences: Sentences, settings: TaggerSettings, strict: bool) -> Repairs | None:
    """What of the tags must be repaired, unless it is `strict` and refuses them."""
    check_named("strict", switch, strict)
    found = None if settings.scheme is None else find_repairs(sentences, settings.column, settings.scheme)
    if found is not None and strict:
        advice = ("mend the tags, or leave out ", Setting("strict", True), " to have them taken for the nearest")
        raise DataError(found.first, advice=advice)
    return found


def usual_column(sentences: Sentences) -> str:
    """Tags of pairs, or parts of speech, or the last column of a file of columns."""
    for name in (TAG, "upos"):
        if name in sentences.columns:
            return name
    others = [name for name in sentences.columns if name != FORM]
    if not others:
        raise DataError("there is nothing to learn: the sentences have words, but no tags")
    return others[-1]


def usual_inputs(sentences: Sentences, column: str, templates: Any) -> tuple[str, ...]:
    """What templates name; and, of columns without names, those before the one to learn, if the usual is looked at."""
    texts = [USUAL] if templates is None else [text for text in templates if isinstance(text, str)]
    named = {place["name"] for text in texts for place in PLACE.finditer(text)}
    before = USUAL in texts and column.isdigit()
    others = [name for name in sentences.columns if name not in (FORM, column)]
    return tuple(name for name in others if name in named or (before and name.isdigit() and int(name) < int(column)))
