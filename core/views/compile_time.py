"""Compile time of a run: torch's phases, totals, cache results and metrics; texts are Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from posixpath import basename

from core.analysis.durations import (
    CacheTotal,
    PhaseTotal,
    cache_totals,
    compile_seconds,
    compile_time_s,
    parallel_totals,
    phase_class,
    phase_totals,
    self_seconds,
)
from core.analysis.dynamo.costs import TracedTotal, traced_totals
from core.base import words as fmt
from core.report import CacheEvent, FxGraph, Payload, Phase, Report, stored
from core.report.run import CachePart, FilledCaches
from core.views.blocks import (
    NOTHING_PICKED,
    Bar,
    Bars,
    Beside,
    Blocks,
    Column,
    Data,
    Drawn,
    Heading,
    InLine,
    PageBlock,
    Picks,
    Select,
    Table,
    Title,
    paragraph,
    spans,
)
from core.views.glossary import GLOSSARY
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, code, one_line, plain
from core.views.metrics import MetricsView, metrics_blocks

# Names: the selection of a compilation, and the parts that the page draws.
FRAME = "frame"
FLAME, PERFETTO = "flame", "perfetto"
ALL = "all compilations"
NAMED = 3
MOST_BARS = 15  #: limit: phases in a bar chart
MOST_TRACED = 30  #: limit: functions in the table of Dynamo's profile
MOST_SPANS = 20_000  #: limit: phases in a flame chart
# Phase class → prefix of the stage of the graph that the phase produces.
MAKES = {"dynamo": "dynamo_", "aot_autograd": "aot_", "inductor": "inductor_", "codegen": "inductor_"}
MAKES_KERNELS = ("codegen", "compile")
BELOW_THE_LINE = "Below the dashed line: other threads."
# Use of torch's on-disk caches, by the job's condition `caches`.
OF_CACHES = {
    "objects": "The FX graph and AOTAutograd caches were off, so that torch compiled each graph. C++ objects still "
    "came from a cache.",
    "cold": "All cache directories were empty at the start. The FX graph and AOTAutograd caches were off.",
    "warm": "The FX graph and AOTAutograd caches were on, and an earlier process filled them.",
    "bundle": "The FX graph and AOTAutograd caches were on, and had only the bundle that an earlier process saved.",
}
CACHE_NAMES = {
    "dynamo": "Dynamo's code",
    "aotautograd": "AOTAutograd",
    "fx_graph": "FX graph",
    "c++": "C++ objects",
    "triton": "Triton kernels",
    "autotuning": "autotuning",
    "pgo": "sizes seen before (PGO)",
}
# Types of artifacts in a bundle, and torch's folders, by their names in the table of caches.
PART_NAMES = CACHE_NAMES | {
    "precompile": "Dynamo's code",
    "aot_autograd": "AOTAutograd",
    "inductor": "FX graph",
    "fxgraph": "FX graph",
    "autotune": "autotuning",
    "python": "generated Python",
    "c++": "C++ sources and objects",
}
NOT_USED, UNSAID = "not used", "this log does not say"
TRACING = "bytecode_tracing"
NO_PROFILE = "Dynamo's profile by function is not recorded: torch has it from 2.13 on."
TRACED_HELP = "Dynamo's own profile: seconds of tracing, with the library functions that each function calls"
SECOND_START = (
    "An earlier process made the same compiled calls and left its caches. The seconds of this page are those of the "
    "process that started with them."
)
BYPASS_COST = "Compile time after Dynamo that each process spends again, as in this run"
FROM_METRICS = (
    "This log has no Chromium events, so the seconds are those of torch's metrics. They do not say when a phase began, "
    "and leave out the compilation of backward graphs."
)


def compile_time(report: Report, read: Callable[[Payload], str], picks: Picks = NOTHING_PICKED) -> Iterator[PageBlock]:
    """Yield the compile time of a run: phases as a chart and a table, cache results, and torch's metrics.

    `read` returns a part of the log.
    """
    run, phases = CompileTimeView(report), phases_of(report, picks)
    yield Title(spans(run.title), "" if run.why_none else GLOSSARY["compile time"])
    if run.why_none:
        yield from paragraph(run.why_none)
        if report.metrics:
            yield from metrics_blocks(MetricsView(report, "", read), picks)
        return
    frames = Select(FRAME, "Frame", (ALL, *run.compile_ids), in_url=True)
    yield InLine((frames, Data("phases", report.phases), Drawn(PERFETTO)))
    yield Drawn(FLAME, (phases.bars,))
    yield from paragraph(phases.chart_note, "quiet")
    totals: Table[PhaseTotal] = Table("phases", PHASE_COLUMNS, phases.totals)
    left: Blocks = (Heading("Phases"), totals, *paragraph(phases.rows_note, "quiet"))
    yield Beside(left, (Heading("Caches"), *_cache_blocks(phases)), shares=(3, 2))
    yield from _second_start(report)
    yield from _traced_blocks(report)
    yield from metrics_blocks(MetricsView(report, phases.compile_id, read), picks)


def phases_of(report: Report, picks: Picks) -> CompileTimeView:
    """Return the phases of the selected compilation, or of the run if none is selected."""
    run, chosen = CompileTimeView(report), picks.text(FRAME)
    return CompileTimeView(report, chosen) if chosen in run.compile_ids else run


def _cache_blocks(phases: CompileTimeView) -> Iterator[PageBlock]:
    yield Table("cache-totals", TOTAL_COLUMNS, cache_totals(phases.report))
    if phases.report.caches:
        bypassed = any(event.outcome == "bypass" for event in phases.report.caches)
        cost = Column("at every start", phases.bypass_s, fmt.duration_s, help=BYPASS_COST)
        columns = (*CACHE_COLUMNS, cost) if bypassed else CACHE_COLUMNS
        yield Table("caches", columns, sorted(phases.report.caches, key=lambda event: -(phases.bypass_s(event) or 0)))
    for note in phases.cache_notes:
        yield from paragraph(note, "quiet")


def _second_start(report: Report) -> Iterator[PageBlock]:
    """Yield the seconds of the process that filled the caches, what it saved, and the caches by size."""
    filled = report.filled_caches
    if filled is None:
        return
    yield Heading("Second start", SECOND_START)
    yield from paragraph(second_start_words(report, filled))
    files = (Heading("Files that the first process left"), Table("cache-files", PART_COLUMNS, filled.files))
    if not filled.bundle:
        yield from files
        return
    note = WITHOUT_CPP if any(part.kind == "c++" for part in filled.files) else ""
    parts: Table[CachePart] = Table("bundle", PART_COLUMNS, filled.bundle)
    yield Beside((Heading("Parts of the bundle"), parts, *paragraph(note, "quiet")), files)


WITHOUT_CPP = (
    "The bundle has the sources of C++ kernels, not their objects: each process compiles these again, unless it also "
    "keeps the folder in `TORCHINDUCTOR_CACHE_DIR`."
)


def second_start_words(report: Report, filled: FilledCaches) -> str:
    """Return the seconds of the compiled calls of both processes, and the size of the bundle."""
    if filled.exit_code:
        return f"The process that was to fill the caches ended with exit code {filled.exit_code}."
    first_s, compiled_s = sum(filled.calls_s), compile_time_s(report)
    whole = f"{fmt.duration_s(filled.took_s)} with loading the model"
    texts = [
        f"The compiled calls of the first process took {fmt.duration_s(first_s)}, compiling included ({whole}).",
        f"This process compiled for {fmt.duration_s(compiled_s)}.",
    ]
    if filled.bundle_bytes:
        load_s = filled.load_s
        loaded = ", which torch refused" if load_s is None else f", loaded in {fmt.duration_s(load_s)}"
        saved = f" in {fmt.duration_s(filled.save_s)}" if filled.save_s is not None else ""
        texts.append(f"`torch.compiler.save_cache_artifacts` wrote {fmt.bytes_(filled.bundle_bytes)}{saved}{loaded}.")
    return " ".join(texts)


def _traced_blocks(report: Report) -> Iterator[PageBlock]:
    """Yield the user's functions by the seconds that Dynamo traced them."""
    functions = traced_totals(report)
    if functions:
        yield Heading("Tracing by function", TRACED_HELP)
        yield Table("traced", TRACED_COLUMNS, functions[:MOST_TRACED])
    elif report.setting.job and any(phase.name == TRACING for phase in report.phases):
        yield from paragraph(NO_PROFILE, "quiet")


