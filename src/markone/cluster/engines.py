"""Opens the engine that a user names: an address, a client of Dask, or the module `ray`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from markone.cluster.dask import DaskEngine
from markone.cluster.preflight import check_functions, check_workers
from markone.cluster.ray import RayEngine
from markone.cluster.tasks import RemoteEngine
from markone.errors import SettingsError

DASK = ("tcp://", "tls://", "ws://", "wss://", "ucx://", "inproc://")
RAY = ("ray://",)


@contextmanager
def opened(
    cluster: Any, files: Sequence[str] = (), functions: Mapping[str, Callable[..., Any]] | None = None
) -> Iterator[RemoteEngine]:
    """Yield the engine of a cluster, whose workers all have our versions and see these files, and to which the user's
    functions can be sent."""
    with engine_of(cluster) as engine:
        check_workers(engine, files)
        check_functions(engine, functions or {})
        yield engine


def engine_of(cluster: Any) -> RemoteEngine:
    """Return the engine for the address of a cluster, a `dask.distributed.Client`, or `ray` itself."""
    if isinstance(cluster, str):
        if cluster.startswith(DASK):
            return DaskEngine.at(cluster)
        if cluster.startswith(RAY):
            return RayEngine.at(cluster)
        raise SettingsError(
            "cluster",
            f"must be the address of a Dask scheduler, such as tcp://host:8786, or of a Ray cluster, such as "
            f"ray://host:10001, not {cluster!r}",
        )
    distributed = sys.modules.get("distributed")
    if distributed is not None and isinstance(cluster, distributed.Client):
        return DaskEngine(cluster)
    if cluster is not None and cluster is sys.modules.get("ray"):
        return RayEngine.here()
    raise SettingsError(
        "cluster", f"must be an address, a dask.distributed.Client, or the module ray, not {type(cluster).__name__}"
    )
