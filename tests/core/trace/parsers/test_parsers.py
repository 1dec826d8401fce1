"""The parsers on recorded traces: golden reports, and the nodes of every graph."""

import pytest

from core import build_report, from_json, to_json
from core.trace.parsers.build import load_graph
from tests.support.places import TRACES

SCENARIOS = sorted(path.parent.name for path in TRACES.glob("*/trace.log"))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_trace_gives_the_golden_report(scenario: str) -> None:
    golden = from_json((TRACES / scenario / "report.json").read_bytes())
    assert build_report(TRACES / scenario / "trace.log", strict=True) == golden
    assert golden.problems == ()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_report_survives_json(scenario: str) -> None:
    report = build_report(TRACES / scenario / "trace.log")
    assert from_json(to_json(report)) == report
    assert from_json(to_json(report, indent=2)) == report


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_graph_of_a_trace_has_its_nodes(scenario: str) -> None:
    log = TRACES / scenario / "trace.log"
    for compilation in build_report(log).compilations:
        for graph in compilation.graphs:
            nodes = load_graph(log, compilation, graph)
            names = {node.name for node in nodes}
            assert sum(node.op.startswith("call_") for node in nodes) == graph.calls
            assert [node.op for node in nodes].count("output") == 1
            assert all(set(node.inputs) <= names for node in nodes)
