"""The page in a real Chromium: every control, every key, and what it shows, says and saves."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import markone
from browsing import violations
from markone.play.server import PAGE, Playground
from markone.play.shown import Shown
from quickly import slow, slow_but

READY = "() => window.markonePlay?.view()"


@pytest.fixture
def opened(page: Any, site: str) -> Callable[..., Any]:
    """Opens the page with a state from the address."""

    def open_page(address: str = "", base: str = site) -> Any:
        page.goto("about:blank")
        page.goto(f"{base}/index.html{'#' + address if address else ''}")
        page.wait_for_function(READY)
        return page

    return open_page


def state(page: Any, name: str) -> Any:
    return page.evaluate(f"() => window.markonePlay.store.get().{name}")


def view(page: Any, expression: str) -> Any:
    """What the page shows, after it was drawn."""
    script = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
        const view = window.markonePlay.view();
        done(EXPRESSION);
    })))"""
    return page.evaluate(script.replace("EXPRESSION", expression))


def text(page: Any, selector: str) -> str:
    """The text of an element, after it was drawn."""
    view(page, "0")
    return page.locator(selector).inner_text()


def tree(page: Any) -> str:
    """All that can be seen, as text and as drawing."""
    view(page, "0")
    script = """() => {
        const all = (selector, of) => [...document.querySelectorAll(selector)].map(of).join();
        return document.getElementById("main").innerHTML
            + all("canvas", (one) => one.toDataURL())
            + all("select, input", (one) => one.value + one.checked)
            + all("dialog", (one) => one.open)
            + document.documentElement.outerHTML.slice(0, 80);
    }"""
    return page.evaluate(script)


# ---- controls


def test_every_control_changes_something(opened: Any) -> None:
    page = opened("data=moons&guided=0&step=5")
    used = set()

    def changes(selector: str, act: Callable[[Any], Any]) -> None:
        before = tree(page)
        found = page.locator(selector)
        act(found)
        assert tree(page) != before, selector
        used.add(selector.removeprefix("#"))

    clicks = ["first", "step", "last", "back", "proof", "average", "mode-guided", "mode-free", "theme", "mistake"]
    for name in clicks:
        if name == "mistake":
            page.evaluate("() => window.markonePlay.store.dispatch({ type: 'go', step: 0, last: 9 })")
        changes(f"#{name}", lambda found: found.click())
    changes("#play", lambda found: found.click())
    page.locator("#play").click()
    for name, value in {"second": "average", "speed": "10", "rule": "mira"}.items():
        changes(f"#{name}", lambda found, value=value: found.select_option(value))
    settings = {"C": "0.01", "update": "mistake", "tie": "positive", "form": "difference", "order": "each", "seed": "7"}
    for name, value in settings.items():
        act = (
            (lambda found, value=value: found.select_option(value))
            if name in ("update", "tie", "form", "order")
            else None
        )
        changes(f"#{name}", act or (lambda found, value=value: (found.fill(value), found.press("Tab"))))
    page.locator("#rule").select_option("mlp")
    for name, value in {"hidden": "2", "eta": "0.01", "passes": "3"}.items():
        changes(f"#{name}", lambda found, value=value: (found.fill(value), found.press("Tab")))
    changes("#activation", lambda found: found.select_option("relu"))
    for name, value in {"noise": "0.2", "holdout": "0.3", "scrub": "1"}.items():
        changes(f"#{name}", lambda found, value=value: found.fill(value))
    for number in range(6):
        changes(f"#patchboard button >> nth={number}", lambda found: found.click())
    changes("#tools button >> nth=1", lambda found: found.click())
    changes("#brush button >> nth=0", lambda found: found.click())
    for name in ("paste", "code", "keys"):
        changes(f"#{name}", lambda found: found.click())
        page.keyboard.press("Escape")
    changes("#share", lambda found: found.click())
    changes("#clear", lambda found: found.click())
    changes("#preset", lambda found: found.select_option("and"))
    changes("#tabs-text", lambda found: found.click())
    changes("#texts", lambda found: found.select_option("mail"))
    changes("#tabs-machine", lambda found: found.click())
    changes("#tabs-points", lambda found: found.click())
    dialogs = {"paste-use", "paste-text", "save-data", "save-model", "save-code", "code-text"}
    elsewhere = {"file-x", "file-y", "guide-next"}
    controls = page.evaluate(
        "() => [...document.querySelectorAll('button[id], select[id], input[id], textarea[id]')].map((one) => one.id)"
    )
    controls = [name for name in controls if not name.startswith("machine-")]  # see test_machine.py
    assert {*controls} - used - dialogs - elsewhere == set()
    nameless = page.evaluate("""() => [...document.querySelectorAll("button, select, input")]
        .filter((one) => !one.title && !one.closest("dialog, .spots, #log, #tabs, #guide"))
        .map((one) => one.outerHTML)""")
    assert nameless == []


