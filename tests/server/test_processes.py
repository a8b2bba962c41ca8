"""The service in processes of its own: workers, crashes, reloads, hostile connections, and its end."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import markone
from markone.cli import main

from .asking import TEXTS, spam_model
from .conftest import Start

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")


def ask(port: int, method: str, path: str, body: Any = None, tries: int = 1, **headers: str) -> tuple[int, Any]:
    """Send a request; try again if a worker that was killed had the connection."""
    content = None if body is None else json.dumps(body).encode()
    given = {"Content-Type": "application/json", **headers} if body is not None else headers
    for left in reversed(range(tries)):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request(method, path, content, given)
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
        except (OSError, http.client.HTTPException):
            if not left:
                raise
            time.sleep(0.1)
        finally:
            connection.close()
    raise AssertionError


def until(what: Any, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.05)


def children(process: subprocess.Popen[str]) -> list[int]:
    found = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return [int(one) for one in found.split()]


def test_workers_survive_crashes_reloads_and_hostile_connections(tmp_path: Path, start: Start) -> None:
    first = spam_model(tmp_path / "mail.model")
    process, port = start(tmp_path, "--workers", "2", "--reload", "0.2", "--seconds", "5")
    status, found = ask(port, "POST", "/predict", {"texts": TEXTS})
    assert status == 200 and [one["label"] for one in found["predictions"]] == list(first.predict(TEXTS))

    before = children(process)
    assert len(before) == 2
    os.kill(before[0], signal.SIGKILL)
    until(lambda: len(children(process)) == 2 and before[0] not in children(process))
    assert ask(port, "POST", "/predict", {"text": "free"}, tries=5)[0] == 200

    for hostile in (
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X: " + b"a" * 100_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"".join(b"X%d: a\r\n" % i for i in range(500)) + b"\r\n",
        b"\x00\xff\xfe nonsense\r\n\r\n",
        b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 99999999999\r\n"
        b"Content-Type: application/json\r\n\r\n" % port,
        b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 10\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % port,
    ):
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            try:
                connection.sendall(hostile)
                reply = connection.recv(100_000)
            except ConnectionError:
                reply = b""
            assert reply == b"" or b" 4" in reply.split(b"\r\n")[0], reply
    assert ask(port, "POST", "/predict", {"text": "free"}, tries=3)[0] == 200

    second = markone.train(["free money", "see you"], target=["ham", "spam"])
    second.save(tmp_path / "mail.model")
    new = {"version": second.digest[:12]}
    until(lambda: ask(port, "POST", "/predict", {"text": "free"}, tries=5)[1].items() >= new.items())
    until(lambda: len(children(process)) == 2)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/metrics")
    assert b'markone_requests_total{path="/predict",status="200"}' in connection.getresponse().read()
    connection.close()

    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 0 and "is loaded as mail" in errors and "Traceback" not in errors
    with pytest.raises(ConnectionError):
        ask(port, "GET", "/models")


def test_workers_end_with_their_supervisor(tmp_path: Path, start: Start) -> None:
    spam_model(tmp_path / "mail.model")
    process, port = start(tmp_path, "--workers", "2")
    workers = children(process)
    process.kill()
    process.wait()
    until(lambda: not any(is_running(one) for one in workers))
    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        free.bind(("127.0.0.1", port))
        free.listen()  # nobody else does any more


def is_running(process: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False


def test_odd_files_end_no_supervisor(tmp_path: Path, start: Start) -> None:
    model = spam_model(tmp_path / "mail.model")
    process, port = start(tmp_path, "--workers", "2", "--reload", "0.1")
    before = children(process)
    (tmp_path / "loop.model").symlink_to("loop.model")
    model.save(tmp_path / "odd name.model")
    model.save(tmp_path / "new.model")
    until(lambda: len(ask(port, "GET", "/models", tries=5)[1]["models"]) == 2)
    until(lambda: len(children(process)) == 2 and not {*before} & {*children(process)})
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 0 and len(errors.splitlines()) == 2 and "consists of letters" in errors


def test_what_was_learned_survives_kill_and_term(tmp_path: Path, start: Start) -> None:
    spam_model(tmp_path / "mail.model", rule="mira")
    process, port = start(tmp_path / "mail.model", "--learn")
    confirmed: list[int] = []

    def learn() -> None:
        for number in range(1000):
            try:
                status, found = ask(port, "POST", "/learn", {"texts": [f"word{number} free"], "labels": ["spam"]})
            except (OSError, http.client.HTTPException):
                return
            assert status == 200
            confirmed.append(found["learned"])

    thread = threading.Thread(target=learn)
    thread.start()
    until(lambda: len(confirmed) >= 20)
    process.kill()
    thread.join()
    process, port = start(tmp_path / "mail.model", "--learn")
    _, found = ask(port, "GET", "/models")
    learned = int(found["models"][0]["version"].partition("+")[2])
    assert confirmed[-1] <= learned <= confirmed[-1] + 1  # the last one may be on disk without an answer
    assert ask(port, "POST", "/predict", {"text": f"word{confirmed[-1] - 1}"})[1]["predictions"][0]["label"] == "spam"
    digest = found["models"][0]["digest"]
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 0
    [snapshot] = tmp_path.glob("*.learned-*")
    assert markone.load(snapshot).digest == digest


def test_mistakes_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    spam_model(tmp_path / "mail.model")
    model = str(tmp_path / "mail.model")
    monkeypatch.delenv("MARKONE_TOKEN", raising=False)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        for arguments, words in (
            ([], "at least one file or folder"),
            ([str(tmp_path / "none.model")], "there is no model"),
            ([model, "--host", "0.0.0.0"], "MARKONE_TOKEN"),
            ([model, "--port", str(taken.getsockname()[1])], "in use"),
            ([model, "--token-file", str(tmp_path / "none")], "cannot be read"),
            ([model, "--host", "not an address"], "token"),
            ([model, "--workers", "2", "--learn"], "--workers must be 1"),
        ):
            assert main(["serve", *arguments]) == 2
            error = capsys.readouterr().err
            assert words in error and error.count("\n") == 1, error
    (tmp_path / "token").write_text("a" * 20 + "\n")
    monkeypatch.setenv("MARKONE_TOKEN", "short")
    assert main(["serve", model]) == 2
    assert "short" not in capsys.readouterr().err.replace("shorter", "")
