"""Spans: phrases and names, represented by tags of their words in the schemes IOB1, IOB2 and IOBES.

`B-NP` begins a span of the kind NP, `I-NP` is inside a span, `E-NP` ends a span, and `S-NP` is a span of a single word.
`O` is outside of all spans. IOB1 uses B only if a span directly follows another span of the same kind. IOB2 begins each
span with B. IOBES also marks the ends of spans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from markone.brief import of_fields
from markone.errors import DataError, SettingsError, did_you_mean
from markone.structured.sentences import Sentences

Scheme = Literal["IOB1", "IOB2", "IOBES"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
GUESSES: tuple[Scheme, ...] = ("IOB2", "IOBES", "IOB1")
"""The schemes in order of preference."""
MOST_FOREIGN = 0.01
"""The largest share of words with tags that are not tags of spans, which then count as mistakes in the data."""
OUTSIDE = "O"
SIGNS: dict[Scheme, str] = {"IOB1": "IB", "IOB2": "BI", "IOBES": "BIES"}


class Span(NamedTuple):
    """The words from `begin` up to, but not including, `end`."""

    begin: int
    end: int
    kind: str

    def __repr__(self) -> str:
        return of_fields(self)


class TagPart(NamedTuple):
    """The two parts of a tag."""

    sign: str
    kind: str


@lru_cache(4096)
def part_of(tag: str) -> TagPart | None:
    """The parts of a tag; None if it is not a tag of spans.

    >>> part_of("B-NP"), part_of("O"), part_of("NOUN")
    (TagPart(sign='B', kind='NP'), TagPart(sign='O', kind=''), None)
    """
    sign, hyphen, kind = tag.partition("-")
    if tag == OUTSIDE:
        return TagPart(OUTSIDE, "")
    return TagPart(sign, kind) if sign in ("B", "I", "E", "S") and (not hyphen or kind) else None


# ---- from tags to spans and back


def spans_of(tags: Sequence[str]) -> list[Span]:
    """The spans of a sentence with tags in any scheme. Invalid tags are read like conlleval reads them.

    >>> spans_of(["B-NP", "I-NP", "O", "I-NP", "B-NP", "S-VP"])
    [Span(begin=0, end=2, kind='NP'), Span(begin=3, end=4, kind='NP'), Span(begin=4, end=5, kind='NP'), \
Span(begin=5, end=6, kind='VP')]
    """
    found: list[Span] = []
    open_at: int | None = None
    kind = ""
    for i, tag in enumerate(tags):
        part = part_of(tag)
        if part is None:
            raise DataError(no_part(tag))
        begins = part.sign in "BS" or (part.sign != OUTSIDE and (open_at is None or part.kind != kind))
        if open_at is not None and (begins or part.sign == OUTSIDE):
            found.append(Span(open_at, i, kind))
            open_at = None
        if begins:
            open_at, kind = i, part.kind
        if open_at is not None and part.sign in "ES":
            found.append(Span(open_at, i + 1, kind))
            open_at = None
    if open_at is not None:
        found.append(Span(open_at, len(tags), kind))
    return found


def tags_of(spans: Iterable[Span], words: int, scheme: Scheme) -> list[str]:
    """The tags of a sentence with `words` words and these spans, which must not overlap.

    >>> tags_of([Span(0, 2, "NP"), Span(2, 3, "NP")], 4, "IOB1")
    ['I-NP', 'I-NP', 'B-NP', 'O']
    """
    check_scheme(scheme)
    tags = [OUTSIDE] * words
    before: Span | None = None
    for span in sorted(spans):
        if not 0 <= span.begin < span.end <= words or (before is not None and span.begin < before.end):
            raise DataError(f"{span} is not within the {words} words, or overlaps another span")
        touches = before is not None and before.end == span.begin and before.kind == span.kind
        for i in range(span.begin, span.end):
            tags[i] = with_kind(sign_in(scheme, i == span.begin, i + 1 == span.end, touches), span.kind)
        before = span
    return tags


def sign_in(scheme: Scheme, first: bool, last: bool, touches: bool) -> str:
    """The sign of a word in a span. `touches` says whether the span directly follows another one of its kind."""
    if scheme == "IOBES" and last:
        return "S" if first else "E"
    return "B" if first and (scheme != "IOB1" or touches) else "I"


def with_kind(sign: str, kind: str) -> str:
    return f"{sign}-{kind}" if kind else sign


def convert(tags: Sequence[str], scheme: Scheme) -> list[str]:
    """Convert tags into another scheme.

    >>> convert(["B-NP", "I-NP", "O", "B-NP"], "IOBES")
    ['B-NP', 'E-NP', 'O', 'S-NP']
    """
    return tags_of(spans_of(tags), len(tags), scheme)


# ---- which tags may follow which


def may_follow(before: TagPart | None, after: TagPart | None, scheme: Scheme) -> bool:
    """Whether one tag may follow another. None is the start or the end of the sentence."""
    goes_on = before is not None and after is not None and before.kind == after.kind
    if scheme == "IOB2":
        return after is None or after.sign != "I" or (goes_on and before is not None and before.sign in "BI")
    if scheme == "IOB1":
        return after is None or after.sign != "B" or (goes_on and before is not None and before.sign in "BI")
    inside = before is not None and before.sign in "BI"
    if after is None or after.sign not in "IE":
        return not inside
    return inside and goes_on


def transition_mask(tags: Sequence[str], scheme: Scheme) -> NDArray[np.bool_]:
    """The allowed transitions: `mask[i, j]` says whether `tags[j]` may follow `tags[i]`. The last row is the start of a
    sentence, and the last column its end.

    A tag from which the end cannot be reached, because the tags that must follow are missing, may follow no tag.

    >>> transition_mask(["O", "B-NP", "I-NP"], "IOB2").astype(int)
    array([[1, 1, 0, 1],
           [1, 1, 1, 1],
           [1, 1, 1, 1],
           [1, 1, 0, 1]])
    """
    check_scheme(scheme)
    parts: list[TagPart | None] = [checked_part(tag, scheme) for tag in tags]
    parts.append(None)
    mask = np.array([[may_follow(before, after, scheme) for after in parts] for before in parts], bool)
    useful = mask[:-1, -1].copy()
    while True:
        more = useful | (mask[:-1, :-1] & useful).any(axis=1)
        if (more == useful).all():
            break
        useful = more
    mask[:, :-1] &= useful
    return mask


def checked_part(tag: str, scheme: Scheme) -> TagPart:
    part = part_of(tag)
    if part is None or part.sign not in (OUTSIDE, *SIGNS[scheme]):
        raise DataError(f"{tag!r} is not a tag of the scheme {scheme}")
    return part


def check_scheme(scheme: str) -> None:
    if scheme not in SCHEMES:
        known = ", ".join(map(repr, SCHEMES))
        raise SettingsError("scheme", f"must be one of {known}, not {scheme!r}.{did_you_mean(str(scheme), SCHEMES)}")


# ---- checking and repairing tags


def first_break(tags: Sequence[str], scheme: Scheme) -> int | None:
    """The first word whose tag is not valid at its place; or the last word, if the sentence may not end there."""
    before: TagPart | None = None
    for i, tag in enumerate(tags):
        part = part_of(tag)
        if part is None or part.sign not in (OUTSIDE, *SIGNS[scheme]) or not may_follow(before, part, scheme):
            return i
        before = part
    return len(tags) - 1 if tags and not may_follow(before, None, scheme) else None


def count_breaks(sentences: Iterable[Sequence[str]]) -> tuple[Counter[str], dict[Scheme, int]]:
    """The tags of some sentences and, for each scheme, the number of invalid transitions."""
    tags: Counter[str] = Counter()
    pairs: Counter[tuple[str | None, str | None]] = Counter()
    for sentence in sentences:
        tags.update(sentence)
        pairs.update(pairwise([None, *sentence, None]))
    wrong = {scheme: sum(count for pair, count in pairs.items() if is_break(*pair, scheme)) for scheme in SCHEMES}
    return tags, wrong


def is_break(before: str | None, after: str | None, scheme: Scheme) -> bool:
    """Whether a transition is invalid. None is the start or the end of a sentence."""
    if after is not None and not is_of(after, scheme):
        return True
    one = part_of(before) if before is not None and is_of(before, scheme) else None
    return not may_follow(one, None if after is None else part_of(after), scheme)


def is_of(tag: str, scheme: Scheme) -> bool:
    part = part_of(tag)
    return part is not None and part.sign in (OUTSIDE, *SIGNS[scheme])


def guess_scheme(sentences: Iterable[Sequence[str]]) -> Scheme | None:
    """The scheme in which most of the sentences' tags are valid; None if they are not tags of spans.

    If tags are equally valid in several schemes, the result is the first of IOB2, IOBES, IOB1. Files contain mistakes:
    if tags have kinds, as in `B-NP`, some may be invalid, and one in a hundred need not be a tag of a span.

    >>> guess_scheme([["B-NP", "I-NP", "O"]]), guess_scheme([["I-NP", "B-NP"]]), guess_scheme([["DET", "NOUN"]])
    ('IOB2', 'IOB1', None)
    >>> guess_scheme([["B-NP", "I-NP", "O"], ["O", "I-NP"]])
    'IOB2'
    """
    tags, wrong = count_breaks(sentences)
    best = min(GUESSES, key=lambda scheme: wrong[scheme])
    if set(tags) <= {OUTSIDE} or not are_spans(tags):
        return None
    kinds = any(part is not None and part.kind for part in map(part_of, tags))
    return best if kinds or wrong[best] == 0 else None


def are_spans(tags: Counter[str]) -> bool:
    """Whether all tags are tags of spans, except for a few mistakes."""
    foreign = sum(count for tag, count in tags.items() if part_of(tag) is None)
    return foreign <= MOST_FOREIGN * tags.total()


@dataclass(frozen=True, slots=True)
class Repairs:
    """Tags that are not valid in their scheme. They are replaced by the nearest valid tags, as in conlleval. Tags that
    are not tags of spans are replaced by `O`."""

    scheme: Scheme
    count: int
    """The number of replaced tags."""
    first: str
    """The position of the first invalid tag, and what is wrong with it."""

    def __str__(self) -> str:
        tags = "1 tag is" if self.count == 1 else f"{self.count:,} tags are"
        replaced = (
            "was replaced by the nearest valid tag" if self.count == 1 else "were replaced by the nearest valid tags"
        )
        return f"{tags} not valid in the scheme {self.scheme}, and {replaced}; the first: {self.first}"


def repaired(tags: Sequence[str], scheme: Scheme) -> list[str]:
    """The nearest tags that are valid in the scheme.

    >>> repaired(["O", "I-NP", "I-NP", "?"], "IOB2")
    ['O', 'B-NP', 'I-NP', 'O']
    """
    return convert([OUTSIDE if part_of(tag) is None else tag for tag in tags], scheme)


def find_repairs(sentences: Sentences, column: str, scheme: Scheme) -> Repairs | None:
    """The repairs that make a column's tags valid in the scheme; None if all are valid."""
    tags, wrong = count_breaks(tags for part in sentences.parts() for tags in part.lists(column))
    if not wrong[scheme]:
        return None
    try:
        check_spans(sentences, column, scheme)
    except DataError as error:
        if not are_spans(tags):
            raise
        first = str(error)
    lists = (tags for part in sentences.parts() for tags in part.lists(column))
    count = sum(
        sum(one != other for one, other in zip(tags, repaired(tags, scheme), strict=True))
        for tags in lists
        if first_break(tags, scheme) is not None
    )
    return Repairs(scheme, count, first)