def options_of(page: Any, name: str) -> list[str]:
    return page.evaluate(f"() => [...document.getElementById('{name}').options].map((one) => one.value)")


@pytest.mark.parametrize("every", [5, slow(1)])
def test_every_rule_and_preset_is_drawn(opened: Any, every: int) -> None:
    page = opened("guided=0")
    for preset in options_of(page, "preset")[::every]:
        page.locator("#preset").select_option(preset)
        for rule in ("perceptron", "mira", "logistic", "hinge", "mlp"):
            page.locator("#rule").select_option(rule)
            page.locator("#last").click()
            assert view(page, "view.now.number === view.run.length && view.run.settings.rule") == rule
            no_line = view(page, "view.now.after.every((value) => value === 0)")
            assert page.locator("#plane .boundary").get_attribute("d") or no_line, (preset, rule)


def test_the_three_points_step_by_step(opened: Any) -> None:
    page = opened("guided=0")
    said = []
    for _ in range(6):
        page.locator("#step").click()
        view(page, "0")
        said.append((text(page, "#live"), text(page, "#now-score")))
    assert (
        said[0][0]
        == "Step 1: example 1, score 0, a tie, wrong: it says −1, but it is +1. There is a line for the first time."
    )
    assert said[0][1] == "w·x = 0·3 + 0·2 = 0"
    assert said[2] == (
        "Step 3: example 3, score −12, wrong: it says −1, but it is +1. The line turns right, with the clock.",
        "w·x = 3·(−2) + 2·(−3) = −12",
    )
    assert said[5][0] == "Step 6: example 3, score 1, right: +1. The line stays."
    assert "converged" in text(page, "#now-verdict")
    assert "at most R²/γ² = 26 mistakes" in text(page, "#certificate-text")
    assert "w = (1, −1)" in text(page, "#now-facts")
    page.locator("#log button").nth(2).click()
    assert view(page, "view.now.number") == 3
    assert "x1: 3 − 2 = 1" in text(page, "#now-change")


def test_the_guide(opened: Any) -> None:
    page = opened()
    page.locator("#guide-next").click()
    page.get_by_role("button", name="Yes").click()
    assert "That is right." in text(page, "#guide-feedback")
    page.locator("#guide-next").click()
    page.get_by_role("button", name="Left").click()
    assert text(page, "#guide-feedback") == "Not this time. The line stays."
    page.locator("#guide-next").click()
    page.get_by_role("button", name="Right", exact=True).click()
    assert text(page, "#guide-feedback") == "That is right. The line turns right, with the clock."
    for _ in range(12):
        if not state(page, "guided"):
            break
        page.locator("#guide-next:enabled").click()
    assert state(page, "guided") is False


@pytest.mark.parametrize("most", [1, slow(100)])
def test_every_story_can_be_followed(opened: Any, most: int) -> None:
    page = opened()
    page.emulate_media(reduced_motion="reduce")
    for tab, name in (("points", "preset"), ("text", "texts")):
        page.locator(f"#tabs-{tab}").click()
        for one in options_of(page, name)[-most:]:
            page.locator(f"#{name}").select_option(one)
            page.locator("#mode-guided").click()
            for _ in range(30):
                if not state(page, "guided"):
                    break
                if state(page, "playing"):
                    page.evaluate("""() => {
                        const { store, view } = window.markonePlay;
                        store.dispatch({ type: "go", step: 1e9, last: view().last });
                    }""")
                else:
                    page.locator("#guide-next").click()
                view(page, "0")
            assert state(page, "guided") is False, one


# ---- points


def place(page: Any, x1: float, x2: float) -> tuple[float, float]:
    box = page.locator("#plane").bounding_box()
    domain = state(page, "domain")
    across, up = domain["x"], domain["y"]
    x = box["x"] + 1 + (x1 - across[0]) / (across[1] - across[0]) * (box["width"] - 2)
    return x, box["y"] + 1 + (up[1] - x2) / (up[1] - up[0]) * (box["height"] - 2)


