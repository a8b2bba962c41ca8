"""Problems: what a client did wrong, as a sentence in the form of RFC 9457 (`application/problem+json`)."""

from __future__ import annotations

from http import HTTPStatus

import msgspec

from markone.errors import LimitError, MarkoneError

PROBLEM = "application/problem+json"


class Problem(Exception):  # noqa: N818 - it is the name in RFC 9457
    """A request that cannot be answered."""

    def __init__(self, status: int, sentence: str, **headers: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        """More headers of the answer."""

    def encoded(self) -> bytes:
        return msgspec.json.encode(ProblemAnswer(HTTPStatus(self.status).phrase, self.status, self.sentence))


class ProblemAnswer(msgspec.Struct):
    """What a client gets instead of an answer."""

    title: str
    status: int
    detail: str
    type: str = "about:blank"


def problem_of(error: Exception) -> Problem | None:
    """Return the problem that an error means; None if the error is a defect of ours."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, LimitError):
        return Problem(413, str(error))
    if isinstance(error, MarkoneError):
        return Problem(422, str(error))
    if isinstance(error, msgspec.ValidationError):
        return Problem(422, f"The request does not have the right form: {lowered(str(error))}.")
    if isinstance(error, msgspec.DecodeError | UnicodeDecodeError):
        return Problem(400, f"The request is not valid JSON: {lowered(str(error))}.")
    if isinstance(error, RecursionError):
        return Problem(422, "The request is nested too deeply.")
    if isinstance(error, MemoryError):
        return Problem(503, "There is not enough memory for this request now.", retry_after="5")
    return None


def lowered(sentence: str) -> str:
    """Return a sentence as the second half of another one.

    >>> lowered("Expected `str`."), lowered("JSON is malformed")
    ('expected `str`', 'JSON is malformed')
    """
    first = sentence[:1] if sentence[1:2].isupper() else sentence[:1].lower()
    return first + sentence[1:].rstrip(".")
