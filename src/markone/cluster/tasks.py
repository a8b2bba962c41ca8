"""Tasks on other machines: what the engines of Dask and Ray have in common.

A task is a function and its arguments, some of which are the results of other tasks. Results stay on the workers until
they are gathered. A task is pure, so it can be made again: on another worker if its own has died, or cannot do the work
because its disk or its memory is full. The engine remembers how each task was made until it is freed.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Self

import numpy as np

from markone.cluster.worker import Trouble, run, this_build, unchanged
from markone.errors import DataError, MarkoneError

MOST_TRIES = 4
"""How often a task is begun at most. Dask and Ray try again by themselves a few times, each time."""
PAUSE = 0.5
"""The most seconds until the engine looks at the tasks again."""
LOOK = 2.0
"""The seconds from one look at the workers to the next."""
SILENT = 20.0
"""The seconds after which a worker without a sign of life is given up, or a cluster without a worker."""


@dataclass(eq=False)
class Task:
    """A task that was submitted."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    future: Any = None
    """The engine's own object; None after the task was freed."""
    tries: int = 0
    only: str | None = None
    """The only worker that may run it."""
    near: list[str] = field(default_factory=list)
    """The workers that should run it, because they have a large argument."""
    avoided: set[str] = field(default_factory=set)
    """Workers on which it failed."""

    def needed(self) -> Iterator[Task]:
        """Yield the tasks whose results are arguments."""
        for argument in self.arguments:
            if isinstance(argument, Task):
                yield argument


class Lost(Exception):  # noqa: N818 - it is a state
    """The result of a task was lost with its worker. Its text says how."""


class Gone(Exception):  # noqa: N818 - it is a state
    """The only worker that should run a task is gone."""


