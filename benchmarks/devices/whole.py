"""Times of whole calls of the test models: eager, compiled and with CUDA graphs, of two batches.

`call_us` is from the call to the end of its last kernel, `cpu_us` until the call returns, each the median of 30;
`each_us` is that of 30 calls one after another. A training call is the forward and the backward.
"""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks.devices import clock, state

RUNS, FIRST = 30, 8
SMALLER = 16  # a small batch is this part of the large
WAYS = {"eager": None, "compiled": "default", "CUDA graphs": "reduce-overhead"}


def measure_calls(models: Sequence[Path], out: Path, budget_s: float) -> None:
    """Measure the models' calls, and write the file after each; a model that the file has is skipped."""
    data = json.loads(out.read_text()) if out.exists() else {"models": {}, "clocks": []}
    deadline = time.monotonic() + budget_s
    data |= {"device": clock.device_facts(), "software": clock.software()}
    with state.Clocks().sampling() as clocks:
        for path in models:
            if path.stem in data["models"] or time.monotonic() > deadline:
                continue
            start = time.monotonic()
            data["models"][path.stem] = [_measured(path, batch, way) for batch, way in _variants()]
            print(f"{path.stem}: {time.monotonic() - start:.1f} s", flush=True)
            _write(out, data)
    data["clocks"] += clocks.samples
    data["refused"] = state.refusal(data["clocks"])
    _write(out, data)


def _variants() -> Iterator[tuple[str, str]]:
    for batch in ("large", "small"):
        for way in WAYS:
            yield batch, way


def _write(out: Path, data: dict[str, Any]) -> None:
    new = out.with_suffix(".new")
    new.write_text(json.dumps(data, separators=(",", ":")))
    os.replace(new, out)


def _measured(path: Path, batch: str, way: str) -> dict[str, Any]:
    row: dict[str, Any] = {"batch": batch, "way": way}
    try:
        return row | _times(path, batch, way)
    except Exception as error:
        return row | {"problem": f"{type(error).__name__}: {error}"[:300]}


def _times(path: Path, batch: str, way: str) -> dict[str, Any]:
    torch._dynamo.reset()
    torch.set_float32_matmul_precision("highest")
    torch.manual_seed(0)
    model, inputs, training = load(path, batch)
    mode = WAYS[way]
    function = torch.compile(model, mode=mode) if mode else model
    call = _training(function, model, inputs) if training else _inference(function, inputs)
    for _ in range(FIRST):
        call()
    torch.cuda.synchronize()
    walls, cpus = [], []
    for _ in range(RUNS):
        start = time.perf_counter()
        call()
        returned = time.perf_counter()
        torch.cuda.synchronize()
        walls.append(time.perf_counter() - start)
        cpus.append(returned - start)
    start = time.perf_counter()
    for _ in range(RUNS):
        call()
    torch.cuda.synchronize()
    each = (time.perf_counter() - start) / RUNS
    del model, function, call
    torch.cuda.empty_cache()
    rows = {"call_us": statistics.median(walls), "cpu_us": statistics.median(cpus), "each_us": each}
    low, _, high = statistics.quantiles(walls, n=4)
    return {name: round(value * 1e6, 1) for name, value in rows.items()} | {"quartiles_us": [low * 1e6, high * 1e6]}


def load(path: Path, batch: str) -> tuple[Any, list[Any], bool]:
    """Return a test model on the device, its inputs of a batch, and whether it is trained."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # Dynamo looks a model's module up by its name
    spec.loader.exec_module(module)
    inputs = [part.cuda() for part in (small(module.calls[0]) if batch == "small" else module.calls[0])]
    return module.model.cuda(), inputs, module.training


def small(inputs: Sequence[Any]) -> list[Any]:
    """Return inputs of a sixteenth of the batch; an index beside a floating input stays within its rows."""
    made = [part[: max(1, part.shape[0] // SMALLER)].clone() for part in inputs]
    rows = next((part.shape[0] for part in made if part.is_floating_point()), 0)
    return [part % rows if rows and not part.is_floating_point() else part for part in made]


def _inference(function: Callable[..., Any], inputs: Sequence[Any]) -> Callable[[], Any]:
    def call() -> None:
        with torch.no_grad():
            function(*inputs)

    return call


def _training(function: Callable[..., Any], model: Any, inputs: Sequence[Any]) -> Callable[[], Any]:
    parameters = list(model.parameters())

    def call() -> None:
        for parameter in parameters:
            parameter.grad = None
        output = function(*inputs)
        output.backward(torch.ones_like(output))

    return call
