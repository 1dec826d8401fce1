"""python -m benchmarks.witness FILE [--training] [--speed]: print a model's numbers by torch alone.

The model is compiled with torch, and the output is JSON. The file follows Compileboard's convention (`model`,
`inputs` or `calls`, `training`). Separate hooks around torch count everything; neither Compileboard's code
nor its log is used.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
import torch._dynamo.guards
import torch._functorch.config
import torch._inductor.config
import torch._inductor.graph
from torch.utils._pytree import tree_leaves

from benchmarks.witness.graphs import computing, flops, generated_calls, is_view
from benchmarks.witness.touched import touched

Found = dict[str, Any]
BREAK = re.compile(r"Graph [Bb]reak.*? at (\S+?):(\d+)", re.DOTALL)


def main() -> None:
    """Run the file's calls under the hooks, and print the results."""
    options = argparse.ArgumentParser()
    options.add_argument("file", type=Path)
    options.add_argument("--training", action="store_true")
    options.add_argument("--speed", action="store_true")
    arguments = options.parse_args()
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    module = loaded(arguments.file, "witness_model")
    training = arguments.training or bool(getattr(module, "training", False))
    figures = counted(module, training)
    if arguments.speed:
        figures["speed"] = speed(loaded(arguments.file, "witness_timed"), module, training)
    json.dump(figures, out)


def loaded(path: Path, name: str) -> Any:
    torch.manual_seed(0)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    if isinstance(module.model, type):
        module.model = module.model()
    return module


def calls(module: Any) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    several = getattr(module, "calls", None)
    listed = several() if callable(several) else several if several is not None else [module.inputs]
    for index, call in enumerate(listed):
        torch.manual_seed(index)
        yield (
            ((), call) if isinstance(call, dict) else (tuple(call) if isinstance(call, (tuple, list)) else (call,), {})
        )


