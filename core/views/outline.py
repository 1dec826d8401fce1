"""Outline of a large log, shown while another process reads the whole log; texts are Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from core.analysis import compile_seconds, failure_sentence, failures, frame_names
from core.base import words as fmt
from core.report import Report
from core.runs.store import Run
from core.runs.stored import open_outline
from core.views.markdown import LONGEST_LINE, one_line, plain

MOST_ROWS = 200


@dataclass(frozen=True)
class OutlineView:
    """Outline of a log by its index and small records: compilations, graph breaks, recompiles, failures, seconds."""

    report: Report

    @property
    def title(self) -> str:
        """Counts of the whole log in one sentence."""
        report = self.report
        stages = [graph.stage for compilation in report.compilations for graph in compilation.graphs]
        graphs = stages.count("dynamo_output_graph")
        parts = (
            f"{fmt.count(graphs, 'graph')} in {fmt.count(len(report.compilations), 'compilation')}",
            fmt.count(len(report.graph_breaks), "graph break"),
            fmt.count(len({recompile.compilation for recompile in report.recompiles}), "recompile"),
            f"{fmt.duration_s(sum(self._seconds.values()))} of compile time",
        )
        return ", ".join(parts) + "."

    @property
    def failure(self) -> str:
        """The compilations that failed, in a sentence; empty if none did."""
        return plain(failure_sentence(failures(self.report)))

    @property
    def rows(self) -> list[dict[str, object]]:
        """The slowest compilations."""
        names = frame_names(self.report)
        slowest = sorted(self.report.compilations, key=lambda compilation: -self._seconds.get(compilation.id, 0.0))
        return [
            {
                "compilation": f"[{compilation.id}]",
                "function": one_line(names.get(compilation.id, ""), LONGEST_LINE),
                "status": compilation.status,
                "seconds": self._seconds.get(compilation.id),
                "ops": compilation.graph_op_count,
            }
            for compilation in slowest[:MOST_ROWS]
        ]

    @property
    def note(self) -> str:
        """The number of compilations that the table leaves out, and what the log's outline does not say."""
        left_out = max(0, len(self.report.compilations) - MOST_ROWS)
        more = f"{fmt.count(left_out, 'faster compilation')} not listed. " if left_out else ""
        return f"{more}Graphs, guards and kernels follow once the whole log is read; this page updates itself."

    @cached_property
    def _seconds(self) -> dict[str, float]:
        return compile_seconds(self.report)


def outline_view(run: Run) -> OutlineView | None:
    """Return the outline of a large log that is being read; None before there is one."""
    report = open_outline(run)
    return None if report is None else OutlineView(report)
