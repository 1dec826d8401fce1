"""Assertions about a recording, whose failures have torch's reasons, the user's lines, and a link to the run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from core.base.files import one_line
from core.base.words import count, number
from core.report import Compilation, GraphBreak, Recompile, Report

MOST_CHARS = 400
MOST_LISTED = 20
NOTHING = "torch.compile compiled nothing, so there is nothing to check"
NO_PLAN = "the bytes of Inductor's buffers are unknown: it generated no code, or sizes are symbolic"


class Checks(ABC):
    """Assertions about the report of a recording; pytest shows the test's line, not theirs (`__tracebackhide__`)."""

    @property
    @abstractmethod
    def report(self) -> Report:
        """The report so far."""

    @property
    @abstractmethod
    def where(self) -> str:
        """Address of the run, or a command."""

    @property
    @abstractmethod
    def planned_bytes(self) -> int | None:
        """Most bytes of buffers in a generated code; None if unknown."""

    @property
    def recompiles(self) -> tuple[Recompile, ...]:
        """Compilations after a guard failure, each with torch's first reason: the newest code that did not fit."""
        first = {found.compilation: found for found in reversed(self.report.recompiles)}
        return tuple(reversed(first.values()))

    def assert_no_graph_breaks(self) -> None:
        """Raise AssertionError if Dynamo stopped, if a compilation failed, or if nothing was compiled."""
        __tracebackhide__ = True
        self._assert_compiled()
        stops = [_break_words(found) for found in self.report.graph_breaks]
        failures = [_failure_words(found) for found in self.report.compilations if found.status == "failed"]
        self._refuse("no graph break", count(len(stops), "graph break"), stops, bool(stops))
        self._refuse("no failed compilation", count(len(failures), "failure"), failures, bool(failures))

    def assert_recompiles(self, *, at_most: int) -> None:
        """Raise AssertionError for more compilations after a guard failure than this."""
        __tracebackhide__ = True
        compilations = {found.id: found for found in self.report.compilations}
        lines = [_recompile_words(found, compilations.get(found.compilation)) for found in self.recompiles]
        self._refuse(_expected(at_most, "recompile"), count(len(lines), "recompile"), lines, len(lines) > at_most)

    def assert_no_recompiles(self) -> None:
        """Raise AssertionError for a compilation after a guard failure."""
        __tracebackhide__ = True
        self.assert_recompiles(at_most=0)

    def assert_no_compilations(self) -> None:
        """Raise AssertionError if anything was compiled, for the first time or again."""
        __tracebackhide__ = True
        compilations = self.report.compilations
        lines = [f"[{found.id}] {found.frame}" for found in compilations]
        self._refuse("no compilation", count(len(lines), "compilation"), lines, bool(lines))

    def assert_kernels(self, *, at_most: int) -> None:
        """Raise AssertionError for more generated kernels than this; calls of libraries do not count."""
        __tracebackhide__ = True
        self._assert_compiled()
        kernels = [
            f"[{compilation.id}] {kernel.name}"
            for compilation in self.report.compilations
            for kernel in compilation.kernels
            if not kernel.extern
        ]
        self._refuse(_expected(at_most, "kernel"), count(len(kernels), "kernel"), kernels, len(kernels) > at_most)

    def assert_planned_bytes(self, *, at_most: int) -> None:
        """Raise AssertionError if a generated code has more bytes of buffers at a time than this.

        That is Inductor's plan, read from its code: no measurement, and without inputs, parameters and libraries' own
        workspaces.
        """
        __tracebackhide__ = True
        self._assert_compiled()
        planned = self.planned_bytes
        if planned is None:
            raise AssertionError(f"{NO_PLAN}\n{self._link()}")
        if planned > at_most:
            raise AssertionError(
                f"expected at most {number(at_most)} bytes of buffers, Inductor plans {number(planned)}\n{self._link()}"
            )

    def _assert_compiled(self) -> None:
        __tracebackhide__ = True
        if not self.report.compilations:
            raise AssertionError(f"{NOTHING}\n{self._link()}")

    def _refuse(self, expected: str, actual: str, lines: Sequence[str], fails: bool) -> None:
        __tracebackhide__ = True
        if fails:
            raise AssertionError("\n".join([f"expected {expected}, got {actual}:", *_listed(lines), self._link()]))

    def _link(self) -> str:
        return f"run: {self.where}"


def _expected(at_most: int, noun: str) -> str:
    return f"at most {count(at_most, noun)}" if at_most else f"no {noun}"


def _listed(lines: Sequence[str]) -> Iterable[str]:
    yield from (f"  {line}" for line in lines[:MOST_LISTED])
    if len(lines) > MOST_LISTED:
        yield f"  and {number(len(lines) - MOST_LISTED)} more"


def _short(text: str) -> str:
    return one_line(text, MOST_CHARS)


def _break_words(graph_break: GraphBreak) -> str:
    hint = f" Hint: {graph_break.hints[0]}" if graph_break.hints else ""
    return _short(f"{graph_break.place}: {graph_break.reason.rstrip('.')}.{hint}")


def _failure_words(failed: Compilation) -> str:
    return _short(f"{failed.error_place or failed.frame}: {failed.error_type}: {failed.error}")


def _recompile_words(recompile: Recompile, compilation: Compilation | None) -> str:
    place = f" {compilation.frame}" if compilation is not None else ""
    labels = ", ".join(compilation.user_contexts) if compilation is not None else ""
    line = f" ({recompile.location})" if recompile.location is not None else ""
    return _short(f"[{recompile.compilation}]{place}{f' at {labels}' if labels else ''}: {recompile.reason}{line}")
