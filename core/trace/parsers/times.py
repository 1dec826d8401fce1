"""The worker's measurements: times of calls and kernels, and ceilings of the device."""

from __future__ import annotations

from dataclasses import replace

from core.report import KernelTime, Roofline, WrapperTime
from core.report.records.measured import KernelTimesRecord
from core.trace import TraceRecord
from core.trace.parsers.draft import ReportDraft
from core.trace.parsers.typed import report_value


def kernel_times(draft: ReportDraft, record: TraceRecord, content: KernelTimesRecord) -> None:
    """Keep the times of the kernels of one output code; a record without a path says why nothing was timed."""
    if content.reason:
        draft.untimed = content.reason
        return
    draft.back_to_back_s = content.call_s
    draft.kernel_load = content.load
    code = draft.output_codes[content.path]
    compilation = draft.compilations[code.compilation]
    for timed in content.kernels:
        compilation.times[code.offset, timed.line] = report_value(KernelTime, timed)
    compilation.values.add(WrapperTime(code.direction, content.wrapper_s, content.calls))


def roofline(draft: ReportDraft, record: TraceRecord, ceilings: Roofline) -> None:
    """Keep the ceilings of the device of the run; older versions name a busy machine in words alone."""
    disturbed = ceilings.disturbed or "busy" in ceilings.how
    draft.keep(record, replace(ceilings, source="measured", disturbed=disturbed))
