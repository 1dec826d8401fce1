"""What is stored beside a log: the report, and the nodes and models of large graphs."""

import hashlib
import json
import os
from pathlib import Path

import msgspec
import pytest

from core import Run, Store, load_graph, open_graph, open_model, open_report
from core.graph import GraphModel, as_json, fx_model
from core.report import Compilation, FxGraph, FxNode, Report
from core.reports import LARGE_GRAPH_NODES, store_graphs
from tests.homes import add_run, add_scenario


def chain_log(count: int) -> bytes:
    """A log that holds one graph: `count` times relu."""
    lines = ["class GraphModule(torch.nn.Module):", '    def forward(self, x0: "f32[8]"):']
    lines += [f'        x{i + 1}: "f32[8]" = torch.relu(x{i})' for i in range(count)]
    payload = "\n".join([*lines, f"        return (x{count},)"])
    md5 = hashlib.md5(payload.encode(), usedforsecurity=False).hexdigest()
    header = {"dynamo_output_graph": {"sizes": {}}, "frame_id": 0, "frame_compile_id": 0, "has_payload": md5}
    text = payload.replace("\n", "\n\t")
    return f"V0101 00:00:00.000000 1 torch/_dynamo/output_graph.py:1] {json.dumps(header)}\n\t{text}\n".encode()


def chain(home: Path, count: int) -> tuple[Run, Report, Compilation, FxGraph]:
    """A run with that log, its report and its graph."""
    run = add_run(home, "chain", chain_log(count), kind="log")
    report = open_report(run)
    item = report.compilations[0]
    return run, report, item, item.graphs[0]


def stored(run: Run, name: str) -> Path:
    """The one file in which nodes or models are stored."""
    (found,) = run.graphs_dir.glob(f"*.{name}-*.json")
    return found


def test_the_nodes_of_a_large_graph_are_parsed_once(tmp_path: Path) -> None:
    run, report, item, graph = chain(tmp_path, LARGE_GRAPH_NODES)
    store_graphs(run, report)
    log = run.log_path()
    assert log is not None

    nodes = msgspec.json.decode(stored(run, "nodes").read_bytes(), type=tuple[FxNode, ...])
    assert nodes == load_graph(log, item, graph) == open_graph(run, item, graph)
    assert len(nodes) == LARGE_GRAPH_NODES + 2


def test_the_model_of_a_large_graph_is_made_once(tmp_path: Path) -> None:
    run, report, item, graph = chain(tmp_path, LARGE_GRAPH_NODES)
    store_graphs(run, report)
    made = fx_model(open_graph(run, item, graph))
    stored(run, "nodes").unlink()

    assert as_json(open_model(run, report, item, graph)) == as_json(made) == stored(run, "model").read_bytes()
    assert [path.suffixes[0][:6] for path in run.graphs_dir.iterdir()] == [".model"]


@pytest.mark.parametrize("damage", [b'[{"name": 1}]', b'{"nodes": [', b'["\xff"]'])
def test_what_is_damaged_is_made_again(tmp_path: Path, damage: bytes) -> None:
    run, report, item, graph = chain(tmp_path, LARGE_GRAPH_NODES)
    nodes, model = open_graph(run, item, graph), open_model(run, report, item, graph)
    for name in ("nodes", "model"):
        stored(run, name).write_bytes(damage)

    assert as_json(open_model(run, report, item, graph)) == as_json(model) == stored(run, "model").read_bytes()
    assert open_graph(run, item, graph) == nodes


def test_what_is_older_than_the_log_is_made_again(tmp_path: Path) -> None:
    run, report, item, graph = chain(tmp_path, LARGE_GRAPH_NODES)
    model = open_model(run, report, item, graph)
    stored(run, "model").write_bytes(as_json(GraphModel((), ())))
    os.utime(stored(run, "model"), ns=(0, 0))

    assert as_json(open_model(run, report, item, graph)) == as_json(model) == stored(run, "model").read_bytes()


def test_a_small_graph_is_read_from_the_log(tmp_path: Path) -> None:
    run, report, item, graph = chain(tmp_path, 3)

    assert [node.name for node in open_graph(run, item, graph)] == ["x0", "x1", "x2", "x3", "output"]
    assert [node.id for node in open_model(run, report, item, graph).nodes] == [
        "n:x0",
        "n:x1",
        "n:x2",
        "n:x3",
        "n:output",
    ]
    assert not run.graphs_dir.exists()


def test_a_model_holds_what_the_report_knows(tmp_path: Path) -> None:
    run = Store(tmp_path).open(add_scenario(tmp_path, "training_step"))
    report = open_report(run)
    item = report.compilations[0]
    models = {graph.id: open_model(run, report, item, graph) for graph in item.graphs}
    lowered = models["inductor_post_grad_graph.forward"]
    joint = models["aot_joint_graph"]

    kernels = {kernel.id for kernel in item.kernels if kernel.graph == "inductor_post_grad_graph.forward"}
    assert {node.kernel for node in lowered.nodes} - {""} == kernels
    assert "partition" not in {overlay.name for overlay in lowered.overlays}
    (decisions,) = (overlay.categories for overlay in joint.overlays if overlay.name == "partition")
    assert set(decisions) == {"forward", "backward", "saved", "recomputed", "dropped", "removed by a pass before"}
    assert {group.label for group in joint.groups if group.kind == "direction"} == {"forward", "backward"}
