"""Failed compilations and their phase, frames left to eager, and readable frame names.

Dynamo's own names do not say which model a `forward` or a decorator's `wrapper` belongs to. A resume function is named
`torch_dynamo_resume_in_forward_at_31`.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from core.analysis.work import frame_of
from core.base.words import agree, count
from core.report import Compilation, Frame, GraphBreak, Place, Report, RunError, frame_id, stored


def resumes(graph_break: GraphBreak) -> set[str]:
    """Return Dynamo's names of the resume functions after a break, for the broken frame and its callers."""
    places = ((resumed(frame.name)[0], frame.line) for frame in graph_break.stack)
    return {f"{RESUMES}{name}_at_{line}" for name, line in places}


FailureKind = Literal["failed", "over the limit", "given up"]
# Exceptions by which Dynamo skips a frame, by torch's class name; any other exception is an error.
GIVES_UP = frozenset({"Unsupported", "RecompileLimitExceeded", "CacheLimitExceeded"})
LIMIT = re.compile(r"\b((?:accumulated_)?(?:recompile|cache_size)_limit)\b")
LIMIT_VALUE = re.compile(r"(?:set to |limit \()(\d{1,9})")
# Noun counted for each kind, and the verb for one and for several.
WORDS: dict[FailureKind, tuple[str, str, str]] = {
    "failed": ("compilation", "failed", "failed"),
    "over the limit": ("frame", "is over the recompile limit", "are over the recompile limit"),
    "given up": ("frame", "runs eagerly", "run eagerly"),
}
MAX_REASON_CHARS = 200  #: the reason of a failure in a sentence


@dataclass(frozen=True, slots=True)
class Failure:
    """A compilation without compiled code: kind of failure, torch's reason, and the user's line.

    `reason` is one line. The file of `place` is empty if torch does not name it.
    """

    compilation: str
    frame: str
    kind: FailureKind
    reason: str
    place: Place

    @property
    def at_break(self) -> bool:
        """True if torch raised an error at a graph break, as with `fullgraph=True`."""
        return self.kind == "failed" and self.reason.startswith("Unsupported:")

    @property
    def consequence(self) -> str:
        """Consequence of the failure for the calls, in words."""
        if self.kind == "failed":
            return "nothing was compiled"
        if self.kind == "given up":
            return "this frame runs eagerly, and more graph breaks may follow in it"
        return "from then on, calls that fit no compiled code of this frame run eagerly"


def failures(report: Report) -> tuple[Failure, ...]:
    """Return all failures of a report, the most severe kind first."""
    broken = {compilation_id for graph_break in report.graph_breaks for compilation_id in graph_break.compilations}
    failed = [compilation for compilation in report.compilations if compilation.status == "failed"]
    all_failures = [
        _failure(compilation, compilation.id in broken, _own_line(report, compilation)) for compilation in failed
    ]
    all_failures += _eager_calls(report)
    return tuple(sorted(all_failures, key=lambda failure: list(WORDS).index(failure.kind)))


def _failure(compilation: Compilation, broken: bool, at: Frame | None) -> Failure:
    """Return the failure of a compilation, at a line of the user's code if one is known."""
    limit = LIMIT.search(compilation.error)
    gave_up = compilation.error_type in GIVES_UP and bool(broken or limit)
    kind: FailureKind = "failed" if not gave_up else "over the limit" if limit else "given up"
    first = _first_line(compilation.error)
    reason = f"{compilation.error_type}: {first}" if kind == "failed" else first
    if limit and kind == "over the limit":
        value = LIMIT_VALUE.search(compilation.error)
        reason = f"torch._dynamo hit config.{limit.group(1)}" + (f" ({value.group(1)})" if value else "")
    where = at or compilation.error_place or compilation.frame
    place = Place(where.file, where.line)
    return Failure(compilation.id, compilation.frame.name, kind, reason[:MAX_REASON_CHARS], place)


def _own_line(report: Report, compilation: Compilation) -> Frame | None:
    """Return the user's line of a compilation's error that ended a run; None if torch names it."""
    error, place = report.error, compilation.error_place
    if error is None or not error.frames or error.type != compilation.error_type:
        return None
    return None if place is not None and place.file == error.frames[-1].file else error.frames[-1]


Phase = Literal["", "eager", "capture", "AOTAutograd", "Inductor", "generated code", "run time"]
# Errors of backends, and of what they call.
OF_BACKENDS = frozenset({"BackendCompilerFailed", "InductorError", "LoweringException"})
# Errors of the compilers of generated code: C++, Triton, ptxas.
OF_COMPILER = re.compile(r"\b(?:CppCompileError|CUDACompileError|CompilationError|PTXASError)\b")
RAISED_BY = re.compile(r"backend='(inductor|aot_[a-z_]+)' raised")
EAGER_CALL, COMPILED_CALL = re.compile(r"^call \d+: eager$"), re.compile(r"^call \d+: compiled$")


def is_of_dynamo(compilation: Compilation) -> bool:
    """Return True if Dynamo failed before it called a backend."""
    called = compilation.invocations or any(graph.stage != "dynamo_output_graph" for graph in compilation.graphs)
    raised = compilation.error_type in OF_BACKENDS or compilation.error.startswith("backend=")
    return compilation.status == "failed" and not called and not raised


