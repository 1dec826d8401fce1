"""The kernel ledger, on literal reports: what a row says, in which order, and what the sums are."""

from dataclasses import replace

import pytest

from core.analysis.kernels.kernel import FALLBACK, FALLBACK_NODE, kernels_disturbed
from core.analysis.kernels.ledger import allowed_s, ceilings, ledger
from core.analysis.speed import LedgerSum, summary
from core.code.stages import occupancy
from core.job.targets import TARGETS
from core.report import (
    Binary,
    Config,
    Counters,
    KernelCall,
    KernelTime,
    Load,
    Report,
    Setting,
)
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.timed import GELU, ITEM, LIMITS, LINE, MM, REPORT, TIMED, UNTIMED


def test_worst_is_first_by_time_above_the_roofline_and_not_by_time() -> None:
    quick = replace(GELU, bytes_read=10_000, bytes_written=10_000)
    rows = ledger(REPORT, replace(ITEM, kernels=(MM, quick)))
    assert [row.name for row in rows] == ["cpp_fused_gelu_0", "extern_kernels.mm"]
    assert [row.total_s for row in rows] == [2e-3, 2.5e-3]
    assert [row.wasted_s for row in rows] == pytest.approx([2e-3 - 2 * 0.2e-6, 0.5e-3])


def test_row_of_a_kernel_that_memory_limits() -> None:
    row = next(row for row in ledger(REPORT, ITEM) if row.kernel == GELU.id)
    assert (row.calls, row.time_s, row.timed, row.in_place_s) == (2, 1e-3, "alone", 1.1e-3)
    assert (row.bytes_moved, row.bandwidth_bytes_s) == (8_000_000, 8e9)
    assert (row.allowed_s, row.fraction) == pytest.approx((0.8e-3, 0.8))
    assert row.wasted_s == pytest.approx(0.4e-3)
    assert row.share == pytest.approx(2e-3 / 4.5e-3)
    assert row.quartiles_s == pytest.approx((0.95e-3, 1.05e-3))
    assert (row.ops, row.modules, row.frames) == (("mul", "erf"), (("L['self']", "MLP"),), (LINE,))


def test_flops_are_torchs_or_said_to_be_counted_by_op_and_iteration() -> None:
    rows = {row.kernel: row for row in ledger(REPORT, ITEM)}
    assert (rows[MM.id].flops, rows[MM.id].flops_estimated) == (2_000_000_000, False)
    assert (rows[GELU.id].flops, rows[GELU.id].flops_estimated) == (2 * 250, True)
    assert rows[MM.id].intensity == 20_000
    assert rows[MM.id].flops_s == pytest.approx(2e9 / 2.5e-3)


@pytest.mark.parametrize(
    ("origin", "precision", "has_tf32", "tf32_flops_s", "allowed_s"),
    [
        ("mm", "highest", True, None, 2e-3),
        ("mm", "high", False, None, 2e-3),
        ("mm", "high", True, None, None),
        ("mm", "high", True, 2e12, 1e-3),
        ("convolution", "highest", False, None, 2e-3),
        ("convolution", "highest", True, None, None),
        ("convolution", "highest", True, 2e12, 1e-3),
        ("convolution_backward", "highest", True, None, None),
    ],
)
def test_a_product_is_held_against_the_peak_of_the_units_that_multiply_it(
    origin: str, precision: str, has_tf32: bool, tf32_flops_s: float | None, allowed_s: float | None
) -> None:
    """cuDNN's convolutions of float32 use TF32 by default: torch.backends.cudnn.allow_tf32."""
    peaks = {**LIMITS.flops_s, **({"tfloat32": tf32_flops_s} if tf32_flops_s else {})}
    counters = Counters({}, {}, float32_matmul_precision=precision, has_tf32=has_tf32)
    report = replace(REPORT, roofline=replace(LIMITS, flops_s=peaks), counters=counters)
    (row,) = ledger(report, replace(ITEM, kernels=(replace(MM, origins=(origin,)),)))
    assert row.allowed_s == (None if allowed_s is None else pytest.approx(allowed_s))


def test_a_generated_kernel_with_a_convolutions_bias_in_it_is_held_against_float32() -> None:
    counters = Counters({}, {}, float32_matmul_precision="highest", has_tf32=True)
    fused = replace(GELU, origins=("convolution", "mul_1"))
    (row,) = ledger(replace(REPORT, counters=counters), replace(ITEM, kernels=(fused,)))
    assert row.allowed_s == 0.8e-3


