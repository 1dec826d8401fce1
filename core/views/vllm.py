"""vLLM page: compile calls with piecewise compilations, caches, equal subgraphs, and configuration."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from core.base import words as fmt
from core.report import Payload, PiecewiseCompilation, PiecewiseGraph, Report, VllmCall
from core.views.blocks import (
    NOTHING_PICKED,
    Beside,
    Code,
    Column,
    Data,
    Drawn,
    Lazy,
    Listing,
    PageBlock,
    Pane,
    Panes,
    Picks,
    Table,
    Title,
    paragraph,
    spans,
)
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, code, one_line, plain

# Names: the selected call, and the record of torch that the page draws.
CALL, RECORD = "vllm_call", "record"
OUTPUT_CODE = "inductor_output_code"
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


def vllm(report: Report, read: Callable[[Payload], str], picks: Picks = NOTHING_PICKED) -> Iterator[PageBlock]:
    """Yield vLLM's calls: piecewise compilations with a record of torch each, and the configuration."""
    view = VllmView(report)
    yield Title(spans(view.title))
    if not report.vllm:
        yield from paragraph(HOW_TO_RECORD)
        return
    for note in view.loaded_notes:
        yield from paragraph(note)
    calls = [VllmView(report, place) for place in range(len(report.vllm))]
    panes = (Pane(str(call.place + 1), call.label(call.place), partial(call.blocks, read, picks)) for call in calls)
    yield Panes(CALL, "Call", tuple(panes), is_list=True)
    yield Beside(tuple(view.setting_blocks()), tuple(view.record_blocks()), shares=(3, 2))
    yield Data("vllm", report.vllm)


def first_record(piece: PiecewiseCompilation) -> int:
    """Return the place of the output code among the records of a compilation, otherwise 0."""
    return next((place for place, record in enumerate(piece.artifacts) if record.kind == OUTPUT_CODE), 0)


