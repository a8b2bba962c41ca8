"""Folders of results: a journal in the folder says what it is made from, so that interrupted work can go on there."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from markone.addresses import facts_of_address, is_address, shown
from markone.errors import DataError
from markone.storage.journal import Journal

OTHERS = {"model": "another model", "files": "other files, or files that have changed"}


def begin_or_resume(
    folder: str,
    name: str,
    results: str,
    asked: dict[str, Any],
    decided: Callable[[], dict[str, Any]] = dict,
) -> tuple[Journal, list[dict[str, Any]]]:
    """Begin the journal `name` in a new folder, or check that the folder has the results of the same work.

    `results` says in messages what the folder has, such as "predictions". Work goes on only if `asked` is the same.
    `decided` returns what the first run decides for all later ones. Return the journal and its entries.
    """
    path = os.path.join(folder, name)
    before = Journal.read(path)
    if before is None:
        make_folder(folder, results)
        return Journal.begin(path, {**asked, **decided()}), []
    for key, value in json.loads(json.dumps(asked)).items():
        if before[0].start.get(key) != value:
            what = OTHERS.get(key, f"another {key}")
            raise DataError(f"the folder {folder} has {results} with {what}; name another folder")
    return before


def make_folder(folder: str, results: str) -> None:
    if os.path.isdir(folder) and os.listdir(folder):
        raise DataError(f"the folder {folder} is not empty, and has no {results} to go on with; name another one")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise DataError(f"the folder {folder} cannot be made: {error.strerror}") from None


def states_of(paths: Sequence[str]) -> list[list[Any]]:
    """Return each path with what changes when its file does."""
    return [
        [shown(path), *facts_of_address(path)]
        if is_address(path)
        else [path, os.path.getsize(path), os.stat(path).st_mtime_ns]
        for path in paths
    ]
