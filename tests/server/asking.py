"""Asks the service without a network: requests as uvicorn would pass them on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import markone
from markone.server.service import Service
from markone.server.settings import ServeSettings
from markone.server.shelf import Shelf

HOST = "127.0.0.1:8080"
TEXTS = ["free money now", "cheap free offer", "see you at lunch", "lunch with a friend"]
KINDS = ["spam", "spam", "ham", "ham"]


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes
    pieces: list[bytes]

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.body.splitlines()]


def ask(
    service: Service,
    method: str,
    path: str,
    body: Any = None,
    *,
    kind: str | None = "application/json",
    pieces: Sequence[bytes] | None = None,
    more: Sequence[tuple[str, str]] = (),
    **headers: str,
) -> Reply:
    """Send a request. `body` is bytes, or becomes JSON; `pieces` arrive one after the other."""
    content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    sent = [content] if pieces is None else list(pieces)
    given = {"host": HOST, **{name.replace("_", "-").lower(): value for name, value in headers.items()}}
    if method != "GET" and kind is not None:
        given.setdefault("content-type", kind)
    where, _, query = path.partition("?")
    scope = {
        "type": "http",
        "method": method,
        "path": where,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in [*given.items(), *more]],
    }
    said: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": sent.pop(0), "more_body": bool(sent)}

    async def send(message: Any) -> None:
        said.append(message)

    run(service(scope, receive, send))
    start, *rest = said
    found = [message["body"] for message in rest]
    headers = {name.decode(): value.decode() for name, value in start["headers"]}
    return Reply(start["status"], headers, b"".join(found), [one for one in found if one])


def run(work: Coroutine[Any, Any, Any]) -> None:
    """Run a coroutine to its end, in a thread of its own: a browser of other tests has a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, work).result()


def service_of(*models: Any, learning: Any = None, **settings: Any) -> Service:
    shelf = Shelf([str(model) for model in models])
    shelf.load()
    return Service(shelf, ServeSettings(**settings), learning=None if learning is None else learning(shelf))


def spam_model(path: Any, **settings: Any) -> markone.Model:
    model = markone.train(TEXTS, target=KINDS, **{"rule": "logistic", **settings})
    model.save(path)
    return model
