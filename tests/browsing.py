"""Chromium, in which tests open pages."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A Chromium with an empty profile."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium; `make browser` installs it")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    with tempfile.TemporaryDirectory() as profile, playwright.sync_playwright() as driver:
        context = driver.chromium.launch_persistent_context(
            profile,
            executable_path=CHROMIUM,
            headless=True,
            args=FLAGS,
            viewport={"width": 1280, "height": 860},
            accept_downloads=True,
        )
        context.set_default_timeout(60_000)
        yield context
        context.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A tab. A test fails if the page writes an error or a warning to the console."""
    tab = browser.new_page()
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: said.append(str(error)))
    yield tab
    tab.close()
    assert said == []


@pytest.fixture(scope="session")
def axe() -> str:
    axe = pytest.importorskip("axe_playwright_python", reason="needs axe-playwright-python")
    return (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


def violations(page: Any, axe: str) -> list[str]:
    page.evaluate(axe)
    found = page.evaluate("() => axe.run()")
    return [f"{one['id']}: {[node['html'] for node in one['nodes']][:3]}" for one in found["violations"]]