def test_points_by_mouse(opened: Any) -> None:
    page = opened("guided=0")
    page.mouse.click(*place(page, 2, -2))
    [*_, added] = state(page, "points")
    assert added == pytest.approx({"x1": 2, "x2": -2, "y": 1}, abs=0.05) and state(page, "preset") == "own"
    page.mouse.move(*place(page, 3, 2))
    page.mouse.down()
    page.mouse.move(*place(page, 1, 1), steps=4)
    page.mouse.up()
    assert state(page, "points")[0] == pytest.approx({"x1": 1, "x2": 1, "y": 1}, abs=0.05)
    page.locator("#brush button").first.click()
    page.mouse.click(*place(page, 1, 1))
    assert state(page, "points")[0]["y"] == 0
    page.get_by_role("button", name="Paint").click()
    page.mouse.move(*place(page, -2, 0))
    page.mouse.down()
    page.mouse.move(*place(page, 2, 0), steps=20)
    page.mouse.up()
    painted = len(state(page, "points"))
    assert painted > 10
    page.get_by_role("button", name="Erase").click()
    page.mouse.move(*place(page, -2, 0))
    page.mouse.down()
    page.mouse.move(*place(page, 2, 0), steps=60)
    page.mouse.up()
    assert len(state(page, "points")) < painted - 5


def test_points_by_keyboard(opened: Any) -> None:
    page = opened("guided=0")
    page.locator(".spots button").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowUp")
    moved = state(page, "points")[0]
    assert moved["x1"] > 3 and moved["x2"] > 2.2
    assert text(page, "#live").startswith("Moved to")
    page.keyboard.press("Enter")
    assert state(page, "points")[0]["y"] == 0 and "Now of class −1" in text(page, "#live")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.getAttribute('aria-label')").startswith("Point 2")
    page.keyboard.press("Delete")
    assert len(state(page, "points")) == 2
    page.keyboard.press("n")
    view(page, "0")
    assert len(state(page, "points")) == 3
    assert page.evaluate("() => document.activeElement.getAttribute('aria-label')").startswith("Point 3")


def test_keys(opened: Any) -> None:
    page = opened("guided=0")
    page.locator("h1").click()
    for key, wanted in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("m", 3), ("End", 6), ("Home", 0)):
        page.keyboard.press(key)
        assert state(page, "step") == wanted, key
    for key, name, value in (
        ("a", "average", True),
        ("x", "proof", True),
        ("g", "guided", True),
        ("f", "guided", False),
        ("1", "brush", 0),
        (" ", "playing", True),
    ):
        page.keyboard.press(key)
        assert state(page, name) == value, key
    page.keyboard.press("d")
    assert page.evaluate("() => document.documentElement.dataset.theme") in ("dark", "light")
    for key, dialog in (("v", "paste"), ("c", "save"), ("?", "keys")):
        page.keyboard.press(key)
        assert page.locator(f"#{dialog}-dialog").is_visible(), key
        page.keyboard.press("Escape")
        page.locator(f"#{dialog}-dialog").wait_for(state="hidden")
        view(page, "0")  # the focus leaves the dialog a frame later
    for key, focused in (("p", "preset"), ("r", "rule")):
        page.keyboard.press(key)
        assert page.evaluate("() => document.activeElement.id") == focused
        page.locator("h1").click()
    page.keyboard.press("u")
    assert "data=three-points" in page.evaluate("() => location.hash")


def test_everything_is_reached_with_tab(opened: Any) -> None:
    page = opened("guided=0&data=and")
    reached = set()
    for _ in range(120):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("() => document.activeElement.id || document.activeElement.textContent"))
    assert {
        "preset",
        "rule",
        "second",
        "average",
        "paste",
        "step",
        "play",
        "scrub",
        "eta",
        "tie",
        "order",
        "noise",
        "holdout",
        "proof",
        "log",
        "share",
        "theme",
    } <= reached


# ---- data


