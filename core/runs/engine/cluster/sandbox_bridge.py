"""Host in a sandbox, as a bridge to itself; `sandbox` starts this process."""

from __future__ import annotations

import os
import sys
import threading
import time

from core.runs.engine.cluster.bridge import BridgeCall, BridgeNodes, BridgeOutput, BridgeReply, answer_calls
from core.runs.engine.cluster.host import Host

NODES_S = 1.0
# Calls that are answered at once: a large file keeps no other call waiting.
THREADS = 8


def main(name: str) -> None:
    """Answer calls until the input ends, and say every second that the host is there."""
    output = BridgeOutput()
    host = Host(name=name)

    def report() -> None:
        while True:
            output.write(BridgeNodes(host.id, (host.id,)))
            time.sleep(NODES_S)

    def answer(call: BridgeCall) -> None:
        output.write(BridgeReply(call.number, host.answer(call.data)))

    threading.Thread(target=report, daemon=True).start()
    answer_calls(answer, THREADS)
    host.close()
    # Calls that hang would keep the process.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
