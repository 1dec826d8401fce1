"""What is stored beside a log: the report, and the nodes and models of large graphs."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core import Run, Store, from_json, open_graph, open_report, open_summary, to_json
from core.base.errors import ReportError, StoreError
from core.graph.fx import fx_model
from core.graph.levels import as_json
from core.graph.model import GraphModel
from core.report import SCHEMA, FxNode
from core.runs.stored import LARGE_GRAPH_NODES, open_model, store_graphs
from core.trace.parsers.build import load_graph
from tests.support.homes import add_scenario, chain
from tests.support.places import STORES, TRACES

# Fields of a report that an older version did not have, as they are without a record.
ADDED_SINCE: dict[str, Any] = {
    **dict.fromkeys(("bisection", "bits", "script", "explained", "filled_caches")),
    **{
        name: []
        for name in ("debug_files", "logs", "captures", "neighbours", "metrics", "configs", "graph_runs", "vllm")
    },
    "break_record": "none",
    "records_lost": False,
}

# Lists that a compilation did not have.
ADDED_LISTS = ("expressions", "export_issues", "aot_metadata", "estimates", "collectives", "user_contexts")
# The same of the values in a compilation's lists.
ADDED_IN_LISTS: dict[str, dict[str, Any]] = {
    "graphs": {"name": "", "repeated": None, "cast": None},
    "kernels": {"tuning": None},
    "schedules": {"eager_calls": []},
    "symbol_guards": {"sources": {}},
    "pipelines": {"key": ""},
    "invocations": {"key": ""},
}


def stored(run: Run, name: str) -> Path:
    """The one file in which nodes or models are stored."""
    (found,) = run.graphs_dir.glob(f"*.{name}-*.msgpack")
    return found


def stored_model(run: Run) -> bytes:
    """The stored model, as JSON."""
    return as_json(msgspec.msgpack.decode(stored(run, "model").read_bytes(), type=GraphModel))


def test_the_nodes_of_a_large_graph_are_parsed_once(tmp_path: Path) -> None:
    run, report, compilation, graph = chain(tmp_path, LARGE_GRAPH_NODES)
    store_graphs(run, report)
    log = run.log_path()
    assert log is not None

    nodes = msgspec.msgpack.decode(stored(run, "nodes").read_bytes(), type=tuple[FxNode, ...])
    assert nodes == load_graph(log, compilation, graph) == open_graph(run, compilation, graph)
    assert len(nodes) == LARGE_GRAPH_NODES + 2


def test_the_model_of_a_large_graph_is_made_once(tmp_path: Path) -> None:
    run, report, compilation, graph = chain(tmp_path, LARGE_GRAPH_NODES)
    store_graphs(run, report)
    made = fx_model(open_graph(run, compilation, graph))
    stored(run, "nodes").unlink()

    assert as_json(open_model(run, report, compilation, graph)) == as_json(made) == stored_model(run)
    assert [path.suffixes[0][:6] for path in run.graphs_dir.iterdir()] == [".model"]


@pytest.mark.parametrize("schema", [2, 3])
def test_a_report_of_another_version_is_made_again(tmp_path: Path, schema: int) -> None:
    scenario, stored_then = STORED_BY[schema]
    run = Store(tmp_path).open(add_scenario(tmp_path, scenario))
    golden = (TRACES / scenario / "report.json").read_bytes()
    run.report_path.write_bytes(json.dumps(stored_then({**json.loads(golden), "schema": schema})).encode())
    with pytest.raises(ReportError):
        from_json(run.report_path.read_bytes())
    report = open_report(run)

    assert to_json(report) == run.report_path.read_bytes()
    assert report == from_json(golden)


def by_schema_2(report: dict[str, Any]) -> dict[str, Any]:
    """As it was stored while a kernel's direction was a part of its id alone."""
    for compilation in report["compilations"]:
        compilation |= {
            "metrics": {"graph_op_count": compilation.pop("graph_op_count")},
            "kernel_times": [],
            "binaries": [],
        }
        del compilation["error_type"], compilation["error_place"]
        for kernel in compilation["kernels"]:
            del kernel["direction"], kernel["binary"], kernel["tried"], kernel["compile_s"]
            kernel["call_lines"] = [call["line"] for call in kernel.pop("calls")]
    return report


def by_schema_3(report: dict[str, Any]) -> dict[str, Any]:
    """As it was stored while the file and the line of a graph break stood apart."""
    for found in report["graph_breaks"]:
        place = found.pop("place")
        found |= {"file": place["file"], "line": place["line"]}
    return report


STORED_BY = {2: ("transformer_block", by_schema_2), 3: ("graph_break_zoo", by_schema_3)}


def by_sides(times: dict[str, Any], **sides: str) -> dict[str, Any]:
    """The times of a store that had a field for each side; `sides` are their names by field."""
    walls = {name: times.pop(f"{name}_wall_s") for name in ("eager", "compiled") if f"{name}_wall_s" in times}
    return {"sides": {side: times.pop(field) for field, side in sides.items()}, "walls": walls} | times


