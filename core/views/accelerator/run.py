"""Accelerator page: the backend `accelerator` in one compilation.

The views are the title, segments, calls across the ABI, options and changes. Changes are the differences
between two runs with different accelerator options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from core.accelerator.program.program import PASSES
from core.analysis.backend import requested_backend
from core.analysis.dynamo.compilations import scope_words
from core.analysis.pipeline import (
    BESIDE,
    FREE,
    PipelineStop,
    entries_by_node,
    node_segments,
    pipeline_stops,
    refusal_counts,
    switchable_ops,
)
from core.base import words as fmt
from core.graph.fx import divided_graph
from core.graph.overlays import SEGMENT
from core.job import CompileJob
from core.report import Compilation, Crossing, FxGraph, FxNode, Pipeline, PipelineSegment, Report
from core.views.accelerator.program import (
    DURING_CALLS,
    AcceleratorChanges,
    ProgramView,
    fallback_lines,
    pipeline_sentence,
)
from core.views.blocks import (
    NOTHING_PICKED,
    Bar,
    Bars,
    Block,
    Column,
    Drawn,
    PageBlock,
    Picks,
    Table,
    Title,
    paragraph,
    spans,
)
from core.views.glossary import GLOSSARY
from core.views.markdown import LONGEST_NAME, LONGEST_TEXT, one_line, plain, prose, quoted, sentence, short
from core.views.verdict import disturbed_words

# Parts that the page draws: a button that runs the accelerator, and the steps with the chosen one.
OFFER, STEPS = "offer", "steps"
SEGMENT_PICK = "segment"

# Part of the message of a run that found no C++ compiler.
NO_COMPILER = "builds its runtime with a C++ compiler"
MOST_COMPILATIONS = 8  #: links to other compilations
ACCELERATOR = "accelerator"
ALL, NONE = "all", "none"
MOST_NAMES = 12  #: nodes listed for one reason
IN_RUNTIME = "Mean of all calls, as the runtime's own clock has it"
REST = "The rest of a segment's call from Python and back: addresses are taken, outputs are allocated"
INTO = "Bytes that go into the segment; constants are not among them"
# Clearer labels of some stages.
STAGES = {"capture": "until AOTAutograd gave it", "partition": "dividing it"}


def accelerator(
    report: Report,
    compilation: Compilation | None,
    read_nodes: Callable[[Compilation, FxGraph], Sequence[FxNode]],
    picks: Picks = NOTHING_PICKED,
    job: CompileJob | None = None,
) -> Iterator[PageBlock]:
    """Yield a segment of the graphs that the accelerator partitioned, or why there is none."""
    if compilation is None or not compilation.pipelines:
        absence = AcceleratorView.absence(report, job)
        yield Title(spans(absence.title))
        yield from paragraph(AcceleratorView.introduction)
        yield from paragraph(plain(absence.error), "bad")
        yield from paragraph(prose(absence.words))
        if not absence.elsewhere:
            yield Drawn(OFFER, of=(absence,))
        return
    view = AcceleratorView(report, compilation)
    segment = view.segments.get(picks.text(SEGMENT_PICK)) or view.segments[view.largest]
    yield Title(spans(view.scope + prose(view.title)), f"{GLOSSARY['pipeline']} {segment.division}")
    nodes = read_nodes(compilation, segment.graph) if segment.graph else ()
    yield Drawn(STEPS, (*segment.blocks({node.name: node for node in nodes}), *view.blocks), (view,))


@dataclass(frozen=True, slots=True)
class AcceleratorAbsence:
    """Reason why a compilation has no accelerator graph.

    `error` is the message of the error that ended the run, and `no_compiler` is True if no C++ compiler was
    found. `elsewhere` is True if other compilations of the run have accelerator graphs.
    """

    title: str
    words: str
    error: str
    no_compiler: bool
    elsewhere: bool


@dataclass(frozen=True)
class AcceleratorView:
    """Graphs of one compilation that the accelerator partitioned."""

    introduction: ClassVar[str] = (
        "Compileboard's backend `accelerator` partitions AOTAutograd's graphs into segments of ops that it has kernels "
        "for, and builds a program for each segment. A C++ runtime with a C ABI runs the programs, without torch and "
        "Python."
    )
    needs_compiler: ClassVar[str] = (
        "The runtime needs a C++ compiler: install g++, or set `CXX`. Other backends need none."
    )
    report: Report
    compilation: Compilation

    @property
    def scope(self) -> str:
        """The compilation's id as a prefix of the title; empty if the run has only one compilation."""
        return scope_words(self.report, self.compilation)

    @property
    def title(self) -> str:
        """Share of the ops that the accelerator runs, and the size of its programs."""
        return pipeline_sentence(self.report, self.compilation.id)

    @cached_property
    def segments(self) -> dict[str, SegmentView]:
        """Segments of all graphs by id; a graph without segments counts as one segment."""
        segments = (
            SegmentView(self.report, self.compilation, pipeline, segment)
            for pipeline in self.compilation.pipelines
            for segment in pipeline.segments or (None,)
        )
        return {segment.id: segment for segment in segments}

    @property
    def largest(self) -> str:
        """Id of the segment with the most ops."""
        return max(self.segments, key=lambda name: self.segments[name].ops)

    @property
    def crossings(self) -> list[Crossing]:
        """Calls of each segment across the ABI."""
        return [crossing for crossing in self.report.crossings if crossing.compilation == self.compilation.id]

    @property
    def calls(self) -> str:
        """Number and cost of the calls across the ABI."""
        measured = self.report.timing is not None
        disturbed = disturbed_words((crossing.load for crossing in self.report.crossings), DURING_CALLS)
        return crossing_words(self.crossings, measured, disturbed)

    @property
    def blocks(self) -> Iterator[Block]:
        """The calls across the ABI, and the reasons why torch ran segments instead."""
        yield from paragraph(prose(self.calls), "quiet")
        yield self.call_table
        for line in self.fallbacks:
            yield from paragraph(plain(line, LONGEST_TEXT), "quiet")

    @property
    def call_table(self) -> Table[Crossing]:
        """A row per segment that was called."""
        return Table("calls", CALL_COLUMNS, self.crossings)

    @property
    def fallbacks(self) -> list[str]:
        """Return a line for each segment and each reason why torch ran the segment instead."""
        return [
            f"{short(crossing.segment)}: {line}" for crossing in self.crossings for line in fallback_lines(crossing)
        ]

    def changes(self, before: Report) -> AcceleratorChanges:
        """Return the differences from an earlier run."""
        return AcceleratorChanges(before, self.report)

    @staticmethod
    def absence(report: Report, job: CompileJob | None) -> AcceleratorAbsence:
        """Return why the accelerator compiled no graph in this run."""
        backend = job.compile.backend if job is not None else requested_backend(report)
        on_accelerator = backend == ACCELERATOR
        error = _error(report) if on_accelerator else ""
        received = "The accelerator received no graph." if on_accelerator else "This run did not use the accelerator."
        title = "The accelerator could not be used." if error else received
        others = [compilation.id for compilation in report.compilations if compilation.pipelines]
        if others:
            names = ", ".join(f"[{name}]" for name in others[:MOST_COMPILATIONS])
            return AcceleratorAbsence(title, f"It received the graphs of {names}: choose one above.", "", False, True)
        words = ""
        if not backend:
            words = "Not recorded: torch does not log what a backend does with a graph."
        elif not error:
            words = f"This run used {quoted(backend)}."
        return AcceleratorAbsence(title, words, error, NO_COMPILER in error, False)

    @staticmethod
    def is_used(report: Report) -> bool:
        """Return True if the accelerator partitioned graphs of a run."""
        return any(compilation.pipelines for compilation in report.compilations)


