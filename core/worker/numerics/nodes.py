"""Every node of the graphs that Dynamo captured: its value eagerly, compiled, and in float64."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import torch

from core.job import CompileJob, CompileOptions
from core.report import GraphNumerics, NodeAccuracy
from core.worker.backends.selection import Compiler, compiler_of
from core.worker.calls import ModelCalls
from core.worker.compiling import is_compiled
from core.worker.load import ModelCopy
from core.worker.numerics.accuracy import accuracy, apart
from core.worker.numerics.captured import CaptureBackend, CapturedGraph, copies, quiet_compilation
from core.worker.numerics.tapped import RANDOM, NodeRecorder, tapped
from core.worker.numerics.wide import InFloat64, widened
from core.worker.record import emit
from core.worker.refusal import first_line
from core.worker.results.judge import has_room
from core.worker.rng import seed
from core.worker.streams import silence

MOST_TAPS = 128
MOST_TAPPED_BYTES = 256 * 2**20
AFTER_RANDOM = "comes after random numbers that the other two cannot be given"
TOO_LARGE = "larger than what can be compared"
NO_ROOM = "the run may not hold so much memory that the model could be loaded once more"
NOT_COMPILED = "in the stance force_eager nothing is compiled"
NO_TIME = "the time for it was over"
ITS_OWN = "the file compiles its model itself, with a backend and options that torch does not tell"

# What a captured graph holds can be captured again.
CAPTURED_ONCE = {"capture_scalar_outputs": True, "capture_dynamic_output_shape_ops": True}

Values = tuple[Any, ...]


def emit_graph_numerics(job: CompileJob, path: Path, until_s: float) -> None:
    """Record each graph of the model in the file, until the time (of `time.monotonic`) is over."""
    if job.conditions.stance == "force_eager":
        emit(GraphNumerics(compilation="", reason=NOT_COMPILED))
        return
    with quiet_compilation(), silence():
        found = graph_numerics(unconditional(job), path, until_s)
    for graph in found:
        emit(graph)


def unconditional(job: CompileJob) -> CompileJob:
    """The same job in torch's default stance, in which every call that can be captured is; compiled as it was."""
    chosen = job.conditions
    forced = CompileOptions(job.compile.fullgraph, job.compile.dynamic, chosen.force_backend)
    conditions = replace(chosen, stance="default", force_backend="", primed=False)
    return replace(job, conditions=conditions, compile=forced if chosen.force_backend else job.compile)


