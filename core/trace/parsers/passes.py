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
from core.trace.parsers.typed import reported


def graph_pass(draft: ReportDraft, record: TraceRecord, said: PassRecord) -> None:
    """A pass that changed its graph."""
    patterns = tuple(PatternMatch(name, _place(source), count) for name, source, count in said.patterns)
    nodes = _nodes(draft, record, said)
    found = reported(GraphPass, said, graph="", source=_place(said.source), patterns=patterns, nodes=nodes)
    draft.compilation(record).add_passes(found)


def _place(text: str) -> Place | None:
    """`file:line` as the record says it; None for anything else."""
    file, _, line = text.rpartition(":")
    return Place(file, int(line)) if file and line.isdecimal() and len(line) < 10 else None


def _nodes(draft: ReportDraft, record: TraceRecord, said: PassRecord) -> tuple[FxNode, ...]:
    """The added and rewritten nodes; their line is 0, since this text is none that a page shows."""
    if not said.text:
        return ()
    wanted = {*said.added, *said.rewritten}
    try:
        nodes = parse_graph(said.text, said.modules, known=said.reads)
    except NOT_READ:
        draft.problem("text of a pass is not Python", record.offset)
        return ()
    return tuple(replace(node, line=0) for node in nodes if node.name in wanted)


def unchanged_passes(draft: ReportDraft, record: TraceRecord, said: PassesRecord) -> None:
    """The passes of a stage that changed nothing."""
    draft.compilation(record).add_passes(reported(UnchangedPasses, said, graph="", passes=said.unchanged))


def partition(draft: ReportDraft, record: TraceRecord, said: PartitionRecord) -> None:
    """How the joint graph was divided."""
    reasons, policies = said.reasons, said.policies
    saved = tuple(
        replace(value, reasons=reasons.get(value.name, ()), policy=policies.get(value.name, "")) for value in said.saved
    )
    compilation = draft.compilation(record)
    graph = newest_joint_graph(compilation)
    compilation.partitions.append(reported(Partition, said, graph=graph, recorded=True, saved=saved))


def kept(draft: ReportDraft, record: TraceRecord, said: KeptRecord) -> None:
    """What the compiled forward keeps, of the joint graph that was divided last."""
    partitions = draft.compilation(record).partitions
    if partitions and partitions[-1].kept is None:
        partitions[-1] = replace(partitions[-1], kept=said.values)


def newest_joint_graph(compilation: CompilationDraft) -> str:
    """The id of the joint graph that was logged last, which the partitioner divides; empty if there is none."""
    return next((graph.id for graph in reversed(compilation.graphs) if graph.stage == "aot_joint_graph"), "")
