"""The Mark I of the playground: its figures and wires, its learning compared with `markone.reference`, and its tab."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from markone.reference import Learner, Tally

PAIRS = [("left", "right"), ("square", "circle"), ("E", "X"), ("T", "L"), ("N", "Z"), ("lying", "standing")]
SIDE = 20


def question(actions: list[dict[str, Any]], **settings: Any) -> dict[str, Any]:
    return {"ask": "machine", "settings": settings, "actions": actions}


def asked(node: Any, actions: list[dict[str, Any]], **settings: Any) -> dict[str, Any]:
    [answer] = node([question(actions, **settings)])
    return answer


def lesson(count: int) -> list[dict[str, Any]]:
    return [{"do": "lesson", "count": 1, "left": 0}] * count


def numbers(hexes: list[str]) -> list[float]:
    return [struct.unpack(">d", bytes.fromhex(one))[0] for one in hexes]


def active(wires: dict[str, Any], cells: list[int]) -> list[int]:
    """The units whose lit exciting cells outnumber their lit inhibiting cells by the threshold."""
    sums = [sum(cells[i] for i in unit["plus"]) - sum(cells[i] for i in unit["minus"]) for unit in wires["units"]]
    return [i for i, total in enumerate(sums) if total >= wires["threshold"]]


# ---- learning


@pytest.mark.parametrize("number", range(len(PAIRS)), ids=["-".join(pair) for pair in PAIRS])
@pytest.mark.parametrize("wiring", ["random", "straight"])
def test_it_learns_as_the_reference(node: Any, wiring: str, number: int) -> None:
    answer = asked(node, lesson(60), lesson=number, wiring=wiring, seed=number + 3, shift=2, noise=4)
    assert tuple(answer["lessons"][number]) == PAIRS[number]
    learner = Learner(classes=2, bias=False)
    tally = Tally()
    for moment in answer["moments"][1:]:
        at = active(answer["wires"], moment["cells"])
        assert moment["at"] == at
        x = dict.fromkeys(at, 1)
        last, [_, score] = moment["last"], learner.scores(x)
        assert numbers([last["score"]]) == [score]
        assert last["said"] == (None if score == 0 else int(score > 0))
        before = tally.mistakes
        learner.visit(x, moment["y"], 1, tally)
        assert last["wrong"] == (tally.mistakes > before)
        assert last["turned"] == (len(at) if last["wrong"] else 0)
        assert numbers(moment["w"]) == [learner.w[1].get(i, 0) for i in range(len(moment["w"]))]
        assert moment["mistakes"] == tally.mistakes
        assert numbers([moment["score"]]) == [learner.scores(x)[1]]
        for kind, rows in answer["tests"].items():
            right = sum(learner.predict(dict.fromkeys(row["at"], 1)) == row["y"] for row in rows)
            assert moment["measured"][kind] == right / len(rows)
    assert tally.mistakes > 1
    assert answer["moments"][-1]["taught"] == 60


def test_a_browser_gives_the_same(node: Any, chromium: Any) -> None:
    questions = [question(lesson(40), lesson=i, wiring=wiring) for i in (0, 1, 2) for wiring in ("random", "straight")]
    assert chromium(questions) == node(questions)


def test_it_generalises(node: Any) -> None:
    numbers = [0, 2, 3, 4, 5]  # the square and the circle need more than one lesson
    once = [{"do": "lesson", "count": 100, "left": 0}]
    for number, answer in zip(numbers, node([question(once, lesson=number) for number in numbers]), strict=True):
        before, after = answer["moments"][0]["measured"], answer["moments"][-1]["measured"]
        assert before["fresh"] == before["shifted"] == before["noisy"] == 0.5
        assert after["fresh"] >= 0.9, PAIRS[number]
        assert after["fresh"] > after["shifted"] > 0.5, PAIRS[number]
        assert after["noisy"] > 0.8, PAIRS[number]


def test_the_teacher_decides(node: Any) -> None:
    """The class that is taught counts, also if it is not the figure's; a correct answer turns nothing."""
    start = asked(node, [])["moments"][0]
    for y in (0, 1):
        twice = asked(node, [{"do": "teach", "y": y}, {"do": "teach", "y": y}])["moments"]
        assert numbers(twice[1]["w"]) == [(2 * y - 1) * (i in start["at"]) for i in range(512)]
        assert [one["last"]["wrong"] for one in twice[1:]] == [True, False]
        assert twice[2]["w"] == twice[1]["w"]
        assert twice[2]["said"] == y


