"""Tour of a run: five stops from Python code to running kernels, five questions, and common claims.

All numbers are from the run; texts are Markdown. The times of the first four stops add up to the run's
compile time. The last stop has the time of a call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from core.analysis.backend import backends_called, requested_backend
from core.analysis.durations import class_seconds, compile_seconds, compile_time_s
from core.analysis.dynamo.costs import break_costs, code_words, cost_words
from core.analysis.interval import NOT_MEASURABLE
from core.analysis.kernels.kernel import node_op
from core.analysis.kernels.ledger import ledger
from core.analysis.speed import Speed
from core.analysis.verdict import Verdict, verdict
from core.analysis.work import (
    captured_ops,
    computing_ops,
    dynamo_graphs,
    frame_of,
    newest_compilations,
    rejections,
)
from core.base import words as fmt
from core.graph.fx import op_label, source_path
from core.report import Compilation, FxGraph, FxNode, Report, stored
from core.views.blocks import Bar, Bars
from core.views.fx_graph import OF_AOT
from core.views.kernels.kernel import epilogue_words
from core.views.kernels.ledger import KernelsView
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, plain
from core.views.numerics import NOT_COMPARED
from core.views.printed import as_text
from core.views.verdict import break_count_words, kernel_words, recompile_words, work_words

NodesOf = Callable[[Compilation, FxGraph], tuple[FxNode, ...]]
NOT_RUN = "did not run"
NOT_TIMED = "not timed"
LANGUAGES = {"cpp": "C++", "triton": "Triton"}
MOST_BARS = 6  #: ops or kernel launches in a picture of *Tour*


@dataclass(frozen=True, slots=True)
class TourStop:
    """A stop: what happens there, this run's numbers, the seconds, and the page with the evidence.

    `figures` draw the numbers; where the dashboard can, it draws the graph of the stop instead. `seconds` is compile
    time, for the last stop the time of a compiled call. If it is None, `missing` is the reason.
    `speech` is a text for a presenter.
    """

    name: str
    sentence: str
    facts: tuple[str, ...]
    seconds: float | None
    page: str
    speech: str
    missing: str = fmt.NOT_RECORDED
    figures: tuple[Bars, ...] = ()

    @property
    def time(self) -> str:
        """The seconds as text."""
        return self.missing if self.seconds is None else fmt.duration_s(self.seconds)


@dataclass(frozen=True, slots=True)
class TourAnswer:
    """A question about torch.compile, answered with this run's numbers, and the page with the evidence."""

    question: str
    answer: str
    page: str


@dataclass(frozen=True, slots=True)
class TourView:
    """The tour of a report; `claims` are common claims about torch.compile with this run's measurement."""

    title: str
    stops: tuple[TourStop, ...]
    answers: tuple[TourAnswer, ...]
    claims: tuple[tuple[str, str], ...]

    @staticmethod
    def of(report: Report, nodes_of: NodesOf) -> TourView:
        """Return the tour of a report; `nodes_of` reads the nodes of a graph."""
        return _tour(report, nodes_of)

    @staticmethod
    def link_label(page: str) -> str:
        """Return the label of a link to the page with a stop's evidence."""
        return f"See it on {page}"

    @property
    def text(self) -> Iterator[str]:
        """The tour as lines of plain text."""
        yield self.title
        for number, stop in enumerate(self.stops, 1):
            yield f"\n{number}. {stop.name}: {stop.time}"
            yield f"   {stop.sentence}"
            yield from (f"   - {fact}" for fact in stop.facts)
            yield from as_text(stop.figures, "   ")
        yield ""
        for answer in self.answers:
            yield f"{answer.question}\n   {answer.answer}"
        yield ""
        for claim, measured in self.claims:
            yield f"“{claim}”\n   {measured}"


