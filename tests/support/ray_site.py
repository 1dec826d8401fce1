"""A real Ray cluster of four nodes as the site of engines that compile nothing: `pytest --site ray`.

Runs cross as files and calls: the queue, the sweeps and the locks are those of a server whose runs are on a node.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from core import Run, Store, WorkerError
from core.runs.engine.cluster.remote import RemoteEngine
from core.runs.engine.queues import Assignment
from core.runs.engine.transports.ray import RayTransport
from core.runs.processes.handles import LocalLiveness
from tests.support.engines import WAIT_S, until
from tests.support.places import ROOT
from tests.support.ray_nodes import End, Plan, control, write

NODES = 4
STORE_BYTES = 80 * 1024**2


def free_port() -> int:
    """A port for a head."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def ray_cluster(home: Path, nodes: int, port: int) -> Iterator[Any]:
    """A cluster of processes of this machine, with the nodes' home below `home` and the client's port."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("COMPILEBOARD_HOME", str(home / "nodes"))
        patch.setenv("PYTHONPATH", str(ROOT))
        head = {"num_cpus": 0, "object_store_memory": STORE_BYTES, "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args={**head, "ray_client_server_port": port})
        try:
            for _ in range(nodes):
                add_node(cluster)
            yield cluster
        finally:
            cluster.shutdown()


def add_node(cluster: Any) -> Any:
    """Add a node with a host to a cluster."""
    resources = {"compileboard": 1, "compileboard_quiet": 1}
    return cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES, resources=resources)


@dataclass
class OnRay(LocalLiveness):
    """A server whose runs are on one of the nodes.

    Its store is known with its first run; over a store that another server has used, `greet` carries what that left.
    """

    transport: RayTransport
    host: str
    nodes_home: Path
    over: dict[Path, threading.Event] = field(default_factory=dict)
    closed: bool = False
    _remote: RemoteEngine | None = None
    _making: threading.Lock = field(default_factory=threading.Lock)

    def nodes(self) -> tuple[str, ...]:
        return (self.host,)

    def greet(self, home: Path) -> None:
        if (home / "store-id").exists():
            self._engine_over(home)

    def take_turn(self, assignment: Assignment) -> bool:
        return self._engine(assignment.run).take_turn(replace(assignment, node=self.host))

    def end_turn(self, run: Run) -> None:
        self._engine(run).end_turn(run)

    def begin(self, assignment: Assignment, ended: Callable[[], None], error: WorkerError | None) -> None:
        if self.closed:
            raise WorkerError("the test is over")
        over = self.over[assignment.run.path] = threading.Event()

        def end() -> None:
            ended()
            over.set()

        plan = Plan(os.getpid(), str(error), error.signal) if error else Plan(os.getpid())
        write(self._control(assignment.run, "plan"), plan)
        self._engine(assignment.run).start(assignment, end)

    def cancel(self, run: Run) -> None:
        self._engine(run).cancel(run)
        over = self.over.get(run.path, threading.Event())
        until(lambda: over.is_set() or self._control(run, "cancel").exists())

    def finish(self, run: Run, state: str, reason: str = "", signal: str | None = None) -> None:
        write(self._control(run, "end"), End(state, reason, signal))
        assert self.over[run.path].wait(WAIT_S)

    def close(self) -> None:
        """End the server and its runs, and not its connection."""
        self.closed = True
        for path, over in list(self.over.items()):
            if not over.is_set():
                self.finish(Run(path.name, path), "done")
        if self._remote is not None:
            self._remote._nodes.closed.set()

    def _engine(self, run: Run) -> RemoteEngine:
        return self._engine_over(run.path.parents[1])

    def _engine_over(self, home: Path) -> RemoteEngine:
        with self._making:
            if self._remote is None:
                remote = RemoteEngine(Store(home), self.transport)
                until(lambda: self.host in remote.nodes("cpu"))
                self._remote = remote
            return self._remote

    def _control(self, run: Run, kind: str) -> Path:
        return control(self.nodes_home, self._engine(run)._nodes.store_id, run.id, kind)


class RaySites:
    """The nodes of a cluster: each test has the next one, and its servers share it."""

    def __init__(self, home: Path, port: int) -> None:
        self.home = home
        self.address = f"ray://127.0.0.1:{port}"
        self.transport = _transport(self.address)
        scout = RemoteEngine(Store(home / "scout"), self.transport)
        until(lambda: len(scout.nodes("cpu")) == NODES)
        self._hosts = cycle(scout.nodes("cpu"))
        self._sites: list[OnRay] = []

    def next_words(self) -> str:
        """What a process needs to be a server over the next node."""
        return f"{self.address} {next(self._hosts)} {self.home / 'nodes'}"

    def server(self, words: str, home: Path) -> OnRay:
        """One more server over a node, whose store may be at `home`."""
        _, host, nodes_home = words.split(" ", 2)
        site = OnRay(self.transport, host, Path(nodes_home))
        self._sites.append(site)
        site.greet(home)
        return site

    def end_servers(self) -> None:
        """End the servers of a test."""
        while self._sites:
            self._sites.pop().close()


def server_at(words: str) -> OnRay:
    """A server of this process alone."""
    address, host, home = words.split(" ", 2)
    return OnRay(_transport(address), host, Path(home))


def _transport(address: str) -> RayTransport:
    return RayTransport(address, hosts="tests.support.ray_nodes")


@contextmanager
def ray_sites(home: Path) -> Iterator[RaySites]:
    """The cluster of a test run."""
    (home / "nodes" / "control").mkdir(parents=True)
    with ray_cluster(home, NODES, port := free_port()):
        sites = RaySites(home, port)
        yield sites
        sites.transport.close()
