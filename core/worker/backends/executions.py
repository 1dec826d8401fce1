"""Executions of a backend's result: which call runs it, its seconds, and its problems."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torch.fx._lazy_graph_module import _LazyGraphModule

from core.report import Execution, Executions
from core.report.records.backend import ExecutionsRecord
from core.worker.backends.described import GivenOutput, cut, unlike, words_of

MOST_EXECUTIONS = 64
MOST_COMPILATIONS = 1_000


class MadeCall:
    """The index of the run's call that is made just now, None outside of them."""

    def __init__(self) -> None:
        self.index: int | None = None


CALL = MadeCall()


@contextmanager
def making(index: int) -> Iterator[None]:
    """Within it call `index` is made compiled."""
    CALL.index = index
    try:
        yield
    finally:
        CALL.index = None


class Counted:
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
        self._found: dict[str, Counted] = {}

    def record(self) -> ExecutionsRecord | None:
        """Return the record of executions; None if no backend was called."""
        found = self._found.values()
        if not found:
            return None
        executions = tuple(execution for counted in found for execution in counted.first)
        return ExecutionsRecord(executions=executions, totals=tuple(counted.total() for counted in found))

    def watched(
        self, compilation: str, function: Callable[..., Any], outputs: Sequence[GivenOutput]
    ) -> Callable[..., Any]:
        """The same function; what it returns is held against the graph's `outputs` while it is told in full."""
        if compilation not in self._found and len(self._found) >= MOST_COMPILATIONS:
            return function
        counted = self._found.setdefault(compilation, Counted(compilation))
        function = _compiled_by_now(function)

        def run(*given: Any, **named: Any) -> Any:
            call = CALL.index
            if call is not None:
                counted.calls += 1
                if len(counted.first) < MOST_EXECUTIONS:
                    return _told(counted, call, function, given, named, outputs)
            else:
                counted.measured += 1
            begun = time.perf_counter()
            try:
                return function(*given, **named)
            finally:
                counted.seconds += time.perf_counter() - begun

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


def _told(
    counted: Counted,
    call: int,
    function: Callable[..., Any],
    given: tuple[Any, ...],
    named: dict[str, Any],
    outputs: Sequence[GivenOutput],
) -> Any:
    inputs = words_of(given[0] if getattr(function, "_boxed_call", False) and given else given)

    def tell(told: tuple[str, ...], problem: str) -> None:
        counted.seconds += seconds
        number = len(counted.first)
        counted.first.append(Execution(counted.compilation, number, call, seconds, inputs, told, cut(problem)))

    begun = time.perf_counter()
    try:
        returned = function(*given, **named)
    except Exception as error:
        seconds = time.perf_counter() - begun
        tell((), f"raised {type(error).__name__}: {error}")
        raise
    seconds = time.perf_counter() - begun
    tell(words_of(returned), unlike(outputs, returned))
    return returned
