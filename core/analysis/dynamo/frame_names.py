"""What a compiled frame is called: by its class where that is known, or by what it resumes after a break.

Dynamo's own names do not say which model a `forward` or a decorator's `wrapper` is of, and a function that goes on
after a graph break is `torch_dynamo_resume_in_forward_at_31`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from core.analysis.work import frame_of
from core.report import Compilation, Frame, Report

RESUMES = "torch_dynamo_resume_in_"
RESUMED = re.compile(rf"^{RESUMES}(.+)_at_(\d{{1,9}})$")
TYPE = re.compile(r"type=<class '(?:[^']*\.)?([^'.]+)'>")
SELF = "L['self']"
# Names that many functions have.
COMMON = frozenset(
    {"forward", "wrapper", "wrapped", "inner", "helper", "__call__", "__init__", "fn", "_fn", "<lambda>"}
)
# How a module's `forward` is called, innermost last.
CALLS_FORWARD = ("_wrapped_call_impl", "_call_impl", "compile_wrapper")


@dataclass(frozen=True, slots=True)
class Function:
    """A function that Dynamo compiled, or that something goes on in: its name in its code, file, and first line."""

    name: str
    file: str
    line: int


def resumed(name: str) -> tuple[str, int | None]:
    """The function that a name of Dynamo's goes on in and after which line; any other name, and None."""
    match = RESUMED.match(name)
    return (match.group(1), int(match.group(2))) if match else (name, None)


class Functions:
    """Functions by their name and file, in the order of their lines."""

    def __init__(self, known: Iterable[Function]) -> None:
        self._known: dict[tuple[str, str], list[Function]] = {}
        for one in sorted(known, key=lambda function: function.line):
            self._known.setdefault((one.name, one.file), []).append(one)

    def at(self, frame: Frame) -> Function | None:
        """The function that a frame of a stack, or a resume function, is of: of its name the last that begins above."""
        name, _ = resumed(frame.name)
        of_it = self._known.get((name, frame.file), [])
        index = bisect_right(of_it, frame.line, key=lambda function: function.line)
        return of_it[index - 1] if index else None


def functions(report: Report) -> dict[str, Function]:
    """The function of each frame (`0` of `0/1`), which for a resume function is the one that it goes on in."""
    frames: dict[str, Frame] = {}
    for found in report.compilations:
        frames.setdefault(frame_of(found), found.frame)
    whole = Functions(Function(at.name, at.file, at.line) for at in frames.values() if resumed(at.name)[1] is None)
    return {frame: whole.at(at) or Function(resumed(at.name)[0], at.file, 0) for frame, at in frames.items()}


def frame_names(report: Report) -> dict[str, str]:
    """What each compilation is of: `LlamaForCausalLM.forward`, `forward at m.py:31`, `look, after line 20`."""
    of = functions(report)
    classes: dict[Function, str] = {}
    qualified: dict[Function, str] = {}
    for found in report.compilations:
        function = of[frame_of(found)]
        classes.setdefault(function, "")
        classes[function] = classes[function] or _class_of_self(found)
        if found.bytecode is not None and resumed(found.frame.name)[1] is None:
            qualified[function] = found.bytecode.qualname.replace(".<locals>", "")
    forward = {of[frame_of(found)] for found in report.compilations if _is_forward(found)}
    names = {
        function: _function_name(function, owner, qualified.get(function, ""), function in forward)
        for function, owner in classes.items()
    }
    return {found.id: names[of[frame_of(found)]] + _after(found.frame.name) for found in report.compilations}


def _after(name: str) -> str:
    line = resumed(name)[1]
    return "" if line is None else f", after line {line}"


def _function_name(function: Function, owner: str, qualified: str, forward: bool) -> str:
    if owner and forward:
        return f"{owner}.forward"
    if owner:
        said = function.name in COMMON - {"forward", "__call__", "__init__"}
        return f"{owner} ({function.name})" if said else f"{owner}.{function.name}"
    if "." in qualified:
        return qualified
    if function.name in COMMON and function.file:
        where = Frame(function.file, function.line).short
        return f"{function.name} at {where}" if function.line else f"{function.name} in {where.rpartition(':')[0]}"
    return function.name or "frame"


def _class_of_self(found: Compilation) -> str:
    """The class of the object whose method it is, as a guard or the module of some op tells it."""
    for guard in found.guards:
        match = TYPE.search(guard.expression) if guard.source == SELF else None
        if match:
            return match.group(1)
    modules = (module for stage in found.modules.values() for module in stage.values())
    return next((module.kind for module in modules if module.path == SELF), "")


def _is_forward(found: Compilation) -> bool:
    """Whether a module's call was about to call it."""
    callers = [frame.name for frame in found.stack[:-1]][-len(CALLS_FORWARD) :]
    while callers and callers[-1] == CALLS_FORWARD[-1]:
        callers.pop()
    return bool(callers) and callers[-1] in CALLS_FORWARD
