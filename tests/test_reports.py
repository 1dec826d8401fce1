"""What is stored beside a log: the report, and the nodes of large graphs."""

import hashlib
import json
from pathlib import Path

import msgspec

from core import load_graph, open_graph, open_report
from core.report import FxNode
from core.reports import LARGE_GRAPH_NODES, store_graphs
from tests.homes import add_run


def chain_log(count: int) -> bytes:
    """A log that holds one graph: `count` times relu."""
    lines = ["class GraphModule(torch.nn.Module):", '    def forward(self, x0: "f32[8]"):']
    lines += [f'        x{i + 1}: "f32[8]" = torch.relu(x{i})' for i in range(count)]
    payload = "\n".join([*lines, f"        return (x{count},)"])
    md5 = hashlib.md5(payload.encode(), usedforsecurity=False).hexdigest()
    header = {"dynamo_output_graph": {"sizes": {}}, "frame_id": 0, "frame_compile_id": 0, "has_payload": md5}
    text = payload.replace("\n", "\n\t")
    return f"V0101 00:00:00.000000 1 torch/_dynamo/output_graph.py:1] {json.dumps(header)}\n\t{text}\n".encode()


def test_the_nodes_of_a_large_graph_are_parsed_once(tmp_path: Path) -> None:
    run = add_run(tmp_path, "large", chain_log(LARGE_GRAPH_NODES), kind="log")
    report = open_report(run)
    store_graphs(run, report)
    item = report.compilations[0]
    graph = item.graphs[0]
    (stored,) = run.graphs_dir.iterdir()
    log = run.log_path()
    assert log is not None

    nodes = msgspec.json.decode(stored.read_bytes(), type=tuple[FxNode, ...])
    assert nodes == load_graph(log, item, graph) == open_graph(run, item, graph)
    assert len(nodes) == LARGE_GRAPH_NODES + 2


def test_a_damaged_store_of_nodes_is_made_again(tmp_path: Path) -> None:
    run = add_run(tmp_path, "damaged", chain_log(LARGE_GRAPH_NODES), kind="log")
    item = open_report(run).compilations[0]
    nodes = open_graph(run, item, item.graphs[0])
    (stored,) = run.graphs_dir.iterdir()
    stored.write_bytes(b'[{"name": 1}]')

    assert open_graph(run, item, item.graphs[0]) == nodes


def test_a_small_graph_is_read_from_the_log(tmp_path: Path) -> None:
    run = add_run(tmp_path, "small", chain_log(3), kind="log")
    item = open_report(run).compilations[0]

    assert [node.name for node in open_graph(run, item, item.graphs[0])] == ["x0", "x1", "x2", "x3", "output"]
    assert not run.graphs_dir.exists()
