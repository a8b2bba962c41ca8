"""Settings of a tagger: what it tags, what it looks at, and how it learns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from markone import _core
from markone.brief import Brief
from markone.data.options import check_choice
from markone.errors import DataError, Setting, SettingsError
from markone.structured.checking import check_passes, is_number, whole
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


@dataclass(frozen=True, slots=True, repr=False)
class TaggerSettings(Brief):
    """Settings of a tagger, spelled out: see `Tagger.train`."""

    column: str
    inputs: tuple[str, ...]
    rule: TagRule
    epochs: int
    C: float | None
    average: bool
    decode: Decode
    beam: int | None
    templates: tuple[str, ...]
    scheme: Scheme | None
    learn_as: Scheme | None
    seed: int
    holdout: float
    patience: int | None

    def __post_init__(self) -> None:
        check_choice("rule", self.rule, get_args(TagRule))
        check_choice("decode", self.decode, get_args(Decode))
        for name in ("scheme", "learn_as"):
            if getattr(self, name) is not None:
                check_choice(name, getattr(self, name), SCHEMES)
        if (self.scheme is None) != (self.learn_as is None):
            raise SettingsError("learn_as", "is how spans are learned, and there are none; leave it out")
        if not isinstance(self.average, bool):
            raise SettingsError("average", f"must be True or False, not {self.average!r}")
        check_passes(self.epochs, self.seed, self.holdout, self.patience)
        if self.rule != "mira" and self.C is not None:
            raise SettingsError("C", f"belongs to the rule 'mira', not to {self.rule!r}; leave it out")
        if self.decode != "beam" and self.beam is not None:
            only = ("is the width of ", Setting("decode", "beam"), f", not of {self.decode!r}")
            raise SettingsError("beam", only, value=self.beam, advice="leave it out")
        if self.rule == "mira" and not (is_number(self.C) and float(self.C or 0) > 0):
            raise SettingsError("C", f"must be a number greater than 0, not {self.C!r}")
        if self.decode == "beam":
            whole("beam", self.beam, 2, WIDEST_BEAM)
        for name in (self.column, *self.inputs):
            if not isinstance(name, str):
                raise SettingsError("inputs", f"must be names of columns, not {name!r:.80}")
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
    if not isinstance(column, str):
        raise SettingsError("column", f"must be the name of a column, not {column!r:.80}")
    inputs = given["inputs"]
    if inputs is None:
        inputs = usual_inputs(sentences, column, given["templates"])
    elif isinstance(inputs, str) or not isinstance(inputs, Iterable):
        raise SettingsError("inputs", f"must be a list of names of columns, not {inputs!r:.80}")
    inputs = tuple(inputs)
    templates = given["templates"]
    if templates is None:
        templates = [USUAL]
    elif isinstance(templates, str) or not isinstance(templates, Iterable):
        raise SettingsError("templates", f"must be a list of texts such as 'lower[0]', not {templates!r:.80}")
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
    if not isinstance(strict, bool):
        raise SettingsError("strict", f"must be True or False, not {strict!r:.80}")
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
