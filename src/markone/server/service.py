"""The service as an ASGI application: it checks who asks, reads the request within its limits, and sends the answer."""

from __future__ import annotations

import asyncio
import hmac
import os
import sys
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile
from time import perf_counter
from typing import TYPE_CHECKING, Any

from markone.server.messages import Chosen
from markone.server.metrics import Metrics
from markone.server.predicting import predict_lines
from markone.server.problems import PROBLEM, Problem, problem_of
from markone.server.requests import CSV, LINES, Answer, Asked, Request, content_type
from markone.server.routes import ROUTES, Route
from markone.server.settings import ServeSettings
from markone.server.shelf import Served, Shelf, give_way, refreshed
from markone.web.safety import HEADERS, address_in_urls, hosts_at, is_welcome

if TYPE_CHECKING:
    from markone.server.learning import Learning

PIECE = 2**18
"""The number of bytes of a stream that are answered at once."""
ELSEWHERE = "other"
"""The path in the metrics of requests to unknown paths."""
ONCE = (b"host", b"origin", b"authorization", b"content-type", b"content-length")
"""Headers that may occur only once."""
CODINGS = ((b"content-encoding", b"identity", 415), (b"transfer-encoding", b"chunked", 400))
"""Headers that say how a body is coded, the only value that they may have, and the status of other values."""
NO_HEADERS: dict[str, str] = {}
BASE = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


def is_stream(route: Route, asked: Asked) -> bool:
    """Return whether lines are answered while they arrive."""
    return asked.kind == LINES and route.streams


def is_quick(route: Route, asked: Asked, body: bytes) -> bool:
    """Return whether a request takes so little time that others can wait for it."""
    return len(body) <= route.small and asked.kind != CSV and not is_stream(route, asked)


