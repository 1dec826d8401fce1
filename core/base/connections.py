"""Limits of half-open connections, which uvicorn keeps for ever, and room for more connections.

A connection is half-open until it has sent a whole header of a request, at its start and after each response.
"""

from __future__ import annotations

import asyncio
import resource
from functools import cache
from typing import Any

# Seconds in which a header must be complete, and half-open connections of one address.
HEADER_S = 10.0
MOST_HALF_OPEN = 100  #: limit: connections of one address without a whole header
MOST_FILES = 65_536  #: limit: open files of a server, if the system allows them


@cache
def limit_half_open() -> None:
    """Have uvicorn's servers in this process close half-open connections; raise the limit of open files.

    uvicorn has no setting for this, and Streamlit chooses the protocol's class before it imports the dashboard.
    """
    # The processes of runs import this package, and serve nothing.
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    limited(AutoHTTPProtocol)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(MOST_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def limited(protocol: type[Any]) -> None:
    """Add the limits to a class of uvicorn's HTTP protocols."""
    made, received, lost = protocol.connection_made, protocol.data_received, protocol.connection_lost

    def connection_made(self: Any, transport: asyncio.Transport) -> None:
        made(self, transport)
        self.header_timer = None
        _watch(self)

    def data_received(self: Any, data: bytes) -> None:
        received(self, data)
        _watch(self)

    def connection_lost(self: Any, error: Exception | None) -> None:
        _stop(self)
        lost(self, error)

    protocol.connection_made, protocol.data_received = connection_made, data_received
    protocol.connection_lost = connection_lost


def _watch(connection: Any) -> None:
    """Start the time of a half-open connection, and stop it once the header is complete."""
    if not _is_half_open(connection):
        _stop(connection)
    elif connection.header_timer is None:
        connection.header_timer = connection.loop.call_later(HEADER_S, connection.transport.abort)
        waiting = [each for each in connection.connections if _is_waiting(each, connection.client)]
        if len(waiting) > MOST_HALF_OPEN:
            # The oldest one, so that an honest visitor at the same address gets in.
            oldest = min(waiting, key=lambda each: each.header_timer.when())
            _stop(oldest)
            oldest.transport.abort()


def _is_waiting(connection: Any, client: tuple[str, int] | None) -> bool:
    """Return True if a connection from a client's address is half-open."""
    address, own = client and client[0], connection.client and connection.client[0]
    return address == own and getattr(connection, "header_timer", None) is not None


def _is_half_open(connection: Any) -> bool:
    is_answering = connection.cycle is not None and not connection.cycle.response_complete
    is_idle = connection.timeout_keep_alive_task is not None
    is_upgraded = connection.transport.get_protocol() is not connection
    return not (is_answering or is_idle or is_upgraded or connection.transport.is_closing())


def _stop(connection: Any) -> None:
    if connection.header_timer is not None:
        connection.header_timer.cancel()
        connection.header_timer = None
