"""The page of the service in a real Chromium: texts, rows, reasons, versions, and the token."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import markone
from browsing import violations

from .asking import TEXTS, spam_model
from .conftest import Start

READY = "() => window.markoneService"
TOKEN = "a-long-token-of-ours"


def text_of(page: Any, selector: str) -> str:
    return str(page.locator(selector).inner_text())


def options_of(page: Any, selector: str) -> list[str]:
    return [str(one) for one in page.locator(f"{selector} option").all_inner_texts()]


@pytest.fixture
def models(tmp_path: Path) -> Path:
    spam_model(tmp_path / "mail@1.model")
    markone.train(TEXTS, target=["ham", "ham", "spam", "spam"], rule="mira").save(tmp_path / "mail@2.model")
    rows = [{"age": 20, "job": "cook"}, {"age": 61, "job": "judge"}, {"age": 33, "job": "cook"}]
    markone.train(rows, target=["low", "high", "low"], rule="mira").save(tmp_path / "people.model")
    flats = markone.read([{"size": size, "rent": 8 * size} for size in range(9)], target="rent")
    markone.train(flats, rule="regression").save(tmp_path / "rents.model")
    return tmp_path


def test_the_page(page: Any, axe: str, start: Start, models: Path) -> None:
    _, port = start(models)
    page.goto(f"http://127.0.0.1:{port}/")
    page.wait_for_function(READY)
    page.select_option("#first", label="mail, version 1")
    page.fill("textarea[name=text]", "free money, <b>lunch</b> and more")
    colour = "selector => getComputedStyle(document.querySelector(selector)).color"
    assert page.evaluate(colour, "textarea[name=text]") == page.evaluate(colour, "h1")  # not that of a hint
    page.click("#ask")
    page.wait_for_selector("#answers section")
    assert "prediction: spam" in text_of(page, "#answers") and "probability" in text_of(page, "#answers")
    marked = page.locator(".marked")
    assert marked.inner_text() == "free money, <b>lunch</b> and more"
    marks = {one.inner_text(): one.get_attribute("data-for") for one in marked.locator("mark").all()}
    assert marks["free"] == "yes" and marks["lunch"] == "no"
    model = markone.load(models / "mail@1.model")
    first = model.explain("free money, <b>lunch</b> and more").tables[0].rows[0].feature
    assert page.locator("tbody th").first.inner_text() == first

    page.select_option("#second", label="mail, version 2")
    page.click("#ask")
    page.wait_for_function("() => document.querySelectorAll('#answers section').length === 2")
    verdicts = [one.inner_text() for one in page.locator(".verdict").all()]
    assert verdicts == ["prediction: spam", "prediction: ham"]

    page.select_option("#second", label="no other")
    page.select_option("#first", index=2)
    page.fill("input[name=age]", "62")
    page.fill("input[name=job]", "judge")
    page.click("#ask")
    page.wait_for_function("() => document.querySelector('.verdict').innerText.includes('high')")

    page.select_option("#second", label=options_of(page, "#second")[-1])
    page.fill("input[name=size]", "33")
    page.click("#ask")
    page.wait_for_function("() => document.querySelectorAll('#answers section').length === 2")
    said = text_of(page, "#answers section:last-child")
    assert "prediction: 261.453\n" in said and "score" not in said
    assert "Positive numbers support larger rent, negative numbers smaller rent." in said
    assert "All contributions add up to 261.5." in said

    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert violations(page, axe) == []


def test_the_page_asks_for_the_token(browser: Any, start: Start, models: Path) -> None:
    _, port = start(models / "mail@1.model", MARKONE_TOKEN=TOKEN)
    page = browser.new_page()  # the browser writes the answer 401 to its console
    page.goto(f"http://127.0.0.1:{port}/")
    page.wait_for_function(READY)
    assert "needs the token" in text_of(page, "#notice")
    page.fill("#token", TOKEN)
    page.keyboard.press("Tab")
    page.wait_for_function("() => document.querySelector('#first').options.length === 1")
    page.fill("textarea", "free money")
    page.click("#ask")
    page.wait_for_selector(".verdict")
    assert "spam" in text_of(page, ".verdict") and text_of(page, "#notice") == ""
    page.close()
