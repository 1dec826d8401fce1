"""Fusion of branches, loops and compile regions: their launches are in the box of each call."""

import ast
import gzip
from collections import Counter
from pathlib import Path

import pytest

from core.graph.fusion import fusion_model
from core.graph.launches import NestedGraph, fusion_frames, launches
from core.graph.model import HULLS, GraphModel, Launch, index_of
from core.graph.overlays import saved_bytes
from core.graph.placing import nested_parts
from core.report import FxNode, Kernel, Schedule
from core.trace.parsers.build import build_report, load_graph, load_text
from tests.support.places import ROOT, TRACES


class Case:
    """The whole graph of a log, and the nested graphs that it calls."""

    def __init__(self, log: Path) -> None:
        (self.compilation,) = build_report(log, strict=True).compilations
        self.schedule: Schedule = next(each for each in self.compilation.schedules if not each.subgraph)
        graph = self.compilation.lowered("inference")
        assert graph is not None
        self.nodes: dict[str, FxNode] = {node.name: node for node in load_graph(log, self.compilation, graph)}
        self.kernels: dict[str, Kernel] = {kernel.id: kernel for kernel in self.compilation.kernels}
        self.parts = nested_parts(self.schedule, self.nodes, self.compilation.schedules, self.kernels)
        self.launches = launches(self.schedule, self.nodes, self.kernels)
        self.code = ast.parse(load_text(log, self.compilation.kernels[0].output_code))

    @property
    def model(self) -> GraphModel:
        return fusion_model(self.schedule, self.nodes, self.kernels, parts=self.parts)

    def called(self, function: str) -> Counter[str]:
        """The functions that a function of the wrapper calls, from its syntax tree."""
        (body,) = (node for node in ast.walk(self.code) if isinstance(node, ast.FunctionDef) and node.name == function)
        calls = (node for node in ast.walk(body) if isinstance(node, ast.Call))
        return Counter(ast.unparse(call.func).removesuffix(".run") for call in calls)

    def launched(self, drawn: tuple[Launch, ...]) -> Counter[str]:
        return Counter(self.kernels[launch.kernel].name for launch in drawn if launch.kernel)


@pytest.fixture
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    if request.param == "control_flow":
        return Case(TRACES / "control_flow" / "trace.log")
    log = tmp_path / "trace.log"
    log.write_bytes(gzip.decompress((ROOT / "tests/launches/nested.log.gz").read_bytes()))
    return Case(log)


both = pytest.mark.parametrize("case", ["control_flow", "nested"], indirect=True)
nested = pytest.mark.parametrize("case", ["nested"], indirect=True)


def tree(model: GraphModel, parent: int = -1) -> list[object]:
    """The labels of groups, each with those within it."""
    below = index_of(model).children[parent]
    groups = [~member for member in below if member < 0]
    return [(model.groups[group].label, tree(model, group)) for group in groups]


@both
def test_the_hulls_of_each_graph_are_the_launches_of_its_function_in_the_wrapper(case: Case) -> None:
    graphs = [("call", case.launches), *((part.schedule.subgraph, part.launches) for part in case.parts)]
    drawn = {case.kernels[launch.kernel].name for _, each in graphs for launch in each if launch.kernel}
    assert drawn == {kernel.name for kernel in case.kernels.values()}
    for function, own in graphs:
        calls = case.called(function)
        assert case.launched(own) == {name: calls[name] for name in drawn & set(calls)}
    hulls = [group for group in case.model.groups if group.kind in HULLS]
    boxes = {part.call for part in case.parts}
    assert len(hulls) == sum(len(own) for _, own in graphs) - len(boxes)


@nested
def test_a_graph_is_in_the_box_of_each_of_its_calls(case: Case) -> None:
    assert [(part.call, part.path) for part in case.parts] == [
        ("invoke_subgraph", "repeated_subgraph0/"),
        ("invoke_subgraph_1", "repeated_subgraph0#2/"),
        ("while_loop", "while_loop_cond_graph_0/"),
        ("while_loop", "while_loop_body_graph_0/"),
        ("while_loop_body_graph_0/cond", "while_loop_body_graph_0/true_graph_0/"),
        ("while_loop_body_graph_0/cond", "while_loop_body_graph_0/false_graph_0/"),
    ]
    model = case.model
    places = {group.id: number for number, group in enumerate(model.groups)}
    for part in case.parts:
        above = model.groups[model.groups[places[f"m:{part.path}"]].parent]
        assert part.call in {node.id.removeprefix("n:") for node in model.nodes[above.first : above.last]}
    loop = next(group for group in model.groups if group.label == "while_loop")
    assert (loop.kind, loop.detail) == ("module", "condition: 1 launch · body: 2 launches")
    assert len({node.id for node in model.nodes}) == len(model.nodes)
    assert len(places) == len(model.groups)


