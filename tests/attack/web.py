"""Requests as an attacker writes them: headers in full, no browser that would mend them."""

import base64
import os
import socket
from urllib.parse import urlsplit

from tests.support.browser import Server

Headers = tuple[tuple[str, str], ...]
LIMIT_S = 60.0


def ask(
    server: Server,
    path: str = "/",
    method: str = "GET",
    headers: Headers = (),
    host: str | None = None,
    connection: str = "close",
) -> int:
    """The status of one request; its Host is the server's own unless said otherwise."""
    own = urlsplit(server.url)
    lines = [f"{method} {path} HTTP/1.1", f"Host: {own.netloc if host is None else host}", f"Connection: {connection}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return send(server, "\r\n".join([*lines, "", ""]))


def send(server: Server, request: str) -> int:
    """The status of a request that is written in full."""
    with _sent(server, request) as stream:
        return int(stream.makefile("rb").readline().split()[1])


def answer(server: Server, path: str) -> bytes:
    """All that comes back for a path, headers too."""
    with _sent(
        server, f"GET {path} HTTP/1.1\r\nHost: {urlsplit(server.url).netloc}\r\nConnection: close\r\n\r\n"
    ) as stream:
        return stream.makefile("rb").read()


def _sent(server: Server, request: str) -> socket.socket:
    own = urlsplit(server.url)
    assert own.hostname is not None
    stream = socket.create_connection((own.hostname, own.port or 80), LIMIT_S)
    stream.sendall(request.encode("latin-1"))
    return stream


def shake_hands(server: Server, origin: str | None, host: str | None = None, headers: Headers = ()) -> int:
    """The status of the handshake for Streamlit's WebSocket: 101 is an open door."""
    key = base64.b64encode(os.urandom(16)).decode()
    upgrade = (("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", key))
    said = () if origin is None else (("Origin", origin),)
    path = urlsplit(server.url).path + "/_stcore/stream"
    return ask(server, path, headers=(*upgrade, *said, *headers), host=host, connection="Upgrade")
