"""Predicted times: physics that the model keeps, its intervals, and its doubts."""

from dataclasses import replace

import pytest

from core.analysis.kernels.features import generated_work
from core.analysis.kernels.library import BufferTraffic, sort_work
from core.analysis.kernels.predicted import KernelWork, MatrixSizes, by_roofline, measured, predict
from core.job.targets import TARGETS

H200 = TARGETS["h200"]
TORCH = measured().torch
LARGE = KernelWork("loop", 4e8, 2e8, elements=5e7, simple=1)
UNALIGNED = MatrixSizes(1, 4_096, 4_096, 4_096, aligned=False)
PRODUCT = KernelWork("product", 6.7e7, 3.4e7, precision="half", product=MatrixSizes(1, 4096, 4096, 4096))


def time_s(work: KernelWork, cold: float = 0.0) -> float:
    prediction = predict(work, H200, cold, TORCH)
    assert prediction is not None
    return prediction.time_s


def test_a_large_kernel_takes_the_time_of_its_traffic_and_no_less_than_the_datasheet_allows() -> None:
    assert 6e8 / H200.bandwidth < time_s(LARGE) < 1.3 * 6e8 / H200.bandwidth


def test_a_small_kernel_takes_the_floor() -> None:
    assert 0.5e-6 < time_s(KernelWork("loop", 4096, 4096, elements=1024, simple=1)) < 2e-6


def test_traffic_that_the_cache_holds_is_faster_than_memory() -> None:
    small = replace(LARGE, read_bytes=1.2e7, written_bytes=6e6, elements=1.5e6)
    assert time_s(small) < time_s(small, cold=1.0)
    assert time_s(small) < 1.8e7 / H200.bandwidth + 1e-6


def test_a_product_takes_longer_than_its_peak_and_longer_still_if_not_aligned() -> None:
    least = 2 * 4096**3 / H200.peak_flops["bfloat16"]
    slow = replace(PRODUCT, product=MatrixSizes(1, 4096, 4096, 4096, aligned=False))
    assert least < time_s(PRODUCT) < 2 * least < time_s(slow)


def test_more_work_never_takes_less_time() -> None:
    sizes = [time_s(replace(LARGE, read_bytes=4e8 * n, elements=5e7 * n)) for n in (1, 2, 4, 8)]
    products = [time_s(replace(PRODUCT, product=MatrixSizes(1, 128 * n, 4096, 4096))) for n in (1, 8, 16, 64)]
    assert sizes == sorted(sizes)
    assert products == sorted(products)


def test_the_measured_device_has_the_interval_of_the_fit() -> None:
    prediction, fit = predict(LARGE, H200, 0.0, TORCH), measured().kinds["loop"]
    assert prediction is not None
    assert prediction.doubts == ()
    _, low, high = fit.intervals[-1]
    assert prediction.low_s / prediction.time_s == pytest.approx(low)
    assert prediction.high_s / prediction.time_s == pytest.approx(high)


def test_a_kernel_that_its_traffic_or_arithmetic_limits_has_a_narrower_interval() -> None:
    narrow, wide = (predict(work, H200, 0.0, TORCH) for work in (PRODUCT, replace(PRODUCT, product=UNALIGNED)))
    assert narrow is not None
    assert wide is not None
    assert narrow.high_s / narrow.low_s < wide.high_s / wide.low_s


def test_a_sort_takes_longer_than_the_largest_elements_of_the_same_rows() -> None:
    whole, most = (time_s(sort_work(op, 4_096, 1_024, 4)) for op in ("sort", "topk"))
    assert time_s(replace(LARGE, read_bytes=1.7e7, written_bytes=0, elements=4.2e6)) < most < whole


def test_columns_of_rows_in_memory_are_reduced_in_more_steps_than_rows() -> None:
    whole = BufferTraffic(4 * 4_096 * 1_024, "float32", (4_096, 1_024), (1_024, 1))
    rows, columns = (
        generated_work("long rows", ["sum"], [whole], [result], whole.count, row, indirect=False, atomic=False)
        for row, result in (
            (1_024, BufferTraffic(4 * 4_096, "float32", (4_096,), (1,))),
            (128, BufferTraffic(4 * 32 * 1_024, "float32", (32, 1_024), (1_024, 1))),
        )
    )
    assert (rows.outer, rows.steps, rows.key) == (False, 1, "long rows")
    assert (columns.outer, columns.steps, columns.key) == (True, 4, "long columns")


@pytest.mark.parametrize(("key", "factor"), [("h100", 1.5), ("mi300x", 2.0)])
def test_a_device_that_was_not_measured_has_a_wider_interval_and_says_so(key: str, factor: float) -> None:
    prediction = predict(LARGE, TARGETS[key], 0.0, TORCH)
    assert prediction is not None
    assert prediction.high_s / prediction.time_s >= factor
    assert prediction.time_s / prediction.low_s >= factor
    assert prediction.doubts == ("device",)


def test_a_kernel_outside_of_the_measured_sizes_says_so() -> None:
    inside = predict(LARGE, H200, 0.0, TORCH)
    outside = predict(replace(LARGE, read_bytes=4e10, elements=5e9), H200, 0.0, TORCH)
    assert inside is not None
    assert outside is not None
    assert outside.doubts == ("size",)
    assert outside.high_s / outside.time_s > inside.high_s / inside.time_s


def test_another_version_of_torch_says_so() -> None:
    prediction = predict(LARGE, H200, 0.0, "2.13.0+cpu")
    assert prediction is not None
    assert prediction.doubts == ("torch",)


def test_a_kind_without_a_model_has_the_roofline_and_a_wide_interval() -> None:
    prediction = by_roofline(1e-4)
    assert prediction is not None
    assert prediction.low_s < 1e-4 < prediction.time_s
    assert prediction.doubts == ("kind",)
    assert by_roofline(None) is None


def test_lookups_of_single_elements_move_whole_sectors() -> None:
    table, index = BufferTraffic(4e6, "float32", (2**27,)), BufferTraffic(8e6, "int64", (10**6,))
    result = BufferTraffic(4e6, "float32", (10**6,))
    work = generated_work("loop", ["index", "add"], [table, index], [result], 10**6, 1, True, False)
    assert (work.lookups, work.read_bytes) == (10**6, 8e6 + 32e6)


def test_atomic_adds_to_few_addresses_are_slower_than_to_many() -> None:
    values = BufferTraffic(4e6, "float32", (10**6,))
    few, many = (
        generated_work("loop", ["scatter_add"], [values], [BufferTraffic(4 * n, "float32", (n,))], 10**6, 1, True, True)
        for n in (1024, 2**20)
    )
    assert time_s(few) > 3 * time_s(many)
