"""Compile time by torch's phases, each instant counted once, and the device's idle time by cause."""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Literal

from core.analysis.interval import Interval
from core.report import Compilation, Phase, Report, stored
from core.report.run import DEVICE_KINDS, PREPARING, Profile, ProfileSlice

CLASSES = (
    ("compile", ("compile_file", "async_compile", "triton", "load_by_key_path", "PyCodeCache", "precompile")),
    ("codegen", ("code_gen", "GraphLowering.codegen", "GraphLowering.compile_to", "Scheduler", "PythonWrapperCodegen")),
    ("inductor", ("inductor", "fx_codegen", "compile_fx", "GraphLowering", "pass.", "_recursive_", "pad_mm", "joint_",
                  "post_grad", "pre_grad")),
    ("aot_autograd", ("create_aot", "aot_", "aot", "AOT", "backward_state", "min_cut", "partition")),
    ("dynamo", ("dynamo", "entire_frame", "compile_attempt", "bytecode", "build_guards", "backend_compile",
                "entire_backward", "fullgraph_capture", "symbolic", "pgo", "get_user")),
)  # fmt: skip

# Phase class in a sentence.
CLASS_WORDS = {
    "compile": "kernel compilation",
    "codegen": "code generation",
    "inductor": "Inductor's passes and lowering",
    "aot_autograd": "AOTAutograd",
    "dynamo": "Dynamo tracing",
    "other": "work outside of torch's phases",
}
# Phase around the build of an AOTInductor package.
AHEAD_OF_TIME = "compile_fx_aot"


@dataclass(frozen=True, slots=True)
class PhaseTotal:
    """Sum over the spans of one phase name: count and seconds.

    `total_s` is the time in which at least one span was open, `self_s` the time of this phase alone. `threads` is
    the maximum number of parallel threads, 1 without parallelism. `threads_s` is the sum of the seconds of all
    threads.
    """

    name: str
    count: int
    total_s: float
    self_s: float
    threads: int
    threads_s: float


def phase_class(name: str) -> str:
    """Return the class of a phase: dynamo, aot_autograd, inductor, codegen, compile, or other."""
    return next((kind for kind, prefixes in CLASSES if name.startswith(prefixes)), "other")


def phase_totals(report: Report, compilation: str = "") -> tuple[PhaseTotal, ...]:
    """Return sums by phase name, longest self time first; unfinished spans are left out.

    The sums are of one compilation, or of all if `compilation` is empty.
    """
    return _totals(report, report.phases_of(compilation)) if compilation else _all_totals(report)


@stored
def _all_totals(report: Report) -> tuple[PhaseTotal, ...]:
    return _totals(report, enumerate(report.phases))


def _totals(report: Report, phases: Iterable[tuple[int, Phase]]) -> tuple[PhaseTotal, ...]:
    self_s = self_seconds(report)
    members: dict[str, list[tuple[int, Phase]]] = {}
    for index, phase in phases:
        if phase.duration_s is not None:
            members.setdefault(phase.name, []).append((index, phase))
    totals = (
        _total(name, [phase for _, phase in spans], sum(self_s[index] for index, _ in spans))
        for name, spans in members.items()
    )
    return tuple(sorted(totals, key=lambda total: -total.self_s))


def _total(name: str, spans: list[Phase], self_s: float) -> PhaseTotal:
    stretches = [
        (seconds, len({spans[i].thread for i in open_spans})) for seconds, open_spans in _open_intervals(spans)
    ]
    return PhaseTotal(
        name,
        len(spans),
        sum(seconds for seconds, _ in stretches),
        self_s,
        max((threads for _, threads in stretches), default=1),
        sum(seconds * threads for seconds, threads in stretches),
    )


@stored
def compile_seconds(report: Report) -> dict[str, float]:
    """Return compile time by compilation, as the glossary defines it; empty without phases."""
    seconds_of: dict[str, float] = {}
    for phase, seconds in zip(report.phases, self_seconds(report), strict=True):
        seconds_of[phase.compilation] = seconds_of.get(phase.compilation, 0.0) + seconds
    return seconds_of


def compile_time_s(report: Report) -> float:
    """Return the compile time of all compilations together."""
    return sum(compile_seconds(report).values())


