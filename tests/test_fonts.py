"""Characters that matplotlib's own font does not have."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from matplotlib.font_manager import FontProperties, findfont, fontManager
from PIL import Image, ImageChops

import markone
from markone import plots
from markone.errors import MarkoneWarning
from markone.plots import fonts

OWN, OTHER = (
    fonts.characters_of(str(findfont(FontProperties(family=[name])))) for name in ("DejaVu Sans", "STIXGeneral")
)
RARE = chr(min(sign for sign in OTHER - OWN if sign > 0x2000))
"""A character that a font of matplotlib has, but not the usual one."""


def model_of(*words: str) -> markone.Model:
    return markone.Model.from_weights(dict.fromkeys(words, 1), classes=["0", "1"], kinds="rows")


def image_of(model: markone.Model, path: Path) -> Any:
    plots.save([plots.weights(model), plots.weights(model)], path)
    return Image.open(path).convert("L")


def test_boxes_are_told_once_in_a_plain_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "FALLBACKS", ())
    with pytest.warns(MarkoneWarning) as told:
        image_of(model_of("免费", "你好"), tmp_path / "a.png")
    [one] = told
    assert str(one.message) == (
        "matplotlib finds no font with '免' and other characters of the picture, and draws boxes instead; install a "
        "font such as Noto Sans CJK, or save the picture as .svg or .html"
    )
    plots.save(plots.weights(model_of("免费")), tmp_path / "a.svg")  # warnings are errors in tests
    assert "免费" in (tmp_path / "a.svg").read_text(encoding="utf-8")
    image_of(model_of("größe", "σ → ∞"), tmp_path / "b.png")


def test_an_animation_tells_it_once_for_all_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "FALLBACKS", ())
    trace = markone.trace([[3, 2], [-2, 2], [-2, -3]], ["好", "坏", "好"], bias=False)
    with pytest.warns(MarkoneWarning) as told:
        plots.animation(trace, tmp_path / "a.gif")
    assert len(told) == 1


def test_an_installed_font_draws_what_the_usual_one_does_not_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of(RARE * 3, "b")
    monkeypatch.setattr(fonts, "FALLBACKS", ("no such font",))
    with pytest.warns(MarkoneWarning, match="finds no font with '.' of the picture"):
        boxes = image_of(model, tmp_path / "boxes.png")
    monkeypatch.setattr(fonts, "FALLBACKS", ("no such font", "STIXGeneral"))
    drawn = image_of(model, tmp_path / "drawn.png")
    assert drawn.size != boxes.size or ImageChops.difference(drawn, boxes).getbbox() is not None


def test_matplotlib_does_not_log_that_a_font_has_another_weight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(fonts, "FALLBACKS", ("Only medium",))
    own = next(font for font in fontManager.ttflist if font.name == "STIXGeneral" and font.style == "normal")
    medium = replace(own, name="Only medium", weight=500)
    monkeypatch.setattr(fontManager, "ttflist", [*fontManager.ttflist, medium])
    image_of(model_of(RARE, "b"), tmp_path / "a.png")
    assert not caplog.records
    logging.getLogger("matplotlib.font_manager").warning("again")
    assert [record.message for record in caplog.records] == ["again"]


def test_a_figure_keeps_its_fonts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "FALLBACKS", ("STIXGeneral",))
    figure = plots.weights(model_of(RARE, "b"))
    before = plots.svg(figure)
    plots.save(figure, tmp_path / "a.png")
    assert plots.svg(figure) == before
