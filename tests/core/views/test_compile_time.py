"""Phases of compiling in words and rows."""

from dataclasses import replace

from core import Report
from core.report import CacheEvent, Phase, Setting
from core.views.compile_time import CACHE_COLUMNS, PHASE_COLUMNS, CompileTimeView, PhaseOwner
from tests.support.logs import recorded_report
from tests.support.places import TRACES

S = 1_000_000.0
PHASES = (
    Phase("dynamo", "0/0", 5 * S, 15 * S, 0),
    Phase("compile_file", "0/0", 6 * S, 9 * S, 2, thread=1),
    Phase("never ended", "0/0", 14 * S, None, 1),
    Phase("dynamo", "1/0", 20 * S, 21 * S, 0),
)
REPORT = replace(recorded_report(TRACES / "training_step" / "trace.log"), phases=PHASES)


def test_the_title_names_the_most_expensive_phase() -> None:
    assert CompileTimeView(REPORT).title == "11.0 s of compile time; dynamo took the most self time: 8.00 s."
    assert CompileTimeView(Report(Setting())).title == "No phase was recorded."


def test_a_compilation_that_was_not_recorded_leads_to_no_graph_and_no_kernels() -> None:
    assert CompileTimeView(REPORT).owner("9/9") == PhaseOwner("9/9", "", 0.0, has_graph=False, has_kernels=False)


def test_rows_and_their_sum_are_of_the_chosen_compilation() -> None:
    phases = CompileTimeView(REPORT, "1/0")
    assert [[column.value(total) for column in PHASE_COLUMNS] for total in phases.totals] == [
        ["dynamo", 1, 1.0, 1.0, ""]
    ]
    assert phases.rows_note == "The self times add up to 1.00 s, the compile time of [1/0]."


def test_phases_that_never_ended_are_counted() -> None:
    note = CompileTimeView(REPORT).chart_note
    assert note.endswith("Below the dashed line: other threads. 1 phase never ended and cannot be drawn.")


def test_a_phase_leads_to_the_graph_that_it_makes() -> None:
    phases = CompileTimeView(REPORT)
    graph = phases.graph_of("0/0", "0")
    assert graph is not None
    assert graph.stage.startswith("dynamo_")
    assert phases.graph_of("0/0", "99") is None


def test_the_caches_are_described_by_the_jobs_condition_and_a_bypass_by_its_reason() -> None:
    bypass = CacheEvent("aotautograd", "bypass", "0/0", "k" * 60, "Unsupported target")
    notes = {
        caches: CompileTimeView(Report(Setting(job={"conditions": {"caches": caches}}), caches=(bypass,))).cache_notes
        for caches in ("objects", "warm")
    }
    assert notes["warm"] == (
        "`aotautograd` was bypassed: Unsupported target",
        "The FX graph and AOTAutograd caches were on, and an earlier process filled them.",
    )
    assert "caches were off" in notes["objects"][1]
    assert CompileTimeView(Report(Setting())).cache_notes == ()
    row = [column.value(bypass) for column in CACHE_COLUMNS]
    assert row == ["aotautograd", "bypass", "Unsupported target", "0/0", "k" * 60]
