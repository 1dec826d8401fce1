"""Parsers of the worker's own records: the run, its modules, and Inductor's scheduler.

Texts of an exported program and its package, which the log contains unchanged.

Parsers of backend records: tables and texts in torch's trace, and executions of compiled code.

Parser of the memory use of one eager and one compiled call.

Parsers of the worker's measurements: times of calls and kernels, and the device's roofline.

Parsers of graph passes and of the partitioner.

They read `compileboard_pass`, `compileboard_passes`, `compileboard_partition`.
"""

from __future__ import annotations

from dataclasses import replace

from core.base.syntax import NOT_READ
from core.code.source_facts import source_remarks
from core.report import (
    Binary,
    Buffer,
    Call,
    FxNode,
    GraphPass,
    KernelTime,
    MemoryUse,
    Partition,
    PatternMatch,
    Place,
    Roofline,
    Schedule,
    SchedulerNode,
    Setting,
    Source,
    UnchangedPasses,
    WrapperTime,
)
from core.report.records.graphs import (
    KeptRecord,
    ModulesRecord,
    PartitionRecord,
    PassesRecord,
    PassRecord,
    StacksRecord,
)
from core.report.records.kernels import BinaryRecord, KernelRecord, ScheduledNode, ScheduleRecord
from core.report.records.run import (
    ExecutionsRecord,
    KernelTimesRecord,
    MemoryRecord,
    NoteRecord,
    SourceRecord,
    StepRecord,
)
from core.trace import TraceRecord
from core.trace.parsers.draft import CompilationDraft, ReportDraft
from core.trace.parsers.fx_text import parse_graph
from core.trace.parsers.typed import report_value


def torch_version(draft: ReportDraft, record: TraceRecord) -> None:
    """Read torch's version record, the only record of origin in an imported log."""
    data = draft.reader.json(record)
    setting = draft.values.last(Setting)
    if isinstance(data, dict) and not (setting and setting.torch):
        draft.keep(record, Setting(torch=str(data.get("pytorch_version", ""))))


def source(draft: ReportDraft, record: TraceRecord, content: SourceRecord) -> None:
    """Add a file of the user's code."""
    # Only the first file is the model's; library files make the same calls for good reasons.
    remarks = () if draft.values.last(Source) else source_remarks(content.path, content.text)
    draft.keep(record, Source(content.path, draft.payload(record), remarks))


def step(draft: ReportDraft, record: TraceRecord, content: StepRecord) -> None:
    """Add the name of the worker's next step."""
    draft.steps.append(content.name)


def note(draft: ReportDraft, record: TraceRecord, content: NoteRecord) -> None:
    """Add a note about the run."""
    draft.notes.append(content.text)


def kernel(draft: ReportDraft, record: TraceRecord, content: KernelRecord) -> None:
    """Add a kernel's scheduler nodes."""
    draft.compilation(record).kernel_notes.append(content)


def binary(draft: ReportDraft, record: TraceRecord, content: BinaryRecord) -> None:
    """Add the result of compiling a Triton kernel for a target."""
    draft.compilation(record).binaries[content.name, content.direction] = report_value(Binary, content)


def modules(draft: ReportDraft, record: TraceRecord, content: ModulesRecord) -> None:
    """Add the nn.Module of each node of the graphs before the scheduler."""
    draft.compilation(record).modules[content.stage] = content.modules


def stacks(draft: ReportDraft, record: TraceRecord, content: StacksRecord) -> None:
    """Add the position of the stacks of a graph's nodes; they are read with the nodes."""
    draft.compilation(record).stacks[content.stage] = draft.payload(record)


def schedule(draft: ReportDraft, record: TraceRecord, content: ScheduleRecord) -> None:
    """Add the scheduler's nodes before and after fusion, with its rounds."""
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


def executions(draft: ReportDraft, record: TraceRecord, content: ExecutionsRecord) -> None:
    """Add each execution, and the totals."""
    for value in (*content.executions, *content.totals):
        draft.keep(record, value)


