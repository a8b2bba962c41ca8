"""Charts as data: points, lines, bars and pixels, which a terminal shows as text and `plots.chart` as a picture."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from markone.brief import Brief
from markone.reporting.grids import SCREEN, cells, plain_number, shortened, visible

MARKS = "●○▲□◆+×"
"""The marks of points in a terminal, by the number of their series."""
BRAILLE = 0x2800
DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
"""The bits of the eight dots of a braille character, by column and row."""
ACROSS, DOWN = len(DOTS), len(DOTS[0])
SHADES = " ░▒▓█"
NARROWEST, WIDEST, TALLEST = 12, 64, 16
LONGEST_NAME = 24
BETWEEN = "   "
"""The space between two names of a legend."""
STYLES = {
    "solid": ("──", "#"),
    "dashed": ("╌╌", "####    "),
    "dotted": ("··", "#   "),
    "dash-dot": ("─·", "######  #   "),
}
"""The styles of lines in a terminal: the sign in the legend, and which dots of a line are drawn."""
PLAIN_FIRST = ("solid", "dash-dot", "dotted", "dashed")
DASHED_FIRST = ("dashed", "dotted", "dash-dot", "solid")
"""The order in which the lines of a chart take their styles."""
ROOM = 0.04
"""The part of the range that stays free on each side."""


@dataclass(frozen=True, slots=True)
class Points:
    """Points in the plane that belong together, such as the examples of a class."""

    xs: Sequence[float]
    ys: Sequence[float]
    name: str = ""
    number: int = 0
    """Chooses the mark and the colour."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points in their order."""

    xs: Sequence[float]
    ys: Sequence[float]
    name: str = ""
    number: int = 0
    """Chooses the colour."""
    dashed: bool = False
    """In a terminal, which has no colours, further lines have further styles."""


@dataclass(frozen=True, slots=True)
class Bars:
    """Numbers with names, as horizontal bars."""

    names: Sequence[str]
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Pixels:
    """An image: rows of numbers. Larger numbers are darker."""

    rows: Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class Cells:
    """A heat map: rows of numbers below and above 0, with the names of the rows and columns."""

    rows: Sequence[Sequence[float]]
    down: Sequence[str]
    """The names of the rows."""
    across: Sequence[str]
    """The names of the columns."""


Part: TypeAlias = Points | Line | Bars | Pixels | Cells


@dataclass(frozen=True, slots=True, repr=False)
class Chart(Brief):
    """A picture as data. As text, it is drawn with characters. Bars, pixels and cells are alone in their chart."""

    parts: tuple[Part, ...]
    title: str = ""
    x: str = ""
    """The name of the horizontal axis."""
    y: str = ""
    """The name of the vertical axis."""
    limits: tuple[float, float, float, float] | None = None
    """The shown range: the least and largest x, and the least and largest y. By default, all numbers are shown."""
    square: bool = False
    """One unit has the same length on both axes."""

    def in_brief(self) -> str:
        return f"chart: {self.title or ', '.join(named(self.parts))}"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, width: int = SCREEN) -> Iterator[str]:
        """Draw the chart with characters, at most `width` cells wide."""
        if self.title:
            yield shortened(self.title, width)
        for part in self.parts:
            if isinstance(part, Bars):
                yield from bar_lines(part, width)
            if isinstance(part, Pixels):
                yield from pixel_lines(part, width)
            if isinstance(part, Cells):
                yield from cell_lines(part, width)
        if any(isinstance(part, Points | Line) for part in self.parts):
            yield from plane_lines(self, width)


def named(parts: Iterable[Part]) -> Iterator[str]:
    return (part.name for part in parts if isinstance(part, Points | Line) and part.name)


def limits_of(chart: Chart) -> tuple[float, float, float, float]:
    """Return the range that a chart of points and lines shows."""
    if chart.limits is not None:
        return chart.limits
    shown = [part for part in chart.parts if isinstance(part, Points | Line)]
    low_x, high_x = spread([x for part in shown for x in part.xs])
    low_y, high_y = spread([y for part in shown for y in part.ys])
    return low_x, high_x, low_y, high_y


def spread(numbers: Sequence[float]) -> tuple[float, float]:
    """Return a range that is a little larger than that of the finite numbers.

    >>> spread([0, 100])
    (-4.0, 104.0)
    """
    finite = [float(number) for number in numbers if math.isfinite(number)] or [0.0]
    low, high = min(finite), max(finite)
    room = ROOM * (high - low) or 1.0
    return low - room, high + room


# ---- bars and pixels


