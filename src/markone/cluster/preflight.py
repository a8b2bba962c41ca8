"""Looks, before any work, whether each worker of a cluster has the same versions and sees the same files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from xxhash import xxh3_64

from markone.addresses import facts_of_address, is_address, open_address
from markone.cluster.tasks import Gone, RemoteEngine, Task
from markone.cluster.worker import Build, this_build
from markone.errors import DataError, MarkoneError, shorten

PIECE = 2**20


class Sight(NamedTuple):
    """What a worker has and sees."""

    build: Build
    files: list[tuple[int, int] | str]
    """The size of each file and when it was written to, or why it cannot be read."""


def look(paths: Sequence[str]) -> Sight:
    """Return what this machine has, and what it sees of these files."""
    return Sight(this_build(), [facts_of(path) for path in paths])


def facts_of(path: str) -> tuple[int, int] | str:
    try:
        if is_address(path):
            return facts_of_address(path)
        with open(path, "rb"):
            found = os.stat(path)
    except OSError as error:
        return error.strerror or str(error)
    except MarkoneError as error:
        return str(error).partition(": ")[2] or str(error)
    return found.st_size, found.st_mtime_ns


def digests(paths: Sequence[str]) -> list[str]:
    """Return the digests of files."""
    return list(map(digest_of, paths))


def digest_of(path: str) -> str:
    digest = xxh3_64()
    with open_address(path) if is_address(path) else open(path, "rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


def check_workers(engine: RemoteEngine, paths: Sequence[str]) -> None:
    """Raise an error if a worker has other versions, or does not see the same files as this process."""
    places = engine.places()
    if not places:
        raise DataError(f"{engine.name} has no workers", advice="start some")
    mine = look(paths)
    doubtful: dict[str, list[int]] = {}
    for place, sight in seen(engine, places, paths).items():
        if difference := mine.build.difference(sight.build):
            raise other_build(place, difference)
        for number, (own, other) in enumerate(zip(mine.files, sight.files, strict=True)):
            if isinstance(other, str):
                raise DataError(
                    f"the worker {place} cannot read {paths[number]}: {other}",
                    advice="files must have the same path on all machines, as on a shared disk",
                )
            if other[0] != own[0]:
                raise other_file(place, paths[number], f"it has {other[0]:,} bytes there, and {int(own[0]):,} here")
            if other[1] != own[1]:  # it may be a copy
                doubtful.setdefault(place, []).append(number)
    tasks = {
        place: engine.submit_to(place, digests, [paths[number] for number in numbers])
        for place, numbers in doubtful.items()
    }
    if not tasks:
        return
    some = sorted({number for numbers in doubtful.values() for number in numbers})
    own_digests = dict(zip(some, digests([paths[number] for number in some]), strict=True))
    for place, numbers in doubtful.items():
        with suppress(Gone):
            for number, digest in zip(numbers, engine.gather([tasks[place]])[0], strict=True):
                if digest != own_digests[number]:
                    raise other_file(place, paths[number], "it has the same size there, but other bytes")


def check_functions(engine: RemoteEngine, functions: Mapping[str, Callable[..., Any]]) -> None:
    """Raise an error if one of the user's functions cannot be sent to the workers."""
    for name, function in functions.items():
        try:
            engine.gather([engine.submit(callable, function)])
        except MarkoneError:
            raise
        except Exception as error:  # of any kind: it may fail here or there
            raise DataError(
                f"the function {name!r} cannot be sent to the workers: {shorten(str(first_cause(error)))}",
                advice="it must not hold files, locks or connections, and its module must be there on all machines",
            ) from None


def first_cause(error: BaseException) -> BaseException:
    """Return the exception that this one explains."""
    return error if error.__cause__ is None else first_cause(error.__cause__)


def seen(engine: RemoteEngine, places: Sequence[str], paths: Sequence[str]) -> dict[str, Sight]:
    """Return what each worker sees."""
    tasks: list[Task] = [engine.submit_to(place, look, list(paths)) for place in places]
    found = {}
    for place, task in zip(places, tasks, strict=True):
        try:
            found[place] = engine.gather([task])[0]
        except Gone:  # it has died meanwhile
            continue
        except (ImportError, AttributeError):  # the task cannot even be read there
            raise other_build(place, "no Markone, or another version of it") from None
    return found


def other_build(place: str, difference: str) -> DataError:
    return DataError(
        f"the worker {place} has {difference}; all machines must have the same versions, for the same results"
    )


def other_file(place: str, path: str, how: str) -> DataError:
    return DataError(f"the worker {place} has another file {path}: {how}")
