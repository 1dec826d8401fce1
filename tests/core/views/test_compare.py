"""The comparison of two runs in words and rows."""

from core.runs.sides import side_of_log
from core.views.compare import CompareView, PairView
from tests.support.places import TRACES


def compared(left: str, right: str) -> CompareView:
    return CompareView(*(side_of_log(TRACES / name / "trace.log") for name in (left, right)))


def pair_of(compare: CompareView, compile_id: str) -> PairView:
    pair = compare.pair(compile_id)
    assert pair is not None
    return pair


def test_labels_of_aspects_count_the_differences() -> None:
    compare = compared("graph_break_zoo", "training_step")
    assert list(compare.aspects(None).values()) == [
        "summary",
        "source · 1",
        "graphs",
        "kernels",
        "guards",
        "breaks and recompiles · 5",
        "compile time",
        "speed",
    ]


def test_events_of_one_run_come_first() -> None:
    rows = compared("graph_break_zoo", "training_step").break_rows
    assert {row["in"] for row in rows} == {"only left"}
    assert rows[0]["right"] == "–"


def test_a_compilation_without_a_counterpart_gives_way_to_the_largest_pair() -> None:
    compare = compared("transformer_block", "training_step")
    assert pair_of(compare, "9/9") == pair_of(compare, "0/0")


def test_the_stages_of_equal_runs_are_the_same() -> None:
    pair = pair_of(compared("transformer_block", "transformer_block"), "0/0")
    assert {label.rpartition(" · ")[2] for label in pair.stages.values()} == {"the same"}
    union = pair.union(pair.first_stage)
    assert (union.change_rows, union.changed) == ([], [])
    assert [frame.title for frame in union.picture.frames] == ["left", "both", "right"]
    assert union.node_title("n:gone") == ""


def test_a_run_that_was_not_measured_has_no_times() -> None:
    compare = compared("foreign", "foreign")
    assert (compare.times, compare.unmeasured, compare.seconds) == (None, ["left", "right"], "")
