"""Engine of the hosts behind a transport: places runs, carries their directories both ways, and notices lost nodes.

A run's handle is `<scheme>:<host>`: its host answers for it, whichever server asks. Each run that this server carries
has a thread; the runs of a server that has ended are carried by another over the same store.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, TypeVar

from core.base.errors import CompileboardError, DecodeError, NodeError, StoreError, WorkerError
from core.base.files import OWNER_ALONE, in_words, one_line, read_line
from core.base.machine import Environment
from core.base.words import gib
from core.job.prepared import torch_version
from core.runs.engine.cluster import directory
from core.runs.engine.cluster.messages import (
    PROTOCOL,
    Call,
    Cancel,
    Deliver,
    Describe,
    Description,
    Done,
    EndTurn,
    Entries,
    Entry,
    Facts,
    Failure,
    Forget,
    Hello,
    Lack,
    Listing,
    Piece,
    Poll,
    Prepare,
    Progress,
    Read,
    Reply,
    Start,
    TakeTurn,
    Turn,
    packed,
    reply_of,
)
from core.runs.engine.handles import LocalLiveness, engine_of
from core.runs.engine.protocol import Assignment
from core.runs.status import State, Status
from core.runs.store import Run, Store
from core.runs.tools import read_task

CALL_S, LONG_CALL_S = 30.0, 300.0
HELLO_S, RETRY_S, CANCEL_S = 1.0, 1.0, 2.0
# Between two looks at a run: until its first bytes, and then, when more of them would disturb what is measured.
FIRST_POLL_S, POLL_S = 0.01, 0.1
# Seconds until torch of a first node must have started, and for `close` to see runs end.
FIRST_NODE_S, CLOSE_S = 120.0, 10.0
# A host that does not answer has ended its run by the run's own time limit, and so many seconds.
OVERDUE_S = 60.0
MOST_NAME_CHARS, MOST_REASON_CHARS = 80, 600
# Locks of the runs that servers carry, and what they collect.
CARRIED = "carried"
CLOSED = "the engine has been closed"
HOST = re.compile(r"[0-9a-f]{16}")
R = TypeVar("R", bound=Reply)


class Transport(Protocol):
    """A way to hosts. Safe to use from threads."""

    scheme: str

    def peers(self) -> Mapping[str, bool]:
        """Return the hosts by the transport's names, and whether each can be called.

        One that is lost for good is not in it. Raises NodeError while that is unknown.
        """

    def call(self, peer: str, data: bytes, limit_s: float) -> bytes:
        """Return a host's reply to a call; raises NodeError if none comes in time."""

    def close(self) -> None:
        """End the connections; the hosts go on."""


@dataclass(slots=True)
class _Node:
    """A host: where it is called, and what it says about itself. `lost` is True once it is gone for good."""

    peer: str
    facts: Facts
    environment: Environment | None = None
    lost: bool = False
    answers: bool = True


@dataclass(slots=True)
class _Carried:
    """A run that this server carries, with the locked file that says so, and its start, which may be repeated.

    `sizes` are the bytes of its growing files here; `over` is set once it is carried no longer.
    """

    run: Run
    host: str
    lock: int
    ended: Callable[[], None]
    start: Start | None
    cancelled: bool = False
    sizes: dict[str, int] = field(default_factory=dict)
    over: threading.Event = field(default_factory=threading.Event)