class Service:
    """The application. A server such as uvicorn calls it for each request."""

    def __init__(
        self,
        shelf: Shelf,
        settings: ServeSettings,
        *,
        port: int | None = None,
        metrics: Metrics | None = None,
        learning: Learning | None = None,
        watches: bool = True,
    ) -> None:
        self.shelf = shelf
        self.settings = settings
        self.metrics = metrics or Metrics([*dict.fromkeys(route.path for route in ROUTES), ELSEWHERE])
        self.learning = learning
        self.routes = ROUTES
        self.is_ending = False
        """Whether the service is about to end, and takes no more requests."""
        self._watches = watches and settings.reload > 0
        own = [] if settings.is_local else [address_in_urls(settings.host)]
        self._hosts = hosts_at(settings.port if port is None else port, [*settings.hosts, *own], settings.host)
        self._token = None if settings.token is None else settings.token.encode()
        self._exact = {(route.method, route.path): route for route in ROUTES if "{" not in route.path}
        self._patterns = [(route, route.path.split("/")) for route in ROUTES if "{" in route.path]
        self._busy = 0
        self._pool = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="markone-request")
        self._loader = ThreadPoolExecutor(1, thread_name_prefix="markone-load", initializer=give_way)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await send({"type": "websocket.close"})

    def find(self, asked: Asked, chosen: Chosen | None, kind: str) -> Served:
        """Return the model that the request or its address names."""
        name = asked.parameter("model") if chosen is None or chosen.model is None else chosen.model
        version = asked.parameter("version") if chosen is None or chosen.version is None else chosen.version
        return self.shelf.find(name, version, kind)

    def check_ready(self) -> None:
        if self.is_ending:
            raise Problem(503, "The service is about to end.")

    # ---- one request

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        began = perf_counter()
        path, status = ELSEWHERE, 500
        body = Body(receive, self.settings.most_bytes)
        try:
            try:
                request = Request(scope["method"], scope["path"], scope["query_string"], scope["headers"])
                route, parts = self._route(request)
                path = route.path
                asked = self._asked(request, route, parts)
                answer = await self._limited(route, asked, request, body, send)
            except Exception as error:
                answer, more = self._refusal(error)
                status = answer.status
                await self._send(scope, send, answer, more, close=not body.is_read)
                return
            status = 200
            if answer is not None:
                await self._send(scope, send, answer)
                if answer.examples:
                    self.metrics.count_examples(path, answer.examples)
        finally:
            self.metrics.count(path, status, perf_counter() - began)

    def at_once(self, request: Request, body: bytes) -> tuple[Answer, dict[str, str]] | None:
        """Return the answer to a small request that has come as a whole, and more headers; None if it has to wait for
        something. This is what ASGI does with such a request, without its messages and tasks, which take more time
        than a prediction."""
        if self._busy >= self.settings.most_requests:
            return None
        began = perf_counter()
        path = ELSEWHERE
        try:
            route, parts = self._route(request)
            path = route.path
            asked = self._asked(request, route, parts)
            if not is_quick(route, asked, body):
                return None
            asked.body = body
            answer, more = route.handle(self, asked), NO_HEADERS
        except Exception as error:
            answer, more = self._refusal(error)
        self.metrics.count(path, answer.status, perf_counter() - began)
        if answer.examples:
            self.metrics.count_examples(path, answer.examples)
        return answer, more

    async def _limited(self, route: Route, asked: Asked, request: Request, body: Body, send: Send) -> Answer | None:
        """Compute the answer, within the limits of time and of requests at the same time."""
        if self._busy >= self.settings.most_requests:
            words = f"The service already answers {self._busy:,} requests, its limit; try again in a moment."
            raise Problem(429, words, retry_after="1")
        self._busy += 1
        try:
            if is_stream(route, asked):
                await self._stream(asked, body, send)
                return None
            async with asyncio.timeout(self.settings.seconds):
                if route.takes:
                    asked.body = await body.whole(request.header(b"content-length"))
                if is_quick(route, asked, asked.body):
                    return route.handle(self, asked)
                return await asyncio.get_running_loop().run_in_executor(self._pool, route.handle, self, asked)
        except TimeoutError:
            if body.is_read or not route.takes:
                words = f"The answer would take longer than {self.settings.seconds:g} seconds; ask for less at once."
                raise Problem(503, words, retry_after="5") from None
            raise Problem(408, f"The request did not arrive within {self.settings.seconds:g} seconds.") from None
        finally:
            self._busy -= 1

    async def _stream(self, asked: Asked, body: Body, send: Send) -> None:
        """Answer lines while they arrive. The first answer is sent before the last line has come."""
        served = self.find(asked, None, "classifier")
        asked.gives((LINES,))
        headers = [*BASE, (b"content-type", LINES.encode())]
        loop, line = asyncio.get_running_loop(), 1
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        try:
            async for lines in body.lines(self.settings.seconds):
                numbered = served, lines, line, self.settings
                found = await loop.run_in_executor(self._pool, predict_lines, *numbered)
                await send({"type": "http.response.body", "body": found, "more_body": True})
                line += len(lines)
                self.metrics.count_examples("/predict", len(lines))
        except Problem as problem:  # the status has been sent, so the last line tells what is wrong
            await send({"type": "http.response.body", "body": problem.encoded() + b"\n", "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    # ---- who asks, and for what

    def _route(self, request: Request) -> tuple[Route, tuple[str, ...]]:
        """Return the route of a request that may be answered, and the variable parts of its path."""
        self._check_host(request)
        route, parts = self._route_of(request.method, request.path)
        if not (self._token is None or route.is_open or self._has_token(request)):
            words = "The request needs the token of the service, as `Authorization: Bearer TOKEN`."
            raise Problem(401, words, www_authenticate="Bearer")
        return route, parts

    def _has_token(self, request: Request) -> bool:
        scheme, _, token = (request.header(b"authorization") or b"").partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token or b"")

    def _check_host(self, request: Request) -> None:
        if len(request.given) != len(request.headers):
            names = [name for name, _ in request.given]
            for name in ONCE:
                if names.count(name) > 1:
                    raise Problem(400, f"The header {name.decode()} occurs twice.")
        host, origin = request.header(b"host") or b"", request.header(b"origin")
        if not is_welcome(host.decode("latin-1"), None if origin is None else origin.decode("latin-1"), self._hosts):
            raise Problem(
                403, "The service does not answer requests from or to this host; allow its name with --hosts."
            )

    def _route_of(self, method: str, path: str) -> tuple[Route, tuple[str, ...]]:
        """Return the route of a path, and the variable parts of the path."""
        method = "GET" if method == "HEAD" else method
        route = self._exact.get((method, path))
        if route is not None:
            return route, (path,)
        parts = path.split("/")
        allowed = [one.method for one in self._exact.values() if one.path == path]
        for one, pattern in self._patterns:
            if len(pattern) == len(parts) and all(a == b or a[:1] == "{" for a, b in zip(pattern, parts, strict=True)):
                if one.method == method:
                    return one, tuple(b for a, b in zip(pattern, parts, strict=True) if a[:1] == "{")
                allowed.append(one.method)
        if allowed:
            raise Problem(405, f"This path takes only {' and '.join(allowed)}.", allow=", ".join(allowed))
        raise Problem(404, "There is nothing at this path; /openapi.json lists all paths.")

    def _asked(self, request: Request, route: Route, parts: tuple[str, ...]) -> Asked:
        kind = ""
        if route.takes:
            kind = content_type((request.header(b"content-type") or b"").decode("latin-1"))
            if kind not in route.takes:
                raise Problem(415, f"The content type must be {' or '.join(route.takes)}.")
            for name, plain, status in CODINGS:
                if (coding := request.header(name)) is not None and coding.strip().lower() != plain:
                    raise Problem(
                        status, f"{name.decode()} must be {plain.decode()}: send the body without compression."
                    )
        return Asked(kind, (request.header(b"accept") or b"").decode("latin-1"), request.query, b"", parts)

    # ---- answers

    def _refusal(self, error: Exception) -> tuple[Answer, dict[str, str]]:
        """Return the answer that tells a client what is wrong. A defect of ours is printed, but not sent."""
        problem = problem_of(error)
        if problem is None:
            traceback.print_exception(error, file=sys.stderr)
            problem = Problem(500, "The service has a defect; its log says more.")
        return Answer(problem.encoded(), PROBLEM, status=problem.status), problem.headers

    async def _send(
        self, scope: Message, send: Send, answer: Answer, more: dict[str, str] | None = None, close: bool = False
    ) -> None:
        headers = [
            *BASE,
            (b"content-type", answer.kind.encode()),
            (b"content-length", b"%d" % len(answer.body)),
            *((name.encode(), value.encode()) for name, value in (more or {}).items()),
        ]
        if close:
            headers.append((b"connection", b"close"))
        body = b"" if scope["method"] == "HEAD" else answer.body
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    # ---- the life of the service

    async def _live(self, receive: Receive, send: Send) -> None:
        """Look for changed files until the service ends, and save then what was learned."""
        await receive()
        watching = asyncio.create_task(self._watch()) if self._watches else None
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self.is_ending = True
        if watching is not None:
            watching.cancel()
        if self.learning is not None:
            await asyncio.get_running_loop().run_in_executor(None, self.learning.close)
        for pool in (self._pool, self._loader):
            pool.shutdown(wait=False, cancel_futures=True)
        await send({"type": "lifespan.shutdown.complete"})

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self.settings.reload)
            for sentence in await loop.run_in_executor(self._loader, self.refresh):
                print(sentence, file=sys.stderr, flush=True)

    def refresh(self) -> list[str]:
        """Load changed files."""
        return refreshed(self.shelf)


