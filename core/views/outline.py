"""Outline of a large log, shown while another process reads the whole log; texts are Markdown."""

from __future__ import annotations

from dataclasses import dataclass

from core.analysis import compile_seconds, compile_time_s, failure_sentence, failures, frame_names
from core.base import words as fmt
from core.report import Report
from core.runs.store import Run
from core.runs.stored import open_outline
from core.views.markdown import LONGEST_LINE, one_line, plain

MOST_ROWS = 200


@dataclass(frozen=True, slots=True)
class OutlineView:
    """Outline of a log by its index and small records: compilations, graph breaks, recompiles, failures, seconds.

    `title` counts them in one sentence, `failure` has the compilations that failed, empty if none did. `rows` are the
    slowest compilations, and `note` says how many others there are.
    """

    title: str
    failure: str
    rows: tuple[dict[str, str | int | float | None], ...]
    note: str

    @staticmethod
    def of(report: Report) -> OutlineView:
        """Return the outline as it is shown; `report` is that of `core.trace.parsers.outline`."""
        return OutlineView(_title(report), plain(failure_sentence(failures(report))), _rows(report), _note(report))


def _title(report: Report) -> str:
    stages = [graph.stage for compilation in report.compilations for graph in compilation.graphs]
    graphs = stages.count("dynamo_output_graph")
    parts = (
        f"{fmt.count(graphs, 'graph')} in {fmt.count(len(report.compilations), 'compilation')}",
        fmt.count(len(report.graph_breaks), "graph break"),
        fmt.count(len({recompile.compilation for recompile in report.recompiles}), "recompile"),
        f"{fmt.duration_s(compile_time_s(report))} of compile time",
    )
    return ", ".join(parts) + "."


def _rows(report: Report) -> tuple[dict[str, str | int | float | None], ...]:
    names, seconds = frame_names(report), compile_seconds(report)
    slowest = sorted(report.compilations, key=lambda compilation: -seconds.get(compilation.id, 0.0))
    return tuple(
        {
            "compilation": f"[{compilation.id}]",
            "function": one_line(names.get(compilation.id, ""), LONGEST_LINE),
            "status": compilation.status,
            "seconds": seconds.get(compilation.id),
            "ops": compilation.graph_op_count,
        }
        for compilation in slowest[:MOST_ROWS]
    )


def _note(report: Report) -> str:
    left_out = max(0, len(report.compilations) - MOST_ROWS)
    more = f"{fmt.count(left_out, 'faster compilation')} not listed. " if left_out else ""
    return f"{more}Graphs, guards and kernels follow once the whole log is read; this page updates itself."


def outline_view(run: Run) -> OutlineView | None:
    """Return the outline of a large log that is being read; None before there is one."""
    return open_outline(run, OutlineView)
