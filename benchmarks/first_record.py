"""Time from submitting a run to its first record on a warm node, over the local engine's time.

The nodes are a process of `core work` and, where Ray is installed, a node of a Ray cluster. Both are on this
machine. Each engine starts torch with a first run, which is not counted. Then the engines take turns, one run
at a time. The measured time ends when the log in the server's own store has its first bytes.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

from benchmarks.homes import PROJECT, temporary_home
from benchmarks.table import Result, at_most, spread, tell
from core import CompileJob, Model, Runner, Store, open_engine
from core.base.machine import python_path

ROUNDS = int(os.environ.get("COMPILEBOARD_BENCH_ROUNDS", "30"))
AIM = 1.5
JOB = CompileJob(Model("sample", "mlp"), measure=False)
LOOK_S = 0.002
NODE_S = 300.0
LOCAL, WORK, RAY = "this machine", "core work", "Ray"
OBJECT_STORE_BYTES = 80 * 1024**2


def measure() -> list[Result]:
    """Run the engines interleaved, and compare their times round by round."""
    with temporary_home() as home, ExitStack() as opened:
        runners = {LOCAL: opened.enter_context(runner(home, "local")), WORK: opened.enter_context(by_work(home))}
        if find_spec("ray") is not None:
            runners[RAY] = opened.enter_context(by_ray(home))
        times_s: dict[str, list[float]] = {name: [] for name in runners}
        for index in range(ROUNDS + 1):
            for name, each in runners.items():
                first_s = first_record_s(each)
                if index:
                    times_s[name].append(first_s)
            tell(f"{index} of {ROUNDS} rounds")
    return results(times_s)


def results(times_s: dict[str, list[float]]) -> list[Result]:
    """Return the times of each engine, and the ratio of the other engines to the local one by round."""
    times = [Result(name, spread(seconds, 3, " s")) for name, seconds in times_s.items()]
    local_s = times_s.pop(LOCAL)
    return times + [
        at_most(f"{name} over {LOCAL}", [there / here for there, here in zip(seconds, local_s, strict=True)], AIM)
        for name, seconds in times_s.items()
    ]


def first_record_s(runner: Runner) -> float:
    """Submit a run and wait for its end; return the seconds until its log had bytes."""
    start = time.perf_counter()
    run = runner.submit(JOB)
    while not ((log := run.log_path()) and log.stat().st_size):
        time.sleep(LOOK_S)
    first_s = time.perf_counter() - start
    assert runner.wait(run).status().state == "done"
    return first_s


@contextmanager
def runner(home: Path, name: str, address: str = "") -> Iterator[Runner]:
    """Yield a runner with its own store, `home / name`, and the engine for `address`."""
    store = Store(home / name)
    with closing(open_engine(store, address=address)) as engine:
        yield Runner(store, engine)


def await_node(server: Runner) -> None:
    """Wait until a node's torch has started; raises TimeoutError."""
    deadline = time.monotonic() + NODE_S
    while not server.engine.nodes("cpu"):
        if time.monotonic() > deadline:
            raise TimeoutError("no node has started")
        time.sleep(0.1)


@contextmanager
def by_work(home: Path) -> Iterator[Runner]:
    """Yield a runner with one worker, a process of `core work`."""
    address = f"127.0.0.1:{free_port()}"
    with runner(home, "workers", f"workers://{address}") as server:
        token = server.store.home / "workers-token"
        worker = subprocess.Popen(
            [sys.executable, "-m", "core", "work", "--server", f"http://{address}", "--token-file", str(token)],
            cwd=PROJECT,
            env={**os.environ, "COMPILEBOARD_HOME": str(home)},
            stdout=subprocess.DEVNULL,
        )
        try:
            await_node(server)
            yield server
        finally:
            worker.terminate()
            worker.wait()


@contextmanager
def by_ray(home: Path) -> Iterator[Runner]:
    """Yield a runner over a Ray cluster of a head and one node."""
    cluster_of = import_module("ray.cluster_utils").Cluster
    port = free_port()
    variables = {"RAY_USAGE_STATS_ENABLED": "0", "COMPILEBOARD_HOME": str(home), "PYTHONPATH": python_path()}
    with patch.dict(os.environ, variables):
        head = {"num_cpus": 0, "object_store_memory": OBJECT_STORE_BYTES, "include_dashboard": False}
        cluster = cluster_of(initialize_head=True, head_node_args={**head, "ray_client_server_port": port})
        try:
            cluster.add_node(num_cpus=1, object_store_memory=OBJECT_STORE_BYTES, resources={"compileboard": 1})
            with runner(home, "ray", f"ray://127.0.0.1:{port}") as server:
                await_node(server)
                yield server
        finally:
            cluster.shutdown()


def free_port() -> int:
    """Return a free port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