def _error(report: Report) -> str:
    """Return the message of the error that ended a run; empty if there is none."""
    message = report.error.message if report.error else ""
    return message or next((compilation.error for compilation in report.compilations if compilation.error), "")


def crossing_words(crossings: list[Crossing], measured: bool, disturbed: str = "") -> str:
    """Return the number and cost of calls across the ABI; `disturbed` is why their times are unreliable."""
    calls = sum(crossing.calls for crossing in crossings)
    if not calls:
        return "No runtime call was recorded, for example because the run ended early."
    within_s = sum(crossing.runtime_s for crossing in crossings)
    whole_s = sum(crossing.call_s for crossing in crossings)
    threads = max(crossing.threads for crossing in crossings)
    copies = sum(crossing.copies for crossing in crossings)
    copied = f"{fmt.count(copies, 'input')} copied" if copies else "no tensor copied"
    beside = ", including measured ones" if measured else ""
    doubt = f" {sentence(f'{disturbed}: times are not reliable')}" if disturbed else ""
    return (
        f"{fmt.count(calls, 'call')} across the ABI{beside}: "
        f"{fmt.duration_s(within_s)} in the runtime on {fmt.count(threads, 'thread')}, "
        f"{fmt.duration_s(whole_s - within_s)} beside it, {copied}.{doubt}"
    )


