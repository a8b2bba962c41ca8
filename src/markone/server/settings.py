"""The settings of the service, and its limits."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Any

from markone.checks import check_fields, checked, number, optional, switch, text, whole, words
from markone.errors import SettingsError
from markone.web.safety import LOOPBACK

SHORTEST_TOKEN = 16
HOST_NAME = re.compile(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]")
LARGEST_WAIT = 86400


def token(value: Any) -> Any:
    if not isinstance(value, str) or len(value) < SHORTEST_TOKEN or not value.isascii() or not value.isprintable():
        raise ValueError(f"must have at least {SHORTEST_TOKEN} ASCII characters")  # without the token in the message
    if value.strip() != value or " " in value:
        raise ValueError("must not contain spaces")
    return value


def host_names(value: Any) -> Any:
    for name in words(value):
        if not HOST_NAME.fullmatch(name.rpartition(":")[0] if re.search(r":\d+$", name) else name):
            raise ValueError(f"must be names such as models.example, not {name!r:.80}")
    return tuple(value)


@dataclass(frozen=True)
class ServeSettings:
    """The settings of the service."""

    host: str = checked(LOOPBACK, text("an address such as 127.0.0.1"))
    """The address to listen on. Any other than this machine's own needs a token."""
    port: int = checked(8080, whole(0, 65535))
    """The port to listen on; 0 for any free port."""
    token: str | None = checked(None, optional(token))
    """Requests must send it as `Authorization: Bearer TOKEN`."""
    hosts: tuple[str, ...] = checked((), host_names)
    """More names under which clients reach the service."""
    workers: int = checked(1, whole(1, 512))
    """The number of processes that answer."""
    most_bytes: int = checked(8_000_000, whole(1000, 2**40))
    """The largest body of a request, or line of a stream."""
    most_rows: int = checked(10_000, whole(1))
    """The largest number of examples in a request. A stream may have more."""
    longest_text: int = checked(1_000_000, whole(1))
    """The largest number of characters in a text."""
    most_requests: int = checked(256, whole(1))
    """The largest number of requests that are answered at the same time."""
    seconds: float = checked(30.0, number(above=0, most=LARGEST_WAIT))
    """The longest time for a request, or for a client to send or take the next piece of a stream."""
    reload: float = checked(2.0, number(least=0, most=LARGEST_WAIT))
    """How often to look for changed model files, in seconds; 0 for never."""
    learn: bool = checked(False, switch)
    """Whether `POST /learn` is allowed."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.token is None and not self.is_local:
            raise SettingsError(
                "host",
                f"is {self.host!r}, which other machines can reach, so a token is needed; set the environment variable "
                "MARKONE_TOKEN, or leave out the host",
            )
        if self.learn and self.workers > 1:
            raise SettingsError("workers", "must be 1 with learn, because only one process can learn")

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the service."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"
