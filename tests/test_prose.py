"""The check of our prose finds phrases, and says where they are and what is better."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from pages import script_of_docs

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return script_of_docs("check_prose")


def test_a_phrase_is_found_with_its_line_and_a_better_one(script: ModuleType) -> None:
    [found] = script.findings("page.md", "# A page\n\nThe weights grew beyond\nall numbers.\n")
    assert str(found) == "page.md:3: 'beyond all numbers'; better: training diverged, or: the weights overflowed"


def test_comments_are_prose(script: ModuleType) -> None:
    found = script.findings("file.py", 'x = 1\n# saved every so\n# many minutes\n"""Lest it is lost."""\n')
    assert [(one.line, one.better) for one in found] == [(2, "N minutes, N passes, ..."), (4, "so that ... not")]


def test_code_is_no_prose(script: ModuleType) -> None:
    assert not [*script.findings("page.md", "Use `lest`.\n\n```text\nlest\n```\n\nThe latest test.\n")]
    [found] = script.findings("page.md", "```text\nlest\n```\n\nLest.\n")
    assert found.line == 5


def test_topics_may_use_the_words_of_their_lectures(script: ModuleType) -> None:
    text = "Overtraining, lest it is lost."
    assert len([*script.findings("src/markone/model/model.py", text)]) == 2
    [found] = script.findings("src/markone/lectures/separators.py", text)
    assert found.phrase == "lest"


def test_every_phrase_can_be_found(script: ModuleType) -> None:
    for phrase in ("so many passes", "speaks for", "be it", "weighed", "learned anew", "of the same make"):
        assert [*script.findings("page.md", f"This is {phrase} here.")], phrase


def test_the_files_are_there(script: ModuleType) -> None:
    names = {path.relative_to(ROOT).as_posix() for path in script.files()}
    assert {"README.md", "CHANGELOG.md", "docs/cli.md", "docs/tutorial.md", "docs/how-to/csv.md"} <= names
    assert all(script.files([pattern]) for pattern in script.CHECKED)


def test_a_finding_makes_the_command_fail(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("Be it so.\n", encoding="utf-8")
    monkeypatch.setattr(script, "ROOT", tmp_path)
    assert script.main([str(page)]) == 1
    assert capsys.readouterr().out == "page.md:1: 'Be it'; better: whether it is\n"
    page.write_text("So it is.\n", encoding="utf-8")
    assert script.main([str(page)]) == 0
