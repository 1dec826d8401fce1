"""Hosts of a Ray cluster whose runs compile nothing: each goes on until a file says how it ends, or its server is gone.

Server and nodes are one machine, and share the folder `control` of the nodes' home:

<store>-<run>.plan     of a run that may start: its server's process id, or why it cannot start
<store>-<run>.cancel   its end was requested
<store>-<run>.end      how it ends
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec
import psutil

from core import Environment, Run, WorkerError
from core.base.machine import default_home
from core.job.prepared import torch_version
from core.runs.engine.cluster.host import Host
from core.runs.engine.queues import Assignment
from tests.support.engines import ENDS, FakeSite

POLL_S = 0.01
DEVICES = {"cpu": "a CPU", "cuda:0": "a card", "cuda:1": "a card"}
S = TypeVar("S", bound=msgspec.Struct)


class Plan(msgspec.Struct):
    """What a server says of a run before it starts."""

    pid: int
    error: str = ""
    signal: str | None = None


class End(msgspec.Struct):
    """How a run ends."""

    state: str
    reason: str = ""
    signal: str | None = None


def control(home: Path, store: str, run: str, kind: str) -> Path:
    """The file of a run for its nodes."""
    return home / "control" / f"{store}-{run}.{kind}"


def write(path: Path, message: msgspec.Struct) -> None:
    """Write a file that appears whole."""
    fresh = path.with_suffix(".new")
    fresh.write_bytes(msgspec.json.encode(message))
    fresh.rename(path)


class ControlledEngine(FakeSite):
    """The engine of a node."""

    def environment(self) -> Environment:
        return Environment(torch=torch_version(), devices=DEVICES)

    def prepare(self, _: Assignment) -> None: ...

    def lacks(self, _: Assignment) -> str:
        return ""

    def start(self, assignment: Assignment, ended: Callable[[], None]) -> None:
        plan = msgspec.json.decode(_control(assignment.run, "plan").read_bytes(), type=Plan)
        error = WorkerError(plan.error, plan.signal) if plan.error else None
        self.site.begin(assignment, ended, error)
        threading.Thread(target=self._follow, args=(assignment.run, plan.pid), daemon=True).start()

    def cancel(self, run: Run) -> None:
        _control(run, "cancel").touch()

    def _follow(self, run: Run, server: int) -> None:
        path = _control(run, "end")
        while not path.exists() and psutil.pid_exists(server):
            time.sleep(POLL_S)
        end = msgspec.json.decode(path.read_bytes(), type=End) if path.exists() else End("done", ENDS.get("done", ""))
        self.site.finish(run, end.state, end.reason, end.signal)


def make_host(code_allowed: bool) -> Host:
    """A host with such an engine."""
    return Host(engine=ControlledEngine(), code_allowed=code_allowed)


def _control(run: Run, kind: str) -> Path:
    return control(default_home(), run.path.name.split("-")[1], run.id, kind)