@dataclass(frozen=True, slots=True)
class PhaseSpan:
    """A phase in the flame chart, in whole microseconds since the chart's first phase.

    `self_us` is the time without nested phases. Rows are counted from the top; phases of parallel threads have
    rows below all others.
    """

    index: int
    name: str
    compilation: str
    start_us: int
    length_us: int
    self_us: int
    row: int
    thread: int

    @property
    def kind(self) -> str:
        """Class of the phase: dynamo, aot_autograd, inductor, codegen, compile, or other."""
        return phase_class(self.name)

    @property
    def label(self) -> str:
        """Name in one line."""
        return one_line(self.name, LONGEST_NAME)

    @property
    def makes_kernels(self) -> bool:
        """True if the phase generates or compiles kernels."""
        return self.kind in MAKES_KERNELS


@dataclass(frozen=True, slots=True)
class PhaseOwner:
    """A compilation in the flame chart: id, function, seconds, and flags for recorded graphs and kernels."""

    id: str
    function: str
    seconds: float
    has_graph: bool
    has_kernels: bool


@dataclass(frozen=True)
class CompileTimeView:
    """The phases of a run, or of one compilation of it; an empty id means the whole run."""

    report: Report
    compile_id: str = ""

    @property
    def title(self) -> str:
        """Compile time of the run and its most expensive phase, or a note that no phase was recorded."""
        if self.why_none:
            return "No phase was recorded."
        slowest = next(iter(phase_totals(self.report)), None)
        most = (
            f"; {plain(slowest.name, LONGEST_NAME)} took the most self time: {fmt.duration_s(slowest.self_s)}."
            if slowest
            else "."
        )
        return f"{fmt.duration_s(compile_time_s(self.report))} of compile time{most}"

    @property
    def why_none(self) -> str:
        """Reason why there is no phase; empty if there are some."""
        if compile_seconds(self.report):
            return ""
        return "Torch logs its phases as chromium events; this log has none."

    @property
    def compile_ids(self) -> list[str]:
        """Compilations with phases."""
        return sorted(filter(None, compile_seconds(self.report)))

    @property
    def chart_note(self) -> str:
        """Work outside the compiling thread, and phases that the chart omits."""
        unfinished, beside = (
            _unfinished_and_beside([phase for _, phase in self.report.phases_of(self.compile_id)])
            if self.compile_id
            else _run_unfinished_and_beside(self.report)
        )
        notes = [parallel_words(self.totals, beside), self._origin_note]
        if unfinished:
            notes.append(f"{fmt.count(unfinished, 'phase')} never ended and cannot be drawn.")
        return " ".join(filter(None, notes))

    @property
    def _origin_note(self) -> str:
        """A note on phases that are from torch's metrics; empty if torch logged Chromium events."""
        if not self.report.kinds.get("compilation_metrics") or self.report.kinds.get("chromium_event"):
            return ""
        return FROM_METRICS

    @property
    def bars(self) -> Bars:
        """The phases with the longest self time."""
        longest = sorted((total for total in self.totals if total.self_s > 0), key=lambda total: -total.self_s)
        top_s = max((total.self_s for total in longest), default=0.0)
        bars = tuple(
            Bar(one_line(total.name, LONGEST_LINE), fmt.duration_s(total.self_s), total.self_s / top_s)
            for total in longest[:MOST_BARS]
        )
        return Bars(f"Seconds by itself of the {fmt.count(len(bars), 'longest phase')}", bars)

    @property
    def rows_note(self) -> str:
        """Sum of the self times."""
        seconds = compile_seconds(self.report)
        if not self.compile_id:
            return f"The self times add up to {fmt.duration_s(sum(seconds.values()))}, the compile time of the run."
        self_time = fmt.duration_s(seconds.get(self.compile_id, 0.0))
        return f"The self times add up to {self_time}, the compile time of [{plain(self.compile_id)}]."

    def bypass_s(self, event: CacheEvent) -> float | None:
        """Return the seconds of a bypassed compilation after Dynamo; None for another outcome."""
        if event.outcome != "bypass":
            return None
        totals = phase_totals(self.report, event.compilation)
        return sum(total.self_s for total in totals if phase_class(total.name) != "dynamo") if totals else None

    @property
    def cache_notes(self) -> tuple[str, ...]:
        """Notes on the use of the caches and on bypasses; empty for an imported log without a bypass."""
        conditions = (self.report.setting.job or {}).get("conditions") or {}
        used = OF_CACHES.get(str(conditions.get("caches", "objects"))) if self.report.setting.job else ""
        reasons = [event for event in self.report.caches if event.outcome == "bypass" and event.reason]
        bypassed = dict.fromkeys(f"`{event.cache}` was bypassed: {one_line(event.reason)}" for event in reasons)
        return tuple(filter(None, (*bypassed, used)))

    @property
    def spans(self) -> tuple[PhaseSpan, ...]:
        """The ended phases in the order of their start; the longest `MOST_SPANS` if there are more."""
        return (
            _spans(self.report, self.report.phases_of(self.compile_id)) if self.compile_id else _run_spans(self.report)
        )

    def owner(self, compile_id: str) -> PhaseOwner:
        """Return a compilation by id; an unrecorded compilation has no function, graph or kernels."""
        return _owners(self.report).get(compile_id) or PhaseOwner(
            one_line(compile_id, LONGEST_NAME),
            "",
            compile_seconds(self.report).get(compile_id, 0.0),
            has_graph=False,
            has_kernels=False,
        )

    def graph_of(self, compile_id: str, index: str) -> FxGraph | None:
        """Return the graph that a phase of a compilation produces; None without a recorded graph."""
        phase = next((phase for at, phase in self.report.phases_of(compile_id) if str(at) == index), None)
        stage = MAKES.get(phase_class(phase.name), "") if phase else ""
        compilation = self.report.compilation(compile_id)
        graphs = compilation.graphs if compilation and stage else ()
        return next((graph for graph in graphs if graph.stage.startswith(stage)), None)

    @cached_property
    def totals(self) -> tuple[PhaseTotal, ...]:
        """Totals by name of phase."""
        return phase_totals(self.report, self.compile_id)