class RemoteEngine(ABC):
    """Runs tasks on the workers of a cluster. It is an `Engine` of learning."""

    in_process = False
    name: str
    """What the engine is, for messages."""

    def __init__(self) -> None:
        self.build = this_build()
        self.made_again = 0
        """How many tasks were begun more than once."""
        self.moved = 0
        """The bytes of arrays and texts that this process has sent and received."""
        self._waiting = 0, 0
        self._looked = 0.0
        self._alive = time.monotonic()

    def status(self) -> str:
        """Say in a few words what the workers do, for people who watch."""
        done, everything = self._waiting
        workers = self.workers()
        several = "" if workers == 1 else "s"
        return f"{done} of {everything} tasks, {workers} worker{several}, {self.moved / 1e6:,.1f} MB moved"

    # ---- the protocol of engines

    def workers(self) -> int:
        """Return how many tasks can run at the same time."""
        return max(1, self._slots())

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Task:
        return self._submitted(Task(function, arguments))

    def submit_near(self, near: Task, function: Callable[..., Any], *arguments: Any) -> Task:
        return self._submitted(Task(function, arguments, near=self._places_with(near.future)))

    def _submitted(self, task: Task) -> Task:
        self.moved += sum(bytes_in(argument) for argument in task.arguments if not isinstance(argument, Task))
        self._begin(task)
        return task

    def submit_to(self, place: str, function: Callable[..., Any], *arguments: Any) -> Task:
        """Run a function on this worker only, whatever versions it has."""
        task = Task(function, arguments, only=place)
        self._begin(task)
        return task

    def put(self, value: Any) -> Task:
        return self.submit(unchanged, value)

    def gather(self, handles: Sequence[Task]) -> list[Any]:
        for _ in range(MOST_TRIES):
            while not self.wait(handles, PAUSE):
                pass
            try:
                found = self._fetch([task.future for task in handles])
                self.moved += sum(map(bytes_in, found))
                return found
            except Lost:  # between the two: the next look finds out which
                continue
        raise self._given_up(handles[0], "its result was lost each time")

    def wait(self, handles: Sequence[Task], seconds: float) -> bool:
        end = time.monotonic() + seconds
        while True:
            running = [task.future for task in handles if not self._has_finished(task)]
            self._waiting = len(handles) - len(running), len(handles)
            left = end - time.monotonic()
            if not running or left <= 0:
                return not running
            self._wait(running, min(left, PAUSE))
            self._look_at_workers()

    def free(self, handles: Iterable[Task]) -> None:
        for task in handles:
            task.future = None

    @abstractmethod
    def close(self) -> None:
        """Leave the cluster."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- what Dask and Ray do differently

    @abstractmethod
    def places(self) -> list[str]:
        """The names of the workers, or of the nodes on which workers are."""

    @abstractmethod
    def _start(self, function: Callable[..., Any], arguments: list[Any], only: list[str] | None, *, firm: bool) -> Any:
        """Begin a task, on one of these places if any are given, and return the engine's own object. Futures among the
        arguments stand for their results. If it is not `firm`, other places will do when all of these are gone."""

    @abstractmethod
    def _slots(self) -> int:
        """Return how many tasks the workers can run at the same time."""

    @abstractmethod
    def _is_finished(self, future: Any) -> bool:
        """Return whether a task has finished. Raise its exception if it failed, and `Lost` if it was lost."""

    @abstractmethod
    def _wait(self, futures: list[Any], seconds: float) -> None:
        """Wait until one of the tasks ends, but not longer than this."""

    @abstractmethod
    def _fetch(self, futures: list[Any]) -> list[Any]:
        """Return the results of finished tasks."""

    def _places_with(self, future: Any) -> list[str]:
        """Return the workers that have the result of a task, if it is of use to name them."""
        return []

    def _look(self) -> bool:
        """Look after the workers, and return whether there are any."""
        return bool(self.places())

    # ---- tasks that are lost

    def _begin(self, task: Task) -> None:
        task.tries += 1
        only = (task.near or None) if task.only is None else [task.only]
        if task.avoided:
            only = [place for place in self.places() if place not in task.avoided]
        for one in task.needed():
            if one.future is None:
                self._begin(one)
        arguments = [one.future if isinstance(one, Task) else one for one in task.arguments]
        build = self.build if task.only is None else None
        task.future = self._start(run, [build, task.function, *arguments], only, firm=task.only is not None)

    def _has_finished(self, task: Task) -> bool:
        """Return whether a task has finished. If it was lost, it is begun again."""
        try:
            finished = self._is_finished(task.future)
            if not finished and task.only is not None and task.only not in self.places():
                raise Gone(task.only)
            return finished
        except Lost as lost:
            if task.only is not None and task.only not in self.places():
                raise Gone(task.only) from None
            self._begin_again(task, str(lost))
        except Trouble as trouble:
            self._begin_again(task, str(trouble), trouble.place)
        return False

    def _begin_again(self, task: Task, why: str, place: str | None = None) -> None:
        """Begin a lost task again, after those that it needs and that were lost, too."""
        for one in task.needed():
            if one.future is not None and not self._stands(one):
                self._begin_again(one, why, place)
                place = None
        if place is not None:
            task.avoided.add(place)
        nowhere = place is not None and not set(self.places()) - task.avoided
        if task.tries >= MOST_TRIES or task.only is not None or nowhere:
            raise self._given_up(task, why)
        self.made_again += 1
        self._begin(task)

    def _stands(self, task: Task) -> bool:
        """Return whether a task is finished or under way."""
        try:
            self._is_finished(task.future)
        except (Lost, Trouble):
            return False
        return True

    def _given_up(self, task: Task, why: str) -> MarkoneError:
        name = getattr(task.function, "__name__", "task").replace("_", " ")
        return DataError(f"a task of {self.name} ({name}) failed, also when it was begun again: {why}")

    def _look_at_workers(self) -> None:
        """Raise an error if there has been no worker for some time."""
        now = time.monotonic()
        if now - self._looked < LOOK:
            return
        self._looked = now
        if self._look():
            self._alive = time.monotonic()
        elif now - self._alive > SILENT:
            raise DataError(
                f"{self.name} has had no worker for {SILENT:.0f} seconds",
                advice="start workers, and resume from the checkpoint if there is one",
            )


def bytes_in(value: Any) -> int:
    """Return the bytes of the arrays and texts in a value, without making it what is sent.

    >>> bytes_in([np.zeros(3), {"name": b"1234"}, None])
    28
    """
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, bytes | str):
        return len(value)
    if isinstance(value, list | tuple):
        return sum(map(bytes_in, value))
    if isinstance(value, dict):
        return sum(map(bytes_in, value.values()))
    if is_dataclass(value):
        return sum(bytes_in(getattr(value, one.name)) for one in fields(value))
    return value.__sizeof__() if type(value).__module__.startswith("markone.") else 0