@stored
def class_seconds(report: Report) -> dict[str, float]:
    """Return compile time by phase class; the sum is `compile_time_s`."""
    seconds_of: dict[str, float] = {}
    for _, kind, seconds in _class_intervals(report.phases):
        seconds_of[kind] = seconds_of.get(kind, 0.0) + seconds
    return seconds_of


@stored
def compilation_seconds(report: Report) -> dict[str, dict[str, float]]:
    """Return compilation → compile time by phase class; the sum is `compile_time_s`."""
    seconds_of: dict[str, dict[str, float]] = {}
    for compilation, kind, seconds in _class_intervals(report.phases):
        of_compilation = seconds_of.setdefault(compilation, {})
        of_compilation[kind] = of_compilation.get(kind, 0.0) + seconds
    return seconds_of


def _class_intervals(phases: Sequence[Phase]) -> Iterator[tuple[str, str, float]]:
    """Yield compilation, phase class and seconds; each instant counts once.

    A phase without a class counts for the nearest enclosing span with a class, otherwise for Dynamo.
    """
    kinds = [phase_class(phase.name) for phase in phases]
    for seconds, open_spans in _open_intervals(phases):
        owner = _owner(phases, open_spans)
        inward = (kinds[owner], *(kinds[index] for index in reversed(open_spans)))
        yield phases[owner].compilation, next((kind for kind in inward if kind != "other"), "dynamo"), seconds


# Path of a layer in a list of layers, or the beginning of a path inside the layer.
INDEXED, DIGITS = re.compile(r"(?:\.\d+|\['\d+'\])(?=\.|\[|$)"), re.compile(r"_?\d+")
# Class of phases → part of its seconds per node of an equal layer that regions save: least, middle and most. Kernels of
# equal layers are one file already, and more in models that lose fusions; Dynamo also looks up each layer.
SAVED = {"dynamo": (-0.5, 0.0, 0.4), "compile": (-0.3, 0.1, 0.2)}
SAVED_FORWARD, SAVED_TRAINING = (0.6, 0.77, 0.9), (0.2, 0.38, 0.6)


@dataclass(frozen=True, slots=True)
class EqualLayers:
    """Layers of a list that have the same ops: path and class of the first one, and their number.

    The class is empty if no op is the layer's own. `ops` counts those of a layer, and `repeated` is the part of the
    graph in all layers but one.
    """

    path: str
    kind: str
    number: int
    ops: int
    repeated: float


def equal_layers(compilation: Compilation) -> tuple[EqualLayers, ...]:
    """Return the outermost equal layers of a compilation, from the names of its nodes and their modules."""
    nodes = next(iter(compilation.modules.values()), {})
    ops: dict[str, Counter[str]] = defaultdict(Counter)
    for name, module in nodes.items():
        for match in INDEXED.finditer(module.path):
            ops[module.path[: match.end()]][DIGITS.sub("", name)] += 1
    groups: dict[tuple[str, frozenset[tuple[str, int]]], list[str]] = defaultdict(list)
    for path in sorted(ops, key=len):
        *_, last = INDEXED.finditer(path)
        groups[path[: last.start()], frozenset(ops[path].items())].append(path)
    kinds, found = {module.path: module.kind for module in nodes.values()}, []
    inside: list[str] = []
    for (_, counted), paths in groups.items():
        if len(paths) > 1 and not any(paths[0].startswith(outer) for outer in inside):
            inside += [f"{path}{mark}" for path in paths for mark in (".", "[")]
            of_one = sum(count for _, count in counted)
            repeated = of_one * (len(paths) - 1) / len(nodes)
            found.append(EqualLayers(paths[0], kinds.get(paths[0], ""), len(paths), of_one, repeated))
    return tuple(found)


def seconds_with_regions(report: Report) -> Interval | None:
    """Estimate the compile time if each region of equal layers is compiled once; None without such layers.

    Phases of AOTAutograd, of Inductor and of code generation shrink with their nodes. Training saves less, since its
    forward graph returns what each layer saves.
    """
    seconds, least_s, middle_s, most_s = compilation_seconds(report), 0.0, 0.0, 0.0
    for compilation in report.compilations:
        trains = any(graph.direction == "backward" for graph in compilation.graphs)
        repeated = sum(layers.repeated for layers in equal_layers(compilation))
        for kind, took_s in seconds.get(compilation.id, {}).items() if repeated else ():
            saved = SAVED.get(kind, SAVED_TRAINING if trains else SAVED_FORWARD)
            least_s, middle_s, most_s = (
                sum_s + took_s * repeated * part for sum_s, part in zip((least_s, middle_s, most_s), saved, strict=True)
            )
    whole_s = compile_time_s(report)
    return Interval(whole_s - most_s, whole_s - middle_s, whole_s - least_s) if most_s else None


