"""Checkpoints: saves the state of a training to a file, so that it can be resumed."""

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
    """Where and how often checkpoints are saved. One is always saved when training is interrupted."""

    path: Path
    each_pass: bool = True
    """Save after every pass."""
    minutes: float | None = None
    """Also save every N minutes."""

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | os.PathLike):
            raise SettingsError("checkpoint", f"must be the path of a file, not {self.path!r}")
        if self.minutes is not None and (
            isinstance(self.minutes, bool) or not isinstance(self.minutes, int | float) or not self.minutes > 0
        ):
            raise SettingsError("minutes", f"must be a number greater than 0, not {self.minutes!r}")

    def check_folder(self) -> None:
        """Raise an error before any work if the file cannot be written."""
        folder = os.path.dirname(os.path.abspath(self.path))
        if not os.path.isdir(folder):
            raise DataError(f"there is no folder {folder} for the checkpoint")
        if os.path.isdir(self.path) or not os.access(folder, os.W_OK):
            raise DataError(f"{os.fspath(self.path)} cannot be written to; choose another file to save the training in")

    @classmethod
    def of(cls, given: Any) -> Checkpoints | None:
        """Return `Checkpoints`; a path means a checkpoint after every pass."""
        return given if given is None or isinstance(given, Checkpoints) else cls(given)


class Keeper:
    """Saves checkpoints when they are due."""

    def __init__(self, checkpoints: Checkpoints, save: Callable[[Path], None]) -> None:
        self._checkpoints = checkpoints
        self._save = save
        self._last = time.monotonic()

    def look(self, *, after_pass: bool) -> None:
        """Save a checkpoint if one is due."""
        minutes = self._checkpoints.minutes
        late = minutes is not None and time.monotonic() - self._last >= 60 * minutes
        if late or (after_pass and self._checkpoints.each_pass):
            try:
                self.save()
            except DataError as error:  # a disk that is full now may have space when the training ends
                warnings.warn(f"{error}; training continues", stacklevel=2)

    def save_in_any_case(self) -> None:
        """Save a last checkpoint: to its file or, if that fails, to the folder of temporary files."""
        try:
            self.save()
        except DataError as error:
            name = os.path.basename(self._checkpoints.path)
            rescue = os.path.join(tempfile.mkdtemp(prefix="markone-"), name)
            self._save(rescue)
            warnings.warn(f"{error}. The checkpoint is in {rescue} instead; move it to resume from it", stacklevel=2)

    def save(self) -> None:
        self._last = time.monotonic()
        self._save(self._checkpoints.path)