CALL_COLUMNS: tuple[Column[Crossing], ...] = (
    Column("segment", lambda it: one_line(f"{it.direction} · {it.segment}", LONGEST_NAME)),
    Column("calls", lambda it: it.calls, fmt.number),
    Column("in the runtime", lambda it: it.runtime_s / it.calls if it.calls else None, fmt.duration_s, IN_RUNTIME),
    Column("beside it", lambda it: (it.call_s - it.runtime_s) / it.calls if it.calls else None, fmt.duration_s, REST),
    Column("temporaries", lambda it: it.allocated_bytes, fmt.bytes_),
    Column("copied", lambda it: it.copies, fmt.number, "Inputs with another layout than in the trace"),
    Column("programs", lambda it: it.programs, fmt.number, "Sets of sizes that have a program"),
    Column(
        "torch ran", lambda it: sum(it.fallbacks.values()), fmt.number, "Calls of the segment that torch made instead"
    ),
)


@dataclass(frozen=True)
class AcceleratorOptions:
    """Options of the accelerator: ops that torch runs, passes over the programs, frozen parameters."""

    all_passes: ClassVar[tuple[str, ...]] = tuple(PASSES)
    help: ClassVar[str] = "Runs the same job with another partitioning or other passes, and compares both runs."
    without_help: ClassVar[str] = "A node of such an op stays with torch, which cuts segments apart."
    freeze_help: ClassVar[str] = (
        "In inference, parameters become constants of the file: less crosses the ABI, and what depends on them alone "
        "is computed once."
    )
    run_help: ClassVar[str] = "The same job on the CPU with `torch.compile(model, backend='accelerator')`"

    without: tuple[str, ...] = ()
    passes: tuple[str, ...] = tuple(PASSES)
    freeze: bool = False

    @staticmethod
    def backend_label(name: str) -> str:
        """Return the label of a button that runs the job with another backend."""
        return f"Run with {name}"

    @classmethod
    def of(cls, job: CompileJob) -> AcceleratorOptions:
        """Return the options that a job sets."""
        options = job.compile.options or {}
        names = _split(options.get("passes"))
        passes = cls.all_passes if names in ([], [ALL]) else tuple(name for name in PASSES if name in names)
        return cls(tuple(_split(options.get("without"))), passes, bool(options.get("freeze")))

    def applied(self, job: CompileJob) -> CompileJob:
        """Return the job on the accelerator with these options; options with default values are omitted."""
        before = job.compile.options or {} if self.is_used(job) else {}
        options = {name: value for name, value in before.items() if name == "examples"}
        if self.without:
            options["without"] = " ".join(self.without)
        if set(self.passes) != set(PASSES):
            options["passes"] = " ".join(self.passes) or NONE
        if self.freeze:
            options["freeze"] = True
        chosen = job.with_settings(backend=ACCELERATOR, mode=None, options=options or None)
        return replace(chosen, device="cpu", target="")

    @staticmethod
    def is_used(job: CompileJob) -> bool:
        """Return True if a job compiles with the accelerator."""
        return job.compile.backend == ACCELERATOR


def _split(value: object) -> list[str]:
    """Return the names in an option's value, which are separated by spaces, commas or `+`."""
    return str(value or "").replace(",", " ").replace("+", " ").split()


