"""Budgets: planted regressions must be found, and unchanged models must not be blamed.

    python -m benchmarks.budgets [--times 20] [--only counts | time] [--repeat 1]

Each model runs twice unchanged and once with each planted change. The first run is the baseline of the
others. With `counts`, a seed selects the model, the change is a graph break, a recompile or a kernel, and
nothing is timed. With `time`, each run is timed interleaved with the baseline, as `check` does, and the
change is 5 % more work: 21 equal parts, not 20.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

from benchmarks.homes import temporary_home
from benchmarks.table import Result, print_table, tell
from core import CompileJob, LocalEngine, Model, Runner, Store
from core.analysis.budget import judge, read_budget
from core.analysis.comparison.matching import RunSide
from core.runs.stored import side_of_run

TIMES = 20
PARTS = ("counts", "time")
BUDGETS = {
    "counts": "results = 'same'\n[more-than-baseline]\ngraph-breaks = 0\nrecompiles = 0\nkernel-calls = 0\n",
    "time": "[more-than-baseline]\ncompiled-call = '2 %'\n",
}
# Planted change → the limit that it exceeds.
PLANTED = {
    "counts": {"graph break": "graph breaks", "recompile": "recompiles", "kernel": "kernel calls"},
    "time": {"time": "compiled call"},
}
LEAST_FOUND, MOST_BLAMED = 1.0, 1 / 20
OPS = ("torch.sin({})", "{} * 2 + 1", "torch.softmax({}, -1)", "{} @ weight", "torch.relu({})", "{} - {}.mean(0)")
STATEMENTS = {
    "graph break": "torch._dynamo.graph_break()",
    "recompile": "x = x + 1 if flag else x",
    "kernel": "x = torch.relu(x @ weight @ weight)",
}
MODEL = """
import torch
weight = torch.randn({size}, {size}) / {size}

def model(x, flag):
{body}
    return x

calls = [(torch.randn(8, {size}), True), (torch.randn(8, {size}), {flag})]
"""
# Matmuls of a size that takes milliseconds on a CPU core.
WORK = """
import torch
weights = [torch.randn({size}, {size}) / {size} for _ in range({parts})]

def model(x):
    for weight in weights:
        x = x @ weight
    return x

inputs = (torch.randn({size}, {size}),)
"""
EQUAL_PARTS = 20


def measure() -> list[Result]:
    """Return the results of `counts` for ten models; `time` takes 15 minutes and is left out."""
    return results(("counts",), 10, 1)


def main() -> None:
    """Run the requested parts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=TIMES)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--repeat", type=int, default=1)
    arguments = parser.parse_args()
    parts = (arguments.only,) if arguments.only else PARTS
    print_table("Budgets", results(parts, arguments.times, arguments.repeat))


def results(parts: Sequence[str], times: int, repeat: int) -> list[Result]:
    """Return how often each planted change, and an unchanged model, was over the budget."""
    with temporary_home() as home, closing(LocalEngine(home)) as engine:
        runner = Runner(Store(home), engine)
        return [result for part in parts for result in _part(runner, part, times, repeat)]


def _part(runner: Runner, part: str, times: int, repeat: int) -> list[Result]:
    budget, over = read_budget(BUDGETS[part]), dict.fromkeys(("", *PLANTED[part]), 0)
    for seed in range(times):
        sides: dict[str, list[RunSide]] = {kind: [] for kind in ("before", "", *PLANTED[part])}
        for _ in range(repeat):
            for kind, runs in sides.items():
                runs.append(_run(runner, part, kind, seed))
        for kind in over:
            judgements = judge(budget, sides[kind], sides["before"])
            failed = {judgement.name for judgement in judgements if judgement.failed}
            over[kind] += PLANTED[part][kind] in failed if kind else bool(failed)
            tell(f"{seed} {kind or 'no change'}: {[(each.name, each.value, each.standing) for each in judgements]}")
    return [
        Result(
            f"{kind or 'no change'} is over the budget ({part})",
            f"{count} of {times}",
            f"≥ {LEAST_FOUND * times:g}" if kind else f"≤ {MOST_BLAMED * times:g}",
            count >= LEAST_FOUND * times if kind else count <= MOST_BLAMED * times,
        )
        for kind, count in over.items()
    ]


def _code(part: str, kind: str, seed: int) -> str:
    if part == "time":
        return WORK.format(size=512, parts=EQUAL_PARTS + (kind == "time"))
    rng = random.Random(seed)
    lines = [f"x = {rng.choice(OPS).replace('{}', 'x')}" for _ in range(rng.randrange(3, 9))]
    if kind:
        lines.insert(rng.randrange(1, len(lines)), STATEMENTS[kind])
    body = "\n".join(f"    {line}" for line in lines)
    return MODEL.format(size=rng.choice((16, 32, 64)), body=body, flag=kind != "recompile")


def _run(runner: Runner, part: str, kind: str, seed: int) -> RunSide:
    job = CompileJob(Model("code", _code(part, "" if kind == "before" else kind, seed)), measure=False)
    if part == "time" and kind != "before":
        job = replace(job, measure=True, rival_code=_code(part, "", seed))
    run = runner.wait(runner.submit(job))
    if run.status().state != "done":
        raise RuntimeError(f"{run.id}: {run.status().reason} {run.output_tail()}")
    return side_of_run(run)


if __name__ == "__main__":
    main()
