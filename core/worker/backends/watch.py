"""Recorder for backends other than Inductor: calls, input graphs, results and executions.

`describe_graph` returns the nodes, code and outputs of an input graph, with limited length. `ExecutionWatch` records
the compiled call, the seconds and the problem of each execution.
"""

from __future__ import annotations

import sysconfig
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
import torch._dynamo.output_graph as dynamo_output
from torch._dynamo.eval_frame import innermost_backend
from torch._dynamo.exc import RestartAnalysis
from torch.fx import GraphModule, Node
from torch.fx._lazy_graph_module import _LazyGraphModule

from core.accelerator.segment import CompileKeys
from core.base.words import count, number
from core.report import BackendNode, Execution, Executions, Invocation
from core.report.records import Emit
from core.report.records.compilation import ExecutionsRecord
from core.worker.load import value_text

INDUCTOR = "inductor"
MOST_PROBLEM_CHARS = 4_000  #: characters of a backend's exception
AGAIN = "nothing, since torch begins its analysis again"
# Callers of a backend and the library code that it calls: their lines aren't the backend's own.
NOT_ITS_OWN = (Path(torch.__file__).parents[1], Path(sysconfig.get_path("stdlib")), Path(__file__).parents[1])
MOST_NODES = 2_000  #: limit: nodes of a graph that a backend received
MOST_VALUES = 100  #: limit: example inputs, arguments or results of a backend that are recorded
MOST_TEXT_CHARS = 400  #: characters of a node's arguments, a value or a problem of a backend
MOST_USERS = 32  #: users of a node that a backend received
MOST_CODE_CHARS = 200_000  #: characters of the code of a graph that a backend received
MOST_EXECUTIONS = 64  #: limit: executions of a compilation that are recorded in full; all are counted
MOST_COMPILATIONS = 1_000  #: limit: compilations whose executions are watched


@contextmanager
def watching_backends(
    emit: Emit, recorded: Callable[[], bool], around: Callable[[Any], AbstractContextManager[None]] = nullcontext
) -> Iterator[None]:
    """Record each call of a backend other than Inductor as it returns, and all executions at the end.

    Compilations for which `recorded` returns False are left out. A backend is called in the context that `around`
    returns for its graph.

    Dynamo calls every backend in one method, whether the backend comes from the job, the model's file or a stance. That
    method is patched instead of the backend, so that torch's cache keeps the original backend and still finds its
    compiled code.
    """
    original = dynamo_output.OutputGraph.call_user_compiler
    watch = ExecutionWatch()

    def call_user_compiler(self: Any, graph: Any, *rest: Any) -> Any:
        backend = self.compiler_fn
        name = backend_name(backend)
        if name == INDUCTOR or not recorded():
            return original(self, graph, *rest)
        self.compiler_fn = _observed(name, backend, describe_graph(graph), emit, watch)
        try:
            with around(graph):
                return original(self, graph, *rest)
        finally:
            self.compiler_fn = backend

    with patch.object(dynamo_output.OutputGraph, "call_user_compiler", call_user_compiler):
        try:
            yield
        finally:
            if executions := watch.record():
                emit(executions)


def backend_name(backend: Any) -> str:
    """Return the name of a backend as passed to torch.compile."""
    chosen = innermost_backend(backend)
    names = (getattr(chosen, "compiler_name", ""), getattr(chosen, "__name__", ""), type(chosen).__name__)
    return cut(next(name for name in names if isinstance(name, str) and name))


def _observed(
    name: str, backend: Callable[..., Any], description: GraphDescription, emit: Emit, watch: ExecutionWatch
) -> Callable[..., Any]:
    """Wrap a backend to record its calls.

    `description` describes the first graph. Later graphs may be parts of the first.
    """
    first = [description]

    def compile_graph(graph: Any, inputs: Sequence[Any]) -> Any:
        described = first.pop() if first else describe_graph(graph)
        words, compilation = words_of(inputs), watch.keys.current()

        def emit_invocation(
            start: float, returned: str, problem: str = "", place: tuple[str, int] | None = None
        ) -> None:
            emit(
                Invocation(
                    backend=name,
                    inputs=words,
                    nodes=described.nodes,
                    left_out=described.left_out,
                    code=described.code,
                    returned=returned,
                    seconds=time.perf_counter() - start,
                    problem=problem[:MOST_PROBLEM_CHARS],
                    place=place,
                    key=compilation,
                )
            )

        start = time.perf_counter()
        try:
            returned = backend(graph, inputs)
        except RestartAnalysis:
            emit_invocation(start, AGAIN)
            raise
        except Exception as error:
            emit_invocation(start, "", f"raised {type(error).__name__}: {error}", raised_at(error))
            raise
        if not callable(returned):
            emit_invocation(start, "", f"returned {words_of((returned,))[0]}, which cannot be called")
            return returned
        emit_invocation(start, named(returned))
        return watch.watched(compilation, returned, described.outputs)

    compile_graph.__name__ = getattr(backend, "__name__", name)
    return compile_graph