@dataclass(frozen=True, slots=True)
class CacheTotal:
    """Lookups of one of torch's caches in a process; a number is None if torch does not say it.

    `is_counted` is True if torch would count a lookup: without numbers, there was none.
    """

    cache: Literal["dynamo", "aotautograd", "fx_graph", "triton", "autotuning", "pgo", "c++"]
    hits: int | None = None
    misses: int | None = None
    bypasses: int | None = None
    is_counted: bool = False

    @property
    def is_recorded(self) -> bool:
        """True if torch says any of the numbers."""
        return (self.hits, self.misses, self.bypasses) != (None, None, None)


def cache_totals(report: Report) -> tuple[CacheTotal, ...]:
    """Return the lookups of each of torch's caches, from torch's counters, phases and events."""
    counters = report.counters.dynamo if report.counters else {}
    inductor, of_dynamo = counters.get("inductor", {}), counters.get("dynamo_cache", {})
    phases = Counter(phase.name for phase in report.phases)
    tunings = Counter(
        kernel.tuning.cache
        for compilation in report.compilations
        for kernel in compilation.kernels
        if kernel.tuning is not None
    )
    loaded, built = inductor.get("triton_bundler_read_and_emit_kernel"), inductor.get("async_compile_cache_miss")
    return (
        CacheTotal("dynamo", of_dynamo.get("dynamo_cache_hit", 0), of_dynamo.get("dynamo_cache_miss", 0))
        if of_dynamo
        else CacheTotal("dynamo", is_counted=bool(counters)),
        _event_total(report, "aotautograd"),
        _event_total(report, "fx_graph"),
        CacheTotal("c++", None, phases["compile_file"] or None),
        CacheTotal("triton", loaded, built, is_counted=bool(counters)),
        CacheTotal("autotuning", tunings["hit"], sum(tunings.values()) - tunings["hit"])
        if tunings
        else CacheTotal("autotuning", is_counted=bool(counters)),
        CacheTotal("pgo", phases["pgo.get_local_code_state"] or None),
    )


def _event_total(report: Report, cache: Literal["aotautograd", "fx_graph"]) -> CacheTotal:
    outcomes = Counter(event.outcome for event in report.caches if event.cache == cache)
    is_off = outcomes.keys() <= {"disabled"}
    if is_off:
        return CacheTotal(cache, is_counted=bool(outcomes))
    return CacheTotal(cache, outcomes["hit"], outcomes["miss"], outcomes["bypass"])


def parallel_totals(totals: Sequence[PhaseTotal]) -> tuple[PhaseTotal, ...]:
    """Return the phases that ran in parallel threads, most thread seconds first."""
    return tuple(sorted((total for total in totals if total.threads > 1), key=lambda total: -total.threads_s))


@stored
def self_seconds(report: Report) -> tuple[float, ...]:
    """Return the self time of each span.

    While threads run in parallel, the latest open span of a thread counts, otherwise the innermost open span.
    """
    phases = report.phases
    self_s = [0.0] * len(phases)
    for seconds, open_spans in _open_intervals(phases):
        self_s[_owner(phases, open_spans)] += seconds
    return tuple(self_s)


def _owner(phases: Sequence[Phase], open_spans: tuple[int, ...]) -> int:
    """Return the index of the span that an instant counts for: the latest parallel or the innermost."""
    return next((index for index in reversed(open_spans) if phases[index].thread), open_spans[-1])


def _open_intervals(phases: Sequence[Phase]) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Yield the seconds between neighbouring starts and ends, with the open spans' indices in start order."""
    edges: list[tuple[float, bool, int]] = []
    for index, phase in enumerate(phases):
        if phase.end_us is not None and phase.end_us > phase.start_us:
            edges += [(phase.start_us, True, index), (phase.end_us, False, index)]
    open_spans: list[int] = []
    before_us = 0.0
    for at_us, begins, index in sorted(edges):
        if open_spans and at_us > before_us:
            yield (at_us - before_us) / 1e6, tuple(open_spans)
        before_us = at_us
        if begins:
            open_spans.append(index)
        else:
            open_spans.remove(index)


