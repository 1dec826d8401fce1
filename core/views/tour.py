"""Tour of a run: five stops from Python code to running kernels, five questions, and common claims.

All numbers are from the run; texts are Markdown. The times of the first four stops add up to the run's
compile time. The last stop has the time of a call.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from core.analysis import (
    Verdict,
    break_costs,
    captured_ops,
    class_seconds,
    code_words,
    compile_seconds,
    compile_time_s,
    cost_words,
    kernel_words,
    rejections,
    verdict,
)
from core.base import words as fmt
from core.graph import source_path
from core.report import Compilation, FxGraph, FxNode, Report, stored
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, plain
from core.views.speedup import NOT_COMPARED

NodesOf = Callable[[Compilation, FxGraph], tuple[FxNode, ...]]
NOT_INDUCTOR = "Inductor compiled no graph in this run"
WORTH_OPS = 3
# Numbers that FX adds to the name of a node.
NODE_NUMBER = re.compile(r"_\d+$")
# Names of ATen products, which Inductor leaves to a library unless a template is faster.
LANGUAGES = {"cpp": "C++", "triton": "Triton"}
PRODUCTS = ("mm", "addmm", "bmm", "baddbmm", "linear")


@dataclass(frozen=True, slots=True)
class TourStop:
    """A stop: what happens there, this run's numbers, the seconds, and the page with the evidence.

    `seconds` is compile time, for the last stop the time of a compiled call; None if not recorded. `speech` is a text
    for a presenter.
    """

    name: str
    sentence: str
    facts: tuple[str, ...]
    seconds: float | None
    page: str
    speech: str

    @property
    def time(self) -> str:
        """The seconds as text."""
        return fmt.NOT_RECORDED if self.seconds is None else fmt.duration_s(self.seconds)


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
        yield ""
        for answer in self.answers:
            yield f"{answer.question}\n   {answer.answer}"
        yield ""
        for claim, measured in self.claims:
            yield f"“{claim}”\n   {measured}"


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
        total = fmt.duration_s(compile_time_s(self.report))
        return f"From Python to kernels in {total} of compile time." if self._was_timed else "Nothing was compiled."

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
        return sum(self._seconds.get(kind, 0.0) for kind in kinds) if self._was_timed else None

    @property
    def _ok(self) -> list[Compilation]:
        return [compilation for compilation in self.report.compilations if compilation.status == "ok"]

    @property
    def _dynamo(self) -> TourStop:
        ops, guards = sum(map(captured_ops, self._ok)), sum(len(compilation.guards) for compilation in self._ok)
        facts = (
            f"{fmt.count(len(self._ok), 'compiled frame')}, {fmt.count(self.verdict.breaks, 'graph break')}",
            f"{fmt.count(ops, 'captured op')} in {fmt.count(self.verdict.graphs, 'graph')}",
            f"{fmt.count(guards, 'guard')}, {fmt.count(self.verdict.recompiles, 'recompile')}",
        )
        sentence = (
            "Dynamo runs the bytecode of a Python function symbolically. It records each tensor op in an FX graph, "
            "and each assumption as a guard."
        )
        speech = (
            "Nothing was computed yet. Python itself passes each new frame to Dynamo, which follows it with fake "
            "tensors. Where it cannot follow, it ends the graph: a graph break."
        )
        return TourStop("Dynamo", sentence, facts, self._time("dynamo"), "fx_graph", speech)

    @property
    def _aot(self) -> TourStop:
        lowered = self.verdict.work.ops
        backward = [graph for item in self._ok for graph in item.graphs if graph.stage == "aot_backward_graph"]
        saved = [value for item in self._ok for partition in item.partitions for value in partition.saved]
        kept = sum(value.bytes or 0 for value in saved)
        compiled_again = bool(self.verdict.work.earlier)
        in_all, newest = " in all" * compiled_again, " in the newest compilation of each frame" * compiled_again
        captured = fmt.count(sum(map(captured_ops, self._ok)), "captured op")
        ops = fmt.count(lowered, "ATen op") if lowered is not None else "no ATen op recorded"
        facts = [
            f"{captured}{in_all}; after all graph passes, {ops}{newest}",
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
        return TourStop("AOTAutograd", sentence, tuple(facts), self._time("aot_autograd"), "partition", speech)

    @property
    def _inductor(self) -> TourStop:
        work = self.verdict.work
        facts = [
            f"{fmt.count(work.nodes_before, 'scheduler node')}, {fmt.number(work.nodes_after)} after fusion"
            if work.nodes_before
            else NOT_INDUCTOR
        ]
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
        return TourStop("Inductor", sentence, tuple(facts), self._time("inductor", "codegen"), "fusion", speech)

    @property
    def _kernels(self) -> TourStop:
        work, kernels = self.verdict.work, [kernel for item in self._ok for kernel in item.kernels]
        made = {kernel.id: kernel.language for kernel in kernels if not kernel.extern}
        library = {kernel.name for kernel in kernels if kernel.extern}
        languages = [LANGUAGES.get(language, plain(language)) for language in sorted(set(made.values()))]
        facts = [kernel_words(work) if work.kernels is not None else NOT_INDUCTOR]
        if kernels:
            written = f" in {', '.join(languages)}" if languages else ""
            of_library = fmt.count(len(library), "library function")
            facts.append(f"{fmt.count(len(made), 'generated kernel')}{written}, {of_library}")
        if largest := self._largest:
            facts.append(f"largest fusion: {largest}")
        sentence = "Inductor writes C++ for a CPU and Triton for a GPU. Large products stay calls of a library."
        speech = "This is the code that runs, with the user's lines that each kernel comes from."
        return TourStop("Kernels", sentence, tuple(facts), self._time("compile"), "kernels", speech)

    @property
    def _running(self) -> TourStop:
        report, speed = self.report, self.verdict.speed
        if speed is not None:
            seconds: float | None = speed.compiled_s
            facts = [f"eager {fmt.duration_s(speed.eager_s)}, compiled {fmt.duration_s(speed.compiled_s)} a call"]
            if speed.interval is not None:
                ratio = fmt.ratio(speed.interval.middle, (speed.interval.low, speed.interval.high))
                facts.append(f"eager over compiled, over pairs of calls: {ratio}")
            if speed.unknown or speed.disturbed:
                facts.append(f"not reliable: {speed.unknown or speed.disturbed}")
            if self.verdict.break_even:
                facts.append(f"compiling pays off after about {fmt.count(self.verdict.break_even[1], 'call')}")
        else:
            last = next((call for call in reversed(report.calls) if call.compiled_s is not None), None)
            seconds = last.compiled_s if last else None
            why = NOT_COMPARED if report.script is not None else "The steady state was not measured."
            facts = [f"last call: {fmt.duration_s(seconds)}" if last else "no call recorded", why]
        warm = [item.guard_warm_us for item in self._ok if item.guard_warm_us is not None]
        if warm:
            facts.append(f"guards are checked in {fmt.duration_s(sum(warm) / 1e6)} a call")
        sentence = "A call checks the guards of its compiled code, and runs it. If a guard fails, torch compiles again."
        speech = "The first call pays for everything before. The calls after it pay for the guards alone."
        return TourStop("Running", sentence, tuple(facts), seconds, "speedup", speech)

    @cached_property
    def _largest(self) -> str:
        kernels = (kernel for item in self._ok for kernel in item.kernels if not kernel.extern)
        ops = max((kernel.origins for kernel in kernels), key=len, default=())
        names = Counter(NODE_NUMBER.sub("", op) for op in ops)
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
        first, parts = calls[0], (f"{stop.name} {stop.time}" for stop in self.stops[:4])
        later = [call.compiled_s or 0.0 for call in calls[1:] if call.how == "reused"]
        again = self.verdict.speed.compiled_s if self.verdict.speed else min(later, default=None)
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
            graphs = [graph for graph in compilation.graphs if graph.stage == "dynamo_output_graph"][-1:]
            for graph in graphs:
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
            return (
                "A break ends a graph: nothing fuses across it, and the rest of the function is compiled as another "
                "graph. This run has no break."
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
        if not self._largest:
            return f"{rule} This run has no kernel of several ops."
        return f"{rule} The largest kernel of this run fuses {self._largest}."

    @property
    def _pays(self) -> str:
        speed = self.verdict.speed
        here = "This run was not measured."
        if speed is not None and speed.interval is not None:
            interval = speed.interval
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
        speed = self.verdict.speed
        if speed is None or speed.interval is None:
            return "Not measured in this run."
        interval = speed.interval
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
        products, fused = 0, 0
        for compilation in self._ok:
            for kernel in compilation.kernels:
                has_product = any(NODE_NUMBER.sub("", origin) in PRODUCTS for origin in kernel.origins)
                products += has_product
                fused += has_product and not kernel.extern and len(kernel.origins) >= WORTH_OPS
        if not products:
            return "This run has no matmul."
        if fused:
            return f"True for {fmt.number(fused)} of {fmt.count(products, 'matmul')} here."
        calls = fmt.agree(
            products,
            "the matmul is a call",
            f"{'both' if products == 2 else f'all {fmt.number(products)}'} matmuls are calls",
        )
        return (
            f"Not here: {calls} of a library, with the bias inside. The ops after it are a kernel of their own. "
            "Templates, such as those of `max-autotune`, can fuse them."
        )