@stored
def _run_unfinished_and_beside(report: Report) -> tuple[int, bool]:
    return _unfinished_and_beside(report.phases)


def _unfinished_and_beside(phases: Sequence[Phase]) -> tuple[int, bool]:
    """Return the number of phases that never ended, and True if any phase ran in another thread."""
    return sum(phase.end_us is None for phase in phases), any(phase.thread for phase in phases)


@stored
def _run_spans(report: Report) -> tuple[PhaseSpan, ...]:
    return _spans(report, enumerate(report.phases))


def _spans(report: Report, phases: Iterable[tuple[int, Phase]]) -> tuple[PhaseSpan, ...]:
    self_s = self_seconds(report)
    ended = [(index, phase) for index, phase in phases if phase.end_us is not None]
    longest = sorted(ended, key=lambda entry: -(entry[1].duration_s or 0.0))[:MOST_SPANS]
    drawn = sorted(longest, key=lambda entry: (entry[1].start_us, entry[1].depth))
    start_us = min((phase.start_us for _, phase in drawn), default=0.0)
    top = min((phase.depth for _, phase in drawn), default=0)
    rows = 1 + max((phase.depth - top for _, phase in drawn if not phase.thread), default=-1)
    return tuple(
        PhaseSpan(
            index,
            phase.name,
            phase.compilation,
            start_us=round(phase.start_us - start_us),
            length_us=round((phase.end_us or 0.0) - phase.start_us),
            self_us=round(self_s[index] * 1e6),
            row=rows + phase.thread - 1 if phase.thread else phase.depth - top,
            thread=phase.thread,
        )
        for index, phase in drawn
    )


