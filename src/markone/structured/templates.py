"""Templates: what a tagger looks at, as short texts.

A template is one or more places, each of them what of a token, and in brackets which token: `lower[0]` is the word
that is to be tagged, in lower case, `suffix3[-1]` the last three characters of the word before it, and
`lower[0] shape[1]` both the word and the shape of the next one, which together are one feature. Of words there are

- `form`, the word as it stands, and `lower`, in lower case;
- `shape`, with X for capitals, x for other letters and d for digits, of which there are no more than three in a row;
- `prefix1` to `prefix5` and `suffix1` to `suffix5`, in lower case;
- `signs`: whether it has digits, hyphens or capitals;
- `known`: the tags that the word has had in training;

and any other column of the sentences by its name. `tag[-1]` and `tag[-2]` are the tags before. `tag[-1]` alone is
always looked at, and is the only one of them that the exact search can look at.
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
TRANSITION = "tag[-1]"
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
"""What is looked at where there are only words."""


def templates_with(inputs: Sequence[str]) -> tuple[str, ...]:
    """What is looked at where other columns are known, such as parts of speech for the phrases that they make up."""
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
    """What of which token."""

    name: str
    offset: int

    def __str__(self) -> str:
        return f"{self.name}[{self.offset}]"


@dataclass(frozen=True, slots=True, repr=False)
class Templates(Brief):
    """Templates that have been understood, and the columns that they look at."""

    texts: tuple[str, ...]
    """In the order in which they are numbered, the same written alike."""
    places: tuple[tuple[TemplatePlace, ...], ...]
    columns: tuple[str, ...]
    """`form`, and others that are looked at."""

    @classmethod
    def of(cls, texts: Iterable[str], known: Iterable[str] = (), *, looks_back: bool = False) -> Templates:
        """Of texts, which may name the columns that are known.

        Parameters
        ----------
        texts
            The templates. `tag[-1]` is added where it is missing.
        known
            The columns of the sentences.
        looks_back
            Whether templates may look at tags otherwise than by `tag[-1]`.

        Examples
        --------
        >>> Templates.of(["lower[-1] lower[+0]", "upos[1]"], ["upos"]).texts
        ('lower[-1] lower[0]', 'upos[1]', 'tag[-1]')
        """
        if isinstance(texts, str) or not isinstance(texts, Iterable):
            raise problem(f"must be a list of texts such as 'lower[0]', not {texts!r:.80}")
        known = [name for name in known if name != FORM]
        found = [understood(text, known) for text in texts]
        if (transition := (TemplatePlace(TAG, -1),)) not in found:
            found.append(transition)
        if len(found) == 1:
            raise problem("must be at least one that looks at something else than tags")
        if len(found) > MOST:
            raise problem(f"are {len(found)}; there may be {MOST} at most")
        written = [" ".join(map(str, places)) for places in found]
        for text, places in zip(written, found, strict=True):
            if written.count(text) > 1:
                raise problem(f"have {text!r} twice")
            tags = [place for place in places if place.name == TAG]
            if tags and places != transition and not looks_back:
                raise problem(
                    f"have {text!r}, but the exact search sees no tags but by 'tag[-1]' alone",
                    advice=("say ", Setting("decode", "beam"), " or ", Setting("decode", "greedy")),
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
        """The kind of an atom, its size and its column."""
        if name in self.columns:
            return FORM, 0, self.columns.index(name)
        if name in AFFIXES:
            return name[:-1], int(name[-1]), 0
        return name, 0, 0

    def name(self, template: int, values: str) -> str:
        """What a feature is called whose places have these values, as the core writes them.

        >>> Templates.of(["lower[-1] lower[0]"]).name(0, "the\\x1fdog")
        'lower[-1]=the lower[0]=dog'
        """
        places = sorted(self.places[template], key=lambda place: place.name == TAG)  # tags come last
        texts = values.split(BETWEEN, len(places) - 1)
        return " ".join(f"{place}={text}" for place, text in zip(places, texts, strict=False))


BETWEEN = "\x1f"
"""Stands between values where the core writes several."""


def understood(text: str, known: Sequence[str]) -> tuple[TemplatePlace, ...]:
    if not isinstance(text, str) or not text.split():
        raise problem(f"must be texts such as 'lower[0]', not {text!r:.80}")
    return tuple(place_of(word, text, known) for word in text.split())


def place_of(word: str, text: str, known: Sequence[str]) -> TemplatePlace:
    match = PLACE.fullmatch(word)
    if match is None:
        raise problem(f"have {text!r:.80}, in which {word!r:.40} is no place; one is like 'lower[-1]'")
    place = TemplatePlace(match["name"], int(match["offset"]))
    if place.name == TAG and not -FARTHEST_TAG <= place.offset <= -1:
        raise problem(f"have {text!r:.80}; of tags, only tag[-1] and tag[-2] are there to be seen")
    if abs(place.offset) > FARTHEST:
        raise problem(f"have {text!r:.80}, which looks farther than {FARTHEST} tokens")
    names = [*OF_WORDS, TAG, *known]
    if place.name not in names:
        raise problem(
            f"have {text!r:.80}, but there is no {place.name!r:.40}; there are {', '.join(names)}."
            f"{did_you_mean(place.name, names)}"
        )
    return place


def problem(what: str, advice: Words = "") -> SettingsError:
    return SettingsError("templates", what, advice=advice)
