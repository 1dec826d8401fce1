"""The records that Compileboard's own worker adds about a run, its modules, and Inductor's scheduler."""

from __future__ import annotations

from core.code.source_facts import source_remarks
from core.report import Binary, Buffer, Schedule, SchedulerNode, Setting, Source
from core.report.records.graphs import ModulesRecord, StacksRecord
from core.report.records.kernels import BinaryRecord, KernelRecord, ScheduledNode, ScheduleRecord
from core.report.records.run import NoteRecord, SourceRecord, StepRecord
from core.trace import TraceRecord
from core.trace.parsers.draft import ReportDraft
from core.trace.parsers.typed import report_value


def torch_version(draft: ReportDraft, record: TraceRecord) -> None:
    """Read torch's own record of its version: the only origin that a log from elsewhere has."""
    data = draft.reader.json(record)
    setting = draft.values.last(Setting)
    if isinstance(data, dict) and not (setting and setting.torch):
        draft.keep(record, Setting(torch=str(data.get("pytorch_version", ""))))


def source(draft: ReportDraft, record: TraceRecord, content: SourceRecord) -> None:
    """Keep a file of the user's code."""
    # The first is the model's own; library files make the same calls for good reasons.
    remarks = () if draft.values.last(Source) else source_remarks(content.path, content.text)
    draft.keep(record, Source(content.path, draft.payload(record), remarks))


def step(draft: ReportDraft, record: TraceRecord, content: StepRecord) -> None:
    """Keep the name of the worker's next step."""
    draft.steps.append(content.name)


def note(draft: ReportDraft, record: TraceRecord, content: NoteRecord) -> None:
    """Keep a note about how the run was made."""
    draft.notes.append(content.text)


def kernel(draft: ReportDraft, record: TraceRecord, content: KernelRecord) -> None:
    """Keep the scheduler nodes that a kernel was made from."""
    draft.compilation(record).kernel_notes.append(content)


def binary(draft: ReportDraft, record: TraceRecord, content: BinaryRecord) -> None:
    """Keep the result of compiling a Triton kernel for a target."""
    draft.compilation(record).binaries[content.name, content.direction] = report_value(Binary, content)


def modules(draft: ReportDraft, record: TraceRecord, content: ModulesRecord) -> None:
    """Keep the nn.Module that each node of a graph before the scheduler comes from."""
    draft.compilation(record).modules[content.stage] = content.modules


def stacks(draft: ReportDraft, record: TraceRecord, content: StacksRecord) -> None:
    """Keep the place of the stacks of a graph's nodes; they are read with the nodes."""
    draft.compilation(record).stacks[content.stage] = draft.payload(record)


def schedule(draft: ReportDraft, record: TraceRecord, content: ScheduleRecord) -> None:
    """Keep the scheduler's nodes before and after fusion, with its rounds."""
    value = report_value(
        Schedule,
        content,
        graph_id=-1 if content.graph_id is None else content.graph_id,
        before=tuple(map(_node, content.nodes_before)),
        after=tuple(map(_node, content.nodes_after)),
        buffers=tuple(report_value(Buffer, layout, name=name) for name, layout in content.buffers.items()),
    )
    draft.compilation(record).schedules.append(value)


def _node(content: ScheduledNode) -> SchedulerNode:
    return report_value(
        SchedulerNode, content, reads=tuple(content.reads.items()), writes=tuple(content.writes.items())
    )
