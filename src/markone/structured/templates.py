"""Templates: short texts that describe the features of a tagger.

A template consists of one or more places. A place names a property, and in brackets the token that has it: `lower[0]`
is the word to be tagged, in lower case, `suffix3[-1]` is the last three characters of the previous word, and
`lower[0] shape[1]` is a feature that combines the word and the shape of the next word. The properties of words are

- `form`, the unchanged word, and `lower`, the word in lower case;
- `shape`, with X for capitals, x for other letters and d for digits, at most three of the same kind in a row;
- `prefix1` to `prefix5` and `suffix1` to `suffix5`, in lower case;
- `signs`: whether the word contains digits, hyphens or capitals;
- `known`: the tags that the word had in training;

and all other columns of the sentences, by name. `tag[-1]` and `tag[-2]` are the previous tags. The template `tag[-1]`
is always used. The exact search cannot use other templates with tags.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markone import _core
from markone.brief import Brief
from markone.errors import Setting, SettingsError, Words, did_you_mean

FORM = "form"
TAG = "tag"
LONGEST_AFFIX = 5
FARTHEST = 8
FARTHEST_TAG = 2
MOST = 1000
AFFIXES = tuple(f"{kind}{size}" for kind in ("prefix", "suffix") for size in range(1, LONGEST_AFFIX + 1))
OF_WORDS = (FORM, "lower", "shape", "signs", "known", *AFFIXES)
PLACE = re.compile(r"(?P<name>[^\[\]\s]+)\[(?P<offset>[+-]?\d{1,4})\]")

WORDS = (
    "form[0]",
    "lower[0]",
    "shape[0]",
    "signs[0]",
    "known[0]",
    *(f"{affix}[0]" for affix in AFFIXES),
    *(f"lower[{offset}]" for offset in (-2, -1, 1, 2)),
    *(f"{atom}[{offset}]" for atom in ("form", "suffix2", "suffix3", "shape", "known") for offset in (-1, 1)),
    "lower[-1] lower[1]",
    *(f"{atom}[{offset}] {atom}[{offset + 1}]" for atom in ("form", "lower", "suffix3", "known") for offset in (-1, 0)),
    "known[-1] known[1]",
    "known[-2] known[-1]",
    "known[1] known[2]",
    *(f"signs[0] known[{offset}]" for offset in (-1, 0, 1)),
    "signs[-1] signs[0] signs[1]",
    "shape[0] suffix2[0]",
    "prefix2[0] suffix2[0]",
    "suffix3[0] known[-1]",
    "suffix3[0] known[1]",
)
"""The default templates for sentences of words alone."""


def templates_with(inputs: Sequence[str]) -> tuple[str, ...]:
    """The default templates for words and other columns, for example parts of speech as input for phrases."""
    if not inputs:
        return WORDS
    found = [
        "form[0]",
        *(f"lower[{offset}]" for offset in (-2, -1, 0, 1, 2)),
        "lower[-1] lower[0]",
        "lower[0] lower[1]",
        "suffix2[0]",
        "suffix3[0]",
        "prefix2[0]",
        "prefix3[0]",
        "shape[0]",
        "known[-1]",
        "known[0]",
        "known[1]",
    ]
    for name in inputs:
        found += [f"{name}[{offset}]" for offset in (-2, -1, 0, 1, 2)]
        found += [f"{name}[{offset}] {name}[{offset + 1}]" for offset in (-2, -1, 0, 1)]
        found += [f"{name}[{offset}] {name}[{offset + 1}] {name}[{offset + 2}]" for offset in (-2, -1, 0)]
        found += [f"lower[0] {name}[0]", f"lower[-1] {name}[0]", f"{name}[0] lower[1]"]
        found += [f"{name}[-1] lower[0]", f"lower[0] {name}[1]", f"{name}[0] known[0]"]
    return tuple(found)


class TemplatePlace(NamedTuple):
    """A property, and the position of the token that has it."""

    name: str
    offset: int

    def __str__(self) -> str:
        return f"{self.name}[{self.offset}]"


@dataclass(frozen=True, slots=True, repr=False)
class Templates(Brief):
    """Parsed templates, and the columns that they use."""

    texts: tuple[str, ...]
    """The templates in the order of their numbers, in a normal form."""
    places: tuple[tuple[TemplatePlace, ...], ...]
    columns: tuple[str, ...]
    """`form`, and the other columns that are used."""

    @classmethod
    def of(cls, texts: Iterable[str], known: Iterable[str] = (), *, looks_back: bool = False) -> Templates:
        """Parse texts.

        Parameters
        ----------
        texts
            The templates. `tag[-1]` is added if it is missing.
        known
            The columns that templates may use.
        looks_back
            Whether templates other than `tag[-1]` may use tags.

        Examples
        --------
        >>> Templates.of(["lower[-1] lower[+0]", "upos[1]"], ["upos"]).texts
        ('lower[-1] lower[0]', 'upos[1]', 'tag[-1]')
        """
        if isinstance(texts, str) or not isinstance(texts, Iterable):
            raise problem(f"must be a list of texts such as 'lower[0]', not {texts!r:.80}")
        known = [name for name in known if name != FORM]
        found = [parsed(text, known) for text in texts]
        if (transition := (TemplatePlace(TAG, -1),)) not in found:
            found.append(transition)
        if len(found) == 1:
            raise problem("must contain at least one template that uses something other than tags")
        if len(found) > MOST:
            raise problem(f"must be at most {MOST}, not {len(found)}")
        written = [" ".join(map(str, places)) for places in found]
        for text, places in zip(written, found, strict=True):
            if written.count(text) > 1:
                raise problem(f"contain {text!r} twice")
            tags = [place for place in places if place.name == TAG]
            if tags and places != transition and not looks_back:
                raise problem(
                    f"contain {text!r}, but the exact search cannot use tags except with 'tag[-1]'",
                    advice=("use ", Setting("decode", "beam"), " or ", Setting("decode", "greedy")),
                )
        columns = dict.fromkeys(place.name for places in found for place in places if place.name in known)
        return cls(tuple(written), tuple(found), (FORM, *columns))

    def for_core(self) -> _core.TagTemplates:
        atoms: dict[tuple[str, int, int], int] = {}
        patterns: list[tuple[list[tuple[int, int]], list[int]]] = []
        for places in self.places:
            seen = [
                (atoms.setdefault(self.atom(place.name), len(atoms)), place.offset)
                for place in places
                if place.name != TAG
            ]
            patterns.append((seen, [-place.offset for place in places if place.name == TAG]))
        return _core.TagTemplates(columns=len(self.columns), atoms=list(atoms), patterns=patterns)

    def atom(self, name: str) -> tuple[str, int, int]:
        """The kind of an atom, its length and its column."""
        if name in self.columns:
            return FORM, 0, self.columns.index(name)
        if name in AFFIXES:
            return name[:-1], int(name[-1]), 0
        return name, 0, 0

    def name(self, template: int, values: str) -> str:
        """The name of a feature with these values, which the core has joined into one text.

        >>> Templates.of(["lower[-1] lower[0]"]).name(0, "the\\x1fdog")
        'lower[-1]=the lower[0]=dog'
        """
        places = sorted(self.places[template], key=lambda place: place.name == TAG)  # tags come last
        texts = values.split(BETWEEN, len(places) - 1)
        return " ".join(f"{place}={text}" for place, text in zip(places, texts, strict=False))


BETWEEN = "\x1f"
"""The separator of values that the core joins."""


def parsed(text: str, known: Sequence[str]) -> tuple[TemplatePlace, ...]:
    if not isinstance(text, str) or not text.split():
        raise problem(f"must be texts such as 'lower[0]', not {text!r:.80}")
    return tuple(place_of(word, text, known) for word in text.split())


def place_of(word: str, text: str, known: Sequence[str]) -> TemplatePlace:
    match = PLACE.fullmatch(word)
    if match is None:
        raise problem(f"contain {text!r:.80}, in which {word!r:.40} is not a valid place, such as 'lower[-1]'")
    place = TemplatePlace(match["name"], int(match["offset"]))
    if place.name == TAG and not -FARTHEST_TAG <= place.offset <= -1:
        raise problem(f"contain {text!r:.80}, but only the tags tag[-1] and tag[-2] can be used")
    if abs(place.offset) > FARTHEST:
        raise problem(f"contain {text!r:.80}, but a place may be at most {FARTHEST} tokens away")
    names = [*OF_WORDS, TAG, *known]
    if place.name not in names:
        raise problem(
            f"contain {text!r:.80}, but {place.name!r:.40} does not exist; use one of {', '.join(names)}."
            f"{did_you_mean(place.name, names)}"
        )
    return place


def problem(what: str, advice: Words = "") -> SettingsError:
    return SettingsError("templates", what, advice=advice)