@stored
def _owners(report: Report) -> dict[str, PhaseOwner]:
    """Return the compilations of the report by their ids."""
    seconds = compile_seconds(report)
    return {
        compilation.id: PhaseOwner(
            one_line(compilation.id, LONGEST_NAME),
            one_line(compilation.frame.name, LONGEST_NAME),
            seconds.get(compilation.id, 0.0),
            has_graph=bool(compilation.graphs),
            has_kernels=bool(compilation.kernels),
        )
        for compilation in report.compilations
    }


def _threads(total: PhaseTotal) -> str:
    if total.threads < 2:
        return ""
    return f"{fmt.duration_s(total.threads_s)} in {fmt.count(total.threads, 'thread')}"


def parallel_words(totals: Sequence[PhaseTotal], beside: bool) -> str:
    """Describe the work outside the compiling thread; empty without such work.

    Name the phases whose threads together took more than the wall-clock time. `beside` is True if phases ran in other
    threads.
    """
    parallel = parallel_totals(totals)
    texts = [
        f"{code(total.name, LONGEST_NAME)} in up to {fmt.count(total.threads, 'thread')}, "
        f"{fmt.duration_s(total.threads_s)} of thread time in {fmt.duration_s(total.total_s)} of wall time"
        for total in parallel[:NAMED]
    ]
    more = f"; and {fmt.count(len(parallel) - NAMED, 'more phase')}" if len(parallel) > NAMED else ""
    sentence = f"In parallel: {'; '.join(texts)}{more}. " if texts else ""
    return sentence + (BELOW_THE_LINE if beside else "")


