"""Hosts in this process, behind a transport that loses calls, hosts and itself when a test says so."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from core import Environment, Run, Store
from core.base.errors import NodeError
from core.job.prepared import torch_version
from core.runs.engine.cluster.host import Host
from core.runs.engine.cluster.messages import HelloCall, HostCall, LaunchCall, call_of
from core.runs.engine.cluster.remote import RemoteEngine
from core.runs.engine.queues import Assignment, Engine
from tests.support.engines import WAIT_S, PromptEngine

LOG = "trace/dedicated_log_torch_trace.log"


class NodeEngine(PromptEngine):
    """The engine of a host: its runs write a log, and end at once as `outcome` says, or are held."""

    def __init__(
        self,
        outcome: Callable[[Run], str] = lambda run: "done",
        hold_after: int | None = None,
        devices: Mapping[str, str] = {"cpu": "a CPU"},
        torch: str = "",
    ) -> None:
        super().__init__(outcome, hold_after)
        self.ended: list[Run] = []
        self._environment = Environment(torch=torch or torch_version(), devices=dict(devices))

    def environment(self) -> Environment:
        return self._environment

    def start(self, assignment: Assignment, ended: Callable[[], None]) -> None:
        (assignment.run.path / LOG).write_bytes(b"first\n")
        assignment.run.output_path.write_bytes(b"printed\n")
        super().start(assignment, ended)


class Direct:
    """A transport to hosts of this process. `silent` hosts do not answer, nor do `hung` ones, which can be called.

    `lose_launches` and `lose_replies` count launches that get lost on their way, and replies.
    """

    scheme = "direct"

    def __init__(self) -> None:
        self.hosts: dict[str, Host] = {}
        self.silent: set[str] = set()
        self.hung: set[str] = set()
        self.broken = False
        self.lose_launches = self.lose_replies = 0
        self.calls: list[HostCall] = []
        self._lock = threading.Lock()

    def peers(self) -> dict[str, bool]:
        if self.broken:
            raise NodeError("the cluster does not answer")
        return {peer: peer not in self.silent for peer in list(self.hosts)}

    def call(self, peer: str, data: bytes, limit_s: float) -> bytes:
        if self.broken or peer in self.silent | self.hung or peer not in self.hosts:
            raise NodeError(f"{peer} does not answer within {limit_s} s")
        call = call_of(data)
        if isinstance(call, LaunchCall) and self.lose_launches:
            self.lose_launches -= 1
            raise NodeError("the launch was lost")
        with self._lock:
            self.calls.append(call)
        reply = self.hosts[peer].answer(data)
        with self._lock:
            if self.lose_replies and not isinstance(call, HelloCall):
                self.lose_replies -= 1
                raise NodeError("the reply was lost")
        return reply

    def close(self) -> None: ...


def kill(server: Engine) -> None:
    """End a server as if it were killed: its threads stop, its locks are released, and its runs go on."""
    assert isinstance(server, RemoteEngine)
    server._nodes.closed.set()
    for carried in server._carrier.all():
        assert carried.over.wait(WAIT_S)
    server._nodes.transport.close()


class Nodes:
    """Hosts below a directory, and servers over a store that use them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.transport = Direct()
        self.engines: dict[str, NodeEngine] = {}
        self._servers: list[RemoteEngine] = []

    def add(self, name: str, engine: NodeEngine | None = None, code_allowed: bool = True) -> NodeEngine:
        """Start a host with a home of its own."""
        self.engines[name] = engine or NodeEngine()
        self.transport.hosts[name] = Host(self.folder / name, self.engines[name], name, code_allowed)
        return self.engines[name]

    def lose(self, name: str) -> Host:
        """Lose a host for good."""
        return self.transport.hosts.pop(name)

    def server(self, code_allowed: bool = True) -> RemoteEngine:
        """Start one more server over the one store."""
        engine = RemoteEngine(self.store(), self.transport, code_allowed)
        self._servers.append(engine)
        return engine

    def store(self) -> Store:
        return Store(self.folder / "server")

    def close(self) -> None:
        for server in self._servers:
            kill(server)


@contextmanager
def nodes_below(folder: Path) -> Iterator[Nodes]:
    """Hosts and servers that end with the context."""
    nodes = Nodes(folder)
    try:
        yield nodes
    finally:
        nodes.close()
