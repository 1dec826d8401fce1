"""What the worker measured: times of calls and kernels, and ceilings of the device."""

from __future__ import annotations

from dataclasses import replace

from core.report import KernelTime, Roofline, WrapperTime
from core.report.records.measured import KernelTimesRecord
from core.trace import TraceRecord
from core.trace.parsers.draft import ReportDraft
from core.trace.parsers.typed import reported


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
    compilation.values.add(WrapperTime(code.direction, said.wrapper_s, said.calls))


def roofline(draft: ReportDraft, record: TraceRecord, ceilings: Roofline) -> None:
    """The ceilings of the device that ran it; older versions name a busy machine in words alone."""
    disturbed = ceilings.disturbed or "busy" in ceilings.how
    draft.keep(record, replace(ceilings, source="measured", disturbed=disturbed))
