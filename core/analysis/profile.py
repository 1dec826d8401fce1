"""Profile joined to its log: the kernel of each kernel slice, idle time, and sums over an area.

A slice of generated code has the kernel's name. A slice of a library call is joined by the host's op that
launched it: the n-th `aten::addmm` of a call of a compiled graph is the n-th line of the output code that
calls `addmm`. In a CUDA graph no op launches a kernel. There, slices between two generated kernels belong to
the library calls between these kernels.

Only the parts of slices inside an area count. The sums of an area are by name, with the busy and idle time.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from core.analysis.durations import (
    CALL,
    REGION,
    TUNES,
    HostTree,
    IdleTime,
    Span,
    busy_slices,
    idle_times,
    intersection,
    length,
    union,
)
from core.ops.costs import aten_name
from core.report import Compilation, Kernel, Report
from core.report.run import Profile, SliceKind

# How a slice was joined to its kernel: by the kernel's name, by the op that launched it, or by its order.
How = Literal["name", "op", "order"]
# What a kernel slice belongs to: a compiled graph, a trial of autotuning, or code that is not compiled.
Owner = Literal["compiled", "autotuning", "eager"]
# AOTAutograd's ops around compiled graphs in training; a backward has the sequence number of its forward.
FORWARD, BACKWARD = "CompiledFunction", "CompiledFunctionBackward"
GRAPH_LAUNCH = "GraphLaunch"
# What a name in a profile has more than the kernel: the suffix of older versions of Triton, and the prefix of C++ with
# `torch._inductor.config.cpp.enable_kernel_profile`.
AFFIX = re.compile(r"_\d+d[\dcde]*$|^graph_\d+_(?=cpp_)")
NO_KEY = "None"
# Ops in compiled code that compute nothing: they make tensors and views.
ALLOCATIONS = frozenset(
    (
        *("empty", "empty_strided", "as_strided", "reinterpret_tensor", "view", "reshape", "permute", "t", "transpose"),
        *(
            "expand",
            "select",
            "slice",
            "unsqueeze",
            "squeeze",
            "detach",
            "alias",
            "item",
            "_local_scalar_dense",
            "set_",
        ),
    )
)
HOST_KINDS = ("op", "launch")


@dataclass(frozen=True, slots=True)
class KernelSlice:
    """A kernel slice, by its index in the profile, with its compilation and kernel.

    `compilation` and `kernel` are empty if the slice was not joined.
    """

    index: int
    owner: Owner
    compilation: str = ""
    kernel: str = ""
    how: How | None = None


@dataclass(frozen=True, slots=True)
class JoinedProfile:
    """A profile's kernel slices with their kernels, and its idle time.

    `depths` counts the slices around each slice on its track. `busy_s` and `idle_s` are seconds of the devices, or of
    compiled graphs if the profile has no device.
    """

    profile: Profile
    kernels: tuple[KernelSlice, ...]
    depths: tuple[int, ...]
    busy_s: float
    idle: tuple[IdleTime, ...]

    @property
    def idle_s(self) -> float:
        """Return the idle seconds of all causes."""
        return sum(time.seconds for time in self.idle)

    @property
    def compiled(self) -> tuple[KernelSlice, ...]:
        """Return the kernel slices of compiled graphs."""
        return tuple(kernel for kernel in self.kernels if kernel.owner == "compiled")

    @property
    def joined(self) -> tuple[KernelSlice, ...]:
        """Return the kernel slices of compiled graphs that were joined to a kernel."""
        return tuple(kernel for kernel in self.compiled if kernel.kernel)


def join_profile(profile: Profile, report: Report) -> JoinedProfile:
    """Return a profile joined to the report of its log."""
    host = HostTree(profile)
    kernels = tuple(_Join(profile, report, host).kernels())
    busy = busy_slices(profile)
    idle = tuple(idle_times(profile, host, busy))
    return JoinedProfile(profile, kernels, tuple(host.depths), length(union(busy)) / 1e6, idle)


@dataclass(slots=True)
class _Place:
    """Launch of a kernel: the call of a compiled graph, and the outermost op in that call.

    Both are indexes of slices, -1 if there is none. `region` is Dynamo's region; a backward has the region of its
    forward. It is None if no region was recorded, and empty if the forward is unknown or ambiguous. `in_graph` is
    True for the launch of a CUDA graph.
    """

    owner: Owner
    call: int = -1
    region: str | None = None
    backward: bool = False
    op: int = -1
    in_graph: bool = False


@dataclass(slots=True)
class _Code:
    """Kernels of an output code: generated kernels by name, calls of library kernels by op.

    `library` and `calls` are in line order; `calls` has all kernels.
    """

    compilation: str
    direction: str
    generated: dict[str, Kernel] = field(default_factory=dict)
    library: dict[str, list[Kernel]] = field(default_factory=dict)
    calls: list[Kernel] = field(default_factory=list)

    def known(self, names: Iterable[str]) -> int:
        """Return the number of these names that belong to kernels of this code."""
        return sum(name in self.generated or name in self.library for name in names)


class _Join:
    """Join of a profile's kernel slices to the kernels of a report."""

    def __init__(self, profile: Profile, report: Report, host: HostTree) -> None:
        self._slices, self._host = profile.slices, host
        self._has_device = profile.has_device
        self._codes = list(_output_codes(report.compilations))
        self._regions = self._forward_regions()
        self._keys = {event.key: event.compilation for event in report.caches if event.cache == "fx_graph"}

    def kernels(self) -> Iterator[KernelSlice]:
        places = {index: place for index, place in self._places() if place is not None}
        calls: dict[int, list[int]] = defaultdict(list)
        for index, place in places.items():
            if place.call >= 0:
                calls[place.call].append(index)
        found = self._joined(calls, places)
        for index, place in places.items():
            yield found.get(index) or KernelSlice(index, place.owner)

    def _forward_regions(self) -> dict[int, str]:
        """Return sequence number → region of the forward; the region is empty if it is ambiguous.

        A number is ambiguous if forwards in different regions have it, as with several threads.
        """
        regions: dict[int, str] = {}
        for index, piece in enumerate(self._slices):
            if piece.name == FORWARD and piece.sequence:
                around = (REGION.fullmatch(self._slices[parent].name) for parent in self._host.around(index))
                region = next((match[1] for match in around if match), "")
                regions[piece.sequence] = region if regions.get(piece.sequence, region) == region else ""
        return regions

    def _places(self) -> Iterator[tuple[int, _Place | None]]:
        for index, piece in enumerate(self._slices):
            if self._has_device and piece.kind == "kernel":
                yield index, self._place(self._host.launch_of(piece))
            elif not self._has_device and piece.kind in ("op", "annotation") and self._computes(index):
                yield index, self._place(index)

    def _computes(self, index: int) -> bool:
        """Return True if an op is the outermost one in a call of a compiled graph, and is no allocation."""
        parent = self._host.parents[index]
        inside = parent >= 0 and CALL.fullmatch(self._slices[parent].name)
        return bool(inside) and aten_name(_op(self._slices[index].name)) not in ALLOCATIONS

    def _place(self, launch: int) -> _Place:
        place = _Place("eager")
        if launch < 0:
            return place
        last_op = -1
        place.in_graph = GRAPH_LAUNCH in self._slices[launch].name
        for index in self._host.around(launch):
            name = self._slices[index].name
            if name.startswith(TUNES):
                return _Place("autotuning")
            if place.call < 0 and CALL.fullmatch(name):
                place.owner, place.call, place.op = "compiled", index, last_op
            if place.region is None and (match := REGION.fullmatch(name)):
                place.region = match[1]
            if place.region is None and name == BACKWARD:
                place.region, place.backward = self._regions.get(self._slices[index].sequence, ""), True
            if self._slices[index].kind in ("op", "annotation"):
                last_op = index
        return place

    def _joined(self, calls: dict[int, list[int]], places: dict[int, _Place]) -> dict[int, KernelSlice]:
        """Return the kernel slices that have a kernel, by their index."""
        names: dict[object, set[str]] = defaultdict(set)
        for call, indexes in calls.items():
            names[self._same(call)] |= {self._name(index, places[index]) for index in indexes}
        found: dict[int, KernelSlice] = {}
        codes: dict[object, _Code | None] = {}
        for call, indexes in calls.items():
            same = self._same(call)
            if same not in codes:
                codes[same] = self._code(call, places[indexes[0]], names[same])
            if code := codes[same]:
                pairs = self._paired(code, indexes, places)
                found.update(
                    (index, KernelSlice(index, "compiled", code.compilation, kernel.id, how))
                    for index, kernel, how in pairs
                )
        return found

    def _same(self, call: int) -> object:
        """Return the key that all calls of one graph share: the graph's cache key, otherwise the call itself."""
        key = self._key(call)
        return call if key == NO_KEY else key

    def _key(self, call: int) -> str:
        match = CALL.fullmatch(self._slices[call].name)
        return match[1] if match else NO_KEY

    def _name(self, index: int, place: _Place) -> str:
        """Return a slice's own name if an output code has that kernel or it has no op, otherwise its op's."""
        own = AFFIX.sub("", self._slices[index].name)
        is_known = any(own in code.generated for code in self._codes)
        return own if is_known or place.op < 0 else aten_name(_op(self._slices[place.op].name))

    def _code(self, call: int, place: _Place, names: set[str]) -> _Code | None:
        """Return the output code that a call runs; None without a match or with an ambiguous best match.

        Matches are ranked by the compilation that Dynamo or the cache names, then by direction, then by the number of
        known kernel names.
        """
        cached = self._keys.get(self._key(call))
        ranked: dict[tuple[bool, bool, int], list[_Code]] = defaultdict(list)
        for code in self._codes:
            if known := code.known(names):
                # A region has torch's id, which begins again after a `torch.compiler.reset`.
                is_named = code.compilation == cached or code.compilation.rpartition(":")[2] == place.region
                is_direction = (code.direction == "backward") == place.backward
                ranked[is_named, is_direction, known].append(code)
        best = ranked[max(ranked)] if ranked else []
        return best[0] if len(best) == 1 else None

    def _paired(self, code: _Code, indexes: list[int], places: dict[int, _Place]) -> Iterator[tuple[int, Kernel, How]]:
        """Yield the slices of a call with their kernels."""
        yield from self._in_order(code, [index for index in indexes if places[index].in_graph])
        indexes = [index for index in indexes if not places[index].in_graph]
        times: Counter[str] = Counter()
        turn: dict[int, int] = {}
        for op in sorted({places[index].op for index in indexes if places[index].op >= 0}):
            name = aten_name(_op(self._slices[op].name))
            turn[op], times[name] = times[name], times[name] + 1
        for index in indexes:
            name, op = AFFIX.sub("", self._slices[index].name), places[index].op
            aten = aten_name(_op(self._slices[op].name)) if op >= 0 else ""
            if kernel := code.generated.get(name) or code.generated.get(aten):
                yield index, kernel, "name"
            elif lines := code.library.get(aten):
                yield index, lines[turn[op] % len(lines)], "op" if times[aten] == len(lines) else "order"

    def _in_order(self, code: _Code, indexes: list[int]) -> Iterator[tuple[int, Kernel, How]]:
        """Yield the slices of a CUDA graph with their kernels, library calls between generated ones."""
        at, waiting = 0, list[int]()
        for index in indexes:
            name = AFFIX.sub("", self._slices[index].name)
            if name not in code.generated:
                waiting.append(index)
                continue
            next_at = next((line for line in range(at, len(code.calls)) if code.calls[line].name == name), -1)
            if next_at < 0:
                yield index, code.generated[name], "name"
                continue
            yield from _between(waiting, code.calls[at:next_at])
            yield index, code.calls[next_at], "name"
            at, waiting = next_at + 1, []
        yield from _between(waiting, code.calls[at:])


