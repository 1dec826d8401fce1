"""What the worker measured: times of calls and kernels, and ceilings of the device."""

from __future__ import annotations

from core.parsers.draft import CompilationDraft, ReportDraft
from core.parsers.typed import reported
from core.records.measured import KernelTimesRecord, RooflineRecord, TimingRecord
from core.report import KernelTime, Roofline, Timing, WrapperTime
from core.trace import TraceRecord


def timing(draft: ReportDraft, record: TraceRecord, said: TimingRecord) -> None:
    """Steady-state samples."""
    draft.timing = reported(Timing, said)


def kernel_times(draft: ReportDraft, record: TraceRecord, said: KernelTimesRecord) -> None:
    """The kernels of one output code; a path without one says why nothing was timed."""
    if said.reason:
        draft.untimed = said.reason
        return
    draft.back_to_back_s = said.call_s
    draft.kernel_load = said.load
    compile_id, offset = draft.output_codes[said.path]
    compilation = draft.compilations[compile_id]
    kernels = _kernels_by_line(compilation, offset)
    for timed in said.kernels:
        kernel = kernels.get(timed.line)
        if kernel is not None:
            compilation.found.add(reported(KernelTime, timed, kernel=kernel))
    direction = next((kernel.split(".")[1] for kernel in kernels.values()), "")
    compilation.found.add(WrapperTime(direction, said.wrapper_s, said.calls))


def _kernels_by_line(compilation: CompilationDraft, offset: int) -> dict[int, str]:
    """Line of a call → id of the kernel, in the output code at that offset."""
    return {
        line: kernel.id
        for kernel in compilation.kernels
        if kernel.output_code.offset == offset
        for line in kernel.call_lines
    }


def roofline(draft: ReportDraft, record: TraceRecord, said: RooflineRecord) -> None:
    """The ceilings of the device that ran it; older versions tell a busy machine in words alone."""
    disturbed = "busy" in said.how if said.disturbed is None else said.disturbed
    draft.roofline = reported(Roofline, said, source="measured", disturbed=disturbed)
