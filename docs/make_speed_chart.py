"""Draws speed.svg for the README and the start page: how long four programs need to learn from texts.

The numbers are those of benchmarks/RESULTS.md. Our time is the longest of those that were measured beside the others.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
from docs.results import cases

DRAWING = Path(__file__).with_name("speed.svg")
PEERS = ("Vowpal Wabbit", "fastText", "scikit-learn")
CASE = "text to model ({}): imdb.tsv"

WIDTH, LEFT, RIGHT, TOP, STEP, BAR = 560, 124, 132, 66, 36, 22
STYLE = """
  text { fill: #1f2933; font: 15px system-ui, sans-serif }
  .head { font-weight: 600; font-size: 17px }
  .name { text-anchor: end }
  .quiet { fill: #59636e }
  .bar { fill: #9aa4b0 }
  .ours { fill: #0072b2 }
  .bold { font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6e6e6 }
    .quiet { fill: #9aa4b0 }
    .bar { fill: #6b7681 }
    .ours { fill: #4aa8e0 }
  }
"""


class Bar(NamedTuple):
    name: str
    seconds: float
    accuracy: float


def bars() -> list[Bar]:
    found = cases()
    beside = [found[CASE.format(peer)] for peer in PEERS]
    theirs = [Bar(peer, one.theirs, one.their_accuracy or 0) for peer, one in zip(PEERS, beside, strict=True)]
    return [Bar("Markone", max(one.ours for one in beside), beside[0].accuracy or 0), *theirs]


def draw() -> str:
    return "\n".join(lines(bars())) + "\n"


def lines(shown: list[Bar]) -> Iterator[str]:
    height = TOP + STEP * len(shown) + 26
    longest = max(bar.seconds for bar in shown)
    said = "; ".join(f"{bar.name} {in_words(bar)}" for bar in shown)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">'
    yield f"<title>From a file of 25,000 film reviews to a model: {said}</title>"
    yield f"<style>{STYLE}</style>"
    yield '<text class="head" x="8" y="26">From a file of 25,000 film reviews to a model</text>'
    yield '<text class="quiet" x="8" y="48">seconds on one core, and accuracy on 25,000 other reviews</text>'
    for number, bar in enumerate(shown):
        top = TOP + STEP * number
        middle = top + BAR - 6
        width = (WIDTH - LEFT - RIGHT) * bar.seconds / longest
        ours = ' class="bar ours"' if number == 0 else ' class="bar"'
        bold = ' class="bold"' if number == 0 else ""
        name = "name bold" if number == 0 else "name"
        yield f'<text class="{name}" x="{LEFT - 10}" y="{middle}">{bar.name}</text>'
        yield f'<rect{ours} x="{LEFT}" y="{top}" width="{width:.1f}" height="{BAR}" rx="3"/>'
        yield f'<text{bold} x="{LEFT + width + 10:.1f}" y="{middle}">{in_words(bar)}</text>'
    yield f'<text class="quiet" x="{LEFT}" y="{height - 10}">words and pairs of words, five passes</text>'
    yield "</svg>"


def in_words(bar: Bar) -> str:
    return f"{bar.seconds:.2f} s, {bar.accuracy:.1f} %"


if __name__ == "__main__":
    DRAWING.write_text(draw(), encoding="utf-8")
