"""Second clock: the speedup by the worker's measurement, compared with torch's or Triton's benchmark.

    python -m benchmarks.second_clock [--device cuda] [--batch N] [--markdown] [SAMPLE…]

The second clock is `torch.utils.benchmark.Timer` with torch's number of threads on a CPU, and
`triton.testing.do_bench` on a GPU. The worker's measurement and the second clock time the same calls, in one
process per sample. They agree if our interval overlaps the interval of ratios from the second clock's
quartiles.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.homes import PROJECT, compile_environment
from benchmarks.table import Result, print_table, tell
from core import CompileJob, Model, sample
from core.base import words as fmt

SAMPLES = ("sin_cos", "mlp", "gelu_layernorm_residual", "matmul_relu_softmax", "transformer_block", "llama_block")
SECOND_S = 2.0


@dataclass(frozen=True, slots=True)
class ClockComparison:
    """A sample timed by both clocks.

    `ratio` is our ratio, `second_ratio` the second clock's, each as (low, middle, high). The second clock's
    bounds are from its quartiles. `eager_s` and `compiled_s` are its medians. `disturbed` is why our times are
    unreliable, empty if they are reliable.
    """

    name: str
    ratio: tuple[float, float, float]
    second_ratio: tuple[float, float, float]
    eager_s: float
    compiled_s: float
    disturbed: str

    @property
    def agree(self) -> bool:
        """True if both intervals overlap."""
        return self.ratio[0] <= self.second_ratio[2] and self.second_ratio[0] <= self.ratio[2]


def measure() -> list[Result]:
    """Measure the default samples on the CPU."""
    return [clock_result(row) for row in compared(SAMPLES, "cpu", 0)]


def clock_result(row: ClockComparison) -> Result:
    """Return a row of the table."""
    figure = f"{_ratio(row.ratio)} here, {_ratio(row.second_ratio)} there{row.disturbed and f'; {row.disturbed}'}"
    return Result(row.name, figure, "overlap", row.agree)


def _ratio(bounds: tuple[float, float, float]) -> str:
    return fmt.ratio(bounds[1], (bounds[0], bounds[2]))


def compared(names: tuple[str, ...], device: str, batch: int) -> list[ClockComparison]:
    """Return the comparison of each sample, timed in its own process; `batch` 0 is the sample's own size."""
    comparisons = []
    for name in names:
        command = [sys.executable, "-m", "benchmarks.second_clock", "--child", name, "--device", device]
        command += ["--batch", str(batch)]
        done = subprocess.run(command, cwd=PROJECT, env=compile_environment(), stdout=subprocess.PIPE, check=True)
        fields = json.loads(done.stdout.splitlines()[-1])
        comparisons.append(
            ClockComparison(
                **{**fields, "ratio": tuple(fields["ratio"]), "second_ratio": tuple(fields["second_ratio"])}
            )
        )
        tell(f"{name}: {clock_result(comparisons[-1]).figure}")
    return comparisons


def both(name: str, device: str, batch: int) -> dict[str, Any]:
    """Time one sample by both clocks; return the fields of its `ClockComparison`."""
    from core.analysis.speed import speed
    from core.worker.backends.selection import compiled_by
    from core.worker.calls import ModelCalls
    from core.worker.load import ModelCopy
    from core.worker.measuring.pairs import time_calls

    entry = sample(name)
    sizes = {"batch": batch} if batch else {}
    job = CompileJob(Model("sample", name), device=device, training=entry.training, sizes=sizes)
    copies = [ModelCopy(entry.path, job, f"second_{side}") for side in ("eager", "compiled")]
    functions = [copies[0].model, compiled_by(job, copies[1])]
    sides = []
    for index, (model_copy, function) in enumerate(zip(copies, functions, strict=True)):
        call = ModelCalls(job, model_copy, function, index == 0).next(0)
        assert call is not None
        with call.ready():
            call()
        sides.append(call)
    second_s = [second(call, call.ready, device) for call in sides]
    measured = speed(time_calls(dict(zip(("eager", "compiled"), sides, strict=True)), device))
    assert measured is not None
    assert measured.interval is not None
    (low, eager_s, high), (second_low, compiled_s, second_high) = second_s
    return {
        "name": name,
        "ratio": (measured.interval.low, measured.interval.middle, measured.interval.high),
        "second_ratio": (low / second_high, eager_s / compiled_s, high / second_low),
        "eager_s": eager_s,
        "compiled_s": compiled_s,
        "disturbed": measured.disturbed,
    }


def second(call: Callable[[], Any], ready: Callable[[], Any], device: str) -> tuple[float, float, float]:
    """Return the quartiles of a call's seconds, by torch's benchmark or Triton's."""
    import torch

    with ready():
        if device != "cpu":
            import triton.testing

            low, middle, high = triton.testing.do_bench(call, rep=int(SECOND_S * 500), quantiles=[0.25, 0.5, 0.75])
            return low / 1e3, middle / 1e3, high / 1e3
        from torch.utils.benchmark import Timer

        timer = Timer("call()", globals={"call": call}, num_threads=torch.get_num_threads())
        times = timer.blocked_autorange(min_run_time=SECOND_S).times
        low, middle, high = statistics.quantiles(times, n=4, method="inclusive")
        return low, middle, high


def rows(comparisons: list[ClockComparison], there: str) -> str:
    """Return the table as Markdown."""
    head = f"| sample | eager | compiled | here | {there} | overlap |\n|---|---|---|---|---|---|\n"
    return head + "\n".join(
        f"| {row.name} | {fmt.duration_s(row.eager_s)} | {fmt.duration_s(row.compiled_s)} | {_ratio(row.ratio)} | "
        f"{_ratio(row.second_ratio)} | {'yes' if row.agree else 'no'}{row.disturbed and f'; {row.disturbed}'} |"
        for row in comparisons
    )


def main() -> None:
    """Print the table; with --child, time one sample in this process and print JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("samples", nargs="*")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch", type=int, default=0)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--child")
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(both(arguments.child, arguments.device, arguments.batch)))
        return
    comparisons = compared(tuple(arguments.samples) or SAMPLES, arguments.device, arguments.batch)
    if arguments.markdown:
        print(rows(comparisons, "torch.utils.benchmark" if arguments.device == "cpu" else "triton.testing.do_bench"))
    else:
        print_table((__doc__ or "").partition("\n")[0], [clock_result(row) for row in comparisons])


if __name__ == "__main__":
    main()
