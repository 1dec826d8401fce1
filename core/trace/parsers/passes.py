"""The records of graph passes and of the partitioner: `compileboard_pass`, `compileboard_passes`,
`compileboard_partition`.
"""

from __future__ import annotations

from dataclasses import replace

from core.base.syntax import NOT_READ
from core.report import FxNode, GraphPass, Partition, PatternMatch, Place, UnchangedPasses
from core.report.records.graphs import KeptRecord, PartitionRecord, PassesRecord, PassRecord
from core.trace import TraceRecord
from core.trace.parsers.draft import CompilationDraft, ReportDraft
from core.trace.parsers.fx_text import parse_graph
from core.trace.parsers.typed import report_value


def graph_pass(draft: ReportDraft, record: TraceRecord, content: PassRecord) -> None:
    """Keep a pass that changed its graph."""
    patterns = tuple(PatternMatch(name, _place(source), count) for name, source, count in content.patterns)
    nodes = _nodes(draft, record, content)
    value = report_value(GraphPass, content, graph="", source=_place(content.source), patterns=patterns, nodes=nodes)
    draft.compilation(record).add_passes(value)


def _place(text: str) -> Place | None:
    """Read `file:line` as the record writes it; None for anything else."""
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
    """Keep the passes of a stage that changed nothing."""
    draft.compilation(record).add_passes(report_value(UnchangedPasses, content, graph="", passes=content.unchanged))


def partition(draft: ReportDraft, record: TraceRecord, content: PartitionRecord) -> None:
    """Keep the partitioner's division of the joint graph."""
    reasons, policies = content.reasons, content.policies
    saved = tuple(
        replace(value, reasons=reasons.get(value.name, ()), policy=policies.get(value.name, ""))
        for value in content.saved
    )
    compilation = draft.compilation(record)
    graph = newest_joint_graph(compilation)
    compilation.partitions.append(report_value(Partition, content, graph=graph, recorded=True, saved=saved))


def saved_for_backward(draft: ReportDraft, record: TraceRecord, content: KeptRecord) -> None:
    """Keep the values that the compiled forward keeps, with the joint graph that was divided last."""
    partitions = draft.compilation(record).partitions
    if partitions and partitions[-1].kept is None:
        partitions[-1] = replace(partitions[-1], kept=content.values)


def newest_joint_graph(compilation: CompilationDraft) -> str:
    """Return the id of the joint graph that was logged last, which the partitioner divides; empty if there is none."""
    return next((graph.id for graph in reversed(compilation.graphs) if graph.stage == "aot_joint_graph"), "")
