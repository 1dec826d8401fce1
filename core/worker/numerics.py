"""Values of every node of Dynamo's graphs: eager and compiled compared with float64.

Each captured graph has the inputs of its last call. A copy of the graph returns node values as extra outputs, each
cloned right after its node.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import psutil
import torch
from torch._guards import CompileContext
from torch.fx import Graph, GraphModule, Interpreter, Node
from torch.fx.node import map_arg
from torch.utils._pytree import tree_leaves

from core.job import CompileJob, CompileOptions
from core.report import GraphNumerics, NodeAccuracy
from core.worker.backends.selection import Compiler, compiler_of, is_compiled
from core.worker.calls import ModelCalls
from core.worker.conditions import Mode
from core.worker.load import ModelCopy, first_line, rng_state, seed
from core.worker.record import emit, silence, unrecorded
from core.worker.results.accuracy import accuracy, apart
from core.worker.results.judge import has_room
from core.worker.results.verdict import error_of
from core.worker.results.wide import InFloat64, widened

MOST_TAPS = 128  #: node values that one extra compilation of a graph returns
MOST_TAPPED_BYTES = 256 * 2**20  #: all node values of one extra compilation
AFTER_RANDOM = "comes after random numbers that the other two cannot be given"
TOO_LARGE = "larger than what can be compared"
NO_ROOM = "the run may not hold so much memory that the model could be loaded once more"
NOT_COMPILED = "in the stance force_eager nothing is compiled"
NO_TIME = "the time for it was over"
ITS_OWN = "the file compiles its model itself, with a backend and options that torch does not tell"
# Captured graphs contain such ops, and are captured again.
CAPTURED_ONCE = {"capture_scalar_outputs": True, "capture_dynamic_output_shape_ops": True}
Values = tuple[Any, ...]
NOT_CALLED = "it was not called"
TOO_MUCH = "its inputs take more memory than the run has left for them"
CALLS = ("call_function", "call_method", "call_module")
RANDOM = "draws random numbers; all three go on with eager's"
VIEW = "a view of another value"
NO_TENSOR = "no tensor"
SEVERAL = "several values, each with a node of its own"
NOT_STRIDED = "a sparse, quantised or wrapped tensor"


def emit_graph_numerics(job: CompileJob, path: Path, until_s: float) -> None:
    """Record the numerics of each graph of the model, until `until_s` (of `time.monotonic`)."""
    if job.conditions.stance == "force_eager":
        emit(GraphNumerics(compilation="", reason=NOT_COMPILED))
        return
    with quiet_compilation(), silence():
        found = graph_numerics(unconditional(job), path, until_s)
    for graph in found:
        emit(graph)


def unconditional(job: CompileJob) -> CompileJob:
    """Return the job in torch's default stance with the same backend, so that every call is captured."""
    chosen = job.conditions
    forced = CompileOptions(job.compile.fullgraph, job.compile.dynamic, chosen.force_backend)
    conditions = replace(chosen, stance="default", force_backend="", primed=False)
    return replace(job, conditions=conditions, compile=forced if chosen.force_backend else job.compile)


def graph_numerics(job: CompileJob, path: Path, until_s: float) -> list[GraphNumerics]:
    """Return the numerics of each graph, or one record with the reason why there are none."""
    if not has_room(job):
        return [GraphNumerics("", reason=NO_ROOM)]
    try:
        twin = ModelCopy(path, job, "compileboard_numerics")
        if is_compiled(twin.model):
            return [GraphNumerics("", reason=ITS_OWN)]
        graphs = captured_graphs(job, twin)
        compiler = compiler_of(job, twin)
    except Exception as error:
        return [GraphNumerics("", reason=first_line(error))]
    return [_timed(job, compiler, captured, until_s) for captured in graphs]