PHASE_COLUMNS: tuple[Column[PhaseTotal], ...] = (
    Column("phase", lambda total: one_line(total.name, LONGEST_LINE), width=200),
    Column("count", lambda total: total.count, fmt.number),
    Column("total", lambda total: total.total_s, fmt.duration_s, "Time in which at least one span of the phase ran"),
    Column("self", lambda total: total.self_s, fmt.duration_s, "Time without the phases inside it"),
    Column("in threads", _threads, help="Sum over all threads, more than wall time"),
)
CACHE_COLUMNS: tuple[Column[CacheEvent], ...] = (
    Column("cache", lambda event: event.cache),
    Column("result", lambda event: event.outcome),
    Column("reason", lambda event: one_line(event.reason)),
    Column("compilation", lambda event: event.compilation),
    Column("key", lambda event: event.key),
)


TOTAL_COLUMNS: tuple[Column[CacheTotal], ...] = (
    Column("cache", lambda total: CACHE_NAMES[total.cache]),
    Column("hits", lambda total: total.hits, fmt.number),
    Column("misses", lambda total: total.misses, fmt.number, "For C++ and Triton: objects and kernels that were built"),
    Column("bypasses", lambda total: total.bypasses, fmt.number),
    Column("note", lambda total: "" if total.is_recorded else NOT_USED if total.is_counted else UNSAID, optional=True),
)
PART_COLUMNS: tuple[Column[CachePart], ...] = (
    Column("part", lambda part: PART_NAMES.get(part.kind, one_line(part.kind, LONGEST_NAME))),
    Column("entries", lambda part: part.entries, fmt.number),
    Column("size", lambda part: part.bytes, fmt.bytes_),
)
TRACED_COLUMNS: tuple[Column[TracedTotal], ...] = (
    Column("function", lambda function: one_line(function.name, LONGEST_NAME)),
    Column("place", lambda function: f"{basename(function.file)}:{function.line}"),
    Column("calls", lambda function: function.calls, fmt.number),
    Column("seconds", lambda function: function.own_s, fmt.duration_s, "Without other functions of yours"),
    Column("with its calls", lambda function: function.total_s, fmt.duration_s),
)
