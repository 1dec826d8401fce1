"""Allocations and releases during one call, with time and place, from torch's profiler.

With `profile_memory`, the profiler records every allocation and release: on a CPU exact storage sizes, on an
accelerator blocks of the caching allocator. It does not record memory that a library takes directly from the system,
such as scratch memory. On a CPU, the release of memory allocated before the recording has no size, so the recording
starts one call early.

Marks in the profiler's record for the current line of the user's file, module, and generated kernel.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from types import FrameType
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.profiler import ProfilerActivity, record_function

from core.report import AliveMemory, MemoryCurve, MemoryPlace
from core.worker.measuring.instruments import Wrapper
from core.worker.measuring.profiler import quiet_profile

MOST_POINTS = 1_000
MOST_ALIVE = 40
MEMORY = "[memory]"
BACKWARD = "autograd::engine::evaluate_function: "
# Profiler events around code that Inductor generated.
COMPILED = ("Torch-Compiled Region", "## Call CompiledFxGraph", "CompiledFunction", "TorchDynamo")
Names = tuple[str, ...]
CALL, LINE, MODULE, KERNEL, CODE = (f"compileboard {what}" for what in ("call", "line ", "module ", "kernel ", "code "))
Trace = Callable[[FrameType, str, Any], Any]


@dataclass(frozen=True, slots=True)
class ProfilerEvent:
    """An event of the profiler and the names around it.

    `bytes` is negative for a release, 0 for an event that is not memory; `total` is the allocated memory after it, in
    bytes.
    """

    at_ns: int
    end_ns: int
    names: Names
    pointer: int = 0
    bytes: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class CallMemory:
    """Allocator statistics of one call."""

    peak_bytes: int
    peak_us: float
    call_us: float
    left_bytes: int
    allocated_bytes: int
    allocations: int
    events: int
    curve: MemoryCurve
    alive: tuple[AliveMemory, ...]
    places: tuple[MemoryPlace, ...]


def watched(
    call: Callable[[], Any], before: Callable[[], None], marks: Callable[[], AbstractContextManager[Any]], device: str
) -> CallMemory:
    """Make a call twice, and return the memory of the second.

    `before` runs between both; `marks` record lines, modules and kernels of the second.
    """
    with quiet_profile([ProfilerActivity.CPU], profile_memory=True) as found:
        call()
        before()
        with marks(), record_function(CALL):
            output = call()
    del output
    tree = found.profiler.kineto_results.experimental_event_tree()
    return story(sorted(flat(tree, device), key=lambda event: event.at_ns))


def flat(tree: Iterable[Any], device: str) -> Iterator[ProfilerEvent]:
    """Yield the events of the profiler's tree, with only the device's memory events."""
    kind = torch.device(device).type
    waiting: list[tuple[Any, Names]] = [(event, ()) for event in tree]
    while waiting:
        event, around = waiting.pop()
        names = (*around, event.name)
        if event.name != MEMORY:
            yield ProfilerEvent(event.start_time_ns, event.end_time_ns, names)
        elif event.extra_fields.device.type == kind:
            said = event.extra_fields
            yield ProfilerEvent(
                event.start_time_ns, event.start_time_ns, around, said.ptr, said.alloc_size, said.total_allocated
            )
        waiting += [(child, names) for child in event.children]


def story(events: list[ProfilerEvent]) -> CallMemory:
    """Return the memory of the marked call; the events are in order."""
    call = next(event for event in events if event.names[-1:] == (CALL,))
    inside = [event for event in events if call.at_ns <= event.at_ns <= call.end_ns]
    memory = [event for event in inside if event.bytes]
    known = _Places()
    where = known.of_all(inside)
    base = memory[0].total - memory[0].bytes if memory else 0
    live = [event.total - base for event in memory]
    at_us = [(event.at_ns - call.at_ns) / 1e3 for event in memory]
    peak = max(range(len(live)), key=live.__getitem__, default=None)
    if peak is None or live[peak] <= 0:
        peak = None
    given = [event.bytes for event in memory if event.bytes > 0]
    kept = _kept(live)
    return CallMemory(
        peak_bytes=0 if peak is None else live[peak],
        peak_us=0.0 if peak is None else at_us[peak],
        call_us=(call.end_ns - call.at_ns) / 1e3,
        left_bytes=live[-1] if live else 0,
        allocated_bytes=sum(given),
        allocations=len(given),
        events=len(memory),
        curve=MemoryCurve(
            tuple(at_us[index] for index in kept), tuple(live[i] for i in kept), tuple(where[i] for i in kept)
        ),
        alive=() if peak is None else _alive(memory[: peak + 1], where),
        places=tuple(known.found),
    )


class _Places:
    """The distinct places of a call."""

    def __init__(self) -> None:
        self.found: dict[MemoryPlace, int] = {}

    def of_all(self, events: list[ProfilerEvent]) -> list[int]:
        """Return the place of each memory event, −1 for a release.

        Goes through the events in reverse first, since generated code allocates before the kernel that uses the memory.
        """
        next_kernel: MemoryPlace | None = None
        after: list[MemoryPlace | None] = []
        for event in reversed(events):
            next_kernel = _kernel(event.names[-1]) or next_kernel
            after.append(next_kernel)
        position = _Position()
        found = []
        for event, kernel in zip(events, reversed(after), strict=True):
            position.follow(event.names[-1])
            if event.bytes:
                found.append(-1 if event.bytes < 0 else self._index(_place(event.names, kernel, position)))
        return found

    def _index(self, place: MemoryPlace) -> int:
        return self.found.setdefault(place, len(self.found))


class _Position:
    """The current line of the user's file and the current module, from the marks so far."""

    def __init__(self) -> None:
        self.line = 0
        self.module = ""

    def follow(self, name: str) -> None:
        """Update the position if the event is a mark."""
        if name.startswith(LINE):
            self.line = int(name.removeprefix(LINE))
        elif name.startswith(MODULE):
            self.module = name.removeprefix(MODULE)