def _between(indexes: Sequence[int], calls: Sequence[Kernel]) -> Iterator[tuple[int, Kernel, How]]:
    """Yield slices with their calls if the numbers of slices and calls are unambiguous.

    A library call starts one or more kernels. Numbers are unambiguous with a single call, and with as many slices as
    calls.
    """
    if len(calls) == 1:
        yield from ((index, calls[0], "order") for index in indexes)
    elif len(calls) == len(indexes):
        yield from ((index, call, "order") for index, call in zip(indexes, calls, strict=True))


def _output_codes(compilations: Iterable[Compilation]) -> Iterator[_Code]:
    """Yield the kernels of each compilation and direction."""
    for compilation in compilations:
        codes: dict[str, _Code] = {}
        lines: dict[str, list[tuple[int, Kernel]]] = defaultdict(list)
        for kernel in compilation.kernels:
            code = codes.setdefault(kernel.direction, _Code(compilation.id, kernel.direction))
            lines[kernel.direction] += [(line, kernel) for line in kernel.call_lines]
            if not kernel.extern:
                code.generated[kernel.name] = kernel
        for direction, code in codes.items():
            code.calls = [kernel for _, kernel in sorted(lines[direction], key=lambda pair: pair[0])]
            for kernel in code.calls:
                if kernel.extern:
                    code.library.setdefault(aten_name(kernel.name), []).append(kernel)
        yield from codes.values()


