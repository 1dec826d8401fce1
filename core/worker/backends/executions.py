"""Executions of a backend's result: which call runs it, its seconds, and its problems."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torch.fx._lazy_graph_module import _LazyGraphModule

from core.report import Execution, Executions
from core.report.records.backend import ExecutionsRecord
from core.worker.backends.described import OutputDescription, cut, output_problem, words_of

MOST_EXECUTIONS = 64
MOST_COMPILATIONS = 1_000


class CurrentCall:
    """The index of the run's call that is made just now, None outside of them."""

    def __init__(self) -> None:
        self.index: int | None = None


CALL = CurrentCall()


@contextmanager
def marking_call(index: int) -> Iterator[None]:
    """Within it call `index` is made compiled."""
    CALL.index = index
    try:
        yield
    finally:
        CALL.index = None


class ExecutionCounts:
    """The executions of one compilation: the first in full, all by number and time."""

    def __init__(self, compilation: str) -> None:
        self.compilation = compilation
        self.first: list[Execution] = []
        self.calls = self.measured = 0
        self.seconds = 0.0

    def total(self) -> Executions:
        """All of them."""
        return Executions(self.compilation, self.calls, self.measured, self.seconds)


class ExecutionWatch:
    """The executions of a run, by compilation."""

    def __init__(self) -> None:
        self._counts: dict[str, ExecutionCounts] = {}

    def record(self) -> ExecutionsRecord | None:
        """Return the record of executions; None if no backend was called."""
        counts = self._counts.values()
        if not counts:
            return None
        executions = tuple(execution for counted in counts for execution in counted.first)
        return ExecutionsRecord(executions=executions, totals=tuple(counted.total() for counted in counts))

    def watched(
        self, compilation: str, function: Callable[..., Any], outputs: Sequence[OutputDescription]
    ) -> Callable[..., Any]:
        """The same function; what it returns is held against the graph's `outputs` while it is told in full."""
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

        # `_boxed_call` among them: arguments then come as a list, which what runs may empty.
        run.__dict__.update(getattr(function, "__dict__", {}) if not isinstance(function, _LazyGraphModule) else {})
        run.__name__ = getattr(function, "__name__", type(function).__name__)
        return run


def _compiled_by_now(function: Callable[..., Any]) -> Callable[..., Any]:
    """A graph module writes its code at its first call; Dynamo has that done before, where it sees one."""
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
