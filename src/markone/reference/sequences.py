"""Tag sequences: the structured perceptron (Collins 2002), with a search through all sequences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from markone.reference.vectors import Number

Sentence = Mapping[str, Sequence[str]]
"""The columns of a sentence. `form` contains the words, and `known` the tags that they had in other sentences."""
Tags = tuple[str, ...]
Feature = tuple[str, str]
"""The values of a template, and the tag of the word."""
START = "(start)"
BITS = 2**64 - 1


# ---- features


def shape(word: str) -> str:
    """
    >>> shape("McDonald-2000")
    'XxXxxx-ddd'
    """
    kinds = "".join("d" if c in "0123456789" else "X" if c.isupper() else "x" if c.isalnum() else c for c in word)
    return re.sub(r"([Xxd])\1{3,}", r"\1\1\1", kinds)


def signs(word: str) -> str:
    letters = [c for c in word if c.isalpha()]
    facts = {
        "digit": any(c in "0123456789" for c in word),
        "hyphen": "-" in word,
        "capital": word[:1].isupper(),
        "capitals": bool(letters) and all(c.isupper() for c in letters),
    }
    return "+".join(name for name, holds in facts.items() if holds) or "none"


def atom(name: str, sentence: Sentence, i: int) -> str:
    """A property of a word; empty for affixes that are longer than the word."""
    word = sentence["form"][i]
    affix = re.fullmatch(r"(prefix|suffix)(\d)", name)
    if affix:
        size, lower = int(affix[2]), word.lower()
        return "" if len(lower) < size else lower[:size] if affix[1] == "prefix" else lower[-size:]
    if name in ("lower", "shape", "signs"):
        return {"lower": str.lower, "shape": shape, "signs": signs}[name](word)
    return sentence[name][i]


def feature(template: str, sentence: Sentence, tags: Tags, i: int) -> str | None:
    """The feature of a template at a word after these tags; None if one of its values is empty."""
    seen = []
    for place in template.split():
        match = re.fullmatch(r"(.+)\[(-?\d+)\]", place)
        assert match is not None
        at, length = i + int(match[2]), len(sentence["form"])
        if match[1] == "tag":
            value = tags[at] if at >= 0 else START
        elif at < 0:
            value = f"({-at} before)"
        elif at >= length:
            value = f"({at - length + 1} after)"
        else:
            value = atom(match[1], sentence, at)
        if not value:
            return None
        seen.append(f"{place}={value}")
    return " ".join(seen)


def features(templates: Sequence[str], sentence: Sentence, tags: Tags) -> Counter[Feature]:
    """The joint features of a sentence and the tags of all its words, or of its first words."""
    return Counter(
        (seen, tags[i])
        for i in range(len(tags))
        for template in templates
        if (seen := feature(template, sentence, tags, i)) is not None
    )


# ---- known tags of words


def mix(z: int) -> int:
    for _ in range(2):
        z = ((z ^ z >> 32) * 0xD6E8FEB86659FD93) & BITS
    return z ^ z >> 32


def known_tags(tagged: Sequence[tuple[str, str]], order: Sequence[str]) -> dict[str, str]:
    """The tags of each word, without tags that are less frequent than one in twenty of its occurrences."""
    counts: dict[str, Counter[str]] = {}
    for word, tag in tagged:
        counts.setdefault(word.lower(), Counter())[tag] += 1
    return {
        word: "|".join(tag for tag in order if 20 * found[tag] >= found.total() and found[tag])
        for word, found in counts.items()
    }


def known_of_others(
    sentences: Sequence[tuple[Sequence[str], Tags]], order: Sequence[str], folds: int
) -> Iterator[list[str]]:
    """The known tags of each sentence's words, computed from the sentences of the other folds."""
    fold_of = [mix(number + 1) % folds for number in range(len(sentences))]
    for fold, (words, _) in zip(fold_of, sentences, strict=True):
        others = [
            pair
            for other, (form, tags) in zip(fold_of, sentences, strict=True)
            if other != fold
            for pair in zip(form, tags, strict=True)
        ]
        known = known_tags(others, order)
        yield [known.get(word.lower()) or NOTHING for word in words]


NOTHING = "nothing"


# ---- learning


