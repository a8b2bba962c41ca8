"""Connections: uvicorn's protocol, with limits on headers, on the time in which they arrive or answers are taken, and
on connections.

A small request that arrives as a whole is answered at once. All others take uvicorn's way, with a task for each.
"""

from __future__ import annotations

import asyncio
from typing import Any

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from markone.server.requests import Answer, Request
from markone.server.service import BASE

MOST_HEADER_BYTES = 32_768
MOST_HEADERS = 100
SECONDS_FOR_HEADERS = 10.0
MOST_CONNECTIONS = 4096
BASE_LINES = b"".join(b"%s: %s\r\n" % header for header in BASE)


class Connection(HttpToolsProtocol):
    """A connection. A client whose headers are too large or too slow, or who takes no answers, is disconnected."""

    header_bytes = 0
    in_headers = False
    """Whether a request has begun, and its headers are not complete."""
    deadline: asyncio.TimerHandle | None = None
    """When the headers of a request must be complete."""
    look: asyncio.TimerHandle | None = None
    """When to look whether the client has taken some of an answer."""
    is_upgrade = False
    """Whether the client offers another protocol for the request that begins, which we do not take."""
    is_first = False
    """Whether no request was answered since data arrived. A client that sends many at once shall not delay others."""
    held: list[bytes] | None = None
    """The body so far of a request that may be answered at once; None if there is no such request."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        self._wait_for_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_looking()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.in_headers:  # the parser collects an unfinished header without a limit
            self.header_bytes += len(data)
            if self.header_bytes > MOST_HEADER_BYTES:
                self.transport.abort()
                return
        self.is_first = True
        self._unset_keepalive_if_required()
        self._parse(data)
        if self.held is not None:
            self._let_go()
        if self.deadline is None and (self.in_headers or self._is_idle()):
            self._wait_for_headers()

    def eof_received(self) -> bool:  # type: ignore[override]
        """A client that sends no more may still wait for its answers; the last of them then ends the connection."""
        waits = self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body
        if waits:
            self.cycle.keep_alive = False
        return waits

    def pause_writing(self) -> None:
        super().pause_writing()
        self._look_again()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_looking()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.header_bytes = 0
        self.in_headers = True

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value))
        if self.in_headers:  # what follows the chunks of a body is no header of the request
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self.in_headers = False
        self._stop_waiting()
        if self.parser.get_method() == b"CONNECT":
            raise ValueError("the service is no proxy")  # the client then gets 400, and the connection ends
        if self.parser.should_upgrade():
            self.is_upgrade = True
        elif self._may_be_quick():
            self.held = []
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if self.held is None:
            super().on_body(body)
        else:
            self.held.append(body)

    def on_message_complete(self) -> None:
        if self.is_upgrade:
            return
        if self.held is None:
            super().on_message_complete()
            return
        path, _, query = self.url.partition(b"?")
        request = Request(self.parser.get_method().decode(), path.decode(), query, self.headers)
        found = self.app.at_once(request, b"".join(self.held))
        if found is None:
            self._let_go()
            super().on_message_complete()
            return
        self.held, self.is_first = None, False
        self.transport.write(self._whole(*found))
        self.on_response_complete()

    def _parse(self, data: bytes) -> None:
        """Parse what has arrived. An offer of another protocol is ignored, as HTTP wants. The parser would take the
        body of such a request for the next request, so it gets the request again without the offer."""
        while data:
            try:
                self.parser.feed_data(data)
                return
            except HttpParserError:
                self.send_400_response("Invalid HTTP request received.")
                return
            except HttpParserUpgrade as upgrade:
                data = self._without_offer() + data[upgrade.args[0] :]
                self.is_upgrade = False
                self.parser = HttpRequestParser(self)

    def _without_offer(self) -> bytes:
        """Return the lines of a request without those that offer another protocol."""
        version = self.parser.get_http_version().encode()
        kept = [(name, value) for name, value in self.headers if name not in (b"upgrade", b"connection")]
        ends = any(name == b"connection" and b"close" in value.lower() for name, value in self.headers)
        kept += [(b"connection", b"close")] if ends else []
        lines = [b"%s %s HTTP/%s\r\n" % (self.parser.get_method(), self.url, version)]
        return b"".join([*lines, *(b"%s: %s\r\n" % header for header in kept), b"\r\n"])

    def _is_idle(self) -> bool:
        """Return whether no request is unanswered, and nothing yet ends the connection: the client sent line breaks."""
        return self.timeout_keep_alive_task is None and (self.cycle is None or self.cycle.response_complete)

    def _may_be_quick(self) -> bool:
        """Return whether nothing about the request is unusual, and no earlier one is unanswered."""
        return (
            self.is_first
            and (self.cycle is None or self.cycle.response_complete)
            and not self.flow.write_paused
            and not self.expect_100_continue
            and self.parser.get_http_version() == "1.1"
            and self.parser.should_keep_alive()
            and self.parser.get_method() != b"HEAD"
            and self.url.startswith(b"/")
            and self.url.isascii()
            and b"%" not in self.url
            and b"#" not in self.url
        )

    def _let_go(self) -> None:
        """Leave the request to uvicorn's way."""
        pieces, self.held = self.held or [], None
        if self.transport.is_closing():
            return
        super().on_headers_complete()
        for piece in pieces:
            super().on_body(piece)

    def _whole(self, answer: Answer, more: dict[str, str]) -> bytes:
        """Return an answer with its headers."""
        lines = [STATUS_LINE[answer.status]]
        lines += [b"%s: %s\r\n" % header for header in self.server_state.default_headers]
        lines += [f"{name}: {value}\r\n".encode() for name, value in more.items()]
        lines += [
            BASE_LINES,
            b"content-type: %s\r\ncontent-length: %d\r\n\r\n" % (answer.kind.encode(), len(answer.body)),
            answer.body,
        ]
        return b"".join(lines)

    def _count(self, size: int) -> None:
        self.header_bytes += size
        if self.header_bytes > MOST_HEADER_BYTES or len(self.headers) > MOST_HEADERS:
            raise ValueError("the headers are too large")  # the client then gets 400, and the connection ends

    def _wait_for_headers(self) -> None:
        seconds = min(SECONDS_FOR_HEADERS, self.app.settings.seconds)
        self.deadline = self.loop.call_later(seconds, self.transport.abort)

    def _look_again(self, left: int | None = None) -> None:
        """Disconnect a client who has taken nothing of an answer since the last look, and look again later."""
        now = self.transport.get_write_buffer_size()
        if left is not None and now >= left:
            self.transport.abort()
            return
        self.look = self.loop.call_later(self.app.settings.seconds, self._look_again, now)

    def _stop_looking(self) -> None:
        if self.look is not None:
            self.look.cancel()
            self.look = None

    def _stop_waiting(self) -> None:
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None
