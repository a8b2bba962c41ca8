"""Requests and answers: what a handler gets, what it returns, and which content types a client accepts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import msgspec

from markone.server.problems import Problem

JSON, LINES, CSV, CONLLU, PLAIN = (
    "application/json",
    "application/x-ndjson",
    "text/csv",
    "text/x-conllu",
    "text/plain",
)
SAME = {"application/ndjson": LINES, "application/jsonl": LINES, "application/jsonlines": LINES}
"""Other names of the same content types."""


class Request:
    """What is known of a request before its body has come."""

    __slots__ = ("given", "headers", "method", "path", "query")

    def __init__(self, method: str, path: str, query: bytes, given: list[tuple[bytes, bytes]]) -> None:
        self.method = method
        self.path = path
        self.query = query
        self.given = given
        """All headers, as they were sent; some names may occur twice."""
        self.headers = dict(given)

    def header(self, name: bytes) -> bytes | None:
        return self.headers.get(name)


@dataclass(slots=True)
class Asked:
    """A request whose body has been read."""

    kind: str
    """The content type of the body."""
    accept: str
    query: bytes
    body: bytes
    parts: tuple[str, ...] = ()
    """The variable parts of the path."""

    def parameter(self, name: str) -> str | None:
        """Return a parameter of the address."""
        if not self.query:
            return None
        try:
            found = dict(parse_qsl(self.query.decode(), max_num_fields=20))
        except (UnicodeDecodeError, ValueError):
            raise Problem(400, "The parameters after the question mark cannot be read.") from None
        return found.get(name)

    def gives(self, offered: Sequence[str]) -> str:
        """Return the content type that the client likes best. The first one is that of clients that do not say."""
        return offered[0] if self.accept in ("", "*/*", offered[0]) else liked(self.accept, offered)


class Answer(NamedTuple):
    """The answer of a handler."""

    body: bytes
    kind: str = JSON
    examples: int = 0
    """The number of examples, for the metrics."""
    status: int = 200


ENCODER = msgspec.json.Encoder()


def in_json(what: Any, examples: int = 0) -> Answer:
    return Answer(ENCODER.encode(what), JSON, examples)


def liked(accept: str, offered: Sequence[str]) -> str:
    """Return which of the offered content types an Accept header prefers.

    >>> liked("text/html, text/csv;q=0.9, */*;q=0.1", [JSON, CSV])
    'text/csv'
    """
    best, found = 0.0, None
    wanted = [ranked(part) for part in accept.split(",")[:50]]
    for one in offered:
        # The most specific range decides: text/csv before text/* before */*.
        ranges = [(kind, q) for kind, q in wanted if kind in (one, f"{one.partition('/')[0]}/*", "*/*")]
        quality = max(ranges, key=lambda found: (found[0] == one, found[0] != "*/*"))[1] if ranges else 0.0
        if quality > best:
            best, found = quality, one
    if found is None:
        raise Problem(406, f"The answer can only be {' or '.join(offered)}.")
    return found


def ranked(part: str) -> tuple[str, float]:
    kind, *parameters = part.strip().lower().split(";")
    quality = next((one.strip()[2:] for one in parameters if one.strip().startswith("q=")), "1")
    try:
        return SAME.get(kind.strip(), kind.strip()), min(max(float(quality), 0.0), 1.0)
    except ValueError:
        return kind.strip(), 0.0


def content_type(header: str) -> str:
    """Return a content type without its parameters. A charset other than UTF-8 is a problem."""
    if header == JSON:
        return JSON
    kind, *parameters = header.lower().split(";")
    for parameter in parameters:
        name, _, value = parameter.strip().partition("=")
        if name == "charset" and value.strip('"') not in ("utf-8", "utf8", "us-ascii"):
            raise Problem(415, "The body must be in UTF-8.")
    return SAME.get(kind.strip(), kind.strip())
