"""The film of the passes and the partition: on recorded logs, on literal records, and on live compilations."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from core import Report, build_report
from core.analysis import film, graph_at, partitions, saved_bytes, saved_values, tensor_bytes
from core.analysis.film import intervals
from core.analysis.frames import meaning
from core.parsers import load_graph, parse_graph
from core.report import (
    Compilation,
    Frame,
    FxGraph,
    FxNode,
    GraphPass,
    Partition,
    Payload,
    Place,
    SavedValue,
    TensorMeta,
)
from tests.record import SCENARIOS
from tests.support.homes import CACHE
from tests.support.places import ROOT, TRACES

NodesOf = Callable[[FxGraph], tuple[FxNode, ...]]
BEFORE = """
def forward(self, x: "f32[8][1]cpu"):
    sin: "f32[8][1]cpu" = torch.ops.aten.sin.default(x)
    view: "f32[8][1]cpu" = torch.ops.aten.view.default(sin, [8])
    return (view,)
"""
AFTER = """
def forward(self, x: "f32[8][1]cpu"):
    cos: "f32[8][1]cpu" = torch.ops.aten.cos.default(x)
    neg: "f32[8][1]cpu" = torch.ops.aten.neg.default(cos)
    return (neg,)
"""
LIVE = [("transformer_block", "training"), ("optimizer_step", "inference"), ("flex_attention", "inference")]


def reader(log: Path, compilation: Compilation) -> NodesOf:
    return lambda graph: load_graph(log, compilation, graph)


def check(compilation: Compilation, nodes_of: NodesOf) -> None:
    """Each segment ends with the last graph that torch logged of it, node for node and in torch's order."""
    graphs = {graph.id: graph for graph in compilation.graphs}
    for segment in film(compilation, nodes_of):
        logged = [frame.graph for frame in segment.frames if frame.graph]
        last = graph_at(segment, len(segment.frames) - 1)
        assert segment.frames[-1].graph or segment.chapter == "joint"
        if segment.frames[-1].graph:
            assert [meaning(node) for node in last] == [meaning(node) for node in nodes_of(graphs[logged[-1]])]
        for index, (old, new) in enumerate(zip(segment.frames, segment.frames[1:], strict=False), 1):
            before = {node.name for node in graph_at(segment, index - 1)}
            after = {node.name for node in graph_at(segment, index)}
            assert (set(new.added), set(new.removed)) == (after - before, before - after), (old, new)
            read = {(source, node.name) for node in graph_at(segment, index) for source in node.inputs}
            there = {
                (edge.source, edge.target)
                for edge in segment.edges
                if any(first <= index < end for first, end in edge.frames)
            }
            assert there == read


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_segment_of_a_recorded_log_ends_with_torchs_own_graph(scenario: str) -> None:
    log = TRACES / scenario / "trace.log"
    for compilation in build_report(log).compilations:
        check(compilation, reader(log, compilation))


def test_a_foreign_log_shows_its_graphs_as_frames() -> None:
    log = TRACES / "foreign" / "trace.log"
    compilation = build_report(log).compilations[0]
    segments = film(compilation, reader(log, compilation))
    assert [segment.id for segment in segments] == [
        "dynamo", "joint", "forward", "backward", "dynamo.2", "joint.2", "forward.2", "backward.2",
    ]  # fmt: skip
    assert [(frame.title, frame.recorded, frame.duration_us) for frame in segments[3].frames] == [
        ("aot_backward_graph", True, None),
        ("before_post_grad_graph", False, None),
    ]


def literal(passes: tuple[GraphPass, ...], last: str = AFTER) -> tuple[Compilation, NodesOf]:
    """A compilation with the graph before and after the joint passes."""
    texts = {"before_joint_graph": BEFORE, "after_joint_graph": last}
    graphs = tuple(FxGraph(stage, stage, "joint", 0, Payload(0, 0), {}) for stage in texts)
    compilation = Compilation(
        "0/0", Frame("/m.py", 1, "f"), (), 1, "ok", "", graphs, (), None, (), (), (), passes=passes
    )  # fmt: skip
    return compilation, lambda graph: parse_graph(texts[graph.stage])


def one_pass(name: str, **fields: tuple[object, ...]) -> GraphPass:
    empty = dict.fromkeys(("patterns", "added", "after", "removed", "rewritten", "order", "nodes"), ())
    return GraphPass("joint", "before_joint_graph", name, 5.0, Place("torch/p.py", 1), **{**empty, **fields})  # type: ignore[arg-type]


def nodes(text: str, *known: str) -> tuple[FxNode, ...]:
    return parse_graph(f"def forward(self):\n    {text}", known=known)


