"""What the worker measured: times of calls and kernels, and ceilings of the device."""

from __future__ import annotations

from core.report import KernelTime, Rival, Roofline, Timing, WrapperTime
from core.report.records.measured import KernelTimesRecord, RivalRecord, RooflineRecord, TimingRecord
from core.trace import TraceRecord
from core.trace.parsers.draft import ReportDraft
from core.trace.parsers.typed import reported


def timing(draft: ReportDraft, record: TraceRecord, said: TimingRecord) -> None:
    """Steady-state samples."""
    draft.timing = reported(Timing, said)


def rival(draft: ReportDraft, record: TraceRecord, said: RivalRecord) -> None:
    """Another call of torch.compile against the run's own."""
    draft.rival = reported(Rival, said)


def kernel_times(draft: ReportDraft, record: TraceRecord, said: KernelTimesRecord) -> None:
    """The kernels of one output code; a path without one says why nothing was timed."""
    if said.reason:
        draft.untimed = said.reason
        return
    draft.back_to_back_s = said.call_s
    draft.kernel_load = said.load
    code = draft.output_codes[said.path]
    compilation = draft.compilations[code.compilation]
    for timed in said.kernels:
        compilation.times[code.offset, timed.line] = reported(KernelTime, timed)
    compilation.found.add(WrapperTime(code.direction, said.wrapper_s, said.calls))


def roofline(draft: ReportDraft, record: TraceRecord, said: RooflineRecord) -> None:
    """The ceilings of the device that ran it; older versions tell a busy machine in words alone."""
    disturbed = "busy" in said.how if said.disturbed is None else said.disturbed
    draft.roofline = reported(Roofline, said, source="measured", disturbed=disturbed)
