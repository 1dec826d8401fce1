"""Second clock: eager over compiled as the worker measures it, and by torch's or Triton's own benchmark.

    python -m benchmarks.second_clock [--device cuda] [--batch N] [--markdown] [SAMPLE…]

On a CPU the second clock is `torch.utils.benchmark.Timer` with as many threads as torch has, on a GPU
`triton.testing.do_bench`. Both time the very same calls, in one process for each sample. They agree if the interval of
ours overlaps the quartiles of the second.
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
class Compared:
    """A sample timed by both clocks.

    `ours` is the ratio with its interval, `theirs` the second clock's ratio with the bounds that its quartiles allow;
    then the sample's seconds.
    """

    name: str
    ours: tuple[float, float, float]
    theirs: tuple[float, float, float]
    eager_s: float
    compiled_s: float
    disturbed: str

    @property
    def agree(self) -> bool:
        """True if both intervals overlap."""
        return self.ours[0] <= self.theirs[2] and self.theirs[0] <= self.ours[2]


def measure() -> list[Result]:
    """Measure all samples on the CPU."""
    return [told(found) for found in compared(SAMPLES, "cpu", 0)]


def told(found: Compared) -> Result:
    """Return a row of the table."""
    figure = f"{_ratio(found.ours)} here, {_ratio(found.theirs)} there{found.disturbed and f'; {found.disturbed}'}"
    return Result(found.name, figure, "overlap", found.agree)


def _ratio(found: tuple[float, float, float]) -> str:
    return fmt.ratio(found[1], (found[0], found[2]))


def compared(names: tuple[str, ...], device: str, batch: int) -> list[Compared]:
    """Compare each sample in its own process."""
    found = []
    for name in names:
        command = [sys.executable, "-m", "benchmarks.second_clock", "--child", name, "--device", device]
        command += ["--batch", str(batch)]
        done = subprocess.run(command, cwd=PROJECT, env=compile_environment(), stdout=subprocess.PIPE, check=True)
        item = json.loads(done.stdout.splitlines()[-1])
        found.append(Compared(**{**item, "ours": tuple(item["ours"]), "theirs": tuple(item["theirs"])}))
        tell(f"{name}: {told(found[-1]).figure}")
    return found


def both(name: str, device: str, batch: int) -> dict[str, Any]:
    """Time one sample by both clocks."""
    from core.analysis import speed
    from core.report import Timing
    from core.worker.calls import TwinCalls
    from core.worker.compiling import compiled_by
    from core.worker.load import Twin
    from core.worker.measuring.pairs import TimedSide, in_turn

    item = sample(name)
    sizes = {"batch": batch} if batch else {}
    job = CompileJob(Model("sample", name), device=device, training=item.training, sizes=sizes)
    twins = [Twin(item.path, job, f"second_{side}") for side in ("eager", "compiled")]
    functions = [twins[0].model, compiled_by(job, twins[1])]
    sides = []
    for index, (twin, function) in enumerate(zip(twins, functions, strict=True)):
        call = TwinCalls(job, twin, function, index == 0).next(0)
        assert call is not None
        with call.ready():
            call()
        sides.append(call)
    theirs = [second(call, call.ready, device) for call in sides]
    one, other = (TimedSide(call, call.ready) for call in sides)
    samples = in_turn(one, other, device)
    found = speed(Timing(tuple(samples.left_s), tuple(samples.right_s), samples.warm_up, 1, load=samples.load))
    assert found is not None
    assert found.interval is not None
    (low, eager_s, high), (other_low, compiled_s, other_high) = theirs
    return {
        "name": name,
        "ours": (found.interval.low, found.interval.middle, found.interval.high),
        "theirs": (low / other_high, eager_s / compiled_s, high / other_low),
        "eager_s": eager_s,
        "compiled_s": compiled_s,
        "disturbed": found.disturbed,
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


def rows(found: list[Compared], there: str) -> str:
    """Return the table as Markdown."""
    head = f"| sample | eager | compiled | here | {there} | overlap |\n|---|---|---|---|---|---|\n"
    return head + "\n".join(
        f"| {item.name} | {fmt.duration_s(item.eager_s)} | {fmt.duration_s(item.compiled_s)} | {_ratio(item.ours)} | "
        f"{_ratio(item.theirs)} | {'yes' if item.agree else 'no'}{item.disturbed and f'; {item.disturbed}'} |"
        for item in found
    )


def main() -> None:
    """Print the table; with --child, be the process that times one sample, and print JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("samples", nargs="*")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch", type=int, default=0)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--child")
    asked = parser.parse_args()
    if asked.child:
        print(json.dumps(both(asked.child, asked.device, asked.batch)))
        return
    found = compared(tuple(asked.samples) or SAMPLES, asked.device, asked.batch)
    if asked.markdown:
        print(rows(found, "torch.utils.benchmark" if asked.device == "cpu" else "triton.testing.do_bench"))
    else:
        print_table((__doc__ or "").partition("\n")[0], [told(item) for item in found])


if __name__ == "__main__":
    main()