@dataclass(frozen=True)
class VllmView:
    """vLLM's calls in a report; `place` is the index of the call that is shown."""

    report: Report
    place: int = 0

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
    def loaded_notes(self) -> Iterator[str]:
        """Sentences about calls that loaded their code from a cache, as Markdown."""
        for place, call in enumerate(self.report.vllm):
            if call.event == FROM_CACHE:
                yield (
                    f"{plain(self.label(place))} loaded its code from vLLM's AOT cache: torch traced and compiled "
                    "nothing, so its graphs, guards and kernels are not in this log."
                )

    @property
    def _almost_equal(self) -> str:
        graphs = {graph.computation: graph for graph in self._call.graphs if graph.structure}
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
    def _call(self) -> VllmCall:
        return self.report.vllm[self.place]

    def blocks(self, read: Callable[[Payload], str], picks: Picks) -> Iterator[PageBlock]:
        """Yield the piecewise compilations of the shown call, in log order, and a record of the selected one."""
        yield from paragraph(self._almost_equal)
        pieces = self._call.compilations
        if not pieces:
            yield from paragraph(f"Piecewise compilations of this call: {NOT_HERE}")
            return
        name = f"pieces-{self.place}"
        table = Table(name, self.columns, pieces, pick="Select a compilation to read its records.")
        piece = picks.row(name, pieces) or pieces[0]
        yield Beside((table,), tuple(self._details(piece, read)), shares=(3, 2))

    def _details(self, piece: PiecewiseCompilation, read: Callable[[Payload], str]) -> Iterator[PageBlock]:
        if not piece.artifacts:
            yield from paragraph(
                f"Records of torch for {code(piece.subgraph, LONGEST_NAME)} ({tokens(piece)} tokens): {NOT_HERE}. vLLM "
                "reuses the code of an equal subgraph, or loads its own artifact, without a record."
            )
            return
        record = piece.artifacts[first_record(piece)]
        yield Drawn(RECORD, Lazy(lambda: [Listing(record.kind, Code(read(record.text)))]), (self.place, piece))

    @property
    def columns(self) -> tuple[Column[PiecewiseCompilation], ...]:
        return (
            Column("subgraph", lambda piece: one_line(piece.subgraph, LONGEST_LINE)),
            Column("tokens", tokens, width=120),
            Column("ops", self._ops, fmt.number),
            Column("equal to", lambda piece: self._equal_to(self._graphs.get(piece.subgraph)), width=90),
            Column("caches", _caches),
            Column("seconds", lambda piece: piece.seconds, fmt.duration_s),
            Column("records", lambda piece: len(piece.artifacts), fmt.number),
        )

    def _ops(self, piece: PiecewiseCompilation) -> int | None:
        graph = self._graphs.get(piece.subgraph)
        return graph.ops if graph and graph.computation else None

    @cached_property
    def _graphs(self) -> dict[str, PiecewiseGraph]:
        return {graph.name: graph for graph in self._call.graphs}

    def _equal_to(self, graph: PiecewiseGraph | None) -> str:
        """Return the first earlier subgraph with the same computation; empty without one."""
        if graph is None or not graph.computation:
            return ""
        first = next(other for other in self._call.graphs if other.computation == graph.computation)
        return "" if first is graph else one_line(first.name, LONGEST_LINE)

    def setting_blocks(self) -> Iterator[PageBlock]:
        """Yield the settings that differ between calls, then shared ones.

        A setting that differs has a column for each call that logged its configuration.
        """
        labels = [self.label(place) for place, call in enumerate(self.report.vllm) if call.config]
        shared = [(name, values[:1]) for name, values in self._settings.items() if _equal(values)]
        differing = [(name, values) for name, values in self._settings.items() if not _equal(values)]
        for caption, rows, names in (("Settings that differ", differing, labels), ("Settings", shared, ["value"])):
            if rows:
                yield from paragraph(caption, "quiet")
                yield Table(caption.lower(), (NAME_OF_SETTING, *map(_value_of_call, names, range(len(names)))), rows)

    @cached_property
    def _settings(self) -> dict[str, list[str]]:
        configs = [call.config for call in self.report.vllm if call.config]
        names = dict.fromkeys(name for config in configs for name in config)
        return {name: [config.get(name, NOT_HERE) for config in configs] for name in names}

    def record_blocks(self) -> Iterator[PageBlock]:
        """Yield each kind of record that a log of vLLM can have, with its number, or that this log has none."""
        counts = [(what, sum(self.report.kinds.get(kind, 0) for kind in kinds)) for what, kinds in RECORDS.items()]
        yield from paragraph("Records", "quiet")
        yield Table("records", RECORD_COLUMNS, counts)


def tokens(piece: PiecewiseCompilation) -> str:
    """Return the numbers of tokens that a compilation is for: `1–64`, or `8, CUDA graph`."""
    if not piece.is_single_size:
        return f"{fmt.number(piece.first)}–{fmt.number(piece.last)}"
    return fmt.number(piece.first) + (", CUDA graph" if piece.cudagraph else "")


def _equal(values: Sequence[str]) -> bool:
    return len(set(values)) == 1


def _caches(piece: PiecewiseCompilation) -> str:
    outcomes = ", ".join(f"{name} {outcome}" for name, outcome in piece.caches.items())
    return one_line(outcomes, LONGEST_LINE) or NOT_HERE


Setting = tuple[str, Sequence[str]]
NAME_OF_SETTING: Column[Setting] = Column("setting", lambda row: one_line(row[0], LONGEST_NAME))
RECORD_COLUMNS: tuple[Column[tuple[str, int]], ...] = (
    Column("records", lambda row: row[0]),
    Column("number", lambda row: fmt.number(row[1]) if row[1] else NOT_HERE),
)


def _value_of_call(label: str, place: int) -> Column[Setting]:
    """Return a column with the settings of a call."""
    return Column(label, lambda row: one_line(row[1][place], LONGEST_LINE))
