"""Process between the server and a Ray cluster, so that the server does not import Ray.

    python -m core.runs.engine.cluster.ray_bridge ADDRESS code|samples HOSTS

The process may die, hang or lose the cluster without harm to the server. `core.runs.engine.transports.ray`
starts the process, which ends when its input is closed. Each node with the resource `compileboard` gets a
detached actor, which owns a host. Ray carries the host's bytes, and reports which nodes are alive.
"""

import contextlib
import importlib
import os
import sys
import threading
import time
from typing import Any

from core.runs.engine.cluster.bridge import (
    BridgeCall,
    BridgeNodes,
    BridgeOutput,
    BridgeProblem,
    BridgeReply,
    answer_calls,
)

NAMESPACE = RESOURCE = "compileboard"
NODES_S = 1.0
# Calls at once; a host answers as many at once itself.
THREADS, HOST_THREADS = 32, 8
# Without them Ray hides all cards from an actor that asks for none.
ALL_CARDS = {"RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


class HostActor:
    """Actor of one node. Ray sends the class by value, so it uses no other name of this module."""

    def __init__(self, module: str, code_allowed: bool) -> None:
        import importlib

        self._host = importlib.import_module(module).make_host(code_allowed)

    def answer(self, data: bytes) -> bytes:
        """Return the host's reply to a call."""
        reply: bytes = self._host.answer(data)
        return reply


class Bridge:
    """Connection to a cluster, and the actors of its nodes."""

    def __init__(self, address: str, code_allowed: bool, hosts: str, output: BridgeOutput) -> None:
        self._ray = importlib.import_module("ray")
        self._ray.init(address, namespace=NAMESPACE, log_to_driver=False, logging_level="error")
        self._affinity = importlib.import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
        self._code_allowed, self._hosts = code_allowed, hosts
        self._output = output
        self._making = threading.Lock()
        self._actors: dict[str, Any] = {}

    def report_nodes(self) -> None:
        """Write the nodes every second; end the process when the cluster cannot be queried any more."""
        try:
            while True:
                nodes = [node for node in self._ray.nodes() if node["Alive"]]
                heads = [node["NodeID"] for node in nodes if "node:__internal_head__" in node["Resources"]]
                hosts = [node["NodeID"] for node in nodes if RESOURCE in node["Resources"]]
                self._output.write(BridgeNodes(" ".join(sorted(heads)), tuple(hosts)))
                time.sleep(NODES_S)
        except Exception as error:
            _report(self._output, error)
            os._exit(1)

    def answer(self, call: BridgeCall) -> None:
        """Make a call, and write its reply."""
        try:
            data = self._ray.get(self._actor(call.node).answer.remote(call.data), timeout=call.limit_s)
            self._output.write(BridgeReply(call.number, data))
        except Exception as error:
            if isinstance(error, self._ray.exceptions.RayActorError):
                self._actors.pop(call.node, None)
            self._output.write(BridgeReply(call.number, why=_words(error)))

    def _actor(self, node: str) -> Any:
        """Return the actor of a node; the first server that needs the actor creates it."""
        with self._making:
            if node not in self._actors:
                self._actors[node] = (
                    self._ray.remote(HostActor)
                    .options(
                        name=f"host-{node}",
                        get_if_exists=True,
                        lifetime="detached",
                        num_cpus=0,
                        resources={RESOURCE: 1},
                        max_concurrency=HOST_THREADS,
                        runtime_env={"env_vars": ALL_CARDS},
                        scheduling_strategy=self._affinity(node, soft=False),
                    )
                    .remote(self._hosts, self._code_allowed)
                )
            return self._actors[node]


def _report(output: BridgeOutput, error: Exception) -> None:
    """Write why the cluster cannot be reached, unless the server has ended."""
    with contextlib.suppress(OSError):
        output.write(BridgeProblem(_words(error)))


def _words(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[-1][:600]


def main(address: str, code: str, hosts: str) -> None:
    """Connect to the cluster, report its nodes, and answer calls until the input ends.

    `hosts` is the module with `make_host`.
    """
    output = BridgeOutput()
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        bridge = Bridge(address, code == "code", hosts, output)
    except Exception as error:
        _report(output, error)
        return
    threading.Thread(target=bridge.report_nodes, daemon=True).start()
    answer_calls(bridge.answer, THREADS)
    # Calls that hang would keep the process.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
