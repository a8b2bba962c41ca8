"""Finds phrases that are hard to read for people who are tired or not native speakers, and suggests better ones.

`python docs/check_prose.py [PATH ...]` prints file, line, phrase and a better phrase, and fails if it finds any.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]

CHECKED = [
    "*.md",
    "docs/*.md",
    "docs/how-to/*.md",
    "docs/tutorials/*.md",
    "docs/comparisons/*.md",
    "examples/*.md",
    "examples/*.py",
    "src/markone/**/*.py",
]
CHECKED += [f"src/markone/play/page/**/*.{ending}" for ending in ("js", "html")]
"""Patterns of the files to check."""

BETTER = {
    # the outcome of a training
    r"beyond all numbers": "training diverged, or: the weights overflowed",
    r"numbers? that (?:are|is) none": "NaN or infinity",
    r"fits? no classes": "the shape does not match the classes",
    r"over-?training": "overfitting",
    r"the commonest": "the most frequent",
    r"takes? for what|taken for what": "confusion matrix",
    # data and features
    r"of the same make": "in the same format",
    r"runs? of (?:words|characters)": "n-grams",
    r"weigh(?:s|ed|ing)": "weight, weighted",
    r"is (?:passed|left) over|are passed over|passes over such": "is skipped, is ignored",
    r"that never were": "invented, generated",
    r"made up by|of its own making": "generated",
    # titles
    r"answers made of parts": "structured prediction",
    r"views of classification": "learning algorithms",
    r"honest experiments": "experiments",
    # training
    r"learn(?:s|ed|ing)? on from": "continue training from",
    r"learn(?:s|ed)? anew|(?:made|sought|laid out|given|starts?) anew": "again",
    r"taken? up again": "resumed",
    r"(?:every )?so many (?:minutes|passes|bytes|rows|times|mistakes|pixels|of the)": "N minutes, N passes, ...",
    r"to the bit": "bit for bit, or: with the same bits",
    r"by halves": "partly",
    # explanations
    r"sp(?:eaks?|oke|oken) (?:most )?(?:for|against)": "is evidence for, supports",
    r"what (?:it|they) goes? by|goes by the": "which features matter, is decided by",
    r"says? what (?:it|they) says?": "makes this prediction",
    # old or foreign turns
    r"lest": "so that ... not",
    r"be it": "whether it is",
    r"be they": "whether they are",
    r"(?:has|have) no say": "is ignored",
    r"(?:is|are) the turn of": "is next",
    r"in good order": "sorted",
    r"near enough": "close enough",
    r"how (?:hard|much|far) .{1,30} pulls": "the coefficient of",
    r"of no account": "ignored, not important",
    r"goes without saying": "leave it out",
    r"whoever (?:is none|has|knows|gives|tries|can)": "a person who, if you",
    r"but for (?:rounding|a rare|those|that|the)": "except for",
    r"and the like": "and similar",
    r"sees? to it": "checks this, enforces this",
    r"as (?:it|they) stands?": "without changes",
    r"at (?:its|their) word": "literally, exactly",
    r"is no part of": "is not part of",
    r"of one's own": "your own",
    r"peculiar to": "specific to",
    r"forth and back": "back and forth",
    r"mend(?:s|ed|ing)?": "repair, fix",
    r"thereof|therein|wherein|whereof|hitherto|henceforth|thence|nought|albeit": "a modern word",
    r"beforehand": "in advance, before",
    r"nameless": "without a name",
    r"foretold|foretell": "predicted",
    r"the house's": "our",
}

LECTURES = ("src/markone/lectures/", "docs/glossary.md")
QUOTED = (r"over-?training", r"views of classification")
"""Phrases that the lectures' topics and the glossary may use, because readers search for the lectures' own words."""

FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]+`")
BETWEEN_WORDS = r"[\s#/*]+"
"""A phrase may continue on the next line, also in a comment."""


class Finding(NamedTuple):
    path: str
    line: int
    phrase: str
    better: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.phrase!r}; better: {self.better}"


def blanked(found: re.Match[str]) -> str:
    """Replaces code by zero bytes, so that it is not searched and the numbers of lines stay right."""
    return re.sub(r"[^\n]", "\0", found[0])


def findings(path: str, text: str) -> Iterator[Finding]:
    """The phrases in a text, in order. In Markdown, blocks of code and code in backticks are not searched."""
    if path.endswith(".md"):
        text = CODE.sub(blanked, FENCE.sub(blanked, text))
    found = [
        (match, better)
        for phrase, better in BETTER.items()
        if not (path.startswith(LECTURES) and phrase in QUOTED)
        for match in re.finditer(rf"\b(?:{phrase.replace(' ', BETWEEN_WORDS)})\b", text, re.IGNORECASE)
    ]
    for match, better in sorted(found, key=lambda one: one[0].start()):
        yield Finding(path, 1 + text.count("\n", 0, match.start()), " ".join(match[0].split()), better)


def files(patterns: Iterable[str] = CHECKED) -> list[Path]:
    return sorted({path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()})


def main(arguments: list[str]) -> int:
    paths = [Path(argument).resolve() for argument in arguments] or files()
    found = [
        finding
        for path in paths
        for finding in findings(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    ]
    for finding in found:
        print(finding)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
