"""Draws rooms.svg for how-it-works.md: the data flow, and the rooms in the order of their imports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

DRAWING = Path(__file__).with_name("rooms.svg")

# A room imports only rooms to its right and in the rows below it; `pyproject.toml` has the same order.
ROWS = [
    [
        ("cli", "the command line"),
        ("lectures", "the lectures' claims"),
        ("server", "the HTTP service"),
        ("play", "the playground"),
        ("web", "hosts, headers"),
        ("demo", "generated data"),
    ],
    [
        ("scoring", "many files"),
        ("estimators", "scikit-learn's interface"),
        ("experiments", "validation, tuning"),
        ("plots", "pictures"),
        ("theory", "certificates, traces"),
        ("filtering", "the best rows of files"),
    ],
    [("structured", "taggers, parsers"), ("learning", "learners, passes, checkpoints")],
    [("model", "models, explanations"), ("exporting", "other languages"), ("features", "named features")],
    [
        ("storage", "the model file"),
        ("data", "sources, blocks of rows"),
        ("reporting", "tables, HTML"),
        ("cluster", "Dask, Ray"),
    ],
]
CORE = "base · rows · online · optimum · bayes · network · leave_one_out · levels · text · readers · tagging · parsing"

# Each box of the data flow has a name and an example of what it holds; each arrow says what moves along it.
FLOW = [
    ("your data", "files, frames"),
    ("data", "Source"),
    ("features", "FeatureMap"),
    ("learning", "learner, passes"),
    ("model", "Model"),
]
MOVED = ["bytes", "batches", "rows", "weights"]
ENDS = [("predictions", "explanations"), ("storage", "one model file")]

WIDTH, EDGE = 940, 20
STYLE = """
  .page { fill: #ffffff; stroke: #d0d7de }
  .box { fill: #eef3fa; stroke: #5b7fae }
  .core { fill: #fdf1e3; stroke: #b9772a }
  .apart { fill: none; stroke: #6b7280; stroke-dasharray: 5 4 }
  text { fill: #1f2933; font: 13px system-ui, sans-serif; text-anchor: middle }
  .name { font-weight: 600; font-size: 15px }
  .head { font-weight: 600; font-size: 16px; text-anchor: start }
  .note { fill: #4b5563; text-anchor: start }
  .arrow { fill: none; stroke: #4b5563; stroke-width: 1.5; marker-end: url(#tip) }
  .tip { fill: #4b5563 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #16191d; stroke: #3b424a }
    .box { fill: #1f2b3a; stroke: #7aa2d6 }
    .core { fill: #33261a; stroke: #d99a4e }
    .apart { stroke: #9aa4b0 }
    text { fill: #e6e9ec }
    .note { fill: #b4bcc6 }
    .arrow { stroke: #b4bcc6 }
    .tip { fill: #b4bcc6 }
  }"""


def box(x: float, y: float, width: float, name: str, content: str, style: str = "box") -> str:
    middle = x + width / 2
    return (
        f'<rect class="{style}" x="{x:g}" y="{y:g}" width="{width:g}" height="46" rx="6"/>'
        f'<text class="name" x="{middle:g}" y="{y + 20:g}">{name}</text>'
        f'<text x="{middle:g}" y="{y + 37:g}">{content}</text>'
    )


def arrow(path: str, label: str = "", x: float = 0, y: float = 0) -> str:
    return f'<path class="arrow" d="{path}"/>' + (f'<text x="{x:g}" y="{y:g}">{label}</text>' if label else "")


def flow(top: float) -> Iterator[str]:
    width, gap = 122, 60
    yield f'<text class="head" x="{EDGE}" y="{top}">The data flow</text>'
    y = top + 24
    for i, (name, content) in enumerate(FLOW):
        x = EDGE + i * (width + gap)
        yield box(x, y, width, name, content, "apart" if i == 0 else "box")
        if i > 0:
            yield arrow(f"M{x - gap + 2:g} {y + 23:g}H{x - 8:g}", MOVED[i - 1], x - gap / 2, y + 14)
    learning = EDGE + 3 * (width + gap)
    model = EDGE + 4 * (width + gap) + width / 2
    yield box(learning, y + 92, width, "_core", "loops in C++", "core")
    yield arrow(f"M{learning + 42:g} {y + 48:g}V{y + 86:g}", "blocks", learning + 18, y + 72)
    yield arrow(f"M{learning + 82:g} {y + 90:g}V{y + 52:g}", "weights", learning + 110, y + 72)
    yield box(model - width / 2, y + 92, width, *ENDS[0], "apart")
    yield arrow(f"M{model:g} {y + 48:g}V{y + 86:g}")
    yield box(model - width / 2, y + 152, width, *ENDS[1])
    edge = model + width / 2
    yield arrow(f"M{edge + 2:g} {y + 23:g}H{edge + 22:g}V{y + 175:g}H{edge + 8:g}")


def rooms(top: float) -> Iterator[str]:
    yield f'<text class="head" x="{EDGE}" y="{top}">The rooms</text>'
    note = "A room imports only rooms to its right and in the rows below it."
    yield f'<text class="note" x="{EDGE + 108}" y="{top}">{note}</text>'
    room, gap = WIDTH - 2 * EDGE - 190, 12
    for i, row in enumerate(ROWS):
        width = (room - gap * (len(row) - 1)) / len(row)
        for j, (name, content) in enumerate(row):
            yield box(EDGE + j * (width + gap), top + 18 + 58 * i, width, name, content)
    bottom = top + 18 + 58 * len(ROWS)
    yield box(EDGE, bottom, room, "_core", CORE, "core")
    yield (
        f'<rect class="apart" x="{EDGE + room + 20}" y="{top + 18}" width="170" height="{bottom - top + 28}" rx="6"/>'
        f'<text class="name" x="{EDGE + room + 105}" y="{top + 150}">reference</text>'
    )
    for i, line in enumerate(
        [
            "every algorithm again,",
            "in plain Python;",
            "it imports nothing else,",
            "and tests compare",
            "the core with it",
        ]
    ):
        yield f'<text x="{EDGE + room + 105}" y="{top + 172 + 17 * i}">{line}</text>'


def draw() -> str:
    split, height = 282, 670
    parts = "\n".join([*flow(36), *rooms(split)])
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">
<style>{STYLE}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path class="tip" d="M0 0L8 4L0 8Z"/></marker></defs>
<rect class="page" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="10"/>
{parts}
</svg>
"""


if __name__ == "__main__":
    DRAWING.write_text(draw(), encoding="utf-8")
