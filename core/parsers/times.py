"""What the worker measured: times of kernels, ceilings of the device, and what autotuning tried."""

from __future__ import annotations

from typing import Any

import msgspec

from core.decoder import whole
from core.parsers.draft import MAX_ITEMS, CompilationDraft, ReportDraft
from core.report import Autotuning, KernelTime, Load, Roofline, WrapperTime
from core.trace import TraceRecord


def kernel_times(draft: ReportDraft, record: TraceRecord, data: dict[str, Any]) -> None:
    """The kernels of one output code; a path without one says why nothing was timed."""
    if data["reason"]:
        draft.untimed = str(data["reason"])
        return
    draft.back_to_back_s = msgspec.convert(data["call_s"], tuple[float, ...])
    draft.kernel_load = msgspec.convert(data.get("load"), Load | None)
    compile_id, offset = draft.output_codes[str(data["path"])]
    compilation = draft.compilations[compile_id]
    kernels = _kernels_by_line(compilation, offset)
    for item in data["kernels"]:
        kernel = kernels.get(whole(item["line"]))
        if kernel is not None:
            compilation.kernel_times.append(msgspec.convert({**item, "kernel": kernel}, KernelTime))
    direction = next((kernel.split(".")[1] for kernel in kernels.values()), "")
    compilation.wrapper_times.append(
        WrapperTime(direction, msgspec.convert(data["wrapper_s"], tuple[float, ...]), whole(data["calls"]))
    )


def _kernels_by_line(compilation: CompilationDraft, offset: int) -> dict[int, str]:
    """Line of a call → id of the kernel, in the output code at that offset."""
    return {
        line: kernel.id
        for kernel in compilation.kernels
        if kernel.output_code.offset == offset
        for line in kernel.call_lines
    }


def roofline(draft: ReportDraft, record: TraceRecord, data: dict[str, Any]) -> None:
    """The ceilings of the device that ran it; older versions tell a busy machine in words alone."""
    disturbed = bool(data.get("disturbed", "busy" in data["how"]))
    draft.roofline = msgspec.convert({**data, "source": "measured", "disturbed": disturbed}, Roofline)


def autotuning(draft: ReportDraft, record: TraceRecord, data: dict[str, Any]) -> None:
    """The configs or choices that were timed for one kernel."""
    if len(draft.autotuned) < MAX_ITEMS:
        draft.autotuned.append(msgspec.convert(data, Autotuning))