@dataclass(frozen=True)
class SegmentView:
    """A segment of a partitioned graph; `segment` is None if the whole graph stays with torch."""

    no_graph: ClassVar[str] = "The log does not contain the partitioned graph; the table lists what runs, in order."
    no_node: ClassVar[str] = "Click a node to see where it runs, or why torch runs it."
    no_refusal: ClassVar[str] = "Every op of this graph is in a segment."

    report: Report
    compilation: Compilation
    pipeline: Pipeline
    segment: PipelineSegment | None

    def blocks(self, nodes: dict[str, FxNode]) -> Iterator[Block]:
        """Yield what runs in order, ops that stay with torch, the program, and the build's stages."""
        yield from paragraph(self.division, "quiet")
        yield self.order
        for count, reason, names in self.refusals:
            yield from paragraph(f"**{count}**: {prose(reason)} {prose(names)}")
        yield from paragraph(prose(self.missing_program))
        if self.program is not None:
            yield from self.program.blocks(nodes)
        longest_s = max(self.stages.values(), default=0.0) or 1.0
        bars = (Bar(one_line(name), fmt.duration_s(s), s / longest_s) for name, s in self.stages.items())
        yield Bars(f"Making the programs of the {one_line(self.direction, LONGEST_NAME)}", tuple(bars))

    @property
    def id(self) -> str:
        """The segment's id in the URL."""
        return ".".join(filter(None, [self.pipeline.direction, self.segment.name if self.segment else ""]))

    @property
    def direction(self) -> str:
        """Direction of the partitioned graph."""
        return self.pipeline.direction

    @property
    def stages_title(self) -> str:
        """Title of the stages that build the graph's programs, as Markdown."""
        return f"Making the programs of the {plain(self.direction, LONGEST_NAME)}"

    @property
    def ops(self) -> int:
        """Number of ops in the segment."""
        return len(self.segment.nodes) if self.segment else 0

    @property
    def label(self) -> str:
        """Direction, name and number of ops."""
        if self.segment is None:
            return f"{self.direction}: all with torch"
        return f"{self.direction} · {self.segment.name} · {fmt.count(self.ops, 'op')}"

    @property
    def graph(self) -> FxGraph | None:
        """The partitioned graph; None if the log does not have it."""
        return divided_graph(self.compilation, self.pipeline)

    @property
    def overlay(self) -> str:
        """Name of the overlay that colours the graph by segment."""
        return SEGMENT

    @property
    def division(self) -> str:
        """The partition of the graph into segments, in words."""
        pipeline = self.pipeline
        built = [segment for segment in pipeline.segments if not segment.problem]
        into, out = sum(segment.input_bytes for segment in built), sum(segment.output_bytes for segment in built)
        rest = len(pipeline.refusals)
        stays = f"; {fmt.count(rest, 'op')} {fmt.agree(rest, 'stays', 'stay')} with torch" if rest else ""
        frozen = f"; {fmt.count(pipeline.frozen, 'parameter')} became constants" if pipeline.frozen else ""
        across = f"{fmt.bytes_(into)} in and {fmt.bytes_(out)} out across its borders"
        return (
            f"The {pipeline.direction} graph of {fmt.count(pipeline.calls, 'op')}: "
            f"{fmt.count(len(built), 'segment')}, {across}{stays}{frozen}."
        )

    def place(self, node: FxNode) -> dict[str, str]:
        """Return where a node runs, as name → text: in a segment, or with torch and the reason."""
        rows = {"node": quoted(f"{node.name} = {node.target}({node.args})", LONGEST_TEXT)}
        place = node_segments(self.pipeline).get(node.name, "")
        if place.startswith(BESIDE):
            return {**rows, "runs": "with torch", "why": place.removeprefix(BESIDE)}
        segment = self._segment_of(node)
        if segment is None:
            return {**rows, "runs": "nothing: it is an input or the output of the graph"}
        across = f"{fmt.bytes_(segment.input_bytes)} in, {fmt.bytes_(segment.output_bytes)} out"
        return {**rows, "runs": f"in {quoted(segment.name)}: {across}", "as": _instruction_words(segment, node)}

    def _segment_of(self, node: FxNode) -> PipelineSegment | None:
        return next((segment for segment in self.pipeline.segments if node.name in segment.nodes), None)

    def program_of(self, node: FxNode) -> str:
        """Return the id of the segment with the node's program; empty if torch runs the node."""
        segment = self._segment_of(node)
        has_program = segment is not None and not segment.problem
        return SegmentView(self.report, self.compilation, self.pipeline, segment).id if has_program else ""

    @cached_property
    def stops(self) -> tuple[PipelineStop, ...]:
        """Segments and the ops that torch runs, in their order of execution."""
        return pipeline_stops(self.pipeline)

    @property
    def order(self) -> Table[PipelineStop]:
        """A row per step of the execution order."""
        call_s = {
            crossing.segment: crossing.call_s / crossing.calls
            for crossing in self.report.crossings
            if (crossing.compilation, crossing.direction) == (self.compilation.id, self.direction) and crossing.calls
        }
        per_call: Column[PipelineStop] = Column(
            "a call", lambda stop: call_s.get(stop.name), fmt.duration_s, "Mean of all calls, from Python and back", 75
        )
        return Table(f"order-{self.compilation.id}-{self.direction}", (*STOP_COLUMNS, per_call, WHY), self.stops)

    @staticmethod
    def first_node(stop: PipelineStop) -> str:
        """Return the first node of a step of the execution order."""
        return stop.segment.nodes[0] if stop.segment and stop.segment.nodes else stop.name

    @property
    def refusals(self) -> list[tuple[str, str, str]]:
        """Ops that stay with torch, by reason: their number, the reason, and their names."""
        return [
            (fmt.count(len(names), "op"), short(reason, 200), _names(names))
            for reason, names in refusal_counts(self.pipeline).items()
        ]

    def switchable_ops(self, nodes: Iterable[FxNode]) -> tuple[str, ...]:
        """Return the ops that can be left to torch; `nodes` are the graph's nodes."""
        return switchable_ops(self.pipeline, nodes)

    @property
    def stages(self) -> dict[str, float]:
        """Seconds of each stage; stages of the programs are summed over all segments."""
        pipeline = self.pipeline
        stages = {STAGES.get(name, name): time_s for name, time_s in pipeline.times_s.items() if name != "programs"}
        for segment in pipeline.segments:
            for name, time_s in segment.times_s.items():
                stages[name] = stages.get(name, 0.0) + time_s
        return stages

    @property
    def missing_program(self) -> str:
        """Reason why the segment has no program; empty if it has one."""
        if self.segment is None:
            return "Every op of this graph stays with torch, so there is no program."
        if not self.segment.problem:
            return ""
        return f"Torch runs this segment, since no program could be made: {self.segment.problem}."

    @property
    def program(self) -> ProgramView | None:
        """The segment's program; None if it has none."""
        return None if self.segment is None or self.segment.problem else ProgramView(self.segment)


