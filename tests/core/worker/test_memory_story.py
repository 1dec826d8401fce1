"""The allocator's side of a call, read off literal events of the profiler."""

import pytest

from core.report import AliveMemory, MemoryCurve, MemoryPlace
from core.report.records.compilation import MemoryRecord
from core.worker.memory.allocator import CALL, CODE, KERNEL, LINE, MODULE, MOST_POINTS, ProfilerEvent, story

pytestmark = pytest.mark.torch

BACKWARD = "autograd::engine::evaluate_function: MulBackward0"


def event(at_us: int, *names: str, pointer: int = 0, size: int = 0, total: int = 0) -> ProfilerEvent:
    end_us = 90 if names == (CALL,) else at_us
    return ProfilerEvent(1000 * at_us, 1000 * end_us, names, pointer, size, total)


def test_an_eager_call_is_reported_by_line_module_and_op() -> None:
    found = story(
        [
            event(1, "aten::empty", pointer=1, size=100, total=100),
            event(10, CALL),
            event(11, CALL, f"{LINE}7"),
            event(12, CALL, f"{MODULE}layers.0"),
            event(20, CALL, "aten::linear", "aten::addmm", pointer=2, size=40, total=140),
            event(21, CALL, f"{MODULE}"),
            event(22, CALL, f"{LINE}8"),
            event(30, CALL, "aten::mul", pointer=3, size=60, total=200),
            event(40, CALL, pointer=2, size=-40, total=160),
            event(41, CALL, f"{LINE}0"),
            event(50, CALL, BACKWARD, "MulBackward0", "aten::mul", pointer=4, size=10, total=170),
            event(95, pointer=3, size=-60, total=110),
        ],
        "eager",
    )
    assert found == MemoryRecord(
        side="eager",
        peak_bytes=100,
        peak_us=20.0,
        call_us=80.0,
        left_bytes=70,
        allocated_bytes=110,
        allocations=3,
        events=4,
        curve=MemoryCurve((10.0, 20.0, 30.0, 40.0), (40, 100, 60, 70), (0, 1, -1, 2)),
        alive=(AliveMemory(1, 1, 60), AliveMemory(0, 1, 40)),
        places=(
            MemoryPlace("aten::linear", 7, module="layers.0"),
            MemoryPlace("aten::mul", 8),
            MemoryPlace("MulBackward0"),
        ),
    )


def test_generated_code_allocates_for_the_kernel_that_it_calls_next_and_a_kernel_for_itself() -> None:
    code = (CALL, "Torch-Compiled Region: 0/0", "## Call CompiledFxGraph f7 ##", f"{CODE}0")
    found = story(
        [
            event(10, CALL),
            event(11, *code, pointer=1, size=8, total=8),
            event(12, *code, pointer=2, size=16, total=24),
            event(20, *code, f"{KERNEL}0 31 cpp_fused_add_0"),
            event(30, *code, f"{KERNEL}0 35 extern_kernels.mm"),
            event(31, *code, f"{KERNEL}0 35 extern_kernels.mm", "aten::mm", pointer=3, size=4, total=28),
            event(40, CALL, "aten::relu", pointer=4, size=2, total=30),
        ],
        "compiled",
    )
    assert found.places == (
        MemoryPlace("cpp_fused_add_0", 31, 0),
        MemoryPlace("extern_kernels.mm", 35, 0),
        MemoryPlace("aten::relu"),
    )
    assert found.alive == (AliveMemory(0, 2, 24), AliveMemory(1, 1, 4), AliveMemory(2, 1, 2))


def test_a_call_without_memory_has_no_peak() -> None:
    assert story([event(10, CALL)], "eager") == MemoryRecord(side="eager", call_us=80.0)


def test_a_long_curve_keeps_its_peak() -> None:
    spike = 3_333
    totals = [index + 1 + (10_000 if index == spike else 0) for index in range(5_000)]
    found = story(
        [event(10, CALL)]
        + [
            event(11, CALL, "aten::add", pointer=index, size=total - before, total=total)
            for index, (before, total) in enumerate(zip([0, *totals], totals, strict=False))
        ],
        "eager",
    )
    assert (found.events, found.peak_bytes, max(found.curve.live_bytes)) == (5_000, 13_334, 13_334)
    assert len(found.curve.live_bytes) <= MOST_POINTS
