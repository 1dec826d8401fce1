"""How long each kernel of the compiled call takes: in its place in the call, and warm by itself.

Four passes over the compiled code that the last call used, each a few real calls of the model: the calls back to back,
the generated wrapper as a whole, every kernel call in its place, and every kernel call repeated by itself on copies of
its live arguments, so that what it writes in place stays as it was. On an accelerator a kernel by itself is timed by
Inductor's own benchmarker.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._inductor.runtime.benchmarking import benchmarker
from torch.utils._pytree import tree_leaves

from core.records.measured import KernelTimesRecord, TimedKernel
from core.words import duration_s, limit_s
from core.worker.measuring.clocks import clock_of
from core.worker.measuring.copies import Copies
from core.worker.measuring.load_watch import LoadWatch
from core.worker.measuring.stopwatches import synchronize
from core.worker.measuring.wrappers import Wrapper, wrappers
from core.worker.record import emit

BUDGET_S, MAX_BUDGET_S = 1.0, 3.0
SAMPLE_S = 0.0005
# Calls between two restorations of what a kernel writes in place: after a hundred halvings numbers would be denormal
# and slow.
MOST_SAMPLES, MOST_CALLS = 60, 32
MAX_REASON_CHARS = 400
CPU_METHOD = "repeated on copies of its arguments, caches warm"
GPU_METHOD = "Inductor's benchmarker on copies of its arguments, L2 cache flushed before each run"

Call = Callable[[], Any]


@dataclass(slots=True)
class Timed:
    """One line of the wrapper that calls a kernel; `in_place_s` is for all its `calls` in one call of the model."""

    name: str
    line: int
    calls: int = 0
    in_place_s: list[float] = field(default_factory=list)
    samples_s: list[float] = field(default_factory=list)
    calls_per_sample: int = 0
    method: str = ""
    reason: str = ""

    def said(self) -> TimedKernel:
        """As the record has it."""
        return TimedKernel(
            name=self.name,
            line=self.line,
            calls=self.calls,
            in_place_s=tuple(self.in_place_s),
            samples_s=tuple(self.samples_s),
            calls_per_sample=self.calls_per_sample,
            method=self.method,
            reason=self.reason,
        )


@dataclass(slots=True)
class Times:
    """One output code: seconds in it for one call of the model, how often that calls it, and its kernels by line."""

    wrapper: Wrapper
    wrapper_s: list[float] = field(default_factory=list)
    calls: int = 0
    kernels: dict[int, Timed] = field(default_factory=dict)


def measure_kernels(call: Call, steady_s: float, device: str) -> bool:
    """Time and record the kernels of one compiled call that takes `steady_s`; returns whether there were any.

    What goes wrong is recorded, not raised.
    """
    watch = LoadWatch()
    try:
        call_s, found = _measured(call, steady_s, device)
    except Exception as error:
        emit(KernelTimesRecord(reason=_words(error)))
        return False
    load = watch.load()
    for times in found:
        emit(
            KernelTimesRecord(
                path=times.wrapper.path,
                call_s=tuple(call_s),
                wrapper_s=tuple(times.wrapper_s),
                calls=times.calls,
                kernels=tuple(times.kernels[line].said() for line in sorted(times.kernels)),
                load=load,
                reason="",
            )
        )
    return True


def _measured(call: Call, steady_s: float, device: str) -> tuple[list[float], list[Times]]:
    """Seconds of the whole call, back to back, and the times in each output code that it used."""
    budget_s = min(MAX_BUDGET_S, max(BUDGET_S, 8 * steady_s))
    if 4 * steady_s > budget_s:
        raise TimeoutError(
            f"one call takes {duration_s(steady_s)}, and {limit_s(MAX_BUDGET_S)} are there to time its kernels"
        )
    every = [Times(wrapper) for wrapper in wrappers()]
    call_s = _back_to_back(call, _repeats(0.15 * budget_s, steady_s), device)
    _whole(every, call, _repeats(0.15 * budget_s, steady_s), device)
    used = [times for times in every if times.calls]
    if not used:
        raise LookupError("the last call went through no wrapper in Python")
    _in_place(used, call, _repeats(0.15 * budget_s, steady_s), device)
    if not any(times.kernels for times in used):
        raise LookupError("the last call reached no kernel in Python: a CUDA graph replays them")
    _alone(used, call, 0.55 * budget_s)
    return call_s, used


def _repeats(budget_s: float, steady_s: float) -> int:
    return max(1, min(30, int(budget_s / max(steady_s, 1e-6))))


def _back_to_back(call: Call, repeats: int, device: str) -> list[float]:
    """Seconds a call, in up to five samples."""
    calls = max(1, repeats // 5)
    samples = []
    for _ in range(min(5, repeats)):
        synchronize(device)
        start = time.perf_counter()
        for _ in range(calls):
            call()
        synchronize(device)
        samples.append((time.perf_counter() - start) / calls)
    return samples


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:MAX_REASON_CHARS]


def _whole(every: list[Times], call: Call, repeats: int, device: str) -> None:
    """Seconds in each wrapper, without any other instrument."""
    clock = clock_of(device)

    def tap(times: Times) -> Callable[..., Any]:
        def whole(body: Callable[..., Any], *args: Any) -> Any:
            times.calls += 1
            return clock.timed(id(times), body, *args)

        return whole

    with _tapped([(times.wrapper, None, tap(times)) for times in every]):
        for _ in range(repeats):
            for times in every:
                times.calls = 0
            clock.fill()
            call()
            spans = clock.read()
            for times in every:
                times.wrapper_s += [spans[id(times)]] if id(times) in spans else []


def _in_place(used: list[Times], call: Call, repeats: int, device: str) -> None:
    """Seconds of each kernel call where it stands."""
    clock = clock_of(device)

    def tap(times: Times) -> Callable[..., Any]:
        def in_place(line: int, name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
            timed = times.kernels.setdefault(line, Timed(name, line))
            timed.calls += 1
            return clock.timed((id(times), line), function, *args, **kwargs)

        return in_place

    with _tapped([(times.wrapper, tap(times), _straight) for times in used]):
        for _ in range(repeats):
            for timed in (timed for times in used for timed in times.kernels.values()):
                timed.calls = 0
            clock.fill()
            call()
            spans = clock.read()
            for times in used:
                for line, timed in times.kernels.items():
                    timed.in_place_s += [spans[id(times), line]] if (id(times), line) in spans else []


def _alone(used: list[Times], call: Call, budget_s: float) -> None:
    """One real call, in which each kernel call is first repeated by itself; the budget is shared out evenly."""
    left = sum(len(times.kernels) for times in used)
    end = time.perf_counter() + budget_s

    def tap(times: Times) -> Callable[..., Any]:
        def alone(line: int, name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
            nonlocal left
            timed = times.kernels.setdefault(line, Timed(name, line, 1))
            if not timed.method and not timed.reason:
                share_s = max(0.0, end - time.perf_counter()) / max(1, left)
                left -= 1
                _repeat(timed, share_s, function, args, kwargs)
            return function(*args, **kwargs)

        return alone

    with _tapped([(times.wrapper, tap(times), _straight) for times in used]):
        call()


def _straight(body: Callable[..., Any], *args: Any) -> Any:
    return body(*args)


@contextmanager
def _tapped(taps: list[tuple[Wrapper, Callable[..., Any] | None, Callable[..., Any]]]) -> Iterator[None]:
    with ExitStack() as stack:
        for wrapper, kernel, whole in taps:
            stack.enter_context(wrapper.tapped(kernel, whole))
        yield


def _repeat(timed: Timed, share_s: float, function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Time a kernel by itself on copies of its arguments."""
    if share_s <= 0:
        timed.reason = "the time to measure kernels was used up"
        return
    try:
        copies = Copies((args, kwargs))
        copied_args, copied_kwargs = copies.values
        device = next((leaf.device.type for leaf in tree_leaves(args) if isinstance(leaf, torch.Tensor)), "cpu")
        run = _bound(function, copied_args, copied_kwargs)
        found = _on_cpu(run, copies, share_s) if device == "cpu" else _on_gpu(run, share_s)
        timed.samples_s, timed.calls_per_sample = found
        timed.method = CPU_METHOD if device == "cpu" else GPU_METHOD
    except Exception as error:
        timed.reason = _words(error)


def _bound(function: Callable[..., Any], args: Any, kwargs: Any) -> Call:
    return lambda: function(*args, **kwargs)


def _on_cpu(run: Call, copies: Copies, share_s: float) -> tuple[list[float], int]:
    """Samples until the time is up; a kernel that takes most of it is timed once, since its first run is warm
    enough.
    """
    end = time.perf_counter() + share_s
    first_s = _sample(run, 1)
    if 2 * first_s > share_s:
        return [first_s], 1
    copies.note_changes()
    calls = max(1, min(MOST_CALLS, round(SAMPLE_S / max(_sample(run, 1), 1e-7))))
    samples: list[float] = []
    while not samples or (len(samples) < MOST_SAMPLES and time.perf_counter() < end):
        copies.restore()
        samples.append(_sample(run, calls))
    return samples, calls


def _sample(run: Call, calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - start) / calls


def _on_gpu(run: Call, share_s: float) -> tuple[list[float], int]:
    duration_ms = max(1, min(25, int(share_s * 500)))
    found: Any = benchmarker.benchmark_gpu(
        run, memory_warmup_iters=10, max_benchmark_duration=duration_ms, return_mode="all", is_vetted_benchmarking=True
    )
    return [milliseconds / 1e3 for milliseconds in found], 1
