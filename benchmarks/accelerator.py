"""The accelerator's runtime compared with torch and Inductor: CPU time of whole calls, on one thread.

A whole call includes Python, the ABI, the allocation of results, and the runtime. Both sides are timed
interleaved, in random order, until the interval of their ratio is narrow. CPU time excludes other processes.
The memory arena of a transformer block's program is reported as a fraction of the sum of its temporaries.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.homes import CACHE, PROJECT, compile_environment
from benchmarks.shapes import shapes
from benchmarks.table import Result, spread

RUNS = 100
AIM, VECTOR_AIM = 0.5, 0.8
VECTOR = "linear 1x1024x1024"
MOST_S = 1.5


def measure() -> list[Result]:
    """Measure in a process with the fork server's environment, so that this process does not import torch."""
    environment = {**compile_environment(), "COMPILEBOARD_CACHE": str(CACHE), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.accelerator"]
    done = subprocess.run(command, cwd=PROJECT, env=environment, stdout=subprocess.PIPE, check=True)
    figures = json.loads(done.stdout)
    return [
        *(_shape_result(name, shape) for name, shape in figures["shapes"].items()),
        Result("a block's program started by C++, over the same started by Python", spread(figures["cpp"], 2)),
        Result("loading the program of a transformer block, passes and all", spread(figures["load_ms"], 2, " ms")),
        Result("its arena over the sum of its temporaries", spread(figures["arena"], 2)),
    ]


def _shape_result(name: str, figures: dict[str, Any]) -> Result:
    aim = VECTOR_AIM if name == VECTOR else AIM
    low, middle, high = figures["torch"]
    inside = f"{figures['inside_us']:.1f} of {figures['call_us']:.1f} µs in the runtime"
    inductor = f"Inductor's over ours {figures['inductor'][1]:.2f}"
    figure = f"{middle:.2f} ({low:.2f}–{high:.2f}), {inductor}, {inside}"
    return Result(f"torch's time over ours: {name}", figure, f"≥ {aim}", bool(middle >= aim))


def main() -> None:
    """Measure, and print the figures as JSON."""
    answers = os.dup(1)
    os.dup2(2, 1)
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    with torch.no_grad():
        compared = {name: _sides(function, inputs) for name, function, inputs in shapes()}
        load_ms, arena, cpp = _block()
    figures = {"shapes": compared, "cpp": cpp, "load_ms": load_ms, "arena": arena}
    os.write(answers, json.dumps(figures).encode())


def _sides(function: Callable[..., Any], inputs: Sequence[Any]) -> dict[str, Any]:
    """Return the time ratios of torch and Inductor to the segment, and the segment's µs per call.

    The ratios are (low, middle, high). `call_us` is the whole call, `inside_us` its part in the runtime.
    """
    import torch

    segment = segment_of(function, *inputs)
    arguments = [inputs[index] for index in segment.order]
    torch._dynamo.reset()
    compiled = torch.compile(function)
    expected = function(*inputs)
    for result in (segment(*arguments), compiled(*inputs)):
        torch.testing.assert_close(result, expected, rtol=2e-2 if expected.dtype == torch.bfloat16 else 1e-4, atol=1e-4)
    before = segment.crossings.calls, segment.crossings.runtime_s, segment.crossings.call_s
    ratios = {
        "torch": _ratio(lambda: function(*inputs), lambda: segment(*arguments)),
        "inductor": _ratio(lambda: compiled(*inputs), lambda: segment(*arguments)),
    }
    calls = segment.crossings.calls - before[0]
    inside_us = (segment.crossings.runtime_s - before[1]) / calls * 1e6
    return {**ratios, "inside_us": inside_us, "call_us": (segment.crossings.call_s - before[2]) / calls * 1e6}


def _ratio(left: Callable[[], Any], right: Callable[[], Any]) -> tuple[float, float, float]:
    """Return left over right CPU time as (low, middle, high); raises RuntimeError after too few pairs."""
    from core.analysis.interval import median_ratio
    from core.worker.measuring.instruments import WallClock
    from core.worker.measuring.pairs import time_sides, timed_side

    wall = WallClock("cpu", time.thread_time)
    samples = time_sides(
        {"left": timed_side(left, wall), "right": timed_side(right, wall)}, MOST_S, clock=time.thread_time
    )
    ratio = median_ratio(samples.steady("left"), samples.steady("right"))
    if ratio is None:
        raise RuntimeError(f"too few pairs in {MOST_S} s")
    return ratio.low, ratio.middle, ratio.high


def segment_of(function: Callable[..., Any], *inputs: Any, passes: int | None = None) -> Any:
    """Return the accelerator's segment for a function.

    `passes` is a bit mask of the passes, None for all. The segment's argument i is the function's input
    `order[i]`.
    """
    from torch._decomp import core_aten_decompositions
    from torch.fx.experimental.proxy_tensor import make_fx

    from core.accelerator.backend import divide
    from core.accelerator.lowering import WHOLE, Support
    from core.accelerator.program.program import PASSES
    from core.accelerator.segment import SegmentModule

    decompositions = {op: table for op, table in core_aten_decompositions().items() if op not in WHOLE}
    graph = make_fx(function, tracing_mode="fake", decomposition_table=decompositions)(*inputs)
    (name,) = divide(graph, Support())
    (call,) = (node for node in graph.graph.nodes if node.op == "call_module")
    placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
    bits = sum(PASSES.values()) if passes is None else passes
    segment = SegmentModule(getattr(graph, name), name, bits, {})
    segment.order = [placeholders.index(argument) for argument in call.args]
    return segment


def _block() -> tuple[list[float], list[float], list[float]]:
    """Measure the program of a transformer block.

    Return the milliseconds to load it, its arena over the sum of its temporaries, and its time from C++ over its time
    from Python, run alternately.
    """
    import torch

    from core.samples import transformer_block

    parameters = {name: value.detach() for name, value in transformer_block.model.named_parameters()}

    def block(x: Any, *values: Any) -> Any:
        return torch.func.functional_call(transformer_block.model, dict(zip(parameters, values, strict=True)), (x,))

    segment = segment_of(block, *transformer_block.inputs, *parameters.values())
    placeholders = [node.meta["val"] for node in segment.nodes.graph.nodes if node.op == "placeholder"]
    inputs = [torch.randn(value.shape) for value in placeholders]
    info = segment.first.loaded.info
    load_s = [segment._compiled(None, {})[0].times_s["load and passes"] for _ in range(10)]
    with tempfile.TemporaryDirectory() as name:
        begin = _cb_run(Path(name), segment.first, inputs)
        cpp = [begin() / _run_s(segment, inputs) for _ in range(10)]
    return [seconds * 1e3 for seconds in load_s], [info.arena_bytes / info.temporary_bytes], cpp


def _run_s(segment: Any, inputs: Sequence[Any]) -> float:
    """Return the median seconds per run in the runtime, with the program started from Python."""
    seconds: list[float] = []
    for _ in range(RUNS):
        before = segment.crossings.runtime_s
        segment(*inputs)
        seconds.append(segment.crossings.runtime_s - before)
    return float(statistics.median(seconds))


def _cb_run(directory: Path, compiled: Any, inputs: Sequence[Any]) -> Callable[[], float]:
    """Return a function that runs the program in C++ and returns the median seconds in the runtime."""
    from core.accelerator import library

    (directory / "block.cbp").write_bytes(compiled.file)
    buffers = (inputs[plan.argument].detach().contiguous().numpy().tobytes() for plan in compiled.inputs)
    (directory / "block.inputs").write_bytes(b"".join(buffers))
    command = [str(library.program("cb_run")), "block.cbp", "block.inputs", "--bench", str(RUNS), "--threads", "1"]

    def run() -> float:
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=True)
        return float(done.stdout.partition("median ")[2].partition(" us")[0]) * 1e-6

    return run


if __name__ == "__main__":
    main()
