"""vLLM's compile calls: configuration, piecewise compilations with caches, and equal subgraphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from core.base import words as fmt
from core.report import PiecewiseCompilation, PiecewiseGraph, Report, VllmCall
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, code, one_line, plain

__all__ = ["VllmView"]

FROM_CACHE = "aot_cache_hit"
NOT_HERE = "not in this log"
# What a log of vLLM can have, and the kinds of its records.
RECORDS = {
    "configuration": ("artifact:vllm_compilation_config",),
    "split graph": ("graph_dump:vllm_piecewise_split_graph",),
    "piecewise compilations": ("artifact:vllm_piecewise_compile_start",),
    "Dynamo's graph": ("dynamo_output_graph",),
    "guards": ("dynamo_cpp_guards_str",),
    "compilation metrics": ("compilation_metrics",),
    "output code": ("inductor_output_code",),
}
HOW_TO_RECORD = (
    "No record of vLLM is in this log. `TORCH_TRACE=/tmp/trace vllm serve MODEL` writes one log for each worker; "
    "*New run* opens the directory."
)


@dataclass(frozen=True)
class VllmView:
    """vLLM's calls in a report; `place` is the index of the call that is shown."""

    report: Report
    place: int = 0

    how_to_record = HOW_TO_RECORD

    @property
    def title(self) -> str:
        """Numbers of calls, subgraphs and distinct subgraphs."""
        calls = self.report.vllm
        if not calls:
            return "This log has no record of vLLM"
        graphs = [graph for call in calls for graph in call.graphs]
        compiled = sum(len(call.compilations) for call in calls)
        if not compiled:
            return f"vLLM made {fmt.count(len(calls), 'call')}; no piecewise compilation is in this log"
        made = f"{fmt.count(compiled, 'piecewise compilation')} in {fmt.count(len(calls), 'call')} of vLLM"
        if not graphs:
            return made
        distinct = len({graph.computation or graph.text for graph in graphs})
        return f"{made}: {fmt.count(len(graphs), 'subgraph')}, {fmt.number(distinct)} of them distinct"

    @property
    def notes(self) -> list[str]:
        """Sentences about loaded calls, and about subgraphs that differ in a text alone, as Markdown."""
        loaded = [self.label(place) for place, call in enumerate(self.report.vllm) if call.event == FROM_CACHE]
        notes = [
            f"{plain(label)} loaded its code from vLLM's AOT cache: torch traced and compiled nothing, so its graphs, "
            "guards and kernels are not in this log."
            for label in loaded
        ]
        return [*notes, *filter(None, [self._almost_equal])]

    @property
    def _almost_equal(self) -> str:
        graphs = {graph.computation: graph for graph in self._call.graphs if graph.structure} if self.labels else {}
        structures = Counter(graph.structure for graph in graphs.values())
        alike = [graph for graph in graphs.values() if structures[graph.structure] > 1]
        if not alike:
            return ""
        uses = Counter(text for graph in alike for text in graph.constants)
        example = next((text for text, number in uses.items() if number < len(alike)), "")
        return (
            f"{fmt.count(len(alike), 'distinct subgraph')} of this call differ only in a text constant, such as "
            f"{code(example, LONGEST_NAME)}: vLLM compiles each of them, and no cache entry serves two."
        )

    def label(self, place: int) -> str:
        """Return a call's name: its number, the part of the model, and vLLM's event."""
        call = self.report.vllm[place]
        parts = [call.config.get("prefix", ""), call.event, f"[{call.compile_id}]" if call.compile_id else ""]
        return one_line(" · ".join([f"Call {place + 1}", *filter(None, parts)]), LONGEST_LINE)

    @property
    def labels(self) -> list[str]:
        """Names of all calls, in the order of the log."""
        return [self.label(place) for place in range(len(self.report.vllm))]

    @property
    def _call(self) -> VllmCall:
        return self.report.vllm[self.place]

    @property
    def compilations(self) -> Sequence[PiecewiseCompilation]:
        """Piecewise compilations of the shown call, in the order of the log."""
        return self._call.compilations

    @property
    def rows(self) -> list[dict[str, object]]:
        """A row for each piecewise compilation of the shown call."""
        return [
            {
                "subgraph": one_line(piece.subgraph, LONGEST_LINE),
                "tokens": tokens(piece),
                "ops": graph.ops if graph and graph.computation else None,
                "equal to": self._equal_to(graph),
                "caches": one_line(
                    ", ".join(f"{name} {outcome}" for name, outcome in piece.caches.items()), LONGEST_LINE
                )
                or NOT_HERE,
                "seconds": piece.seconds,
                "records": len(piece.artifacts),
            }
            for piece, graph in ((piece, self._graphs.get(piece.subgraph)) for piece in self.compilations)
        ]

    @cached_property
    def _graphs(self) -> dict[str, PiecewiseGraph]:
        return {graph.name: graph for graph in self._call.graphs}

    def _equal_to(self, graph: PiecewiseGraph | None) -> str:
        """Return the first earlier subgraph with the same computation; empty without one."""
        if graph is None or not graph.computation:
            return ""
        first = next(other for other in self._call.graphs if other.computation == graph.computation)
        return "" if first is graph else one_line(first.name, LONGEST_LINE)

    @property
    def no_compilation(self) -> str:
        """Sentence for a call without piecewise compilations."""
        return f"Piecewise compilations of this call: {NOT_HERE}"

    @staticmethod
    def no_record_of(piece: PiecewiseCompilation) -> str:
        """Return a sentence for a piecewise compilation without records of torch, as Markdown."""
        return (
            f"Records of torch for {code(piece.subgraph, LONGEST_NAME)} ({tokens(piece)} tokens): {NOT_HERE}. vLLM "
            "reuses the code of an equal subgraph, or loads its own artifact, without a record."
        )

    @property
    def config_tables(self) -> list[tuple[str, list[dict[str, str]]]]:
        """Tables of settings with their captions: settings that differ between calls, then shared ones.

        A setting that differs has a column for each call that logged its configuration.
        """
        labels = [self.label(place) for place, call in enumerate(self.report.vllm) if call.config]
        shared = [_setting(name, {"value": values[0]}) for name, values in self._settings.items() if _equal(values)]
        differing = [
            _setting(name, dict(zip(labels, values, strict=True)))
            for name, values in self._settings.items()
            if not _equal(values)
        ]
        tables = {"Settings that differ": differing, "Settings": shared}
        return [(caption, rows) for caption, rows in tables.items() if rows]

    @cached_property
    def _settings(self) -> dict[str, list[str]]:
        configs = [call.config for call in self.report.vllm if call.config]
        names = dict.fromkeys(name for config in configs for name in config)
        return {name: [config.get(name, NOT_HERE) for config in configs] for name in names}

    @property
    def record_rows(self) -> list[dict[str, str]]:
        """A row for each kind of record that a log of vLLM can have: its number, or that this log has none."""
        counts = {what: sum(self.report.kinds.get(kind, 0) for kind in kinds) for what, kinds in RECORDS.items()}
        return [{"records": what, "number": fmt.number(n) if n else NOT_HERE} for what, n in counts.items()]


def tokens(piece: PiecewiseCompilation) -> str:
    """Return the numbers of tokens that a compilation is for: `1–64`, or `8, CUDA graph`."""
    if not piece.is_single_size:
        return f"{fmt.number(piece.first)}–{fmt.number(piece.last)}"
    return fmt.number(piece.first) + (", CUDA graph" if piece.cudagraph else "")


def _equal(values: Sequence[str]) -> bool:
    return len(set(values)) == 1


def _setting(name: str, values: Mapping[str, str]) -> dict[str, str]:
    cells = {label: one_line(value, LONGEST_LINE) for label, value in values.items()}
    return {"setting": one_line(name, LONGEST_NAME), **cells}
