"""Engines run the tasks of a training: what they must be able to do, and the engine of threads of this process.

A task is a pure function of a module: the same arguments give the same bytes, so that a task of a worker that was lost
can be run again anywhere. Its arguments are small values or handles, and its result is a plain dataclass of numbers and
arrays. What a worker keeps between two tasks is a cache, which it can make again.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from typing import Any, Protocol, Self

from markone.parallel import count_threads

Handle = Any
"""Stands for the result of a task, or for a value that was put. Each engine has handles of its own."""


AHEAD = 3
"""The calls that are submitted for each worker, so that none has to wait."""
LOOK = 0.05
"""Seconds between two looks at signals while tasks run."""


class Engine(Protocol):
    """Runs tasks, and keeps their results where they were made until somebody gathers them."""

    in_process: bool
    """Whether tasks run in this process, so that values are passed on without a copy."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Handle:
        """Run a function of a module, and return a handle of its result at once. Arguments can be handles; the task
        then gets what they stand for, and starts when it is there."""

    def submit_near(self, near: Handle, function: Callable[..., Any], *arguments: Any) -> Handle:
        """Run a function where the result of a finished task is, if possible, because that is large."""

    def gather(self, handles: Sequence[Handle]) -> list[Any]:
        """Wait for results, and return them in the order of the handles. The first error of a task is raised."""

    def wait(self, handles: Sequence[Handle], seconds: float) -> bool:
        """Wait at most so long, and return whether all results are there, or one of the tasks has failed."""

    def put(self, value: Any) -> Handle:
        """Make a value available to many tasks."""

    def free(self, handles: Iterable[Handle]) -> None:
        """Forget results and values that are no longer needed. Tasks that have not begun are not run."""

    def workers(self) -> int:
        """Return how many tasks can run at the same time."""

    def close(self) -> None:
        """End all tasks, and release everything that belongs to the training, but not a cluster that others use."""


class Cancelled(Exception):  # noqa: N818
    """A task was ended because nobody wants its result."""


class Threads:
    """The engine of threads of this process."""

    in_process = True
    _of_thread = threading.local()

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._closed = False
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="markone-partition", initializer=self._enter)

    def _enter(self) -> None:
        self._of_thread.engine = self

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        # A task may wait for others, because these were submitted before it, and threads take tasks in that order.
        return self._pool.submit(lambda: function(*map(result_of, arguments)))

    def submit_near(self, near: Future[Any], function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return self.submit(function, *arguments)

    def gather(self, handles: Sequence[Future[Any]]) -> list[Any]:
        return [handle.result() for handle in handles]

    def wait(self, handles: Sequence[Future[Any]], seconds: float) -> bool:
        done, waiting = wait(handles, seconds, "FIRST_EXCEPTION")
        return not waiting or any(not one.cancelled() and one.exception() is not None for one in done)

    def put(self, value: Any) -> Future[Any]:
        handle: Future[Any] = Future()
        handle.set_result(value)
        return handle

    def free(self, handles: Iterable[Future[Any]]) -> None:
        for handle in handles:
            handle.cancel()

    def workers(self) -> int:
        return self._threads

    def close(self) -> None:
        self._closed = True
        self._pool.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @classmethod
    def check_wanted(cls) -> None:
        """Raise an error in a task whose engine is closed. Long tasks call this from time to time."""
        engine = getattr(cls._of_thread, "engine", None)
        if engine is not None and engine._closed:
            raise Cancelled("the training was ended")


class HasEngine:
    """What runs the tasks of a learner: an engine that it is given, or threads, which it starts when it needs them."""

    engine: Engine | None = None
    threads: int | None = None
    _own_engine: Threads | None = None

    def tasks(self) -> Engine:
        """Return the engine."""
        if self.engine is not None:
            return self.engine
        if self._own_engine is None:
            self._own_engine = Threads(count_threads(self.threads))
        return self._own_engine

    def end_tasks(self) -> None:
        """End all tasks on threads of its own."""
        if self._own_engine is not None:
            self._own_engine.close()
            self._own_engine = None


@contextmanager
def engine_for(engine: Engine | None, threads: int | None) -> Iterator[Engine]:
    """Return an engine that is open already, or open one of this number of threads (by default, of all cores)."""
    if engine is not None:
        yield engine
        return
    with Threads(count_threads(threads)) as own:
        yield own


def result_of(argument: Any) -> Any:
    return argument.result() if isinstance(argument, Future) else argument


def in_turn(engine: Engine, function: Callable[..., Any], calls: Iterable[Sequence[Any]]) -> Iterator[Any]:
    """Run a function with the arguments of each call, and yield the results in the order of the calls. Only a few calls
    for each worker are submitted ahead, so there can be any number of them."""
    under_way: deque[Handle] = deque()
    waiting = iter(calls)
    try:
        while True:
            # There may be fewer workers than a moment ago.
            for arguments in islice(waiting, max(0, AHEAD * engine.workers() - len(under_way))):
                under_way.append(engine.submit(function, *arguments))
            if not under_way:
                return
            [result] = engine.gather([under_way[0]])
            engine.free([under_way.popleft()])
            yield result
    finally:
        engine.free(under_way)


def reduce_in_tree(engine: Engine, combine: Callable[[Any, Any], Any], handles: Sequence[Handle]) -> Handle:
    """Combine neighbours, then neighbours of these, until one is left, and return its handle.

    The tree depends only on the number of handles, so that sums of floating-point numbers always have the same bits.
    """
    level = list(handles)
    while len(level) > 1:
        pairs = [engine.submit(combine, *level[i : i + 2]) for i in range(0, len(level) - 1, 2)]
        level = pairs + level[2 * len(pairs) :]
    return level[0]