@pytest.mark.parametrize(
    ("taken_s", "fraction", "above"), [(4e-3, 0.5, False), (1.9e-3, 1.0, False), (1.5e-3, None, True)]
)
def test_no_kernel_reaches_more_than_the_roofline(taken_s: float, fraction: float | None, above: bool) -> None:
    quick = replace(MM, calls=(KernelCall(20, KernelTime(1, (taken_s, taken_s), 1, (taken_s,), "warm")),))
    (row,) = ledger(REPORT, replace(ITEM, kernels=(quick,)))
    assert (row.fraction, row.above_ceilings) == (fraction, above)


def test_attention_whose_flops_are_not_counted_has_no_roofline() -> None:
    attention = replace(MM, origins=("_scaled_dot_product_flash_attention",), flops=None)
    (row,) = ledger(REPORT, replace(ITEM, kernels=(attention,)))
    assert (row.time_s, row.flops, row.allowed_s, row.wasted_s) == (2.5e-3, None, None, None)


def test_a_kernel_that_is_called_twice_has_two_rows_with_half_of_its_bytes_each() -> None:
    twice = replace(GELU, calls=(KernelCall(10), KernelCall(12)), bytes_read=9, bytes_written=3)
    rows = sorted(ledger(REPORT, replace(ITEM, kernels=(twice,))), key=lambda row: row.line or 0)
    assert [(row.id, row.bytes_read, row.bytes_written) for row in rows] == [
        (f"{twice.id}@10", 5, 2),
        (f"{twice.id}@12", 4, 1),
    ]


def test_a_kernel_that_was_not_timed_by_itself_counts_in_place() -> None:
    late = replace(TIMED, samples_s=(), reason="the time to measure kernels was used up")
    (row,) = ledger(REPORT, replace(ITEM, kernels=(replace(GELU, calls=(KernelCall(10, late),)),)))
    assert (row.timed, row.time_s, row.reason) == ("in the call", 1.1e-3, "the time to measure kernels was used up")


def test_a_kernel_that_others_disturbed_by_itself_counts_in_place() -> None:
    slow = replace(TIMED, samples_s=(30e-3, 30e-3))
    (row,) = ledger(REPORT, replace(ITEM, kernels=(replace(GELU, calls=(KernelCall(10, slow),)),)))
    assert (row.timed, row.time_s, row.quartiles_s) == ("in the call", 1.1e-3, None)
    assert "other processes had the machine" in row.reason


def test_a_kernel_is_disturbed_from_twice_its_time_in_place_on() -> None:
    def timed(alone_s: float) -> str:
        found = replace(TIMED, samples_s=(alone_s,), in_place_s=(2.0,))
        (row,) = ledger(REPORT, replace(ITEM, kernels=(replace(GELU, calls=(KernelCall(10, found),)),)))
        return row.timed

    assert [timed(2.0), timed(2.0 + 1e-9)] == ["alone", "in the call"]


def test_two_samples_have_quartiles_and_one_has_none() -> None:
    def quartiles(*samples_s: float) -> tuple[float, float] | None:
        found = replace(TIMED, samples_s=samples_s)
        (row,) = ledger(REPORT, replace(ITEM, kernels=(replace(GELU, calls=(KernelCall(10, found),)),)))
        return row.quartiles_s

    assert quartiles(1e-3, 2e-3) == pytest.approx((1.25e-3, 1.75e-3))
    assert quartiles(1e-3) is None


@pytest.mark.parametrize(
    ("report", "total_s", "shares"),
    [
        (replace(REPORT, kernel_load=Load(0.5, 0.3)), 1.8e-3, [None, None]),
        (replace(REPORT, kernel_load=Load(None, 0.3)), 1.8e-3, [None, None]),
        (replace(REPORT, roofline=replace(LIMITS, disturbed=True)), 2e-3, pytest.approx([2.5 / 4.5, 2 / 4.5])),
    ],
)
def test_beside_a_busy_machine_no_kernel_wastes_and_the_least_sample_counts(
    report: Report, total_s: float, shares: object
) -> None:
    assert [row.share for row in ledger(report, ITEM)] == shares
    assert [(row.name, row.wasted_s, row.fraction, row.total_s) for row in ledger(report, ITEM)] == [
        ("extern_kernels.mm", None, None, 2.5e-3),
        ("cpp_fused_gelu_0", None, None, total_s),
    ]
    assert "the machine was busy" in kernels_disturbed(report)


def test_a_quiet_machine_disturbs_nothing() -> None:
    assert kernels_disturbed(replace(REPORT, kernel_load=Load(0.05, 0.01))) == ""


def test_without_any_measurement_rows_say_why_and_are_ordered_by_traffic() -> None:
    report = replace(REPORT, roofline=None, untimed="a CUDA graph replays it")
    rows = ledger(report, UNTIMED)
    assert [(row.name, row.time_s, row.wasted_s, row.fraction, row.reason) for row in rows] == [
        ("cpp_fused_gelu_0", None, None, None, "a CUDA graph replays it"),
        ("extern_kernels.mm", None, None, None, "a CUDA graph replays it"),
    ]


