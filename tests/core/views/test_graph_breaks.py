"""Graph breaks in words."""

from dataclasses import replace

from core import Report
from core.base.words import duration_s
from core.report import Setting
from core.views.graph_breaks import GraphBreaksView
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.findings import failing


def breaks_of(name: str) -> GraphBreaksView:
    return GraphBreaksView(recorded_report(TRACES / name / "trace.log"))


def test_titles_count_the_breaks_and_how_often_they_were_hit() -> None:
    titles = [breaks_of(name).title for name in ("graph_break_zoo", "transformer_block")]
    assert titles == [
        "5 graph breaks, hit 10 times.",
        "No graph break: Dynamo captured each frame as one graph.",
    ]
    assert GraphBreaksView(Report(Setting())).title == "No graph break: no frame was compiled."


def test_a_break_that_fullgraph_refused_is_the_title() -> None:
    whole = Setting(job={"compile": {"fullgraph": True}})
    refused, wrong, exported = (
        GraphBreaksView(replace(failing(kind, "no"), graph_breaks=(), setting=setting)).title
        for kind, setting in (("Unsupported", whole), ("ValueError", whole), ("Unsupported", Setting()))
    )
    assert refused == "1 compilation failed at a graph break, which `fullgraph=True` does not allow."
    assert exported == "1 compilation failed at a graph break."
    assert wrong == "No graph break, but 1 compilation failed."


def test_a_box_has_the_line_the_place_and_the_cost_of_a_break() -> None:
    view = breaks_of("graph_break_zoo")
    costs = {cost.graph_break.registry_id: cost for cost in view.costs}
    box = next(box for box in view.boxes if box.graph_break.registry_id == "GB0036")
    in_dynamo, compile_s = duration_s(costs["GB0036"].dynamo_s), duration_s(costs["GB0036"].compile_s)
    assert box.caption == (
        "line 36 in select · hit 2 times, in \\[9/0\\], \\[10/0\\] "
        f"· 3 more frames (2 resume functions), 23 guards, {in_dynamo} in Dynamo "
        f"· code after it: 1 graph, 1 kernel launch, {compile_s} of compile time"
    )
    assert box.line == "`positive = x[x > 0] # the shape of the result depends on data`"
    assert box.given_up == ()
    assert box.stack.splitlines()[:2] == [
        "/compileboard/run/model.py:36 in select",
        "    positive = x[x > 0] # the shape of the result depends on data",
    ]


def test_the_registry_describes_the_kind_of_a_break() -> None:
    entry = breaks_of("graph_break_zoo").boxes[0].registry
    assert entry is not None
    assert entry.link.startswith("[Its page on the web](https://")
    assert entry.origin.endswith("; text in braces is filled in for each break.")


def test_the_file_of_the_most_expensive_break_is_first() -> None:
    assert next(iter(breaks_of("graph_break_zoo").files.items())) == ("model.py", "/compileboard/run/model.py")