def call(draft: ReportDraft, record: TraceRecord, content: Call) -> None:
    """Add a call; the ids of the code that it used are unique in the log."""
    draft.keep(record, replace(content, newest=tuple(map(draft.unique_id, content.newest))))


def memory(draft: ReportDraft, record: TraceRecord, content: MemoryRecord) -> None:
    """Add the memory use of one side, with its output codes' log offsets.

    Raises ValueError if inconsistent.
    """
    _check(content)
    codes = tuple(code.offset if (code := draft.output_codes.get(path)) else None for path in content.codes)
    draft.keep(record, report_value(MemoryUse, content, codes=codes))


def _check(content: MemoryRecord) -> None:
    curve = content.curve
    if len({len(curve.at_us), len(curve.live_bytes), len(curve.places)}) > 1:
        raise ValueError("the curve's lists differ in length")
    named = [*curve.places, *(alive.place for alive in content.alive)]
    codes = [place.code for place in content.places if place.code is not None]
    if any(not -1 <= place < len(content.places) for place in named):
        raise ValueError("there is no such place")
    if any(not 0 <= code < len(content.codes) for code in codes):
        raise ValueError("there is no such code")


def kernel_times(draft: ReportDraft, record: TraceRecord, content: KernelTimesRecord) -> None:
    """Add the kernel times of one output code.

    A record without a path has the reason why nothing was timed.
    """
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
    """Add the roofline of the run's device; older versions report noise only in a text."""
    disturbed = ceilings.disturbed or "busy" in ceilings.how
    draft.keep(record, replace(ceilings, source="measured", disturbed=disturbed))


def graph_pass(draft: ReportDraft, record: TraceRecord, content: PassRecord) -> None:
    """Add a pass that changed its graph."""
    patterns = tuple(PatternMatch(name, _place(source), count) for name, source, count in content.patterns)
    nodes = _nodes(draft, record, content)
    value = report_value(GraphPass, content, graph="", source=_place(content.source), patterns=patterns, nodes=nodes)
    draft.compilation(record).add_passes(value)


def _place(text: str) -> Place | None:
    """Parse `file:line` as in the record; None for anything else."""
    file, _, line = text.rpartition(":")
    return Place(file, int(line)) if file and line.isdecimal() and len(line) < 10 else None


def _nodes(draft: ReportDraft, record: TraceRecord, content: PassRecord) -> tuple[FxNode, ...]:
    """Return the added and rewritten nodes; their line is 0, since no page shows this text."""
    if not content.text:
        return ()
    wanted = {*content.added, *content.rewritten}
    try:
        nodes = parse_graph(content.text, content.modules, external=content.reads)
    except NOT_READ:
        draft.problem("text of a pass is not Python", record.offset)
        return ()
    return tuple(replace(node, line=0) for node in nodes if node.name in wanted)


def unchanged_passes(draft: ReportDraft, record: TraceRecord, content: PassesRecord) -> None:
    """Add the passes of a stage that changed nothing."""
    draft.compilation(record).add_passes(report_value(UnchangedPasses, content, graph="", passes=content.unchanged))


def partition(draft: ReportDraft, record: TraceRecord, content: PartitionRecord) -> None:
    """Add the partitioner's division of the joint graph."""
    reasons, policies = content.reasons, content.policies
    saved = tuple(
        replace(value, reasons=reasons.get(value.name, ()), policy=policies.get(value.name, ""))
        for value in content.saved
    )
    compilation = draft.compilation(record)
    graph = newest_joint_graph(compilation)
    compilation.partitions.append(report_value(Partition, content, graph=graph, recorded=True, saved=saved))


def saved_for_backward(draft: ReportDraft, record: TraceRecord, content: KeptRecord) -> None:
    """Add the values that the compiled forward saves, with the last partitioned joint graph."""
    partitions = draft.compilation(record).partitions
    if partitions and partitions[-1].kept is None:
        partitions[-1] = replace(partitions[-1], kept=content.values)


def newest_joint_graph(compilation: CompilationDraft) -> str:
    """Return the id of the last logged joint graph, which the partitioner divides; empty if there is none."""
    return next((graph.id for graph in reversed(compilation.graphs) if graph.stage == "aot_joint_graph"), "")
