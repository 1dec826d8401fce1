"""Graph breaks of logs without records of breaks, from restart reasons and resume functions.

torch before 2.6 writes no `dynamo_graph_break_reason`. A graph break still leaves two traces: the metrics of the
compilation have the reason for which Dynamo restarted, and the code after the break is compiled as a resume function,
which is named after the line of the break. Two breaks may leave the same traces, and a break in a loop leaves none, so
the number of these breaks is a lower bound.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.report import NO_REASON, Frame, GraphBreak, Place
from core.trace.parsers.draft import CompilationDraft

RESUMES = "torch_dynamo_resume_in_"
RESUME = re.compile(rf"^{RESUMES}(.+)_at_(\d{{1,9}})$")
# Without a reason torch logs the class of the exception; a graph break has a reason.
EXCEPTION = "<class '"
UNKNOWN = "Unknown fail_and_restart_analysis"
ADDRESS = re.compile(r"\b0x[0-9a-f]+\b")


@dataclass(slots=True)
class _Break:
    """A break of the compilation at position `at`, and the position of its resume function.

    `resumes_at` is None without a resume function. `stack` has the broken frames, outermost first; `hits` are the
    positions of the compilations with the break.
    """

    at: int
    reason: str
    stack: tuple[Frame, ...]
    hits: tuple[int, ...]
    resumes_at: int | None = None

    @property
    def function(self) -> tuple[str, str]:
        return self.stack[-1].file, self.stack[-1].name


def breaks_of_restarts(compilations: Sequence[CompilationDraft]) -> tuple[GraphBreak, ...]:
    """Return the graph breaks that restart reasons and resume functions prove, in log order.

    A break in an inlined function leaves its traces in the callers, too, and counts once.
    """
    parts = [_function_and_line(compilation.frame) for compilation in compilations]
    breaks = _of_reasons(compilations, parts)
    breaks += _of_resume_functions(parts, breaks)
    merged: dict[tuple[str, str, int, str], _Break] = {}
    for each in _innermost(sorted(breaks, key=lambda each: each.at)):
        line = each.stack[-1].line
        known = merged.setdefault((*each.function, line, "" if line else _plain(each.reason)), each)
        if known is not each:
            known.hits += each.hits
    return tuple(_graph_break(each, compilations) for each in merged.values())


def _function_and_line(frame: Frame) -> tuple[tuple[str, str], int]:
    """Return (file, function), and the line of the break before a resume function; 0 for another function."""
    match = RESUME.match(frame.name)
    return ((frame.file, match[1]), int(match[2])) if match else ((frame.file, frame.name), 0)


def _of_reasons(compilations: Sequence[CompilationDraft], parts: Sequence[tuple[tuple[str, str], int]]) -> list[_Break]:
    """Return a break for each compilation that restarted at one, with the line of its resume function."""
    breaks: list[_Break] = []
    resumed: set[int] = set()
    for at, compilation in enumerate(compilations):
        reason = _reason(compilation)
        if not reason:
            continue
        function = parts[at][0]
        resumes_at = _next_resume(at, compilations, parts, resumed)
        known = next((each for each in breaks if each.function == function and _same(each.reason, reason)), None)
        if resumes_at is None and known is not None:
            known.hits += (at,)
            continue
        line = 0 if resumes_at is None else parts[resumes_at][1]
        resumed.update(() if resumes_at is None else (resumes_at,))
        stack = (Frame(function[0], line, function[1]),)
        breaks.append(_Break(at, reason.replace(UNKNOWN, NO_REASON), stack, (at,), resumes_at))
    return breaks


def _reason(compilation: CompilationDraft) -> str:
    """Return the reason of the break at which a compilation restarted; empty without a break."""
    return next((reason for reason in compilation.restart_reasons if not reason.startswith(EXCEPTION)), "")


def _next_resume(
    at: int,
    compilations: Sequence[CompilationDraft],
    parts: Sequence[tuple[tuple[str, str], int]],
    resumed: set[int],
) -> int | None:
    """Return the position of a function's next resume function; None if a break comes first."""
    for later in range(at + 1, len(parts)):
        if parts[later][0] != parts[at][0]:
            continue
        if parts[later][1] and later not in resumed:
            return later
        if _reason(compilations[later]):
            return None
    return None


def _of_resume_functions(parts: Sequence[tuple[tuple[str, str], int]], breaks: Sequence[_Break]) -> Iterator[_Break]:
    """Yield a break for each resume function after none of `breaks`, as of an `if`."""
    known = {(each.function, each.stack[-1].line) for each in breaks}
    for resumes_at, (function, line) in enumerate(parts):
        if not line or (function, line) in known:
            continue
        known.add((function, line))
        before = [at for at in range(resumes_at) if parts[at][0] == function]
        at = before[-1] if before else resumes_at
        yield _Break(at, NO_REASON, (Frame(function[0], line, function[1]),), (at,), resumes_at)


def _innermost(breaks: Sequence[_Break]) -> list[_Break]:
    """Return the breaks, with each break of a caller joined with the break of the function that it called.

    A call that breaks in the callee is made between the caller's compilation and its resume function, and there the
    callee is compiled separately.
    """
    kept: list[_Break] = []
    joined: dict[int, _Break] = {}
    for number, each in reversed(list(enumerate(breaks))):
        inner = next((later for later in range(number + 1, len(breaks)) if _is_inside(breaks[later], each)), None)
        if inner is None:
            kept.insert(0, each)
            joined[number] = each
            continue
        joined[number] = callee = joined[inner]
        callee.hits = (*each.hits, *callee.hits)
        callee.stack = (*each.stack, *callee.stack)
    return kept


def _is_inside(inner: _Break, outer: _Break) -> bool:
    if inner.function == outer.function or inner.at <= outer.at:
        return False
    if outer.resumes_at is not None:
        return inner.at < outer.resumes_at
    return inner.at == outer.at + 1 or _same(inner.reason, outer.reason)


def _same(left: str, right: str) -> bool:
    return _plain(left) == _plain(right)


def _plain(reason: str) -> str:
    return ADDRESS.sub("", reason)


def _graph_break(each: _Break, compilations: Sequence[CompilationDraft]) -> GraphBreak:
    frame = each.stack[-1]
    return GraphBreak(
        reason=each.reason,
        explanation="",
        hints=(),
        context="",
        registry_id="",
        place=Place(frame.file, frame.line) if frame.line else Place("", 0),
        code="",
        stack=each.stack,
        compilations=tuple(compilations[at].id for at in each.hits),
    )
