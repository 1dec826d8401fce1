"""Other compilers and runtimes on a run's model: a verdict, counts, and a row for each."""

from dataclasses import replace

import pytest

from core import Report
from core.base.machine import Load
from core.report import Difference, Neighbour, RunError, Setting, SideTimes
from core.views.blocks import Table
from core.views.header import WHY_EMPTY
from core.views.neighbours import COLUMNS, NeighboursView, NeighbourView
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.tables import texts

ROUNDS = 24
RIGHT = (Difference("output", True, dtype="float32"),)
WRONG = (Difference("output", False, "shape", "[2]", "[3]"),)
UNDECIDED = (Difference("output", None, reason="the call draws random numbers"),)


def took(neighbour_s: float, **fields: object) -> SideTimes:
    sides = {"eager": 4e-3, "compiled": 2e-3, "neighbour": neighbour_s}
    return SideTimes({name: (seconds,) * ROUNDS for name, seconds in sides.items()}, **fields)  # type: ignore[arg-type]


ONNX = Neighbour(
    name="ONNX Runtime",
    call="torch.onnx.export(model, inputs, dynamo=True); onnxruntime.InferenceSession(file)",
    install="pip install onnx onnxscript onnxruntime",
    version="1.32.0",
    inputs="f32[8, 64]",
    convert_s=3.5,
    call_s=2e-3,
    differences=RIGHT,
    times=took(1e-3),
)
SLOW = replace(ONNX, name="OpenVINO", version="2026.4.1", times=took(8e-3))
SCRIPT = Neighbour(
    name="TorchScript, scripted",
    call="torch.jit.script(model)",
    version="2.13.0",
    stage="convert",
    problem="NotSupportedError: Compiled functions can't take variable number of arguments",
)
TVM = Neighbour(name="TVM", call="torch.compile(model)", install="pip install apache-tvm", missing=("tvm",))


def of(*neighbours: Neighbour) -> NeighboursView:
    return NeighboursView(Report(Setting(run="a run"), neighbours=neighbours))


def rows_of(*neighbours: Neighbour) -> list[dict[str, str]]:
    return texts(Table("neighbours", COLUMNS, of(*neighbours).neighbours))


@pytest.mark.parametrize(
    ("neighbours", "title", "counts"),
    [
        ((ONNX, SLOW, SCRIPT, TVM), "ONNX Runtime is 2\\.00× \\(2\\.00–2\\.00\\) as fast as compiled\\.",
         "2 of 4 neighbours ran it, 1 is not installed\\."),
        ((SLOW,), "No neighbour with equal results is certainly faster than compiled\\.", "1 of 1 neighbour ran it\\."),
        ((replace(ONNX, differences=WRONG),), "No neighbour with equal results is certainly faster than compiled\\.",
         "1 of 1 neighbour ran it, 1 differs from eager\\."),
        ((replace(ONNX, times=None),), "1 neighbour ran this model; none was timed beside compiled\\.",
         "1 of 1 neighbour ran it\\."),
        ((SCRIPT, TVM, replace(TVM, name="OpenXLA")), "No other compiler or runtime ran this model\\.",
         "0 of 3 neighbours ran it, 2 are not installed\\."),
    ],
)  # fmt: skip
def test_the_title_is_the_fastest_with_equal_results_or_that_there_is_none(
    neighbours: tuple[Neighbour, ...], title: str, counts: str
) -> None:
    view = of(*neighbours)
    assert (view.state, view.title) == ("recorded", title)
    assert view.paragraph.startswith(f"{counts} Each neighbour converts")


def test_a_row_has_what_it_took_and_a_neighbour_that_did_not_run_says_why() -> None:
    rows = rows_of(ONNX, SCRIPT, TVM)
    assert list(rows[0].values()) == [
        *("ONNX Runtime", "1.32.0", "runs", "equals eager", "", "1.00 ms"),
        *("4.00× (4.00–4.00)", "2.00× (2.00–2.00)", "3.50 s", "2.00 ms", ONNX.call),
    ]
    assert [(row["installed"], row["runs this model"], row["result"], row["why"]) for row in rows[1:]] == [
        ("2.13.0", "not converted", "", SCRIPT.problem),
        ("", "not installed", "", "pip install apache-tvm"),
    ]