def test_a_dark_retina_teaches_nothing(node: Any) -> None:
    _, erased, taught = asked(node, [{"do": "erase"}, {"do": "teach", "y": 1}])["moments"]
    assert not any(erased["cells"])
    assert erased["y"] is None
    assert (taught["at"], taught["said"], taught["last"]["turned"]) == ([], None, 0)
    assert taught["last"]["wrong"]
    assert set(numbers(taught["w"])) == {0}


def test_drawings_are_used(node: Any) -> None:
    paint = {"do": "paint", "cells": [0, 1, 2], "value": 1}
    moments = asked(node, [{"do": "erase"}, paint, {**paint, "cells": [1], "value": 0}], wiring="straight")["moments"]
    assert [one["at"] for one in moments[1:]] == [[], [0, 1, 2], [0, 2]]
    assert moments[-1]["y"] is None


def test_a_lesson_at_once_is_the_lesson_step_by_step(node: Any) -> None:
    at_once = asked(node, [{"do": "lesson", "count": 30, "left": 0}])["moments"][-1]
    assert at_once == asked(node, lesson(30))["moments"][-1]
    assert asked(node, [*lesson(30), {"do": "reset"}])["moments"][-1] == asked(node, [])["moments"][0]


# ---- figures, wires and settings


def boxes(moments: list[dict[str, Any]], y: int) -> list[tuple[int, int, int, int]]:
    """The first and last column and row of each figure of a class."""
    found = []
    for cells in (one["cells"] for one in moments if one["y"] == y):
        lit = [divmod(i, SIDE) for i, cell in enumerate(cells) if cell]
        rows, columns = [row for row, _ in lit], [column for _, column in lit]
        found.append((min(columns), max(columns), min(rows), max(rows)))
    return found