# What the host did while the device was idle.
Cause = Literal["compile", "autotuning", "guards", "launch", "wait", "profiler", "preparing", "wrapper", "op", "host"]
CALL = re.compile(r"## Call CompiledFxGraph (\S+) ##")
REGION = re.compile(r"Torch-Compiled Region: (\S+)")
# Torch's own names for the phases of compiling.
COMPILES = re.compile(r"\(dynamo_timed\)$|_data: .*compile_id=|_compile\.compile_inner")
TUNES = "CachingAutotuner.benchmark"
GUARDS = "TorchDynamo Cache Lookup"
# Calls of the driver that wait for the device, and those that start work on it.
WAITS = re.compile(r"Synchronize|(?:Event|Stream)Query", re.IGNORECASE)
LAUNCHES = re.compile(r"Launch|Memcpy|Memset", re.IGNORECASE)
LEAST_GAP_US = 1.0
CAUSES: tuple[Cause, ...] = (
    "autotuning",
    "compile",
    "guards",
    "wait",
    "launch",
    "profiler",
    "preparing",
    "wrapper",
    "op",
)
Span = tuple[float, float]


class HostTree:
    """The host's slices as one tree per thread, and the launch of each device slice."""

    def __init__(self, profile: Profile) -> None:
        self.slices = profile.slices
        self.parents: list[int] = [-1] * len(self.slices)
        self.depths: list[int] = [0] * len(self.slices)
        self._launches: dict[int, int] = {}
        self._ops: dict[int, int] = {}
        stacks: dict[int, list[int]] = defaultdict(list)
        for index, piece in enumerate(self.slices):
            stack = stacks[piece.track]
            while stack and self.slices[stack[-1]].end_us < piece.end_us:
                stack.pop()
            self.parents[index], self.depths[index] = (stack[-1] if stack else -1), len(stack)
            stack.append(index)
            if piece.kind == "launch" and piece.correlation:
                self._launches.setdefault(piece.correlation, index)
            elif piece.kind == "op" and piece.external:
                self._ops.setdefault(piece.external, index)

    def launch_of(self, piece: ProfileSlice) -> int:
        """Return the index of the slice that launched a device slice, otherwise of its op; −1 without both."""
        launch = self._launches.get(piece.correlation, -1) if piece.correlation else -1
        return launch if launch >= 0 else self._ops.get(piece.external, -1)

    def thread_of(self, piece: ProfileSlice) -> int:
        """Return the track of a host slice, or of the thread that launched a device slice; −1 if unknown."""
        if piece.kind not in DEVICE_KINDS:
            return piece.track
        launch = self.launch_of(piece)
        return self.slices[launch].track if launch >= 0 else -1

    def around(self, index: int) -> list[int]:
        """Return a slice and the slices around it, innermost first."""
        found = []
        while index >= 0:
            found.append(index)
            index = self.parents[index]
        return found


@dataclass(frozen=True, slots=True)
class IdleTime:
    """Seconds in which the device was idle for a cause, and the number of gaps with this cause."""

    cause: Cause
    seconds: float
    gaps: int


def busy_slices(profile: Profile) -> list[ProfileSlice]:
    """Return the slices in which a device was busy, or, without a device, in which compiled graphs ran."""
    on_device = [piece for piece in profile.slices if piece.kind in DEVICE_KINDS]
    return on_device or [piece for piece in profile.slices if CALL.fullmatch(piece.name)]


def union(pieces: Iterable[ProfileSlice]) -> list[Span]:
    """Return the time covered by at least one of the slices, as ordered spans."""
    return merged((piece.start_us, piece.end_us) for piece in pieces)


