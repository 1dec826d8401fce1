"""The room of an HTML file, with a list of parts that did not fit, and the run that it is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from core.analysis.comparison import RunSide
from core.base import words as fmt
from core.report import Compilation, FxGraph, FxNode, Report
from core.runs.sides import side_of_run
from core.runs.store import Run
from core.views.colours import kernel_colours
from core.views.compilations import CompilationsView

# What a file takes at most, so that it stays small enough to send.
MOST_COMPILATIONS = 8
MOST_NODES = 6_000
MOST_ROWS = 250
MOST_CODE_CHARS = 1_200_000
MOST_LISTING_CHARS = 80_000

Element = TypeVar("Element")


@dataclass(kw_only=True)
class Allowance:
    """Room that is left in a file; the builders of a page take from it, and note the parts that do not fit."""

    nodes_left: int = MOST_NODES
    code_left: int = MOST_CODE_CHARS
    left_out: list[str] = field(default_factory=list)

    def first(self, what: str, elements: Sequence[Element], most: int = MOST_ROWS) -> Sequence[Element]:
        """Return the first elements; the number of the others is noted as left out."""
        if len(elements) > most:
            self.left_out.append(f"{what}: {fmt.number(len(elements) - most)} of {fmt.number(len(elements))}")
        return elements[:most]

    def takes_graph(self, what: str, size: int) -> bool:
        """Return True if a graph with so many nodes is part of the file; it is noted as left out otherwise."""
        if size > self.nodes_left:
            self.left_out.append(f"{what}: a graph of {fmt.count(size, 'node')}")
            return False
        self.nodes_left -= size
        return True

    def excerpt(self, what: str, text: str) -> str:
        """Return the beginning of a text that the file has room for; the length of the rest is noted as left out."""
        kept = text[: min(MOST_LISTING_CHARS, self.code_left)]
        self.code_left -= len(kept)
        if len(kept) < len(text):
            self.left_out.append(f"{what}: {fmt.number(len(text) - len(kept))} of {fmt.number(len(text))} characters")
        return kept


@dataclass
class Source(Allowance):
    """A stored run with its report, and the room that is left in its file."""

    run: Run
    side: RunSide

    @classmethod
    def of(cls, run: Run) -> Source:
        """Return the source of a run with a log; raises StoreError, TraceError."""
        return cls(run, side_of_run(run))

    @property
    def report(self) -> Report:
        """The run's report."""
        return self.side.report

    @cached_property
    def heaviest(self) -> Sequence[Compilation]:
        """The compilations with their graphs, kernels and guards in the file: those with the most ops, in log order."""
        weights = {entry.id: entry.ops for _, entry in CompilationsView(self.report).matches("")}
        ranked = sorted(self.report.compilations, key=lambda compilation: -weights.get(compilation.id, 0))
        kept = {compilation.id for compilation in self.first("Graphs, kernels and guards", ranked, MOST_COMPILATIONS)}
        return [compilation for compilation in self.report.compilations if compilation.id in kept]

    @property
    def colours(self) -> dict[str, str]:
        """Colour of each kernel of the run, as on the dashboard's pages."""
        return kernel_colours(self.report)

    def nodes(self, compilation: Compilation, graph: FxGraph) -> tuple[FxNode, ...]:
        """Return the nodes of a graph of a compilation."""
        return self.side.nodes(compilation, graph)
