"""The engine of Ray: tasks run on the nodes of a Ray cluster."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from markone.cluster.tasks import Lost, RemoteEngine
from markone.cluster.worker import Trouble
from markone.errors import DataError, MarkoneError, shorten
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
        self.ray = ray
        self.own = own
        self.name = "the Ray cluster"
        self._remote = ray.remote(max_retries=3)(call)

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

    def places(self) -> list[str]:
        return sorted(node["NodeID"] for node in self.ray.nodes() if node["Alive"] and node["Resources"].get("CPU"))

    def _slots(self) -> int:
        return int(self.ray.cluster_resources().get("CPU", 1))

    def _start(self, function: Callable[..., Any], arguments: list[Any], only: list[str] | None) -> Any:
        if only is None:
            return self._remote.remote(function, *arguments)
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        place = only[self.made_again % len(only)]
        here = NodeAffinitySchedulingStrategy(node_id=place, soft=False)
        return self._remote.options(scheduling_strategy=here).remote(function, *arguments)

    def _is_finished(self, future: Any) -> bool:
        ready, _ = self.ray.wait([future], timeout=0, fetch_local=False)
        if not ready:
            return False
        if future not in self._checked:
            self._check(future)
        return True

    def _wait(self, futures: list[Any], seconds: float) -> None:
        self.ray.wait(futures, num_returns=1, timeout=seconds, fetch_local=False)

    def _fetch(self, futures: list[Any]) -> list[Any]:
        try:
            found: list[Any] = self.ray.get(futures)
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from None
        return found


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)
