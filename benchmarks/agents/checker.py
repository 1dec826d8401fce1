"""Shared parts of the checks: graphs, equal results, times. They import torch, never the product.

`python -m benchmarks.agents.checker TASK DIRECTORY RESULT …` checks the solution in each DIRECTORY.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import math
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from benchmarks.agents.work import environment

# Calls that compute nothing: views of a result, or its value as a number of Python.
FREE = frozenset(
    {"detach", "alias", "view", "_unsafe_view", "lift_fresh", "_local_scalar_dense", "t", "unbind", "select"}
)
REAL_COMPILE = torch.compile
CALIBRATION_SECONDS = 0.02
PAIRS = (5, 15)
PAIR_SECONDS = 15.0
CLOSE = (0.8, 1.5)


class TaskFailure(Exception):
    """The solution misses an aim of the task; the text says which."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Limits of a task.

    `graphs` is the most graphs over all calls, `least_ops` the ops that the largest graph has at least, `loose_ops` the
    most ATen calls outside of graphs. `faster` is the least ratio of the calls' times, `first` that of the first calls.
    """

    fullgraph: bool = False
    graphs: int | None = None
    least_ops: int = 1
    loose_ops: int = 0
    backend: str = "aot_eager"
    tolerance: float = 1e-4
    faster: float | None = None
    first: float | None = None


@dataclass(slots=True)
class Watch:
    """Record of one module's torch.compile: ops of each graph, calls of graphs, other ATen calls."""

    rules: Rules
    graphs: list[int] = field(default_factory=list)
    calls: int = 0
    loose: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    def compile(self, model: Any = None, **options: Any) -> Any:
        """Stand for torch.compile: the same, by a backend that is counted."""
        if model is None:
            return lambda function: self.compile(function, **options)
        if options.pop("disable", False):
            self.refusals.append("torch.compile(disable=True)")
        backend = options.pop("backend", "inductor")
        if backend != "inductor":
            self.refusals.append(f"torch.compile(backend={backend!r})")
        if self.refusals:
            return model
        settings = dict(options.pop("options", None) or {})
        guards = (
            {"options": {"guard_filter_fn": settings.pop("guard_filter_fn")}} if "guard_filter_fn" in settings else {}
        )
        mode = options.pop("mode", None)
        options["fullgraph"] = options.get("fullgraph", False) or self.rules.fullgraph
        if self.rules.backend == "inductor":
            inner: Any = torch._TorchCompileInductorWrapper(mode, settings or None, options.get("dynamic"))
        else:
            inner = torch._dynamo.lookup_backend(self.rules.backend)
        return REAL_COMPILE(model, backend=self._backend(inner), **options, **guards)

    def _backend(self, inner: Any) -> Any:
        def backend(graph: torch.fx.GraphModule, inputs: list[Any], **_options: Any) -> Any:
            self.graphs.append(sum(node.op.startswith("call_") for node in graph.graph.nodes))
            with _disable_current_modes():
                compiled = inner(graph, inputs)

            def run(*values: Any) -> Any:
                self.calls += 1
                with _disable_current_modes():
                    return compiled(*values)

            return run

        return backend

    def call(self, function: Any, *values: Any, **named: Any) -> Any:
        """Call a function of the module, and note the ATen calls outside of graphs."""
        with LooseCalls(self):
            return function(*values, **named)


class LooseCalls(TorchDispatchMode):  # type: ignore[misc]
    """A mode that notes ATen calls on real tensors while no graph runs."""

    supports_higher_order_operators = True

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Return true: Dynamo compiles below this mode too."""
        return True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the operator, and note it if no compilation traces it; graphs run without this mode."""
        result = func(*args, **(kwargs or {}))
        if not torch._guards.TracingContext.try_get():
            name = str(func).removeprefix("aten.").partition(".")[0]
            tensors = [
                leaf for leaf in torch.utils._pytree.tree_leaves((args, result)) if isinstance(leaf, torch.Tensor)
            ]
            real = all(type(leaf) in (torch.Tensor, torch.nn.Parameter) and not leaf.is_meta for leaf in tensors)
            if real and name not in FREE:
                self.watch.loose.append(name)
        return result


def eager_compile(model: Any = None, **_options: Any) -> Any:
    """Stand for torch.compile in the original: eager."""
    return (lambda function: function) if model is None else model


def eager_call(function: Any, *values: Any, **named: Any) -> Any:
    """Call a function of the original in eager."""
    return function(*values, **named)


