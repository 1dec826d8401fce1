"""python -m benchmarks.explain [SAMPLE|FILE …]: compare our counts with `torch._dynamo.explain`.

By default all samples are compared. `explain` runs on the first call of each model, in a process without
Compileboard. The break count of `explain` is always its graph count minus one, but the pages count the places
where Dynamo stopped. So the break reasons of `explain` are compared by place. `explain` names only breaks
that ended a graph with ops. Its reasons `step_unsupported`, where Dynamo steps over one bytecode, are
omitted: torch's log has these breaks at another place.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.homes import PROJECT, compile_environment, temporary_home
from benchmarks.truth import Row
from core import CompileJob, CompileOptions, LocalEngine, Model, Report, Runner, Store, open_report, sample, samples

FIRST_CALL = """
import importlib.util, sys

sys.path.insert(0, {folder!r})
spec = importlib.util.spec_from_file_location("explained", {path!r})
loaded = sys.modules["explained"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(loaded)
model = loaded.model() if isinstance(loaded.model, type) else loaded.model
given = loaded.calls if hasattr(loaded, "calls") else [loaded.inputs]
inputs = next(iter(given() if callable(given) else given))
"""
ASK = """
import json, os, runpy, sys, torch

answer = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
torch.manual_seed(0)
loaded = runpy.run_path(sys.argv[1])
model, inputs = loaded["model"], loaded["inputs"]
args, kwargs = ((), inputs) if isinstance(inputs, dict) else (tuple(inputs), {})
parameters = isinstance(model, torch.nn.Module) and any(True for _ in model.parameters())
with torch.set_grad_enabled(not parameters):
    found = torch._dynamo.explain(model)(*args, **kwargs)
reasons = [reason for reason in found.break_reasons if reason.reason != "step_unsupported"]
places = {f"{reason.user_stack[-1].filename}:{reason.user_stack[-1].lineno}" for reason in reasons}
json.dump({"graphs": found.graph_count, "ops": found.op_count, "breaks": sorted(places)}, answer)
"""


def main() -> int:
    """Print the table; the exit code is 1 if anything differs."""
    names = sys.argv[1:] or [entry.name for entry in samples()]
    different = 0
    print("| model | number | shown | torch._dynamo.explain | |\n|---|---|---|---|---|")
    with temporary_home() as home, tempfile.TemporaryDirectory() as folder:
        store = Store(home)
        engine = LocalEngine(store.cache_dir)
        for name in names:
            path = Path(name).resolve() if name.endswith(".py") else sample(name).path
            for row in rows(Runner(store, engine), path, Path(folder)):
                different += row.verdict.startswith("DIFFERENT")
                print(row.line(path.stem), flush=True)
        engine.close()
    return int(different > 0)


def rows(runner: Runner, path: Path, folder: Path) -> Iterator[Row]:
    """Yield rows for graphs, ops and break places of one model's first call."""
    first = folder / f"first_{path.stem}.py"
    first.write_text(FIRST_CALL.format(folder=str(path.parent), path=str(path)), encoding="utf-8")
    job = CompileJob(Model("file", str(first)), compile=CompileOptions(backend="eager"), training=False, measure=False)
    report = open_report(runner.wait(runner.submit(job)))
    explanation = explained(first)
    yield Row("graphs", len(dynamo_graphs(report)), explanation["graphs"])
    yield Row("ops of Dynamo's graphs", sum(map(ops, dynamo_graphs(report))), explanation["ops"])
    named = sum(any(place in stack for stack in stacks(report)) for place in explanation["breaks"])
    yield Row("breaks that explain names", named, len(explanation["breaks"]))
    yield Row("breaks", len(report.graph_breaks), len(explanation["breaks"]), bound=True)


def stacks(report: Report) -> list[set[str]]:
    """Return the lines of each break, as `file:line`: the place where Dynamo stopped, and its callers.

    `explain` names one line of each break.
    """
    return [
        {f"{place.file}:{place.line}" for place in (graph_break.place, *graph_break.stack)}
        for graph_break in report.graph_breaks
    ]


def dynamo_graphs(report: Report) -> list[Any]:
    """Return Dynamo's output graphs, one for each compilation that has a graph."""
    return [
        graph for compilation in report.compilations if (graph := compilation.graph("dynamo_output_graph")) is not None
    ]


def ops(graph: Any) -> int:
    """Count the function calls in a graph; `explain` counts only these as ops."""
    return int(graph.ops.get("call_function", 0))


def explained(path: Path) -> dict[str, Any]:
    """Return graphs, ops and break places by `explain`, from a process with torch alone; exits on failure."""
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(path)],
        cwd=PROJECT.parent,
        env=compile_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"explain of {path} failed: {done.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


if __name__ == "__main__":
    sys.exit(main())
