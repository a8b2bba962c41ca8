"""Runs tasks in several threads and returns the results in order: the number of threads only changes the time."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

from markone.errors import SettingsError

if TYPE_CHECKING:
    from concurrent.futures import Future

Task = TypeVar("Task")
Result = TypeVar("Result")


def count_threads(threads: int | None) -> int:
    """Return the requested number of threads, or by default the number of cores that this process may use."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise SettingsError("threads", f"must be a whole number of at least 1, not {threads!r}")
    return threads


def in_order(work: Callable[[Task], Result], tasks: Iterable[Task], threads: int) -> Iterator[Result]:
    """Compute `map(work, tasks)` in several threads, and read at most a few tasks ahead of the results.

    >>> list(in_order(abs, [-1, 2, -3], threads=2))
    [1, 2, 3]
    """
    rest = iter(tasks)
    first = list(islice(rest, 2)) if threads > 1 else []  # a single thread finishes each task before it reads another
    if len(first) < 2:
        yield from map(work, chain(first, rest))
        return
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(threads, thread_name_prefix="markone")
    under_way: deque[Future[Result]] = deque()
    try:
        for task in chain(first, rest):
            under_way.append(pool.submit(work, task))
            if len(under_way) > 2 * threads:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
