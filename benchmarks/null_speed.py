"""Null speed: a call compared with itself must show no difference, also beside two busy loops.

    python -m benchmarks.null_speed [--calls 50us 5ms 500ms slower runs] [--beside 0 2] [--times 20]

Matmuls of 50 µs, 5 ms and 500 ms are timed alternately with themselves, as the worker times eager and
compiled. 19 of 20 comparisons must claim no difference. `slower` compares 5 ms with five percent more work;
on a quiet machine, 18 of 20 comparisons must detect the difference. `runs` are whole runs of a 5 ms model
with the backend `eager`, which runs the model's own ops. The last result is the harness's overhead for a call
of an empty function.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from typing import Any

from benchmarks.homes import PROJECT, compile_environment, temporary_home
from benchmarks.table import Result, print_table, tell
from core import CompileJob, CompileOptions, LocalEngine, Model, Runner, Store, open_report
from core.analysis.speed import Speed, speed
from core.report import Load, SideTimes

SECONDS = {"50us": 50e-6, "5ms": 5e-3, "500ms": 0.5, "slower": 5e-3}
SIZES = {"50us": 96, "5ms": 256, "500ms": 512, "slower": 256}
PARTS = (*SECONDS, "runs")
LOOPS = (0, 2)
TIMES = 20
MOST_CLAIMS, LEAST_FOUND = 1 / 20, 18 / 20
# The busy loop ends with the benchmark, even if the benchmark crashes.
BUSY_LOOP = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"
Call = Callable[[], None]
MODEL = """
import torch
model = torch.nn.Sequential(*(torch.nn.Linear(1024, 1024) for _ in range(4)))
inputs = (torch.randn(128, 1024),)
"""


def measure() -> list[Result]:
    """Measure all parts, quiet and busy."""
    return results(PARTS, LOOPS, TIMES)


def main() -> None:
    """Run the requested parts; with --child, time calls in this process and print JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--beside", nargs="+", type=int, default=LOOPS)
    parser.add_argument("--times", type=int, default=TIMES)
    parser.add_argument("--child", choices=SECONDS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps([*timed(arguments.child, arguments.times), harness_us()]))
    else:
        print_table((__doc__ or "").partition("\n")[0], results(arguments.calls, arguments.beside, arguments.times))


def results(parts: tuple[str, ...], beside: tuple[int, ...], times: int) -> list[Result]:
    """Return one result for each part and number of busy loops, and the cost of the harness."""
    rows, costs_us = [], []
    for part in parts:
        for loops in beside:
            with busy_loops(loops):
                if part == "runs":
                    timings = [run_timing() for _ in range(times)]
                else:
                    *timings, cost_us = in_child(part, times)
                    costs_us.append(cost_us)
            rows.append(claims_result(part, loops, [msg for msg in map(speed, timings) if msg is not None]))
            tell(f"{rows[-1].what}: {rows[-1].figure}")
    return [*rows, *harness(costs_us)]


def harness(costs_us: list[tuple[float, float]]) -> list[Result]:
    """Return the time of an empty call, eager and compiled; an empty list without measurements."""
    if not costs_us:
        return []
    eager_us, compiled_us = (min(side) for side in zip(*costs_us, strict=True))
    return [Result("a call of nothing", f"{eager_us:.3f} µs eager, {compiled_us:.3f} µs compiled")]