def test_passes_are_replayed_and_what_they_do_not_explain_is_a_frame_of_its_own() -> None:
    view = one_pass("remove_noop_ops", removed=("view",), rewritten=("output",), nodes=nodes("return (sin,)", "sin"))
    text = "cos = torch.ops.aten.cos.default(x)\n    return (cos,)"
    cos = one_pass("", added=("cos",), after=("x",), removed=("sin",), rewritten=("output",), nodes=nodes(text, "x"))
    compilation, nodes_of = literal((view, cos))
    (segment,) = film(compilation, nodes_of)
    assert [(frame.title, frame.recorded, frame.added, frame.removed) for frame in segment.frames] == [
        ("before_joint_graph", True, (), ()),
        ("remove_noop_ops", True, (), ("view",)),
        ("other changes", True, ("cos",), ("sin",)),
        ("other changes", False, ("neg",), ()),
    ]
    assert {node.name: node.frames for node in segment.nodes} == {
        "x": ((0, 4),), "cos": ((2, 4),), "neg": ((3, 4),), "sin": ((0, 2),), "view": ((0, 1),), "output": ((0, 4),),
    }  # fmt: skip
    assert {(edge.source, edge.target): edge.frames for edge in segment.edges} == {
        ("x", "sin"): ((0, 2),), ("sin", "view"): ((0, 1),), ("view", "output"): ((0, 1),),
        ("sin", "output"): ((1, 2),),
        ("x", "cos"): ((2, 4),), ("cos", "output"): ((2, 3),), ("cos", "neg"): ((3, 4),), ("neg", "output"): ((3, 4),),
    }  # fmt: skip
    check(compilation, nodes_of)


def test_a_name_that_is_used_again_stands_for_another_node() -> None:
    text = "view = torch.ops.aten.relu.default(x)"
    gone = one_pass("a", removed=("view",), rewritten=("output",), nodes=nodes("return (sin,)", "sin"))
    back = one_pass("b", added=("view",), after=("sin",), nodes=nodes(text, "x"))
    compilation, nodes_of = literal((gone, back), BEFORE)
    (segment,) = film(compilation, nodes_of)
    view = next(node for node in segment.nodes if node.name == "view")
    assert view.frames == ((0, 1), (2, 4))
    assert [found.target if (found := view.at(frame)) else None for frame in range(4)] == [
        "torch.ops.aten.view.default", None, "torch.ops.aten.relu.default", "torch.ops.aten.view.default",
    ]  # fmt: skip


def test_intervals_are_half_open() -> None:
    assert intervals([0, 1, 4, 6, 7]) == ((0, 2), (4, 5), (6, 8))


def test_partition_without_a_record_is_derived_from_the_graphs() -> None:
    log = TRACES / "foreign" / "trace.log"
    compilation = build_report(log).compilations[1]
    assert partitions(compilation, reader(log, compilation))[0] == Partition(
        graph="aot_joint_graph",
        recorded=False,
        decisions={
            "primals_1": "saved", "primals_2": "forward", "primals_3": "saved", "tangents_1": "backward",
            "permute": "recomputed", "addmm": "forward", "sum_1": "forward", "gt": "forward", "permute_1": "backward",
            "mm": "backward", "permute_2": "backward", "mm_1": "backward", "sum_2": "backward", "view": "backward",
        },
        saved=(SavedValue("primals_1", "input", 512), SavedValue("primals_3", "input", 1024)),
        reasons={},
        policies={},
        dropped=("permute_3", "permute_4"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("dtype", "shape", "expected"),
    [("f32", ("8", "4"), 128), ("b8", ("3",), 3), ("c64", ("2",), 16), ("bf16", (), 2), ("f32", ("s0", "4"), None)],
)
def test_bytes_of_a_value(dtype: str, shape: tuple[str, ...], expected: int | None) -> None:
    assert tensor_bytes(FxNode("a", "call_function", "f", "", (), TensorMeta(dtype, shape), 1)) == expected


@dataclass(frozen=True)
class Live:
    """A live compilation: its log, its report, and the passes that the naive observer saw change the graph."""

    log: Path
    report: Report
    naive: list[str]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Live]:
    """Compiles a sample once for all tests of this file."""

    @cache
    def compile_sample(name: str, mode: str) -> Live:
        folder = tmp_path_factory.mktemp(name)
        command = [sys.executable, "-m", "tests.support.naive_passes", name, mode, str(folder)]
        environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(CACHE / "inductor")}
        done = subprocess.run(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, check=True)
        log = next(folder.glob("*.log"))
        return Live(log, build_report(log, strict=True), json.loads(done.stdout))

    return compile_sample


