"""The accelerator's runtime beside torch, in turn, on the same threads: a product, fused elementwise ops, the ABI.

The product is float32 512³, the elementwise ops five in one loop over 4 million elements. The arena is that of the
programs of a transformer block, over the sum of their temporaries.
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
from benchmarks.table import Result, spread

ROUNDS = 40
RUNS = 100
SIZE = 512
ELEMENTS = 4_000_000
PRODUCT_AIM, ELEMENTWISE_AIM = 0.3, 1.0


def measure() -> list[Result]:
    """Run in a process with the fork server's environment; this one stays free of torch."""
    environment = {**compile_environment(), "COMPILEBOARD_CACHE": str(CACHE)}
    command = [sys.executable, "-m", "benchmarks.accelerator"]
    done = subprocess.run(command, cwd=PROJECT, env=environment, stdout=subprocess.PIPE, check=True)
    found = json.loads(done.stdout)
    return [
        _at_least("torch's time over ours: product of 512³", found["product"], PRODUCT_AIM),
        _at_least("torch's time over ours: five elementwise ops, fused", found["elementwise"], ELEMENTWISE_AIM),
        Result("a call across the ABI, beside the runtime's own time", spread(found["call_us"], 2, " µs")),
        Result("the same in the runtime: a program of one op on four numbers", spread(found["one_op_ns"], 0, " ns")),
        Result("a block's program started by C++, over the same started by Python", spread(found["cpp"], 2)),
        Result("loading the program of a transformer block, passes and all", spread(found["load_ms"], 2, " ms")),
        Result("its arena over the sum of its temporaries", spread(found["arena"], 2)),
    ]


def _at_least(what: str, values: list[float], aim: float) -> Result:
    median = sorted(values)[len(values) // 2]
    return Result(what, spread(values), f"≥ {aim}", median >= aim)


def main() -> None:
    """Measure, and print the figures as JSON."""
    answers = os.dup(1)
    os.dup2(2, 1)
    import torch

    product, _ = _pairs(lambda a, b: a @ b, torch.randn(SIZE, SIZE), torch.randn(SIZE, SIZE))
    chain, _ = _pairs(lambda a: (a * 2 + 1).relu() * a - 0.5, torch.randn(ELEMENTS))
    _, calls = _pairs(lambda a: a.relu(), torch.randn(4))
    one = segment_of(lambda a: a.relu(), torch.randn(4))
    one_op = [_run_s(one, [torch.randn(4)]) * 1e9 for _ in range(ROUNDS)]
    load_ms, arena, cpp = _block()
    found = {"product": product, "elementwise": chain, "call_us": calls, "one_op_ns": one_op, "cpp": cpp}
    found |= {"load_ms": load_ms, "arena": arena}
    os.write(answers, json.dumps(found).encode())


def _pairs(function: Callable[..., Any], *inputs: Any) -> tuple[list[float], list[float]]:
    """Torch's seconds over the runtime's, pair by pair, and the microseconds of a call outside of the runtime."""
    segment = segment_of(function, *inputs)
    ratios, beside_us = [], []
    for _ in range(ROUNDS):
        before = segment.crossings.runtime_s, segment.crossings.call_s
        segment(*inputs)
        inside = segment.crossings.runtime_s - before[0]
        beside_us.append((segment.crossings.call_s - before[1] - inside) * 1e6)
        begun = time.perf_counter()
        function(*inputs)
        ratios.append((time.perf_counter() - begun) / inside)
    return ratios[5:], beside_us[5:]


def segment_of(function: Callable[..., Any], *inputs: Any, passes: int | None = None) -> Any:
    """A function as one segment of the accelerator, with all passes unless some are named."""
    from torch._decomp import core_aten_decompositions
    from torch.fx.experimental.proxy_tensor import make_fx

    from core.program import PASSES
    from core.worker.accelerator.lowering import WHOLE
    from core.worker.accelerator.partition import divide
    from core.worker.accelerator.segment import SegmentModule
    from core.worker.accelerator.support import Support

    whole = {op: table for op, table in core_aten_decompositions().items() if op not in WHOLE}
    graph = make_fx(function, tracing_mode="fake", decomposition_table=whole)(*inputs)
    (name,) = divide(graph, Support())
    return SegmentModule(getattr(graph, name), name, sum(PASSES.values()) if passes is None else passes, {})


def _block() -> tuple[list[float], list[float], list[float]]:
    """Of a transformer block's program: milliseconds of loading it, its arena over its temporaries, and its time when
    C++ starts it over that when Python does, in turn.
    """
    import torch

    from core.samples import transformer_block

    parameters = {name: value.detach() for name, value in transformer_block.model.named_parameters()}

    def block(x: Any, *values: Any) -> Any:
        return torch.func.functional_call(transformer_block.model, dict(zip(parameters, values, strict=True)), (x,))

    segment = segment_of(block, *transformer_block.inputs, *parameters.values())
    given = [node.meta["val"] for node in segment.nodes.graph.nodes if node.op == "placeholder"]
    inputs = [torch.randn(value.shape) for value in given]
    info = segment.first.loaded.info
    load_s = [segment._compiled(None)[0].times_s["load and passes"] for _ in range(10)]
    with tempfile.TemporaryDirectory() as name:
        begin = _cb_run(Path(name), segment.first, inputs)
        cpp = [begin() / _run_s(segment, inputs) for _ in range(10)]
    return [seconds * 1e3 for seconds in load_s], [info.arena_bytes / info.temporary_bytes], cpp


def _run_s(segment: Any, inputs: Sequence[Any]) -> float:
    """The median of the runtime's own seconds, started by Python."""
    seconds: list[float] = []
    for _ in range(RUNS):
        before = segment.crossings.runtime_s
        segment(*inputs)
        seconds.append(segment.crossings.runtime_s - before)
    return float(statistics.median(seconds))


def _cb_run(directory: Path, compiled: Any, inputs: Sequence[Any]) -> Callable[[], float]:
    """What starts the same program in C++, and returns the median of the runtime's own seconds."""
    import torch

    from core.worker.accelerator import build

    (directory / "block.cbp").write_bytes(compiled.file)
    given = (inputs[index].detach().contiguous().numpy().tobytes() for index, _, _ in compiled.inputs)
    (directory / "block.inputs").write_bytes(b"".join(given))
    command = [str(build.program("cb_run")), "block.cbp", "block.inputs", "--bench", str(RUNS)]
    command += ["--threads", str(torch.get_num_threads())]

    def run() -> float:
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=True)
        return float(done.stdout.partition("median ")[2].partition(" us")[0]) * 1e-6

    return run


if __name__ == "__main__":
    main()