def bar_lines(bars: Bars, width: int) -> Iterator[str]:
    """Draw bars to the right for positive numbers and to the left for negative ones.

    >>> print("\\n".join(bar_lines(Bars(["free", "BIAS"], [4, -2]), 30)))
    free        █████████████    4
    BIAS ▐██████                -2
    """
    names = [shortened(name, LONGEST_NAME) for name in bars.names]
    digits = [plain_number(value) for value in bars.values]
    name_width, digit_width = (max(map(cells, texts), default=0) for texts in (names, digits))
    room = max(width - name_width - digit_width - 3, 8)
    low, high = min(0.0, *bars.values), max(0.0, *bars.values)
    scale = (room - 1) / (high - low) if high > low else 0.0
    left, right = math.ceil(-low * scale), math.ceil(high * scale)
    for name, value, number in zip(names, bars.values, digits, strict=True):
        size = abs(value) * scale
        bar = "█" * int(size) + "▌" * (size % 1 >= 0.5)
        drawn = " " * left + bar if value >= 0 else " " * (left - len(bar)) + bar[::-1].replace("▌", "▐")
        padded = drawn + " " * (left + right - len(drawn))
        yield f"{name}{' ' * (name_width - cells(name))} {padded}  {number:>{digit_width}}"


def pixel_lines(pixels: Pixels, width: int) -> Iterator[str]:
    """Draw an image, with two characters for each pixel if they fit.

    >>> list(pixel_lines(Pixels([[0, 1], [0.5, 0]]), 80))
    ['  ██', '▒▒  ']
    """
    rows = [[float(value) for value in row] for row in pixels.rows]
    low, high = min(map(min, rows)), max(map(max, rows))
    step = (high - low) / (len(SHADES) - 1) or 1.0
    wide = 2 if 2 * len(rows[0]) <= width else 1
    for row in rows:
        yield "".join(SHADES[int((value - low) / step + 0.5)] * wide for value in row[: width // wide])


def cell_lines(cells_of: Cells, width: int) -> Iterator[str]:
    """Draw a heat map: numbers above 0 are filled, numbers below 0 are minus signs, and more of it is further from 0.

    >>> heat = Cells([[-1, 0, 1], [0.5, 0.2, -0.4]], ["young", "old"], ["a", "b", "c"])
    >>> print("\\n".join(cell_lines(heat, 40)))
    young │━━  ██
    old   │▒▒░░╌╌
           a … c, from -1 (━) to 1 (█)
    """
    names = [shortened(name, LONGEST_NAME) for name in cells_of.down]
    side = max(map(cells, names), default=0)
    wide = 1 if side + 2 + 3 * len(cells_of.across) > width else 2
    scale = max((abs(value) for row in cells_of.rows for value in row), default=0.0) or 1.0
    for name, row in zip(names, cells_of.rows, strict=True):
        drawn = "".join(shade(value / scale) * wide for value in row)
        yield f"{name}{' ' * (side - cells(name))} │{drawn}".rstrip()
    low, high = (pick(value for row in cells_of.rows for value in row) for pick in (min, max))
    ends = f"{cells_of.across[0]} … {cells_of.across[-1]}, from {plain_number(low)} (━) to {plain_number(high)} (█)"
    yield " " * (side + 2) + shortened(ends, max(width - side - 2, NARROWEST))


def shade(share: float) -> str:
    """Return the sign of a number between -1 and 1."""
    filled, empty = " ░▒▓█", " ┄╌─━"
    level = int(abs(share) * (len(filled) - 1) + 0.5)
    return (filled if share > 0 else empty)[level]


# ---- points and lines


def plane_lines(chart: Chart, width: int) -> Iterator[str]:
    """Draw points and lines in a frame with the ranges of the axes at its sides, and the names below."""
    low_x, high_x, low_y, high_y = limits_of(chart)
    ends = [*ends_in_words(low_y, high_y)][::-1]
    side = max(map(len, ends))
    across = max(NARROWEST, min(WIDEST, width - side - 2))
    down = TALLEST
    if chart.square:
        wanted = (high_y - low_y) / (high_x - low_x) * across * ACROSS / DOWN
        if wanted <= TALLEST:
            down = max(4, round(wanted))
        else:
            across = max(NARROWEST, round(across * TALLEST / wanted))
    canvas = Canvas((low_x, high_x, low_y, high_y), across, down)
    styles = styles_of(chart)
    for part in chart.parts:
        if isinstance(part, Line):
            canvas.draw(part, styles[series_of(part)])
    for part in chart.parts:
        if isinstance(part, Points):
            canvas.mark(part)
    if chart.y:
        yield " " * (side + 2) + visible(chart.y)
    for number, line in enumerate(canvas.lines()):
        label = ends[0] if number == 0 else ends[1] if number == down - 1 else ""
        yield f"{label:>{side}} │{line}".rstrip()
    yield " " * (side + 1) + "└" + "─" * across
    least, most = ends_in_words(low_x, high_x)
    free = across - len(least) - len(most)
    middle = shortened(chart.x, free - 2) if chart.x and free > 4 else ""
    yield " " * (side + 2) + least + middle.center(max(free, 1)) + most
    for line in legend_lines(chart, width - side - 2):
        yield " " * (side + 2) + line


def ends_in_words(low: float, high: float) -> tuple[str, str]:
    """Return both ends of an axis with three digits, or with as many as tell them apart.

    >>> ends_in_words(0.0, 0.12345), ends_in_words(16482.0, 16490.0)
    (('0', '0.123'), ('16482', '16490'))
    """
    digits = next((few for few in range(3, 18) if f"{low:.{few}g}" != f"{high:.{few}g}"), 3)
    return f"{low:.{digits + (digits > 3)}g}", f"{high:.{digits + (digits > 3)}g}"


def legend_lines(chart: Chart, width: int) -> list[str]:
    """Return the names of the parts with their signs, in as few lines as possible."""
    styles = styles_of(chart)
    signs = {
        shortened(f"{sign_of(part, styles)} {part.name}", width): None
        for part in chart.parts
        if isinstance(part, Points | Line) and part.name
    }
    lines: list[str] = []
    for sign in signs:
        if lines and cells(lines[-1]) + len(BETWEEN) + cells(sign) <= width:
            lines[-1] += BETWEEN + sign
        else:
            lines.append(sign)
    return lines


Series: TypeAlias = tuple[str, int, bool]
"""What lines that belong together have in common: the name, the number, and whether they are dashed."""


def series_of(line: Line) -> Series:
    return line.name, line.number, line.dashed


def styles_of(chart: Chart) -> dict[Series, str]:
    """Return the style of each series of lines. Series with names have different styles, as far as there are enough.

    >>> lines = [Line([0, 1], [i, i], f"line {i}", i, dashed=i == 1) for i in range(3)]
    >>> [*styles_of(Chart((*lines,))).values()]
    ['solid', 'dashed', 'dash-dot']
    """
    styles: dict[Series, str] = {}
    for part in chart.parts:
        if isinstance(part, Line) and series_of(part) not in styles:
            order = DASHED_FIRST if part.dashed else PLAIN_FIRST
            free = (style for style in order if style not in styles.values())
            styles[series_of(part)] = next(free, order[0]) if part.name else order[0]
    return styles


def sign_of(part: Points | Line, styles: dict[Series, str]) -> str:
    return MARKS[part.number % len(MARKS)] if isinstance(part, Points) else STYLES[styles[series_of(part)]][0]


class Canvas:
    """A grid of characters, each of which has two by four dots or one mark."""

    def __init__(self, limits: tuple[float, float, float, float], across: int, down: int) -> None:
        self.low_x, self.high_x, self.low_y, self.high_y = limits
        self.across, self.down = across, down
        self.dots = [[0] * across for _ in range(down)]
        self.marks: dict[tuple[int, int], str] = {}

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point is, in dots from the upper left corner."""
        return (
            (x - self.low_x) / (self.high_x - self.low_x) * (self.across * ACROSS - 1),
            (self.high_y - y) / (self.high_y - self.low_y) * (self.down * DOWN - 1),
        )

    def draw(self, line: Line, style: str = "solid") -> None:
        """Draw a line, dot by dot. Only the part of a piece that is inside the frame is visited."""
        points = [self.place(x, y) for x, y in zip(line.xs, line.ys, strict=True) if math.isfinite(x + y)]
        far = 0
        pattern = STYLES[style][1]
        for start, end in itertools.pairwise(points):
            inside = self.clipped(start, end)
            if inside is None:
                continue
            (x0, y0), (x1, y1) = inside
            steps = max(1, math.ceil(max(abs(x1 - x0), abs(y1 - y0))))
            for step in range(steps + 1):
                if pattern[(far + step) % len(pattern)] == "#":
                    self.dot(x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps)
            far += steps

    def clipped(
        self, start: tuple[float, float], end: tuple[float, float]
    ) -> tuple[tuple[float, float], tuple[float, float]] | None:
        """Return the part of a piece of a line that is inside the frame (Liang and Barsky 1984)."""
        begin, stop = 0.0, 1.0
        for near, far, most in zip(start, end, (self.across * ACROSS - 1, self.down * DOWN - 1), strict=True):
            for step, room in ((near - far, near), (far - near, most - near)):
                if step == 0 and room < 0:
                    return None
                if step < 0:
                    begin = max(begin, room / step)
                elif step > 0:
                    stop = min(stop, room / step)
        if begin > stop:
            return None
        (x0, y0), (x1, y1) = start, end
        return (x0 + (x1 - x0) * begin, y0 + (y1 - y0) * begin), (x0 + (x1 - x0) * stop, y0 + (y1 - y0) * stop)

    def dot(self, x: float, y: float) -> None:
        column, row = int(x + 0.5), int(y + 0.5)
        if 0 <= column < self.across * ACROSS and 0 <= row < self.down * DOWN:
            self.dots[row // DOWN][column // ACROSS] |= DOTS[column % ACROSS][row % DOWN]

    def mark(self, points: Points) -> None:
        for x, y in zip(points.xs, points.ys, strict=True):
            if not math.isfinite(x + y):
                continue
            column, row = self.place(x, y)
            at = int(row + 0.5) // DOWN, int(column + 0.5) // ACROSS
            if 0 <= at[0] < self.down and 0 <= at[1] < self.across:
                self.marks[at] = MARKS[points.number % len(MARKS)]

    def lines(self) -> Iterator[str]:
        for row, dots in enumerate(self.dots):
            yield "".join(
                self.marks.get((row, column)) or (chr(BRAILLE + bits) if bits else " ")
                for column, bits in enumerate(dots)
            )
