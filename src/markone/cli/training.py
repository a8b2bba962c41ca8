"""The common parts of the commands that train: saving the model, checkpoints and resuming."""

from __future__ import annotations

import os
import signal
import stat
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from markone.cli.messages import readable, tell, typed
from markone.errors import DataError, Interrupted

if TYPE_CHECKING:
    from markone.learning.checkpoints import Checkpoints
    from markone.model.history import History


class Keeping(NamedTuple):
    """The options of a training about checkpoints, resuming, saving and reports."""

    checkpoint: bool
    minutes: float | None
    resume: bool
    final: bool
    quiet: bool


class Learned(Protocol):
    """A model of any kind."""

    @property
    def history(self) -> History: ...
    def save(self, path: str, *, final: bool = False) -> None: ...


Model = TypeVar("Model", bound=Learned)


def learn_and_save(
    learn: Callable[[Checkpoints, Any], Model], path: str, keeping: Keeping, kind: str = "classifier"
) -> Model:
    """Train and save a model. `learn` is called with the checkpoints to write, and with the file to resume, if any."""
    from markone.learning.checkpoints import Checkpoints
    from markone.learning.interruption import Shelter, end_quietly, exception_for

    kept = f"{path}.checkpoint"
    before = identity(kept)
    resumed = keeping.resume and file_to_resume(kept if before is not None else path, kind, kept, keeping.quiet)
    shelter = Shelter((signal.SIGINT, signal.SIGTERM))
    try:
        with shelter:  # a signal does not interrupt a training that is almost finished
            model = learn(Checkpoints(kept, each_pass=keeping.checkpoint, minutes=keeping.minutes), resumed)
            if model.history.stopped == "interrupted":
                raise KeyboardInterrupt
            save(model, path, final=keeping.final)
            with suppress(FileNotFoundError):
                os.unlink(kept)
    except KeyboardInterrupt as interruption:
        end_quietly()
        tell_interruption(kept, saved=identity(kept) != before)
        ended = interruption if isinstance(interruption, Interrupted) else Interrupted()
        raise (ended if shelter.signal is None else exception_for(shelter.signal)).known() from None
    new_passes = sum(one.seconds is not None for one in model.history)  # passes from a file have no time
    if keeping.resume and not new_passes and not keeping.quiet:
        passes = len(model.history)
        tell(f"the model already has {passes:,} passes, so none was added; --epochs is the total number of passes")
    if shelter.signal is not None:
        end_quietly()
        tell(f"interrupted, but the model was finished and is saved as {path}")
        raise exception_for(shelter.signal).known()
    return model


def file_to_resume(path: str, kind: str, kept: str, quiet: bool) -> str:
    """Return the file to resume. If it exists, it must contain the right kind of model."""
    from markone.cli.models import check_kind

    if os.path.exists(path):
        check_kind(path, kind, "resume")
    elif not quiet:
        tell(f"there is no {kept} to resume from; the training starts from the beginning")
    return path


def save(model: Learned, path: str, *, final: bool) -> None:
    """Save the model in its file or, if this is impossible, in a temporary folder, so that no training is lost."""
    import tempfile

    try:
        model.save(path, final=final)
    except DataError as error:
        rescue = os.path.join(tempfile.mkdtemp(prefix="markone-"), os.path.basename(path))
        try:
            model.save(rescue, final=final)
        except DataError:
            os.rmdir(os.path.dirname(rescue))
            raise error from None
        raise DataError((error, f". The model is saved as {rescue} instead"), file=rescue) from None


def default_name(data: Sequence[str], ending: str = "model") -> str:
    """
    >>> default_name(["data/reviews.csv.gz"]), default_name(["a.csv", "b.csv"]), default_name(["-"])
    ('reviews.model', 'markone.model', 'markone.model')
    """
    from markone.data.files import STANDARD_INPUT
    from markone.data.finding import name_without_compression

    name = data[0].rstrip("/")
    if len(data) > 1 or name == STANDARD_INPUT or (not os.path.exists(name) and set(name) & set("*?[")):
        return f"markone.{ending}"
    size = len(os.path.splitext(name_without_compression(name))[0])
    return f"{os.path.basename(os.path.abspath(name))[:size]}.{ending}"


def check_path(path: str, inputs: Sequence[str]) -> None:
    """Check before the training that the model can be saved in this file."""
    from markone.cli.output import check_not_read

    folder = os.path.dirname(path) or "."
    if os.path.isdir(path):
        raise DataError(f"{path} is a folder; name the file for the model with -o")
    if os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode):
        raise DataError(f"{path} is a pipe, and a model must be saved in a file; name a file with -o")
    if not os.path.isdir(folder):
        raise DataError(f"the folder {folder} for the model does not exist")
    if not os.access(folder, os.W_OK) or (os.path.exists(path) and not os.access(path, os.W_OK)):
        raise DataError(f"you have no permission to write {path}; name another file for the model with -o")
    for written in (path, f"{path}.checkpoint"):
        check_not_read(written, *inputs)


def identity(path: str) -> tuple[int, int, int] | None:
    """Return facts that change when a file is written again, or None if there is no file."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def tell_interruption(path: str, *, saved: bool) -> None:
    if not saved:
        tell(f"interrupted; no checkpoint was saved in {path}: training had not begun, or the file cannot be written")
        return
    arguments = [argument for argument in sys.argv[1:] if argument != "--resume"]
    command = typed("markone", *arguments, "--resume")  # `tell` would shorten it, and then it would not work
    with suppress(OSError):
        print(f"markone: interrupted; a checkpoint is saved in {readable(path)}. To resume: {command}", file=sys.stderr)