def claims_result(part: str, loops: int, speeds: list[Speed]) -> Result:
    """Return how often a difference was claimed, and how wide the intervals were."""
    claims = sum(measured.clear for measured in speeds)
    widths = sorted(measured.interval.half_width for measured in speeds if measured.interval)
    samples = sorted(measured.samples for measured in speeds) or [0]
    wide = f"half width {widths[len(widths) // 2]:.1%}, at most {widths[-1]:.1%}; " if widths else ""
    right = sum(measured.slower for measured in speeds)
    counted = f"found {right}" if part == "slower" else f"no difference {len(speeds) - claims}"
    figure = (
        f"{counted} of {len(speeds)} times, {len(speeds) - len(widths)} with too few samples, "
        f"{sum(bool(measured.disturbed) for measured in speeds)} disturbed; {wide}{samples[0]} to {samples[-1]} pairs"
    )
    what = f"{part}, {'quiet' if not loops else f'beside {loops} busy loops'}"
    if part == "slower":
        passed = right >= LEAST_FOUND * len(speeds)
        return Result(what, figure, "" if loops else "≥ 18 of 20", None if loops else passed)
    return Result(what, figure, "≥ 19 of 20", claims <= max(1, MOST_CLAIMS * len(speeds)))


def run_timing() -> SideTimes | None:
    """Return the timing of a run with the backend `eager`; None if the run was not timed."""
    with temporary_home() as home:
        store = Store(home)
        engine = LocalEngine(store.cache_dir)
        try:
            runner = Runner(store, engine)
            job = CompileJob(Model("code", MODEL), compile=CompileOptions(backend="eager"))
            return open_report(runner.wait(runner.submit(job))).timing
        finally:
            engine.close()


def in_child(part: str, times: int) -> list[Any]:
    """Return timings and the harness's overhead from a process with torch; this process never imports it."""
    command = [sys.executable, "-m", "benchmarks.null_speed", "--child", part, "--times", str(times)]
    done = subprocess.run(command, cwd=PROJECT, env=compile_environment(), stdout=subprocess.PIPE, check=True)
    *timings, cost_us = json.loads(done.stdout)
    return [*(SideTimes(**{**fields, "load": Load(**fields["load"])}) for fields in timings), cost_us]


def timed(part: str, times: int) -> Iterator[dict[str, Any]]:
    """Yield the fields of `SideTimes` for a call, timed alternately with itself or with 5 % more work."""
    from core.worker.measuring.instruments import WallClock
    from core.worker.measuring.pairs import time_sides, timed_side

    calls = products(SIZES[part], SECONDS[part], 1.05 if part == "slower" else 1.0)
    sides = {side: timed_side(call, WallClock("cpu")) for side, call in zip(("eager", "compiled"), calls, strict=True)}
    for index in range(times):
        samples = time_sides(sides)
        tell(f"{part}, {index + 1} of {times}: {len(samples.sides['eager'])} pairs in {samples.spent_s:.1f} s")
        yield asdict(samples)


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Run `count` processes that only keep a CPU busy."""
    loops = [subprocess.Popen([sys.executable, "-c", BUSY_LOOP]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def products(size: int, seconds: float, times: float) -> tuple[Call, Call]:
    """Return a call with matmuls that takes `seconds`, and a call with `times` as many matmuls."""
    import torch

    a = torch.randn(size, size)
    out = torch.empty_like(a)

    def call(count: int) -> None:
        for _ in range(count):
            torch.mm(a, a, out=out)

    one_s = min(seconds_of(lambda: call(2)) for _ in range(50)) / 2
    count = max(1, round(seconds / one_s))
    more = round(times * count)
    return lambda: call(count), lambda: call(more)


def seconds_of(call: Call) -> float:
    """Return the wall-clock seconds of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def harness_us() -> tuple[float, float]:
    """Return the microseconds of an empty call, timed like the worker's eager and compiled calls."""
    from core.worker.calls import Cotangents, PreparedCall
    from core.worker.conditions import Mode, Stance, force_eager
    from core.worker.measuring.pairs import time_calls

    mode, start = Mode(grad=False, inference=False), Cotangents(0)
    stances: tuple[Stance, Stance] = (force_eager, nullcontext)
    calls = (PreparedCall(lambda: None, ((), {}), mode, None, start, stance) for stance in stances)
    samples = time_calls(dict(zip(("eager", "compiled"), calls, strict=True)), "cpu")
    return min(samples.sides["eager"]) * 1e6, min(samples.sides["compiled"]) * 1e6


if __name__ == "__main__":
    main()