@pytest.mark.torch
@pytest.mark.parametrize(("name", "mode"), LIVE)
def test_recorded_passes_are_those_whose_text_changed(
    compiled: Callable[[str, str], Live], name: str, mode: str
) -> None:
    live = compiled(name, mode)
    assert live.report.problems == ()
    assert live.naive
    passes = [
        one for compilation in live.report.compilations for one in compilation.passes if one.stage != "before_post_grad"
    ]
    assert [one.name for one in passes if one.name] == live.naive


@pytest.mark.torch
@pytest.mark.parametrize(("name", "mode"), LIVE)
def test_recorded_passes_lead_to_torchs_own_graph(compiled: Callable[[str, str], Live], name: str, mode: str) -> None:
    live = compiled(name, mode)
    for compilation in live.report.compilations:
        check(compilation, reader(live.log, compilation))
        for segment in film(compilation, reader(live.log, compilation)):
            assert [frame.graph for frame in segment.frames if not frame.recorded] == []


@pytest.mark.torch
def test_every_call_has_its_module_in_training(compiled: Callable[[str, str], Live]) -> None:
    live = compiled("transformer_block", "training")
    (compilation,) = live.report.compilations
    nodes_of = reader(live.log, compilation)
    calls = [node for graph in compilation.graphs for node in nodes_of(graph) if node.op.startswith("call_")]
    assert [node.name for node in calls if not node.module.startswith("L['self']") or not node.module_class] == []


@pytest.mark.torch
def test_inference_is_not_partitioned(compiled: Callable[[str, str], Live]) -> None:
    (compilation,) = compiled("optimizer_step", "inference").report.compilations
    assert compilation.partitions == ()


@pytest.mark.torch
def test_recorded_partition_is_that_of_the_graphs(compiled: Callable[[str, str], Live]) -> None:
    live = compiled("transformer_block", "training")
    (compilation,) = live.report.compilations
    nodes_of = reader(live.log, compilation)
    (recorded,) = partitions(compilation, nodes_of)
    (derived,) = partitions(replace(compilation, partitions=()), nodes_of)
    assert (recorded.recorded, derived.recorded) == (True, False)
    assert recorded.decisions == {name: derived.decisions[name] for name in recorded.decisions}
    assert {(one.name, one.bytes) for one in recorded.saved} == {(one.name, one.bytes) for one in derived.saved}
    joint = next(segment for segment in film(compilation, nodes_of) if segment.chapter == "joint")
    names = {node.name for node in graph_at(joint, len(joint.frames) - 1)}
    assert names == {*recorded.decisions, *recorded.dropped, "output"}


KEPT = """
import sys, torch
from torch import nn
from core.worker.record import recording, start_trace

start_trace(sys.argv[1])
model = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(2048, 4), nn.Sigmoid()
)
inputs = torch.randn(4, 3, 16, 16)
given = {tensor.data_ptr() for tensor in (*model.parameters(), *model.buffers(), inputs)}
kept = []
with recording():
    compiled = torch.compile(model)
    compiled(inputs)
    pack = lambda tensor: (kept.append(tensor), tensor)[1]
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        compiled(inputs)
print(len(kept), sum(t.nbytes for t in kept), sum(t.nbytes for t in kept if t.data_ptr() not in given))
"""


@pytest.mark.torch
def test_what_the_compiled_forward_keeps_is_what_autograd_saves(tmp_path: Path) -> None:
    script = [sys.executable, "-c", KEPT, str(tmp_path)]
    printed = subprocess.run(script, capture_output=True, text=True, timeout=400, check=True, cwd=ROOT).stdout
    (log,) = tmp_path.glob("*.log")
    (compilation,) = build_report(log, strict=True).compilations
    (partition,) = compilation.partitions
    kept = partition.kept or ()
    activations = saved_bytes(kept, "activation")

    assert [len(kept), activations + saved_bytes(kept, "input"), activations] == [int(word) for word in printed.split()]
    assert activations > saved_bytes(partition.saved, "activation")


@pytest.mark.torch
def test_saved_values_come_with_torchs_reasons_largest_first(compiled: Callable[[str, str], Live]) -> None:
    (compilation,) = compiled("transformer_block", "training").report.compilations
    (partition,) = compilation.partitions
    sizes = [value.bytes or 0 for value in saved_values(partition)]
    assert sizes == sorted(sizes, reverse=True)
    assert saved_values(partition)[0].reasons == ("cannot recompute: not in recomputable allowlist",)
    assert saved_bytes(partition.saved, "activation") + saved_bytes(partition.saved, "input") == sum(sizes)
