"""Measure kernels and library calls on this machine's GPU, and write one JSON file.

The file is written after every group, and groups that it has are skipped, so the same command goes on where it
ended. What fails is recorded with its error, and the rest goes on.
"""

from __future__ import annotations

import functools
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch

from benchmarks.devices import clock, state
from benchmarks.devices.calls import Call, calls
from benchmarks.devices.capture import Capture, config, kernel_name
from benchmarks.devices.cases import Case, groups
from benchmarks.devices.designed import designed_cases
from benchmarks.devices.designed_calls import designed_calls
from benchmarks.devices.more_cases import more_calls, more_cases
from benchmarks.devices.usual import usual_calls, usual_cases

Grid = Literal["first", "designed", "usual"]
SCHEMA = 1
CALLS_AT_ONCE = 8
METHOD = (
    f"CUPTI durations by torch.profiler, median of {clock.WARM - clock.DROPPED} warm runs (the same call repeated) "
    f"and of {clock.COLD - clock.DROPPED} cold runs (after a fill of {clock.FLUSHED_BYTES >> 20} MiB); "
    f"events_us: device events around a cold run, median of {clock.BY_EVENTS}"
)


@dataclass(slots=True)
class File:
    """The file of measurements: what it has, and when the budget ends."""

    path: Path
    deadline: float
    data: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def open(path: Path, budget_s: float) -> File:
        """Return the file with what an earlier command measured."""
        empty: dict[str, Any] = {
            "schema": SCHEMA,
            "method": METHOD,
            "groups": {},
            "launches": [],
            "problems": [],
            "clocks": [],
        }
        data = json.loads(path.read_text()) if path.exists() else empty
        return File(path, time.monotonic() + budget_s, data)

    @property
    def late(self) -> bool:
        """True if the budget is spent."""
        return time.monotonic() > self.deadline

    def add(self, key: str, make: Callable[[], list[dict[str, Any]]]) -> None:
        """Measure a group that the file does not have, and write the file."""
        if key in self.data["groups"] or self.late:
            return
        start = time.monotonic()
        try:
            self.data["groups"][key] = make()
        except Exception as error:
            self.problem(key, error)
        print(f"{key}: {time.monotonic() - start:.1f} s", flush=True)
        self.write()

    def problem(self, where: str, error: Exception) -> None:
        """Record why something was not measured."""
        words = f"{type(error).__name__}: {error}"[:400]
        print(f"{where}: {words}", flush=True)
        self.data["problems"].append([where, words])

    def write(self) -> None:
        """Replace the file."""
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self.data, separators=(",", ":")))
        os.replace(new, self.path)


def measure(path: Path, budget_s: float, grid: Grid) -> int:
    """Measure a grid until the budget is spent; return the number of groups that are missing."""
    file = File.open(path, budget_s)
    file.data |= {"device": clock.device_facts(), "software": clock.software()}
    wanted = list(_first() if grid == "first" else _mixed(grid))
    with state.Clocks().sampling() as clocks:
        for key, make in wanted:
            file.add(key, make)
        try:
            if not file.data["launches"] and not file.late:
                file.data["launches"] = launch_gaps()
        except Exception as error:
            file.problem("launches", error)
    file.data["clocks"] += clocks.samples
    file.data["refused"] = state.refusal(file.data["clocks"])
    missing = [key for key, _ in wanted if key not in file.data["groups"]]
    file.data["missing"] = missing
    file.write()
    print(
        f"{len(file.data['groups'])} groups, {len(missing)} missing; {file.data['refused'] or 'not throttled'}",
        flush=True,
    )
    return len(missing)


def _first() -> Iterator[tuple[str, Callable[[], list[dict[str, Any]]]]]:
    """Yield each group's key and function: the first group of each kind, then the second of each."""
    asked = calls()
    parts = [asked[start : start + CALLS_AT_ONCE] for start in range(0, len(asked), CALLS_AT_ONCE)]
    for index, part in enumerate(parts):
        yield f"calls {index}", functools.partial(time_calls, part)
    counts: dict[str, int] = {}
    numbered = []
    for group in groups():
        kind = group[0].kind
        counts[kind] = counts.get(kind, 0) + 1
        numbered.append((counts[kind], kind, group))
    for number, kind, group in sorted(numbered, key=lambda row: row[0]):
        yield f"{kind} {number}", functools.partial(time_kernels, group)
    more = more_calls()
    for start in range(0, len(more), CALLS_AT_ONCE):
        part = more[start : start + CALLS_AT_ONCE]
        yield f"calls more {start // CALLS_AT_ONCE}", functools.partial(time_calls, part)
    for index, group in enumerate(groups(cases=more_cases())):
        yield f"more {group[0].kind} {index}", functools.partial(time_kernels, group)


