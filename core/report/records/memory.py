"""The record of memory: what one call took, eagerly or compiled."""

from __future__ import annotations

from dataclasses import dataclass

from core.report.memory import MemoryFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord(MemoryFigures):
    """The memory use of the last call, repeated eagerly and compiled: logged for both, if the job asks for it.

    On a CPU each side has a separate process, forked before the model was loaded, which makes all calls and then the
    last one three times more: for the resident memory, and twice under `torch.profiler`, whose memory events of the
    last are recorded. On an accelerator both are made in the run's own process. Before each measurement, gradients and
    results are released, and free memory is returned to the system.
    """

    codes: tuple[str, ...] = ()
    """the files of the generated codes that places are in, as torch's `inductor_output_code` names them"""
