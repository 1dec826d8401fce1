"""The header of a run: its facts, and the content of each page."""

import pytest

from core import Status
from core.report import Report, Setting
from core.runs.status import State
from core.views.header import HeaderFact, HeaderView, PageContent, kind_words, page_contents
from tests.support.logs import recorded_report
from tests.support.places import TRACES


def report_of(name: str) -> Report:
    return recorded_report(TRACES / name / "trace.log")


def test_the_verdict_in_facts() -> None:
    view = HeaderView(Status("done", 0.0, kind="log"), report_of("transformer_block"), None)
    assert [fact[:4] for fact in view.facts[:7]] == [
        ("done", "", "ok", "overview"),
        ("0", "graph breaks", "ok", "graph_breaks"),
        ("0", "recompiles", "ok", "recompiles"),
        ("same", "result", "ok", "speedup"),
        ("1", "graph", "", "fx_graph"),
        ("26", "post-grad ops → 6 kernels", "", "kernels"),
        ("−12.3 %", "memory traffic", "", "fusion"),
    ]


@pytest.mark.parametrize(("state", "tone"), [("done", "ok"), ("failed", ""), ("cancelled", "")])
def test_equal_results_are_a_success_of_a_run_that_came_to_its_end(state: State, tone: str) -> None:
    facts = HeaderView(Status(state, 0.0), report_of("transformer_block"), None).facts
    assert [fact.tone for fact in facts if fact.label.startswith("result")] == [tone]


@pytest.mark.parametrize(
    ("status", "report", "state"),
    [
        (Status("crashed", 0.0, reason="killed"), None, HeaderFact("crashed", "", "bad", "overview", "killed")),
        (Status("done", 0.0, kind="log"), Report(Setting()), HeaderFact("no trace", "", "bad", "overview")),
        (Status("running", 0.0), Report(Setting()), HeaderFact("running", "", "live", "overview")),
    ],
)
def test_without_a_verdict_the_state_is_alone(status: Status, report: Report | None, state: HeaderFact) -> None:
    assert [fact for fact in HeaderView(status, report, None).facts if fact.tone != "quiet"] == [state]


def test_a_header_says_where_a_log_comes_from() -> None:
    opened, recorded = (Status("done", 0.0, kind="log", in_process=own) for own in (False, True))
    values = [HeaderView(status, report_of("foreign"), None).facts[-2].value for status in (opened, recorded)]
    assert values == ["opened log", "recorded in a user's process"]
    assert kind_words(Status("done", 0.0)) == "run"


def test_several_compilations_are_distinguished_by_their_ops() -> None:
    labels = HeaderView(Status("done", 0.0), report_of("recompile_zoo"), None).compilations
    assert list(labels) == [compilation.id for compilation in report_of("recompile_zoo").compilations]
    assert all(" op" in label for label in labels.values())


def test_a_live_run_has_no_empty_pages() -> None:
    report = report_of("graph_break_zoo")
    assert page_contents(report, live=False)["partition"] == PageContent(
        None, "No backward graph: only training has one"
    )
    assert {content.why_empty for content in page_contents(report, live=True).values()} == {""}
    assert page_contents(report, live=True)["graph_breaks"] == PageContent(5)
    assert page_contents(None, live=True) == {}
    assert set(page_contents(None, live=False).values()) == {PageContent(None, "The run recorded nothing")}
