"""Memory of both sides of a run on request; on a CPU each side is measured in a standby process."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from core.job import CompileJob
from core.report import MemorySide
from core.report.records.run import MemoryRecord
from core.worker.calls import Pair
from core.worker.load import ModelCopy
from core.worker.memory.sides import measured, side_alone
from core.worker.record import emit
from core.worker.standby import MAX_REASON_CHARS, StandBy
from core.worker.streams import silence

SIDES: tuple[MemorySide, ...] = get_args(MemorySide)


class MemoryWatch:
    """Measures memory at the end of a run; on a CPU in a standby process, so it must be created first."""

    def __init__(self, job: CompileJob, original: Path, path: Path) -> None:
        self._job = job
        self._paths: dict[MemorySide, Path] = {"eager": original, "compiled": path}
        alone = job.memory and not job.target and job.device.partition(":")[0] == "cpu"
        self._stand_by = (
            StandBy(SIDES, MemoryRecord, lambda side: side_alone(side, job, self._paths[side]), failed)
            if alone
            else None
        )

    def emit(self, calls: Pair, twins: tuple[ModelCopy, ModelCopy]) -> None:
        """Measure and record both sides; errors are recorded, not raised."""
        if self._stand_by is not None:
            for record in self._stand_by.results():
                emit(record)
            return
        for side, call, twin in zip(SIDES, calls, twins, strict=True):
            try:
                with silence():
                    record = measured(side, call, twin, self._job.device, self._paths[side])
            except Exception as error:
                record = failed(side, f"{type(error).__name__}: {error}"[:MAX_REASON_CHARS])
            emit(record)


def failed(side: MemorySide, reason: str) -> MemoryRecord:
    """Return the record of a side that could not be measured, with the reason."""
    return MemoryRecord(side=side, reason=reason)