def test_pasted_points_and_their_mistakes(opened: Any) -> None:
    page = opened("guided=0")
    page.locator("#paste").click()
    page.locator("#paste-text").fill("1,2,a\n3,x,b\n")
    page.locator("#paste-use").click()
    assert text(page, "#paste-error") == "Line 2: “x” is not a number."
    page.locator("#paste-text").fill(
        'age,<i>b</i>,label\n1,2,<script>alert(1)</script>\n3,5,"<img src=x onerror=alert(1)>"\n2,2,c'
    )
    page.locator("#paste-use").click()
    assert state(page, "classes") == ["<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "c"]
    page.locator("#last").click()
    view(page, "0")
    assert "<script>alert(1)</script>" in text(page, "#brush")
    assert page.locator("main script, main img, main i:not(.legend i)").count() == 0


def test_many_points_need_no_more_than_a_frame(opened: Any) -> None:
    """60 frames a second with 1,000 points while a run is played. Software rendering may be slower on a busy
    machine, so the page's own work in a frame is measured, too."""
    page = opened("guided=0")
    random = np.random.default_rng(0)
    X = random.normal(size=(1000, 2)).round(3)
    y = (X @ [1, -1] + 0.3 * random.normal(size=1000) > 0).astype(int)
    text = "\n".join(f"{a},{b},{k}" for (a, b), k in zip(X.tolist(), y.tolist(), strict=True))
    page.locator("#paste").click()
    page.locator("#paste-text").fill(text)
    page.locator("#paste-use").click()
    assert view(page, "view.prepared.length") == 1000
    assert page.locator(".spots button").count() == 0
    page.locator("#speed").select_option("60")
    page.locator("#play").click()
    script = """() => new Promise((done) => {
        const times = [];
        const frame = (time) => { times.push(time); times.length < 91 ? requestAnimationFrame(frame) : done(times); };
        requestAnimationFrame(frame);
    })"""
    times = np.diff(page.evaluate(script))
    assert state(page, "playing")
    rate = 1000 / np.median(times)
    page.locator("#play").click()
    work = page.evaluate(
        """() => {
            const { store, render, view } = window.markonePlay;
            const start = performance.now();
            for (let i = 0; i < 30; i++) { store.dispatch({ type: "go", step: 100 + i, last: view().last }); render(); }
            return (performance.now() - start) / 30;
        }"""
    )
    print(f"{rate:.0f} frames a second, {work:.1f} ms of work in a frame")
    assert work < 16
    assert rate > 20


def test_a_diverging_run_is_explained(opened: Any) -> None:
    page = opened("guided=0&data=moons&rule=mlp&eta=1000&activation=relu")
    page.locator("#last").click()
    view(page, "0")
    assert "Training diverged" in text(page, "#now-verdict")
    page.locator("#first").click()
    page.locator("#rule").select_option("perceptron")
    page.locator("#last").click()
    assert view(page, "view.run.stopped") in ("passes", "steps")


def test_odd_data_get_a_sentence(opened: Any) -> None:
    page = opened("guided=0")
    page.locator("#clear").click()
    view(page, "0")
    assert "There are no points" in text(page, "#now")
    page.mouse.click(*place(page, 0.5, 0.5))
    view(page, "0")
    assert "same class" in text(page, "#now")
    page.locator("#eta").fill("0")
    page.locator("#eta").press("Tab")
    assert "no weight ever changes" in text(page, "#settings-note")
    page.locator("#eta").fill("5000")
    page.locator("#eta").press("Tab")
    assert state(page, "learner")["eta"] == 0 and page.locator("#eta").input_value() == "0"


def test_an_address_is_restored_and_a_wrong_one_explained(opened: Any) -> None:
    page = opened("data=xor&features=x1,x2,x12,bias&step=4&guided=0&second=mira,last")
    assert state(page, "features") == ["x1", "x2", "x12"] and view(page, "view.now.number") == 4
    assert page.locator("#plane-second").is_visible()
    page = opened("data=xor&rule=evil")
    assert "could not be read" in text(page, "#notice")


def test_saved_files(opened: Any, tmp_path: Path) -> None:
    page = opened("guided=0&data=and&step=1000")
    page.locator("#code").click()
    found = {}
    for name in ("data", "model", "code"):
        with page.expect_download() as waiting:
            page.locator(f"#save-{name}").click()
        found[name] = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(found[name])
    model = markone.load(found["model"])
    assert model.predict(found["data"]).tolist() == [-1, -1, -1, 1]
    assert found["code"].read_text() == page.locator("#code-text").input_value()
    assert "markone.trace(points" in found["code"].read_text()


def test_texts(opened: Any) -> None:
    page = opened("tab=text&guided=0")
    page.locator("#last").click()
    view(page, "0")
    assert page.locator("#text-weights tbody tr").count() == view(page, "view.examples.names.length")
    page.locator("#paste").click()
    page.locator("#paste-text").fill("a\t<b>bold</b> move\nb\tgood day")
    page.locator("#paste-use").click()
    view(page, "0")
    assert "<b>bold</b> move" in text(page, "#text-lines")


# ---- how it looks


BUSY = "guided=0&data=moons&average=1&holdout=0.3&second=mlp,last&step=90"
SHOWN = [("", False), (BUSY, True), ("tab=text&guided=0&step=5", False), ("tab=machine", True)]


@pytest.mark.parametrize(
    ("address", "dark"),
    slow_but([SHOWN[1], SHOWN[-1]], [(address, dark) for address, _ in SHOWN for dark in (False, True)]),
)
def test_axe_finds_nothing(opened: Any, page: Any, axe: str, address: str, dark: bool) -> None:
    page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
    opened(address)
    view(page, "0")
    assert violations(page, axe) == []
    for name in ("code", "paste", "keys"):
        if not page.locator(f"#{name}").is_visible():
            continue
        page.locator(f"#{name}").click()
        assert violations(page, axe) == [], name
        page.keyboard.press("Escape")


@pytest.mark.parametrize(
    "address",
    ["", "guided=0&data=three-classes&average=1&second=mira,last&step=30", "tab=text&guided=0", "tab=machine"],
)
def test_a_narrow_screen_needs_no_scrolling_sideways(opened: Any, page: Any, address: str) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    opened(address)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 400
    boxes = page.evaluate("""() => [...document.querySelectorAll("button, select, input, .plane")]
        .filter((one) => one.offsetParent && !one.closest("dialog"))
        .map((one) => one.getBoundingClientRect().right)""")
    assert max(boxes) <= 400


def test_reduced_motion(opened: Any, page: Any) -> None:
    script = "() => getComputedStyle(document.querySelector('#text-weights rect')).transitionDuration"
    opened("tab=text&guided=0")
    assert "0.15s" in page.evaluate(script)
    page.emulate_media(reduced_motion="reduce")
    assert "0.15s" not in page.evaluate(script)


# ---- without a server, and with one


def test_a_file_says_how_to_serve_it(browser: Any) -> None:
    tab = browser.new_page()
    tab.goto((PAGE / "index.html").as_uri())
    assert "python -m http.server" in tab.locator("#not-loaded").inner_text()
    tab.close()


def test_nothing_comes_from_elsewhere(page: Any, site: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{site}/index.html")
    page.wait_for_function(READY)
    assert len(asked) > 10 and all(url.startswith(site) for url in asked)


@pytest.fixture
def core() -> Iterator[Callable[[Any, Any], str]]:
    """Serves data, with the core behind the page."""
    servers = []

    def serve(X: Any, y: Any) -> str:
        server = Playground(Shown.of(X, y))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        servers.append((server, thread))
        return server.address.rstrip("/")

    yield serve
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_core_behind_the_page(opened: Any, core: Any) -> None:
    random = np.random.default_rng(5)
    X = random.normal(size=(3000, 3))
    y = np.where(X @ [1, 1, 0] > 0, "<b>up</b>", "</script>down").tolist()
    columns = {"<img src=x onerror=alert(1)>": X[:, 0], "b": X[:, 1], "c": X[:, 2], "label": y}
    page = opened("guided=0", core(markone.read(columns, target="label"), None))
    page.wait_for_function("() => window.markonePlay.view().fromCore && window.markonePlay.store.get().whole")
    assert "a random sample of 2,000 of its 3,000 rows" in text(page, "#notice")
    assert "Computed by Markone’s core" in text(page, "#engine")
    assert "Trained on all 3,000 rows" in text(page, "#engine")
    page.locator("#file-x").select_option("<img src=x onerror=alert(1)>")
    page.locator("#file-y").select_option("b")
    page.wait_for_function(
        "() => window.markonePlay.store.get().columns[1] === 'b' && window.markonePlay.view().fromCore"
    )
    page.locator("#last").click()
    view(page, "0")
    assert "<b>up</b>" in text(page, "#brush")
    assert page.locator("main img, main b:not(.facts b, .legend b)").count() == 0


@pytest.mark.parametrize("tab", ["points", "text"])
def test_runs_of_the_core_and_of_the_page_agree(opened: Any, core: Any, tab: str) -> None:
    page = opened("guided=0", core([[0.0], [1.0]], ["a", "b"]))
    page.wait_for_function("() => window.markonePlay.store.get().preset === 'file'")
    page.evaluate("() => window.markonePlay.store.dispatch({ type: 'preset', id: 'xor' })")
    page.evaluate("(tab) => window.markonePlay.store.dispatch({ type: 'tab', value: tab })", tab)
    page.wait_for_function("() => window.markonePlay.view().fromCore")
    steps = """view.run.steps.map(({ pass, row, scores, said, wrong, norm2, mistakes }) =>
        ({ pass, row, scores, said, wrong, norm2, mistakes }))"""
    told = f"JSON.stringify([{steps}, [...view.run.after(view.run.length).numbers]])"
    of_core = view(page, told)
    page.evaluate("() => window.markonePlay.store.dispatch({ type: 'traced', traces: null })")
    assert json.loads(view(page, told)) == json.loads(of_core)
    assert len(json.loads(of_core)[0]) > 10
