"""Compile time of a cold first call with equal layers compiled once: predicted, then measured.

The prediction is the ratio that a run of the unchanged model estimates from its own phases. It is written into the file
that COMPILEBOARD_BENCH_PREDICTIONS names before anything is measured, and read from there if it is known. Then pairs of
fresh processes call torch alone, with empty caches, without and with the repair `compile_layers_once`. Models are the
files of COMPILEBOARD_BENCH_MODELS. CPU seconds count the compilers that torch starts.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.homes import compile_environment, temporary_home
from benchmarks.table import Result, tell
from core import CompileJob, LocalEngine, Model, Runner, Store, open_report
from core.analysis.durations import compile_time_s, seconds_with_regions
from core.analysis.repairs.offers import repaired
from core.job import Conditions

MODELS = Path(os.environ.get("COMPILEBOARD_BENCH_MODELS", Path(__file__).with_name("real_models")))
NAMES = tuple(filter(None, os.environ.get("COMPILEBOARD_BENCH_NAMES", "").split(",")))
PREDICTIONS = Path(os.environ.get("COMPILEBOARD_BENCH_PREDICTIONS", Path(__file__).with_name("regions.jsonl")))
PAIRS = int(os.environ.get("COMPILEBOARD_BENCH_PAIRS", "1"))
AIM = 0.2
REPAIR = "compile_layers_once:model"
LIMIT_S = 1200
# A first call by torch alone; prints its seconds, and the CPU seconds of this process and of the ones it started.
ALONE = """
import json, resource, runpy, sys, time
import torch, torch._dynamo, torch._inductor.compile_fx
names = runpy.run_path(sys.argv[1])
model, training = names["model"], names.get("training", False)
inputs = names.get("inputs") or names["calls"][0]
def cpu_s():
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in both)
compiled, began_s, began_cpu_s = torch.compile(model), time.perf_counter(), cpu_s()
with torch.set_grad_enabled(training):
    result = compiled(**inputs) if isinstance(inputs, dict) else compiled(*inputs)
    if training:
        result = result if torch.is_tensor(result) else result[0]
        result.sum().backward()
print(json.dumps([time.perf_counter() - began_s, cpu_s() - began_cpu_s]))
"""


def measure() -> list[Result]:
    """Predict the ratio of each model that has equal layers, then measure it."""
    files = sorted(path for path in MODELS.glob("*.py") if not NAMES or path.stem in NAMES)
    predicted = _predictions(files)
    return [result for path in files if path.stem in predicted for result in _measured(path, predicted[path.stem])]


def _predictions(files: list[Path]) -> dict[str, dict[str, Any]]:
    """Return the prediction of each model, and append the new ones to the file."""
    lines = PREDICTIONS.read_text().splitlines() if PREDICTIONS.exists() else []
    known = {line["model"]: line for line in map(json.loads, lines)}
    with temporary_home() as home, closing(LocalEngine(home / "cache")) as engine:
        runner = Runner(Store(home), engine)
        for path in files:
            if path.stem not in known and (prediction := _predicted(runner, path)) is not None:
                known[path.stem] = prediction
                with PREDICTIONS.open("a") as file:
                    file.write(f"{json.dumps(prediction)}\n")
    return known


def _predicted(runner: Runner, path: Path) -> dict[str, Any] | None:
    job = CompileJob(Model("file", str(path)), conditions=Conditions(caches="cold"), measure=False)
    report = open_report(runner.wait(runner.submit(job)))
    estimate, whole_s = seconds_with_regions(report), compile_time_s(report)
    if estimate is None:
        tell(f"{path.stem}: no equal layers")
        return None
    ratios = [round(seconds / whole_s, 3) for seconds in (estimate.low, estimate.middle, estimate.high)]
    tell(f"{path.stem}: {ratios} of {whole_s:.1f} s")
    return {"model": path.stem, "ratio": ratios, "compile_s": round(whole_s, 2)}


def _measured(path: Path, prediction: dict[str, Any]) -> list[Result]:
    """Return the predicted ratio beside the measured ones, of CPU seconds and of seconds."""
    text = path.read_text()
    changed = repaired(text, [(REPAIR,)])
    try:
        pairs = [(_alone(path.stem, text), _alone(path.stem, changed)) for _ in range(PAIRS)]
    except RuntimeError as refusal:
        tell(str(refusal))
        return [Result(path.stem, "torch raises")]
    results = []
    for place, unit in ((1, "CPU seconds"), (0, "seconds")):
        sums = [statistics.fmean(side[place] for side in sides) for sides in zip(*pairs, strict=True)]
        low, ratio, high = prediction["ratio"]
        error = ratio * sums[0] / sums[1] - 1
        figure = f"{sums[0]:.1f} → {sums[1]:.1f}, predicted {ratio * sums[0]:.1f} ({low * sums[0]:.1f}–"
        figure += f"{high * sums[0]:.1f}): {error:+.1%}"
        tell(f"{path.stem}: {unit} {figure}")
        results.append(Result(f"{path.stem}: {unit}", figure, f"± {AIM:.0%}", abs(error) <= AIM))
    return results


def _alone(name: str, text: str) -> list[float]:
    """Return the seconds and the CPU seconds of a first call in a fresh process with empty caches."""
    with tempfile.TemporaryDirectory(prefix="compileboard-bench-") as directory:
        file, caches = Path(directory, f"{name}.py"), Path(directory, "caches")
        file.write_text(text)
        environment = {
            **compile_environment(),
            "TORCHINDUCTOR_CACHE_DIR": str(caches),
            "TRITON_CACHE_DIR": str(caches / "triton"),
            "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
            "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
        }
        command = [sys.executable, "-c", ALONE, str(file)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        if done.returncode:
            raise RuntimeError(f"{name} failed: {done.stderr[-2000:]}")
        seconds: list[float] = json.loads(done.stdout.splitlines()[-1])
        return seconds
