import contextlib
import threading
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from core.base.decoder import unpacked_as
from core.base.errors import DecodeError, NodeError, SettingError
from core.base.files import one_line
from core.runs.engine.cluster.workers import (
    MOST_BODY_BYTES,
    SERVERS_TOKEN_FILE,
    WorkerHosts,
    WorkersTransport,
    host_and_port,
    token_of,
)
from core.runs.store import Store

FORM = "workers://HOST:PORT"
# Seconds for the hosts, and beyond a call's limit.
HOSTS_S, GRACE_S = 5.0, 5.0
# Addresses of all interfaces, and how this machine is called there.
HERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}


class SharedWorkersTransport:
    """Hosts of the workers that connect to `address`, through this server or another server of the store.

    If another server takes over the port, an earlier host counts as silent, not lost, until it connects to that
    server. Raises SettingError if `address` is invalid, or if a server of another store uses it.
    """

    scheme = "workers"

    def __init__(self, address: str, home: Path) -> None:
        self._address, self._home = address, home
        self._place = host_and_port(address)
        self._token = token_of(home, SERVERS_TOKEN_FILE)
        self._lock = threading.Lock()
        self._own: WorkersTransport | None = None
        self._server, self._known, self._earlier = "", set[str](), set[str]()
        try:
            self._own = WorkersTransport(address, home)
        except SettingError:
            with contextlib.suppress(NodeError):
                self._ask()
                return
            raise

    def peers(self) -> dict[str, bool]:
        """Return worker → True if the worker has recently asked the server for calls to execute.

        Raises NodeError if the server's port cannot be opened.
        """
        with self._lock:
            hosts = self._hosts()
            if hosts.server != self._server:
                self._server, self._earlier = hosts.server, self._earlier | self._known
            self._known = {*hosts.hosts}
            self._earlier -= self._known
            return dict.fromkeys(self._earlier, False) | hosts.hosts

    def call(self, peer: str, data: bytes, limit_s: float) -> bytes:
        """Return a host's reply to a call; raises NodeError if there is none in time."""
        own = self._own
        if own is not None:
            return own.call(peer, data, limit_s)
        return self._request("POST", f"/hosts/{peer}?limit_s={limit_s}", data, limit_s + GRACE_S)

    def close(self) -> None:
        """Stop listening; another server takes over the port, and the workers continue."""
        with self._lock:
            if self._own is not None:
                self._own.close()

    def _hosts(self) -> WorkerHosts:
        """Return the hosts of the server that listens on the port; start listening here if no server does."""
        if self._own is None:
            with contextlib.suppress(NodeError):
                return self._ask()
            try:
                self._own = WorkersTransport(self._address, self._home)
            except SettingError as error:
                raise NodeError(str(error)) from None
        return WorkerHosts("", self._own.peers())

    def _ask(self) -> WorkerHosts:
        data = self._request("GET", "/hosts", b"", HOSTS_S)
        try:
            hosts: WorkerHosts = unpacked_as(data, WorkerHosts, MOST_BODY_BYTES)
        except DecodeError as error:
            raise NodeError(f"another server's hosts cannot be read: {error}") from None
        return hosts

    def _request(self, method: str, path: str, body: bytes, limit_s: float) -> bytes:
        """Return the response of the server that listens on the port; raises NodeError."""
        host, port = self._place
        connection = HTTPConnection(HERE.get(host, host), port, timeout=limit_s)
        try:
            connection.request(method, path, body, {"Authorization": f"Bearer {self._token}"})
            response = connection.getresponse()
            data = response.read(MOST_BODY_BYTES + 1)
        except (OSError, HTTPException) as error:
            raise NodeError(f"the server that has the workers' port does not answer: {error}") from None
        finally:
            connection.close()
        if response.status != 200:
            raise NodeError(one_line(data[:300].decode("utf-8", "replace"), 300) or f"it answers {response.status}")
        return data


def transport(address: str, store: Store, code_allowed: bool) -> SharedWorkersTransport:
    """Return the transport of an engine's address."""
    return SharedWorkersTransport(address, store.home)
