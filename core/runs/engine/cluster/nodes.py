"""Nodes of a server: the hosts behind a transport, their facts, and calls to the hosts."""

import contextlib
import math
import re
import secrets
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeVar

import msgspec

from core.base.errors import CompileboardError, DecodeError, NodeError, SilentNodeError, StoreError, WorkerError
from core.base.files import in_words, one_line, read_line
from core.base.machine import Environment
from core.base.words import agree
from core.runs.engine.cluster import messages
from core.runs.engine.queues import Shortage
from core.runs.store import Store

HELLO_S, CALL_S, LONG_CALL_S, RETRY_S = 10.0, 30.0, 300.0, 1.0
# Hosts that are greeted in a second, and in parallel.
GREETED, GREETED_AT_ONCE = 50, 16
MOST_NAME_CHARS = 80  #: the name of a host in a message
MOST_REASON_CHARS = 600  #: a host's reason in a message
HOST_ID = re.compile(r"[0-9a-f]{16}")
R = TypeVar("R", bound=messages.HostReply)


class Transport(Protocol):
    """A connection to hosts. Safe to use from threads."""

    scheme: str

    def peers(self) -> Mapping[str, bool]:
        """Return the hosts by the transport's names, each with True if it can be called.

        Hosts that are lost for good are left out. Raises NodeError while the hosts are unknown.
        """

    def call(self, peer: str, data: bytes, limit_s: float) -> bytes:
        """Return a host's reply to a call; raises NodeError if none comes in time."""

    def close(self) -> None:
        """End the connections; the hosts continue."""


@dataclass(slots=True)
class HostNode:
    """A host: its name in the transport, and its facts. `lost` is True if the host will not come back."""

    peer: str
    facts: messages.FactsReply
    environment: Environment | None = None
    lost: bool = False
    answers: bool = True

    def has(self, device: str) -> bool:
        """Return True if the host can execute a run on a device now."""
        return self.answers and not self.lost and device in self.facts.devices


