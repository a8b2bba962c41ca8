"""What the commands that learn have in common: a training that is kept when it is interrupted, and a model saved."""

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
    from markone.learning.progress import Progress
    from markone.model.history import History


class Keeping(NamedTuple):
    """What is kept of a training, in which file it goes on, and whether it is told."""

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
    """Calls `learn` with where to keep the training, and with the file to go on from, if there is one."""
    from markone.learning.checkpoints import Checkpoints
    from markone.learning.interruption import Shelter, end_quietly, exception_for

    kept = f"{path}.checkpoint"
    before = identity(kept)
    resumed = keeping.resume and file_to_resume(kept if before is not None else path, kind, kept, keeping.quiet)
    shelter = Shelter((signal.SIGINT, signal.SIGTERM))
    try:
        with shelter:  # what is as good as done is finished
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
    made = sum(one.seconds is not None for one in model.history)  # a file does not keep how long a pass took
    if keeping.resume and not made and not keeping.quiet:
        passes = len(model.history)
        tell(f"{passes:,} passes were made already, and none is added; --epochs says how many there are to be in all")
    if shelter.signal is not None:
        end_quietly()
        tell(f"interrupted, but the model was ready and is saved as {path}")
        raise exception_for(shelter.signal).known()
    return model


def file_to_resume(path: str, kind: str, kept: str, quiet: bool) -> str:
    """The file to go on from, which holds a model of the right kind if it is there."""
    from markone.cli.models import check_kind

    if os.path.exists(path):
        check_kind(path, kind, "resume")
    elif not quiet:
        tell(f"there is no {kept} to go on from; the training begins")
    return path


def save(model: Learned, path: str, *, final: bool) -> None:
    """Where the model is wanted or, where that cannot be, in the folder of temporary files: nothing learned is lost."""
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
    from markone.data.files import STANDARD_INPUT, name_without_compression

    name = data[0].rstrip("/")
    if len(data) > 1 or name == STANDARD_INPUT or (not os.path.exists(name) and set(name) & set("*?[")):
        return f"markone.{ending}"
    size = len(os.path.splitext(name_without_compression(name))[0])
    return f"{os.path.basename(os.path.abspath(name))[:size]}.{ending}"


def check_path(path: str, inputs: Sequence[str]) -> None:
    """That a model can be written there in the end, before anything is done for it."""
    from markone.cli.output import check_not_read

    folder = os.path.dirname(path) or "."
    if os.path.isdir(path):
        raise DataError(f"{path} is a folder; say with -o in which file the model is to be saved")
    if os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode):
        raise DataError(f"{path} is a pipe, and a model is saved in a file; say with -o in which")
    if not os.path.isdir(folder):
        raise DataError(f"there is no folder {folder}, in which to save the model")
    if not os.access(folder, os.W_OK) or (os.path.exists(path) and not os.access(path, os.W_OK)):
        raise DataError(f"{path} may not be written to; say with -o where the model is to be saved")
    for written in (path, f"{path}.checkpoint"):
        check_not_read(written, *inputs)


def identity(path: str) -> tuple[int, int, int] | None:
    """What changes when a file is written anew."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def progress(quiet: bool) -> Progress | None:
    from markone.cli.progress import is_watched

    if not is_watched(quiet=quiet):
        return None
    from markone.learning.progress import Bar

    return Bar()


def tell_interruption(path: str, *, saved: bool) -> None:
    if not saved:
        tell(f"interrupted; nothing is kept in {path}, since nothing was learned yet or it could not be written")
        return
    arguments = [argument for argument in sys.argv[1:] if argument != "--resume"]
    go_on = typed("markone", *arguments, "--resume")  # which is not cut, however long it is
    with suppress(OSError):
        print(f"markone: interrupted; what was learned is kept in {readable(path)}. To go on: {go_on}", file=sys.stderr)
