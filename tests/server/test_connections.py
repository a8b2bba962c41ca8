"""Connections: what a client may send in pieces, at once, or wrongly. One service answers all of them."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from .asking import spam_model
from .conftest import start_services

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("connections")
    spam_model(folder / "mail.model")
    with start_services() as start:
        yield start(folder, "--seconds", "2", "--most-bytes", "100000", "--longest-text", "50000")[1]


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def detail(self) -> str:
        return str(json.loads(self.body)["detail"])


def replies_to(port: int, *pieces: bytes, pause: float = 0.0) -> list[Reply]:
    """Send pieces, and read answers until the service or its silence ends the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        for piece in pieces:
            try:
                connection.sendall(piece)
            except OSError:  # the service has seen enough
                break
            time.sleep(pause)
        connection.shutdown(socket.SHUT_WR)
        return list(parsed(connection))


def parsed(connection: socket.socket) -> Iterator[Reply]:
    file = connection.makefile("rb")
    while True:
        try:
            first = file.readline()
            if not first:
                return
            lines = iter(file.readline, b"\r\n")
            headers = {
                name.lower(): value.strip() for name, _, value in (line.decode().partition(":") for line in lines)
            }
            body = file.read(int(headers.get("content-length", 0)))
            yield Reply(int(first.split()[1]), headers, body)
        except ConnectionError:
            return


def request(port: int, body: bytes, *more: str, version: str = "1.1", path: str = "/predict") -> bytes:
    lines = [f"POST {path} HTTP/{version}", f"Host: 127.0.0.1:{port}", "Content-Type: application/json", *more]
    if not any(line.lower().startswith(("content-length", "transfer-encoding")) for line in more):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


FREE, LUNCH = b'{"text": "free money"}', b'{"text": "lunch with a friend"}'


def labels(replies: list[Reply]) -> list[Any]:
    return [json.loads(one.body)["predictions"][0]["label"] for one in replies]


def test_a_request_is_answered_alike_in_one_piece_and_in_many(port: int) -> None:
    sent = request(port, FREE)
    [whole] = replies_to(port, sent)
    [halves] = replies_to(port, sent[:-5], sent[-5:], pause=0.05)
    [bytes_] = replies_to(port, *(sent[at : at + 1] for at in range(len(sent))), pause=0.0005)
    [chunked] = replies_to(
        port, request(port, b"%x\r\n%s\r\n0\r\n\r\n" % (len(FREE), FREE), "Transfer-Encoding: chunked")
    )
    [encoded] = replies_to(port, request(port, FREE, path="/%70redict"))
    [old] = replies_to(port, request(port, FREE, version="1.0"))
    [last] = replies_to(port, request(port, FREE, "Connection: close"))
    for other in (halves, bytes_, chunked, encoded, old, last):
        assert (other.status, other.body) == (200, whole.body)
        assert other.headers.keys() - {"connection"} == whole.headers.keys()
    assert old.headers["connection"] == last.headers["connection"] == "close" and "connection" not in whole.headers


def test_requests_that_come_together_are_answered_in_their_order(port: int) -> None:
    bodies = [FREE, LUNCH, LUNCH, FREE] * 25
    found = replies_to(port, b"".join(request(port, body) for body in bodies))
    assert labels(found) == ["spam" if body is FREE else "ham" for body in bodies]
    # The second has a body that has not come yet; the third follows it.
    second = request(port, LUNCH)
    found = replies_to(port, request(port, FREE) + second[:-4], second[-4:] + request(port, FREE), pause=0.05)
    assert labels(found) == ["spam", "ham", "spam"]


def test_answers_to_large_and_small_requests_do_not_overtake_each_other(port: int) -> None:
    large = json.dumps({"text": "lunch " * 8_000}).encode()  # answered in another thread
    found = replies_to(port, request(port, large) + request(port, FREE), request(port, FREE))
    assert labels(found) == ["ham", "spam", "spam"]


def test_a_client_may_wait_for_the_word_to_continue(port: int) -> None:
    sent = request(port, FREE, "Expect: 100-continue")
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(sent[: -len(FREE)])
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
        connection.sendall(FREE)
        connection.shutdown(socket.SHUT_WR)
        assert labels(list(parsed(connection))) == ["spam"]


def test_an_answer_to_head_has_no_body(port: int) -> None:
    sent = f"HEAD /models HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        head, _, body = b"".join(iter(lambda: connection.recv(10_000), b"")).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200") and body == b""


