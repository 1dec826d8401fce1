"""Costs of compiling: frames that there are only because of a graph break, traced functions, frames.

Without a break, its resume functions and the callees that it keeps from being inlined are part of the broken frame.
The ops of these frames stay, so the backend's time and the kernel launches are no cost of the break.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.analysis.durations import compilation_seconds
from core.analysis.dynamo.failures import frame_names, resumed, resumes
from core.analysis.work import dynamo_graphs, frame_of
from core.base.words import count, duration_s, number
from core.report import CacheEvent, Compilation, Frame, GraphBreak, Report, stored
from core.report.run import TracedFunction

# torch's frame around a call of compiled code. A frame below it would be inlined without a break.
INSIDE = "compile_wrapper"


@dataclass(frozen=True, slots=True)
class BreakCost:
    """A graph break with the frames that removing it saves: resume functions and callees.

    `compilations` are all compilations of these frames; a compilation counts for one break. `dynamo_s` is Dynamo's
    time in them. `graphs`, `launches` and `compile_s` describe the resume functions: the code after the break, which
    is also compiled without the break.
    """

    graph_break: GraphBreak
    compilations: tuple[Compilation, ...]
    dynamo_s: float
    graphs: int
    launches: int
    compile_s: float


def break_costs(report: Report) -> tuple[BreakCost, ...]:
    """Return the costs of all graph breaks, most expensive first.

    The order is by Dynamo's seconds, then by compilations, then as in the log.
    """
    causes, seconds = _causes(report), compilation_seconds(report)
    costs = []
    for index, graph_break in enumerate(report.graph_breaks):
        caused = tuple(each for each in report.compilations if causes.get(frame_of(each)) == index)
        after = [compilation for compilation in caused if _is_resume(compilation)]
        costs.append(
            BreakCost(
                graph_break,
                caused,
                dynamo_s=sum(seconds.get(compilation.id, {}).get("dynamo", 0.0) for compilation in caused),
                graphs=sum(len(dynamo_graphs(compilation)) for compilation in after),
                launches=sum(len(kernel.calls) for compilation in after for kernel in compilation.kernels),
                compile_s=sum(sum(seconds.get(compilation.id, {}).values()) for compilation in after),
            )
        )
    return tuple(sorted(costs, key=lambda cost: (-cost.dynamo_s, -len(cost.compilations))))


def cost_words(costs: Sequence[BreakCost]) -> str:
    """Return the cost of breaks: "3 more frames (2 resume functions), 24 guards, 106 ms in Dynamo".

    Empty if no frame was compiled because of them.
    """
    compiled = [each for cost in costs for each in cost.compilations if each.status != "failed"]
    guards, dynamo_s = sum(len(each.guards) for each in compiled), sum(cost.dynamo_s for cost in costs)
    parts = [
        _frame_words(compiled) if compiled else "",
        count(guards, "guard") if guards else "",
        f"{duration_s(dynamo_s)} in Dynamo" if dynamo_s else "",
    ]
    return ", ".join(filter(None, parts))


def _frame_words(compiled: Sequence[Compilation]) -> str:
    frames = {frame_of(compilation) for compilation in compiled}
    resuming = {frame_of(compilation) for compilation in compiled if _is_resume(compilation)}
    times = f" compiled {number(len(compiled))} times" if len(compiled) > len(frames) else ""
    kind = f" ({count(len(resuming), 'resume function')})" if resuming else ""
    return f"{count(len(frames), 'more frame', 'more frames')}{kind}{times}"


def code_words(costs: Sequence[BreakCost]) -> str:
    """Return the code after breaks: "2 graphs, 5 kernel launches, 1.34 s of compile time"; may be empty."""
    graphs, launches = sum(cost.graphs for cost in costs), sum(cost.launches for cost in costs)
    compile_s = sum(cost.compile_s for cost in costs)
    parts = [
        count(graphs, "graph"),
        count(launches, "kernel launch", "kernel launches") if launches else "",
        f"{duration_s(compile_s)} of compile time" if compile_s else "",
    ]
    return ", ".join(filter(None, parts)) if graphs else ""


def _causes(report: Report) -> dict[str, int]:
    """Return frame → index of the first graph break that explains why it is a frame."""
    causes: dict[str, int] = {}
    for index, graph_break in enumerate(report.graph_breaks):
        for frame in _frames_of(graph_break, report):
            causes.setdefault(frame, index)
    hits = _hits(report)
    before: list[tuple[Compilation, int]] = []
    seen: set[str] = set()
    for compilation in report.compilations:
        frame = frame_of(compilation)
        cause = _last_cause(compilation, before) if frame not in causes and frame not in seen else None
        if cause is not None:
            causes[frame] = cause
        seen.add(frame)
        before += ((compilation, index) for index in hits.get(compilation.id, ()))
    return causes


def _frames_of(graph_break: GraphBreak, report: Report) -> set[str]:
    """Return the frames that a break made: its resume functions, and the callees that hit it, too.

    The first frame of a call that hit the break was compiled anyway.
    """
    hits = [found for name in dict.fromkeys(graph_break.compilations) if (found := report.compilation(name))]
    names = resumes(graph_break).union(*(hit.bytecode.resumes.values() for hit in hits if hit.bytecode))
    resume_frames = {
        frame_of(compilation)
        for compilation in report.compilations
        if compilation.frame.name in names and _is_resume(compilation)
    }
    first_of_call = {_call(hit): frame_of(hit) for hit in reversed(hits)}
    return resume_frames | {frame_of(hit) for hit in hits} - set(first_of_call.values())


def _is_resume(compilation: Compilation) -> bool:
    return resumed(compilation.frame.name)[1] is not None


def _hits(report: Report) -> dict[str, list[int]]:
    """Return compilation → indices of the breaks that it hit."""
    breaks: dict[str, list[int]] = {}
    for index, graph_break in enumerate(report.graph_breaks):
        for compilation_id in dict.fromkeys(graph_break.compilations):
            breaks.setdefault(compilation_id, []).append(index)
    return breaks


def _last_cause(compilation: Compilation, hits: Sequence[tuple[Compilation, int]]) -> int | None:
    """Return the index of the last hit break that explains a frame; None if none does.

    A break explains a resume function of the function that hit it, and a frame below that function. torch omits the
    immediate caller from a stack: a frame within a call of compiled code is explained by the last break of this call.
    """
    above = {_function(frame) for frame in compilation.stack[:-1]}
    functions = {_function(compilation.frame)} if _is_resume(compilation) else above
    same_call = [(hit, index) for hit, index in hits if _call(hit) == _call(compilation)]
    explained = [index for hit, index in same_call if _function(hit.frame) in functions]
    if not explained and any(frame.name == INSIDE for frame in compilation.stack[:-1]):
        explained = [index for _, index in same_call]
    return explained[-1] if explained else None


def _call(compilation: Compilation) -> tuple[str, int | None]:
    """Return the call that compiled, by the prefix of ids after a reset and the call's index, if recorded."""
    return compilation.id.rpartition(":")[0], compilation.call


