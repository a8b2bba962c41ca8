"""Counts of requests and examples in the text format of Prometheus. Worker processes share them."""

from __future__ import annotations

import mmap
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

STATUSES = (200, 400, 401, 403, 404, 405, 406, 408, 413, 415, 422, 429, 500, 503)
OTHER = 0
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""The upper limits of the histogram's buckets, in seconds."""
MICROSECONDS = 1e6
KIND = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """One table of counts for each worker, in memory that processes share after a fork. Each writes only its own."""

    def __init__(self, paths: Sequence[str], workers: int = 1) -> None:
        self.paths = {path: number for number, path in enumerate(paths)}
        self._statuses = {status: number for number, status in enumerate((*STATUSES, OTHER))}
        self._wide = len(self._statuses) + len(BUCKETS) + 1 + 2  # statuses, buckets, microseconds, examples
        self._size = self._wide * len(self.paths)
        self._workers = workers
        self._shared = mmap.mmap(-1, max(1, 8 * self._size * workers))
        self._counts = memoryview(self._shared).cast("Q")
        self.worker = 0
        """The number of this process among the workers."""

    def count(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        at = self.worker * self._size + self.paths[path] * self._wide
        buckets = at + len(self._statuses)
        self._counts[at + self._statuses.get(status, len(STATUSES))] += 1
        self._counts[buckets + bisect_left(BUCKETS, seconds)] += 1
        self._counts[buckets + len(BUCKETS) + 1] += int(seconds * MICROSECONDS)

    def count_examples(self, path: str, examples: int) -> None:
        self._counts[self.worker * self._size + (self.paths[path] + 1) * self._wide - 1] += examples

    def _sums(self, path: str) -> list[int]:
        """The counts of all workers for a path."""
        first = self.paths[path] * self._wide
        return [
            sum(self._counts[worker * self._size + first + i] for worker in range(self._workers))
            for i in range(self._wide)
        ]

    def lines(self) -> Iterator[str]:
        """Return the counts in the text format of Prometheus. Paths without requests are left out."""
        sums = {path: counts for path in self.paths if sum((counts := self._sums(path))[: len(self._statuses)])}
        yield from head("markone_requests_total", "counter", "Requests by path and status.")
        for path, counts in sums.items():
            for status, number in self._statuses.items():
                if counts[number]:
                    labels = {"path": path, "status": str(status or "other")}
                    yield sample("markone_requests_total", labels, counts[number])
        yield from head("markone_request_seconds", "histogram", "The time that requests took.")
        for path, counts in sums.items():
            buckets = counts[len(self._statuses) : len(self._statuses) + len(BUCKETS) + 1]
            so_far = 0
            for limit, count in zip((*map(str, BUCKETS), "+Inf"), buckets, strict=True):
                so_far += count
                yield sample("markone_request_seconds_bucket", {"path": path, "le": limit}, so_far)
            yield sample("markone_request_seconds_sum", {"path": path}, counts[-2] / MICROSECONDS)
            yield sample("markone_request_seconds_count", {"path": path}, so_far)
        yield from head("markone_examples_total", "counter", "Examples that were predicted, explained or learned.")
        for path, counts in sums.items():
            if counts[-1]:
                yield sample("markone_examples_total", {"path": path}, counts[-1])


def head(name: str, kind: str, text: str) -> Iterable[str]:
    return (f"# HELP {name} {text}", f"# TYPE {name} {kind}")


def sample(name: str, labels: dict[str, str], value: float) -> str:
    """
    >>> sample("up", {"name": 'a"b'}, 1)
    'up{name="a\\\\"b"} 1'
    """
    written = ",".join(f'{key}="{escaped(one)}"' for key, one in labels.items())
    return f"{name}{{{written}}} {value}" if written else f"{name} {value}"


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
