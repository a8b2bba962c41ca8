"""Work by several threads: in order, not too far ahead, and over when it is over."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from markone.errors import SettingsError
from markone.parallel import count_threads, in_order


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_order(threads: int) -> None:
    def slow_at_first(number: int) -> int:
        time.sleep(0.002 * (number % 3 == 0))
        return number * number

    assert list(in_order(slow_at_first, range(50), threads)) == [number * number for number in range(50)]
    assert list(in_order(slow_at_first, [], threads)) == [] and list(in_order(slow_at_first, [3], threads)) == [9]


def test_tasks_are_read_only_a_little_ahead() -> None:
    read = 0

    def tasks() -> Iterator[int]:
        nonlocal read
        while True:
            read += 1
            yield read

    results = in_order(abs, tasks(), threads=2)
    for taken in range(1, 100):
        assert next(results) == taken and read <= taken + 6
    results.close()  # type: ignore[attr-defined]


def test_an_error_comes_in_its_turn_and_ends_the_work() -> None:
    started = []

    def work(number: int) -> int:
        started.append(number)
        if number == 5:
            raise ValueError("five")
        return number

    results = in_order(work, range(1000), threads=2)
    assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="five"):
        next(results)
    assert len(started) < 20
    assert not any(thread.name.startswith("markone") for thread in threading.enumerate())


def test_whoever_stops_early_leaves_no_work_behind() -> None:
    started = []

    def work(number: int) -> int:
        time.sleep(0.01)
        started.append(number)
        return number

    results = in_order(work, range(1000), threads=2)
    next(results)
    results.close()  # type: ignore[attr-defined]
    count = len(started)
    assert count <= 4  # what was under way, and not what waited
    time.sleep(0.05)
    assert len(started) == count


def test_a_number_of_threads_is_a_number() -> None:
    assert count_threads(3) == 3 and count_threads(None) >= 1
    for wrong in (0, -1, 1.5, True, "two"):
        with pytest.raises(SettingsError, match="threads must be a whole number of at least 1"):
            count_threads(wrong)  # type: ignore[arg-type]