@dataclass
class TagLearner:
    """Weights of joint features. A step adds a multiple of the difference between the right and the best sequence."""

    tags: Sequence[str]
    templates: Sequence[str]
    rule: str = "perceptron"
    C: Number = 1
    decode: str = "viterbi"
    beam: int = 1
    forbidden: frozenset[tuple[str, str]] = frozenset()
    """Pairs of tags that may not follow each other. START may be the first of a pair, and END the second."""

    w: dict[Feature, Number] = field(default_factory=dict)
    total: dict[Feature, Number] = field(default_factory=dict)
    t: int = 0
    mistakes: int = 0
    updates: int = 0
    loss: Number = 0

    def learn(self, sentences: Sequence[tuple[Sentence, Tags]]) -> None:
        """One pass."""
        for sentence, right in sentences:
            if self.decode == "greedy":
                self.visit_greedily(sentence, right)
            elif self.decode == "beam":
                self.visit_by_beam(sentence, right)
            else:
                self.visit(sentence, right)
            self.t += 1
            for one, value in self.w.items():
                self.total[one] = self.total.get(one, 0) + value

    def average(self) -> dict[Feature, Number]:
        return {one: value / self.t for one, value in self.total.items()}

    # ---- search

    def score(self, sentence: Sentence, tags: Tags) -> Number:
        return sum(self.w.get(one, 0) * times for one, times in features(self.templates, sentence, tags).items())

    def is_allowed(self, tags: Tags, whole: bool = True) -> bool:
        pairs = [*zip((START, *tags), tags, strict=False), *([(tags[-1], END)] if tags and whole else [])]
        return not self.forbidden.intersection(pairs)

    def order(self, tags: Tags) -> list[int]:
        """The order among sequences with equal scores. The last tags count most."""
        return [self.tags.index(tag) for tag in reversed(tags)]

    def ranked(self, sentence: Sentence, right: Tags | None = None) -> list[tuple[Number, Tags]]:
        """All sequences, the best first. If the right one is given, the number of wrong tags is added to each score."""
        found = [
            (self.score(sentence, tags) + (0 if right is None else wrong_tags(tags, right)), tags)
            for tags in product(self.tags, repeat=len(sentence["form"]))
            if self.is_allowed(tags)
        ]
        return sorted(found, key=lambda one: (-one[0], self.order(one[1])))

    def beams(self, sentence: Sentence, right: Tags | None = None) -> list[list[tuple[Number, Tags]]]:
        """The partial sequences in the beam at each word, the best first."""
        length, memory = len(sentence["form"]), memory_of(self.templates)
        kept: list[tuple[Number, Tags]] = [(0, ())]
        steps = []
        for i in range(length):
            longer = []
            for number, (_, tags) in enumerate(kept):
                for tag in self.tags:
                    more = (*tags, tag)
                    if self.is_allowed(more, i + 1 == length):
                        cost = 0 if right is None else wrong_tags(more, right[: i + 1])
                        longer.append((self.score(sentence, more) + cost, number, self.tags.index(tag), more))
            longer.sort(key=lambda one: (-one[0], one[1], one[2]))
            kept, states = [], set()
            for score, _, _, tags in longer:
                state = tags[-memory:]
                if state not in states and len(kept) < self.beam:
                    states.add(state)
                    kept.append((score, tags))
            steps.append(kept)
        return steps

    def predict(self, sentence: Sentence) -> Tags:
        if not sentence["form"]:
            return ()
        if self.decode == "viterbi":
            return self.ranked(sentence)[0][1]
        return TagLearner.beams(self if self.decode == "beam" else self.one_wide(), sentence)[-1][0][1]

    def one_wide(self) -> TagLearner:
        return TagLearner(self.tags, self.templates, beam=1, forbidden=self.forbidden, w=self.w)

    # ---- visits

    def visit(self, sentence: Sentence, right: Tags) -> None:
        if not right:
            return
        found = self.predict(sentence)
        self.mistakes += found != right
        if self.rule == "mira":
            found = self.ranked(sentence, right)[0][1]
        self.update(sentence, right, found)

    def visit_by_beam(self, sentence: Sentence, right: Tags) -> None:
        """Update at the largest violation: where a partial sequence is furthest ahead of the right one (Huang, Fayong &
        Guo 2012)."""
        if not right:
            return
        wrong = self.predict(sentence) != right
        self.mistakes += wrong
        if self.rule == "perceptron" and not wrong:
            return
        most, worst = 0, None
        for i, kept in enumerate(self.beams(sentence, right if self.rule == "mira" else None)):
            score, tags = kept[0]
            ahead = score - self.score(sentence, right[: i + 1])
            if ahead >= most and tags != right[: i + 1]:
                most, worst = ahead, tags
        if worst is not None:
            self.update(sentence, right[: len(worst)], worst)

    def visit_greedily(self, sentence: Sentence, right: Tags) -> None:
        """Update at each word, after the predicted tags of the words before it."""
        said: Tags = ()
        moved = False
        for i, tag in enumerate(right):
            whole = i + 1 == len(right)
            scores = {
                other: self.score(sentence, (*said, other)) - self.score(sentence, said)
                for other in self.tags
                if self.is_allowed((*said, other), whole)
            }
            best = max(scores, key=lambda other: scores[other])
            rivals = [other for other in scores if other != tag]
            if rivals and tag in scores and (self.rule == "mira" or best != tag):
                rival = max(rivals, key=lambda other: scores[other])
                before = self.updates
                self.update(sentence, (*said, tag), (*said, rival))
                moved |= self.updates > before
                self.updates = before
            said = (*said, best)
        self.updates += moved
        self.mistakes += said != right

    def update(self, sentence: Sentence, right: Tags, found: Tags) -> None:
        """The perceptron adds the difference of the features. MIRA adds the multiple of it, at most C, with which the
        right sequence wins by the cost."""
        if found == right:
            return
        difference = features(self.templates, sentence, right)
        difference.subtract(features(self.templates, sentence, found))
        lost = self.score(sentence, found) - self.score(sentence, right)
        tau: Number = 1
        loss = lost
        if self.rule == "mira":
            norm2 = sum(times * times for times in difference.values())
            loss = lost + wrong_tags(found, right)
            tau = min(self.C, loss / norm2) if norm2 and loss > 0 else 0
        self.loss += max(0, loss)
        if tau:
            self.updates += 1
            for one, times in difference.items():
                if times:
                    self.w[one] = self.w.get(one, 0) + tau * times


END = "(end)"


def wrong_tags(found: Tags, right: Tags) -> int:
    return sum(one != other for one, other in zip(found, right, strict=True))


def memory_of(templates: Sequence[str]) -> int:
    """The number of previous tags that templates use."""
    return max([1, *(int(back) for template in templates for back in re.findall(r"tag\[-(\d)\]", template))])