def captured_graphs(job: CompileJob, twin: ModelCopy) -> list[CapturedGraph]:
    """Return Dynamo's graphs of a model copy, each with the inputs of its last call."""
    capture = CaptureBackend(max(0, job.memory_limit_bytes - psutil.Process().memory_info().rss) // 8)
    _make_calls(job, twin, capture)
    return list(capture.graphs.values())


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
    """Comparison of a captured graph, in parts."""

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

    @property
    def narrowed(self) -> tuple[str, ...]:
        """Return the ops that torch does not have in float64."""
        return tuple(sorted(self._float64.narrowed))

    def rows(self) -> tuple[NodeAccuracy, ...]:
        return tuple(self._found.values())

    def compare(self) -> None:
        """Compare all values, in parts of limited memory, until the deadline."""
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
        """Yield the names of the nodes whose values can be compared.

        Other values are recorded as left out: values that are too large, and values after random numbers that the
        three runs can't share.
        """
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
        """Compare some values; return the compiled graph's own outputs."""
        compiled = self._compiled(taps)
        eager, wide = self._eager(taps), self._wide(taps, self._float64)
        rounded = cache(lambda dtype: self._wide(taps, InFloat64(torch.finfo(dtype).eps)))
        for place in range(-len(taps), 0):
            noise = partial(_noise, rounded, place, eager[place].dtype, wide[place])
            found = accuracy(taps[place], eager[place], compiled[place], wide[place], noise)
            self._found[taps[place]] = NodeAccuracy(taps[place], found)
        return compiled[: -len(taps)]

    def _eager(self, taps: Sequence[str]) -> Values:
        with self._mode.on(), torch.compiler.set_stance("force_eager"):
            return tuple(tapped(self._graph, taps, self._drawn)(*copies(self._inputs)))

    def _wide(self, taps: Sequence[str], mode: InFloat64) -> Values:
        graph = deepcopy(tapped(self._graph, taps, self._drawn)).to(torch.float64)
        with torch.no_grad(), torch.compiler.set_stance("force_eager"), mode:
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
    """Yield copies of outputs, since the next call may overwrite them."""
    return (value.detach().clone() if isinstance(value, torch.Tensor) else value for value in values)


def _noise(
    rounded: Callable[[torch.dtype], Values], place: int, dtype: torch.dtype, reference: torch.Tensor
) -> torch.Tensor:
    """Return the rounding noise of one value: the change by random rounding errors in its dtype."""
    return error_of(rounded(dtype)[place], reference)


@dataclass(slots=True)
class CapturedGraph:
    """A captured graph with copies of the inputs of its last call, and that call's mode.

    If there are no inputs, `reason` says why.
    """

    compilation: str
    graph: torch.fx.GraphModule
    mode: Mode
    inputs: tuple[Any, ...] = ()
    reason: str = NOT_CALLED


class CaptureBackend:
    """Backend that runs Dynamo's graphs eagerly and stores them.

    Inputs of more than `room` bytes are not stored.
    """

    def __init__(self, room: int) -> None:
        self.graphs: dict[str, CapturedGraph] = {}
        self._room = room

    def __call__(self, graph: torch.fx.GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
        found = CapturedGraph(str(CompileContext.current_compile_id()), graph, Mode.current())
        self.graphs[found.compilation] = found

        def call(*inputs: Any) -> Any:
            self._keep(found, inputs)
            return graph.forward(*inputs)

        return call

    def _keep(self, graph: CapturedGraph, inputs: tuple[Any, ...]) -> None:
        fits = size_of(inputs) <= self._room
        graph.inputs, graph.reason = (copies(inputs), "") if fits else ((), TOO_MUCH)
        # Without inference mode, since its tensors can't be recorded; without gradients the values are the same.
        graph.mode = Mode(torch.is_grad_enabled(), False)


def copies(values: Sequence[Any]) -> tuple[Any, ...]:
    """Return copies of values that may be written to; tensors that share memory share a copy."""
    with torch.no_grad():
        known: dict[int, Any] = {}
        return tuple(_copy(value, known) for value in values)


def _copy(value: Any, known: dict[int, Any]) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    return deepcopy(value.detach(), known).requires_grad_(value.requires_grad)


def size_of(values: Sequence[Any]) -> int:
    """Return the bytes of all tensors."""
    return sum(value.numel() * value.element_size() for value in values if isinstance(value, torch.Tensor))


@contextmanager
def quiet_compilation() -> Iterator[None]:
    """Keep compilations in this context, with Dynamo reset around it, out of log and counters."""
    with unrecorded():
        torch.compiler.reset()
        try:
            yield
        finally:
            torch.compiler.reset()


@dataclass(frozen=True, slots=True)
class NodeResult:
    """Eager result of a node: the bytes of a comparable value, or why it is left out.

    `drawn` is the value of a random op, and `in_place` is True if it was written in place.
    """

    bytes: int = 0
    left_out: str = ""
    drawn: torch.Tensor | None = None
    in_place: bool = False


class NodeRecorder(Interpreter):
    """Interpreter that runs a graph eagerly, node by node, and records each result."""

    def __init__(self, graph: GraphModule, device: str) -> None:
        super().__init__(graph)
        self.met: dict[str, NodeResult] = {}
        self._device = device

    def run_node(self, n: Node) -> Any:
        """Run one node and record its result, with the value if the node draws random numbers."""
        if n.op not in CALLS:
            return super().run_node(n)
        read = [leaf for one in n.all_input_nodes for leaf in tree_leaves(self.env[one]) if _plain(leaf)]
        before, stood = [one._version for one in read], rng_state(self._device)
        value = super().run_node(n)
        written = before != [one._version for one in read]
        self.met[n.name] = self._of(value, read, written, rng_state(self._device) != stood)
        return value

    def _of(self, value: Any, read: Sequence[torch.Tensor], written: bool, drew: bool) -> NodeResult:
        if not isinstance(value, torch.Tensor):
            return NodeResult(left_out=RANDOM if drew else SEVERAL if isinstance(value, (tuple, list)) else NO_TENSOR)
        if not _plain(value):
            return NodeResult(left_out=NOT_STRIDED)
        shared = any(_memory(value) == _memory(one) for one in read)
        if drew:
            return NodeResult(left_out=RANDOM, drawn=value.detach().clone(), in_place=shared and written)
        return (
            NodeResult(left_out=VIEW)
            if shared and not written
            else NodeResult(bytes=value.numel() * value.element_size())
        )


def _plain(value: Any) -> bool:
    kinds = (torch.Tensor, torch.nn.Parameter)
    plain = type(value) in kinds and value.layout == torch.strided and not value.is_quantized
    return plain and not value.is_inference() and _memory(value) is not None


def _memory(value: torch.Tensor) -> int | None:
    """Return the address of a value; None within vmap or grad, where a value has no memory of its own."""
    try:
        return value.untyped_storage().data_ptr()
    except NotImplementedError:
        return None


def tapped(graph: GraphModule, taps: Collection[str], drawn: Mapping[str, NodeResult]) -> GraphModule:
    """Return a copy of the graph that also returns `taps`, and takes random values, after its own."""
    made, known, given = Graph(), dict[Node, Any](), list[Node]()
    for node in graph.graph.find_nodes(op="placeholder"):
        known[node] = made.node_copy(node, known.__getitem__)
    chance = {name: made.placeholder(f"drawn_{index}") for index, name in enumerate(drawn)}
    for node in graph.graph.nodes:
        if node.op == "output":
            own = map_arg(node.args[0], known.__getitem__)
            made.output((*own, *given))
        elif node.op != "placeholder":
            known[node] = _copied(node, made, known, drawn, chance)
        if node.name in taps:
            given.append(made.call_method("clone", (made.call_method("detach", (known[node],)),)))
    return GraphModule(graph, made)


def _copied(
    node: Node, made: Graph, known: Mapping[Node, Any], drawn: Mapping[str, NodeResult], chance: Mapping[str, Node]
) -> Node:
    """Copy a node, or replace it by its recorded random value."""
    if node.name not in drawn:
        return made.node_copy(node, known.__getitem__)
    given = chance[node.name]
    if drawn[node.name].in_place:
        written = next(known[one] for one in node.all_input_nodes)
        return made.call_method("copy_", (written, given))
    return given
