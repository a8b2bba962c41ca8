"""Checkpoints: a training that is kept in a file while it goes on, so that it can be taken up again."""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from markone.errors import DataError, SettingsError

Path = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """Where a training is kept, and how often. It is always kept when it is interrupted."""

    path: Path
    each_pass: bool = True
    """After every pass."""
    minutes: float | None = None
    """Also save every so many minutes."""

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | os.PathLike):
            raise SettingsError("checkpoint", f"must be the path of a file, not {self.path!r}")
        if self.minutes is not None and (
            isinstance(self.minutes, bool) or not isinstance(self.minutes, int | float) or not self.minutes > 0
        ):
            raise SettingsError("minutes", f"must be a number greater than 0, not {self.minutes!r}")

    def check_folder(self) -> None:
        """That a file can be put there, before anything is done that it is to keep."""
        folder = os.path.dirname(os.path.abspath(self.path))
        if not os.path.isdir(folder):
            raise DataError(f"there is no folder {folder}, in which to keep the training")
        if os.path.isdir(self.path) or not os.access(folder, os.W_OK):
            raise DataError(f"{os.fspath(self.path)} may not be written to; say elsewhere where to keep the training")

    @classmethod
    def of(cls, given: Any) -> Checkpoints | None:
        """Checkpoints themselves, or the path of a file for one after every pass."""
        return given if given is None or isinstance(given, Checkpoints) else cls(given)


class Keeper:
    """Saves when it is time."""

    def __init__(self, checkpoints: Checkpoints, save: Callable[[Path], None]) -> None:
        self._checkpoints = checkpoints
        self._save = save
        self._last = time.monotonic()

    def look(self, *, after_pass: bool) -> None:
        minutes = self._checkpoints.minutes
        late = minutes is not None and time.monotonic() - self._last >= 60 * minutes
        if late or (after_pass and self._checkpoints.each_pass):
            try:
                self.save()
            except DataError as error:  # a disk that is full now may have room when the training ends
                warnings.warn(f"{error}; the training goes on", stacklevel=2)

    def save_in_any_case(self) -> None:
        """Before all is lost: where it is wanted or, where that cannot be, in the folder of temporary files."""
        try:
            self.save()
        except DataError as error:
            name = os.path.basename(self._checkpoints.path)
            rescue = os.path.join(tempfile.mkdtemp(prefix="markone-"), name)
            self._save(rescue)
            warnings.warn(f"{error}. It is kept in {rescue} instead; move it there to go on from it", stacklevel=2)

    def save(self) -> None:
        self._last = time.monotonic()
        self._save(self._checkpoints.path)
