"""Times of each kernel in the compiled call: in place, and alone and warm.

Four passes over the compiled code of the last call, each a few real calls of the model: every kernel call in place,
calls back to back, the generated wrapper as a whole, and kernel calls repeated alone on copies of their live arguments.
On an accelerator a kernel alone is timed by Inductor's own benchmarker.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from core.base.errors import WorkerError
from core.base.load import LoadWatch
from core.base.words import duration_s
from core.report.records.measured import KernelTimesRecord
from core.worker.measuring.clocks import clock_of
from core.worker.measuring.repeated import SAMPLE_S, KernelTiming, error_words, repeat
from core.worker.measuring.stopwatches import synchronize
from core.worker.measuring.wrappers import Wrapper, wrappers
from core.worker.record import emit

# All passes together take so long: so many calls, from the first number of seconds to the second; and for slow calls
# as many as the passes need, and some more for what is repeated.
BUDGET_S, ENOUGH_S = 1.0, 3.0
MANY_CALLS, SLOW_CALLS = 8, 7
# What a pass of one call may take: its instruments are part of it.
CALL_AND_SOME = 1.2
# So often a kernel is repeated by itself at least, its copies among it, or it is not begun.
LEAST_RUNS = 3
NO_OUTPUT_CODE = (
    "the last call used no output code of Inductor in Python: another backend or a C++ wrapper runs kernels of its own"
)
Call = Callable[[], Any]


@dataclass(slots=True)
class Times:
    """Times of one output code: seconds per model call, its number of calls, and its kernels by line."""

    wrapper: Wrapper
    wrapper_s: list[float] = field(default_factory=list)
    calls: int = 0
    kernels: dict[int, KernelTiming] = field(default_factory=dict)


def measure_kernels(call: Call, steady_s: float, device: str, most_s: float) -> bool:
    """Time and record the kernels of one compiled call that takes `steady_s`, in `most_s` seconds at most; returns
    whether there were any.

    What goes wrong is recorded, not raised.
    """
    watch = LoadWatch()
    try:
        call_s, found = _measured(call, steady_s, device, most_s)
    except WorkerError as error:
        emit(KernelTimesRecord(reason=str(error)))
        return False
    except Exception as error:
        emit(KernelTimesRecord(reason=error_words(error)))
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


def _measured(call: Call, steady_s: float, device: str, most_s: float) -> tuple[list[float], list[Times]]:
    """Seconds of the whole call, back to back, and the times in each output code that it used.

    In place comes first: one call gives a time of every kernel. What is left goes to the other passes in turn, each of
    which is left out where there is no time for another call.
    """
    if CALL_AND_SOME * steady_s > most_s:
        raise TimeoutError(
            f"one call takes {duration_s(steady_s)}, and the run's time limit leaves {duration_s(max(0.0, most_s))} to "
            "time its kernels: a longer limit does"
        )
    budget_s = min(most_s, max(BUDGET_S, min(MANY_CALLS * steady_s, ENOUGH_S), SLOW_CALLS * steady_s))
    end = time.perf_counter() + budget_s
    every = [Times(wrapper) for wrapper in wrappers()]
    repeats = _repeats(0.15 * budget_s, steady_s)
    _in_place(every, call, repeats, device)
    used = [times for times in every if times.calls]
    if not used:
        raise WorkerError(NO_OUTPUT_CODE)
    if not any(times.kernels for times in used):
        raise WorkerError("the last call reached no kernel in Python: a CUDA graph replays them")

    def is_time() -> bool:
        return end - time.perf_counter() > CALL_AND_SOME * steady_s

    call_s = _back_to_back(call, repeats, device) if is_time() else []
    if is_time():
        _whole(used, call, repeats, device)
    if is_time():
        _alone(used, call, end - time.perf_counter() - steady_s)
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


def _whole(used: list[Times], call: Call, repeats: int, device: str) -> None:
    """Seconds in each wrapper, without any other instrument."""
    clock = clock_of(device)

    def tap(times: Times) -> Callable[..., Any]:
        return lambda body, *args: clock.timed(id(times), body, *args)

    with _tapped([(times.wrapper, None, tap(times)) for times in used]):
        for _ in range(repeats):
            clock.fill()
            call()
            spans = clock.read()
            for times in used:
                times.wrapper_s += [spans[id(times)]] if id(times) in spans else []


def _in_place(every: list[Times], call: Call, repeats: int, device: str) -> None:
    """Seconds of each kernel call where it stands, and how often each wrapper is called."""
    clock = clock_of(device)

    def counted(times: Times) -> Callable[..., Any]:
        def whole(body: Callable[..., Any], *args: Any) -> Any:
            times.calls += 1
            return body(*args)

        return whole

    def tap(times: Times) -> Callable[..., Any]:
        def in_place(line: int, name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
            timed = times.kernels.setdefault(line, KernelTiming(name, line))
            timed.calls += 1
            return clock.timed((id(times), line), function, *args, **kwargs)

        return in_place

    with _tapped([(times.wrapper, tap(times), counted(times)) for times in every]):
        for _ in range(repeats):
            for times in every:
                times.calls = 0
                for timed in times.kernels.values():
                    timed.calls = 0
            clock.fill()
            call()
            spans = clock.read()
            for times in every:
                for line, timed in times.kernels.items():
                    timed.in_place_s += [spans[id(times), line]] if (id(times), line) in spans else []


def _alone(used: list[Times], call: Call, budget_s: float) -> None:
    """Repeat kernel calls alone during one real call, slowest in place first, as far as the budget allows.

    A kernel outside of the budget keeps its time in place.
    """
    least = _least(used, budget_s)
    end = time.perf_counter() + budget_s

    def tap(times: Times) -> Callable[..., Any]:
        def alone(line: int, name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
            timed = times.kernels.setdefault(line, KernelTiming(name, line, 1))
            if not timed.method and not timed.reason:
                spare_s = max(0.0, end - time.perf_counter() - sum(least.values())) / max(1, len(least))
                share_s = least.pop((id(times), line), 0.0)
                repeat(timed, share_s and share_s + spare_s, function, args, kwargs)
            return function(*args, **kwargs)

        return alone

    with _tapped([(times.wrapper, tap(times), _straight) for times in used]):
        call()


def _least(used: list[Times], budget_s: float) -> dict[tuple[int, int], float]:
    """Seconds that each kernel takes at least to be repeated, most expensive first, as many as the budget has room
    for.
    """
    once_s = {
        (id(times), line): statistics.median(timed.in_place_s) / max(1, timed.calls)
        for times in used
        for line, timed in times.kernels.items()
        if timed.in_place_s
    }
    chosen: dict[tuple[int, int], float] = {}
    for key, seconds in sorted(once_s.items(), key=lambda entry: -entry[1]):
        needed_s = max(SAMPLE_S, LEAST_RUNS * seconds)
        if sum(chosen.values()) + needed_s <= budget_s:
            chosen[key] = needed_s
    return chosen


def _straight(body: Callable[..., Any], *args: Any) -> Any:
    return body(*args)


@contextmanager
def _tapped(taps: list[tuple[Wrapper, Callable[..., Any] | None, Callable[..., Any]]]) -> Iterator[None]:
    with ExitStack() as stack:
        for wrapper, kernel, whole in taps:
            stack.enter_context(wrapper.tapped(kernel, whole))
        yield