def test_a_store_of_an_older_version_opens_as_it_did(tmp_path: Path) -> None:
    """Its one run has every record that there was before report types were emitted, with all fields."""
    shutil.copytree(STORES / "every_record", tmp_path, dirs_exist_ok=True)
    ((run, _),) = Store(tmp_path).list()
    stored_then = json.loads(run.report_path.read_bytes()) | ADDED_SINCE
    stored_then["counters"] |= {"cudagraphs": {}}
    stored_then["error"] |= {"eager_raises": None}
    for call in [*stored_then["calls"], *stored_then["rival"]["calls"]]:
        call |= {"entry": None, "stance": ""}
    for compared in [*stored_then["calls"], *stored_then["rival"]["calls"], *stored_then["package_runs"]]:
        compared["differences"] = [{"refused_by_torch": None, **found} for found in compared["differences"]]
    stored_then["timing"] = by_sides(stored_then["timing"], eager_s="eager", compiled_s="compiled")
    rival = stored_then["rival"]
    head = {name: rival.pop(name) for name in ("options", "calls", "reason")}
    stored_then["rival"] = {**head, "times": by_sides(rival, compiled_s="compiled", rival_s="alternative")}
    stored_then["package_times"] = [{**times, "walls": {}} for times in stored_then["package_times"]]
    stored_then["schema"] = SCHEMA
    for compilation in stored_then["compilations"]:
        # Its log has a note of a dump and no start of a compilation: no record says that one did not finish.
        compilation |= {name: [] for name in ADDED_LISTS} | {"status": "ok", "traced": None}
        for name, added in ADDED_IN_LISTS.items():
            compilation[name] = [{**added, **value} for value in compilation[name]]
    assert json.loads(to_json(open_report(run))) == stored_then
    run.report_path.unlink()
    report = open_report(run)
    assert to_json(report) == run.report_path.read_bytes()
    assert json.loads(to_json(report)) == stored_then
    assert (report.problems, len(report.kinds)) == ((), 38)


@pytest.mark.parametrize(
    "damage", [b'[{"name": 1}]', msgspec.msgpack.encode([{"name": 1}]), b"\x84\xa5nod", b'["\xff"]']
)
def test_what_is_damaged_is_made_again(tmp_path: Path, damage: bytes) -> None:
    run, report, compilation, graph = chain(tmp_path, LARGE_GRAPH_NODES)
    nodes, model = open_graph(run, compilation, graph), open_model(run, report, compilation, graph)
    for name in ("nodes", "model"):
        stored(run, name).write_bytes(damage)

    assert as_json(open_model(run, report, compilation, graph)) == as_json(model) == stored_model(run)
    assert open_graph(run, compilation, graph) == nodes


def test_what_is_older_than_the_log_is_made_again(tmp_path: Path) -> None:
    run, report, compilation, graph = chain(tmp_path, LARGE_GRAPH_NODES)
    model = open_model(run, report, compilation, graph)
    stored(run, "model").write_bytes(msgspec.msgpack.encode(GraphModel((), ())))
    os.utime(stored(run, "model"), ns=(0, 0))

    assert as_json(open_model(run, report, compilation, graph)) == as_json(model) == stored_model(run)


def test_a_small_graph_is_read_from_the_log(tmp_path: Path) -> None:
    run, report, compilation, graph = chain(tmp_path, 3)

    assert [node.name for node in open_graph(run, compilation, graph)] == ["x0", "x1", "x2", "x3", "output"]
    assert [node.id for node in open_model(run, report, compilation, graph).nodes] == [
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
    compilation = report.compilations[0]
    models = {graph.id: open_model(run, report, compilation, graph) for graph in compilation.graphs}
    lowered = models["inductor_post_grad_graph.forward"]
    joint = models["aot_joint_graph"]

    kernels = {kernel.id for kernel in compilation.kernels if kernel.graph == "inductor_post_grad_graph.forward"}
    assert {node.kernel for node in lowered.nodes} - {""} == kernels
    assert "partition" not in {overlay.name for overlay in lowered.overlays}
    (decisions,) = (overlay.categories for overlay in joint.overlays if overlay.name == "partition")
    assert set(decisions) == {"forward", "backward", "saved", "recomputed", "dropped", "removed by an earlier pass"}
    assert {group.label for group in joint.groups if group.kind == "direction"} == {"forward", "backward"}


def test_a_run_without_a_log_has_no_summary_and_a_damaged_one_is_made_again(tmp_path: Path) -> None:
    run = Store(tmp_path).open(add_scenario(tmp_path, "eager_backend"))
    summary = open_summary(run)
    assert summary is not None
    assert open_summary(run, stored_alone=True) == summary
    (path,) = run.path.glob("summary-*.json")
    path.write_text("{")
    assert open_summary(run, stored_alone=True) is None
    assert open_summary(run) == summary

    log = run.log_path()
    assert log is not None
    log.unlink()
    assert open_summary(run, stored_alone=True) is None
    with pytest.raises(StoreError):
        open_summary(run)