DEEP = b"[" * 15_000
ODD_BODIES = {
    "bad UTF-8": (b'{"text": "\xff\xfe"}', 400),
    "an overlong form of UTF-8": (b'{"text": "\xc0\xaf"}', 400),
    "half of a surrogate pair": (b'{"text": "\\ud800"}', 400),
    "a byte-order mark": (b"\xef\xbb\xbf" + FREE, 400),
    "UTF-16": ('{"text": "free"}'.encode("utf-16"), 400),
    "NaN": (b'{"row": {"text": NaN}}', 400),
    "Infinity": (b'{"row": {"text": -Infinity}}', 400),
    "a number that is too large": (b'{"row": {"text": 1e999}}', 422),
    "digits without end": (b'{"row": {"text": ' + b"9" * 10_000 + b"}}", 422),
    "deep lists": (b'{"row": {"text": ' + DEEP + b"]" * 15_000 + b"}}", 422),
    "deep lists that never end": (b'{"row": {"text": ' + DEEP, 422),
    "deep objects": (b'{"row":' + b'{"a":' * 5_000 + b"1" + b"}" * 5_001, 422),
    "a name twice": (b'{"text": "free", "text": "lunch"}', 200),
    "an unknown name": (b'{"text": "free", "path": "/etc/passwd"}', 422),
    "a model by its path": (b'{"text": "free", "model": "../mail.model"}', 404),
    "two values": (FREE + FREE, 400),
    "nothing": (b"", 400),
    "no object": (b"3", 422),
    "a zero byte": (b'{"text": "free\x00"}', 400),
    "an escaped zero byte": (b'{"text": "free\\u0000"}', 200),
    "a text that is too long": (json.dumps({"text": "a" * 50_001}).encode(), 413),
}


