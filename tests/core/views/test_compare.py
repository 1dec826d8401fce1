"""The comparison of two runs in words and rows."""

from dataclasses import replace

from core.analysis.comparison.figures import Figure, time_comparison
from core.analysis.comparison.run import KeyDifference
from core.report import Load
from core.views.blocks import Bars, Intervals, Table, flat
from core.views.compare import BREAK_COLUMNS, PART_COLUMNS, CompareView, PairView, aspects, unlike_first
from core.views.comparison import CompareTimes
from tests.support.homes import measured_log
from tests.support.logs import recorded_side, report_of
from tests.support.places import TRACES
from tests.support.tables import texts


def compared(left: str, right: str) -> CompareView:
    return CompareView(recorded_side(TRACES / left / "trace.log"), recorded_side(TRACES / right / "trace.log"))


def pair_of(compare: CompareView, compile_id: str) -> PairView:
    pair = compare.pair(compile_id)
    assert pair is not None
    return pair


def test_labels_of_aspects_count_the_differences() -> None:
    compare = compared("graph_break_zoo", "training_step")
    assert [pane.title for pane in aspects(compare, "").panes] == [
        "summary",
        "source · 1",
        "graphs",
        "kernels · 12",
        "guards · 46",
        "breaks and recompiles · 5",
        "compile time",
        "caches",
        "speed",
    ]


def test_a_number_that_neither_run_has_is_on_no_side() -> None:
    compare = compared("measured", "measured")
    missing = Figure("faster than eager", None, None, "×", False, "not measurable", "not measurable")
    one_sided = Figure("faster than eager", None, 1.5, "×", False, "not measurable")
    assert [compare.difference(figure) for figure in (missing, one_sided)] == ["", ""]


def test_events_of_one_run_come_first() -> None:
    events = unlike_first(compared("graph_break_zoo", "training_step").comparison.breaks)
    rows = Table("breaks", BREAK_COLUMNS, events).texts(events).rows
    assert {row[0] for row in rows} == {"only left"}
    assert rows[0][4] == "–"


def test_a_compilation_without_a_counterpart_gives_way_to_the_largest_pair() -> None:
    compare = compared("transformer_block", "training_step")
    assert pair_of(compare, "9/9") == pair_of(compare, "0/0")


def test_the_stages_of_equal_runs_are_the_same() -> None:
    pair = pair_of(compared("transformer_block", "transformer_block"), "0/0")
    assert {label.rpartition(" · ")[2] for label in pair.stages.values()} == {"the same"}
    union = pair.union(pair.first_stage)
    assert union.changes.rows == []
    assert [frame.title for frame in union.picture.frames] == ["left", "both", "right"]
    assert union.node_title("n:gone") == ""


def test_times_of_a_busy_machine_are_not_drawn() -> None:
    side = recorded_side(TRACES / "measured" / "trace.log")
    assert side.report.timing is not None
    busy = replace(side, report=replace(side.report, timing=replace(side.report.timing, load=Load(0.9, 0.5))))
    charts = []
    for right in (side, busy):
        (pane,) = aspects(CompareView(side, right), names=("speed",)).panes
        charts.append([type(block) for block in flat(pane.blocks()) if isinstance(block, Bars | Intervals)])
    assert charts == [[Bars, Intervals], []]


def test_a_run_that_was_not_measured_has_no_times() -> None:
    compare = compared("foreign", "foreign")
    assert (compare.times, compare.unmeasured, compare.seconds) == (None, ["left", "right"], "")


def test_a_claim_needs_intervals_that_can_be_compared() -> None:
    quiet, busy = (report_of(measured_log(seconds)) for seconds in (1e-3, 0.5e-3))
    comparison = time_comparison(quiet, busy, same_eager=True)
    assert comparison is not None
    assert CompareTimes(comparison).claim == "2.00× faster (1.90–2.11)."
    disturbed = replace(comparison, disturbed="the right run ran on a busy machine")
    assert CompareTimes(disturbed).unknown == "Not measurable: the right run ran on a busy machine."
    assert (disturbed.faster, disturbed.slower, comparison.faster) == (False, False, True)
    assert (CompareTimes(comparison).unknown, CompareTimes(replace(comparison, interval=None)).unknown[-1]) == ("", ".")


def test_a_pair_has_the_left_compilation_that_was_requested() -> None:
    compare = compared("recompile_zoo", "recompile_zoo")
    assert [pair_of(compare, f"0/{number}").left for number in range(3)] == ["0/0", "0/1", "0/2"]


def test_each_common_graph_is_united_with_its_counterpart() -> None:
    pair = pair_of(compared("training_step", "training_step"), "0/0")
    unions = [pair.union(graph_id) for graph_id in pair.stages]
    assert len(unions) > 3
    assert [union.changes.rows for union in unions] == [[]] * len(unions)


def test_two_long_values_of_a_cache_key_are_shown_where_they_differ() -> None:
    same = "(0, True, " + "False, " * 40
    part = KeyDifference("call", "aot_config", f"{same}1)", f"{same}None)")
    short = KeyDifference("config", "max_autotune", "False", "True")
    long_row, short_row = texts(Table("parts", PART_COLUMNS, [(part, []), (short, [])]))
    assert (long_row["left"], long_row["right"]) == ("…alse, False, False, 1)", "…alse, False, False, None)")
    assert (short_row["left"], short_row["right"]) == ("False", "True")
