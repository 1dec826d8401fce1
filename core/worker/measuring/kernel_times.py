"""Times of each kernel in the compiled call: in place, and alone.

Four passes run the compiled code of the last call. The passes time every kernel call in place, back-to-back calls, the
generated wrapper as a whole, and kernel calls repeated alone. Kernels repeat on copies of their live arguments, so that
in-place writes don't change the model. Caches are warm on a CPU; on an accelerator, Inductor's benchmarker flushes the
L2 cache.

A clock times several spans of work at once, also nested: `CpuClock` by the wall clock, `GpuClock` by device events.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._inductor.runtime.benchmarking import benchmarker
from torch.utils._pytree import tree_leaves, tree_map_only

from core.base.errors import WorkerError
from core.base.machine import LoadWatch
from core.base.words import bytes_, duration_s
from core.report.records.compilation import KernelTimesRecord, TimedKernel
from core.worker.environment import synchronize
from core.worker.measuring.instruments import Wrapper, wrappers
from core.worker.record import emit

SAMPLE_S = 0.0005
# Calls between two restorations of in-place results: after a hundred halvings, numbers would be denormal and slow.
MOST_SAMPLES, MOST_CALLS = 60, 32
MAX_REASON_CHARS = 400  #: the reason why a kernel was not timed
CPU_METHOD = "repeated on copies of its arguments, caches warm"
GPU_METHOD = "Inductor's benchmarker on copies of its arguments, L2 cache flushed before each run"
NO_TIME = "the time to measure kernels went to those that take longer"
Call = Callable[[], Any]
# Minimum and maximum seconds for `MANY_CALLS` calls in all passes together; slow calls get the seconds of `SLOW_CALLS`
# calls.
BUDGET_S, ENOUGH_S = 1.0, 3.0
MANY_CALLS, SLOW_CALLS = 8, 7
# Seconds of an instrumented call, as a multiple of a plain call.
CALL_AND_SOME = 1.2
# A kernel is repeated only if there is time for at least so many runs, including the copies.
LEAST_RUNS = 3
NO_OUTPUT_CODE = (
    "the last call used no output code of Inductor in Python: another backend or a C++ wrapper runs kernels of its own"
)
WAIT_CYCLES = 20_000_000
MAX_BYTES = 2**31  #: limit: arguments of a timed kernel, which are copied


@dataclass(slots=True)
class KernelTiming:
    """Times of a wrapper line that calls a kernel.

    `in_place_s` has one sum per call of the model, over all `calls` of the line.
    """

    name: str
    line: int
    calls: int = 0
    in_place_s: list[float] = field(default_factory=list)
    samples_s: list[float] = field(default_factory=list)
    calls_per_sample: int = 0
    method: str = ""
    reason: str = ""

    def said(self) -> TimedKernel:
        """Return the record of the times."""
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


def repeat(timed: KernelTiming, share_s: float, function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Time a kernel alone on copies of its arguments."""
    if share_s <= 0:
        timed.reason = NO_TIME
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
        timed.reason = error_words(error)


def _bound(function: Callable[..., Any], args: Any, kwargs: Any) -> Call:
    return lambda: function(*args, **kwargs)


def _on_cpu(run: Call, copies: Copies, share_s: float) -> tuple[list[float], int]:
    """Return samples taken within `share_s` seconds, and calls per sample.

    If the first call takes more than half of `share_s`, it is the only sample; its caches are already warm.
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


def error_words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:MAX_REASON_CHARS]


@dataclass(slots=True)
class Times:
    """Times of one output code: seconds per model call, its number of calls, and its kernels by line."""

    wrapper: Wrapper
    wrapper_s: list[float] = field(default_factory=list)
    calls: int = 0
    kernels: dict[int, KernelTiming] = field(default_factory=dict)


def measure_kernels(call: Call, steady_s: float, device: str, most_s: float) -> bool:
    """Time and record the kernels of a compiled call or the error; True if there were any."""
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
    """Return the seconds per back-to-back call, and the kernel times of each executed output code.

    The in-place pass comes first: one call gives a time of every kernel. The other passes share the remaining
    time; a pass is left out if there is no time for another call.
    """
    if CALL_AND_SOME * steady_s > most_s:
        raise TimeoutError(
            f"one call takes {duration_s(steady_s)}, and the run's time limit leaves {duration_s(max(0.0, most_s))} to "
            "time its kernels: a longer limit does"
        )
    budget_s = min(most_s, max(BUDGET_S, min(MANY_CALLS * steady_s, ENOUGH_S), SLOW_CALLS * steady_s))
    end = time.perf_counter() + budget_s
    every = [Times(wrapper) for wrapper in wrappers()]
    repeats = max(1, min(30, int((0.15 * budget_s) / max(steady_s, 1e-6))))
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


def _back_to_back(call: Call, repeats: int, device: str) -> list[float]:
    """Return seconds per call, in up to five samples."""
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
    """Measure the seconds in each wrapper, without kernel timers."""
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
    """Measure the seconds of each kernel call in place, and count the calls of each wrapper."""
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
    """Time each kernel alone during one real call; the slowest kernels get the budget first.

    A kernel for which the budget is too small has only the time measured within the whole call.
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

    with _tapped([(times.wrapper, tap(times), straight) for times in used]):
        call()


