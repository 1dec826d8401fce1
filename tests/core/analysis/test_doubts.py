"""What of a run is no evidence, and what of it was not timed."""

from dataclasses import replace

import pytest

from core.analysis.speed import break_even_calls, speed
from core.analysis.verdict import doubts
from core.base.errors import JobError
from core.job import CompileJob, Model
from core.job.prepared import measured_again
from core.report import Call, KernelCall, KernelTime, Load, Report, Setting, SideTimes
from core.views.verdict import untimed_words
from tests.support.reports.findings import twice, with_kernels
from tests.support.reports.timed import GELU, ITEM, MM, REPORT

QUIET = SideTimes({"eager": (2e-3,) * 12, "compiled": (1e-3,) * 12})
BUSY = Load(0.9, 0.5)
MEASURED = Report(Setting(), calls=(Call(0, "f32[8]", 0.002, 1.001, ()),), timing=QUIET)


@pytest.mark.parametrize(("high", "known"), [(9.9, True), (10.0, False), (4e3, False)])
def test_bounds_a_decade_apart_are_no_ratio(high: float, known: bool) -> None:
    found = speed(SideTimes({"eager": (1e-3, 1e-3 * high) * 6, "compiled": (1e-3,) * 12}))
    assert found is not None
    assert (found.interval is not None, found.unknown == "") == (known, known)
    if not known:
        assert found.unknown.startswith("not measurable: the samples scatter")


def test_a_break_even_that_is_only_known_to_a_decade_is_none() -> None:
    assert (
        break_even_calls(replace(MEASURED, timing=SideTimes({"eager": (1.03e-3, 2e-3) * 6, "compiled": (1e-3,) * 12})))
        is None
    )


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (MEASURED, ()),
        (Report(Setting()), ()),
        (
            replace(MEASURED, timing=replace(QUIET, load=Load(0.9, 0.5))),
            ("the machine was busy while it was measured",),
        ),
        (replace(MEASURED, kernel_load=BUSY), ("the machine was busy while the kernels were timed",)),
        (replace(MEASURED, untimed="TimeoutError: one call takes 2 s"), ("TimeoutError: one call takes 2 s",)),
        (replace(MEASURED, untimed="LookupError: no wrapper in Python"), ()),
    ],
)
def test_a_run_is_worth_measuring_again_where_its_times_are_no_evidence(
    report: Report, expected: tuple[str, ...]
) -> None:
    assert doubts(report) == expected


def test_equal_kernels_that_took_unlike_times_are_a_doubt() -> None:
    (reason,) = doubts(replace(with_kernels(twice(1e-3, 9e-3)), timing=None))
    assert reason == (
        "`cpp_fused_gelu_0` took 9.00 ms and 1.00 ms for the same shapes, so kernel times are not reliable"
    )


def test_kernels_that_were_timed_in_place_alone_are_named() -> None:
    hurried = KernelTime(1, (), 0, (3e-3,), "", "the time to measure kernels went to those that take longer")
    report = replace(
        REPORT, compilations=(replace(ITEM, kernels=(GELU, replace(MM, calls=(KernelCall(20, hurried),)))),)
    )
    assert untimed_words(REPORT) == ""
    assert untimed_words(report) == "1 of 2 kernel calls was only timed in place: `up · mm`"
    refused = replace(REPORT, untimed="TimeoutError: one call takes 2.00 s, and there is no time")
    assert untimed_words(refused) == "kernels were not timed: one call takes 2.00 s, and there is no time"


def test_a_job_is_measured_again_as_it_was_and_only_where_something_was_run() -> None:
    job = CompileJob(Model("sample", "mlp"), measure=False, sweep="20260101-000000-s-0000", memory=True)
    assert measured_again(job) == CompileJob(Model("sample", "mlp"), memory=True)
    for nothing in (None, replace(job, target="h100")):
        with pytest.raises(JobError):
            measured_again(nothing)