@nested
def test_the_ops_of_a_nested_graphs_nodes_are_its_own_alone(case: Case) -> None:
    for part in case.parts:
        (recorded,) = (each for each in case.compilation.schedules if each.subgraph == part.schedule.subgraph)
        names = {name.removeprefix(part.path) for name in part.nodes}
        assert {name for node in recorded.before for name in node.origins} <= names


@both
def test_every_op_of_a_nested_graph_is_in_one_hull(case: Case) -> None:
    drawn = Counter(node.id for node in case.model.nodes)
    for part in case.parts:
        computing = {name for name, node in part.nodes.items() if node.op == "call_function"}
        views = {name for name in computing if part.nodes[name].target == "operator.getitem"}
        assert {f"n:{name}": drawn[f"n:{name}"] for name in computing - views} == {
            f"n:{name}": 1 for name in computing - views
        }


@both
def test_the_bytes_of_nested_graphs_are_apart(case: Case) -> None:
    assert case.schedule.bytes_before is not None
    assert case.schedule.bytes_after is not None
    saved = saved_bytes(case.schedule, case.launches)
    assert sum(size or 0 for size in saved) == case.schedule.bytes_before - case.schedule.bytes_after
    frames = fusion_frames(case.schedule, case.nodes, case.kernels, parts=case.parts)
    assert {frame.moved for frame in frames[-3:]} == {case.schedule.bytes_after}
    details = {group.id: group.detail for group in case.model.groups}
    for part in case.parts:
        before, after = part.schedule.bytes_before, part.schedule.bytes_after
        assert before is not None
        assert after is not None
        assert ("saves" in details[f"m:{part.path}"]) == (before > after)


@nested
def test_a_reader_of_a_loops_result_reads_the_op_of_the_body_that_computes_it(case: Case) -> None:
    model = case.model
    read = {(model.nodes[edge.source].id, model.nodes[edge.target].id) for edge in model.edges}
    assert {source for source, target in read if target == "n:cos"} == {"n:while_loop_body_graph_0/mul"}
    assert ("n:sin", "n:invoke_subgraph") in read
    assert ("n:invoke_subgraph", "n:repeated_subgraph0/relu") in read
    assert ("n:repeated_subgraph0/mul", "n:invoke_subgraph_1") in read
    branches = {f"n:while_loop_body_graph_0/{branch}_graph_0/add" for branch in ("true", "false")}
    assert {source for source, target in read if target == "n:while_loop_body_graph_0/tanh"} == branches


@nested
def test_a_fusion_of_a_region_is_one_step_for_all_its_calls(case: Case) -> None:
    titles = [frame.title for frame in fusion_frames(case.schedule, case.nodes, case.kernels, parts=case.parts)]
    assert titles[2:-2] == [
        "Scheduler nodes",
        "Fusion 1 of 4, round 1 of repeated_subgraph0",
        "Fusion 2 of 4, round 2 of repeated_subgraph0",
        "Fusion 3 of 4, round 2 of repeated_subgraph0",
        "Fusion 4 of 4, round 1 of while_loop_body_graph_0_false_graph_0",
    ]
    joins = {node.id: [frame for frame, _ in node.joins] for node in case.model.nodes}
    first, second = (
        {name.removeprefix(prefix): frames for name, frames in joins.items() if name.startswith(prefix)}
        for prefix in ("n:repeated_subgraph0/", "n:repeated_subgraph0#2/")
    )
    assert second
    assert second == first


@pytest.mark.parametrize("case", ["control_flow"], indirect=True)
def test_branches_and_loops_have_their_roles(case: Case) -> None:
    assert tree(case.model)[2] == (
        "while_loop",
        [("condition", [("mul, sub, abs +4", [])]), ("body", [("div, add, mul", [])])],
    )
    (branches,) = [below for label, below in tree(case.model)[0][1] if label == "cond"]  # type: ignore[index]
    assert [label for label, _ in branches] == ["true branch", "false branch"]


@both
def test_a_nested_graph_that_no_op_calls_is_left_out(case: Case) -> None:
    nodes = {name: node for name, node in case.nodes.items() if not node.target.startswith("torch.ops.higher_order")}
    assert nested_parts(case.schedule, nodes, case.compilation.schedules, case.kernels) == ()
    assert isinstance(case.parts[0], NestedGraph)
