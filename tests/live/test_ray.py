"""A Ray cluster of this machine, with real nodes: runs come back as local ones, and survive what is killed.

Needs Ray (`make extra EXTRA=ray`); its nodes start torch, so the whole takes minutes.
"""

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest

from core import CompileJob, LocalEngine, Model, Runner, Store, new_sweep, open_engine
from core.sweep.model import Axis
from core.sweep.runner import SweepRunner
from tests.support.browser import wait_for
from tests.support.cluster import kill
from tests.support.homes import CACHE, link_cache
from tests.support.places import ROOT
from tests.support.ray_site import free_port, ray_cluster
from tests.support.same_run import tree

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray"),
    pytest.mark.filterwarnings("ignore"),
]
CODE = Model("code", "import torch\ndef model(x):\n    return x + 1\ninputs = (torch.ones(2),)\n")
JOB = CompileJob(CODE, measure=False).with_settings(backend="eager")
CELLS = 200
# A server in a process of its own, which is killed; it starts a sweep.
SERVER = """
import sys, time
from pathlib import Path
from core import Runner, Store, new_sweep
from core.sweep.model import Axis
from core.sweep.runner import SweepRunner
from tests.live.test_ray import CELLS, JOB

sweep = SweepRunner(Runner(Store(Path(sys.argv[1])))).start(new_sweep(JOB, (Axis("seed", tuple(range(CELLS))),)))
print(sweep.id, flush=True)
time.sleep(6000)
"""
# Other work of the cluster, on both nodes until its input is closed.
OTHER = """
import sys
import ray

ray.init(sys.argv[1])

class Work:
    def goes(self):
        return True

work = [ray.remote(Work).options(num_cpus=0, resources={"compileboard_quiet": 0.6}).remote() for _ in range(2)]
ray.get([each.goes.remote() for each in work])
print("held", flush=True)
sys.stdin.read()
"""


def sleeping(seconds: float, seed: int = 0) -> CompileJob:
    code = f"import time, torch\ntime.sleep({seconds})\ndef model(x):\n    return x + 1\ninputs = (torch.ones(2),)"
    return CompileJob(Model("code", code), measure=False, seed=seed)


@dataclass
class RayCluster:
    """A cluster of this machine, and a server over a store that uses it."""

    home: Path
    cluster: Any
    address: str

    @contextmanager
    def server(self, nodes: int, killed: bool = False) -> Iterator[Runner]:
        """A server that has greeted so many nodes, whose torch has started; its runs go on if it is `killed`."""
        store = Store(self.home / "server")
        runner = Runner(store, open_engine(store, address=self.address))
        try:
            wait_for(lambda: len(runner.engine.nodes("cpu")) == nodes, 900)
            yield runner
        finally:
            kill(runner.engine) if killed else runner.engine.close()


@contextmanager
def real_cluster(home: Path, nodes: int, port: int = 0) -> Iterator[RayCluster]:
    port = port or free_port()
    (home / "nodes").mkdir(exist_ok=True)
    link_cache(home / "nodes", CACHE)
    with ray_cluster(home, nodes, port) as cluster:
        yield RayCluster(home, cluster, f"ray://127.0.0.1:{port}")


def test_runs_and_sweeps_survive_a_killed_node_server_and_head(tmp_path: Path, engine: LocalEngine) -> None:
    home = tmp_path
    with real_cluster(home, 2) as ray:
        with ray.server(2) as runner:
            _is_as_a_local_one(runner, Runner(Store(home / "local"), engine))
            _waits_for_other_work_of_ray(runner, ray)
            _ends_on_cancel(runner)
            _goes_on_without_a_node(runner, ray)
        _is_carried_by_the_next_server(ray)
        waits = _begin_and_kill_the_head(ray)
    with real_cluster(home, 2) as again, again.server(2) as runner:
        run = runner.store.open(waits)
        wait_for(lambda: not run.status().live)
        assert run.status().state == "done"
        assert not leftovers(home)


def leftovers(home: Path) -> list[str]:
    return [path.name for path in (home / "nodes" / "hosted").iterdir()]


def _is_as_a_local_one(runner: Runner, local: Runner) -> None:
    for job in (JOB, CompileJob(Model("sample", "mlp"), measure=False)):
        # Each finds what its first run has left in the cache.
        for _ in range(2):
            there, here = (each.wait(each.submit(job)) for each in (runner, local))
        assert (there.status().state, here.status().state) == ("done", "done")
        assert tree(there) == tree(here)


def _waits_for_other_work_of_ray(runner: Runner, ray: RayCluster) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OTHER, ray.address], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other_work:
        assert other_work.stdout is not None
        assert other_work.stdout.readline() == b"held\n"
        run = runner.submit(replace(JOB, measure=True))
        wait_for(lambda: runner.is_blocked(run))
        assert run.status().state == "queued"
    assert runner.wait(run).status().state == "done"


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


def test_two_hundred_cells_survive_a_killed_node_server_and_head_and_a_cancel(tmp_path: Path) -> None:
    port = free_port()
    with real_cluster(tmp_path, 4, port) as ray:
        sweep = _begin_and_kill_a_node_and_the_server(ray)
        with ray.server(3, killed=True) as runner:
            sweeps = SweepRunner(runner)
            assert sweeps.resume_interrupted() == (sweep,)
            wait_for(lambda: len(done(runner.store)) >= 110, 900)
            sweeps.cancel(sweep)
            sweeps.wait(sweep, 120)
            assert not [status for _, status in runner.store.list() if status.live]
            wait_for(lambda: not leftovers(tmp_path))
            sweeps.resume(sweep)
            wait_for(lambda: len(done(runner.store)) >= 140, 900)
            ray.cluster.remove_node(ray.cluster.head_node, allow_graceful=False)
            ray.cluster.shutdown()
            with real_cluster(tmp_path, 4, port):
                sweeps.wait(sweep, 900)
                found = sweeps.standing(sweeps.store.open(sweep))
                assert (found.state, found.done, found.failed, found.total) == ("done", CELLS, 0, CELLS)
                assert Counter(done(runner.store)) == Counter(range(CELLS))
                assert not [status for _, status in runner.store.list() if status.live]
                wait_for(lambda: not leftovers(tmp_path))
    wait_for(lambda: not processes(tmp_path))


def _begin_and_kill_a_node_and_the_server(ray: RayCluster) -> str:
    store = Store(ray.home / "server")
    environment = {**os.environ, "COMPILEBOARD_ENGINE": ray.address}
    command = [sys.executable, "-c", SERVER, str(store.home)]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, env=environment)
    assert server.stdout is not None
    try:
        sweep = server.stdout.readline().decode().strip()
        wait_for(lambda: len(done(store)) >= 30, 900)
        ray.cluster.remove_node(ray.cluster.list_all_nodes()[-1], allow_graceful=False)
        wait_for(lambda: len(done(store)) >= 70, 900)
    finally:
        server.kill()
        server.communicate()
    return sweep


def done(store: Store) -> list[int]:
    """The seeds of the cells that are done."""
    jobs = [run.job() for run, status in store.list() if status.state == "done"]
    return [job.seed for job in jobs if job is not None]


def processes(home: Path) -> list[str]:
    """What is alive of the nodes: hosts, their fork servers, and runs."""
    alive = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("COMPILEBOARD_HOME") == str(home / "nodes"):
                alive.append(" ".join(process.cmdline()))
    return alive