class Nodes:
    """The hosts behind a transport, as nodes of one server and its store. Safe to use from threads.

    Setting `closed` ends all waits. If `code_allowed` is False, the server uses no host that runs visitors' code.
    """

    def __init__(self, store: Store, transport: Transport, code_allowed: bool) -> None:
        self.closed = threading.Event()
        self.transport = transport
        self.store_id, self.server = _store_id(store), secrets.token_hex(8)
        # When hosts were greeted last, by the transport's names.
        self._greeted_s: dict[str, float] = {}
        # Why a host that answers is not used, and why the transport does not list the hosts.
        self._refused = self._problem = ""
        self._code_allowed = code_allowed
        self._nodes: dict[str, HostNode] = {}
        self._naming = threading.Lock()
        # Host → its name here, which no other host has.
        self._names: dict[str, str] = {}
        # Sweep → the kind of the nodes that measure its cells.
        self._kinds: dict[str, str] = {}

    def all(self) -> dict[str, HostNode]:
        """Return the nodes by their hosts' ids, including lost nodes."""
        return dict(self._nodes)

    def name(self, host: str) -> str:
        """Return the name of a host; its id if the host is unknown."""
        node = self._nodes.get(host)
        return node.facts.name if node else host

    def handle(self, host: str) -> str:
        """Return the handle of a host's runs."""
        return f"{self.transport.scheme}:{host}"

    def host_of(self, handle: str) -> str | None:
        """Return the host in a handle of this engine; None for a handle of another engine."""
        scheme, _, host = handle.partition(":")
        return host if scheme == self.transport.scheme and HOST_ID.fullmatch(host) else None

    def with_device(self, device: str, alike: str, busy: Collection[str]) -> tuple[str, ...]:
        """Return the hosts with a device, ordered by their number of runs in `busy`.

        Runs with the same `alike`, such as the cells of a sweep, get hosts of one kind. The kind is fixed for the
        first of these runs: it is then the most common kind.
        """
        able = [(host, node.facts) for host, node in self.all().items() if node.has(device)]
        if alike and able:
            commonest = Counter(facts.kind for _, facts in able).most_common(1)[0][0]
            kind = self._kinds.setdefault(alike, commonest)
            able = [(host, facts) for host, facts in able if facts.kind == kind]
        runs = Counter(busy)
        return tuple(host for host, facts in sorted(able, key=lambda pair: (runs[pair[0]], pair[1].name, pair[0])))

    def refusal(self, device: str) -> str:
        """Return why no node can execute a run on a device; empty if one can, or may once it reports."""
        nodes = [node.facts for node in self._nodes.copy().values() if not node.lost]
        if not nodes or any(device in facts.devices or not (facts.devices or facts.problem) for facts in nodes):
            return ""
        offered = sorted({name for facts in nodes for name in facts.devices})
        problems = sorted({f"{facts.name}: {facts.problem}" for facts in nodes if facts.problem})
        have = f"the nodes have {', '.join(offered)}" if offered else f"torch does not start: {'; '.join(problems)}"
        return f"no node has it; {have}"

    def shortage(self, device: str) -> Shortage | None:
        """Return the reason why no node can execute a run on a device now; None if a node can."""
        nodes = [node for node in self.all().values() if not node.lost]
        if any(node.has(device) for node in nodes):
            return None
        if refusal := self._problem or self.refusal(device):
            return Shortage(refusal)
        starting = sorted(node.facts.name for node in nodes if node.answers and not node.facts.devices)
        if starting:
            return Shortage(f"torch is starting on {', '.join(starting)}", is_starting=True)
        if silent := self.silent():
            return Shortage(f"{', '.join(silent)} {agree(len(silent), 'does', 'do')} not answer")
        return Shortage(self._refused or "no node has answered yet")

    def greet(self) -> bool:
        """Greet the hosts greeted longest ago; return True if one has changed. Raises NodeError."""
        before = self._states()
        peers, self._problem = self._peers(), ""
        for node in self.all().values():
            node.lost = node.peer not in peers
            # A host that did not reply to a greeting counts as silent until it replies to one.
            node.answers = node.answers and peers.get(node.peer, False)
        # One that is slow to answer keeps no other from being heard.
        with ThreadPoolExecutor(GREETED_AT_ONCE) as threads:
            threads.map(self._greet_peer, self._due([peer for peer, can_be_called in peers.items() if can_be_called]))
        return before != self._states()

    def _peers(self) -> Mapping[str, bool]:
        """Return the transport's hosts; raises NodeError while they are unknown, and then no host answers."""
        try:
            return self.transport.peers()
        except NodeError as error:
            self._problem = str(error)
            for node in self.all().values():
                node.answers = False
            raise

    def _due(self, peers: Sequence[str]) -> list[str]:
        """Return the hosts to greet now: at most `GREETED`, those greeted longest ago first."""
        due = sorted(peers, key=lambda peer: self._greeted_s.get(peer, -math.inf))[:GREETED]
        now_s = time.monotonic()
        earlier = {peer: greeted_s for peer, greeted_s in self._greeted_s.items() if peer in peers}
        self._greeted_s = earlier | dict.fromkeys(due, now_s)
        return due

    @contextlib.contextmanager
    def unless_lost(self, host: str) -> Iterator[None]:
        """Suppress a NodeError after a wait of `RETRY_S` seconds, unless node or server are gone."""
        try:
            yield
        except NodeError:
            node = self._nodes.get(host)
            if node is None or node.lost or self.closed.wait(RETRY_S):
                raise

    def require_answers(self, host: str) -> None:
        """Raise SilentNodeError if a host does not answer, or is lost."""
        node = self._nodes.get(host)
        if node is None or node.lost:
            raise SilentNodeError(f"the node {self.name(host)} was lost")
        if not node.answers:
            raise SilentNodeError(f"the node {self.name(host)} does not answer")

    def silent(self) -> tuple[str, ...]:
        """Return the names of the nodes that do not answer and may come back."""
        return tuple(sorted(node.facts.name for node in self.all().values() if not (node.answers or node.lost)))

    def call_in_background(self, host: str, call: messages.HostCall) -> None:
        """Make a call without waiting for it."""
        threading.Thread(target=self.try_call, args=(host, call), daemon=True).start()

    def try_call(self, host: str, call: messages.HostCall) -> None:
        """Make a call, and ignore its reply and its errors."""
        with contextlib.suppress(CompileboardError):
            self.call(host, call, messages.DoneReply)

    def call(self, host: str, call: messages.HostCall, kind: type[R], limit_s: float = CALL_S) -> R:
        """Return a host's reply; raises NodeError without one in time, WorkerError if the call fails."""
        node = self._nodes.get(host)
        if node is None or node.lost:
            raise NodeError(f"the node {self.name(host)} was lost")
        return self._ask(node.peer, call, kind, limit_s)

    def _ask(self, peer: str, call: messages.HostCall, kind: type[R], limit_s: float = CALL_S) -> R:
        try:
            reply = messages.reply_of(self.transport.call(peer, messages.packed(call), limit_s))
        except DecodeError as error:
            raise NodeError(f"a node's reply cannot be read: {error}") from None
        if isinstance(reply, messages.FailureReply):
            raise WorkerError(one_line(reply.why, MOST_REASON_CHARS), reply.signal)
        if not isinstance(reply, kind):
            raise NodeError("a node's reply is not one to this call")
        return reply

    def _greet_peer(self, peer: str) -> None:
        try:
            facts = self._ask(peer, messages.HelloCall(self.store_id, self.server), messages.FactsReply, HELLO_S)
            if refusal := self._why_not(facts):
                self._refused = refusal
                return
            node = self._nodes.get(facts.host) or HostNode(peer, facts)
            if facts.torch and (node.environment is None or node.environment.torch != facts.torch):
                node.environment = self._ask(peer, messages.DescribeCall(), messages.DescriptionReply).environment
            named = msgspec.structs.replace(facts, name=self._distinct_name(facts))
            node.peer, node.facts, node.answers, node.lost = peer, named, True, False
            self._nodes[facts.host] = node
        except CompileboardError:
            for node in self.all().values():
                node.answers = node.answers and node.peer != peer

    def _distinct_name(self, facts: messages.FactsReply) -> str:
        """Return a host's name, with the begin of its id if another host has the name."""
        longer = f"{facts.name}#{facts.host[:6]}"
        with self._naming:
            gone = {facts.host, *(host for host, node in self._nodes.items() if node.lost)}
            is_taken = facts.name in {name for host, name in self._names.items() if host not in gone}
            if self._names.get(facts.host) not in (facts.name, longer):
                self._names[facts.host] = longer if is_taken else facts.name
            return self._names[facts.host]

    def _why_not(self, facts: messages.FactsReply) -> str:
        """Return why this server does not use a host; empty if it does."""
        name = one_line(facts.name, MOST_NAME_CHARS)
        if facts.protocol != messages.PROTOCOL:
            return f"the node {name} has another version of Compileboard; install the server's there"
        if facts.code_allowed and not self._code_allowed:
            return f"the node {name} runs visitors' code, which this server forbids; start it with --samples-only"
        return ""

    def _states(self) -> dict[str, tuple[object, ...]]:
        return {host: (node.lost, node.answers, node.facts.devices) for host, node in self.all().items()}


def _store_id(store: Store) -> str:
    """Return the store's id, which is created on first use; raises StoreError.

    The id separates the store's runs from the runs of other stores on a host.
    """
    path = store.home / "store-id"
    with in_words(store.home):
        if not path.exists():
            with contextlib.suppress(FileExistsError), path.open("x") as file:
                file.write(secrets.token_hex(8))
        text = read_line(path, 16)
    if not HOST_ID.fullmatch(text):
        raise StoreError(f"{path} holds no id; remove it, and try again")
    return text