@pytest.mark.parametrize("shift", [0, 6])
def test_figures_are_where_they_belong(node: Any, shift: int) -> None:
    answers = node([question([{"do": "next"}] * 100, lesson=i, shift=shift) for i in range(len(PAIRS))])
    found = {
        name: boxes(one["moments"], y) for pair, one in zip(PAIRS, answers, strict=True) for y, name in enumerate(pair)
    }
    assert all(right < SIDE // 2 for _, right, _, _ in found.pop("left"))
    assert all(left >= SIDE // 2 for left, _, _, _ in found.pop("right"))
    for name, those in found.items():
        assert 30 < len(those) < 70
        sizes = {(right - left + 1, bottom - top + 1) for left, right, top, bottom in those}
        assert len(sizes) > 2, name
        if name in ("lying", "standing"):
            assert all((width > height) == (name == "lying") for width, height in sizes)
        else:
            assert sizes <= {(size, size) for size in range(8, 14)}, name
        off = max(abs(left + right - SIDE + 1) for left, right, _, _ in those)
        assert off <= 1 if shift == 0 else off > 4


def test_random_wires_have_two_kinds(node: Any) -> None:
    wires = asked(node, [], threshold=3)["wires"]
    assert wires["threshold"] == 3
    assert len(wires["units"]) == 512
    for unit in wires["units"]:
        assert len(unit["plus"]) == len(unit["minus"]) == 10
        assert len({*unit["plus"], *unit["minus"]}) == 20
        assert {*unit["plus"], *unit["minus"]} <= {*range(SIDE * SIDE)}
    straight = asked(node, [], wiring="straight", threshold=3)["wires"]
    assert straight == {"threshold": 1, "units": [{"plus": [i], "minus": []} for i in range(SIDE * SIDE)]}


@pytest.mark.parametrize(
    "change",
    [{"lesson": 2}, {"wiring": "straight"}, {"threshold": 1}, {"seed": 2}, {"shift": 3}, {"noise": 9}],
    ids=str,
)
def test_every_setting_changes_the_run(node: Any, change: dict[str, Any]) -> None:
    usual, changed, again = node([question(lesson(10), **one) for one in ({}, change, change)])
    assert changed["settings"] == {**usual["settings"], **change}
    assert changed["moments"][-1]["w"] != usual["moments"][-1]["w"]
    assert again == changed


def test_noise_changes_that_number_of_cells(node: Any) -> None:
    [clean], [noisy] = ([asked(node, [], noise=noise)["moments"][0]["cells"]] for noise in (0, 9))
    assert sum(a != b for a, b in zip(clean, noisy, strict=True)) == 9


def test_the_address_keeps_the_settings(node: Any) -> None:
    settings = {"lesson": 4, "wiring": "straight", "threshold": 5, "seed": 2**32 - 1, "shift": 6, "noise": 80}
    answer = asked(node, [], **settings)
    assert answer["again"] == {"tab": "machine", "settings": settings, "wrong": []}
    wrong = ["9,random,2,1,1,0", "0,loose,2,1,1,0", "0,random,0,1,1,0", "0,random,2,-1,1,0", "0,random,2,1,1", ""]
    for read in node([{"ask": "read", "text": f"tab=machine&machine={one}"} for one in wrong]):
        assert read["wrong"] == ["machine"]


# ---- the tab


@pytest.fixture
def machine(page: Any, site: str) -> Any:
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{site}/index.html#tab=machine")
    page.wait_for_selector("#retina [aria-selected=true]")
    return page


def lit(page: Any) -> list[str]:
    return page.eval_on_selector_all("#retina [aria-selected=true]", "cells => cells.map((one) => one.ariaLabel)")


def says(page: Any, text: str) -> None:
    """Waits for the sentence, and for the next frame, in which the page is drawn."""
    page.wait_for_function("text => document.getElementById('live').textContent.includes(text)", arg=text)
    page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")


def test_drawing_with_the_mouse_and_the_keyboard(machine: Any) -> None:
    machine.keyboard.press("e")
    says(machine, "The retina is dark.")
    box = machine.locator("#retina").bounding_box()
    size = box["width"] / SIDE
    x, y = box["x"] + 2.5 * size, box["y"] + 4.5 * size
    machine.mouse.move(x, y)
    machine.mouse.down()
    machine.mouse.move(x, y + 5 * size)
    machine.mouse.up()
    says(machine, "Row 10, column 3: lit.")
    assert lit(machine) == [f"Row {row}, column 3" for row in range(5, 11)]
    machine.keyboard.press("Space")
    says(machine, "Row 5, column 3: dark.")
    machine.keyboard.press("ArrowLeft")
    machine.keyboard.press("Shift+ArrowUp")
    says(machine, "Row 4, column 2: lit.")
    assert lit(machine) == ["Row 4, column 2", *(f"Row {row}, column 3" for row in range(6, 11))]
    assert machine.locator("#retina [tabindex='0']").count() == 1


def test_teaching_by_keys(machine: Any) -> None:
    machine.keyboard.press("2")
    says(machine, "turn one step up, towards “right”.")
    assert machine.locator("#lamp-1.lit").count() == 1
    machine.keyboard.press("2")
    says(machine, "The machine said “right”, which is correct.")
    machine.keyboard.press("n")
    says(machine, "Figure 2 is")
    machine.keyboard.press("l")
    says(machine, "102 figures taught")
    assert "50 % correct before" in machine.inner_text("#machine-result")
    machine.keyboard.press("w")
    says(machine, "All weights are 0 again.")
    assert machine.inner_text("#score") == "w·a = 0"
    assert machine.locator(".lamp.lit").count() == 0


def test_a_lesson_moves_and_can_be_stopped(machine: Any) -> None:
    machine.emulate_media(reduced_motion="no-preference")
    machine.click("#machine-run")
    says(machine, "A lesson of 100 figures begins.")
    machine.wait_for_function("() => markonePlay.store.get().machine.taught > 3")
    assert machine.inner_text("#machine-run") == "Stop the lesson"
    machine.click("#machine-run")
    says(machine, "correct before")
    taught = machine.evaluate("markonePlay.store.get().machine.taught")
    machine.wait_for_timeout(250)
    assert machine.evaluate("markonePlay.store.get().machine.taught") == taught < 100


def test_a_chosen_unit_shows_its_wires(machine: Any) -> None:
    machine.focus("#bank")
    machine.keyboard.press("ArrowRight")
    machine.keyboard.press("ArrowDown")
    machine.wait_for_function("() => document.getElementById('unit-text').textContent.startsWith('Unit 33: weight 0')")
    assert machine.locator("#retina [data-wire='+']").count() == 10
    assert machine.locator("#retina [data-wire='−']").count() == 10
    assert machine.get_attribute("#bank", "aria-valuetext").startswith("Unit 33: weight 0")
    machine.keyboard.press("Escape")
    machine.wait_for_function("() => !document.querySelector('#retina [data-wire]')")
    machine.select_option("#machine-wiring", "straight")
    machine.hover("#bank", position={"x": machine.locator("#bank").bounding_box()["width"] / 2 + 4, "y": 4})
    machine.wait_for_function("() => document.getElementById('unit-text').textContent.endsWith('row 1, column 11.')")


def test_every_control_changes_something(machine: Any) -> None:
    def seen() -> str:
        script = """() => [document.querySelector("#tab-machine").innerHTML, ...[...document.querySelectorAll(
            "#tab-machine canvas")].map((one) => one.toDataURL())].join()"""
        machine.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        return machine.evaluate(script)

    used = set()
    numbers = {"shift": "4", "noise": "7", "threshold": "1", "seed": "9"}
    for name, value in {"lesson": "2", **numbers, "wiring": "straight"}.items():
        before = seen()
        control = machine.locator(f"#machine-{name}")
        if name in numbers:
            control.fill(value)
            control.press("Tab")
        else:
            control.select_option(value)
        assert seen() != before, name
        used.add(f"machine-{name}")
    for name in ("next", "teach-0", "next", "teach-1", "run", "erase", "reset"):
        before = seen()
        machine.locator(f"#machine-{name}").click()
        assert seen() != before, name
        used.add(f"machine-{name}")
    controls = machine.eval_on_selector_all(
        "#tab-machine :is(button, select, input)", "all => all.map((one) => [one.id, one.title])"
    )
    assert {name for name, _ in controls} == used
    assert all(title for _, title in controls)


def test_a_number_outside_its_range_is_refused(machine: Any) -> None:
    for wrong in ("7", "-1", "1.5", ""):
        machine.fill("#machine-shift", wrong)
        machine.press("#machine-shift", "Tab")
        machine.wait_for_function("() => document.getElementById('machine-shift').value === '1'")
        assert machine.inner_text("#notice").endswith("a whole number from 0 to 6.")


def test_other_keys_do_not_reach_the_other_tabs(machine: Any) -> None:
    before = machine.evaluate("(({ machine, ...rest }) => JSON.stringify(rest))(markonePlay.store.get())")
    for key in ["g", "f", "a", "x", "v", "c", "m", "Home", "End", "Space", "Enter", "3"]:
        machine.keyboard.press(key)
    assert machine.evaluate("(({ machine, ...rest }) => JSON.stringify(rest))(markonePlay.store.get())") == before
    assert machine.locator("dialog[open]").count() == 0
