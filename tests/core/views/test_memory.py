"""Measured memory in words, curves and rows."""

from core import Report
from core.report import Setting
from core.views.memory import MemoryPlanView, MemoryView
from tests.support.logs import recorded_report, recorded_side
from tests.support.places import TRACES
from tests.support.reports.remembered import COMPILED, EAGER
from tests.support.tables import values

MEMORY = MemoryView(Report(Setting(), memory=(EAGER, COMPILED)), lambda _: "{}")


def test_a_measurement_has_a_method_and_the_places_of_both_peaks() -> None:
    assert MEMORY.title == "Compiled takes 3.00× less memory: 4.00 kB at its peak, eager 12.0 kB."
    assert "The resident memory of the process grew by: eager 12.3 kB, compiled 4.10 kB." in MEMORY.method
    assert "Eager's peak is at `head · aten::add`, line 5, with 3 tensors alive." in MEMORY.method


def test_a_curve_goes_from_the_start_of_the_call_to_its_end() -> None:
    eager, compiled = MEMORY.curves
    assert (eager.fractions[0], eager.fractions[-1]) == (0.0, 1.0)
    assert (eager.live_bytes[0], eager.labels[0], eager.labels[-1][-10:]) == (0, "eager: 0 B", "at the end")
    assert (eager.peak_bytes, compiled.peak_bytes) == (EAGER.peak_bytes, COMPILED.peak_bytes)


def test_rows_of_a_peak_name_only_known_lines() -> None:
    assert list(MEMORY.alive) == ["eager", "compiled"]
    assert [column.name for column in MEMORY.alive_table("compiled").shown] == ["from", "bytes", "tensors"]


def test_a_run_for_another_device_measured_nothing() -> None:
    memory = MemoryView(recorded_report(TRACES / "target_h100" / "trace.log"), lambda _: "")
    assert (memory.title, memory.uses) == ("Nothing was run, so no memory was measured.", ())
    assert memory.compiled_for.startswith("The code was ")


def test_a_plan_has_a_row_for_each_kernel_call_and_frees_all_but_the_outputs() -> None:
    side = recorded_side(TRACES / "transformer_block" / "trace.log")
    (plan,) = MemoryPlanView.of_codes(side.report.compilations[0], side.text)
    rows = values(plan.table)
    assert [row["call"] for row in rows] == list(range(1, len(rows) + 1))
    assert [row["live"] for row in rows] == plan.live_bytes
    sums = [sum(row[name] for row in rows) for name in ("allocated", "freed")]
    assert (rows[0]["allocated"], rows[0]["freed"], sums) == (528_384, 0, [5_246_976, 4_722_688])