def raised_at(error: BaseException) -> tuple[str, int] | None:
    """Return file and line of an error's innermost frame in user code; None if it has no such frame."""
    frames = traceback.extract_tb(error.__traceback__)
    backend_frames = [
        frame for frame in frames if not any(Path(frame.filename).is_relative_to(place) for place in NOT_ITS_OWN)
    ]
    return (backend_frames[-1].filename, backend_frames[-1].lineno or 0) if backend_frames else None


@dataclass(frozen=True, slots=True)
class OutputDescription:
    """An output of a graph: its name, dtype and shape, with None for a dynamic size.

    The dtype is None for a value that isn't a tensor.
    """

    name: str
    dtype: torch.dtype | None
    shape: tuple[int | None, ...]
    words: str


@dataclass(frozen=True, slots=True)
class GraphDescription:
    """Description of a graph and its outputs."""

    nodes: tuple[BackendNode, ...]
    left_out: int
    code: str
    outputs: tuple[OutputDescription, ...]


def describe_graph(graph: GraphModule) -> GraphDescription:
    """Return the description of a graph; must be called before the backend, which may change the graph."""
    nodes = list(graph.graph.nodes)
    code = graph.code
    return GraphDescription(
        tuple(map(_node, nodes[:MOST_NODES])),
        max(0, len(nodes) - MOST_NODES),
        code if len(code) <= MOST_CODE_CHARS else "",
        _outputs(nodes[-1]) if nodes else (),
    )


def _node(node: Node) -> BackendNode:
    value = _value(node)
    return BackendNode(
        node.name,
        node.op,
        cut(node._pretty_print_target(node.target)),
        cut(str(node.args)),
        cut(str(node.kwargs)),
        tuple(user.name for user in list(node.users)[:MOST_USERS]),
        "" if value is None else cut(value_text(value)),
    )


def _value(node: Node) -> Any:
    """Return a node's value as recorded by Dynamo, AOTAutograd or shape propagation; None if not recorded."""
    return next((node.meta[key] for key in ("example_value", "val", "tensor_meta") if key in node.meta), None)


def _outputs(last: Node) -> tuple[OutputDescription, ...]:
    """Return the outputs of a graph that returns a tuple of nodes, as Dynamo's do; or empty."""
    values = last.args[0] if last.op == "output" and last.args else None
    if not isinstance(values, (tuple, list)) or not all(isinstance(value, Node) for value in values):
        return ()
    return tuple(_output(node) for node in values if isinstance(node, Node))


def _output(node: Node) -> OutputDescription:
    value = _value(node)
    if not isinstance(value, torch.Tensor):
        return OutputDescription(node.name, None, (), "")
    shape = tuple(size if isinstance(size, int) else None for size in value.shape)
    return OutputDescription(node.name, value.dtype, shape, value_text(value))


def words_of(values: Any) -> tuple[str, ...]:
    """Return arguments or results as short texts: `f32[4, 8]`."""
    several = values if isinstance(values, (tuple, list)) else (values,)
    return tuple(cut(value_text(value)) for value in several[:MOST_VALUES])


def cut(text: str) -> str:
    """Return a text cut to the maximum recorded length."""
    return text if len(text) <= MOST_TEXT_CHARS else f"{text[:MOST_TEXT_CHARS]} …"


def named(returned: Callable[..., Any]) -> str:
    """Return a backend's result as text: its type and name."""
    name = getattr(returned, "__name__", "")
    return cut(f"{type(returned).__name__} `{name}`" if isinstance(name, str) and name else type(returned).__name__)


def output_problem(outputs: Sequence[OutputDescription], returned: Any) -> str:
    """Return the first mismatch of number, type, dtype or shape of returned values; or empty."""
    if not outputs:
        return ""
    if not isinstance(returned, (tuple, list)):
        return (
            f"returned {cut(value_text(returned))}, where the graph returns {count(len(outputs), 'value')} in a tuple"
        )
    if len(returned) != len(outputs):
        return f"returned {count(len(returned), 'value')}, where the graph returns {number(len(outputs))}"
    pairs = enumerate(zip(outputs, returned, strict=True))
    return next(filter(None, (_wrong(at, expected, value) for at, (expected, value) in pairs)), "")


