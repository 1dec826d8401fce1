"""Counts that a log may not record: graph breaks, recompiles and graphs."""

from __future__ import annotations

from core.analysis.dynamo.recompiles import recompiled
from core.analysis.work import dynamo_graphs
from core.base.words import count
from core.report import BreakRecord, Report

BREAKS_NOT_RECORDED = "graph breaks not recorded"
DYNAMO_RECORDS = frozenset({"dynamo_start", "dynamo_output_graph", "dynamo_cpp_guards_str", "compilation_metrics"})


def records_dynamo(report: Report) -> bool:
    """Return False for compilations without all records of Dynamo, as in a log made from a dump."""
    if report.records_lost:
        return False
    return report.break_record != "none" or not report.kinds.keys().isdisjoint(DYNAMO_RECORDS)


def recompile_count(report: Report) -> int | None:
    """Return the number of recompiles; None if the log has no record of Dynamo."""
    return len(recompiled(report)) if records_dynamo(report) else None


def break_count_words(breaks: int, record: BreakRecord) -> str:
    """Return the number of graph breaks in words: "at least 1 graph break" for a lower bound."""
    if record == "none":
        return BREAKS_NOT_RECORDED
    return f"{'at least ' if record == 'lower bound' else ''}{count(breaks, 'graph break')}"


def recompile_words(recompiles: int, report: Report) -> str:
    """Return the number of recompiles in words, or that the log does not record them."""
    return count(recompiles, "recompile") if records_dynamo(report) else "recompiles not recorded"


def dynamo_graph_count(report: Report) -> int:
    """Return the number of Dynamo's graphs, in the last attempt of each compilation.

    Without records of graphs, it is the number of compilations that captured ops. Without any record of
    Dynamo, it is the number of compilations with graphs.
    """
    if not records_dynamo(report):
        return sum(bool(compilation.graphs) for compilation in report.compilations)
    if any(compilation.graphs for compilation in report.compilations):
        return sum(len(dynamo_graphs(compilation)) for compilation in report.compilations)
    return sum(
        compilation.status != "failed" and bool(compilation.graph_op_count) for compilation in report.compilations
    )


def inductor_graphs(report: Report) -> int | None:
    """Return the number of graphs that Inductor compiled, forward and backward apart; None without any."""
    compiled: set[tuple[str, str]] = set()
    for compilation in report.compilations:
        directions = {graph.direction for graph in compilation.lowered_graphs}
        directions |= {kernel.direction for kernel in compilation.kernels}
        compiled.update((compilation.id, direction) for direction in directions)
    return len(compiled) or None
