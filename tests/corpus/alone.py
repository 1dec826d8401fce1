"""torch alone: `python -m tests.corpus.alone` takes tasks, a line of JSON each, and prints what torch counts in each.

A task has the code to compile, the code whose eager results it must have, options of `torch.compile`, settings of
`torch._dynamo.config`, and `training`. Each task runs in a fresh process, which is forked after torch's import.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
import torch._dynamo
import torch._inductor.compile_fx
from torch._dynamo.utils import clear_compilation_metrics, counters, get_compilation_metrics
from torch.utils._pytree import tree_leaves, tree_map_only

LIMIT_S = 240
OPTIONS = ("fullgraph", "dynamic", "backend", "mode", "options")
Task = dict[str, Any]


def loaded(code: str, name: str) -> dict[str, Any]:
    """Return the names of a file that was executed as a module."""
    path = Path(tempfile.mkdtemp()) / f"{name}.py"
    path.write_text(code, encoding="utf-8")
    # Dynamo imports the module of a function that it resumes.
    module = sys.modules[name] = ModuleType(name)
    module.__file__ = str(path)
    seeded()
    exec(compile(code, str(path), "exec"), vars(module))
    return vars(module)


def seeded() -> None:
    """Seed all generators, so that both sides draw the same numbers."""
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)


def calls_of(names: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Yield the arguments of each call of a file."""
    listed = names["calls"] if "calls" in names else [names["inputs"]]
    for each in listed() if callable(listed) else listed:
        args, kwargs = ((), each) if isinstance(each, dict) else (each, {})
        yield (tuple(args) if isinstance(args, (tuple, list)) else (args,)), kwargs


def results(names: dict[str, Any], called: Callable[..., Any], training: bool) -> dict[str, Any]:
    """Return the outputs and changed inputs of all calls, gradients and buffers by name, and the printed text."""
    outputs: list[Any] = []
    inputs: list[Any] = []
    printed = io.StringIO()
    model = names["model"]
    seeded()
    with contextlib.redirect_stdout(printed):
        for args, kwargs in calls_of(names):
            output = called(*args, **kwargs)
            output = list(output) if isinstance(output, Generator) else output
            if training:
                sums = [each.sum() for each in tree_leaves(output) if isinstance(each, torch.Tensor)]
                sum(each for each in sums if each.requires_grad).backward()
            outputs.append(_copied(output))
            inputs.append(_copied((args, kwargs)))
    named: dict[str, Any] = {}
    if isinstance(model, torch.nn.Module):
        named = {name: each.grad for name, each in model.named_parameters()} | dict(model.named_buffers())
    lines = sorted(printed.getvalue().split("\n"))
    return {"outputs": outputs, "inputs": inputs, "named": _copied(named), "printed": lines}


def _copied(values: Any) -> Any:
    return tree_map_only(torch.Tensor, lambda each: each.detach().clone(), values)


def same_results(expected: dict[str, Any], made: dict[str, Any], is_rewritten: bool) -> bool:
    """Return True if the results are those of the original code; a buffer that it does not have is not compared.

    Rewritten code may take other inputs and have other parameters.
    """
    keys = ("outputs", "printed") if is_rewritten else ("outputs", "printed", "inputs")
    names = [name for name in expected["named"] if not is_rewritten or name in made["named"]]
    named = {name: made["named"].get(name) for name in names}
    return all(agree(expected[key], made[key]) for key in keys) and all(
        agree(expected["named"][name], named[name]) for name in names
    )


def agree(left: Any, right: Any) -> bool:
    """Return True if both sides have the same tensors, within torch's tolerances, and equal values elsewhere."""
    ours, theirs = tree_leaves(left), tree_leaves(right)
    if len(ours) != len(theirs):
        return False
    return all(_agree(*pair) for pair in zip(ours, theirs, strict=True))


