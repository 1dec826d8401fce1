"""Nodes that stop answering before a run was sent to them, why no node can execute a run, and names of nodes."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core import CompileJob, Model, Runner
from core.runs.engine.cluster import messages
from core.runs.engine.cluster.host import Host
from core.runs.engine.queues import Assignment, Shortage
from tests.support.cluster import NodeEngine, Nodes, nodes_below
from tests.support.engines import until

JOB = CompileJob(Model("sample", "mlp"), measure=False)


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Nodes]:
    with nodes_below(tmp_path) as nodes:
        yield nodes


def runner_of(nodes: Nodes) -> Runner:
    runner = Runner(nodes.store(), nodes.server())
    until(lambda: len(runner.engine.nodes("cpu")) == len(nodes.transport.hosts))
    return runner


class StartingEngine(NodeEngine):
    """The engine of a host whose torch never starts for another target."""

    def lacks(self, _: Assignment) -> str:
        return "torch for CUDA"


@pytest.mark.parametrize("fault", ["silent", "hung", "hosts"])
def test_a_run_whose_node_stops_answering_before_the_start_goes_to_another_node(nodes: Nodes, fault: str) -> None:
    nodes.add("one", StartingEngine())
    nodes.add("two")
    runner = runner_of(nodes)
    run = runner.submit(replace(JOB, target="a100"))
    until(lambda: any(isinstance(call, messages.PrepareCall) for call in nodes.transport.calls))
    nodes.lose("one") if fault == "hosts" else getattr(nodes.transport, fault).add("one")
    status = runner.wait(run).status()
    assert (status.state, status.node, nodes.engines["one"].started) == ("done", "two", [])


def test_a_run_that_waits_for_the_device_of_a_node_that_stops_answering_goes_to_another_node(nodes: Nodes) -> None:
    engines = [nodes.add(name, NodeEngine(hold_after=0)) for name in ("one", "two")]
    measured = replace(JOB, measure=True)
    first, second = runner_of(nodes), runner_of(nodes)
    first.submit(measured)
    until(lambda: len(engines[0].started) == 1)
    run = second.submit(measured)
    until(lambda: second.is_blocked(run))
    nodes.transport.silent.add("one")
    until(lambda: [len(engine.started) for engine in engines] == [1, 1])
    assert (run.status().state, run.status().node) == ("running", "two")


def test_a_run_cancelled_while_its_node_is_silent_starts_nowhere(nodes: Nodes) -> None:
    nodes.add("one", StartingEngine())
    runner = runner_of(nodes)
    run = runner.submit(replace(JOB, target="a100"))
    until(lambda: any(isinstance(call, messages.PrepareCall) for call in nodes.transport.calls))
    runner.cancel(run)
    nodes.transport.silent.add("one")
    nodes.add("two")
    assert (runner.wait(runner.submit(JOB)).status().node, run.status().state) == ("two", "cancelled")


def test_the_reason_why_no_node_can_execute_a_run_names_nodes_and_devices(nodes: Nodes) -> None:
    server = nodes.server()

    def reason(device: str) -> str:
        shortage = server.shortage(device)
        return shortage.reason if shortage else ""

    assert reason("cpu") == "no node has answered yet"
    nodes.add("one")
    until(lambda: reason("cpu") == "")
    assert reason("cuda:0") == "no node has it; the nodes have cpu"
    nodes.add("two", NodeEngine(devices={"cpu": "a CPU", "cuda:0": "a card"}))
    until(lambda: reason("cuda:0") == "")
    nodes.transport.silent.add("two")
    until(lambda: reason("cuda:0") == "two does not answer")
    assert (server.silent(), reason("cpu")) == (("two",), "")
    nodes.transport.broken = True
    until(lambda: reason("cpu") == "the cluster does not answer")
    nodes.transport.broken = False
    until(lambda: reason("cpu") == "")


def test_torch_that_starts_on_a_node_is_a_shortage_that_ends_by_itself(nodes: Nodes) -> None:
    nodes.add("one", NodeEngine(devices={}))
    server = nodes.server()
    until(lambda: server.shortage("cpu") == Shortage("torch is starting on one", is_starting=True))


def test_nodes_of_the_same_name_are_distinguished_by_their_ids(nodes: Nodes) -> None:
    nodes.add("one")
    server = nodes.server()
    until(lambda: server.nodes("cpu") != ())
    nodes.transport.hosts["other"] = other = Host(nodes.folder / "other", NodeEngine(), "one")
    until(lambda: len(server.nodes("cpu")) == 2)
    assert server.environment().devices == {"cpu": f"a CPU on one, one#{other.id[:6]}"}
