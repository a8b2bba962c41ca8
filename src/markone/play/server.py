"""The server of the playground. It listens on this machine only, and runs the core for the page."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, urlsplit

from markone.errors import DataError, MarkoneError, SettingsError
from markone.play.runs import as_mapping, traced, trained_on_all
from markone.play.shown import Shown
from markone.web.files import TYPES, page_files
from markone.web.safety import HEADERS, LOOPBACK, hosts_at, is_welcome

PAGE = Path(__file__).with_name("page")
LONGEST_BODY = 8_000_000
WITHOUT, WITH = b'data-server="none"', b'data-server="core"'
"""The page computes alone, or asks this server. The attribute is in its first lines."""


class Playground(ThreadingHTTPServer):
    """The page and, behind it, the core on a file. Use it as a context, or call `serve_forever`."""

    daemon_threads = True

    def __init__(self, shown: Shown | None = None, port: int = 0) -> None:
        self.shown = shown
        self.working = Lock()
        """One run at a time, so that an impatient page does not use all cores."""
        self.files = page_files(PAGE)
        super().__init__((LOOPBACK, port), Answer)
        self.hosts = hosts_at(self.server_port)

    @property
    def address(self) -> str:
        return f"http://{LOOPBACK}:{self.server_port}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that closes a connection early is no error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Answer(BaseHTTPRequestHandler):
    """The answer to one request."""

    server: Playground
    server_version = "markone"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = 30

    def log_message(self, *_: Any) -> None:
        """The terminal is the user's."""

    def do_GET(self) -> None:
        if not self.is_welcome():
            return
        where = urlsplit(self.path)
        if where.path == "/api/data":
            self.answer(partial(self.data, as_mapping(parse_qs(where.query))))
            return
        path = self.server.files.get("/index.html" if where.path == "/" else where.path)
        if path is None:
            self.send(404, "text/plain", b"There is no such file.\n")
            return
        content = path.read_bytes()
        if path.name == "index.html":
            content = content.replace(WITHOUT, WITH)
        self.send(200, TYPES[path.suffix], content)

    do_HEAD = do_GET  # noqa: N815 - the name that http.server looks for

    def do_POST(self) -> None:
        if not self.is_welcome():
            return
        runs: dict[str, Callable[[Any], Any]] = {"/api/trace": traced, "/api/whole": self.whole}
        run = runs.get(self.path)
        if run is None or self.headers.get_content_type() != "application/json":
            self.refuse(404, "there is nothing here; ask /api/trace with JSON")
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > LONGEST_BODY:
            self.refuse(413, f"the request must have a length of at most {LONGEST_BODY:,} bytes")
            return
        body = self.rfile.read(int(length))
        self.answer(lambda: run(json.loads(body)))

    # ---- answers

    def data(self, axes: dict[str, str]) -> dict[str, Any]:
        return {"kind": "none"} if self.server.shown is None else self.server.shown.as_dict(axes)

    def whole(self, asked: Any) -> dict[str, Any]:
        if self.server.shown is None or self.server.shown.text is not None:
            raise DataError("there are no rows of numbers behind this page")
        return trained_on_all(self.server.shown, asked)

    def answer(self, compute: Callable[[], Any]) -> None:
        """Send what a function returns as JSON, or the message of its error."""
        try:
            with self.server.working:
                content = json.dumps(compute(), allow_nan=False).encode()
        except (MarkoneError, ValueError, TypeError, RecursionError) as error:
            self.refuse(400, str(error) or type(error).__name__)
            return
        self.send(200, "application/json", content)

    def refuse(self, status: int, sentence: str) -> None:
        self.close_connection = True
        self.send(status, "application/json", json.dumps({"error": sentence}).encode())

    def is_welcome(self) -> bool:
        if is_welcome(self.headers.get("Host"), self.headers.get("Origin"), self.server.hosts):
            return True
        self.refuse(403, f"this server answers only requests to {self.server.address}")
        return False

    def send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


def open_playground(shown: Shown | None = None, port: int = 0) -> Playground:
    """Return a server that listens on this port, or on any free port for 0."""
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
        raise SettingsError("port", f"must be a whole number from 0 to 65535, not {port!r}")
    try:
        return Playground(shown, port)
    except OSError as error:
        raise SettingsError("port", f"{port} cannot be used: {error.strerror}", advice="leave it out") from None


def has_browser() -> bool:
    """Whether a browser with windows can be opened. One in the terminal would cover what is printed there."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
