"""Recipes of `tune`: do gains hold when torch alone measures them, and are planted pairs found?

Each subject is searched for COMPILEBOARD_BENCH_SECONDS. Then fresh processes run its file as it was and with the diff
of the recipe, alternately, with torch alone. Subjects are the files of COMPILEBOARD_BENCH_MODELS, three samples, five
models in which two changes help together, and one that nothing helps. COMPILEBOARD_BENCH_NAMES chooses some of them.
With COMPILEBOARD_BENCH_GRID=1 three samples on a GPU are searched, and compared with the best of 24 configurations.
Needs a quiet machine; minutes for each subject.
"""

from __future__ import annotations

import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.homes import compile_environment, temporary_home
from benchmarks.table import Result, print_table, tell
from core import CompileJob, LocalEngine, Model, Runner, Store, Sweep, SweepRunner, new_sweep
from core.analysis.repairs.offers import repaired
from core.commands.sweep import search_sweep
from core.job.gallery import sample
from core.job.text import compile_options_as_text
from core.sweep.model import RIVAL, VARIANT, Axis, AxisValue, FieldValue
from core.sweep.presets import Question, answer
from core.sweep.presets.preset import RecipeFact, TriedFact, listed
from core.sweep.presets.race import Heat, heat_of
from core.sweep.store import SweepRow

MODELS = Path(os.environ.get("COMPILEBOARD_BENCH_MODELS", Path(__file__).with_name("real_models")))
NAMES = tuple(filter(None, os.environ.get("COMPILEBOARD_BENCH_NAMES", "").split(",")))
SECONDS = float(os.environ.get("COMPILEBOARD_BENCH_SECONDS", "300"))
PAIRS = int(os.environ.get("COMPILEBOARD_BENCH_PAIRS", "4"))
LINES = os.environ.get("COMPILEBOARD_BENCH_JSON", "")
WITH_GRID = os.environ.get("COMPILEBOARD_BENCH_GRID", "") == "1"
SAMPLES = ("small_unet", "transformer_block", "gelu_layernorm_residual")
LIMIT_S = 300
# Within this factor of the best of the grid, in this part of its time.
NEAR, PART = 1.05, 1 / 3
GRID: tuple[tuple[str, tuple[FieldValue, ...]], ...] = (
    ("options.max_autotune", (False, True)),
    ("options.triton.cudagraphs", (False, True)),
    ("options.coordinate_descent_tuning", (False, True)),
    ("options.epilogue_fusion", (True, False)),
)
MORE_OF_GRID: tuple[dict[str, FieldValue], ...] = (
    {"options.triton.cudagraphs": True, "options.aggressive_fusion": True},
    {"options.triton.cudagraphs": True, "options.combo_kernels": True},
    {"options.triton.cudagraphs": True, "options.split_reductions": False},
    {"options.triton.cudagraphs": True, "options.cpp_wrapper": True},
    {"options.cpp_wrapper": True},
    {"options.combo_kernels": True},
    {"options.split_reductions": False},
    {"options.max_fusion_size": 8},
)
# Times a call of a file in a fresh process by torch alone; prints the lower quartile and the error against the outputs
# that an earlier process stored.
ALONE = """
import json, runpy, statistics, sys, time
import torch
torch.manual_seed(0)
names = runpy.run_path(sys.argv[1])
model, training = names["model"], names.get("training", False)
calls = names.get("calls") or [names["inputs"]]
def tensors(value):
    if torch.is_tensor(value):
        return [value] if value.is_floating_point() else []
    values = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [each for part in values for each in tensors(part)]
def call(inputs):
    with torch.set_grad_enabled(training):
        result = model(**inputs) if isinstance(inputs, dict) else model(*inputs)
        if training:
            sum(each.sum() for each in tensors(result) if each.requires_grad).backward()
    return result
outputs = [[each.detach().double() for each in tensors(call(inputs))] for inputs in calls]
seconds, end_s = [], time.perf_counter() + 1.5
for _ in range(3):
    call(calls[-1])
while len(seconds) < 8 or time.perf_counter() < end_s:
    begun_s = time.perf_counter()
    call(calls[-1])
    seconds.append(time.perf_counter() - begun_s)
error = 0.0
if sys.argv[3] == "store":
    torch.save(outputs, sys.argv[2])
else:
    for ours, theirs in zip(outputs, torch.load(sys.argv[2])):
        for mine, other in zip(ours, theirs):
            error = max(error, float((mine - other).abs().max() / other.abs().max().clamp_min(1e-30)))
print(json.dumps([statistics.quantiles(seconds, n=4)[0], error]))
"""
PLANTED = """
import torch
torch.manual_seed(0)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        parameter = lambda *shape: torch.nn.Parameter(torch.randn(*shape) / shape[0] ** 0.5)
        self.a, self.b = parameter({inner}, {inner}), parameter({inner}, {inner})
        self.layers = torch.nn.ModuleList(torch.nn.Linear({width}, {width}) for _ in range({layers}))
        self.small = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range({small}))
    def forward(self, x, y):
        x = x + 0.01 * (x[:, :{inner}] @ (self.a @ self.b)).sum(1, keepdim=True)
        for layer in self.layers:
            x = torch.tanh(layer(x))
        for layer in self.small:
            y = torch.tanh(layer(y))
        return x, y
model = Net().eval()
inputs = (torch.randn({rows}, {width}), torch.randn(4, 8))
"""
FREEZING = frozenset({"freezing", "frozen max-autotune"})
WRAPPER = frozenset({"cpp wrapper"})
# Name → the sizes of the model, and the changes of which it needs one each.
PLANTS: dict[str, tuple[dict[str, int], tuple[frozenset[str], ...]]] = {
    f"weights_{inner}_launches_{small}": (
        {"inner": inner, "width": inner, "layers": 1, "small": small, "rows": 4},
        (FREEZING, WRAPPER),
    )
    for inner, small in ((256, 40), (256, 60), (384, 60), (384, 80), (512, 80))
}
NOTHING = """
import torch
torch.manual_seed(0)
def model(a, b):
    return a @ b
inputs = (torch.randn(512, 512), torch.randn(512, 512))
"""