def _bars(label: str, rows: Sequence[tuple[str, str, float]]) -> tuple[Bars, ...]:
    """Return a bar chart of names with their values as text and as numbers; empty without rows."""
    largest = max((size for *_, size in rows), default=0.0) or 1.0
    bars = (Bar(name, words, size / largest) for name, words, size in rows)
    return (Bars(label, tuple(bars)),) if rows else ()


@stored
def _tour(report: Report, nodes_of: NodesOf) -> TourView:
    facts = _RunFacts(report, nodes_of)
    return TourView(facts.title, facts.stops, facts.answers, facts.claims)


@dataclass(frozen=True)
class _RunFacts:
    """The facts of a report for its tour."""

    report: Report
    nodes_of: NodesOf

    @cached_property
    def verdict(self) -> Verdict:
        """Numbers of the run."""
        return verdict(self.report)

    @property
    def title(self) -> str:
        """A sentence with the run's compile time, or that nothing was compiled."""
        if not self._ok:
            return "Nothing was compiled."
        total = f"in {fmt.duration_s(compile_time_s(self.report))} of compile time" if self._was_timed else NOT_TIMED
        return f"From Python to {'kernels' if self._lowered else 'graphs'}{' ' if self._was_timed else ', '}{total}."

    @cached_property
    def stops(self) -> tuple[TourStop, ...]:
        """The five stops."""
        return (self._dynamo, self._aot, self._inductor, self._kernels, self._running)

    @cached_property
    def _seconds(self) -> dict[str, float]:
        return class_seconds(self.report)

    @property
    def _was_timed(self) -> bool:
        return bool(compile_seconds(self.report))

    def _time(self, *kinds: str) -> float | None:
        """Return the seconds of phase classes; None if the log has no phases."""
        return sum(self._seconds.get(kind, 0.0) for kind in kinds) if self._was_timed else None

    @cached_property
    def _lowered(self) -> list[Compilation]:
        """Newest compilation of each frame that Inductor lowered."""
        return newest_compilations(self.report)

    @property
    def _not_inductor(self) -> str:
        """Reason for a run without a result of Inductor, in words."""
        names = backends_called(self.report) or tuple(filter(None, [requested_backend(self.report)]))
        others = [plain(name, LONGEST_NAME) for name in names if name != "inductor"]
        of = f": the backend was `{', '.join(others)}`" if others and self._ok else ""
        return f"not compiled by Inductor{of}"

    def _skipped_stop(self, stop: TourStop, reason: str) -> TourStop:
        """Return a stop that did not take place; phases may have run nevertheless, such as a cache lookup."""
        return replace(stop, facts=(reason,), seconds=stop.seconds or None, missing=NOT_RUN)

    @property
    def _ok(self) -> list[Compilation]:
        return [compilation for compilation in self.report.compilations if compilation.status == "ok"]

    @property
    def _dynamo(self) -> TourStop:
        ops, guards = sum(map(captured_ops, self.report.compilations)), sum(len(each.guards) for each in self._ok)
        frames = len({frame_of(compilation) for compilation in self._ok})
        times = f" with {fmt.count(len(self._ok), 'compilation')}" if len(self._ok) > frames else ""
        breaks = break_count_words(self.verdict.breaks, self.verdict.break_record)
        facts = (
            f"{fmt.count(frames, 'compiled frame')}{times}, {breaks}",
            f"{fmt.count(ops, 'captured op')} in {fmt.count(self.verdict.graphs, 'graph')}",
            f"{fmt.count(guards, 'guard')}, {recompile_words(self.verdict.recompiles or 0, self.report)}",
        )
        sentence = (
            "Dynamo runs the bytecode of a Python function symbolically. It records each tensor op in an FX graph, "
            "and each assumption as a guard."
        )
        speech = (
            "Nothing was computed yet. Python itself passes each new frame to Dynamo, which follows it with fake "
            "tensors. Where it cannot follow, it ends the graph: a graph break."
        )
        graphs = ((item, graph) for item in self._ok for graph in dynamo_graphs(item))
        figures = self._op_bars("Captured ops", graphs)
        return TourStop("Dynamo", sentence, facts, self._time("dynamo"), "fx_graph", speech, figures=figures)

    @property
    def _aot(self) -> TourStop:
        traced = [(item, graph) for item in self._ok for graph in item.last_graphs if graph.stage in OF_AOT]
        graphs = [graph for _, graph in traced]
        backward = [graph for graph in graphs if graph.stage == "aot_backward_graph"]
        saved = [value for item in self._ok for partition in item.partitions for value in partition.saved]
        kept = sum(value.bytes or 0 for value in saved)
        captured = fmt.count(sum(map(captured_ops, self._ok)), "captured op")
        facts = [
            f"{captured}{' in all' if self.verdict.work.earlier else ''}; {self._aten_words(graphs)}",
            f"{fmt.count(len(backward), 'backward graph')}" if backward else "inference: no backward graph",
        ]
        if saved:
            facts.append(f"{fmt.count(len(saved), 'value')} saved for the backward, {fmt.bytes_(kept)}")
        sentence = (
            "AOTAutograd traces the graph again, down to ATen ops without side effects. For training it also traces "
            "the backward, and decides which values to save."
        )
        speech = (
            "The backward is known before the first step runs. So the compiler can choose: save a value, or compute it "
            "again from others."
        )
        seconds = self._time("aot_autograd")
        figures = self._op_bars("ATen ops", traced)
        stop = TourStop("AOTAutograd", sentence, tuple(facts), seconds, "partition", speech, figures=figures)
        ran = graphs or seconds or self._lowered
        return stop if ran else self._skipped_stop(stop, "AOTAutograd recorded no graph in this run")

    def _aten_words(self, graphs: Sequence[FxGraph]) -> str:
        lowered = self.verdict.work.ops
        if lowered is not None:
            newest = " in the newest compilation of each frame" if self.verdict.work.earlier else ""
            return f"after all graph passes, {fmt.count(lowered, 'ATen op')} without views{newest}"
        return (
            f"{fmt.count(sum(map(computing_ops, graphs)), 'ATen op')} without views"
            if graphs
            else "no ATen op recorded"
        )

    @property
    def _inductor(self) -> TourStop:
        work = self.verdict.work
        facts = [work_words(work) or "no kernel recorded"]
        if work.traffic is not None:
            facts.append(
                f"{fmt.bytes_(work.traffic.before)} of memory traffic, {fmt.bytes_(work.traffic.after)} after fusion"
            )
        refused = Counter[str]()
        for compilation in self._ok:
            for schedule in compilation.schedules:
                refused.update(rejections(schedule))
        if refused:
            reason, times = refused.most_common(1)[0]
            facts.append(
                f"most frequent reason against a fusion: {plain(reason, LONGEST_NAME)} ({fmt.count(times, 'pair')})"
            )
        sentence = (
            "Inductor rewrites the graph by passes, turns ops into loops over memory, and fuses loops that share "
            "memory. Intermediate results then stay in registers."
        )
        speech = "Most of the gain of torch.compile is here: fewer passes over memory, and fewer launches."
        seconds, figures = self._time("inductor", "codegen"), self._traffic_bars
        stop = TourStop("Inductor", sentence, tuple(facts), seconds, "fusion", speech, figures=figures)
        return stop if self._lowered else self._skipped_stop(stop, self._not_inductor)

    @property
    def _kernels(self) -> TourStop:
        work, kernels = self.verdict.work, [kernel for item in self._lowered for kernel in item.kernels]
        made = {kernel.id: kernel.language for kernel in kernels if not kernel.extern}
        library = {kernel.name for kernel in kernels if kernel.extern}
        languages = [LANGUAGES.get(language, plain(language)) for language in sorted(set(made.values()))]
        facts = [kernel_words(work) if work.kernels is not None else "no kernel recorded"]
        if kernels:
            written = f" in {', '.join(languages)}" if languages else ""
            of_library = fmt.count(len(library), "library function")
            facts.append(f"{fmt.count(len(made), 'generated kernel')}{written}, {of_library}")
        if largest := self._largest:
            facts.append(f"largest fusion: {largest}")
        sentence = "Inductor writes C++ for a CPU and Triton for a GPU. Large products stay calls of a library."
        speech = "This is the code that runs, with the user's lines that each kernel comes from."
        figures = self._kernel_bars
        stop = TourStop("Kernels", sentence, tuple(facts), self._time("compile"), "kernels", speech, figures=figures)
        return stop if self._lowered else self._skipped_stop(stop, self._not_inductor)

    @property
    def _running(self) -> TourStop:
        warm = [item.guard_warm_us for item in self._ok if item.guard_warm_us is not None]
        guards = [f"checking the guards of all compiled code takes {fmt.duration_s(sum(warm) / 1e6)}"] if warm else []
        seconds, missing, facts = self._call_time
        sentence = "A call checks the guards of its compiled code, and runs it. If a guard fails, torch compiles again."
        speech = "The first call pays for everything before. The calls after it pay for the guards alone."
        figures = self._call_bars
        return TourStop("Running", sentence, (*facts, *guards), seconds, "speedup", speech, missing, figures)

    def _op_bars(self, label: str, graphs: Iterable[tuple[Compilation, FxGraph]]) -> tuple[Bars, ...]:
        """Return the most frequent ops of some graphs; empty if they have none."""
        nodes = (node for compilation, graph in graphs for node in self.nodes_of(compilation, graph))
        counts = Counter(op_label(node) for node in nodes if node.op.startswith("call"))
        return _bars(label, [(name, fmt.number(count), count) for name, count in counts.most_common(MOST_BARS)])

    @property
    def _traffic_bars(self) -> tuple[Bars, ...]:
        traffic = self.verdict.work.traffic
        sides = (("before fusion", traffic.before), ("after fusion", traffic.after)) if traffic is not None else ()
        return _bars("Memory traffic", [(name, fmt.bytes_(bytes_), bytes_) for name, bytes_ in sides])

    @property
    def _kernel_bars(self) -> tuple[Bars, ...]:
        """The largest kernel launches by time, or by traffic if no time is reliable."""
        largest = max(self._lowered, key=lambda compilation: len(compilation.kernels), default=None)
        if largest is None or not largest.kernels:
            return ()
        view = KernelsView(self.report, largest, ledger(self.report, largest, {}))
        measure = view.pictures[0]
        areas = [(row.label, words, size) for row, size, words in view.areas(measure, view.rows)[:MOST_BARS]]
        return _bars(f"Kernel launches with the most {measure}", areas)

    @property
    def _call_bars(self) -> tuple[Bars, ...]:
        """Median seconds of a call; empty if they are not reliable."""
        sides = (("eager", self._speed.eager_s), ("compiled", self._speed.compiled_s)) if self._speed else ()
        return _bars("Median time of a call", [(name, fmt.duration_s(seconds), seconds) for name, seconds in sides])

    @property
    def _call_time(self) -> tuple[float | None, str, tuple[str, ...]]:
        """Seconds of a compiled call, the reason if they are missing, and facts about them."""
        measured = self.verdict.speed
        if measured is None:
            last = self._reused[-1] if self._reused else None
            fact = "last call without compiling, timed once" if last is not None else self._no_reuse
            why = NOT_COMPARED if self.report.script is not None else "the steady state was not measured"
            return last, fmt.NOT_RECORDED if not self.report.calls else NOT_TIMED, (fact, why)
        if self._speed is None:
            return None, NOT_MEASURABLE, (f"speed {self._doubt}",)
        facts = [f"eager {fmt.duration_s(measured.eager_s)}, compiled {fmt.duration_s(measured.compiled_s)} a call"]
        if measured.interval is not None:
            ratio = fmt.ratio(measured.interval.middle, (measured.interval.low, measured.interval.high))
            facts.append(f"eager over compiled, over pairs of calls: {ratio}")
        if self.verdict.break_even:
            facts.append(f"compiling pays off after about {fmt.count(self.verdict.break_even[1], 'call')}")
        return measured.compiled_s, "", tuple(facts)

    @property
    def _speed(self) -> Speed | None:
        """Steady state of the run; None if it was not measured, or if the times are unreliable."""
        measured = self.verdict.speed
        return measured if measured is not None and not measured.doubt else None

    @property
    def _doubt(self) -> str:
        """Reason for a run without a reliable speed, in words."""
        measured = self.verdict.speed
        if measured is None:
            return "not measured"
        return measured.unknown or f"{NOT_MEASURABLE}: {measured.disturbed}"

    @cached_property
    def _reused(self) -> list[float]:
        """Seconds of the calls that compiled nothing; in older logs, of the calls without a compilation."""
        compiling = {compilation.call for compilation in self.report.compilations}
        old = None not in compiling
        return [
            call.compiled_s
            for call in self.report.calls
            if call.compiled_s is not None
            and (call.how == "reused" or (not call.how and old and call.index not in compiling))
        ]

    @property
    def _no_reuse(self) -> str:
        if not self.report.calls:
            return "no call recorded"
        compiling = {compilation.call for compilation in self._ok}
        all_compiled = all(call.how == "compiled" or call.index in compiling for call in self.report.calls)
        return "no call without compiling" if all_compiled else "no call ran only reused code"

    @cached_property
    def _largest(self) -> str:
        kernels = (kernel for item in self._ok for kernel in item.kernels if not kernel.extern)
        ops = max((kernel.origins for kernel in kernels), key=len, default=())
        names = Counter(node_op(op) for op in ops)
        listed = ", ".join(name if times == 1 else f"{times} × {name}" for name, times in names.items())
        return f"{fmt.count(len(ops), 'op')} ({plain(listed, LONGEST_LINE)})" if len(ops) > 1 else ""

    @cached_property
    def answers(self) -> tuple[TourAnswer, ...]:
        """Five questions that everybody asks, answered with this run's numbers."""
        return (
            TourAnswer("Why is the first call slower than the others?", self._first_call, "compile_time"),
            TourAnswer("Does each line of Python become one node?", self._lines_to_nodes, "fx_graph"),
            TourAnswer("Why do graph breaks matter?", self._breaks, "graph_breaks"),
            TourAnswer("How does Inductor decide what to fuse?", self._fusions, "fusion"),
            TourAnswer("At which batch size does compiling pay?", self._pays, "sweep"),
        )

    @property
    def _first_call(self) -> str:
        calls = [call for call in self.report.calls if call.compiled_s is not None]
        if not calls or not self._was_timed:
            return "This run has no recorded call that compiled."
        first, parts = calls[0], (f"{stop.name} {stop.time}" for stop in self.stops[:4] if stop.seconds is not None)
        again = self._speed.compiled_s if self._speed else min(self._reused, default=None)
        again = None if self.verdict.speed is not None and self._speed is None else again
        repeat = f" A later call takes {fmt.duration_s(again)}." if again is not None else ""
        return (
            f"The first call took {fmt.duration_s(first.compiled_s)}. Compiling in this run took "
            f"{fmt.duration_s(compile_time_s(self.report))}: {', '.join(parts)}.{repeat}"
        )

    @cached_property
    def lines(self) -> dict[int, int]:
        """Line of the user's file → number of ops that Dynamo captured for it."""
        path, counts = source_path(self.report), Counter[int]()
        for compilation in self._ok:
            for graph in dynamo_graphs(compilation):
                for node in self.nodes_of(compilation, graph):
                    if node.op.startswith("call") and node.source is not None and node.source.file == path:
                        counts[node.source.line] += 1
        return dict(sorted(counts.items()))

    @property
    def _lines_to_nodes(self) -> str:
        if not self.lines:
            return (
                "No node of this run names a line of the user's file: its ops are in modules of torch or of a library, "
                "whose lines *FX graph* shows."
            )
        most = max(self.lines, key=lambda line: self.lines[line])
        ones = sum(count == 1 for count in self.lines.values())
        total, lines = sum(self.lines.values()), fmt.count(len(self.lines), "line")
        if ones == len(self.lines):
            return f"Not in general. Here, {lines} became {fmt.count(total, 'node')}."
        longest = f"line {most} became {fmt.count(self.lines[most], 'node')}."
        singles = f"{fmt.count(ones, 'line')} became exactly one node{' each' if ones > 1 else ''}"
        each = f"{singles}, and {longest}" if ones else longest.capitalize()
        return f"No. Here {lines} became {fmt.count(total, 'node')}. {each} Lines that compute no tensor have no node."

    @property
    def _breaks(self) -> str:
        costs = break_costs(self.report)
        if not costs:
            here = (
                "This run has no break." if self.report.break_record == "complete" else "This log does not record them."
            )
            return (
                "A break ends a graph: nothing fuses across it, and the rest of the function is compiled as another "
                f"graph. {here}"
            )
        breaks, cost = fmt.count(len(costs), "break"), cost_words(costs)
        added = f"This run's {breaks} added {cost}." if cost else f"This run has {breaks}, which added no frame."
        code = code_words(costs)
        return (
            f"A break ends a graph, and nothing fuses across it. {added}{f' Code after them: {code}.' if code else ''}"
        )

    @property
    def _fusions(self) -> str:
        rule = "It fuses nodes that share memory and loop over the same range, if no other node must run between them."
        if not self._lowered:
            return f"{rule} This run was {self._not_inductor}."
        if not self._largest:
            recorded = any(kernel.origins for item in self._ok for kernel in item.kernels)
            none = "This run has no kernel of several ops." if recorded else "The ops of its kernels were not recorded."
            return f"{rule} {none}"
        return f"{rule} The largest kernel of this run fuses {self._largest}."

    @property
    def _pays(self) -> str:
        here = f"The speed of this run is {self._doubt}." if self.verdict.speed else "This run was not measured."
        if self._speed is not None and self._speed.interval is not None:
            interval = self._speed.interval
            ratio = fmt.ratio(interval.middle, (interval.low, interval.high))
            here = f"At the sizes of this run, eager time over compiled time is {ratio}."
        return f"{here} A sweep over batch sizes gives an interval for the smallest batch at which compiled is faster."

    @cached_property
    def claims(self) -> tuple[tuple[str, str], ...]:
        """Common claims about torch.compile, each with this run's measurement."""
        return (
            ("torch.compile makes models 2 to 10 times faster.", self._speed_claim),
            ("A matmul, a bias and a ReLU become one kernel.", self._epilogue_claim),
        )

    @property
    def _speed_claim(self) -> str:
        if self._speed is None or self._speed.interval is None:
            return f"{self._doubt[:1].upper()}{self._doubt[1:]}." if self.verdict.speed else "Not measured in this run."
        interval = self._speed.interval
        text = fmt.ratio(interval.middle, (interval.low, interval.high))
        if interval.low >= 2:
            return f"True here: {text}."
        if interval.high < 2:
            return (
                f"Not here: {text}. The gain depends on the share of time outside of large matmuls, and on the device."
            )
        return f"Possible here: {text}."

    @property
    def _epilogue_claim(self) -> str:
        if not self._lowered:
            return f"This run was {self._not_inductor}."
        return epilogue_words([kernel for compilation in self._lowered for kernel in compilation.kernels])