def graph_numerics(job: CompileJob, path: Path, until_s: float) -> list[GraphNumerics]:
    """Each graph of the model; a model that cannot be captured again is told as one without a compilation."""
    if not has_room(job):
        return [GraphNumerics("", reason=NO_ROOM)]
    capture = CaptureBackend(max(0, job.memory_limit_bytes - psutil.Process().memory_info().rss) // 8)
    try:
        twin = ModelCopy(path, job, "compileboard_numerics")
        if is_compiled(twin.model):
            return [GraphNumerics("", reason=ITS_OWN)]
        _make_calls(job, twin, capture)
        compiler = compiler_of(job, twin)
    except Exception as error:
        return [GraphNumerics("", reason=first_line(error))]
    return [_timed(job, compiler, captured, until_s) for captured in capture.graphs.values()]


def _make_calls(job: CompileJob, twin: ModelCopy, capture: CaptureBackend) -> None:
    options = job.compile
    function = torch.compile(twin.model, fullgraph=options.fullgraph, dynamic=options.dynamic, backend=capture)
    side = ModelCalls(job, twin, function, False)
    index = 0
    while (call := side.next(index)) is not None:
        seed(job.seed + index)
        with call.ready():
            call()
        index += 1


def _timed(job: CompileJob, compiler: Compiler, captured: CapturedGraph, until_s: float) -> GraphNumerics:
    begun_s = time.monotonic()
    found = _graph(job, compiler, captured, until_s)
    return replace(found, spent_s=time.monotonic() - begun_s)


def _graph(job: CompileJob, compiler: Compiler, captured: CapturedGraph, until_s: float) -> GraphNumerics:
    told = GraphNumerics(captured.compilation, reason=captured.reason)
    if not told.reason and time.monotonic() > until_s:
        told = replace(told, reason=NO_TIME)
    if told.reason:
        return told
    comparing = GraphComparison(job, compiler, captured, until_s)
    try:
        comparing.compare()
    except Exception as error:
        told = replace(told, reason=first_line(error))
    return replace(
        told, nodes=comparing.rows(), parts=comparing.parts, changed=comparing.changed, narrowed=comparing.narrowed
    )


class GraphComparison:
    """Comparison of a captured graph, part by part."""

    def __init__(self, job: CompileJob, compiler: Compiler, captured: CapturedGraph, until_s: float) -> None:
        self.parts = 0
        self.changed: float | None = None
        self._float64 = InFloat64()
        self._options, self._compiler = job.compile, compiler
        self._graph, self._mode, self._until_s = captured.graph, captured.mode, until_s
        meeting = NodeRecorder(captured.graph, job.device)
        with torch.no_grad():
            meeting.run(*copies(captured.inputs))
        self._met = meeting.met
        self._drawn = {name: met for name, met in meeting.met.items() if met.drawn is not None}
        self._inputs = (*captured.inputs, *(met.drawn for met in self._drawn.values()))
        self._found = {name: NodeAccuracy(name, left_out=met.left_out) for name, met in self._met.items()}
        self._largest = max(map(_size, captured.inputs), default=0.0)

    @property
    def narrowed(self) -> tuple[str, ...]:
        """The ops that torch does not have in float64."""
        return tuple(sorted(self._float64.narrowed))

    def rows(self) -> tuple[NodeAccuracy, ...]:
        """Return the accuracy of each node."""
        return tuple(self._found.values())

    def compare(self) -> None:
        """Give out the values, as many at once as are bearable, until the time is over."""
        took_s = 0.0
        for taps in self._bundles():
            begun_s = time.monotonic()
            if begun_s + took_s > self._until_s:
                self._leave_out(taps, NO_TIME)
                continue
            own = self._compare_part(taps)
            took_s = time.monotonic() - begun_s
            if not self.parts and time.monotonic() + took_s < self._until_s:
                self.changed = self._changed(own)
            self.parts += 1

    def _bundles(self) -> Iterator[list[str]]:
        taps: list[str] = []
        room = MOST_TAPPED_BYTES
        for name in self._tappable():
            size = self._met[name].bytes
            if taps and (len(taps) == MOST_TAPS or size > room):
                yield taps
                taps, room = [], MOST_TAPPED_BYTES
            taps.append(name)
            room -= size
        if taps:
            yield taps

    def _tappable(self) -> Iterator[str]:
        """The nodes whose values can be compared: those before random numbers that cannot be given to all three."""
        lost = False
        for name, met in self._met.items():
            lost = lost or (met.left_out == RANDOM and met.drawn is None)
            if not met.left_out and not lost and met.bytes <= MOST_TAPPED_BYTES:
                yield name
            elif not met.left_out:
                self._leave_out([name], AFTER_RANDOM if lost else TOO_LARGE)

    def _leave_out(self, names: Sequence[str], why: str) -> None:
        self._found.update({name: NodeAccuracy(name, left_out=why) for name in names})

    def _compare_part(self, taps: Sequence[str]) -> Values:
        """Compare some values; returns the compiled graph's own outputs."""
        compiled = self._compiled(taps)
        eager, wide = self._eager(taps), self._wide(taps)
        for name, one, other, reference in zip(
            taps, *(given[-len(taps) :] for given in (eager, compiled, wide)), strict=True
        ):
            self._largest = max(self._largest, _size(one))
            self._found[name] = NodeAccuracy(name, accuracy(name, one, other, reference, self._largest))
        return compiled[: -len(taps)]

    def _eager(self, taps: Sequence[str]) -> Values:
        with self._mode.on(), torch.compiler.set_stance("force_eager"):
            return tuple(tapped(self._graph, taps, self._drawn)(*copies(self._inputs)))

    def _wide(self, taps: Sequence[str]) -> Values:
        graph = deepcopy(tapped(self._graph, taps, self._drawn)).to(torch.float64)
        with torch.no_grad(), torch.compiler.set_stance("force_eager"), self._float64:
            return tuple(graph(*map(widened, copies(self._inputs))))

    def _compiled(self, taps: Sequence[str]) -> Values:
        with self._mode.on(), torch._dynamo.config.patch(CAPTURED_ONCE):
            function = torch.compile(
                tapped(self._graph, taps, self._drawn),
                dynamic=self._options.dynamic,
                backend=self._compiler,
                mode=self._options.mode,
                options=self._options.options,
            )
            return tuple(_kept(function(*copies(self._inputs))))

    def _changed(self, own: Values) -> float | None:
        """Return by how much the added outputs changed the graph's own outputs; None if not comparable."""
        plain = self._compiled(())
        found = [apart(one, other) for one, other in zip(plain, own, strict=True) if isinstance(one, torch.Tensor)]
        return max((error for error in found if error is not None), default=None)


def _kept(values: Sequence[Any]) -> Iterator[Any]:
    """Outputs that the next call does not write over."""
    return (value.detach().clone() if isinstance(value, torch.Tensor) else value for value in values)


def _size(value: Any) -> float:
    """The largest finite number in a tensor of real numbers."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point() or not value.numel():
        return 0.0
    return float(value.detach().abs().nan_to_num(0, 0, 0).max())
