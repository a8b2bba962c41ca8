"""What the tests of the playground share: the page's modules in Node, and the page in Chromium."""

from __future__ import annotations

import functools
import http.server
import json
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from markone.play.server import PAGE

TWIN = Path(__file__).with_name("twin.mjs")
BLANK = Path(__file__).with_name("blank.html")
NODE = shutil.which("node")
Ask = Callable[[list[dict[str, Any]]], list[Any]]


class Files(http.server.SimpleHTTPRequestHandler):
    """Serves the page as a plain file server does, and the tests' own module beside it."""

    extensions_map = {".mjs": "text/javascript", ".js": "text/javascript", ".html": "text/html", ".css": "text/css"} | {
        ".svg": "image/svg+xml",
        "": "application/octet-stream",
    }

    def translate_path(self, path: str) -> str:
        own = {"/twin.mjs": TWIN, "/blank.html": BLANK}
        return str(own[path]) if path in own else super().translate_path(path)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """The address of the static page."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=str(PAGE))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def node() -> Iterator[Ask]:
    """Asks the page's modules in Node, which is started once."""
    if NODE is None:
        pytest.skip("needs Node")
    with subprocess.Popen(
        [NODE, str(TWIN), PAGE.as_uri()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        sent, received = process.stdin, process.stdout
        assert sent and received

        def ask(questions: list[dict[str, Any]]) -> list[Any]:
            sent.write(json.dumps(questions) + "\n")
            sent.flush()
            line = received.readline()
            assert line, "Node has ended with an error, which is on standard error"
            return json.loads(line)

        yield ask
        sent.close()


@pytest.fixture
def chromium(page: Any, site: str) -> Ask:
    """Asks the page's modules in Chromium."""
    page.goto(f"{site}/blank.html")

    def ask(questions: list[dict[str, Any]]) -> list[Any]:
        script = """async ([base, questions]) => {
            const { answer } = await import(base + "/twin.mjs");
            return JSON.stringify(await answer(base, JSON.parse(questions)));
        }"""
        return json.loads(page.evaluate(script, [site, json.dumps(questions)]))

    return ask