def idle_times(
    profile: Profile, host: HostTree, busy: Sequence[ProfileSlice], within: Span = (0.0, inf)
) -> Iterator[IdleTime]:
    """Yield the idle seconds for each cause within a span in microseconds, most seconds first.

    The cause of a gap is the activity of the thread that launched the next slice. If several activities overlap, the
    first in the order of `CAUSES` counts.
    """
    gaps = {track: intersection(spans, [within]) for track, spans in _gaps(host, busy).items()}
    seconds: dict[Cause, float] = dict.fromkeys((*CAUSES, "host"), 0.0)
    counts: Counter[Cause] = Counter()
    for track, spans in gaps.items():
        left, causes = spans, _causes(profile, track)
        for cause in CAUSES:
            blamed = intersection(left, causes[cause])
            seconds[cause] += round(length(blamed), 3)
            counts[cause] += touched(spans, blamed)
            left = difference(left, blamed)
        seconds["host"] += round(length(left), 3)
        counts["host"] += touched(spans, left)
    ranked = sorted(seconds.items(), key=lambda pair: -pair[1])
    yield from (IdleTime(cause, blamed_us / 1e6, counts[cause]) for cause, blamed_us in ranked if blamed_us)


def _gaps(host: HostTree, busy: Sequence[ProfileSlice]) -> dict[int, list[Span]]:
    """Return the gaps between busy times by thread.

    A gap belongs to the thread that launched the slice after the gap.
    """
    starts = [piece.start_us for piece in busy]
    gaps: dict[int, list[Span]] = defaultdict(list)
    for (_, end_us), (start_us, _) in pairwise(union(busy)):
        if start_us - end_us < LEAST_GAP_US:
            continue
        piece = busy[bisect_right(starts, start_us) - 1]
        gaps[host.thread_of(piece)].append((end_us, start_us))
    return gaps


def _causes(profile: Profile, track: int) -> dict[Cause, list[Span]]:
    """Return the spans of each cause on one thread; the profiler's overhead counts for every thread."""
    spans: dict[Cause, list[Span]] = {cause: [] for cause in CAUSES}
    for piece in profile.slices:
        if piece.track == track and (cause := _cause(piece)):
            spans[cause].append((piece.start_us, piece.end_us))
        elif piece.kind == "overhead":
            spans["profiler"].append((piece.start_us, piece.end_us))
    return {cause: merged(found) for cause, found in spans.items()}


def _cause(piece: ProfileSlice) -> Cause | None:
    if piece.name.startswith(TUNES):
        return "autotuning"
    if piece.kind == "launch":
        return "wait" if WAITS.search(piece.name) else "launch" if LAUNCHES.search(piece.name) else None
    if piece.name == GUARDS:
        return "guards"
    if piece.name.startswith(PREPARING):
        return "preparing"
    if COMPILES.search(piece.name):
        return "compile"
    if CALL.fullmatch(piece.name):
        return "wrapper"
    is_frame = REGION.fullmatch(piece.name) or "CompiledFunction" in piece.name
    return "op" if piece.kind == "op" and not is_frame else None


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return the union of spans, in order."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def intersection(left: Sequence[Span], right: Sequence[Span]) -> list[Span]:
    """Return the time in both of two ordered lists of spans."""
    return [
        (max(start, first), min(end, last))
        for (start, end), overlapping in _overlaps(left, right)
        for first, last in overlapping
    ]


def difference(left: Sequence[Span], right: Sequence[Span]) -> list[Span]:
    """Return the time in the left list of spans but not in the right list; both lists are ordered."""
    rest: list[Span] = []
    for (start, end), overlapping in _overlaps(left, right):
        for first, last in overlapping:
            if first > start:
                rest.append((start, first))
            start = max(start, last)
        if start < end:
            rest.append((start, end))
    return rest


def _overlaps(left: Sequence[Span], right: Sequence[Span]) -> Iterator[tuple[Span, Sequence[Span]]]:
    """Yield each span of an ordered list, with the spans of another ordered list that overlap it."""
    first = 0
    for start, end in left:
        while first < len(right) and right[first][1] <= start:
            first += 1
        last = first
        while last < len(right) and right[last][0] < end:
            last += 1
        yield (start, end), right[first:last]


def touched(spans: Sequence[Span], parts: Sequence[Span]) -> int:
    """Return the number of spans that contain at least one of the parts."""
    starts = [start for start, _ in spans]
    return len({bisect_right(starts, start) for start, _ in parts})


def length(spans: Iterable[Span]) -> float:
    return sum(end - start for start, end in spans)