def _instruction_words(segment: PipelineSegment, node: FxNode) -> str:
    index = entries_by_node(segment).get(node.name)
    if index is None:
        return FREE
    entry = segment.entries[index]
    fused = [name for name in entry.nodes if name != node.name]
    joined = f", fused with {', '.join(map(quoted, fused[:MOST_NAMES]))}" if fused else ""
    return f"instruction {fmt.number(index)}, {quoted(entry.op)}{joined}"


def _names(names: tuple[str, ...]) -> str:
    more = f" and {fmt.number(len(names) - MOST_NAMES)} more" if len(names) > MOST_NAMES else ""
    return f"{', '.join(map(quoted, names[:MOST_NAMES]))}{more}"


STOP_COLUMNS: tuple[Column[PipelineStop], ...] = (
    Column("runs", lambda stop: stop.name, width=110),
    Column("ops", lambda stop: len(stop.segment.nodes) if stop.segment else 1, fmt.number, width=45),
    Column("in", lambda stop: stop.segment and stop.segment.input_bytes, fmt.bytes_, INTO, 75),
    Column("out", lambda stop: stop.segment and stop.segment.output_bytes, fmt.bytes_, "Bytes that come out of it", 75),
    Column("program entries", lambda stop: (stop.segment and len(stop.segment.entries)) or None, fmt.number, width=70),
    Column("file", lambda stop: (stop.segment and stop.segment.file_bytes) or None, fmt.bytes_, width=75),
)
WHY: Column[PipelineStop] = Column("with torch, because", lambda stop: stop.reason)
