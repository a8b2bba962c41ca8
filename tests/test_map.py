"""The map of the code in docs/how-it-works.md and its drawing agree with the files and with the order of imports."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from pages import script_of_docs

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
OTHER_PAGES = ["README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
SOURCES = [
    "src/markone/**/*.py",
    "src/markone/*.pyi",
    "src/markone/**/*.mjs",
    "src/markone/**/*.h",
    "core/**/*.py",
    "core/**/*.h",
    "core/**/*.cpp",
]
SOURCES += [f"src/markone/*/page/**/*.{ending}" for ending in ("js", "html", "css")]


def files_on_the_map(page: str) -> list[str]:
    """The paths in the tables of the map, each of which has its folder as a heading."""
    sections = page.partition("\n## The map of the files\n")[2].partition("\n## ")[0].split("\n### ")[1:]
    return [
        f"{section.splitlines()[0]}/{name}"
        for section in sections
        for name in re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)
    ]


def differences(page: str) -> list[str]:
    """What is wrong with the map, one sentence for each file."""
    mapped = files_on_the_map(page)
    there = {str(path.relative_to(ROOT)) for pattern in SOURCES for path in ROOT.glob(pattern)}
    return [
        *(f"{path} is not on the map" for path in sorted(there - {*mapped})),
        *(f"the map has {path}, which does not exist" for path in sorted({*mapped} - there)),
        *(f"the map has {path} twice" for path in sorted({path for path in mapped if mapped.count(path) > 1})),
    ]


def test_every_source_file_is_on_the_map() -> None:
    assert differences(PAGE) == []


def test_the_map_is_able_to_be_wrong() -> None:
    row = "| `rules.h` | the online rules: loss and step |\n"
    assert row in PAGE
    assert differences(PAGE.replace(row, "")) == ["core/online/rules.h is not on the map"]
    assert differences(PAGE.replace(row, 2 * row)) == ["the map has core/online/rules.h twice"]
    assert differences(PAGE.replace("| `rules.h` |", "| `rule.h` |")) == [
        "core/online/rules.h is not on the map",
        "the map has core/online/rule.h, which does not exist",
    ]


def test_the_sections_name_files_that_exist() -> None:
    ideas = PAGE.partition("\n## The map of the files\n")[0]
    named = re.findall(r"`([\w/]+\.(?:py|h|cpp))`", ideas)
    assert named
    for path in named:
        assert (ROOT / path).is_file() or (ROOT / "src" / "markone" / path).is_file(), path


@pytest.mark.parametrize("page", OTHER_PAGES)
def test_pages_name_files_that_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for path in re.findall(r"`((?:core|src|tests|docs|benchmarks)/[\w/.-]+\.\w+)`", text):
        assert (ROOT / path).is_file(), path


# ---- rooms


def test_the_rooms_are_in_the_order_of_imports() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [contract] = [one for one in project["tool"]["importlinter"]["contracts"] if one["type"] == "layers"]
    order = [name for name in contract["layers"] if (ROOT / "src" / "markone" / name).is_dir()]
    folders = {path.parent.name for path in ROOT.glob("src/markone/*/__init__.py")}
    rooms = PAGE.partition("\n## The rooms\n")[2].partition("\n## ")[0]
    assert {*order} == folders - {"reference"}
    assert re.findall(r"^\| \[`(\w+)`\]", rooms, re.MULTILINE) == order
    assert [name for row in script_of_docs("make_rooms").ROWS for name, _ in row] == order


def test_the_drawing_is_up_to_date() -> None:
    script = script_of_docs("make_rooms")
    folders = {path.name for path in (ROOT / "core").iterdir() if path.is_dir()}
    assert {*script.CORE.split(" · ")} == folders - {"python", "tests"}
    assert script.DRAWING.read_text(encoding="utf-8") == script.draw(), "run docs/make_rooms.py"
