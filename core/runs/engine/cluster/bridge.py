"""Transport through a bridge: a separate process that is restarted whenever it ends.

Ray has such a bridge. The bridge reads calls. It writes replies, and every second the nodes. Each message is
MessagePack after its length in 4 bytes.
"""

import contextlib
import itertools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, BinaryIO, cast

import msgspec

from core.base.decoder import unpacked_as
from core.base.errors import CompileboardError, NodeError
from core.base.files import one_line
from core.base.machine import PROJECT_DIR, python_path
from core.base.words import limit_s as in_seconds
from core.runs.engine.cluster.messages import Words

LENGTH_BYTES = 4
# What a call has beside its bytes.
MOST_FRAME_BYTES = 65 * 1024**2  #: a message from and to the process of Ray or of the sandbox
# Seconds without news of the nodes after which nothing is known of them, and between two starts of the bridge.
SILENT_S, RETRY_S = 10.0, 2.0
# Beyond a call's limit, for the bridge itself.
GRACE_S = 5.0


class BridgeCall(msgspec.Struct, frozen=True, tag=True):
    """A call to the host of a node."""

    number: int
    node: Words
    data: bytes
    limit_s: float


class BridgeReply(msgspec.Struct, frozen=True, tag=True):
    """The host's reply; without a reply, `why` has the reason."""

    number: int
    data: bytes = b""
    why: Words = ""


class BridgeNodes(msgspec.Struct, frozen=True, tag=True):
    """The nodes that are alive and may have a host.

    `cluster` changes when the cluster's head is restarted.
    """

    cluster: Words
    nodes: tuple[Words, ...]


class BridgeProblem(msgspec.Struct, frozen=True, tag=True):
    """The reason why the cluster cannot be reached; the bridge ends after this message."""

    why: Words


FromBridge = BridgeReply | BridgeNodes | BridgeProblem


def write_frame(file: BinaryIO, message: BridgeCall | FromBridge) -> None:
    """Write a message; raises OSError."""
    data = msgspec.msgpack.encode(message)
    file.write(len(data).to_bytes(LENGTH_BYTES, "big") + data)
    file.flush()


def read_frame(file: BinaryIO, kind: Any) -> Any:
    """Return the next message; None at the end or for an invalid length. Raises OSError, DecodeError."""
    length = int.from_bytes(file.read(LENGTH_BYTES), "big")
    data = file.read(length) if 0 < length <= MOST_FRAME_BYTES else b""
    return unpacked_as(data, kind, MOST_FRAME_BYTES) if data else None


class BridgeOutput:
    """Standard output of a bridge, only for messages; output of libraries goes to standard error."""

    def __init__(self) -> None:
        self._file = os.fdopen(os.dup(1), "wb")
        self._writing = threading.Lock()
        os.dup2(2, 1)

    def write(self, message: FromBridge) -> None:
        """Write a message from any thread; raises OSError."""
        with self._writing:
            write_frame(self._file, message)


def answer_calls(answer: Callable[[BridgeCall], None], at_once: int) -> None:
    """Answer the calls from standard input, up to `at_once` in parallel, until the input ends."""
    with ThreadPoolExecutor(at_once) as threads:
        while (call := read_frame(sys.stdin.buffer, BridgeCall)) is not None:
            threads.submit(answer, call)


class BridgeTransport:
    """Transport to the hosts behind a bridge, which `command` starts.

    `name` describes the target of the bridge in error messages. If `keeps_earlier`, the nodes of an earlier
    cluster are never lost: they can't be called, but they may come back. `environment` is the bridge's environment;
    None for that of this process.
    """

    def __init__(
        self,
        scheme: str,
        name: str,
        command: Sequence[str],
        keeps_earlier: bool,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.scheme = scheme
        self._name = name
        self._command = command
        self._keeps_earlier = keeps_earlier
        self._environment = environment
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._waiting: dict[int, Future[BridgeReply]] = {}
        self._peers: dict[str, bool] = {}
        self._heard_s = 0.0
        self._problem = f"{name} has not answered yet"
        self._closed = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        threading.Thread(target=self._keep_running, daemon=True).start()

    def peers(self) -> dict[str, bool]:
        if time.monotonic() - self._heard_s > SILENT_S or not self._heard_s:
            raise NodeError(self._problem)
        return dict(self._peers)

    def call(self, peer: str, data: bytes, limit_s: float) -> bytes:
        number, reply = next(self._numbers), Future[BridgeReply]()
        with self._lock:
            process = self._process
            if process is None or process.stdin is None:
                raise NodeError(self._problem)
            self._waiting[number] = reply
            try:
                write_frame(cast("BinaryIO", process.stdin), BridgeCall(number, peer.rpartition("/")[2], data, limit_s))
            except (OSError, ValueError):
                self._waiting.pop(number, None)
                raise NodeError(self._problem) from None
        try:
            answer = reply.result(limit_s + GRACE_S)
        except TimeoutError:
            raise NodeError(f"the node does not answer within {in_seconds(limit_s)}") from None
        finally:
            self._waiting.pop(number, None)
        if answer.why:
            raise NodeError(f"the node does not answer: {one_line(answer.why, 600)}")
        return answer.data

    def close(self) -> None:
        """End the bridge; the hosts continue."""
        self._closed.set()
        self._end()

    def _keep_running(self) -> None:
        while not self._closed.is_set():
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=PROJECT_DIR,
                env=self._environment or {**os.environ, "PYTHONPATH": python_path()},
                start_new_session=True,
            )
            self._process = process
            with contextlib.suppress(OSError, CompileboardError):
                self._listen(process)
            self._end()
            self._closed.wait(RETRY_S)

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        while (message := read_frame(cast("BinaryIO", process.stdout), FromBridge)) is not None:
            self._take(message)

    def _take(self, message: Any) -> None:
        match message:
            case BridgeNodes():
                prefix = f"{message.cluster}/"
                earlier = {peer: False for peer in self._peers if not peer.startswith(prefix)}
                self._peers = (earlier if self._keeps_earlier else {}) | {
                    f"{prefix}{node}": True for node in message.nodes
                }
                self._heard_s = time.monotonic()
            case BridgeReply():
                if (reply := self._waiting.pop(message.number, None)) is not None:
                    reply.set_result(message)
            case BridgeProblem():
                self._problem = f"{self._name} does not answer: {one_line(message.why, 600)}"

    def _end(self) -> None:
        """End the bridge process, and fail the calls that wait for replies."""
        with self._lock:
            process, self._process = self._process, None
            waiting = list(self._waiting.values())
        self._heard_s = 0.0
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    cast("BinaryIO", pipe).close()
        for reply in waiting:
            with contextlib.suppress(Exception):
                reply.set_result(BridgeReply(0, why=self._problem))
