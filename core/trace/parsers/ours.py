"""The records that Compileboard's own worker adds about a run, its modules, and Inductor's scheduler."""

from __future__ import annotations

from core.code.source_facts import source_remarks
from core.report import Binary, Buffer, Schedule, SchedulerNode, Setting, Source
from core.report.records.graphs import ModulesRecord, StacksRecord
from core.report.records.kernels import BinaryRecord, KernelRecord, ScheduledNode, ScheduleRecord
from core.report.records.run import NoteRecord, SourceRecord, StepRecord
from core.trace import TraceRecord
from core.trace.parsers.draft import ReportDraft
from core.trace.parsers.typed import reported


def torch_version(draft: ReportDraft, record: TraceRecord) -> None:
    """Torch's own record of its version: all that a log from elsewhere says of its origin."""
    data = draft.reader.json(record)
    known = draft.values.last(Setting)
    if isinstance(data, dict) and not (known and known.torch):
        draft.keep(record, Setting(torch=str(data.get("pytorch_version", ""))))


def source(draft: ReportDraft, record: TraceRecord, said: SourceRecord) -> None:
    """A file of the user's code."""
    # The first is the model's own; those of libraries ask the same for reasons of their own.
    remarks = () if draft.values.last(Source) else source_remarks(said.path, said.text)
    draft.keep(record, Source(said.path, draft.payload(record), remarks))


def step(draft: ReportDraft, record: TraceRecord, said: StepRecord) -> None:
    """What the worker did next."""
    draft.steps.append(said.name)


def note(draft: ReportDraft, record: TraceRecord, said: NoteRecord) -> None:
    """Something about how the run was made."""
    draft.notes.append(said.text)


def kernel(draft: ReportDraft, record: TraceRecord, said: KernelRecord) -> None:
    """Which scheduler nodes a kernel was made from."""
    draft.compilation(record).kernel_notes.append(said)


def binary(draft: ReportDraft, record: TraceRecord, said: BinaryRecord) -> None:
    """What a Triton kernel was compiled to for a target."""
    draft.compilation(record).binaries[said.name, said.direction] = reported(Binary, said)


def modules(draft: ReportDraft, record: TraceRecord, said: ModulesRecord) -> None:
    """Which nn.Module each node of a graph before the scheduler comes from."""
    draft.compilation(record).modules[said.stage] = said.modules


def stacks(draft: ReportDraft, record: TraceRecord, said: StacksRecord) -> None:
    """Where the stacks of a graph's nodes lie; they are read with the nodes."""
    draft.compilation(record).stacks[said.stage] = draft.payload(record)


def schedule(draft: ReportDraft, record: TraceRecord, said: ScheduleRecord) -> None:
    """The scheduler before and after fusion, with its rounds."""
    found = reported(
        Schedule,
        said,
        graph_id=-1 if said.graph_id is None else said.graph_id,
        before=tuple(map(_node, said.nodes_before)),
        after=tuple(map(_node, said.nodes_after)),
        buffers=tuple(reported(Buffer, layout, name=name) for name, layout in said.buffers.items()),
    )
    draft.compilation(record).schedules.append(found)


def _node(said: ScheduledNode) -> SchedulerNode:
    return reported(SchedulerNode, said, reads=tuple(said.reads.items()), writes=tuple(said.writes.items()))
