"""The engine of Ray: tasks run on the nodes of a Ray cluster."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from markone.cluster.tasks import Lost, RemoteEngine
from markone.errors import DataError, SettingsError, shorten
from markone.extras import need

ANSWER = 5.0
"""The seconds in which a cluster must answer."""
PORT = 10001
"""The usual port of Ray's clients."""


class RayEngine(RemoteEngine):
    """Runs tasks on Ray."""

    def __init__(self, *, own: bool = False) -> None:
        """Use the Ray to which this process is connected. If the connection is our `own`, it ends with the engine."""
        import ray

        super().__init__()
        self.ray: Any = ray
        self.own = own
        self.name = "the Ray cluster"
        self._remote = ray.remote(num_returns=2, max_retries=3)(call)

    @classmethod
    def at(cls, address: str) -> RayEngine:
        """Connect to the cluster at an address."""
        need("ray")
        import ray

        parts = urlsplit(address)
        try:
            socket.create_connection((parts.hostname or "", parts.port or PORT), ANSWER).close()
            ray.init(address, log_to_driver=False, namespace="markone")
        except (OSError, ValueError, ConnectionError, RuntimeError) as error:
            raise DataError(
                f"no cluster of Ray answers at {address} within {ANSWER:.0f} seconds: {shorten(str(error))}",
                advice="check the address, and that `ray start --head` runs there",
            ) from None
        return cls(own=True)

    @classmethod
    def here(cls) -> RayEngine:
        """Use the cluster to which `ray.init` has connected this process."""
        import ray

        if not ray.is_initialized():
            raise SettingsError("cluster", "is the module ray, which is not connected yet; call ray.init() first")
        return cls()

    def places(self) -> list[str]:
        return sorted(node["NodeID"] for node in self.ray.nodes() if node["Alive"] and node["Resources"].get("CPU"))

    def _slots(self) -> int:
        return int(self.ray.cluster_resources().get("CPU", 1))

    def _start(self, function: Callable[..., Any], arguments: list[Any], only: list[str] | None, *, firm: bool) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        how: dict[str, Any] = {}
        if only:
            place = only[self.made_again % len(only)]
            how["scheduling_strategy"] = NodeAffinitySchedulingStrategy(node_id=place, soft=not firm)
        results = (one.result if isinstance(one, RayFuture) else one for one in arguments)
        return RayFuture(*self._remote.options(**how).remote(function, *results))

    def _is_finished(self, future: RayFuture) -> bool:
        if future.finished:
            return True
        ready, _ = self.ray.wait([future.end], timeout=0)
        if ready:
            self._get([future.end])
            future.finished = True
        return future.finished

    def _wait(self, futures: list[RayFuture], seconds: float) -> None:
        self.ray.wait([future.end for future in futures], num_returns=1, timeout=seconds)

    def _fetch(self, futures: list[RayFuture]) -> list[Any]:
        try:
            return self._get([future.result for future in futures])
        except Lost:
            for future in futures:
                future.finished = False
            raise

    def _get(self, references: list[Any]) -> list[Any]:
        try:
            found: list[Any] = self.ray.get(references)
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self.ray.exceptions.WorkerCrashedError:  # Ray has begun the task again before
            raise DataError(
                "several workers of Ray died while they ran the same task",
                advice="see their logs; they may need more memory, or more partitions, which are smaller",
            ) from None
        except self.ray.exceptions.RayError as error:
            raise Lost(shorten(str(error))) from None
        return found

    def close(self) -> None:
        if self.own:
            self.ray.shutdown()


@dataclass
class RayFuture:
    """The two results of a task."""

    result: Any
    end: Any
    """It is small, so that it can be fetched to see whether the task has failed."""
    finished: bool = False


def call(function: Callable[..., Any], *arguments: Any) -> tuple[Any, bool]:
    return function(*arguments), True
