"""The engine of Dask: tasks run on the workers of a scheduler."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from markone.cluster.tasks import SILENT, Lost, RemoteEngine
from markone.errors import DataError, shorten
from markone.extras import need

ANSWER = 5.0
"""The seconds in which a scheduler must answer."""
PORT = 8786
"""The usual port of schedulers."""


class DaskEngine(RemoteEngine):
    """Runs tasks on Dask."""

    def __init__(self, client: Any, *, own: bool = False) -> None:
        """Use a `dask.distributed.Client`. If it is our `own`, it is closed with the engine."""
        super().__init__()
        self.client = client
        self.own = own
        self.name = f"the Dask cluster at {client.scheduler.address}"
        self._run = os.urandom(6).hex()
        self._tasks = 0
        self._answered = time.monotonic()
        self._signs: dict[str, tuple[float, float]] = {}
        """For each worker, its last sign of life by the scheduler's clock, and when we first saw it by our own."""
        self._look()

    @classmethod
    def at(cls, address: str) -> DaskEngine:
        """Connect to the scheduler at an address."""
        need("distributed")
        try:
            greeted(address)
            client = library().Client(address, timeout=ANSWER, set_as_default=False, name="markone")
        except (OSError, ValueError, TypeError) as error:
            raise DataError(
                f"no scheduler of Dask answers at {address} within {ANSWER:.0f} seconds: {shorten(str(error))}",
                advice="check the address, and that `dask scheduler` runs there",
            ) from None
        return cls(client, own=True)

    def places(self) -> list[str]:
        return sorted(self._info)

    def _slots(self) -> int:
        return sum(int(worker["nthreads"]) for worker in self._info.values())

    def _start(self, function: Callable[..., Any], arguments: list[Any], only: list[str] | None, *, firm: bool) -> Any:
        import dask

        self._tasks += 1
        key = f"markone-{self._run}-{self._tasks}"
        how: dict[str, Any] = {} if not only else {"workers": only, "allow_other_workers": not firm}
        # Weights are sent with the task that holds them: the scheduler can then give them to any worker again.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            return self.client.submit(function, *arguments, key=key, pure=False, **how)

    def _places_with(self, future: Any) -> list[str]:
        """The scheduler would rather send a large result than let a small task wait for a worker that has others."""
        try:
            return sorted(self.client.sync(self.client.scheduler.who_has, keys=[future.key])[future.key])
        except (OSError, KeyError):  # the next look finds out what happened
            return []

    def _is_finished(self, future: Any) -> bool:
        if future.status == "finished":
            return True
        if future.status in ("cancelled", "lost"):
            raise Lost("the cluster no longer knows it")
        if future.status != "error":
            return False
        error = future.exception()
        if type(error).__name__ == "KilledWorker":
            raise DataError(
                f"{error.allowed_failures + 1} workers died while they ran the same task, the last at "
                f"{error.last_worker.address}",
                advice="see their logs; they may need more memory, or more partitions, which are smaller",
            )
        if type(error).__name__ in ("FutureCancelledError", "FuturesCancelledError", "CancelledError"):
            raise Lost("the cluster no longer knows it")
        raise error

    def _wait(self, futures: list[Any], seconds: float) -> None:
        with self.client.as_current(), suppress(TimeoutError, CancelledError):  # the next look finds out what happened
            library().wait(futures, seconds, "FIRST_COMPLETED")

    def _fetch(self, futures: list[Any]) -> list[Any]:
        try:
            found: list[Any] = self.client.gather(futures)
        except (CancelledError, OSError) as error:
            raise Lost(str(error)) from None
        return found

    def _look(self) -> bool:
        """Ask the scheduler for its workers. One that gives no sign of life is removed, and its tasks go to others."""
        try:
            self._info = self.client.sync(self.client.scheduler.identity, n_workers=-1, callback_timeout=ANSWER)[
                "workers"
            ]
            self._answered = time.monotonic()
        except Exception as error:  # of any kind: Dask, Tornado and the system all have their own
            if time.monotonic() - self._answered > SILENT or self.client.status == "closed":
                raise DataError(
                    f"{self.name} no longer answers: {shorten(str(error)) or type(error).__name__}",
                    advice="start it again, and resume from the checkpoint if there is one",
                ) from None
            return True
        now = time.monotonic()
        for address, worker in self._info.items():
            seen, since = self._signs.get(address, (None, now))
            self._signs[address] = (worker["last_seen"], now if worker["last_seen"] != seen else since)
        silent = [address for address in self._info if now - self._signs[address][1] > SILENT]
        for address in silent:
            remove = self.client.scheduler.unregister
            self.client.sync(remove, address=address, stimulus_id=f"markone-{self._run}", callback_timeout=ANSWER)
            del self._info[address]
        return bool(self._info)

    def close(self) -> None:
        if self.own:
            self.client.close()


def library() -> Any:
    """Return Dask's library, which has no types."""
    import distributed

    return distributed


def greeted(address: str) -> None:
    """Wait for the first byte of a scheduler. A client would wait without end for a server that says nothing."""
    parts = urlsplit(address)
    if parts.scheme != "tcp":  # with TLS, clients speak first
        return
    with socket.create_connection((parts.hostname or "", parts.port or PORT), ANSWER) as probe:
        if not probe.recv(1):
            raise OSError("it closed the connection")
