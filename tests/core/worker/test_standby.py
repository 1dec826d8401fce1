"""The process that stands by to measure memory: each side in a process of its own, and what goes wrong is said."""

import os

from core.report import MemorySide
from core.report.records.run import MemoryRecord
from core.worker.memory.watch import ENDED, StandBy


def test_each_side_is_measured_in_a_process_of_its_own() -> None:
    def measure(side: MemorySide) -> MemoryRecord:
        return MemoryRecord(side=side, peak_bytes=os.getpid())

    found = list(StandBy(measure).measured())

    assert [record.side for record in found] == ["eager", "compiled"]
    assert len({os.getpid(), *(record.peak_bytes for record in found)}) == 3


def test_a_side_that_raises_or_dies_says_so_and_the_other_is_measured() -> None:
    def dies(side: MemorySide) -> MemoryRecord:
        if side == "eager":
            os._exit(3)
        raise ValueError("no such input")

    assert [record.reason for record in StandBy(dies).measured()] == [ENDED, "ValueError: no such input"]


def test_a_process_that_was_ended_is_no_end_of_the_run() -> None:
    standing = StandBy(lambda side: MemoryRecord(side=side))
    os.close(standing._ask)

    assert [record.reason for record in standing.measured()] == [ENDED, ENDED]
