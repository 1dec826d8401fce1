"""Phases of compiling in words and rows."""

from dataclasses import replace

from core import Report
from core.analysis.durations import cache_totals
from core.analysis.dynamo.costs import TracedTotal, traced_totals
from core.report import CacheEvent, Counters, Phase, Setting
from core.report.run import DynamoProfile, FilledCaches, TracedFunction
from core.views.compile_time import (
    CACHE_COLUMNS,
    PHASE_COLUMNS,
    TOTAL_COLUMNS,
    CompileTimeView,
    PhaseOwner,
    second_start_words,
)
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


def test_lookups_of_each_cache_are_those_that_torch_counts() -> None:
    counters = Counters({"dynamo_cache": {"dynamo_cache_hit": 1}, "inductor": {"async_compile_cache_miss": 2}}, {})
    events = tuple(CacheEvent("fx_graph", outcome, "0/0") for outcome in ("hit", "hit", "bypass"))
    report = Report(Setting(), phases=PHASES, caches=events, counters=counters)
    assert [[column.value(total) for column in TOTAL_COLUMNS] for total in cache_totals(report)] == [
        ["Dynamo's code", 1, 0, None, ""],
        ["AOTAutograd", None, None, None, "this log does not say"],
        ["FX graph", 2, 0, 1, ""],
        ["C++ objects", None, 1, None, ""],
        ["Triton kernels", None, 2, None, ""],
        ["autotuning", None, None, None, "not used"],
        ["sizes seen before (PGO)", None, None, None, "this log does not say"],
    ]


def test_a_second_start_has_the_seconds_of_both_processes_and_the_size_of_the_bundle() -> None:
    filled = FilledCaches(took_s=8.0, exit_code=0, calls_s=(6.0, 1.0), bundle_bytes=2000, save_s=0.5, load_s=0.25)
    assert second_start_words(REPORT, filled) == (
        "The compiled calls of the first process took 7.00 s, compiling included (8.00 s with loading the model). This "
        "process compiled for 11.0 s. `torch.compiler.save_cache_artifacts` wrote 2.00 kB in 500 ms, loaded in 250 ms."
    )
    failed = second_start_words(REPORT, FilledCaches(took_s=1.0, exit_code=-9))
    assert failed == "The process that was to fill the caches ended with exit code -9."


def test_seconds_of_library_functions_count_for_the_users_function_that_calls_them() -> None:
    library = "/venv/lib/python3.11/site-packages/torch/nn/functional.py"
    functions = (
        TracedFunction("forward", "/me/net.py", 9, None, 1, 10.0, 1.0),
        TracedFunction("block", "/me/net.py", 3, 0, 4, 8.0, 2.0),
        TracedFunction("gelu", library, 7, 1, 4, 5.0, 5.0),
        TracedFunction("block", "/me/net.py", 3, 1, 1, 1.0, 1.0),
        TracedFunction("linear", library, 8, 0, 1, 1.0, 1.0),
    )
    (first, *others) = REPORT.compilations
    report = replace(REPORT, compilations=(replace(first, traced=DynamoProfile(functions)), *others))
    assert traced_totals(report) == (
        TracedTotal("block", "/me/net.py", 3, 5, 8.0, 8.0),
        TracedTotal("forward", "/me/net.py", 9, 1, 2.0, 10.0),
    )
