"""Engine of the hosts behind a transport: assigns runs to hosts, sends the runs, and starts them.

A run's handle is `<scheme>:<host>`. Any server can ask this host about the run.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from core.base.errors import ClosedError, CompileboardError, WorkerError
from core.base.machine import Environment
from core.job.prepared import torch_version
from core.runs.engine.cluster import messages
from core.runs.engine.cluster.carrying import POLL_S, Carrier
from core.runs.engine.cluster.nodes import HELLO_S, HostNode, Nodes, R, Transport
from core.runs.engine.queues import CPU, Assignment, Shortage
from core.runs.processes.handles import LocalLiveness, engine_of
from core.runs.store import Run, Store

GREETING_S = 1.0
# Seconds until torch of a first node must have started, and for `close` to see runs end.
FIRST_NODE_S, CLOSE_S = 120.0, 10.0


class RemoteEngine(LocalLiveness):
    """Hosts behind a transport, as one engine of a store.

    Queued runs are in the server's own queue, and the server's process owns them. A run on a host is live until a
    server of the store writes its end, even if the node of the run is lost.
    """

    def __init__(self, store: Store, transport: Transport, code_allowed: bool = True) -> None:
        self._nodes = Nodes(store, transport, code_allowed)
        self._carrier = Carrier(store, self._nodes, self)
        self._turns: dict[Path, str] = {}
        self._changed: Callable[[], None] = lambda: None
        threading.Thread(target=self._watch, daemon=True).start()

    def nodes(self, device: str, alike: str = "", /) -> tuple[str, ...]:
        return self._nodes.with_device(device, alike, [carried.host for carried in self._carrier.all()])

    def refusal(self, device: str, /) -> str:
        return self._nodes.refusal(device)

    def shortage(self, device: str, /) -> Shortage | None:
        return self._nodes.shortage(device)

    def silent(self) -> tuple[str, ...]:
        return self._nodes.silent()

    def prepare(self, assignment: Assignment) -> None:
        if not assignment.target and not self.lacks(assignment):
            return
        while self._lack(assignment):
            if self._nodes.closed.wait(POLL_S):
                raise ClosedError

    def lacks(self, assignment: Assignment) -> str:
        """Return what an assignment waits for: its node's torch, or a reply of its node; empty if nothing."""
        node = self._nodes.all().get(assignment.node)
        if node is None or (node.answers and node.facts.devices):
            return ""
        return f"torch on {node.facts.name}" if node.answers else f"the node {node.facts.name}, which does not answer"

    def take_turn(self, assignment: Assignment) -> bool:
        run, host = assignment.run, assignment.node
        key = self._carrier.key(run)
        call = messages.TakeTurnCall(
            self._nodes.store_id, key, self._nodes.server, assignment.device, assignment.measures
        )
        # Before the reply, which may be lost although the node has locked the device.
        self._turns[run.path] = host
        reply = self._reply(host, call, messages.TurnReply)
        return reply is not None and reply.taken

    def end_turn(self, run: Run) -> None:
        host = self._turns.pop(run.path, None)
        if host is not None:
            threading.Thread(target=self._end_turn, args=(run, host), daemon=True).start()

    def start(self, assignment: Assignment, ended: Callable[[], None]) -> None:
        """Send a run to its node; without a reply, it counts as started until the node reports."""
        run, host = assignment.run, assignment.node
        carried = self._carrier.claim(run, host, ended, assignment)
        if carried is None:
            raise WorkerError("another server carries this run")
        try:
            self._write_running(run, host)
            with self._nodes.unless_lost(host):
                self._carrier.launch(carried, assignment)
        except CompileboardError:
            self._carrier.release(carried)
            raise
        self._carrier.follow(carried)

    def cancel(self, run: Run) -> None:
        """Request the end of a run from its host; the transfer repeats the request until it has ended."""
        handle = run.written_status().handle
        host = self._nodes.host_of(handle)
        if host is None:
            if name := engine_of(handle):
                raise WorkerError(f"the run belongs to the engine `{name}`; cancel it from a server that uses it")
            return
        if (carried := self._carrier.get(run)) is not None:
            carried.cancelled = True
        self._nodes.call_in_background(host, messages.CancelCall(self._nodes.store_id, self._carrier.key(run)))

    def warm_up(self) -> None:
        """Do nothing: each host starts its own torch."""

    def environment(self) -> Environment:
        """Return the capabilities of all nodes; raises WorkerError if none answers in time."""
        end_s = time.monotonic() + FIRST_NODE_S
        while not (nodes := [node for node in self._nodes.all().values() if node.environment]):
            if time.monotonic() > end_s or self._nodes.closed.wait(POLL_S):
                shortage = self._nodes.shortage(CPU)
                raise WorkerError(f"{shortage.reason if shortage else 'no torch'}; start a node, and try again")
        return union(nodes)

    def on_change(self, changed: Callable[[], None]) -> None:
        self._changed = changed

    def close(self) -> None:
        """End the runs that this server transfers, and the connections; the hosts continue."""
        carried = self._carrier.all()
        for each in carried:
            with contextlib.suppress(CompileboardError):
                self.cancel(each.run)
        end_s = time.monotonic() + CLOSE_S
        for each in carried:
            each.over.wait(max(0.0, end_s - time.monotonic()))
        self._nodes.closed.set()
        self._nodes.transport.close()

    def _lack(self, assignment: Assignment) -> str:
        reply = self._reply(assignment.node, messages.PrepareCall(assignment.target), messages.LackReply)
        return "an answer" if reply is None else reply.words

    def _reply(self, host: str, call: messages.HostCall, kind: type[R]) -> R | None:
        """Return a host's reply to a call that may be repeated; None if no reply came in time.

        Raises SilentNodeError if the host no longer answers any call, or is lost.
        """
        self._nodes.require_answers(host)
        with self._nodes.unless_lost(host):
            return self._nodes.call(host, call, kind, HELLO_S)
        self._nodes.require_answers(host)
        return None

    def _end_turn(self, run: Run, host: str) -> None:
        """Request the release of a run's device lock until its host replies, is lost, or has the run again."""
        call = messages.EndTurnCall(self._nodes.store_id, self._carrier.key(run))
        with contextlib.suppress(CompileboardError):
            while self._turns.get(run.path) != host:
                with self._nodes.unless_lost(host):
                    self._nodes.call(host, call, messages.DoneReply)
                    return

    def _write_running(self, run: Run, host: str) -> None:
        """Write the status of a starting run: its host becomes its owner."""
        status, facts = run.written_status(), self._nodes.all()[host].facts
        handle = self._nodes.handle(host)
        running = replace(status, state="running", started_s=time.time(), handle=handle, node=facts.name)
        # A run of another torch is not reused for a job of this one.
        run.write_status(running if has_servers_torch(facts) else replace(running, fingerprint=""))

    def _watch(self) -> None:
        """Greet the hosts, find lost hosts, and take over the runs of servers that have ended."""
        self._carrier.look_for_lost()
        while not self._nodes.closed.is_set():
            with contextlib.suppress(CompileboardError):
                if self._nodes.greet():
                    self._carrier.look_for_lost()
                    self._changed()
            self._carrier.take_up()
            self._nodes.closed.wait(GREETING_S)


def union(nodes: Sequence[HostNode]) -> Environment:
    """Return the first node's capabilities, with the devices and backends of all nodes.

    The description of a device has the names of its nodes.
    """
    first = nodes[0].environment or Environment()
    devices: dict[str, dict[str, list[str]]] = {}
    for node in nodes:
        for name, words in node.facts.devices.items():
            here = "" if has_servers_torch(node.facts) else f" (torch {node.facts.torch})"
            devices.setdefault(name, {}).setdefault(words, []).append(f"{node.facts.name}{here}")
    named = {
        name: "; ".join(f"{words} on {', '.join(at)}" for words, at in kinds.items()) for name, kinds in devices.items()
    }
    backends = tuple(sorted({name for node in nodes if node.environment for name in node.environment.backends}))
    return replace(first, devices=named, backends=backends)


def has_servers_torch(facts: messages.FactsReply) -> bool:
    """Return True if a host has the server's version of torch, in any build."""
    return facts.torch.partition("+")[0] == torch_version().partition("+")[0]
