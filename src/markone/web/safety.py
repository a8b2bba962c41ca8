"""Who may ask a server, and the headers that every answer has."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable

LOOPBACK = "127.0.0.1"
LOCAL_NAMES = (LOOPBACK, "localhost")
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""The headers of every answer. A page of ours may load only its own files, and no other page may embed them."""


def hosts_at(port: int, more: Iterable[str] = (), address: str = LOOPBACK) -> frozenset[str]:
    """Return the values of the Host header that lead to this port of an address, and those that the user allows.

    >>> sorted(hosts_at(8080, ["models.example"]))
    ['127.0.0.1:8080', 'localhost:8080', 'models.example', 'models.example:8080']
    """
    own = {*LOCAL_NAMES, address_in_urls(address)}
    hosts = {f"{name}:{port}" for name in own} | (own if port == 80 else set())
    for name in map(str.lower, more):
        hosts |= {name, f"{name}:{port}"}
    return frozenset(hosts)


def address_in_urls(address: str) -> str:
    """Return an address in the form that URLs and the Host header have.

    >>> address_in_urls("0:0::1"), address_in_urls("127.0.0.1")
    ('[::1]', '127.0.0.1')
    """
    return f"[{ipaddress.IPv6Address(address)}]" if ":" in address else address


def is_welcome(host: str | None, origin: str | None, hosts: Collection[str]) -> bool:
    """Return whether a request is meant for this server and, if a page sends it, comes from a page of this server.

    A page from elsewhere could otherwise read answers, by a name of its own that leads to this machine.
    """
    host = None if host is None else host.lower()
    return host in hosts and (origin is None or origin.lower() in (f"http://{host}", f"https://{host}"))