def _function(frame: Frame) -> tuple[str, str]:
    """Return name and file of the function that a frame executes or resumes."""
    return resumed(frame.name)[0], frame.file


# A file of a library, of Python, or without source.
LIBRARY = re.compile(r"[/\\](?:site|dist)-packages[/\\]|[/\\]lib[/\\]python3\.\d+[/\\]|^<")


@dataclass(frozen=True, slots=True)
class TracedTotal:
    """Seconds that Dynamo traced a function of the user in all compilations, with its calls.

    `own_s` includes functions of libraries that it calls, `total_s` also other functions of the user.
    """

    name: str
    file: str
    line: int
    calls: int
    own_s: float
    total_s: float


@stored
def traced_totals(report: Report) -> tuple[TracedTotal, ...]:
    """Return the user's functions in Dynamo's profiles, most own seconds first; empty without a profile."""
    totals: dict[tuple[str, str, int], list[float]] = {}
    for compilation in report.compilations:
        functions = compilation.traced.functions if compilation.traced else ()
        places = [(function.name, function.file, function.line) for function in functions]
        for index, function in enumerate(functions):
            above = list(_callers(functions, index))
            is_library = LIBRARY.search(function.file)
            owner = next((at for at in (index, *above) if not LIBRARY.search(functions[at].file)), index)
            total = totals.setdefault(places[owner], [0, 0.0, 0.0])
            total[1] += function.self_s
            if not is_library:
                total[0] += function.calls
                # A recursive call is within the seconds of the outer call.
                total[2] += function.total_s if places[index] not in {places[at] for at in above} else 0.0
    ranked = sorted(totals.items(), key=lambda entry: -entry[1][1])
    return tuple(TracedTotal(*place, int(calls), own_s, total_s) for place, (calls, own_s, total_s) in ranked)


def _callers(functions: Sequence[TracedFunction], index: int) -> Iterator[int]:
    parent = functions[index].parent
    # A caller comes before the functions that it calls; a log may say otherwise.
    while parent is not None and 0 <= parent < index:
        yield parent
        index, parent = parent, functions[parent].parent


@dataclass(frozen=True, slots=True)
class FrameStart:
    """Seconds of a compilation by phase class, and the outcomes of its cache lookups by cache.

    `reasons` are torch's reasons for bypasses.
    """

    compilation: str
    function: str
    phases_s: dict[str, float]
    outcomes: dict[str, str]
    reasons: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """Seconds of all phases."""
        return sum(self.phases_s.values())


def frame_starts(report: Report) -> tuple[FrameStart, ...]:
    """Return the compilations of a process that took time, longest first."""
    events: dict[str, list[CacheEvent]] = defaultdict(list)
    for event in report.caches:
        events[event.compilation].append(event)
    names = frame_names(report)
    frames = [
        FrameStart(
            compilation,
            names.get(compilation, ""),
            phases_s,
            {event.cache: event.outcome for event in events[compilation]},
            tuple(dict.fromkeys(event.reason for event in events[compilation] if event.outcome == "bypass")),
        )
        for compilation, phases_s in compilation_seconds(report).items()
    ]
    return tuple(sorted(frames, key=lambda frame: -frame.seconds))