def _kernel(name: str) -> MemoryPlace | None:
    """Return the kernel of a generated-code mark; None for any other event."""
    if not name.startswith(KERNEL):
        return None
    code, line, kernel = name.removeprefix(KERNEL).split(" ", 2)
    return MemoryPlace(kernel, int(line), int(code))


def _place(names: Names, next_kernel: MemoryPlace | None, position: _Position) -> MemoryPlace:
    """Return the allocating or the next kernel in generated code, or the outermost op in eager."""
    own = next((place for name in reversed(names) if (place := _kernel(name))), None)
    if own is not None:
        return own
    if next_kernel is not None and any(name.startswith(CODE) for name in names):
        return next_kernel
    outer = (name for name in names if not name.startswith((CALL, CODE, *COMPILED)))
    op = next(outer, "")
    if op.startswith(BACKWARD):
        return MemoryPlace(op.removeprefix(BACKWARD))
    return MemoryPlace(op, position.line, module=position.module)


def _alive(memory: list[ProfilerEvent], where: list[int]) -> tuple[AliveMemory, ...]:
    """Return the memory of these events that was not released, by place."""
    alive: dict[int, tuple[int, int]] = {}
    for event, place in zip(memory, where, strict=False):
        if event.bytes > 0:
            alive[event.pointer] = (place, event.bytes)
        else:
            alive.pop(event.pointer, None)
    sums: dict[int, list[int]] = {}
    for place, size in alive.values():
        sums.setdefault(place, []).append(size)
    rows = (AliveMemory(place, len(sizes), sum(sizes)) for place, sizes in sums.items())
    return tuple(sorted(rows, key=lambda row: -row.bytes)[:MOST_ALIVE])


def _kept(live: list[int]) -> list[int]:
    """Return the points that draw the curve: all, or the first, last, minimum and maximum of even parts."""
    if len(live) <= MOST_POINTS:
        return list(range(len(live)))
    parts = MOST_POINTS // 4
    edges = [round(part * len(live) / parts) for part in range(parts + 1)]
    kept: set[int] = set()
    for first, end in pairwise(edges):
        part = range(first, end)
        kept |= {first, end - 1, min(part, key=live.__getitem__), max(part, key=live.__getitem__)}
    return sorted(kept)


@contextmanager
def mark_lines(path: str) -> Iterator[None]:
    """Mark each line of a file when it starts, and the caller's line when a function of the file returns."""
    running: list[int] = []

    def within(frame: FrameType, event: str, _: Any) -> Trace:
        if event == "line":
            running[-1:] = [frame.f_lineno]
            _mark(f"{LINE}{frame.f_lineno}")
        elif event == "return":
            running.pop()
            _mark(f"{LINE}{running[-1] if running else 0}")
        return within

    def called(frame: FrameType, _: str, __: Any) -> Trace | None:
        if frame.f_code.co_filename != path:
            return None
        running.append(frame.f_lineno)
        return within

    before = sys.gettrace()
    sys.settrace(called)
    try:
        yield
    finally:
        sys.settrace(before)


@contextmanager
def mark_modules(names: Mapping[torch.nn.Module, str]) -> Iterator[None]:
    """Mark each module when its forward starts, and the enclosing module when it returns."""
    running: list[str] = []

    def begins(module: torch.nn.Module, _: Any) -> None:
        running.append(names.get(module, running[-1] if running else ""))
        _mark(f"{MODULE}{running[-1]}")

    def ends(*_: Any) -> None:
        running.pop()
        _mark(f"{MODULE}{running[-1] if running else ''}")

    hooks = (register_module_forward_pre_hook(begins), register_module_forward_hook(ends, always_call=True))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _mark(what: str) -> None:
    with record_function(what):
        pass


@contextmanager
def mark_kernels(codes: list[Wrapper]) -> Iterator[None]:
    """Mark each kernel that generated code calls, with the code's index in the list and the line."""
    with ExitStack() as stack:
        for index, code in enumerate(codes):
            stack.enter_context(code.tapped(_kernel_mark(index), _code(index)))
        yield


def _kernel_mark(index: int) -> Callable[..., Any]:
    def marked(line: int, name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        with record_function(f"{KERNEL}{index} {line} {name}"):
            return function(*args, **kwargs)

    return marked


def _code(index: int) -> Callable[..., Any]:
    def marked(body: Callable[..., Any], *args: Any) -> Any:
        with record_function(f"{CODE}{index}"):
            return body(*args)

    return marked