def check_spans(sentences: Sentences, column: str, scheme: Scheme) -> None:
    """Check that a column's tags are valid in the scheme. The error names the first invalid tag."""
    check_scheme(scheme)
    lists = (tags for part in sentences.parts() for tags in part.lists(column))
    for sentence, tags in enumerate(lists):
        wrong = first_break(tags, scheme)
        if wrong is not None:
            place = sentences.place_of(int(sentences.starts[sentence]) + wrong)
            checked_at(place, tags[wrong], scheme)
            at_end = first_break([*tags, OUTSIDE], scheme) == len(tags)
            after = f"after {tags[wrong - 1]!r}" if wrong else "at the start of a sentence"
            where = "at the end of a sentence" if at_end else after
            raise DataError(f"{place}: {tags[wrong]!r} is not allowed {where} in the scheme {scheme}")


def check_parts(sentences: Sentences, column: str) -> None:
    """Check that all tags are tags of spans, in valid order or not. The error names the first other tag."""
    tags = sentences.column(column).tolist()
    foreign = {tag for tag in set(tags) if part_of(tag) is None}
    if foreign:
        word = next(i for i, tag in enumerate(tags) if tag in foreign)
        raise DataError(f"{sentences.place_of(word)}: {no_part(tags[word])}")


def no_part(tag: str) -> str:
    return f"{tag!r} is not a tag of a span, such as 'B-NP', 'I-NP' or 'O'"


def checked_at(place: str, tag: str, scheme: Scheme) -> None:
    try:
        checked_part(tag, scheme)
    except DataError as error:
        raise DataError(f"{place}: {error}") from None