@pytest.mark.parametrize("name", ODD_BODIES)
def test_odd_bodies_get_a_sentence(port: int, name: str) -> None:
    body, status = ODD_BODIES[name]
    [whole] = replies_to(port, request(port, body))
    assert whole.status == status, whole.body
    sent = request(port, body)
    [halves] = replies_to(port, sent[: len(sent) // 2], sent[len(sent) // 2 :], pause=0.01)
    assert (halves.status, halves.body) == (whole.status, whole.body)
    if status != 200:
        assert whole.headers["content-type"] == "application/problem+json" and whole.detail


def bare(port: int, *lines: str, body: bytes = FREE) -> bytes:
    return "\r\n".join([*lines, "", ""]).replace("HOST", f"127.0.0.1:{port}").encode("latin-1") + body


ODD_HEADERS = {
    "no host": (("POST /predict HTTP/1.1", "Content-Type: application/json", "Content-Length: 22"), {403}),
    "another host": (("GET /models HTTP/1.1", "Host: evil.example"), {403}),
    "two hosts": (("GET /models HTTP/1.1", "Host: HOST", "Host: evil.example"), {400}),
    "another origin": (("GET /models HTTP/1.1", "Host: HOST", "Origin: http://evil.example"), {403}),
    "no type": (("POST /predict HTTP/1.1", "Host: HOST", "Content-Length: 22"), {415}),
    "the type of a form": (
        ("POST /predict HTTP/1.1", "Host: HOST", "Content-Type: text/plain", "Content-Length: 22"),
        {415},
    ),
    "two lengths": (
        ("POST /predict HTTP/1.1", "Host: HOST", "Content-Length: 22", "Content-Length: 21"),
        {400},
    ),
    "a length and chunks": (
        ("POST /predict HTTP/1.1", "Host: HOST", "Content-Length: 22", "Transfer-Encoding: chunked"),
        {400},
    ),
    "a negative length": (("POST /predict HTTP/1.1", "Host: HOST", "Content-Length: -1"), {400}),
    "a length beyond 64 bits": (("POST /predict HTTP/1.1", "Host: HOST", f"Content-Length: {2**64}"), {400}),
    "a header folded over two lines": (("GET /models HTTP/1.1", "Host: HOST", "X: a", " b"), {200, 400}),
    "a line break inside": (("GET /models HTTP/1.1", "Host: HOST", "X: a\nY: b"), {200, 400}),
    "a space before the colon": (("GET /models HTTP/1.1", "Host : HOST"), {400}),
    "an unknown method": (("BREW /predict HTTP/1.1", "Host: HOST"), {400}),
    "another method": (("DELETE /predict HTTP/1.1", "Host: HOST"), {405}),
    "a whole address": (("GET http://evil.example/models HTTP/1.1", "Host: HOST"), {200, 400, 404}),
    "a path upwards": (("GET /../../etc/passwd HTTP/1.1", "Host: HOST"), {404}),
    "an encoded path upwards": (("GET /%2e%2e/%2fetc/passwd%00 HTTP/1.1", "Host: HOST"), {404}),
    "no path": (("GET HTTP/1.1", "Host: HOST"), {400}),
    "an address in UTF-8": (("GET /mod\xe8les HTTP/1.1", "Host: HOST"), {400, 404}),
    "an old version": (("GET /models HTTP/0.9", "Host: HOST"), {200, 400}),
    "another version": (("GET /models HTTP/9.9", "Host: HOST"), {400}),
    "a tunnel": (("CONNECT /models HTTP/1.1", "Host: HOST"), {400}),
    "a compressed body": (
        (*("POST /predict HTTP/1.1", "Host: HOST", "Content-Type: application/json"), "Content-Encoding: gzip"),
        {415},
    ),
    "compressed chunks": (
        (
            *("POST /predict HTTP/1.1", "Host: HOST", "Content-Type: application/json"),
            "Transfer-Encoding: gzip, chunked",
        ),
        {400},
    ),
    "a websocket": (
        (
            *("GET /predict HTTP/1.1", "Host: HOST", "Connection: Upgrade", "Upgrade: websocket"),
            *("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"),
        ),
        {400, 405},
    ),
    "HTTP/2 from the start": (("PRI * HTTP/2.0", "", "SM"), {400}),
}


@pytest.mark.parametrize("name", ODD_HEADERS)
def test_odd_headers_do_no_harm(port: int, name: str) -> None:
    lines, statuses = ODD_HEADERS[name]
    found = replies_to(port, bare(port, *lines, body=FREE if lines[0].startswith("POST") else b""))
    assert found and found[0].status in statuses, found
    assert b"root:" not in b"".join(one.body for one in found)
    assert labels(replies_to(port, request(port, FREE))) == ["spam"]


def test_a_body_that_does_not_come_ends_with_a_sentence(port: int) -> None:
    sent = request(port, FREE)
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(sent[:-3])
        [found] = list(parsed(connection))
    assert found.status == 408 and "within 2 seconds" in found.detail
    assert found.headers["connection"] == "close" and time.monotonic() - began < 10


OFFER = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA")
"""What Java's client sends with its first request."""


def test_an_offer_of_another_protocol_is_ignored(port: int) -> None:
    sent = request(port, FREE, *OFFER)
    assert labels(replies_to(port, sent)) == ["spam"]
    assert labels(replies_to(port, sent[: -len(FREE)], FREE[:5], FREE[5:], pause=0.05)) == ["spam"]
    chunked = request(port, b"%x\r\n%s\r\n0\r\n\r\n" % (len(LUNCH), LUNCH), "Transfer-Encoding: chunked", *OFFER)
    assert labels(replies_to(port, chunked + sent * 300 + chunked)) == ["ham", *["spam"] * 300, "ham"]
    [last] = replies_to(port, request(port, FREE, "Connection: Upgrade, close", "Upgrade: h2c"))
    assert last.status == 200 and last.headers["connection"] == "close"


def test_the_body_of_a_request_with_an_offer_is_not_the_next_request(port: int) -> None:
    inner = b"GET /models HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % port
    sent = request(port, inner, *OFFER)
    found = replies_to(port, sent[: -len(inner)], inner, pause=0.1)
    assert [one.status for one in found] == [400]  # the body is no JSON


@pytest.mark.parametrize("pause", [0.0, 0.05])
def test_what_follows_the_chunks_is_no_header(port: int, pause: float) -> None:
    chunks = b"%x\r\n%s\r\n0\r\n" % (len(FREE), FREE)
    sent = request(
        port, chunks + b"Host: evil.example\r\nOrigin: http://evil.example\r\n\r\n", "Transfer-Encoding: chunked"
    )
    assert labels(replies_to(port, sent[:40], sent[40:-50], sent[-50:], pause=pause)) == ["spam"]


def test_line_breaks_keep_no_connection(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(b"GET /models HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % port)
        assert connection.recv(100_000).startswith(b"HTTP/1.1 200")
        connection.sendall(b"\r\n")
        began = time.monotonic()
        assert not take(connection) and time.monotonic() - began < 10


def take(connection: socket.socket, size: int = 2**16) -> bytes:
    try:
        return connection.recv(size)
    except ConnectionError:
        return b""


LINES_OF_A_STREAM = 200_000
"""Their answers have 20 MB, more than the system keeps for a client."""


def ask_for_much(port: int) -> socket.socket:
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**16)
    connection.settimeout(20)
    connection.connect(("127.0.0.1", port))
    stream = request(port, b"1\n" * LINES_OF_A_STREAM).replace(b"application/json", b"application/x-ndjson")
    threading.Thread(target=connection.sendall, args=[stream]).start()
    return connection


def test_a_client_who_takes_no_answers_is_disconnected(port: int) -> None:
    with ask_for_much(port) as connection:
        time.sleep(6)  # the limit is 2 seconds
        taken = b"".join(iter(lambda: take(connection), b""))
    assert taken.startswith(b"HTTP/1.1 200") and taken.count(b'"line"') < LINES_OF_A_STREAM
    assert labels(replies_to(port, request(port, FREE))) == ["spam"]


def test_a_client_who_takes_answers_slowly_gets_all(port: int) -> None:
    found, began = bytearray(), time.monotonic()
    with ask_for_much(port) as connection:
        while not found.endswith(b"0\r\n\r\n"):
            time.sleep(0.015)
            found += take(connection) or b"0\r\n\r\n"
    assert found.count(b'"line"') == LINES_OF_A_STREAM and time.monotonic() - began > 3


def test_a_stream_has_no_limit_but_its_lines_have(port: int) -> None:
    lines = b'"free money"\n' * 50_000  # much more than the limit of a body
    body = lines + b'"' + b"a" * 150_000 + b'"\n' + lines
    sent = request(port, body).replace(b"application/json", b"application/x-ndjson")
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        threading.Thread(target=lambda: suppressed(connection.sendall, sent)).start()
        found = b"".join(iter(lambda: take(connection), b""))
    assert found.count(b'"label"') == 50_000 and b"A line may have 100,000 bytes" in found


def suppressed(send: Callable[[bytes], None], what: bytes) -> None:
    with suppress(OSError):
        send(what)
