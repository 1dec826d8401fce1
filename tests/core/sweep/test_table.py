"""The table of a sweep: a row for each cell, made of its run's report alone, and what is written of it."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from core import Axis, CompileJob, Model, Report, Status, Store, Sweep, SweepStore, from_json, new_sweep
from core.analysis.interval import Interval
from core.analysis.speed import speed
from core.report import Compilation, SideTimes, WrapperTime
from core.sweep.presets.modes import stop
from core.sweep.store import SETTLED, SweepRow
from core.sweep.table import as_csv, as_json, directions_s, row, standing_of, table
from core.sweep.table import rows as rows_of
from core.views.sweep.view import progress_words, row_words, text_table
from tests.support.homes import add_run
from tests.support.places import TRACES
from tests.support.reports.timed import ITEM
from tests.support.sweeps import add_sweep, called, timed

AT = ("measured", "recompile_zoo", "eager_backend", "error", "waiting")


def recorded(name: str) -> Report:
    return from_json((TRACES / name / "report.json").read_bytes())


@pytest.fixture(scope="module")
def sweep() -> Sweep:
    made = new_sweep(CompileJob(Model("sample", "mlp")), (Axis("seed", (0, 1, 2, 3, 4), AT),))
    return replace(made, runs=AT[:4])


@pytest.fixture(scope="module")
def rows(sweep: Sweep) -> tuple[SweepRow, ...]:
    return table(sweep, {name: recorded(name) for name in AT[:4]})


def test_each_row_shows_what_the_report_of_its_run_says(rows: tuple[SweepRow, ...]) -> None:
    told = [(row.at, row.run, row.state, row.compilations, row.graphs, row.breaks, row.recompiles) for row in rows]
    assert told == [
        (("measured",), "measured", "done", 1, 1, 0, 0),
        (("recompile_zoo",), "recompile_zoo", "done", 9, 8, 0, 7),
        (("eager_backend",), "eager_backend", "done", 1, 1, 0, 0),
        (("error",), "error", "failed", 2, 2, 1, 0),
        (("waiting",), "", "waiting", None, None, None, None),
    ]
    made = [(row.kernels, row.kernel_calls, row.results) for row in rows[:3]]
    assert made == [(6, 9, "same"), (2, 2, "same"), (0, 0, "same")]
    assert rows[3].error == "ValueError while call 1: eager: at most four rows"
    assert rows[4] == SweepRow(("waiting",))


def test_speed_of_a_row_is_that_of_its_report(rows: tuple[SweepRow, ...]) -> None:
    found = speed(recorded("measured").timing)
    assert found is not None
    row = rows[0]
    assert (row.eager_s, row.compiled_s, row.ratio, row.claim) == (
        found.eager_s,
        found.compiled_s,
        found.interval,
        "faster",
    )
    assert (row.eager_quartiles_s, row.samples) == (found.eager_quartiles_s, found.samples)
    assert sum(row.phases_s.values()) == pytest.approx(row.compile_s)
    calls = recorded("measured").calls
    assert (row.first_eager_s, row.first_compiled_s) == (calls[0].eager_s, calls[0].compiled_s)


def test_calls_show_the_compilations_that_they_met(rows: tuple[SweepRow, ...]) -> None:
    calls = recorded("recompile_zoo").calls
    assert [call.inputs for call in rows[1].calls] == [call.inputs for call in calls]
    assert sum(call.compilations or 0 for call in rows[1].calls) == rows[1].compilations


def test_where_no_difference_was_seen_there_is_no_speedup(sweep: Sweep) -> None:
    report = replace(
        recorded("measured"), timing=SideTimes({"eager": (1e-3, 1.1e-3) * 20, "compiled": (1.1e-3, 1e-3) * 20})
    )
    row = table(sweep, {"measured": report})[0]
    assert (row.claim, row.clear, row.ratio is not None) == ("no difference seen", False, True)
    written = next(csv.DictReader(io.StringIO(as_csv(sweep.axes, [row]))))
    assert (written["claim"], written["speedup"], float(written["ratio_low"]) < 1) == ("no difference seen", "", True)
    assert row_words(row).startswith("no difference seen")


def test_a_stored_row_is_shown_at_the_cell_of_its_run(tmp_path: Path) -> None:
    made = new_sweep(CompileJob(Model("sample", "mlp")), (Axis("batch", (1, 2)),))
    stored = add_sweep(tmp_path, made, [timed("7", kernels=3), timed("2", kernels=4)])
    assert [(row.at, row.kernels) for row in rows_of(SweepStore(Store(tmp_path)), stored)] == [(("1",), 3), (("2",), 4)]


def test_csv_and_json_hold_every_row(sweep: Sweep, rows: tuple[SweepRow, ...]) -> None:
    written = list(csv.DictReader(io.StringIO(as_csv(sweep.axes, rows))))
    assert [(line["seed"], line["run"], line["state"], line["kernels"]) for line in written] == [
        ("measured", "measured", "done", "6"),
        ("recompile_zoo", "recompile_zoo", "done", "2"),
        ("eager_backend", "eager_backend", "done", "0"),
        ("error", "error", "failed", "2"),
        ("waiting", "", "waiting", ""),
    ]
    assert float(written[0]["speedup"]) == rows[0].ratio.middle  # type: ignore[union-attr]
    found = as_json(sweep, rows)
    assert [row["run"] for row in found["rows"]] == [row.run for row in rows]
    assert (found["sweep"]["id"], found["sweep"]["axes"][0]["field"]) == (sweep.id, "seed")


@pytest.mark.promise("text")
def test_what_a_spreadsheet_would_take_for_a_formula_is_text(sweep: Sweep) -> None:
    """CSV files from the command line contain no formula."""
    row = SweepRow(("=1+1",), "run", "failed", "@SUM(A1)\n-1")
    written = next(csv.DictReader(io.StringIO(as_csv(sweep.axes, [row]))))
    assert (written["seed"], written["error"]) == ("'=1+1", "'@SUM(A1)\n-1")


def test_table_of_text_leaves_out_what_says_nothing_and_cannot_be_printed() -> None:
    rows = [
        SweepRow(
            ("a\x1b[31m\n",), "r", "done", eager_s=1e-3, compiled_s=5e-4, ratio=Interval(1.9, 2, 2.1), claim="faster"
        )
    ]
    rows += [SweepRow(("b",), "s", "failed", "ImportError: no\ntvm")]
    made = text_table(
        new_sweep(CompileJob(Model("sample", "mlp")), (Axis("backend", ("a", "b")),)),
        rows,
        {"stops after": ["", "Dynamo"]},
    )
    assert made.head == ("backend", "eager", "compiled", "compiled against eager", "stops after", "")
    assert made.rows == (
        ("a [31m", "1.00 ms", "500 µs", "2.00× (1.90–2.10) faster than eager", "", ""),
        ("b", "", "", "", "Dynamo", "failed: ImportError: no tvm"),
    )


def test_status_of_a_run_shows_a_row_without_a_report(sweep: Sweep) -> None:
    status = Status("timed out", 1.0, started_s=2.0, ended_s=5.0, reason="not done after 3 s")
    row = table(sweep, {}, {"measured": status})[0]
    assert row == SweepRow(("measured",), "measured", "timed out", "not done after 3 s", took_s=3.0)


@pytest.mark.parametrize(
    ("states", "alive", "to_stop", "reason", "words"),
    [
        (("done", "done", "failed"), False, False, "", "done, 2 of 3 cells done, 1 failed"),
        (("done", "running", "waiting"), True, False, "", "going, 1 of 3 cells done, about 4 s left, an estimate"),
        (("done", "running", "waiting"), True, True, "", "stopping, 1 of 3 cells done, about 4 s left, an estimate"),
        (("done", "cancelled", "waiting"), False, True, "", "cancelled, 1 of 3 cells done"),
        (("done", "interrupted", "waiting"), False, False, "", "interrupted, 1 of 3 cells done"),
        (("waiting", "waiting", "waiting"), False, False, "no room", "stopped, 0 of 3 cells done, no room"),
        (("waiting", "running", "waiting"), True, False, "", "going, 0 of 3 cells done"),
    ],
)
def test_standing_shows_how_far_a_sweep_is(
    states: tuple[str, ...], alive: bool, to_stop: bool, reason: str, words: str
) -> None:
    took_s = {"running": 2.0, **dict.fromkeys(SETTLED, 3.0)}
    rows = [SweepRow((state,), "run", state, took_s=took_s.get(state)) for state in states]  # type: ignore[arg-type]
    assert progress_words(standing_of(rows, alive, to_stop, reason)) == words


def test_results_are_those_of_the_calls_that_were_compared() -> None:
    refused = called("fail_on_recompile", 1, 0, 0, how=("compiled", "raised", "raised"))
    assert [replace(refused, results=results).outcome for results in ("same", "")] == ["same in 1 of 3 calls", ""]
    assert replace(called("default", 1, 0), results="same").outcome == "same"


def test_the_wrappers_seconds_are_those_of_the_newest_compilation_of_each_frame() -> None:
    def compiled(compile_id: str, *times: WrapperTime) -> Compilation:
        return replace(ITEM, id=compile_id, wrapper_times=times)

    compilations = (
        compiled("0/0", WrapperTime("forward", (9.0,), 1)),
        compiled("0/1", WrapperTime("forward", (1.0, 3.0, 2.0), 1), WrapperTime("backward", (4.0,), 1)),
        compiled("1/0", WrapperTime("forward", (0.5,), 1), WrapperTime("", (7.0,), 1), WrapperTime("backward", (), 1)),
    )
    assert directions_s(compilations) == {"forward": 2.5, "backward": 4.0}


def test_the_row_of_an_ended_run_is_stored(tmp_path: Path) -> None:
    run = add_run(tmp_path, "mlp", b"", state="failed", reason="no")
    folder = tmp_path / "rows"
    folder.mkdir()
    made = row(SweepStore(Store(tmp_path)), folder, ("1",), run.id)
    (stored,) = folder.iterdir()
    assert msgspec.json.decode(stored.read_bytes(), type=SweepRow) == made
    assert made.state == "failed"


@pytest.mark.parametrize(
    ("row", "last"),
    [
        (SweepRow(("a",), stages=("inductor_post_grad_graph",)), "code generation"),
        (SweepRow(("a",), kernels=2), "code generation"),
        (SweepRow(("a",), stages=("aot_joint_graph", "dynamo_output_graph")), "AOTAutograd"),
        (SweepRow(("a",), stages=("dynamo_output_graph",)), "Dynamo"),
        (SweepRow(("a",)), ""),
    ],
)
def test_the_last_stage_in_the_log_is_where_a_row_stops(row: SweepRow, last: str) -> None:
    assert stop(row) == last
