"""A worker's side of `workers`: asks a server for calls, and answers them by its host, until it is told to end."""

from __future__ import annotations

import contextlib
import ssl
import threading
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

import msgspec

from core.base.decoder import unpacked_as
from core.base.errors import DecodeError, NodeError, SettingError
from core.base.files import one_line
from core.runs.engine.cluster.host import Host
from core.runs.engine.cluster.workers import WAIT_S, WorkerCall, WorkerReply

# Calls that are answered at once: a large file keeps no other call waiting.
THREADS = 4
TIMEOUT_S = WAIT_S + 40.0
RETRY_S, LONGEST_RETRY_S = 1.0, 30.0
# Seconds in which the server may collect what the ended runs have left.
COLLECT_S = 8.0
# Seconds for the connections to end.
CLOSE_S = 1.0
MOST_ANSWER_BYTES = 65 * 1024**2
LOOPBACK = ("127.0.0.1", "::1", "localhost")
UNAUTHORIZED = 401


class Puller:
    """Connections of a host to one server.

    `say` prints what changes for a reader of the worker's terminal. Raises SettingError for an address that is no
    https, which would show the token to the network, unless it is this machine.
    """

    def __init__(self, url: str, token: str, host: Host, say: Callable[[str], None]) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SettingError(f"{url[:80]!r} is no address of a server; write https://HOST")
        if parts.scheme == "http" and parts.hostname not in LOOPBACK:
            raise SettingError("http shows the token and the code to the network; write https://")
        self._address, self._is_tls = (parts.hostname, parts.port), parts.scheme == "https"
        self._path = f"{parts.path.rstrip('/')}/work/{host.id}"
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/msgpack"}
        self._host = host
        self._say = say
        self._over = threading.Event()
        # The threads that have a connection.
        self._connected: set[int] = set()
        self._noting = threading.Lock()
        self._refused = ""

    def run(self, ended: threading.Event) -> None:
        """Answer calls until `ended` is set; then end the runs, and let the server collect them.

        Raises SettingError if the server does not take the token.
        """
        threads = [threading.Thread(target=self._pull, daemon=True) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        while not ended.wait(RETRY_S) and not self._over.is_set():
            pass
        self._host.close()
        if self._refused:
            raise SettingError(self._refused)
        self._host.wait_until_collected(COLLECT_S)
        self._over.set()
        with contextlib.suppress(OSError, HTTPException, NodeError), contextlib.closing(self._connection()) as bye:
            self._request(bye, "DELETE", b"")
        for thread in threads:
            thread.join(CLOSE_S)

    def _pull(self) -> None:
        """Ask for a call, answer it, and send the reply with the next question."""
        connection, body, retry_s = self._connection(), b"", RETRY_S
        while not self._over.is_set():
            try:
                answer = self._request(connection, "POST", body)
                body, retry_s = self._reply_to(answer) if answer else b"", RETRY_S
                self._note(True)
            except (OSError, HTTPException, DecodeError, NodeError) as error:
                connection.close()
                self._note(False, str(error))
                self._over.wait(retry_s)
                connection, retry_s = self._connection(), min(2 * retry_s, LONGEST_RETRY_S)
        connection.close()

    def _reply_to(self, answer: bytes) -> bytes:
        call = unpacked_as(answer, WorkerCall, MOST_ANSWER_BYTES)
        return msgspec.msgpack.encode((WorkerReply(call.number, self._host.answer(call.data)),))

    def _connection(self) -> HTTPConnection:
        name, port = self._address
        if self._is_tls:
            return HTTPSConnection(name, port, timeout=TIMEOUT_S, context=ssl.create_default_context())
        return HTTPConnection(name, port, timeout=TIMEOUT_S)

    def _request(self, connection: HTTPConnection, method: str, body: bytes) -> bytes:
        """Return the body of a response; raises OSError, HTTPException, NodeError. No redirection is followed."""
        connection.request(method, self._path, body, self._headers)
        response = connection.getresponse()
        data = response.read(MOST_ANSWER_BYTES + 1)
        if response.status == UNAUTHORIZED:
            self._refused = "the server does not take this token; copy its file workers-token again"
            self._over.set()
        if response.status not in (200, 204):
            raise NodeError(f"{response.status} {one_line(data[:200].decode('utf-8', 'replace'), 200)}")
        return data

    def _note(self, is_connected: bool, why: str = "") -> None:
        """Note whether this thread has a connection; say so if it is the first one, or was the last."""
        with self._noting:
            before = bool(self._connected)
            (self._connected.add if is_connected else self._connected.discard)(threading.get_ident())
            if before == bool(self._connected):
                return
        self._say("connected; waiting for runs" if not before else f"the server does not answer: {why}; trying again")