@contextlib.contextmanager
def replaced_compile(function: Any) -> Iterator[None]:
    """Let `torch.compile` be another function for a while."""
    torch.compile = function
    try:
        yield
    finally:
        torch.compile = REAL_COMPILE


def load(path: Path, name: str) -> ModuleType:
    """Import a file under a name of its own."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise TaskFailure(f"{path.name} is missing")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def difference(expected: Any, actual: Any, tolerance: float, place: str = "result") -> str | None:
    """Return where two results differ first, or None if they are equal."""
    if isinstance(expected, torch.Tensor):
        if not isinstance(actual, torch.Tensor):
            return f"{place}: {type(actual).__name__} instead of a tensor"
        try:
            torch.testing.assert_close(
                actual.detach(), expected.detach(), rtol=tolerance, atol=tolerance, equal_nan=True
            )
        except AssertionError as error:
            return f"{place}: {' '.join(str(error).split())[:200]}"
        return None
    if isinstance(expected, dict):
        if not isinstance(actual, dict) or list(actual) != list(expected):
            return f"{place}: other keys"
        pairs = [(f"{place}[{key!r}]", expected[key], actual[key]) for key in expected]
    elif isinstance(expected, list | tuple):
        if not isinstance(actual, list | tuple) or len(actual) != len(expected):
            return f"{place}: another number of values"
        pairs = [(f"{place}[{number}]", *both) for number, both in enumerate(zip(expected, actual, strict=True))]
    elif isinstance(expected, float):
        same = isinstance(actual, float) and (
            math.isclose(actual, expected, rel_tol=tolerance, abs_tol=tolerance)
            or (actual != actual and expected != expected)
        )
        return None if same else f"{place}: {actual!r} instead of {expected!r}"
    else:
        return None if actual == expected else f"{place}: {actual!r} instead of {expected!r}"[:300]
    return next((text for where, left, right in pairs if (text := difference(left, right, tolerance, where))), None)


def gradients(module: torch.nn.Module) -> dict[str, Any]:
    """Return the gradient of each parameter, by order, whatever a wrapper named it."""
    return {str(number): parameter.grad for number, parameter in enumerate(module.parameters())}


def state(module: torch.nn.Module) -> list[torch.Tensor]:
    """Return copies of the parameters and buffers, in their order."""
    return [tensor.detach().clone() for tensor in module.state_dict().values()]


def printed(function: Callable[[], Any]) -> tuple[Any, str]:
    """Return the function's result and the text that it printed."""
    import io

    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        result = function()
    return result, stream.getvalue()


def judge(task: Path, directory: Path) -> dict[str, Any]:
    """Check a solution and return its figures; raise TaskFailure for the first aim that it misses."""
    check = load(task / "check.py", f"check_{task.name}")
    rules: Rules = check.RULES
    torch.set_num_threads(1)
    with replaced_compile(eager_compile):
        expected = check.run(load(task / "model.py", "original_model"), eager_call)
    watch = Watch(rules)
    with replaced_compile(watch.compile):
        solution = load(directory / "model.py", "solution_model")
        actual = check.run(solution, watch.call)
    figures: dict[str, Any] = {"graphs": watch.graphs, "graph_calls": watch.calls, "loose_ops": len(watch.loose)}
    if text := difference(expected, actual, rules.tolerance):
        raise TaskFailure(f"not equal to eager: {text}")
    if watch.refusals:
        raise TaskFailure(f"compiled by other means: {watch.refusals[0]}")
    if not watch.graphs or not watch.calls:
        raise TaskFailure("nothing was compiled")
    if max(watch.graphs) < rules.least_ops:
        raise TaskFailure(f"the largest graph has {max(watch.graphs)} ops, at least {rules.least_ops} belong into it")
    if rules.graphs is not None and len(watch.graphs) > rules.graphs:
        raise TaskFailure(f"{len(watch.graphs)} compilations, at most {rules.graphs}")
    if len(watch.loose) > rules.loose_ops:
        raise TaskFailure(
            f"{len(watch.loose)} ATen calls outside of graphs, at most {rules.loose_ops}: {watch.loose[:6]}"
        )
    if rules.faster is not None:
        figures["faster"] = compare_calls(check, task, directory, rules.faster)
    if rules.first is not None:
        figures["first"] = compare_first_calls(task, directory, rules.first)
    return figures