def called(function: Callable[..., Any], module: Any, call: tuple[Any, Any], training: bool) -> None:
    """Call the function once, with its backward if `training`.

    Without training, gradients are off if the module has parameters. In training without parameters,
    floating-point inputs require gradients.
    """
    parameters = [
        p for value in vars(module).values() if isinstance(value, torch.nn.Module) for p in value.parameters()
    ]
    if not training:
        with torch.set_grad_enabled(not parameters):
            function(*call[0], **call[1])
        return
    if not parameters:
        for leaf in tree_leaves(call):
            if isinstance(leaf, torch.Tensor) and leaf.is_floating_point():
                leaf.requires_grad_(leaf.is_leaf or leaf.requires_grad)
    output = function(*call[0], **call[1])
    wanted = [leaf for leaf in tree_leaves(output) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    torch.autograd.backward(wanted, [torch.ones_like(leaf) for leaf in wanted])


def counted(module: Any, training: bool) -> Found:
    """Run the calls compiled, and return all counts."""
    figures: Found = {"graphs": 0, "guards": [], "breaks": set(), "recompiles": 0, "lowered": [], "schedules": []}
    function = torch.compile(module.model, **getattr(module, "torch_compile", {}))
    saved: list[int] = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        saved.append(tensor.numel() * tensor.element_size())
        return tensor

    with watching(figures), quiet_caches(figures):
        for index, call in enumerate(calls(module)):
            torch.manual_seed(index)
            saved.clear()
            with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
                called(function, module, call, training)
    figures["saved"] = {"values": len(saved), "bytes": sum(saved)}
    figures["graphs"] = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    figures["breaks"] = sorted(figures["breaks"])
    return figures


@contextmanager
def quiet_caches(figures: Found) -> Iterator[None]:
    """Switch off graph caches, so that everything is compiled, and record schedules around fusion."""
    settings = {
        "fx_graph_cache": False,
        "_pre_fusion_custom_pass": lambda nodes: note_schedule(figures, "before", nodes),
        "_post_fusion_custom_pass": lambda nodes: note_schedule(figures, "after", nodes),
    }
    with torch._inductor.config.patch(settings), torch._functorch.config.patch(enable_autograd_cache=False):
        yield


def note_schedule(figures: Found, when: str, nodes: list[Any]) -> list[Any]:
    if when == "before":
        figures["schedules"].append({"compile_id": compile_id(), "flops": library_flops(nodes)})
    counted = {node.get_name(): touched(node) for node in nodes}
    figures["schedules"][-1][when] = {
        name: {"bytes": touched_bytes.bytes, "bounded": sorted(touched_bytes.bounded)}
        for name, touched_bytes in counted.items()
    }
    return nodes


def library_flops(nodes: list[Any]) -> int:
    """Return the FLOPs of FX nodes that became library calls; Inductor generates loops for small matmuls."""
    calls = (part.node for node in nodes for part in node.get_nodes() if part.is_extern())
    return sum(map(flops, {origin for call in calls for origin in call.get_origins()}))


RESETS: list[None] = []


def compile_id() -> str:
    """Return torch's compile id, with the round as prefix after a reset, since ids then begin again."""
    torch_id = str(torch._guards.CompileContext.current_compile_id())
    return f"{len(RESETS) + 1}:{torch_id}" if RESETS else torch_id


@contextmanager
def watching_resets() -> Iterator[None]:
    reset = torch._dynamo.reset

    def noted() -> None:
        RESETS.append(None)
        reset()

    torch._dynamo.reset = noted
    yield
    torch._dynamo.reset = reset


@contextmanager
def watching(figures: Found) -> Iterator[None]:
    """Count guards, lowered graphs and output code by hooks; breaks and recompiles by torch's log."""
    with watching_log(figures), watching_guards(figures), watching_lowering(figures), watching_resets():
        yield


class Listener(logging.Handler):
    """Log handler that collects places of graph breaks and counts recompiles."""

    def __init__(self, figures: Found) -> None:
        super().__init__(logging.DEBUG)
        self.figures = figures

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if record.name.endswith("__recompiles"):
            self.figures["recompiles"] += message.startswith("Recompiling function")
        else:
            self.figures["breaks"].update(":".join(place) for place in BREAK.findall(message))


@contextmanager
def watching_log(figures: Found) -> Iterator[None]:
    torch._logging.set_logs(graph_breaks=True, recompiles=True)
    listener = Listener(figures)
    names = [name for name in logging.root.manager.loggerDict if name.endswith(("__graph_breaks", "__recompiles"))]
    for name in names:
        logging.getLogger(name).handlers[:] = [listener]
        logging.getLogger(name).propagate = False
    yield


@contextmanager
def watching_guards(figures: Found) -> Iterator[None]:
    manager = torch._dynamo.guards.CheckFunctionManager
    original = manager.__init__

    def initialized(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        wrapper = self.guard_manager
        figures["guards"].append([compile_id(), leaves(wrapper.root)])

    manager.__init__ = initialized
    yield
    manager.__init__ = original


def leaves(manager: Any) -> int:
    """Count the leaf guards of the C++ tree below a manager; a relational guard counts once per value."""
    children = list(manager.get_child_managers())
    if hasattr(manager, "get_key_value_managers"):
        children += [child for pair in manager.get_key_value_managers().values() for child in pair if child is not None]
    epilogue = manager.get_epilogue_lambda_guards() if hasattr(manager, "get_epilogue_lambda_guards") else ()
    return len(manager.get_leaf_guards()) + len(epilogue) + sum(map(leaves, children))


@contextmanager
def watching_lowering(figures: Found) -> Iterator[None]:
    lowering = torch._inductor.graph.GraphLowering
    run, save = lowering.run, lowering.save_output_code

    def lowered(self: Any, *args: Any) -> Any:
        nodes = computing(self.module)
        views = sum(is_view(node) for node in nodes)
        figures["lowered"].append(
            {
                "compile_id": compile_id(),
                "name": self.name or "",
                "ops": len(nodes) - views,
                "views": views,
            }
        )
        return run(self, *args)

    lowering.run = lowered
    lowering.save_output_code = staticmethod(lambda code: note_code(figures, code))
    yield
    lowering.run, lowering.save_output_code = run, save


def note_code(figures: Found, code: str) -> None:
    kernels = generated_calls(code)
    figures.setdefault("codes", []).append({"compile_id": compile_id(), "kernels": kernels})


def speed(eager: Any, compiled: Any, training: bool) -> Found:
    """Return five medians of the last call by `torch.utils.benchmark`, for eager and for compiled.

    Blocks of eager and compiled calls alternate.
    """
    from torch.utils.benchmark import Timer

    function = torch.compile(compiled.model, **getattr(compiled, "torch_compile", {}))
    sides = {
        "eager": (eager.model, eager, list(calls(eager))[-1]),
        "compiled": (function, compiled, list(calls(compiled))[-1]),
    }
    for side in sides.values():
        called(*side, training)
    medians: Found = {name: [] for name in sides}
    for _ in range(5):
        for name, side in sides.items():
            timer = Timer("called(*side, training)", globals={"called": called, "side": side, "training": training},
                          num_threads=torch.get_num_threads())  # fmt: skip
            medians[name].append(timer.blocked_autorange(min_run_time=0.3).median)
    return medians


if __name__ == "__main__":
    main()
