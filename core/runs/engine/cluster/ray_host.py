"""Host on a node of a Ray cluster: reserves Ray resources while it measures, so other work waits.

`compileboard_quiet`    one unit, for every measured run (if the node has the resource)
`GPU`                   all units of the node, for a run measured on a GPU (if the node has the resource)

A measured run waits until Ray gives it these resources.
"""

import importlib
import os
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from core.base.machine import default_home
from core.runs.engine.cluster.host import Host
from core.runs.engine.forkserver import COMMAND
from core.runs.engine.local import LocalEngine
from core.runs.engine.queues import CPU, Assignment
from core.runs.store import Run

QUIET, CARDS = "compileboard_quiet", "GPU"
# Seconds after which a run that nobody starts any more waits for no resources.
LEASE_S, LOOK_S = 30.0, 5.0
# Ray sets it to 1 while an actor without CPUs answers a call, so that torch would use one thread.
THREADS = "OMP_NUM_THREADS"


class Placeholder:
    """Actor that only reserves resources. Ray sends the class by value."""

    def is_there(self) -> bool:
        """Return True; Ray replies as soon as it has reserved the resources."""
        return True


class Resources:
    """Ray resources of a node, reserved for measured runs.

    Each resource is reserved by an actor, which ends with the host. Safe to use from threads.
    """

    def __init__(self) -> None:
        self._ray = importlib.import_module("ray")
        self.node = self._ray.get_runtime_context().get_node_id()
        declared = next(node["Resources"] for node in self._ray.nodes() if node["NodeID"] == self.node)
        self._most = {name: declared[name] for name in (QUIET, CARDS) if declared.get(name)}
        self._lock = threading.RLock()
        # Resource → its actor, and the reply that comes once Ray has given it; and the runs that need it.
        self._actors: dict[str, tuple[Any, Any]] = {}
        self._needed: dict[str, set[Path]] = {name: set() for name in self._most}
        # Run → when it was asked for, until it is measured.
        self._waiting: dict[Path, float] = {}
        if self._most:
            threading.Thread(target=self._look, daemon=True).start()

    def take(self, run: Path, device: str) -> bool:
        """Request the resources of a measured run; return True once all are reserved. Does not wait."""
        names = [name for name in self._most if name == QUIET or device != CPU]
        with self._lock:
            self._waiting[run] = time.monotonic()
            for name in names:
                self._needed[name].add(run)
                if name not in self._actors:
                    self._actors[name] = self._request(name)
            if not all(self._is_held(name) for name in names):
                return False
            del self._waiting[run]
            return True

    def give_back(self, run: Path) -> None:
        """Release the resources of a run; a resource that no other run needs goes back to Ray."""
        with self._lock:
            self._waiting.pop(run, None)
            for name, runs in self._needed.items():
                runs.discard(run)
                if not runs and name in self._actors:
                    self._ray.kill(self._actors.pop(name)[0])

    def _request(self, name: str) -> tuple[Any, Any]:
        strategies = importlib.import_module("ray.util.scheduling_strategies")
        affinity = strategies.NodeAffinitySchedulingStrategy(self.node, soft=False)
        amounts = {"num_gpus": self._most[CARDS]} if name == CARDS else {"resources": {QUIET: 1}}
        options = {"num_cpus": 0, "scheduling_strategy": affinity, **amounts}
        actor = self._ray.remote(Placeholder).options(**options).remote()
        return actor, actor.is_there.remote()

    def _is_held(self, name: str) -> bool:
        ready, _ = self._ray.wait([self._actors[name][1]], timeout=0)
        return bool(ready)

    def _look(self) -> None:
        """Release requests that were not repeated for `LEASE_S`, since their server has ended."""
        while True:
            time.sleep(LOOK_S)
            now = time.monotonic()
            with self._lock:
                for run, asked_s in list(self._waiting.items()):
                    if now - asked_s > LEASE_S:
                        self.give_back(run)


class QuietEngine(LocalEngine):
    """The engine of this machine; a measured run needs Ray resources in addition to the device lock."""

    def __init__(self, cache_dir: Path, resources: Resources) -> None:
        super().__init__(cache_dir, fork_server(_environment_of_node()))
        self._resources = resources

    def take_turn(self, assignment: Assignment) -> bool:
        """Lock the assignment's device, and reserve its resources; False if either is not free."""
        path = assignment.run.path
        if assignment.measures and not self._resources.take(path, assignment.device):
            return False
        has_lock = super().take_turn(assignment)
        if not has_lock:
            self._resources.give_back(path)
        return has_lock

    def end_turn(self, run: Run) -> None:
        """Release the device lock and the resources of a run, if it has any."""
        super().end_turn(run)
        self._resources.give_back(run.path)


def fork_server(environment: Mapping[str, str]) -> Sequence[str]:
    """Return the command of a fork server with the number of threads in the node's environment.

    If that environment sets no number, the command removes the number that Ray has set.
    """
    return COMMAND if THREADS in environment else ("env", "-u", THREADS, *COMMAND)


def _environment_of_node() -> dict[str, str]:
    """Return the environment of the parent process, which is Ray's process for the node.

    Empty if the environment cannot be read.
    """
    with suppress(psutil.Error):
        if (node := psutil.Process().parent()) is not None:
            return dict(node.environ())
    return {}


def make_host(code_allowed: bool) -> Host:
    """Return the host for a node's actor.

    Its name is that of the machine, with the begin of the node's id in Ray.
    """
    resources = Resources()
    engine = QuietEngine(default_home().resolve() / "cache", resources)
    return Host(engine=engine, name=f"{os.uname().nodename}#{resources.node[:6]}", code_allowed=code_allowed)
