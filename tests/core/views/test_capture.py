"""Captures: the graphs of one model side by side, the nodes of each line, and torch's own summary."""

from collections import Counter
from dataclasses import replace

from core import CompileJob, Model
from core.report import Capture, Explanation, Frame, Report
from core.trace.parsers.build import load_graph, load_text
from core.views.capture import CaptureView, _listed, _statements
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.tables import table_of, texts, values

LOG = TRACES / "captured" / "trace.log"
REPORT = recorded_report(LOG)


def captures(report: Report = REPORT) -> CaptureView:
    compilation = REPORT.compilations[0]
    return CaptureView(
        report,
        compilation,
        lambda graph: load_graph(LOG, compilation, graph),
        lambda payload: load_text(LOG, payload),
    )


def test_the_title_counts_the_nodes_of_each_graph() -> None:
    assert captures().title == (
        "10 nodes by symbolic_trace, 10 by Dynamo, 10 by torch.export, 11 by core ATen, 15 by AOTAutograd. Their "
        "results equal eager's."
    )
    differing = replace(REPORT, captures=tuple(replace(item, equal=item.way != "export") for item in REPORT.captures))
    assert captures(differing).title.endswith("torch.export: results differ from eager.")


def test_a_leaf_module_is_one_node_and_a_parameter_an_attribute() -> None:
    rows = {row["capture"]: row for row in values(table_of(captures().tab("graphs"), "captures"))}
    assert (rows["symbolic_trace"]["inputs"], rows["symbolic_trace"]["attributes"]) == (1, 1)
    assert (rows["torch.export"]["inputs"], rows["torch.export"]["attributes"]) == (4, 0)
    reasons = list(captures().reasons)
    assert reasons[0].startswith("`symbolic_trace` has 1 node `call_module`, such as `layers.0`")
    assert reasons[1].startswith("`torch.export` has 3 inputs more than `symbolic_trace`")
    assert reasons[2] == (
        "Core ATen has no `aten.linear.default`, `aten.softmax.int`; it has `aten.permute.default`, "
        "`aten.addmm.default`, `aten._softmax.default` instead."
    )


def test_each_line_has_its_nodes_and_a_line_without_a_tensor_has_none() -> None:
    rows = {row["code"]: row for row in values(captures().line_table)}
    assert [(code, row["symbolic_trace"], row["Dynamo"], row["torch.export"]) for code, row in rows.items()] == [
        ("rows = x.shape[0]", 2, 0, 0),
        ("x = self.layers[0](x)", 1, 1, 1),
        ("x = torch.relu(x) * self.scale + rows", 4, 3, 3),
        ("return x.softmax(-1)", 1, 1, 1),
    ]
    assert captures().lines_title == "Dynamo: 2 lines became one node, 1 several, 1 none."


def test_lines_of_an_enclosing_or_nested_function_are_not_counted_as_captured() -> None:
    inner = '    def inner(x):\n        """Doc."""\n        if x:\n            y = 1\n        return y\n'
    text = f"def outer():\n    rows = 1\n{inner}    return inner\n"
    assert sorted(_statements(text, {6: Counter()})) == [5, 6, 7]
    assert sorted(_statements(text, {2: Counter()})) == [2, 3, 8]


def test_the_nodes_have_torchs_columns() -> None:
    row = next(row for row in texts(captures().node_table) if row["op"] == "call_module")
    assert row == {
        "capture": "symbolic_trace",
        "op": "call_module",
        "name": "layers_0",
        "target": "layers.0",
        "args": "x",
        "users": "1",
        "value": "f32[2, 4]",
        "line": "model.py:14",
    }


def test_one_drawing_has_all_graphs_and_a_node_of_it_is_found_by_its_id() -> None:
    view = captures()
    picture = view.picture.model
    assert [group.label for group in picture.groups if group.kind == "direction"] == [
        "symbolic_trace", "Dynamo", "torch.export", "core ATen", "AOTAutograd",
    ]  # fmt: skip
    assert view.node_facts("n:layers_0@symbolic_trace")["name"] == "`layers_0` call_module"
    assert view.node_facts("n:layers_0@export") == {}
    assert view.node_facts(None) == {}


def test_a_model_that_cannot_be_traced_says_why_and_where() -> None:
    frame = Frame("/m.py", 7, "forward", "if x.sum() > 0:")
    failed = Capture("symbolic_trace", "torch.fx.symbolic_trace(model)", 0.1, problem="TraceError: no", frames=(frame,))
    view = captures(replace(REPORT, captures=(failed,)))
    assert list(view.failures) == [r"**symbolic_trace** at `if x.sum() > 0:` (`m.py:7`): TraceError\: no"]
    assert "No graph by symbolic_trace." in view.title


def test_the_figures_of_explain_stand_beside_the_runs_and_a_difference_is_explained() -> None:
    figures = values(table_of(captures().tab("explain()"), "explain"))
    rows = {row["figure"]: (row["explain()"], row["this run"]) for row in figures}
    assert rows["graphs"] == (1, 1)
    assert rows["ops"] == (4, 5)
    assert all(bool(row["note"]) == (row["explain()"] != row["this run"]) for row in figures)
    raised = captures(replace(REPORT, explained=Explanation(seconds=0.1, problem="RuntimeError: no")))
    assert raised.explained_rows == []
    assert raised.explain_note == r"`torch._dynamo.explain` raised RuntimeError\: no"


def test_a_run_without_other_captures_is_run_again_with_them() -> None:
    job = CompileJob(Model("sample", "mlp"), measure=True)
    assert CaptureView.capturing(job) == replace(job, capture=True, measure=False)
    assert CaptureView.capturing(replace(job, capture=True)) is None
    assert CaptureView.capturing(CompileJob(Model("code", "", ""))) is None
    assert not captures(replace(REPORT, captures=())).is_recorded


def test_at_most_four_targets_are_named() -> None:
    targets = [f"torch.ops.aten.op{number}" for number in range(5)]
    assert _listed(targets[:4]) == "`aten.op0`, `aten.op1`, `aten.op2`, `aten.op3`"
    assert _listed(targets) == "`aten.op0`, `aten.op1`, `aten.op2`, `aten.op3` and 1 more"
    assert _listed(()) == "other ops"
