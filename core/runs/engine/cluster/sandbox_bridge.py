"""Host in a sandbox, as a bridge to itself; `sandbox` starts this process."""

from __future__ import annotations

import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO

from core.runs.engine.cluster.bridge import (
    BridgeCall,
    BridgeNodes,
    BridgeReply,
    FromBridge,
    read_frame,
    write_frame,
)
from core.runs.engine.cluster.host import Host

NODES_S = 1.0
# Calls that are answered at once: a large file keeps no other call waiting.
THREADS = 8


class BridgedHost:
    """The host, and where its replies go."""

    def __init__(self, name: str, output: BinaryIO) -> None:
        self._host = Host(name=name)
        self._output = output
        self._writing = threading.Lock()

    def report(self) -> None:
        """Write every second that the host is there."""
        while True:
            self._write(BridgeNodes(self._host.id, (self._host.id,)))
            time.sleep(NODES_S)

    def answer(self, call: BridgeCall) -> None:
        """Answer a call."""
        self._write(BridgeReply(call.number, self._host.answer(call.data)))

    def close(self) -> None:
        """End all runs."""
        self._host.close()

    def _write(self, message: FromBridge) -> None:
        with self._writing:
            write_frame(self._output, message)


def main(name: str) -> None:
    """Answer calls until the input ends."""
    # Whatever a library prints goes to standard error.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    bridge = BridgedHost(name, output)
    threading.Thread(target=bridge.report, daemon=True).start()
    with ThreadPoolExecutor(THREADS) as threads:
        while (call := read_frame(sys.stdin.buffer, BridgeCall)) is not None:
            threads.submit(bridge.answer, call)
    bridge.close()
    # Calls that hang would keep the process.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
