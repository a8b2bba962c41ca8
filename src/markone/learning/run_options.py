"""The options of a run, which are the same for all kinds of models."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from markone.data.budget import LEAST, memory_budget
from markone.errors import Setting, SettingsError
from markone.learning.checkpoints import Checkpoints, Path
from markone.learning.interruption import Interruption
from markone.learning.progress import Progress, Silence, progress_of
from markone.model.history import Pass
from markone.parallel import count_threads

Callback = Callable[[Pass], bool | None]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a training that do not change the model, unlike its settings."""

    checkpoints: Checkpoints | None = None
    resume_from: Path | None = None
    """The file of the training to resume; None for a new training."""
    callback: Callback | None = None
    """Called after every pass; it ends the training by returning True."""
    progress: Progress = field(default_factory=Silence)
    threads: int = 1
    memory: int = LEAST
    """The memory budget in bytes."""

    @classmethod
    def of(
        cls,
        *,
        checkpoint: Any = None,
        resume: Any = False,
        callback: Callback | None = None,
        progress: Progress | bool | None = None,
        threads: int | None = None,
        memory: int | str | None = None,
    ) -> RunOptions:
        """Check the arguments of `train` before any work."""
        checkpoints = Checkpoints.of(checkpoint)
        if checkpoints is not None:
            checkpoints.check_folder()
        resumed = checkpoints.path if resume is True and checkpoints is not None else resume
        if resumed is True:
            where = (Setting("checkpoint", ...), ", or ", Setting("resume", ...))
            raise SettingsError("resume", ("needs the file of the checkpoint: ", *where))
        if callback is not None and not callable(callback):
            raise SettingsError("callback", f"must be a function, not {callback!r}")
        return cls(
            checkpoints=checkpoints,
            resume_from=resumed if resumed and os.path.exists(resumed) else None,
            callback=callback,
            progress=progress_of(progress),
            threads=count_threads(threads),
            memory=memory_budget(memory),
        )

    def interruption(self) -> Interruption:
        """Remember Ctrl-C and, if there are checkpoints, SIGTERM."""
        if self.checkpoints is None:
            return Interruption((signal.SIGINT,))
        return Interruption((signal.SIGINT, signal.SIGTERM), keeping=True)
