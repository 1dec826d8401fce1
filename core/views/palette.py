"""Entries of the command palette for a run: compilations, kernels, and nodes; texts are plain lines."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

from core.analysis.dynamo.failures import frame_names
from core.analysis.kernels.kernel import kernel_names, measured_seconds, times_unreliable
from core.analysis.work import captured_ops
from core.base import words as fmt
from core.report import Compilation, FxGraph, FxNode, Kernel, Report
from core.views.fx_graph import GraphStages
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, one_line

# A larger graph takes seconds to read; the graph's own search covers it.
LARGEST_GRAPH = 5_000  #: ops of a graph whose nodes are in the command palette
NodesOf = Callable[[Compilation, FxGraph], tuple[FxNode, ...]]


@dataclass(frozen=True, slots=True)
class RunEntry:
    """A compilation, kernel or node by its id, with a label and a detail."""

    id: str
    label: str
    detail: str


@dataclass(frozen=True, slots=True)
class RunEntryGroup:
    """Entries with the same compilation, graph and detail.

    `compilation`, `graph` and `detail` are empty if the entries do not share them. `left_out` counts the entries
    of this kind that are missing.
    """

    entries: tuple[RunEntry, ...]
    detail: str = ""
    compilation: str = ""
    graph: str = ""
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class PaletteView:
    """Entries of a run in the command palette; each kind has at most `most` entries."""

    download_note: ClassVar[str] = "The report is JSON; the log is what `TORCH_TRACE` recorded, for tlparse."

    report: Report

    def compilations(self, most: int) -> tuple[RunEntryGroup, ...]:
        """Return one group with the first compilations; empty without compilations."""
        names, compilations = frame_names(self.report), self.report.compilations
        entries = tuple(_compilation(compilation, names[compilation.id]) for compilation in compilations[:most])
        return (RunEntryGroup(entries, left_out=len(compilations) - len(entries)),) if entries else ()

    def kernels(self, most: int) -> tuple[RunEntryGroup, ...]:
        """Return the kernels grouped by compilation, slowest first; in log order if times are unreliable."""
        reliable, compilations = not times_unreliable(self.report), self.report.compilations
        groups = (_kernels(compilation, reliable) for compilation in compilations if compilation.kernels)
        return _bounded(groups, most, sum(len(compilation.kernels) for compilation in compilations))

    def nodes(self, most: int, nodes_of: NodesOf) -> tuple[RunEntryGroup, ...]:
        """Return the ops of the graphs that Dynamo captured and Inductor lowered, the largest graphs first.

        Graphs of the stages between these have the same node names. `nodes_of` reads the nodes of a graph. Graphs
        with more than `LARGEST_GRAPH` ops, and graphs beyond `most` entries, are not read.
        """
        graphs = [(compilation, graph) for compilation in self.report.compilations for graph in _ends(compilation)]
        graphs.sort(key=lambda pair: -pair[1].calls)
        groups = (
            _nodes(compilation, graph, nodes_of(compilation, graph))
            for compilation, graph in graphs
            if graph.calls <= LARGEST_GRAPH
        )
        return _bounded(groups, most, sum(graph.calls for _, graph in graphs))


def _compilation(compilation: Compilation, name: str) -> RunEntry:
    return RunEntry(
        compilation.id,
        one_line(f"[{compilation.id}] {name}", LONGEST_NAME),
        fmt.count(captured_ops(compilation), "op") if compilation.status == "ok" else compilation.status,
    )


def _kernels(compilation: Compilation, reliable: bool) -> RunEntryGroup:
    names, seconds = kernel_names(compilation), measured_seconds(compilation) if reliable else {}
    kernels = sorted(compilation.kernels, key=lambda kernel: -seconds.get(kernel.id, 0.0))
    entries = tuple(_kernel(kernel, names[kernel.id], seconds.get(kernel.id)) for kernel in kernels)
    return RunEntryGroup(entries, f"[{compilation.id}]", compilation.id)


def _kernel(kernel: Kernel, name: str, seconds: float | None) -> RunEntry:
    parts = [name if name != kernel.name else "", fmt.duration_s(seconds) if seconds is not None else ""]
    detail = one_line(" · ".join(filter(None, parts)), LONGEST_LINE)
    return RunEntry(f"k:{kernel.id}", one_line(kernel.name, LONGEST_NAME), detail)


def _ends(compilation: Compilation) -> list[FxGraph]:
    """Return the first graph of a compilation and the lowered graphs."""
    graphs = [graph for graph in compilation.graphs if graph.calls]
    return [GraphStages(graphs).first, *(graph for graph in graphs[1:] if graph.lowered)] if graphs else []


def _nodes(compilation: Compilation, graph: FxGraph, nodes: Iterable[FxNode]) -> RunEntryGroup:
    entries = tuple(map(_node, (node for node in nodes if node.op.startswith("call_"))))
    return RunEntryGroup(entries, f"{GraphStages.describe(graph)} [{compilation.id}]", compilation.id, graph.id)


def _node(node: FxNode) -> RunEntry:
    target = one_line(node.target.removeprefix("torch.ops."), LONGEST_NAME)
    return RunEntry(f"n:{node.name}", one_line(node.name, LONGEST_NAME), target)


def _bounded(groups: Iterable[RunEntryGroup], most: int, total: int) -> tuple[RunEntryGroup, ...]:
    """Return the first groups with at most `most` entries in total; the last one counts the others."""
    first: list[RunEntryGroup] = []
    room = most
    for group in groups:
        first.append(replace(group, entries=group.entries[:room]))
        room -= len(first[-1].entries)
        if room <= 0:
            break
    left_out = total - (most - room)
    return (*first[:-1], replace(first[-1], left_out=max(0, left_out))) if first else ()