class RemoteEngine(LocalLiveness):
    """Hosts behind a transport, as one engine over a store.

    A server's runs wait in its own queue, so that it owns them as a process of this machine. A run on a host is live
    until its end is written here, which some server over the store does, also if its node is lost.

    `code_allowed` is False if it must use no host that runs visitors' code.
    """

    def __init__(self, store: Store, transport: Transport, code_allowed: bool = True) -> None:
        self._store = store
        self._transport = transport
        self._code_allowed = code_allowed
        self._store_id, self._server = _store_id(store), secrets.token_hex(8)
        self._lock = threading.Lock()
        self._nodes: dict[str, _Node] = {}
        self._carried: dict[Path, _Carried] = {}
        self._turns: dict[Path, str] = {}
        # Sweep → the kind of the nodes that measure its cells.
        self._kinds: dict[str, str] = {}
        self._closed = threading.Event()
        self._refused = ""
        self._unseen: set[Run] = set()
        self._changed: Callable[[], None] = lambda: None
        threading.Thread(target=self._watch, daemon=True).start()

    def nodes(self, device: str, alike: str = "") -> tuple[str, ...]:
        """Return the hosts with a device, those without a run first.

        What must be measured alike (`alike`, the cells of a sweep) gets hosts of one kind: the commonest at its begin.
        """
        able = [(host, node.facts) for host, node in list(self._nodes.items()) if _is_able(node, device)]
        if alike and able:
            commonest = Counter(facts.kind for _, facts in able).most_common(1)[0][0]
            kind = self._kinds.setdefault(alike, commonest)
            able = [(host, facts) for host, facts in able if facts.kind == kind]
        busy = Counter(carried.host for carried in list(self._carried.values()))
        return tuple(host for host, facts in sorted(able, key=lambda pair: (busy[pair[0]], pair[1].name, pair[0])))

    def refusal(self, device: str) -> str:
        """Return why no node can execute a run on a device; empty if one can, or while one has not said it yet."""
        nodes = [node.facts for node in list(self._nodes.values()) if not node.lost]
        if not nodes or any(device in facts.devices or not (facts.devices or facts.problem) for facts in nodes):
            return ""
        offered = sorted({name for facts in nodes for name in facts.devices})
        return f"no node has it; the nodes have {', '.join(offered) or 'no torch that starts'}"

    def prepare(self, assignment: Assignment) -> None:
        """Wait until the torch that an assignment needs has started on its node; raises WorkerError."""
        if not assignment.target and not self.lacks(assignment):
            return
        while self._lack(assignment):
            if self._closed.wait(POLL_S):
                raise WorkerError(CLOSED)

    def lacks(self, assignment: Assignment) -> str:
        """Return the torch that must start on the assignment's node; empty if it runs."""
        node = self._nodes.get(assignment.node)
        if node is None or (node.answers and node.facts.devices):
            return ""
        return f"torch on {node.facts.name}" if node.answers else f"the node {node.facts.name}, which does not answer"

    def take_turn(self, assignment: Assignment) -> bool:
        """Lock the assignment's device on its node; False if another server measures there, or it does not answer."""
        run = assignment.run
        key = self._key(run)
        call = TakeTurn(self._store_id, key, self._server, assignment.device, assignment.measures)
        with self._unless_lost(assignment.node):
            if self._call(assignment.node, call, Turn).taken:
                self._turns[run.path] = assignment.node
                return True
        return False

    def end_turn(self, run: Run) -> None:
        """Release the device lock of a run, if it has one, in the background."""
        host = self._turns.pop(run.path, None)
        if host is not None:
            self._in_background(host, EndTurn(self._store_id, self._key(run)))

    def start(self, assignment: Assignment, ended: Callable[[], None]) -> None:
        """Deliver a run to its node and start it there; raises WorkerError.

        If no reply to the start comes, the run counts as started until its node says otherwise.
        """
        run, host, key = assignment.run, assignment.node, self._key(assignment.run)
        files = directory.parcel(run.path)
        self._call(host, Deliver(self._store_id, key, directory.digest(files), files), Done, LONG_CALL_S)
        start = Start(self._store_id, key, assignment.target, assignment.device, assignment.measures)
        carried = self._carry(run, host, ended, start)
        if carried is None:
            raise WorkerError("another server carries this run")
        try:
            self._write_running(run, host)
            with self._unless_lost(host):
                self._call(host, start, Done)
        except CompileboardError:
            self._drop(carried)
            raise
        threading.Thread(target=self._follow, args=(carried,), daemon=True).start()

    def cancel(self, run: Run) -> None:
        """Request the end of a run from its host, again and again until it has ended; raises WorkerError."""
        handle = run.written_status().handle
        host = self._host_of(handle)
        if host is None:
            if name := engine_of(handle):
                raise WorkerError(f"the run belongs to the engine `{name}`; cancel it from a server that uses it")
            return
        if (carried := self._carried.get(run.path)) is not None:
            carried.cancelled = True
        self._in_background(host, Cancel(self._store_id, self._key(run)))

    def warm_up(self) -> None:
        """Do nothing: each host starts its torch by itself."""

    def environment(self) -> Environment:
        """Return the union of all nodes; waits for the first. Raises WorkerError if none answers."""
        end_s = time.monotonic() + FIRST_NODE_S
        while not (nodes := [node for node in list(self._nodes.values()) if node.environment]):
            if time.monotonic() > end_s or self._closed.wait(POLL_S):
                raise WorkerError(self._refused or "no node has answered yet; start one, and try again")
        return union(nodes)

    def on_change(self, changed: Callable[[], None]) -> None:
        """Call `changed` whenever nodes come or go."""
        self._changed = changed

    def close(self) -> None:
        """End the runs that this server carries, and the connections; the hosts go on."""
        carried = list(self._carried.values())
        for each in carried:
            with contextlib.suppress(CompileboardError):
                self.cancel(each.run)
        end_s = time.monotonic() + CLOSE_S
        for each in carried:
            each.over.wait(max(0.0, end_s - time.monotonic()))
        self._closed.set()
        self._transport.close()

    def _lack(self, assignment: Assignment) -> str:
        with self._unless_lost(assignment.node):
            return self._call(assignment.node, Prepare(assignment.target), Lack).words
        return "an answer"

    def _write_running(self, run: Run, host: str) -> None:
        """Write the status of a run that starts: from now on its host answers for it."""
        status, facts = run.written_status(), self._nodes[host].facts
        handle = f"{self._transport.scheme}:{host}"
        running = replace(status, state="running", started_s=time.time(), handle=handle, node=facts.name)
        # A run of another torch is not reused for a job of this one.
        run.write_status(running if _same_torch(facts) else replace(running, fingerprint=""))

    def _watch(self) -> None:
        """Greet the hosts, notice those that are lost, and carry the runs of servers that have ended."""
        self._unseen = self._live_elsewhere()
        while not self._closed.is_set():
            with contextlib.suppress(CompileboardError):
                if self._greet():
                    self._unseen |= self._live_elsewhere()
                    self._changed()
            self._take_up()
            self._closed.wait(HELLO_S)

    def _greet(self) -> bool:
        """Greet all hosts; return True if one came, is lost, or can execute more than before. Raises NodeError."""
        before = {host: (node.lost, node.answers, node.facts.devices) for host, node in self._nodes.items()}
        peers = self._transport.peers()
        for node in list(self._nodes.values()):
            node.lost = node.peer not in peers
            node.answers = peers.get(node.peer, False)
        for peer in (peer for peer, can_be_called in peers.items() if can_be_called):
            self._greet_peer(peer)
        return before != {host: (node.lost, node.answers, node.facts.devices) for host, node in self._nodes.items()}

    def _greet_peer(self, peer: str) -> None:
        try:
            facts = self._ask(peer, Hello(self._store_id, self._server), Facts)
            if refusal := self._why_not(facts):
                self._refused = refusal
                return
            node = self._nodes.get(facts.host) or _Node(peer, facts)
            if facts.torch and (node.environment is None or node.environment.torch != facts.torch):
                node.environment = self._ask(peer, Describe(), Description).environment
            node.peer, node.facts, node.answers, node.lost = peer, facts, True, False
            self._nodes[facts.host] = node
        except CompileboardError:
            for node in list(self._nodes.values()):
                node.answers = node.answers and node.peer != peer

    def _why_not(self, facts: Facts) -> str:
        """Return why this server does not use a host; empty if it does."""
        name = one_line(facts.name, MOST_NAME_CHARS)
        if facts.protocol != PROTOCOL:
            return f"the node {name} has another version of Compileboard; install the server's there"
        if facts.code_allowed and not self._code_allowed:
            return f"the node {name} runs visitors' code, which this server forbids; start it with --samples-only"
        return ""

    def _take_up(self) -> None:
        """Carry the runs on the hosts that no server carries any more, and close those that are lost."""
        for host, node in list(self._nodes.items()):
            for key in node.facts.runs if node.answers and not node.lost else ():
                with contextlib.suppress(CompileboardError):
                    self._take_up_run(self._run(key), host)
        for run in list(self._unseen):
            with contextlib.suppress(CompileboardError):
                self._close_if_lost(run)

    def _take_up_run(self, run: Run, host: str) -> None:
        """Carry a run that its host has, if nobody does; have it removed there if it has ended here."""
        status = run.status() if run.path.is_dir() else None
        if run.path in self._carried:
            return
        if status is None or not status.live:
            for call in (Cancel(self._store_id, self._key(run)), Forget(self._store_id, self._key(run))):
                self._try(host, call)
        elif self._host_of(status.handle) == host and (carried := self._carry(run, host)):
            threading.Thread(target=self._follow, args=(carried,), daemon=True).start()

    def _close_if_lost(self, run: Run) -> None:
        """Write the end of a run whose host is lost, and that no server carries."""
        status = run.written_status() if run.path.is_dir() else None
        host = self._host_of(status.handle) if status and status.live else None
        if status is None or host is None:
            self._unseen.discard(run)
        elif run.path not in self._carried and self._is_lost(host, run) and (carried := self._carry(run, host)):
            self._end_lost(carried)
            self._drop(carried)

    def _live_elsewhere(self) -> set[Run]:
        """Return the stored runs that are live on a host of this engine."""
        return {run for run, status in self._store.list() if status.live and self._host_of(status.handle)}

    def _carry(
        self, run: Run, host: str, ended: Callable[[], None] = lambda: None, start: Start | None = None
    ) -> _Carried | None:
        """Claim a run for this server; None if another one carries it."""
        folder = self._store.home / CARRIED
        with in_words(folder), self._lock:
            folder.mkdir(exist_ok=True, mode=OWNER_ALONE)
            lock = os.open(folder / self._file_name(run), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(lock)
                return None
            return self._carried.setdefault(run.path, _Carried(run, host, lock, ended, start))

    def _drop(self, carried: _Carried) -> None:
        """Release a run that is carried no longer."""
        with self._lock, contextlib.suppress(OSError):
            self._carried.pop(carried.run.path, None)
            os.unlink(self._store.home / CARRIED / self._file_name(carried.run))
            os.close(carried.lock)
        carried.over.set()

    def _follow(self, carried: _Carried) -> None:
        """Carry a run's new bytes until it has ended, then all that it has left."""
        cancel_s = 0.0
        while not self._closed.wait(POLL_S if carried.sizes else FIRST_POLL_S):
            try:
                if carried.cancelled and time.monotonic() > cancel_s:
                    cancel_s = time.monotonic() + CANCEL_S
                    self._try(carried.host, Cancel(self._store_id, self._key(carried.run)))
                if self._step(carried):
                    break
            except NodeError:
                if self._is_lost(carried.host, carried.run):
                    self._end_lost(carried)
                    break
                self._closed.wait(RETRY_S)
            except (CompileboardError, OSError) as error:
                self._end(carried, "crashed", f"its files could not be carried here: {error}")
                break
        else:
            self._drop(carried)
            return
        self._drop(carried)
        carried.ended()

    def _step(self, carried: _Carried) -> bool:
        """Take the new bytes of a run; return True once it has ended and all of it is here."""
        run, key = carried.run, self._key(carried.run)
        progress = self._call(carried.host, Poll(self._store_id, key, carried.sizes), Progress)
        for new in progress.pieces:
            carried.sizes[new.name] = directory.append(run.path, new)
        if progress.status is None:
            self._end(carried, "interrupted", "its node no longer has it")
            return True
        if progress.live:
            if progress.status.state == "queued" and carried.start and not carried.cancelled:
                self._call(carried.host, carried.start, Done)
            return False
        self._collect(carried)
        run.write_status(_ended(run.written_status(), progress.status))
        self._try(carried.host, Forget(self._store_id, key))
        return True

    def _collect(self, carried: _Carried) -> None:
        """Fetch each file of an ended run that differs from the one here."""
        run, room = carried.run, directory.MOST_COLLECTED_BYTES
        listed = self._call(carried.host, Listing(self._store_id, self._key(run)), Entries, LONG_CALL_S)
        with in_words(run.path), TemporaryDirectory(dir=self._store.home / CARRIED) as scratch:
            for entry in listed.files:
                directory.check_name(entry.name)
                room -= entry.size
                if room < 0:
                    raise StoreError(f"they are larger than {gib(directory.MOST_COLLECTED_BYTES)}")
                if not directory.has(run.path, entry):
                    directory.place(run.path, entry.name, self._fetch(carried, entry, Path(scratch) / "file"))

    def _fetch(self, carried: _Carried, entry: Entry, path: Path) -> Path:
        with path.open("wb") as file:
            while file.tell() < entry.size:
                call = Read(self._store_id, self._key(carried.run), entry.name, file.tell())
                data = self._call(carried.host, call, Piece).data
                if not data:
                    raise StoreError(f"{entry.name} ends early")
                file.write(data)
        return path

    def _end_lost(self, carried: _Carried) -> None:
        node = self._nodes.get(carried.host)
        self._end(carried, "interrupted", f"its node {node.facts.name if node else carried.host} was lost")

    def _end(self, carried: _Carried, state: State, reason: str) -> None:
        """Write how a run ended whose host cannot say it."""
        with contextlib.suppress(CompileboardError):
            status = carried.run.written_status()
            if status.live:
                state, reason = (
                    ("cancelled", f"cancelled by the user; {reason}") if carried.cancelled else (state, reason)
                )
                carried.run.write_status(replace(status, state=state, reason=reason, ended_s=time.time(), handle=""))

    def _is_lost(self, host: str, run: Run) -> bool:
        """Return True if nothing of a run can be alive, and its host cannot say how it ended."""
        node = self._nodes.get(host)
        if node is not None and (node.lost or node.answers):
            return node.lost
        limits, status = read_task(run) or run.job(), run.written_status()
        return bool(limits and status.started_s and time.time() > status.started_s + limits.time_limit_s + OVERDUE_S)

    @contextlib.contextmanager
    def _unless_lost(self, host: str) -> Iterator[None]:
        """Leave out what a node does not answer, unless it is lost: then raises NodeError."""
        try:
            yield
        except NodeError:
            node = self._nodes.get(host)
            if node is None or node.lost or self._closed.wait(RETRY_S):
                raise

    def _in_background(self, host: str, call: Call) -> None:
        threading.Thread(target=self._try, args=(host, call), daemon=True).start()

    def _try(self, host: str, call: Call) -> None:
        with contextlib.suppress(CompileboardError):
            self._call(host, call, Done)

    def _call(self, host: str, call: Call, kind: type[R], limit_s: float = CALL_S) -> R:
        """Return the reply of a host; raises NodeError if none comes, WorkerError with the host's reason."""
        node = self._nodes.get(host)
        if node is None or node.lost:
            raise NodeError(f"the node {node.facts.name if node else host} was lost")
        return self._ask(node.peer, call, kind, limit_s)

    def _ask(self, peer: str, call: Call, kind: type[R], limit_s: float = CALL_S) -> R:
        try:
            reply = reply_of(self._transport.call(peer, packed(call), limit_s))
        except DecodeError as error:
            raise NodeError(f"a node's reply cannot be read: {error}") from None
        if isinstance(reply, Failure):
            raise WorkerError(one_line(reply.why, MOST_REASON_CHARS), reply.signal)
        if not isinstance(reply, kind):
            raise NodeError("a node's reply is not one to this call")
        return reply

    def _host_of(self, handle: str) -> str | None:
        """Return the host in a handle of this engine; None for others."""
        scheme, _, host = handle.partition(":")
        return host if scheme == self._transport.scheme and HOST.fullmatch(host) else None

    def _key(self, run: Run) -> str:
        """Return a run's name on its host: its id, or that of a tool's directory in a run."""
        return run.path.relative_to(self._store.runs_dir).as_posix().replace("/tools/", "/")

    def _run(self, key: str) -> Run:
        run, _, tool = key.partition("/")
        path = self._store.runs_dir / run
        return Run(key, path / "tools" / tool if tool else path, self)

    def _file_name(self, run: Run) -> str:
        return self._key(run).replace("/", "+")


def union(nodes: Sequence[_Node]) -> Environment:
    """Return the capabilities of all nodes: the first's, with the devices of all and where they are."""
    first = nodes[0].environment or Environment()
    devices: dict[str, dict[str, list[str]]] = {}
    for node in nodes:
        for name, words in node.facts.devices.items():
            here = "" if _same_torch(node.facts) else f" (torch {node.facts.torch})"
            devices.setdefault(name, {}).setdefault(words, []).append(f"{node.facts.name}{here}")
    named = {
        name: "; ".join(f"{words} on {', '.join(at)}" for words, at in kinds.items()) for name, kinds in devices.items()
    }
    backends = tuple(sorted({name for node in nodes if node.environment for name in node.environment.backends}))
    return replace(first, devices=named, backends=backends)


def _same_torch(facts: Facts) -> bool:
    return facts.torch.partition("+")[0] == torch_version().partition("+")[0]


def _is_able(node: _Node, device: str) -> bool:
    return node.answers and not node.lost and device in node.facts.devices


def _ended(here: Status, there: Status) -> Status:
    """Return the status of an ended run: how it ended there, in the times of this machine's clock."""
    took_s = there.took_s
    ended_s = time.time() if took_s is None or here.started_s is None else here.started_s + took_s
    return replace(
        here,
        state=there.state,
        reason=there.reason,
        exit_code=there.exit_code,
        signal=there.signal,
        peak_memory_bytes=there.peak_memory_bytes,
        ended_s=ended_s,
        handle="",
    )


def _store_id(store: Store) -> str:
    """Return the id by which hosts tell the runs of stores apart, made once; raises StoreError."""
    path = store.home / "store-id"
    with in_words(store.home):
        if not path.exists():
            with contextlib.suppress(FileExistsError), path.open("x") as file:
                file.write(secrets.token_hex(8))
        text = read_line(path, 16)
    if not HOST.fullmatch(text):
        raise StoreError(f"{path} holds no id; remove it, and try again")
    return text
