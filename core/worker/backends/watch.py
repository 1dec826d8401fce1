"""Every call of a backend other than Inductor, however torch.compile came by it: what it was given, what it returned,
and when that ran.
"""

from __future__ import annotations

import sysconfig
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
import torch._dynamo.output_graph as dynamo_output
from torch._dynamo.eval_frame import innermost_backend
from torch._dynamo.exc import RestartAnalysis
from torch._guards import CompileContext

from core.report import Invocation
from core.report.records import Emit
from core.worker.backends.described import GraphDescription, cut, describe_graph, named, words_of
from core.worker.backends.executions import ExecutionWatch

INDUCTOR = "inductor"
MOST_PROBLEM_CHARS = 4_000
AGAIN = "nothing, since torch begins its analysis again"
# What calls a backend, and what it calls, are no lines of the backend's.
NOT_ITS_OWN = (Path(torch.__file__).parents[1], Path(sysconfig.get_path("stdlib")), Path(__file__).parents[1])


@contextmanager
def watching_backends(emit: Emit, recorded: Callable[[], bool]) -> Iterator[None]:
    """Record each invocation as it ends, and all executions at the end; nothing of what is not `recorded`.

    Dynamo's own call of a backend is where all of them come together: what the job names, what the model's file names,
    and what a stance forces. Torch keeps the backend that it was given, and so finds its code again.
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
    """The same backend; what torch gives it beside the graph that was `told`, such as a part of that, is told, too."""
    first = [description]

    def compile_graph(graph: Any, inputs: Sequence[Any]) -> Any:
        described = first.pop() if first else describe_graph(graph)
        words, compilation = words_of(inputs), str(CompileContext.current_compile_id() or "")

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
    """The innermost line of an error that is neither Python's nor torch's nor the worker's own."""
    frames = traceback.extract_tb(error.__traceback__)
    backend_frames = [
        frame for frame in frames if not any(Path(frame.filename).is_relative_to(place) for place in NOT_ITS_OWN)
    ]
    return (backend_frames[-1].filename, backend_frames[-1].lineno or 0) if backend_frames else None
