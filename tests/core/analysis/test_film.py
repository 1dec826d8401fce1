"""The film of the passes: on recorded logs, and on literal records."""

import pytest

from core.analysis.film import film, intervals
from core.report import Compilation, Frame, FxGraph, FxNode, GraphPass, Payload, Place, Stage
from core.trace.parsers.fx_text import parse_graph
from tests.record import SCENARIOS
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.films import NodesOf, check, reader

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


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_segment_of_a_recorded_log_ends_with_torchs_own_graph(scenario: str) -> None:
    log = TRACES / scenario / "trace.log"
    for compilation in recorded_report(log).compilations:
        check(compilation, reader(log, compilation))


def test_a_foreign_log_shows_its_graphs_as_frames() -> None:
    log = TRACES / "foreign" / "trace.log"
    compilation = recorded_report(log).compilations[0]
    segments = film(compilation, reader(log, compilation))
    assert [segment.id for segment in segments] == ["dynamo", "joint", "forward", "backward"]
    assert [(frame.title, frame.recorded, frame.duration_us) for frame in segments[3].frames] == [
        ("aot_backward_graph", True, None),
        ("before_post_grad_graph", False, None),
    ]


def literal(passes: tuple[GraphPass, ...], last: str = AFTER) -> tuple[Compilation, NodesOf]:
    """A compilation with the graph before and after the joint passes."""
    texts: dict[Stage, str] = {"before_joint_graph": BEFORE, "after_joint_graph": last}
    graphs = tuple(FxGraph(stage, stage, "joint", 0, Payload(0, 0), {}) for stage in texts)
    compilation = Compilation(
        "0/0", Frame("/m.py", 1, "f"), (), 1, "ok", "", graphs, (), None, (), (), (), passes=passes
    )  # fmt: skip
    return compilation, lambda graph: parse_graph(texts[graph.stage])


def one_pass(name: str, **fields: tuple[object, ...]) -> GraphPass:
    empty = dict.fromkeys(("patterns", "added", "after", "removed", "rewritten", "order", "nodes"), ())
    return GraphPass("joint", "before_joint_graph", name, 5.0, Place("torch/p.py", 1), **{**empty, **fields})  # type: ignore[arg-type]


def nodes(text: str, *known: str) -> tuple[FxNode, ...]:
    return parse_graph(f"def forward(self):\n    {text}", external=known)


def test_passes_are_replayed_and_what_they_do_not_explain_is_a_frame_of_its_own() -> None:
    view = one_pass("remove_noop_ops", removed=("view",), rewritten=("output",), nodes=nodes("return (sin,)", "sin"))
    text = "cos = torch.ops.aten.cos.default(x)\n    return (cos,)"
    cos = one_pass("", added=("cos",), after=("x",), removed=("sin",), rewritten=("output",), nodes=nodes(text, "x"))
    compilation, nodes_of = literal((view, cos))
    (segment,) = film(compilation, nodes_of)
    assert [(frame.title, frame.stage, frame.recorded, frame.added, frame.removed) for frame in segment.frames] == [
        ("before_joint_graph", "", True, (), ()),
        ("remove_noop_ops", "joint", True, (), ("view",)),
        ("other changes", "joint", True, ("cos",), ("sin",)),
        ("other changes", "", False, ("neg",), ()),
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