def _op(name: str) -> str:
    """Return the name of an op without its namespace: `addmm` of `aten::addmm`."""
    return name.rsplit("::", 1)[-1]


@dataclass(frozen=True, slots=True)
class SliceSum:
    """Slices of an area with the same name and kind; joined and unjoined slices are summed separately.

    `kernels` are the ids of the joined kernels. `total_s` is the time of the slices in the area, `own_s` the time
    without the slices inside them.
    """

    name: str
    kind: SliceKind
    kernels: tuple[str, ...]
    slices: int
    total_s: float
    own_s: float


@dataclass(frozen=True, slots=True)
class ProfileArea:
    """Sums over a span of time.

    `sums` are for the chosen slices, most time first; the other sums are for all slices. `busy_s` is the time in which
    a device was busy, or compiled graphs ran if the profile has no device. `idle` is the time in the gaps between busy
    times. `host_s` is the time in which a host thread was in an op or a launch.
    """

    length_s: float
    sums: tuple[SliceSum, ...]
    busy_s: float
    idle: tuple[IdleTime, ...]
    host_s: float

    @property
    def idle_s(self) -> float:
        """Return the idle seconds of all causes."""
        return sum(time.seconds for time in self.idle)


def sum_area(joined: JoinedProfile, within: Span, chosen: Collection[int]) -> ProfileArea:
    """Return the sums over a span of time in microseconds; `chosen` are the indexes of the slices to list."""
    profile, host = joined.profile, HostTree(joined.profile)
    busy = busy_slices(profile)
    in_host = union(piece for piece in profile.slices if piece.kind in HOST_KINDS)
    return ProfileArea(
        length_s=(within[1] - within[0]) / 1e6,
        sums=_sums(joined, host, within, chosen),
        busy_s=length(intersection(union(busy), [within])) / 1e6,
        idle=tuple(idle_times(profile, host, busy, within)),
        host_s=length(intersection(in_host, [within])) / 1e6,
    )


def _sums(joined: JoinedProfile, host: HostTree, within: Span, chosen: Collection[int]) -> tuple[SliceSum, ...]:
    slices = joined.profile.slices
    kernels = {piece.index: piece.kernel for piece in joined.kernels}
    lengths = [max(0.0, min(piece.end_us, within[1]) - max(piece.start_us, within[0])) for piece in slices]
    own = list(lengths)
    for index, parent in enumerate(host.parents):
        if parent >= 0:
            own[parent] -= lengths[index]
    groups: dict[tuple[str, SliceKind, bool], list[int]] = defaultdict(list)
    for index in chosen:
        piece = slices[index]
        if piece.start_us < within[1] and piece.end_us > within[0]:
            groups[piece.name, piece.kind, bool(kernels.get(index))].append(index)
    sums = (
        SliceSum(
            name,
            kind,
            tuple(dict.fromkeys(kernels[index] for index in indexes)) if is_joined else (),
            len(indexes),
            sum(lengths[index] for index in indexes) / 1e6,
            max(0.0, sum(own[index] for index in indexes)) / 1e6,
        )
        for (name, kind, is_joined), indexes in groups.items()
    )
    return tuple(sorted(sums, key=lambda entry: -entry.total_s))