@pytest.mark.parametrize(
    ("neighbour", "state", "result", "why"),
    [
        (replace(ONNX, differences=WRONG), "runs", "differs", "shape of output: [2] in eager, [3] in ONNX Runtime"),
        (replace(ONNX, differences=UNDECIDED), "runs", "not comparable", "output: the call draws random numbers"),
        (replace(SCRIPT, stage="process", problem="its process crashed: signal 11 (Segmentation fault)"), "ended", "",
         "its process crashed: signal 11 (Segmentation fault)"),
        (replace(SCRIPT, stage="start", problem="it runs here on cuda, and this run is on cpu"), "not tried", "",
         "it runs here on cuda, and this run is on cpu"),
        (replace(ONNX, stage="time", problem="compiled was not timed: it failed"), "runs", "equals eager",
         "compiled was not timed: it failed"),
    ],
)  # fmt: skip
def test_a_neighbour_has_one_state(neighbour: Neighbour, state: str, result: str, why: str) -> None:
    view = NeighbourView(neighbour)
    assert (view.state, view.result, view.why) == (state, result, why)


def test_a_busy_machine_is_a_part_of_the_verdict() -> None:
    busy = replace(ONNX, times=took(1e-3, load=Load(others=0.9, stolen=None, waited=None)))
    assert of(busy).title.endswith(" as fast as compiled; the machine was busy while it was measured\\.")


def test_times_without_compiled_have_no_ratio_with_it() -> None:
    alone = replace(ONNX, times=SideTimes({"eager": (4e-3,) * ROUNDS, "neighbour": (1e-3,) * ROUNDS}))
    assert NeighbourView(alone).over_compiled is None
    assert [rows_of(alone)[0][f"speedup over {side}"] for side in ("eager", "compiled")] == ["4.00× (4.00–4.00)", ""]


def test_too_few_times_are_reported_to_be_too_few() -> None:
    few = replace(ONNX, times=SideTimes(dict.fromkeys(("eager", "compiled", "neighbour"), (1e-3,) * 3)))
    assert rows_of(few)[0]["speedup over compiled"] == "too few samples to say"
    assert of(few).title == "1 neighbour ran this model; none was timed beside compiled\\."


def test_the_command_line_has_the_verdict_and_its_counts() -> None:
    assert of(ONNX, SCRIPT, TVM).line == (
        "neighbours: ONNX Runtime is 2.00× (2.00–2.00) as fast as compiled; "
        "1 of 3 neighbours ran it, 1 is not installed"
    )
    assert of().line == ""


def test_text_of_a_log_is_escaped() -> None:
    hostile = replace(ONNX, name="<b>*x*\n</b>", differences=(Difference("output", None, reason="a\u202eb"),))
    assert of(hostile).title.startswith("\\<b\\>\\*x\\* \\</b\\> is 2")
    assert rows_of(hostile)[0]["neighbour"] == "<b>*x* </b>"
    assert rows_of(hostile)[0]["why"] == "output: a�b"


def test_a_run_without_neighbours_says_why() -> None:
    target = NeighboursView(recorded_report(TRACES / "target_h100" / "trace.log"))
    assert (target.state, target.title) == ("not run", "Nothing was run, so no neighbour was tried.")
    assert target.paragraph.startswith("The code was ")
    assert of().paragraph.startswith("On request, a run also converts its model")
    assert NeighboursView(Report(Setting())).paragraph.startswith("No call was recorded")


def test_the_menu_says_why_the_page_is_empty() -> None:
    why = WHY_EMPTY["neighbours"]
    measured = recorded_report(TRACES / "measured" / "trace.log")
    assert why(measured) == 'No other compiler was tried: turn on "neighbours" in New run'
    assert why(replace(measured, neighbours=(ONNX,))) == ""
    ended = RunError("loading the model", "ValueError", "", "no", (), "")
    assert why(replace(measured, error=ended)) == "The run ended before it was measured"