def _wrong(at: int, expected: OutputDescription, value: Any) -> str:
    if expected.dtype is None:
        return ""
    if isinstance(value, torch.Tensor) and value.dtype == expected.dtype and _fits(expected.shape, value.shape):
        return ""
    return (
        f"returned {cut(value_text(value))} for output {at} (`{expected.name}`), where the graph has {expected.words}"
    )


def _fits(expected: Sequence[int | None], shape: Sequence[int]) -> bool:
    pairs = zip(expected, shape, strict=False)
    return len(expected) == len(shape) and all(extent is None or extent == size for extent, size in pairs)


class CurrentCall:
    """The index of the current compiled call, None between calls."""

    def __init__(self) -> None:
        self.index: int | None = None


CALL = CurrentCall()


@contextmanager
def marking_call(index: int) -> Iterator[None]:
    """Set the index of the current compiled call in this context."""
    CALL.index = index
    try:
        yield
    finally:
        CALL.index = None


class ExecutionCounts:
    """The executions of one compilation: full records of the first, and number and total time of all."""

    def __init__(self, compilation: str) -> None:
        self.compilation = compilation
        self.first: list[Execution] = []
        self.calls = self.measured = 0
        self.seconds = 0.0

    def total(self) -> Executions:
        """Return the number and time of all executions."""
        return Executions(self.compilation, self.calls, self.measured, self.seconds)


class ExecutionWatch:
    """The executions of a run, by compilation."""

    def __init__(self) -> None:
        self.keys = CompileKeys()
        self._counts: dict[str, ExecutionCounts] = {}

    def record(self) -> ExecutionsRecord | None:
        """Return the record of executions; None if no backend returned a callable."""
        counts = self._counts.values()
        if not counts:
            return None
        executions = tuple(execution for counted in counts for execution in counted.first)
        return ExecutionsRecord(executions=executions, totals=tuple(counted.total() for counted in counts))

    def watched(
        self, compilation: str, function: Callable[..., Any], outputs: Sequence[OutputDescription]
    ) -> Callable[..., Any]:
        """Wrap a function to record its executions.

        Fully recorded results are checked against the graph's `outputs`. Beyond `MOST_COMPILATIONS`, the function
        is returned unchanged.
        """
        if compilation not in self._counts and len(self._counts) >= MOST_COMPILATIONS:
            return function
        counted = self._counts.setdefault(compilation, ExecutionCounts(compilation))
        function = _compiled_by_now(function)

        def run(*args: Any, **kwargs: Any) -> Any:
            call = CALL.index
            if call is not None:
                counted.calls += 1
                if len(counted.first) < MOST_EXECUTIONS:
                    return _record_execution(counted, call, function, args, kwargs, outputs)
            else:
                counted.measured += 1
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                counted.seconds += time.perf_counter() - start

        # Includes `_boxed_call`: arguments then come as a list that the function may clear.
        run.__dict__.update(getattr(function, "__dict__", {}) if not isinstance(function, _LazyGraphModule) else {})
        run.__name__ = getattr(function, "__name__", type(function).__name__)
        return run


def _compiled_by_now(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function after generating the code of its lazy graph module, which takes time."""
    module = function if isinstance(function, _LazyGraphModule) else getattr(function, "__self__", None)
    if not isinstance(module, _LazyGraphModule):
        return function
    _LazyGraphModule.force_recompile(module)
    lazy = function is not module and function.__name__ == "_lazy_forward"
    forward: Callable[..., Any] = module.forward if lazy else function
    return forward


def _record_execution(
    counted: ExecutionCounts,
    call: int,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    outputs: Sequence[OutputDescription],
) -> Any:
    inputs = words_of(args[0] if getattr(function, "_boxed_call", False) and args else args)

    def add(returned_words: tuple[str, ...], problem: str) -> None:
        counted.seconds += seconds
        number = len(counted.first)
        counted.first.append(
            Execution(counted.compilation, number, call, seconds, inputs, returned_words, cut(problem))
        )

    start = time.perf_counter()
    try:
        returned = function(*args, **kwargs)
    except Exception as error:
        seconds = time.perf_counter() - start
        add((), f"raised {type(error).__name__}: {error}")
        raise
    seconds = time.perf_counter() - start
    add(words_of(returned), output_problem(outputs, returned))
    return returned