def measure() -> list[Result]:
    """Search all subjects, and measure each recipe anew."""
    if WITH_GRID:
        return list(itertools.chain.from_iterable(map(_compared, NAMES or SAMPLES)))
    return list(itertools.chain.from_iterable(_searched(name, text) for name, text in subjects().items()))


def subjects() -> dict[str, str]:
    """Return the text of each subject's file."""
    texts = {path.stem: path.read_text() for path in sorted(MODELS.glob("*.py"))}
    texts |= {name: sample(name).path.read_text() for name in SAMPLES}
    texts |= {name: PLANTED.format(**sizes) for name, (sizes, _) in PLANTS.items()}
    texts["nothing"] = NOTHING
    return {name: text for name, text in texts.items() if not NAMES or name in NAMES}


def _searched(name: str, text: str) -> Iterator[Result]:
    """Search a subject, and yield what was found and what it gains anew."""
    with temporary_home() as home, closing(LocalEngine(home / "cache")) as engine:
        file = home / f"{name}.py"
        file.write_text(text)
        began_s = time.monotonic()
        sweep, rows, recipe, sentence, texts = _recipe(
            Runner(Store(home), engine), CompileJob(Model("file", str(file)))
        )
        took_s = time.monotonic() - began_s
    found: dict[str, Any] = {"subject": name, "took_s": took_s, "runs": len(rows), "sentence": sentence}
    found |= {"changes": recipe.changes if recipe else (), "disturbed": sum(bool(row.disturbed) for row in rows)}
    found |= {"states": [f"{row.at[0]}: {row.error}" for row in rows if row.state != "done"], "reason": sweep.reason}
    if recipe is not None and texts:
        before, after, error = _anew(name, texts)
        ratios = [left / right for left, right in zip(before, after, strict=True)]
        bounds = (recipe.gain.low, recipe.gain.middle, recipe.gain.high)
        found |= {"gain": bounds, "pairs": recipe.pairs, "anew": ratios, "error": error, "results": recipe.results}
        found |= {"first_call_s": recipe.first_call_s, "accuracy": recipe.accuracy}
    _note(found)
    yield from _results(name, found)


def _recipe(
    runner: Runner, job: CompileJob, seconds: float = SECONDS
) -> tuple[Sweep, tuple[SweepRow, ...], RecipeFact | None, str, tuple[str, str] | None]:
    """Search a job; return the sweep, its rows, the recipe and the file without and with it."""
    environment, sweeps = runner.engine.environment(), SweepRunner(runner)
    sweep = sweeps.start(search_sweep("call", job, environment, False, seconds))
    sweeps.wait(sweep.id)
    stored = sweeps.store.open(sweep.id)
    rows = sweeps.rows(stored)
    result = answer(Question(stored, rows, environment))
    recipe = next((fact for fact in result.facts if isinstance(fact, RecipeFact)), None)
    for fact in result.facts:
        if isinstance(fact, TriedFact) and fact.gain is not None:
            tell(f"{fact.change} {fact.gain.low:.3f} {fact.gain.middle:.3f} {fact.gain.high:.3f} {fact.outcome}")
    run = runner.store.open(recipe.run) if recipe else None
    texts = (repaired(run.original_path.read_text(), [("own_call:model",)]), run.code()) if run else None
    return stored, rows, recipe, result.sentence, texts


def _anew(name: str, texts: tuple[str, str]) -> tuple[list[float], list[float], float]:
    """Return a call's seconds in fresh processes, without and with a recipe, and the largest error."""
    seconds: tuple[list[float], list[float]] = ([], [])
    errors = []
    with tempfile.TemporaryDirectory(prefix="compileboard-bench-") as directory:
        outputs = Path(directory, "outputs")
        for pair in range(PAIRS):
            for side in (0, 1) if pair % 2 == 0 else (1, 0):
                file = Path(directory, f"{name}.py")
                file.write_text(texts[side])
                how = "compare" if outputs.exists() else "store"
                command = [sys.executable, "-c", ALONE, str(file), str(outputs), how]
                environment = compile_environment()
                done = subprocess.run(
                    command, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
                )
                if done.returncode:
                    raise RuntimeError(f"{name} failed: {done.stderr[-2000:]}")
                call_s, error = json.loads(done.stdout.splitlines()[-1])
                seconds[side].append(call_s)
                errors.append(error)
    return *seconds, max(errors)


