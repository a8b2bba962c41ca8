"""Connections: uvicorn's protocol, with limits on headers, on the time in which they arrive, and on connections."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEADER_BYTES = 32_768
MOST_HEADERS = 100
SECONDS_FOR_HEADERS = 10.0
MOST_CONNECTIONS = 4096


class Connection(HttpToolsProtocol):
    """A connection. A client whose headers are too large, or too slow, is disconnected."""

    header_bytes = 0
    in_headers = False
    """Whether a request has begun, and its headers are not complete."""
    deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        self._wait_for_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.in_headers:  # the parser collects an unfinished header without a limit
            self.header_bytes += len(data)
            if self.header_bytes > MOST_HEADER_BYTES:
                self.transport.abort()
                return
        super().data_received(data)
        if self.in_headers and self.deadline is None:
            self._wait_for_headers()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.header_bytes = 0
        self.in_headers = True

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self.in_headers = False
        self._stop_waiting()
        super().on_headers_complete()

    def _count(self, size: int) -> None:
        self.header_bytes += size
        if self.header_bytes > MOST_HEADER_BYTES or len(self.headers) > MOST_HEADERS:
            raise ValueError("the headers are too large")  # the parser then answers 400 and closes the connection

    def _wait_for_headers(self) -> None:
        self.deadline = self.loop.call_later(SECONDS_FOR_HEADERS, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None