def compare_calls(check: ModuleType, task: Path, directory: Path, least: float) -> list[float]:
    """Return the interval of the ratio original to solution of the calls' CPU time, measured alternately."""
    calls: list[Callable[[], Any]] = []
    runs: list[int] = []
    for path in (task, directory):
        call = check.timed(load(path / "model.py", f"timed_{len(calls)}"))
        for _ in range(2):
            call()
        seconds = _call_seconds(call, 1)
        calls.append(call)
        runs.append(max(1, math.ceil(CALIBRATION_SECONDS / max(seconds, 1e-6))))
    ratios: list[float] = []
    begin = time.monotonic()
    while len(ratios) < PAIRS[0] or (len(ratios) < PAIRS[1] and time.monotonic() - begin < PAIR_SECONDS):
        order = (0, 1) if len(ratios) % 2 else (1, 0)
        measured = {number: _call_seconds(calls[number], runs[number]) for number in order}
        ratios.append(measured[0] / measured[1])
    ratios.sort()
    cut = (len(ratios) - 4) // 4 if len(ratios) > PAIRS[0] else 0
    low, high = ratios[cut], ratios[-1 - cut]
    if low < least:
        raise TaskFailure(f"{low:.2f}–{high:.2f} times the speed, at least {least} needed")
    return [round(low, 2), round(high, 2)]


def _call_seconds(call: Callable[[], Any], runs: int) -> float:
    begin = time.process_time()
    for _ in range(runs):
        call()
    return (time.process_time() - begin) / runs


def compare_first_calls(task: Path, directory: Path, least: float) -> list[float]:
    """Return the ratios original to solution of the first calls' CPU time, each in a process of its own."""
    ratios: list[float] = []
    # CPU time is steady: a second pair decides where the first is close to the aim.
    while not ratios or (len(ratios) < PAIRS[0] // 2 and CLOSE[0] < ratios[0] / least < CLOSE[1]):
        seconds = [_first_seconds(task, path) for path in (task, directory)]
        ratios.append(round(seconds[0] / seconds[1], 2))
    if min(ratios) < least:
        raise TaskFailure(f"the first call has {min(ratios):.2f} times the speed, at least {least} needed")
    return sorted(ratios)


def _first_seconds(task: Path, directory: Path) -> float:
    with tempfile.TemporaryDirectory() as cache:
        result = Path(cache, "result.json")
        command = [sys.executable, "-m", "benchmarks.agents.checker", "--first", *map(str, (task, directory, result))]
        run = subprocess.run(command, env=environment(cache), capture_output=True, text=True)
        if not result.exists():
            raise TaskFailure(f"the first call failed: {run.stderr[-300:]}")
        return float(json.loads(result.read_text(encoding="utf-8"))["seconds"])


def first_seconds(task: Path, directory: Path) -> float:
    """Return the CPU seconds of the first call in this process, compilers included."""
    check = load(task / "check.py", f"check_{task.name}")
    torch.set_num_threads(1)
    call = check.timed(load(directory / "model.py", "timed_model"))
    begin = _cpu_seconds()
    call()
    return _cpu_seconds() - begin


def _cpu_seconds() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main() -> None:
    """Check solutions, each in a fork of this process with an empty cache, and write each result as JSON."""
    task, *paths = (Path(text).resolve() for text in sys.argv[1:])
    importlib.import_module("torch._inductor.compile_fx")

    fork = multiprocessing.get_context("fork")
    for directory, result in zip(paths[::2], paths[1::2], strict=True):
        process = fork.Process(target=_check, args=(task, directory, result))
        process.start()
        process.join()


def main_first() -> None:
    """Write the seconds of the first call in this process as JSON."""
    task, directory, result = map(Path, sys.argv[2:])
    sys.path.insert(0, str(directory))
    result.write_text(json.dumps({"seconds": first_seconds(task, directory)}), encoding="utf-8")


def _check(task: Path, directory: Path, result: Path) -> None:
    sys.path.insert(0, str(directory))
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache
        verdict = _verdict(task, directory)
    result.write_text(json.dumps(verdict), encoding="utf-8")


def _verdict(task: Path, directory: Path) -> dict[str, Any]:
    try:
        return {"solved": True, "reason": "", "figures": judge(task, directory)}
    except TaskFailure as failure:
        return {"solved": False, "reason": str(failure), "figures": {}}
    except BaseException as error:
        traceback.print_exc()
        lines = [line for line in str(error).splitlines() if line.strip()]
        reason = f"{type(error).__name__}: {' '.join(lines[:2])[:300]}"
        return {"solved": False, "reason": reason, "figures": {}}


if __name__ == "__main__":
    main_first() if sys.argv[1:2] == ["--first"] else main()
