"""Results and nodes compared with float64, in words and rows."""

from pathlib import Path

from core import Report, build_report
from core.report import Setting
from core.views.numerics import NumericsView
from tests.support.logs import recorded_report
from tests.support.numerics import EXACT, GRAPH, RIGHT, WRONG, numerics_log
from tests.support.places import TRACES
from tests.support.tables import table_of, texts


def numerics_of(path: Path, log: bytes) -> NumericsView:
    (path / "trace.log").write_bytes(log)
    return NumericsView(build_report(path / "trace.log"))


def test_results_that_differ_come_first(tmp_path: Path) -> None:
    numerics = numerics_of(tmp_path, numerics_log(("output", EXACT), ("buffer `seen`", WRONG)))
    assert numerics.state == "recorded"
    assert [(row["result"], row["compiled is"]) for row in texts(table_of([numerics.results], "results"))] == [
        ("buffer `seen`", "differs"),
        ("output", "the same bits"),
    ]
    assert [(point.name, point.call, point.errors["compiled"]) for point in numerics.points] == [
        ("buffer `seen`", 0, 0.5),
        ("output", 0, 0.0),
    ]


def test_the_first_node_that_differs_is_chosen_if_none_is_selected(tmp_path: Path) -> None:
    numerics = numerics_of(tmp_path, numerics_log(("output", RIGHT), graph=GRAPH))
    (compilation,) = numerics.report.compilations
    assert numerics.without_nodes(compilation) == ""
    graph = numerics.nodes_of(compilation, lambda *_: ())
    assert (graph.first_to_differ, graph.chosen(""), graph.chosen("linear")) == ("gelu", "gelu", "linear")
    assert [point.position for point in graph.points] == [0, 1, 3, 4]
    assert [row["compiled is"] for row in texts(graph.table)] == [
        *("as right as eager", "as right as eager", "not compared", "first to differ", "differs"),
    ]


def test_a_run_without_a_comparison_says_why() -> None:
    states = {name: NumericsView(recorded_report(TRACES / name / "trace.log")) for name in ("target_h100", "foreign")}
    assert {name: view.state for name, view in states.items()} == {"target_h100": "not run", "foreign": "not recorded"}
    assert states["foreign"].paragraph == "No call was recorded: an imported log has no eager calls."
    assert NumericsView(Report(Setting(run="a run"))).paragraph == "The run ended before a call was compared."