class Body:
    """The body of a request, which is read within its limit."""

    def __init__(self, receive: Receive, most: int) -> None:
        self.receive = receive
        self.most = most
        self.is_read = False

    async def whole(self, length: bytes | None) -> bytes:
        """Return the whole body."""
        if length is not None and length.isdigit() and int(length) > self.most:
            raise self.too_long()
        pieces, size = list[bytes](), 0
        while not self.is_read:
            pieces.append(await self.piece())
            size += len(pieces[-1])
            if size > self.most:
                raise self.too_long()
        return b"".join(pieces)

    async def piece(self) -> bytes:
        message = await self.receive()
        if message["type"] == "http.disconnect":
            raise Problem(400, "The client has closed the connection.")
        self.is_read = not message.get("more_body", False)
        body: bytes = message.get("body", b"")
        return body

    async def lines(self, seconds: float) -> Any:
        """Yield lists of complete lines, as they arrive. Empty lines are left out."""
        begun: list[bytes] = []  # the pieces of the last line, which is not complete
        size = 0
        while not self.is_read:
            try:
                async with asyncio.timeout(seconds):
                    piece = await self.piece()
            except TimeoutError:
                raise Problem(408, f"The next line did not arrive within {seconds:g} seconds.") from None
            begun.append(piece)
            size += len(piece)
            if b"\n" not in piece:
                if size > self.most:
                    raise self.too_long("A line")
                if not self.is_read:
                    continue  # pieces may be small, so they are joined only once
            *found, rest = b"".join(begun).split(b"\n")
            if self.is_read:
                found.append(rest)
                rest = b""
            begun, size = [rest], len(rest)
            fit = list(takewhile(lambda line: len(line) <= self.most, found))
            lines = [line for line in fit if line.strip()]
            while lines:
                few, taken = 0, 0
                while few < len(lines) and taken < PIECE:
                    taken += len(lines[few])
                    few += 1
                yield lines[:few]
                lines = lines[few:]
            if len(fit) < len(found) or size > self.most:
                raise self.too_long("A line")

    def too_long(self, what: str = "The body of a request") -> Problem:
        return Problem(413, f"{what} may have {self.most:,} bytes; send less at once, or lines as a stream.")
