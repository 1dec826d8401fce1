"""The records of graph passes and of the partitioner: `compileboard_pass`, `compileboard_passes`, `compileboard_partition`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from core.decoder import whole
from core.parsers.draft import CompilationDraft, ReportDraft
from core.parsers.fx_text import parse_graph
from core.report import FxNode, GraphPass, KeptValue, Partition, PatternMatch, SavedValue, UnchangedPasses
from core.report.passes import Decision
from core.syntax import NOT_READ
from core.trace import TraceRecord


def graph_pass(draft: ReportDraft, record: TraceRecord, data: dict[str, Any]) -> None:
    """A pass that changed its graph."""
    patterns = tuple(PatternMatch(str(name), str(source), whole(count)) for name, source, count in data["patterns"])
    found = msgspec.convert({**data, "graph": "", "patterns": (), "nodes": ()}, GraphPass)
    draft.compilation(record).add_passes(replace(found, patterns=patterns, nodes=_nodes(draft, record, data)))


def _nodes(draft: ReportDraft, record: TraceRecord, data: dict[str, Any]) -> tuple[FxNode, ...]:
    """The added and rewritten nodes; their line is 0, since this text is none that a page shows."""
    text = data["text"]
    if not text:
        return ()
    modules = {str(name): (str(path), str(kind)) for name, (path, kind) in data["modules"].items()}
    wanted = {*data["added"], *data["rewritten"]}
    try:
        nodes = parse_graph(text, modules, known=data["reads"])
    except NOT_READ:
        draft.problem("text of a pass is not Python", record.offset)
        return ()
    return tuple(replace(node, line=0) for node in nodes if node.name in wanted)


def unchanged_passes(draft: ReportDraft, record: TraceRecord, data: dict[str, Any]) -> None:
    """The passes of a stage that changed nothing."""
    found = {"stage": data["stage"], "graph": "", "passes": data["unchanged"], "subgraph": data["subgraph"]}
    draft.compilation(record).add_passes(msgspec.convert(found, UnchangedPasses))


def partition(draft: ReportDraft, record: TraceRecord, data: dict[str, Any]) -> None:
    """How the joint graph was divided."""
    reasons, policies = data["reasons"], data["policies"]
    saved = [
        {**item, "reasons": reasons.get(item["name"], ()), "policy": policies.get(item["name"], "")}
        for item in data["saved"]
    ]
    compilation = draft.compilation(record)
    compilation.partitions.append(
        Partition(
            graph=newest_joint_graph(compilation),
            recorded=True,
            decisions=msgspec.convert(data["decisions"], dict[str, Decision]),
            saved=msgspec.convert(saved, tuple[SavedValue, ...]),
            reasons=msgspec.convert(reasons, dict[str, tuple[str, ...]]),
            policies=msgspec.convert(policies, dict[str, str]),
            dropped=msgspec.convert(data["dropped"], tuple[str, ...]),
            subgraph=str(data["subgraph"]),
        )
    )


def kept(draft: ReportDraft, record: TraceRecord, data: dict[str, Any]) -> None:
    """What the compiled forward keeps, of the joint graph that was divided last."""
    partitions = draft.compilation(record).partitions
    if partitions and partitions[-1].kept is None:
        partitions[-1] = replace(partitions[-1], kept=msgspec.convert(data["values"], tuple[KeptValue, ...]))


def newest_joint_graph(compilation: CompilationDraft) -> str:
    """The id of the joint graph that was logged last, which the partitioner divides; empty if there is none."""
    return next((graph.id for graph in reversed(compilation.graphs) if graph.stage == "aot_joint_graph"), "")
