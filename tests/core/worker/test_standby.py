"""The process that stands by: each task in a process of its own, and what goes wrong is said."""

import faulthandler
import os
import signal
import time

import pytest

from core.report import MemorySide
from core.report.records.compilation import MemoryRecord
from core.worker.memory.allocator import SIDES, failed
from core.worker.standby import ENDED, NO_TIME, StandBy

# What stands by measures a model, and its module imports torch.
pytestmark = pytest.mark.torch
Side = StandBy[MemorySide, MemoryRecord]


def measured(side: MemorySide) -> MemoryRecord:
    return MemoryRecord(side=side, peak_bytes=os.getpid())


def reasons(standing: Side, **limits: float) -> list[str]:
    return [record.reason for record in standing.results(**limits)]


def test_each_task_is_done_in_a_process_of_its_own() -> None:
    found = list(StandBy(SIDES, MemoryRecord, measured, failed).results())

    assert [record.side for record in found] == ["eager", "compiled"]
    assert len({os.getpid(), *(record.peak_bytes for record in found)}) == 3


def test_a_task_that_raises_or_dies_says_so_and_the_other_is_done() -> None:
    def dies(side: MemorySide) -> MemoryRecord:
        if side == "eager":
            os._exit(3)
        raise ValueError("no such input")

    found = reasons(StandBy(SIDES, MemoryRecord, dies, failed))
    assert found == ["its process ended with exit code 3", "ValueError: no such input"]


def test_a_task_that_crashes_costs_itself_alone() -> None:
    def crashes(side: MemorySide) -> MemoryRecord:
        if side == "eager":
            faulthandler.disable()
            os.kill(os.getpid(), signal.SIGSEGV)
        return measured(side)

    found = reasons(StandBy(SIDES, MemoryRecord, crashes, failed))
    assert found == ["its process crashed: signal 11 (Segmentation fault)", ""]


def test_a_task_that_hangs_is_ended_at_its_limit_and_no_task_begins_after_the_last_moment() -> None:
    def hangs(side: MemorySide) -> MemoryRecord:
        time.sleep(60 if side == "eager" else 0)
        return measured(side)

    begun = time.monotonic()
    assert reasons(StandBy(SIDES, MemoryRecord, hangs, failed), task_s=1) == ["it took longer than 1 s", ""]
    assert reasons(StandBy(SIDES, MemoryRecord, hangs, failed), most_s=1) == ["it took longer than 1 s", NO_TIME]
    assert time.monotonic() - begun < 20


def test_a_task_whose_child_holds_the_pipe_is_over_all_the_same() -> None:
    def leaves_a_child(side: MemorySide) -> MemoryRecord:
        if os.fork() == 0:
            time.sleep(60)
        os._exit(0)

    begun = time.monotonic()
    assert reasons(StandBy(SIDES, MemoryRecord, leaves_a_child, failed))[0] == "its process ended with exit code 0"
    assert time.monotonic() - begun < 20


def test_a_process_that_was_ended_is_no_end_of_the_run() -> None:
    standing = StandBy(SIDES, MemoryRecord, measured, failed)
    os.close(standing._ask)

    assert reasons(standing) == [ENDED, ENDED]


@pytest.mark.parametrize("text", [b"", b"{", b'{"side": "sideways"}\n'])
def test_a_line_that_is_no_record_is_none(text: bytes) -> None:
    standing = StandBy(SIDES, MemoryRecord, measured, failed)
    assert standing._read(text) is None
    # A process that is asked for nothing would wait for as long as the tests last, and hold their pipes.
    assert len(reasons(standing)) == len(SIDES)