def _agree(left: Any, right: Any) -> bool:
    if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
        try:
            torch.testing.assert_close(left, right, equal_nan=True)
        except AssertionError:
            return False
        return True
    if isinstance(left, float) and isinstance(right, (float, int)):
        return abs(left - right) <= 1e-5 * max(1.0, abs(left)) or left != left
    kinds = (int, str, bool, float, type(None), torch.Tensor)
    return left == right if isinstance(left, kinds) or isinstance(right, kinds) else True


def counted() -> dict[str, int]:
    """Return what torch counted in this process."""
    metrics = [each for each in get_compilation_metrics() if each.compile_id and each.co_name]
    ids = {each.compile_id.split("_")[0] for each in metrics if not each.fail_type}
    failed = {each.compile_id.split("_")[0] for each in metrics if each.fail_type}
    return {
        "graphs": counters["stats"]["unique_graphs"],
        "breaks": sum(counters["graph_break"].values()) + sum(counters["unimplemented"].values()),
        "recompiles": sum(not each.endswith("/0") for each in ids),
        "skipped": len(failed),
    }


def outcome(task: Task) -> dict[str, Any]:
    """Compile the code of a task, and return the counts, and whether the results are those of the original code."""
    if task["is_script"]:
        return script_outcome(task)
    original = loaded(task["original"], "original")
    try:
        expected = results(original, original["model"], task["training"])
    except Exception:
        # Some operators compile their functions without torch.compile, too.
        followed = loaded(task["code"], "original")
        expected = results(followed, followed["model"], task["training"])
    torch._dynamo.reset()
    counters.clear()
    clear_compilation_metrics()
    names = loaded(task["code"], "followed")
    for name, value in task["dynamo"].items():
        setattr(torch._dynamo.config, name, value)
    options = {**task["options"], **names.get("torch_compile", {})} if task["own_options"] else task["options"]
    compiled = torch.compile(names["model"], **options)
    training = bool(names.get("training", task["training"]))
    made = results(names, compiled, training)
    confirmed = names["confirmed"]() if "confirmed" in names else True
    return {**counted(), "same": same_results(expected, made, task["own_options"]), "confirmed": bool(confirmed)}


def script_outcome(task: Task) -> dict[str, Any]:
    """Run a script, and return the counts, and whether it prints what the original script prints eagerly.

    An original that raises eagerly, too, as in `torch.export`, has no results to compare with.
    """
    printed: list[str | None] = []
    for code, eagerly in ((task["original"], True), (task["code"], False)):
        torch._dynamo.reset()
        counters.clear()
        clear_compilation_metrics()
        text = io.StringIO()
        stance = torch.compiler.set_stance("force_eager") if eagerly else contextlib.nullcontext()
        with contextlib.redirect_stdout(text), stance:
            for name, value in task["dynamo"].items():
                setattr(torch._dynamo.config, name, value)
            try:
                names = loaded(code, "__main__")
            except Exception:
                if not eagerly:
                    raise
                printed.append(None)
                continue
        printed.append(text.getvalue())
    confirmed = names["confirmed"]() if "confirmed" in names else True
    return {**counted(), "same": printed[0] in (None, printed[1]), "confirmed": bool(confirmed)}


def forked(task: Task) -> dict[str, Any]:
    """Return the outcome of a task in a process of its own; `error` if it raised or ended."""
    with tempfile.NamedTemporaryFile("r") as file:
        child = os.fork()
        if child == 0:
            signal.alarm(LIMIT_S)
            try:
                made = outcome(task)
            except BaseException as error:
                traceback.print_exc()
                made = {"error": f"{type(error).__name__}: {error}"[:200]}
            Path(file.name).write_text(json.dumps(made), encoding="utf-8")
            os._exit(0)
        _, status = os.waitpid(child, 0)
        text = file.read()
    return json.loads(text) if text else {"error": f"the process ended with {status}"}


def main() -> None:
    """Read tasks from standard input, and print their outcomes."""
    torch.set_num_threads(1)
    with open(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)
        for line in sys.stdin:
            print(json.dumps(forked(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