def phase_of(compilation: Compilation) -> Phase:
    """Return the phase in which a compilation failed; empty if it did not fail, or in another backend."""
    if compilation.status != "failed" or is_of_dynamo(compilation):
        return "capture" if compilation.status == "failed" else ""
    if OF_COMPILER.search(compilation.error):
        return "generated code"
    if compilation.error_type in ("InductorError", "LoweringException"):
        return "Inductor"
    raised = RAISED_BY.match(compilation.error)
    if not raised:
        return ""
    if raised[1] != "inductor":
        return "AOTAutograd"
    stages = {graph.stage for graph in compilation.graphs}
    # Inductor's passes on Dynamo's graph come before AOTAutograd.
    is_in_pass = "before_pre_grad_graph" in stages and "after_pre_grad_graph" not in stages
    return "Inductor" if is_in_pass or not all(graph.early for graph in compilation.graphs) else "AOTAutograd"


def failed_phase(report: Report) -> Phase:
    """Return the phase of the error that ended a run; empty if there is none, or if it is unknown."""
    error = report.error
    if error is None:
        return ""
    if EAGER_CALL.match(error.stage):
        return "eager"
    failed = [each for each in report.compilations if each.status == "failed" and _is_same(each, error)]
    if failed:
        return phase_of(failed[-1])
    return "run time" if report.compilations and COMPILED_CALL.match(error.stage) else ""


def _is_same(compilation: Compilation, error: RunError) -> bool:
    """Return True if a compilation's error ended the run, perhaps wrapped by torch."""
    wrapped = error.type == "InternalTorchDynamoError" and error.message.startswith(compilation.error_type)
    return compilation.error_type == error.type or wrapped


def _eager_calls(report: Report) -> list[Failure]:
    """Return the failures of inlined functions that run eagerly because of a graph break.

    The compiled frame has no ops. Dynamo compiles neither the function, such as the `forward` of `nn.Sequential`,
    nor a resume function.
    """
    compiled = {(compilation.frame.file, compilation.frame.name) for compilation in report.compilations}
    empty = {compilation.id: compilation for compilation in report.compilations if compilation.status == "empty"}
    names = {compilation.frame.name for compilation in report.compilations}
    return [
        Failure(
            compilation_id,
            graph_break.stack[-1].name,
            "given up",
            _first_line(graph_break.reason)[:MAX_REASON_CHARS],
            graph_break.place,
        )
        for graph_break in report.graph_breaks
        for compilation_id in graph_break.compilations
        if compilation_id in empty
        and graph_break.stack
        and (graph_break.stack[-1].file, graph_break.stack[-1].name) not in compiled
        and not names.intersection(resumes(graph_break))
    ]


def _first_line(text: str) -> str:
    """Return the first line with text, joined with the next line if it ends in a colon."""
    joined = ""
    for line in filter(None, map(str.strip, text.split("\n"))):
        joined = f"{joined} {line}".strip()
        if not joined.endswith(":"):
            break
    return joined


def failure_counts(all_failures: Sequence[Failure]) -> dict[FailureKind, str]:
    """Return kind → number of failures in words: compilations for `failed`, frames for other kinds."""
    counts: dict[FailureKind, str] = {}
    for kind, (noun, singular, plural) in WORDS.items():
        members = {
            failure.compilation if kind == "failed" else frame_id(failure.compilation)
            for failure in all_failures
            if failure.kind == kind
        }
        if members:
            counts[kind] = f"{count(len(members), noun)} {agree(len(members), singular, plural)}"
    return counts


def failure_sentence(all_failures: Sequence[Failure]) -> str:
    """Return the counts, and the first error with its reason and line; empty without failures."""
    counts = failure_counts(all_failures)
    if "failed" in counts:
        first = all_failures[0]
        counts["failed"] += f" ({first.reason.rstrip('.')}{f', at {first.place.short}' if first.place.file else ''})"
    return ", ".join(counts.values())


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
    """Return function and line of a resume function's name; the name itself and None for other names."""
    match = RESUMED.match(name)
    return (match.group(1), int(match.group(2))) if match else (name, None)


def is_wrapper(compilation: Compilation) -> bool:
    """Return True if the frame is torch's wrapper around a callable, which is not compiled separately."""
    return compilation.frame.file.endswith(WRAPPERS)


def is_called_inside(compilation: Compilation) -> bool:
    """Return True for a resume function, or if the model calls the frame with inputs of its own."""
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
        """Return the last function of a frame's name that begins at or above its line; None if unknown."""
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
    """Return compilation id → name, such as `LlamaForCausalLM.forward` or `look, after line 20`."""
    return names_of(report.compilations)


def names_of(compilations: Sequence[Compilation]) -> dict[str, str]:
    """Return compilation id → name for these compilations, as in `frame_names`."""
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
    """Return frame → `Linear.forward`, for frames of torch's wrapper around a module of that class."""
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
    """Return the class of `self`, or of what it wraps, by a guard or an op's module."""
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
