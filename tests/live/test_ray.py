"""A Ray cluster of this machine, with real nodes: runs come back as local ones, and survive what is killed.

Needs Ray (requirements-ray.txt); its nodes start torch, so the whole takes minutes.
"""

import re
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from core import CompileJob, LocalEngine, Model, Run, Runner, Store, new_sweep, open_engine
from core.sweep import Axis, SweepRunner
from core.trace import TraceReader
from tests.support.browser import wait_for
from tests.support.cluster import kill
from tests.support.homes import CACHE, link_cache
from tests.support.places import ROOT

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(find_spec("ray") is None, reason="requirements-ray.txt"),
    pytest.mark.filterwarnings("ignore"),
]
STORE_BYTES = 80 * 1024**2
JOB = CompileJob(Model("sample", "mlp"), measure=False)


def sleeping(seconds: float, seed: int = 0) -> CompileJob:
    code = f"import time, torch\ntime.sleep({seconds})\ndef model(x):\n    return x + 1\ninputs = (torch.ones(2),)"
    return CompileJob(Model("code", code), measure=False, seed=seed)


@dataclass
class RayCluster:
    """A cluster of this machine, and a server over a store that uses it."""

    home: Path
    cluster: Any
    port: int

    def add_node(self) -> Any:
        return self.cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES, resources={"compileboard": 1})

    @contextmanager
    def server(self, nodes: int, killed: bool = False) -> Iterator[Runner]:
        """A server that has greeted so many nodes, whose torch has started; its runs go on if it is `killed`."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("COMPILEBOARD_ENGINE", f"ray://127.0.0.1:{self.port}")
            runner = Runner(store := Store(self.home / "server"), open_engine(store))
        try:
            wait_for(lambda: len(runner.engine.nodes("cpu")) == nodes, 600)
            yield runner
        finally:
            kill(runner.engine) if killed else runner.engine.close()


@contextmanager
def ray_cluster(home: Path, nodes: int) -> Iterator[RayCluster]:
    from ray.cluster_utils import Cluster

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (home / "nodes").mkdir(exist_ok=True)
    link_cache(home / "nodes", CACHE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("COMPILEBOARD_HOME", str(home / "nodes"))
        patch.setenv("PYTHONPATH", str(ROOT))
        head = {"num_cpus": 0, "object_store_memory": STORE_BYTES, "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args={**head, "ray_client_server_port": port})
        made = RayCluster(home, cluster, port)
        try:
            for _ in range(nodes):
                made.add_node()
            yield made
        finally:
            cluster.shutdown()


def files(run: Run) -> list[str]:
    names = [path.relative_to(run.path).as_posix() for path in run.path.rglob("*") if path.is_file()]
    return sorted(re.sub(r"trace_\w+\.log", "trace.log", name) for name in names)


def test_runs_and_sweeps_survive_a_killed_node_server_and_head(tmp_path: Path, engine: LocalEngine) -> None:
    home = tmp_path
    with ray_cluster(home, 2) as ray:
        with ray.server(2) as runner:
            _is_as_a_local_one(runner, Runner(Store(home / "local"), engine))
            _ends_on_cancel(runner)
            _goes_on_without_a_node(runner, ray)
        _is_carried_by_the_next_server(ray)
        waits = _begin_and_kill_the_head(ray)
    with ray_cluster(home, 2) as again, again.server(2) as runner:
        run = runner.store.open(waits)
        wait_for(lambda: not run.status().live)
        assert run.status().state == "done"
        assert not leftovers(home)


def leftovers(home: Path) -> list[str]:
    return [path.name for path in (home / "nodes" / "hosted").iterdir()]


def _is_as_a_local_one(runner: Runner, local: Runner) -> None:
    there, here = (each.wait(each.submit(JOB)) for each in (runner, local))
    assert (there.status().state, here.status().state) == ("done", "done")
    assert files(there) == files(here)
    assert (there.path / "model.py").read_bytes() == (here.path / "model.py").read_bytes()
    assert kinds(there) == kinds(here)


def kinds(run: Run) -> Counter[str]:
    """The records of a log by kind; how often caches were used depends on what ran before."""
    log = run.log_path()
    assert log is not None
    with TraceReader(log) as reader:
        return Counter(record.kind for record in reader.records() if "cache" not in record.kind)


def _ends_on_cancel(runner: Runner) -> None:
    run = runner.submit(sleeping(600))
    wait_for(lambda: run.status().state == "running" and run.log_path() is not None)
    runner.cancel(run)
    assert runner.wait(run).status().state == "cancelled"


def _goes_on_without_a_node(runner: Runner, ray: RayCluster) -> None:
    sweeps = SweepRunner(runner)
    sweep = sweeps.start(new_sweep(sleeping(1), (Axis("seed", tuple(range(12))),)))
    wait_for(lambda: sum(run is not None for run in sweeps.store.open(sweep.id).runs) > 4)
    ray.cluster.remove_node(ray.cluster.list_all_nodes()[-1], allow_graceful=False)
    sweeps.wait(sweep.id, 600)
    found = sweeps.standing(sweeps.store.open(sweep.id))
    assert (found.state, found.done, found.total) == ("done", 12, 12)
    assert len(runner.engine.nodes("cpu")) == 1


def _is_carried_by_the_next_server(ray: RayCluster) -> None:
    with ray.server(1, killed=True) as runner:
        run = runner.submit(sleeping(8))
        wait_for(lambda: run.status().state == "running")
    with ray.server(1) as runner:
        assert runner.wait(runner.store.open(run.id)).status().state == "done"


def _begin_and_kill_the_head(ray: RayCluster) -> str:
    with ray.server(1, killed=True) as runner:
        run = runner.submit(sleeping(8))
        wait_for(lambda: run.status().state == "running" and run.log_path() is not None)
        ray.cluster.remove_node(ray.cluster.head_node, allow_graceful=False)
        time.sleep(25)
        assert run.status().state == "running"
    return run.id