def _mixed(grid: Grid) -> Iterator[tuple[str, Callable[[], list[dict[str, Any]]]]]:
    """Yield the groups of a later grid, of functions and of calls interleaved."""
    asked = designed_calls() if grid == "designed" else usual_calls()
    functions = groups(cases=designed_cases() if grid == "designed" else usual_cases())
    parts = [asked[start :: -(-len(asked) // CALLS_AT_ONCE)] for start in range(-(-len(asked) // CALLS_AT_ONCE))]
    for index in range(max(-(-len(parts) // 2), len(functions))):
        for number in (2 * index, 2 * index + 1):
            if number < len(parts):
                yield f"calls {grid} {number}", functools.partial(time_calls, parts[number])
        if index < len(functions):
            group = functions[index]
            yield f"{grid} {group[0].kind} {index}", functools.partial(time_kernels, group)


def time_calls(part: list[Call]) -> list[dict[str, Any]]:
    """Return a record for each library call; one that fails has its error."""
    made: list[dict[str, Any]] = []
    ready: list[tuple[Call, Callable[[], Any]]] = []
    for call in part:
        try:
            function = call.make("cuda")
            function()
            torch.cuda.synchronize()
            ready.append((call, function))
        except Exception as error:
            made.append({**_described(call), "problem": f"{type(error).__name__}: {error}"[:200]})
    timed = _times([function for _, function in ready])
    return made + [{**_described(call), **time} for (call, _), time in zip(ready, timed, strict=True)]


def _described(call: Call) -> dict[str, Any]:
    return {"op": call.op, "dtype": call.dtype, "sizes": call.sizes, "flops": call.flops}


def _times(functions: Sequence[Callable[[], Any]]) -> list[dict[str, Any]]:
    """Return the times of all functions in one profile, or of each by itself if that fails."""
    try:
        return clock.times(functions)
    except RuntimeError as error:
        if len(functions) == 1:
            return [{"problem": str(error)[:200]}]
        return [time for function in functions for time in _times([function])]


def time_kernels(group: list[Case]) -> list[dict[str, Any]]:
    """Compile a group; return a record for each launch of its code, with features, config and times."""
    inputs = [made.tensor("cuda") for case in group for made in case.inputs]
    capture = Capture()
    torch._dynamo.reset()
    with capture.watching():
        compiled = torch.compile(_graph(group), dynamic=False, fullgraph=True)
        compiled(*inputs)
        compiled(*inputs)
        capture.recording = True
        compiled(*inputs)
        capture.recording = False
    torch.cuda.synchronize()
    replays = [functools.partial(kernel.run, *args, **named) for kernel, args, named in capture.launches]
    timed = _times(replays)
    made = []
    for (kernel, _, _), time_of in zip(capture.launches, timed, strict=True):
        name = kernel_name(kernel)
        features = capture.features(name)
        made.append({"kind": group[0].kind, "kernel": name, "features": features, "config": config(kernel), **time_of})
    capture.launches.clear()
    torch.cuda.empty_cache()
    return made


def _graph(group: list[Case]) -> Callable[..., list[Any]]:
    counts = [len(case.inputs) for case in group]
    functions = [case.function for case in group]

    def run(*tensors: Any) -> list[Any]:
        results, start = [], 0
        for function, count in zip(functions, counts, strict=True):
            results.append(function(*tensors[start : start + count]))
            start += count
        return results

    return run


def launch_gaps() -> list[dict[str, Any]]:
    """Return launches of small kernels: compiled, eager, and as a CUDA graph."""
    made: list[dict[str, Any]] = []
    for count in (1, 8, 32):
        inputs = [torch.randn(1024 + 64 * index, device="cuda") for index in range(count)]

        def run(*tensors: Any) -> list[Any]:
            return [tensor * 1.5 for tensor in tensors]

        torch._dynamo.reset()
        compiled = torch.compile(run, dynamic=False, fullgraph=True)
        compiled(*inputs)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            compiled(*inputs)
        torch._dynamo.reset()
        reduced = torch.compile(run, dynamic=False, fullgraph=True, mode="reduce-overhead")
        ways: dict[str, Callable[[], Any]] = {
            "eager": functools.partial(run, *inputs),
            "compiled": functools.partial(compiled, *inputs),
            "graph replay": graph.replay,
            "reduce-overhead": functools.partial(reduced, *inputs),
        }
        for way, call in ways.items():
            try:
                made.append({"way": way, "launched": count, **clock.launches(call)})
            except Exception as error:
                made.append({"way": way, "launched": count, "problem": f"{type(error).__name__}: {error}"[:200]})
    return made


def check() -> int:
    """Run every function and call on the CPU with small sizes; return the number of failures."""
    failed = 0
    functions: list[tuple[str, Callable[[], Any]]] = [
        (f"{case.kind} {case.name}", functools.partial(_eager, case))
        for group in (
            *groups(4096),
            *groups(cases=more_cases(4096)),
            *groups(cases=designed_cases(4096)),
            *groups(cases=usual_cases(4096)),
        )
        for case in group
    ]
    functions += [
        (call.name, functools.partial(_called, call))
        for call in (*calls(256), *more_calls(256), *designed_calls(256), *usual_calls(256))
    ]
    for name, function in functions:
        try:
            function()
        except Exception as error:
            failed += 1
            print(f"{name}: {type(error).__name__}: {str(error)[:200]}", flush=True)
    print(f"{len(functions)} functions, {failed} failed")
    return failed


def _eager(case: Case) -> Any:
    return case.function(*(made.tensor("cpu") for made in case.inputs))


def _called(call: Call) -> Any:
    return call.make("cpu")()
