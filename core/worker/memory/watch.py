"""Memory of both sides of a run, if the job requests it."""

from __future__ import annotations

from pathlib import Path

from core.job import CompileJob
from core.report import MemorySide
from core.worker.calls import Pair
from core.worker.load import ModelCopy
from core.worker.memory.sides import measured, side_alone
from core.worker.memory.standby import SIDES, StandBy, failed
from core.worker.record import emit
from core.worker.streams import silence


class MemoryWatch:
    """Measures memory at the end of a run; on a CPU in a standby process, so it must be created first."""

    def __init__(self, job: CompileJob, original: Path, path: Path) -> None:
        self._job = job
        self._paths: dict[MemorySide, Path] = {"eager": original, "compiled": path}
        alone = job.memory and not job.target and job.device.partition(":")[0] == "cpu"
        self._stand_by = StandBy(lambda side: side_alone(side, job, self._paths[side])) if alone else None

    def emit(self, calls: Pair, twins: tuple[ModelCopy, ModelCopy]) -> None:
        """Measure and record both sides; errors are recorded, not raised."""
        if self._stand_by is not None:
            for record in self._stand_by.measured():
                emit(record)
            return
        for side, call, twin in zip(SIDES, calls, twins, strict=True):
            try:
                with silence():
                    record = measured(side, call, twin, self._job.device, self._paths[side])
            except Exception as error:
                record = failed(side, error)
            emit(record)
