"""Predicted calls: the longer of device and CPU, intervals of sums, and what limits a call."""

from dataclasses import replace

import pytest

from core.analysis.kernels.predicted import KernelShare, Prediction, measured, predict_call, summed
from core.job.targets import TARGETS

H200, H100 = TARGETS["h200"], TARGETS["h100"]
LONG = KernelShare("matrix products", Prediction(1e-3, 0.8e-3, 1.3e-3), 20, library=True)
SHORT = KernelShare("memory traffic", Prediction(1e-6, 0.8e-6, 1.3e-6), 40, library=False)


def test_long_kernels_limit_a_call_and_short_ones_leave_it_to_the_launches() -> None:
    device, host = (predict_call("compiled", [share], False, H200) for share in (LONG, SHORT))
    assert (device.limit, device.time_s) == ("matrix products", device.device_s)
    assert (host.limit, host.time_s) == ("launches", host.host_s)
    assert host.host_s > 40 * measured().host["launch_s"]


def test_cuda_graphs_take_the_launches_from_the_cpu() -> None:
    graphs, compiled = (predict_call(way, [SHORT], False, H200) for way in ("CUDA graphs", "compiled"))
    assert graphs.time_s < compiled.time_s
    assert graphs.device_s < compiled.device_s


def test_a_training_call_costs_the_cpu_more() -> None:
    plain, trained = (predict_call("compiled", [SHORT], training, H200) for training in (False, True))
    assert trained.host_s - plain.host_s == pytest.approx(measured().host["training_s"])


def test_errors_of_many_kernels_cancel_in_part() -> None:
    low, high = summed([(SHORT.prediction, 1)])[1:]
    assert (low, high) == pytest.approx((SHORT.prediction.low_s, SHORT.prediction.high_s))
    time_s, low, high = summed([(SHORT.prediction, 1)] * 100)
    assert time_s == pytest.approx(100e-6)
    assert 80e-6 < low < time_s < high < 130e-6


def test_another_device_has_a_wider_interval_of_the_cpu() -> None:
    here, there = (predict_call("compiled", [SHORT], False, device) for device in (H200, H100))
    assert there.low_s < here.low_s
    assert there.high_s > here.high_s


def test_a_doubt_about_a_kernel_is_a_doubt_about_the_call() -> None:
    unknown = replace(LONG, prediction=replace(LONG.prediction, doubts=("kind",)))
    assert predict_call("compiled", [SHORT, unknown], False, H200).doubts == ("kind",)
