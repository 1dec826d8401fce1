"""Names of compiled frames: by class if known, or by the function and line they resume.

Dynamo's own names do not say which model a `forward` or a decorator's `wrapper` belongs to, and a resume function is
`torch_dynamo_resume_in_forward_at_31`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.analysis.work import frame_of
from core.report import Compilation, Frame, Report, stored

RESUMES = "torch_dynamo_resume_in_"
RESUMED = re.compile(rf"^{RESUMES}(.+)_at_(\d{{1,9}})$")
TYPE = re.compile(r"type=<class '(?:[^']*\.)?([^'.]+)'>")
SELF, WRAPPED = "L['self']", "L['fn']"
# File of torch's wrappers around callables; their frames are named after the wrapper.
WRAPPERS = "/_dynamo/external_utils.py"
# Names that many functions share.
COMMON = frozenset(
    {"forward", "wrapper", "wrapped", "inner", "helper", "__call__", "__init__", "fn", "_fn", "<lambda>"}
)
# Functions through which a module's `forward` is called, innermost last.
CALLS_FORWARD = ("_wrapped_call_impl", "_call_impl", "compile_wrapper")
# Files of torch, by a folder in their path.
TORCH = re.compile(r"(?:^|/)torch/")


@dataclass(frozen=True, slots=True)
class Function:
    """A function that Dynamo compiled or resumed: its code name, file, and first line."""

    name: str
    file: str
    line: int


def resumed(name: str) -> tuple[str, int | None]:
    """Return the function and line that a resume function resumes; the name itself and None for other names."""
    match = RESUMED.match(name)
    return (match.group(1), int(match.group(2))) if match else (name, None)


def is_wrapper(compilation: Compilation) -> bool:
    """Return True if the frame is torch's wrapper around a callable that Dynamo does not compile separately."""
    return compilation.frame.file.endswith(WRAPPERS)


def is_called_inside(compilation: Compilation) -> bool:
    """Return True if code of the model calls the frame, so that its inputs are not the inputs of a call."""
    if resumed(compilation.frame.name)[1] is not None:
        return True
    above = compilation.stack[:-1]
    entered = [place for place, frame in enumerate(above) if frame.name == CALLS_FORWARD[-1]]
    return any(not TORCH.search(frame.file) for frame in above[entered[-1] + 1 :]) if entered else False


class Functions:
    """Functions by name and file, in the order of their lines."""

    def __init__(self, members: Iterable[Function]) -> None:
        self._by_name: dict[tuple[str, str], list[Function]] = {}
        for function in sorted(members, key=lambda function: function.line):
            self._by_name.setdefault((function.name, function.file), []).append(function)

    def at(self, frame: Frame) -> Function | None:
        """Return the function of a stack frame or resume function: the last of this name that begins above the line."""
        name, _ = resumed(frame.name)
        of_it = self._by_name.get((name, frame.file), [])
        index = bisect_right(of_it, frame.line, key=lambda function: function.line)
        return of_it[index - 1] if index else None


def functions(compilations: Iterable[Compilation]) -> dict[str, Function]:
    """Return frame (`0` of `0/1`) → function; for a resume function, the function that it resumes."""
    frames: dict[str, Frame] = {}
    for compilation in compilations:
        frames.setdefault(frame_of(compilation), compilation.frame)
    direct = Functions(Function(at.name, at.file, at.line) for at in frames.values() if resumed(at.name)[1] is None)
    return {frame: direct.at(at) or Function(resumed(at.name)[0], at.file, 0) for frame, at in frames.items()}


@stored
def frame_names(report: Report) -> dict[str, str]:
    """Return compilation id → name: `LlamaForCausalLM.forward`, `forward at m.py:31`, `look, after line 20`."""
    return names_of(report.compilations)


def names_of(compilations: Sequence[Compilation]) -> dict[str, str]:
    """Return the names of some compilations alone."""
    of = functions(compilations)
    classes: dict[Function, str] = {}
    qualified: dict[Function, str] = {}
    for compilation in compilations:
        function = of[frame_of(compilation)]
        classes.setdefault(function, "")
        classes[function] = classes[function] or _class_of_self(compilation)
        if compilation.bytecode is not None and resumed(compilation.frame.name)[1] is None:
            qualified[function] = compilation.bytecode.qualname.replace(".<locals>", "")
    forward = {of[frame_of(compilation)] for compilation in compilations if _is_forward(compilation)}
    names = {
        function: _function_name(function, owner, qualified.get(function, ""), function in forward)
        for function, owner in classes.items()
    }
    wrapped = _wrapped_names(compilations)
    return {
        compilation.id: wrapped.get(frame_of(compilation))
        or names[of[frame_of(compilation)]] + _resume_suffix(compilation.frame.name)
        for compilation in compilations
    }


def _wrapped_names(compilations: Iterable[Compilation]) -> dict[str, str]:
    """Return frame → module that torch's wrapper calls in it, to name the frame after."""
    owners = (
        (frame_of(compilation), _class_of_self(compilation)) for compilation in compilations if is_wrapper(compilation)
    )
    return {frame: f"{owner}.forward" for frame, owner in owners if owner}


def _resume_suffix(name: str) -> str:
    line = resumed(name)[1]
    return "" if line is None else f", after line {line}"


def _function_name(function: Function, owner: str, qualified: str, forward: bool) -> str:
    if owner and forward:
        return f"{owner}.forward"
    if owner:
        common = function.name in COMMON - {"forward", "__call__", "__init__"}
        return f"{owner} ({function.name})" if common else f"{owner}.{function.name}"
    if "." in qualified:
        return qualified
    if function.name in COMMON and function.file:
        where = Frame(function.file, function.line).short
        return f"{function.name} at {where}" if function.line else f"{function.name} in {where.rpartition(':')[0]}"
    return function.name or "frame"


def _class_of_self(compilation: Compilation) -> str:
    """Return the class of `self` or of the wrapped object, from a guard or the module of an op."""
    owner = WRAPPED if is_wrapper(compilation) else SELF
    for guard in compilation.guards:
        match = TYPE.search(guard.expression) if guard.source == owner else None
        if match:
            return match.group(1)
    modules = (module for stage in compilation.modules.values() for module in stage.values())
    return next((module.kind for module in modules if module.path == owner), "")


def _is_forward(compilation: Compilation) -> bool:
    """Return True if the frame was called by `nn.Module.__call__`."""
    callers = [frame.name for frame in compilation.stack[:-1]][-len(CALLS_FORWARD) :]
    while callers and callers[-1] == CALLS_FORWARD[-1]:
        callers.pop()
    return bool(callers) and callers[-1] in CALLS_FORWARD
