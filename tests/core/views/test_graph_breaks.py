"""Graph breaks in words."""

from dataclasses import replace

from core import Report
from core.base.words import duration_s
from core.report import Setting
from core.views.blocks import NOTHING_PICKED, Drawn, Fold, Listing, Picks, Select, words
from core.views.fixes import FixesView
from core.views.graph_breaks import FILE, GraphBreaksView
from core.views.printed import as_text
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
    number, cost = next((place, cost) for place, cost in enumerate(view.costs, 1) if cost is costs["GB0036"])
    in_dynamo, compile_s = duration_s(costs["GB0036"].dynamo_s), duration_s(costs["GB0036"].compile_s)
    card = view.card(number, cost, FixesView("", view.report, "", None, None))
    lines = [*as_text(card.blocks)]
    assert lines[1:3] == [
        "line 36 in select · hit 2 times, in [9/0], [10/0] "
        f"· 3 more frames (2 resume functions), 23 guards, {in_dynamo} in Dynamo "
        f"· code after it: 1 graph, 1 kernel launch, {compile_s} of compile time",
        "`positive = x[x > 0] # the shape of the result depends on data`",
    ]
    stack = next(block for block in card.blocks if isinstance(block, Listing))
    assert stack.code.text.splitlines()[:2] == [
        "/compileboard/run/model.py:36 in select",
        "    positive = x[x > 0] # the shape of the result depends on data",
    ]


def test_the_registry_describes_the_kind_of_a_break() -> None:
    view = breaks_of("graph_break_zoo")
    card = view.card(1, view.costs[0], FixesView("", view.report, "", None, None))
    entry = next(block for block in card.blocks if isinstance(block, Fold) and "registry" in words(block.title))
    *_, origin, link = as_text(entry.blocks)
    assert origin.endswith("; text in braces is filled in for each break.")
    assert link.startswith("Its page on the web (https://")


def test_the_file_with_breaks_is_chosen_only_where_there_are_several() -> None:
    whole = breaks_of("graph_break_zoo").report
    (source,), (first, *rest) = whole.sources, whole.graph_breaks
    other = replace(first, stack=tuple(replace(frame, file="/b.py") for frame in first.stack))
    several = replace(whole, sources=(source, replace(source, path="/b.py")), graph_breaks=(*rest, other))
    for report, fields in ((whole, []), (several, ["b.py", "model.py"])):
        view = GraphBreaksView(report, lambda _: "x = 1")
        options = [block.options for block in view.code_blocks(NOTHING_PICKED) if isinstance(block, Select)]
        assert sorted(option for each in options for option in each) == fields
    picked = [*view.code_blocks(Picks(texts={FILE: "b.py"}))][-1]
    assert isinstance(picked, Drawn)
    assert picked.of == ("/b.py",)
    (sentence,) = GraphBreaksView(whole).code_blocks(NOTHING_PICKED)
    assert [*as_text([sentence])] == ["The log does not contain the code; each graph break has its file and line."]


def test_the_file_of_the_most_expensive_break_is_first() -> None:
    assert next(iter(breaks_of("graph_break_zoo").files.items())) == ("model.py", "/compileboard/run/model.py")