def test_on_an_absent_target_times_are_predictions_with_an_interval() -> None:
    report = replace(REPORT, setting=Setting(target="h100"), roofline=None, timing=None)
    rows = {row.kernel: row for row in ledger(report, UNTIMED)}
    h100 = TARGETS["h100"]
    for row in rows.values():
        assert row.timed == "predicted"
        assert row.time_s is not None
        assert row.range_s is not None
        assert row.allowed_s is not None
        assert row.allowed_s < row.time_s
        assert row.range_s[0] < row.time_s < row.range_s[1]
    assert [row.wasted_s for row in rows.values()] == [None, None]
    found = ceilings(report)
    assert found is not None
    assert (found.device, found.source) == (h100.title, "datasheet")


def test_a_triton_kernels_row_has_what_its_config_takes() -> None:
    config = Config({"XBLOCK": 256}, 8, 1, True, 0.2, registers=64, spill_bytes=8, shared_bytes=0)
    binary = Binary("pointwise", "the only config", (config,))
    triton = replace(GELU, language="triton", category="pointwise", binary=binary)
    report = replace(REPORT, setting=Setting(target="a100"))
    (row,) = ledger(report, replace(ITEM, kernels=(triton,)))
    assert (row.kind, row.registers, row.spill_bytes, row.shared_bytes) == ("pointwise", 64, 8, 0)
    assert (row.occupancy, row.compile_s) == (0.5, 0.2)


@pytest.mark.parametrize(
    ("registers", "shared_bytes", "expected"), [(32, 0, 1.0), (64, 0, 0.5), (32, 48 * 1024, 0.375), (255, 0, 0.125)]
)
def test_occupancy_is_what_registers_and_shared_memory_leave(
    registers: int, shared_bytes: int, expected: float
) -> None:
    assert occupancy(TARGETS["a100"].architecture, 8, registers, shared_bytes) == expected


def test_roofline_takes_the_nearest_memory_that_fits_and_the_slower_of_memory_and_arithmetic() -> None:
    assert allowed_s(LIMITS, 1_000_000, None, "float32") == 1e-5
    assert allowed_s(LIMITS, 2_000_000, None, "float32") == 2e-4
    assert allowed_s(LIMITS, 1_000_000, 10**9, "float32") == 1e-3
    assert allowed_s(LIMITS, None, 10**9, "bfloat16") == 1e-3
    assert allowed_s(LIMITS, None, None, "float32") is None


def test_what_fits_no_recorded_memory_is_moved_at_the_speed_of_the_farthest() -> None:
    cache_alone = replace(LIMITS, bandwidths=LIMITS.bandwidths[:1])
    assert allowed_s(cache_alone, 2_000_000, None, "float32") == 2e-5


def test_sum_says_what_the_rest_of_the_compiled_call_is() -> None:
    found = summary(REPORT)
    assert found is not None
    assert found.kernels_s == pytest.approx(4.5e-3)
    assert found.ratio == pytest.approx(4.5 / 5.8)
    assert [part.seconds for part in found.rest] == pytest.approx([0.7e-3, 0.2e-3, 0.4e-3, 0.2e-3])
    assert found.kernels_s + sum(part.seconds for part in found.rest) == pytest.approx(found.steady_s)


def test_no_part_of_the_compiled_call_is_negative_and_the_outer_measurement_bounds_the_inner() -> None:
    noisy = LedgerSum(kernels_s=3e-3, in_place_s=4.9e-3, wrapper_s=3.9e-3, call_s=4.5e-3, steady_s=4.4e-3)
    assert [part.name for part in noisy.rest] == ["cold caches", "outside"]
    assert [part.seconds for part in noisy.rest] == pytest.approx([0.9e-3, 0.6e-3])
    assert [part.name for part in noisy.parts] == ["kernels", "cold caches", "outside"]
    assert replace(noisy, kernels_s=5e-3).rest == ()


def test_sum_is_none_where_nothing_was_measured() -> None:
    assert summary(replace(REPORT, compilations=(UNTIMED,))) is None


@pytest.mark.parametrize("scenario", ["measured", "transformer_block", "training_step", "graph_break_zoo"])
def test_the_fallbacks_are_the_calls_of_inductors_fallback_nodes(scenario: str) -> None:
    report = recorded_report(TRACES / scenario / "trace.log")
    for compilation in report.compilations:
        nodes = [
            node.kernel for schedule in compilation.schedules for node in schedule.after if FALLBACK_NODE in node.ops
        ]
        rows = [row.kernel for row in ledger(report, compilation) if row.kind == FALLBACK]
        assert sorted(rows) == sorted(nodes)
        assert scenario not in ("measured", "transformer_block") or len(rows) == 1
