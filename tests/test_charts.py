"""Charts as text: what is drawn, and where."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markone.reporting.charts import ACROSS, BRAILLE, DOWN, TALLEST, Bars, Canvas, Chart, Line, Pixels, Points
from markone.reporting.grids import cells

numbers = st.floats(-1e6, 1e6)


def drawn(chart: Chart) -> list[str]:
    """The lines inside of the frame."""
    return [line.split("│", 1)[1] for line in str(chart).splitlines() if "│" in line]


def test_points_are_where_they_belong() -> None:
    chart = Chart((Points([0, 1], [0, 1], "a", 0), Points([0], [1], "b", 1)), limits=(0, 1, 0, 1))
    lines = drawn(chart)
    assert lines[0][0] == "○" and lines[0].rstrip()[-1] == "●" and lines[-1][0] == "●"
    assert len(lines) == TALLEST
    assert str(chart).splitlines()[-1].strip() == "● a   ○ b"


def test_a_line_has_all_its_dots_and_a_dashed_one_has_fewer() -> None:
    canvas = Canvas((0, 1, 0, 1), 4, 4)
    canvas.draw(Line([0, 1], [0.5, 0.5]))
    assert sum((ord(one) - BRAILLE).bit_count() for line in canvas.lines() for one in line if one != " ") == 4 * ACROSS
    dashed = Canvas((0, 1, 0, 1), 4, 4)
    dashed.draw(Line([0, 1], [0.5, 0.5]), "dashed")
    assert sum(line.count(" ") for line in dashed.lines()) > sum(line.count(" ") for line in canvas.lines())


def test_lines_that_share_a_sign_can_be_told_apart() -> None:
    lines = [Line([0, 1], [i, i], f"line {i}", i) for i in range(4)]
    chart = Chart((*lines, lines[0]), limits=(0, 1, -1, 4))
    assert len({shape(line) for line in drawn(chart) if line.strip()}) == 4
    assert str(chart).splitlines()[-1].split() == [
        *("──", "line", "0", "─·", "line", "1", "··", "line", "2", "╌╌", "line", "3"),
    ]


def shape(line: str) -> str:
    """Which dots of a horizontal line are drawn, in whatever row."""
    bits = [0 if one == " " else ord(one) - BRAILLE for one in line]
    return "".join(f"{'#' if one & 0x47 else ' '}{'#' if one & 0xB8 else ' '}" for one in bits)


def test_a_name_is_once_in_the_legend_of_a_picture() -> None:
    pytest.importorskip("matplotlib")
    from markone.plots import chart as picture_of

    edges = [Line([0, 1], [i, i], "edge", 3, dashed=True) for i in range(2)]
    (axes,) = picture_of(Chart((*edges, Points([0], [0], "point", 3)))).axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["edge", "point"]


def test_only_the_part_of_a_line_inside_the_frame_is_drawn() -> None:
    canvas = Canvas((0, 1, 0, 1), 3, 3)
    canvas.draw(Line([-1e6, 1e6], [0.5, 0.5]))
    inside = [line for line in canvas.lines() if line.strip()]
    assert len(inside) == 1 and " " not in inside[0]
    outside = Canvas((0, 1, 0, 1), 3, 3)
    outside.draw(Line([-1, 2], [5, 5]))
    assert not "".join(outside.lines()).strip()


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8), st.integers(30, 120))
def test_any_numbers_are_drawn_and_fit(points: list[tuple[float, float]], width: int) -> None:
    xs, ys = zip(*points, strict=True)
    chart = Chart((Line(xs, ys, "line"), Points(xs, ys, "points")), title="t" * 200, x="x", y="y")
    lines = list(chart.lines(width))
    assert all(cells(line) <= width for line in lines)
    assert any("●" in line for line in drawn(chart))


def test_numbers_that_are_not_finite_are_left_out() -> None:
    chart = Chart((Points([0, math.nan, 1], [0, 1, math.inf], "a"), Line([0, math.inf], [0, 1])))
    assert "".join(drawn(chart)).count("●") == 1


def test_a_square_chart_has_equal_units() -> None:
    lines = drawn(Chart((Points([0, 4], [0, 2], "a"),), square=True, limits=(0, 4, 0, 2)))
    width = max(len(line) for line in lines)
    assert width * ACROSS / 4 == pytest.approx(len(lines) * DOWN / 2, rel=0.1)


def test_bars_are_as_long_as_their_numbers() -> None:
    lines = str(Chart((Bars(["a", "b", "c"], [4, 2, -4]),))).splitlines()
    assert lines[0].count("█") == lines[2].count("█") == pytest.approx(2 * lines[1].count("█"), abs=1)
    assert lines[2].index("█") < lines[0].index("█") and lines[2].endswith("-4")


def test_bars_of_zeros_and_of_hostile_names() -> None:
    text = str(Chart((Bars(["\x1b[31m", "b"], [0, 0]),)))
    assert "\x1b" not in text and "█" not in text


def test_pixels_are_darker_where_numbers_are_larger() -> None:
    assert str(Chart((Pixels([[0, 0.5, 1]]),))) == "  ▒▒██"
    assert str(Chart((Pixels([[7, 7]]),))) == "    "


def test_a_chart_in_brief() -> None:
    assert repr(Chart((Points([0], [0], "a"),), title="Two\nlines")).count("\n") == 0
