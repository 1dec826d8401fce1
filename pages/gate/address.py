"""Hosts and origins of requests, compared exactly."""

from __future__ import annotations

import re
from collections.abc import Iterable

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::[0-9]{1,5})?")


def name_of(host: str) -> str | None:
    """Return the name in a Host header, in lower case and without its port; None if the header is invalid."""
    found = HOST.fullmatch(host.lower())
    return (found.group(1) or found.group(2)).removesuffix(".") if found else None


def is_ours(name: str, allowed: Iterable[str]) -> bool:
    """Return True if the host is allowed; `*.example.org` allows all hosts below it, and `*` allows any."""
    for pattern in (item.strip().lower().removesuffix(".") for item in allowed):
        if pattern in ("*", name) or (pattern.startswith("*.") and name.endswith(pattern[1:])):
            return True
    return name in LOOPBACK


def same_origin(origin: str, scheme: str, host: str) -> bool:
    """Return True if the origin has the scheme, host and port of the request."""
    return origin == f"{scheme}://{host.lower()}"


def is_private(address: str | None, allowed: Iterable[str]) -> bool:
    """Return True if the server serves its own machine only, by its listening address and its allowed hosts."""
    return address in LOOPBACK and all(name in LOOPBACK for name in allowed)