def _least(used: list[Times], budget_s: float) -> dict[tuple[int, int], float]:
    """Return the minimum seconds to repeat each kernel, slowest first, for as many as the budget allows."""
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


def straight(body: Callable[..., Any], *args: Any) -> Any:
    """Call the body of an output code unchanged."""
    return body(*args)


@contextmanager
def _tapped(taps: list[tuple[Wrapper, Callable[..., Any] | None, Callable[..., Any]]]) -> Iterator[None]:
    with ExitStack() as stack:
        for wrapper, kernel, whole in taps:
            stack.enter_context(wrapper.tapped(kernel, whole))
        yield


class CpuClock:
    """Clock that sums the wall seconds of all spans of a key until the sums are read."""

    def __init__(self) -> None:
        self._spans: dict[Any, float] = {}

    def timed(self, key: Any, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        result = function(*args, **kwargs)
        self._spans[key] = self._spans.get(key, 0.0) + time.perf_counter() - start
        return result

    def fill(self) -> None:
        """Do nothing: on a CPU, no launches run ahead."""

    def read(self) -> dict[Any, float]:
        """Return the sums since the last reading."""
        spans, self._spans = self._spans, {}
        return spans


class GpuClock:
    """Clock with the CPU clock's interface, using the device's own events."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._module = getattr(torch, device.partition(":")[0])
        self._events: list[tuple[Any, Any, Any]] = []

    def timed(self, key: Any, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        begin, end = (self._module.Event(enable_timing=True) for _ in range(2))
        begin.record()
        result = function(*args, **kwargs)
        end.record()
        self._events.append((key, begin, end))
        return result

    def fill(self) -> None:
        """Delay the device, so that launches run ahead of it and a span contains no idle time."""
        if hasattr(self._module, "_sleep"):
            self._module._sleep(WAIT_CYCLES)

    def read(self) -> dict[Any, float]:
        """Return the sums since the last reading."""
        synchronize(self._device)
        spans: dict[Any, float] = {}
        for key, begin, end in self._events:
            spans[key] = spans.get(key, 0.0) + begin.elapsed_time(end) / 1e3
        self._events = []
        return spans


def clock_of(device: str) -> CpuClock | GpuClock:
    """Return the clock for a device."""
    return CpuClock() if device == "cpu" else GpuClock(device)


class Copies:
    """Copies of arguments in separate memory, in `values`; tensors that share a storage share its copy.

    Raises MemoryError if the arguments are too large to copy.
    """

    def __init__(self, arguments: Any) -> None:
        self._originals = {
            leaf.untyped_storage().data_ptr(): leaf.untyped_storage()
            for leaf in tree_leaves(arguments)
            if _is_strided(leaf)
        }
        if sum(storage.nbytes() for storage in self._originals.values()) > MAX_BYTES:
            raise MemoryError(f"its arguments take more than {bytes_(MAX_BYTES)} to copy")
        self._copies = {pointer: storage.clone() for pointer, storage in self._originals.items()}
        self._changed: list[int] = []
        with torch.no_grad():
            self.values = tree_map_only(torch.Tensor, self._copied, arguments)

    def _copied(self, tensor: torch.Tensor) -> torch.Tensor:
        if not _is_strided(tensor):
            return tensor
        storage = self._copies[tensor.untyped_storage().data_ptr()]
        empty = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        return empty.set_(storage, tensor.storage_offset(), tensor.size(), tensor.stride())

    def note_changes(self) -> None:
        """Record the copies that the kernel has changed: those that differ from the originals."""
        pairs = ((pointer, self._originals[pointer], copy) for pointer, copy in self._copies.items())
        self._changed = [pointer for pointer, one, other in pairs if not torch.equal(_bytes(one), _bytes(other))]

    def restore(self) -> None:
        """Restore the contents of the changed copies from the originals."""
        for pointer in self._changed:
            self._copies[pointer].copy_(self._originals[pointer])


def _is_strided(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout is torch.strided


def _bytes(storage: torch.UntypedStorage) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
