"""What a host holds of Ray while it measures, with a Ray that a test plays."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from core import Run
from core.runs.engine.cluster import ray_host
from core.runs.engine.cluster.ray_host import QuietEngine, Resources, fork_server
from core.runs.engine.forkserver import COMMAND
from core.runs.engine.queues import Assignment
from tests.support.engines import until


class PlayedRay(ModuleType):
    """A cluster of one node, which gives what is requested unless it is `busy`."""

    def __init__(self, **resources: float) -> None:
        super().__init__("ray")
        self.resources, self.busy = resources, False
        self.held: list[dict[str, Any]] = []

    def get_runtime_context(self) -> SimpleNamespace:
        return SimpleNamespace(get_node_id=lambda: "here")

    def nodes(self) -> list[dict[str, Any]]:
        return [{"NodeID": "there", "Resources": {"GPU": 8.0}}, {"NodeID": "here", "Resources": self.resources}]

    def remote(self, _: type) -> SimpleNamespace:
        def options(**options: Any) -> SimpleNamespace:
            assert (options.pop("num_cpus"), options.pop("scheduling_strategy")) == (0, ("here", False))
            self.held.append(options)
            is_there = SimpleNamespace(remote=lambda: "a reply")
            return SimpleNamespace(remote=lambda: SimpleNamespace(options=options, is_there=is_there))

        return SimpleNamespace(options=options)

    def wait(self, replies: list[Any], timeout: float) -> tuple[list[Any], list[Any]]:
        assert timeout == 0
        return ([], replies) if self.busy else (replies, [])

    def kill(self, actor: SimpleNamespace) -> None:
        self.held.remove(actor.options)


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> PlayedRay:
    played = PlayedRay(compileboard=1.0, compileboard_quiet=1.0, GPU=2.0)
    strategies = ModuleType("ray.util.scheduling_strategies")
    strategies.NodeAffinitySchedulingStrategy = lambda node, soft: (node, soft)  # type: ignore[attr-defined]
    for name, module in (("ray", played), ("ray.util", ModuleType("ray.util")), (strategies.__name__, strategies)):
        monkeypatch.setitem(sys.modules, name, module)
    return played


QUIET, CARDS = {"resources": {"compileboard_quiet": 1}}, {"num_gpus": 2.0}


def measured(folder: Path, name: str, device: str = "cpu", measures: bool = True) -> Assignment:
    return Assignment(Run(name, folder / "runs" / name), device=device, measures=measures)


def test_a_measured_run_holds_what_its_node_has_until_it_ends(tmp_path: Path, ray: PlayedRay) -> None:
    engine = QuietEngine(tmp_path, Resources())
    on_cpu, on_card, other = (measured(tmp_path, *of) for of in (("a",), ("b", "cuda:0"), ("c", "cuda:1")))
    assert engine.take_turn(on_card)
    assert ray.held == [QUIET, CARDS]
    assert engine.take_turn(other)
    assert not engine.take_turn(on_cpu)
    assert ray.held == [QUIET, CARDS]
    engine.end_turn(on_card.run)
    assert ray.held == [QUIET, CARDS]
    engine.end_turn(other.run)
    assert ray.held == []
    assert engine.take_turn(on_cpu)
    assert ray.held == [QUIET]
    engine.end_turn(on_cpu.run)
    engine.close()


def test_a_measured_run_waits_for_what_others_of_the_cluster_hold_and_no_other_run_does(
    tmp_path: Path, ray: PlayedRay
) -> None:
    engine = QuietEngine(tmp_path, Resources())
    waits, passes = measured(tmp_path, "a", "cuda:0"), measured(tmp_path, "b", "cuda:0", measures=False)
    ray.busy = True
    assert [engine.take_turn(waits), engine.take_turn(passes), engine.take_turn(waits)] == [False, True, False]
    assert ray.held == [QUIET, CARDS]
    engine.end_turn(passes.run)
    ray.busy = False
    assert engine.take_turn(waits)
    engine.end_turn(waits.run)
    assert ray.held == []
    engine.close()


def test_what_a_run_of_a_lost_server_waits_for_is_given_back(
    tmp_path: Path, ray: PlayedRay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_host, "LOOK_S", 0.01)
    monkeypatch.setattr(ray_host, "LEASE_S", 0.0)
    ray.busy = True
    assert not Resources().take(tmp_path / "a", "cpu")
    until(lambda: ray.held == [])


def test_a_node_without_these_resources_holds_nothing(tmp_path: Path, ray: PlayedRay) -> None:
    ray.resources = {"compileboard": 1.0, "CPU": 8.0}
    engine = QuietEngine(tmp_path, Resources())
    assert engine.take_turn(measured(tmp_path, "a", "cuda:0"))
    assert ray.held == []
    engine.close()


def test_a_run_has_the_threads_that_its_node_has_and_not_the_one_that_ray_gives_an_actor() -> None:
    assert fork_server({"OMP_NUM_THREADS": "8"}) == COMMAND
    assert fork_server({}) == ("env", "-u", "OMP_NUM_THREADS", *COMMAND)
