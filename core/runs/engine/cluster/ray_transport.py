"""Ray as the transport to hosts: a bridge process that is started again whenever it ends."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import threading
import time
from concurrent.futures import Future
from importlib.util import find_spec
from typing import Any

from core.base.errors import CompileboardError, NodeError, SettingError
from core.base.files import one_line
from core.base.machine import PROJECT_DIR, own_process, python_path
from core.base.words import limit_s as in_seconds
from core.runs.engine.cluster.ray_bridge import (
    BridgeCall,
    BridgeNodes,
    BridgeProblem,
    BridgeReply,
    FromBridge,
    read_frame,
    write_frame,
)

# Seconds without news of the nodes after which nothing is known of them, and between two starts of the bridge.
SILENT_S, RETRY_S = 10.0, 2.0
# Beyond a call's limit, for the bridge itself.
GRACE_S = 5.0
MISSING = "COMPILEBOARD_ENGINE names a Ray cluster, but Ray is not installed: pip install -r requirements-ray.txt"


class RayTransport:
    """Hosts on the nodes of a Ray cluster at `address`, `ray://HOST:PORT`.

    A node of an earlier start of the cluster does not answer, and is never lost: its host may be there again, with what
    it has kept, on another node of the same machine. Raises SettingError if Ray is not installed.
    """

    scheme = "ray"

    def __init__(self, address: str, code_allowed: bool = True) -> None:
        if find_spec("ray") is None:
            raise SettingError(MISSING)
        self._command = own_process(
            "core.runs.engine.cluster.ray_bridge", address, "code" if code_allowed else "samples"
        )
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._waiting: dict[int, Future[BridgeReply]] = {}
        self._peers: dict[str, bool] = {}
        self._heard_s = 0.0
        self._problem = f"the Ray cluster at {address} has not answered yet"
        self._closed = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        threading.Thread(target=self._keep_running, daemon=True).start()

    def peers(self) -> dict[str, bool]:
        """Return the nodes of the cluster; raises NodeError while it does not answer."""
        if time.monotonic() - self._heard_s > SILENT_S or not self._heard_s:
            raise NodeError(self._problem)
        return dict(self._peers)

    def call(self, peer: str, data: bytes, limit_s: float) -> bytes:
        """Return a host's reply to a call; raises NodeError if there is none in time."""
        number, reply = next(self._numbers), Future[BridgeReply]()
        with self._lock:
            process = self._process
            if process is None or process.stdin is None:
                raise NodeError(self._problem)
            self._waiting[number] = reply
            try:
                write_frame(process.stdin, BridgeCall(number, peer.rpartition("/")[2], data, limit_s))  # type: ignore[arg-type]
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
        """End the bridge; the hosts go on."""
        self._closed.set()
        self._end()

    def _keep_running(self) -> None:
        while not self._closed.is_set():
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=PROJECT_DIR,
                env={**os.environ, "PYTHONPATH": python_path(), "RAY_USAGE_STATS_ENABLED": "0"},
                start_new_session=True,
            )
            self._process = process
            with contextlib.suppress(OSError, CompileboardError):
                self._listen(process)
            self._end()
            self._closed.wait(RETRY_S)

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        while (message := read_frame(process.stdout, FromBridge)) is not None:  # type: ignore[arg-type]
            self._take(message)

    def _take(self, message: Any) -> None:
        match message:
            case BridgeNodes():
                prefix = f"{message.cluster}/"
                earlier = {peer: False for peer in self._peers if not peer.startswith(prefix)}
                self._peers = earlier | {f"{prefix}{node}": True for node in message.nodes}
                self._heard_s = time.monotonic()
            case BridgeReply():
                if (reply := self._waiting.pop(message.number, None)) is not None:
                    reply.set_result(message)
            case BridgeProblem():
                self._problem = f"the Ray cluster does not answer: {one_line(message.why, 600)}"

    def _end(self) -> None:
        """End the bridge, and the calls that wait for it."""
        with self._lock:
            process, self._process = self._process, None
            waiting = list(self._waiting.values())
        self._heard_s = 0.0
        if process is not None:
            process.kill()
            process.wait()
        for reply in waiting:
            with contextlib.suppress(Exception):
                reply.set_result(BridgeReply(0, why=self._problem))