def _results(name: str, line: dict[str, Any]) -> Iterator[Result]:
    changes = line["changes"]
    if name in PLANTS:
        both = all(lever & {*changes} for lever in PLANTS[name][1])
        yield Result(f"{name}: planted pair", ", ".join(changes) or "nothing", "both", both)
    if name == "nothing":
        yield Result(f"{name}: a model that nothing helps", line["sentence"], "no recipe", not changes)
    elif not changes:
        yield Result(f"{name}: {line['took_s']:.0f} s", line["sentence"])
    if "anew" in line:
        low, middle, high = line["gain"]
        anew = statistics.median(line["anew"])
        figure = f"{', '.join(changes)}: {middle:.3f}× ({low:.3f}–{high:.3f}), anew {anew:.3f}×"
        figure += f", results {line['results']}, relative error {line['error']:.0e}"
        yield Result(f"{name}: {line['took_s']:.0f} s", figure, "within", low <= anew <= high)


def _note(line: dict[str, Any]) -> None:
    tell(json.dumps(line))
    if LINES:
        with Path(LINES).open("a") as file:
            file.write(f"{json.dumps(line)}\n")


def _compared(name: str) -> Iterator[Result]:
    """Time each configuration of the grid, then search with empty caches, and compare the best.

    The proof by pairs takes as long as the search, and is counted apart: the grid has none.
    """
    job = CompileJob(Model("sample", name), device="cuda")
    with temporary_home() as home, closing(LocalEngine(home / "of-grid")) as engine:
        grid_rows = _grid(Runner(Store(home), engine), job)
    grid = {row.at[0]: row.against.middle for row in grid_rows if row.against is not None}
    grid_s = sum(row.took_s or 0.0 for row in grid_rows)
    with temporary_home() as home, closing(LocalEngine(home / "of-search")) as engine:
        _, rows, recipe, sentence, _ = _recipe(Runner(Store(home), engine), job, 2 * PART * grid_s)
    of_pairs = [row for row in rows if heat_of(row.at[0]).stage == "pair"]
    proof_s = sum(row.took_s or 0.0 for row in of_pairs)
    search_s = sum(row.took_s or 0.0 for row in rows) - proof_s
    changes = recipe.changes if recipe else ()
    timed = Heat(changes, "timed")
    gain = next((row.against.middle for row in rows if heat_of(row.at[0]) == timed and row.against), 1.0)
    best = max([1.0, *grid.values()])
    found = {"subject": name, "grid": grid, "grid_s": grid_s, "search_s": search_s, "proof_s": proof_s}
    states = [f"{row.at[0]}: {row.error}" for row in (*grid_rows, *rows) if row.state != "done"]
    bounds = (recipe.gain.low, recipe.gain.middle, recipe.gain.high) if recipe else None
    _note({**found, "changes": changes, "gain": gain, "proven": bounds, "sentence": sentence, "states": states})
    label = max(grid, key=lambda each: grid[each], default="")
    figure = f"{listed(changes) if changes else 'nothing'}: {gain:.3f}×, best of {len(grid)} {best:.3f}× ({label})"
    yield Result(f"{name}: recipe and grid", figure, f"≥ best ÷ {NEAR}", gain * NEAR >= best)
    figure = f"search {search_s:.0f} s, proof {proof_s:.0f} s, grid {grid_s:.0f} s"
    yield Result(f"{name}: seconds", figure, "search ≤ ⅓ of the grid", search_s <= PART * grid_s)


def _grid(runner: Runner, job: CompileJob) -> tuple[SweepRow, ...]:
    """Run the configurations of the grid, each timed beside the default."""
    base = search_sweep("call", job, runner.engine.environment(), False, 0.0).base
    names, values = zip(*GRID, strict=True)
    settings: list[dict[str, FieldValue]] = [
        dict(zip(names, point, strict=True)) for point in itertools.product(*values)
    ]
    rival = compile_options_as_text(base.compile)
    variants: list[AxisValue] = [{**fields, RIVAL: rival} for fields in (*settings, *MORE_OF_GRID)]
    labels = tuple(
        " ".join(f"{name.removeprefix('options.')}={value}" for name, value in fields.items())
        for fields in (*settings, *MORE_OF_GRID)
    )
    sweeps = SweepRunner(runner)
    sweep = sweeps.start(new_sweep(base, (Axis(VARIANT, tuple(variants), labels),)))
    sweeps.wait(sweep.id)
    return sweeps.rows(sweeps.store.open(sweep.id))


if __name__ == "__main__":
    print_table((__doc__ or "").partition("\n")[0], measure())
