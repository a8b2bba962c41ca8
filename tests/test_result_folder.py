"""Folders of results: what is in them, and what must be the same to go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from markone.errors import DataError
from markone.storage.result_folder import begin_or_resume, states_of


def opened(folder: Path, decided: dict[str, Any], **asked: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    journal, entries = begin_or_resume(str(folder), "work.journal", "pictures", asked, lambda: decided)
    return journal.start, entries


def test_what_the_first_run_decides_holds_for_the_next(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    journal, entries = begin_or_resume(str(folder), "work.journal", "pictures", {"size": 3}, lambda: {"seed": 1})
    assert entries == []
    journal.add({"done": 1})
    assert opened(folder, {"seed": 2}, size=3) == ({"size": 3, "seed": 1}, [{"done": 1}])


@pytest.mark.parametrize(
    ("changed", "what"),
    [({"model": "b"}, "another model"), ({"files": [1]}, "other files, or files that have"), ({"n": 1}, "another n")],
)
def test_other_work_needs_another_folder(tmp_path: Path, changed: dict[str, Any], what: str) -> None:
    asked = {"model": "a", "files": [], "n": 0}
    opened(tmp_path, {}, **asked)
    with pytest.raises(DataError, match=f"has pictures with {what}.*; name another folder"):
        opened(tmp_path, {}, **{**asked, **changed})


def test_folders_with_something_else_are_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear all")
    with pytest.raises(DataError, match="is not empty, and has no pictures to go on with"):
        opened(tmp_path, {})
    with pytest.raises(DataError, match="cannot be made"):
        opened(tmp_path / "letter.txt", {})


def test_a_file_that_changes_has_another_state(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("a")
    before = states_of([str(file)])
    assert states_of([str(file)]) == before
    file.write_text("ab")
    assert states_of([str(file)]) != before
