"""The measurement of a run's calls in words."""

from pathlib import Path

from core import Report, build_report
from core.report import Setting
from core.views.speedup import CallTotals, SpeedupView
from tests.support.homes import measured_log
from tests.support.logs import recorded_report
from tests.support.places import TRACES


def speedup_of(name: str) -> SpeedupView:
    return SpeedupView(recorded_report(TRACES / name / "trace.log"))


def test_a_measured_run_has_a_method_and_medians_of_both_sides(tmp_path: Path) -> None:
    log = tmp_path / "trace.log"
    log.write_bytes(measured_log())
    speedup = SpeedupView(build_report(log, strict=True))
    assert speedup.title.startswith("2.00× (1.90–2.10) faster in the steady state, pays off after ")
    assert speedup.not_measured == ""
    assert "8 pairs of samples, 10 calls each, after 4 pairs of warm-up" in speedup.method
    assert [name for name, _, _ in speedup.medians] == ["eager", "compiled"]
    assert speedup.break_even is not None


def test_without_a_measurement_there_is_a_reason() -> None:
    assert speedup_of("transformer_block").not_measured == "Measuring was off, or the run ended before it."
    assert speedup_of("target_h100").title == "Nothing was run, so nothing was measured."
    assert SpeedupView(Report(Setting())).title == "No call was recorded."
    assert SpeedupView(Report(Setting())).not_measured.startswith("An imported log has no eager calls.")
    assert SpeedupView(Report(Setting(run="a run"))).not_measured == "The run ended before a call was compared."


def test_totals_begin_with_the_cost_of_compiling() -> None:
    totals = CallTotals(2e-3, 1e-3, 0.02, 15, 25)
    assert (totals.calls[0], totals.calls[-1]) == (1, 50)
    assert (totals.eager_total_s(20), totals.compiled_total_s(20)) == (0.04, 0.04)
