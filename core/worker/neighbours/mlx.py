"""MLX beside torch: the same functions in both, MLX's lazy graph, and what `mx.eval` and `mx.compile` change."""

from __future__ import annotations

import importlib
import inspect
import re
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch

from core.report import LazyNode, PortedFunction
from core.worker.load import described, seed
from core.worker.measuring.instruments import WallClock
from core.worker.measuring.pairs import LIMIT_S, SampledSide, time_sides
from core.worker.results.compare import compare_leaf

SIZE = 512
NODE = re.compile(r'(\d+) \[label ="([^"]*)"')
READ, WRITE = re.compile(r'^"([^"]*)" -> (\d+)$', re.MULTILINE), re.compile(r'^(\d+) -> "([^"]*)"$', re.MULTILINE)
Function = Callable[[Any], Any]


def _sin_cos(x: torch.Tensor) -> torch.Tensor:
    return torch.sin(x) + torch.cos(x)


def _sin_cos_of_mlx(mx: Any, x: Any) -> Any:
    return mx.sin(x) + mx.cos(x)


def _gelu(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.gelu(x)


def _gelu_of_mlx(mx: Any, x: Any) -> Any:
    return x * (1 + mx.erf(x / 2**0.5)) / 2


def _attention_weights(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(torch.relu(x @ x), -1)


def _attention_weights_of_mlx(mx: Any, x: Any) -> Any:
    return mx.softmax(mx.maximum(x @ x, 0), axis=-1)


def _layer_norm(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.layer_norm(x, x.shape[-1:])


def _layer_norm_of_mlx(mx: Any, x: Any) -> Any:
    return mx.fast.layer_norm(x, None, None, 1e-5)


# Name, and the same function in torch and in MLX.
FUNCTIONS: tuple[tuple[str, Function, Callable[[Any, Any], Any]], ...] = (
    ("sin + cos", _sin_cos, _sin_cos_of_mlx),
    ("GELU", _gelu, _gelu_of_mlx),
    ("matmul, ReLU, softmax", _attention_weights, _attention_weights_of_mlx),
    ("layer norm", _layer_norm, _layer_norm_of_mlx),
)


def ported_functions(measure: bool) -> tuple[PortedFunction, ...]:
    """Compare all functions in torch and MLX; must run in a separate process, since MLX starts threads."""
    mx = importlib.import_module("mlx.core")
    return tuple(_ported(mx, *function, measure) for function in FUNCTIONS)


def _ported(
    mx: Any, name: str, of_torch: Function, function_of_mlx: Callable[[Any, Any], Any], measure: bool
) -> PortedFunction:
    of_mlx: Function = partial(function_of_mlx, mx)
    seed(0)
    x = torch.randn(SIZE, SIZE)
    array = mx.array(x.numpy())
    mx.eval(array)
    before, start = mx.get_active_memory(), time.perf_counter()
    result = of_mlx(array)
    built, built_s = mx.get_active_memory(), time.perf_counter() - start
    graph, start = lazy_graph(mx, result), time.perf_counter()
    mx.eval(result)
    computed_s = time.perf_counter() - start
    compiled = mx.compile(of_mlx)
    return PortedFunction(
        name=name,
        torch=_returned(of_torch),
        mlx=_returned(function_of_mlx),
        inputs=described(((x,), {})),
        differences=tuple(compare_leaf("output", of_torch(x), torch.from_numpy(_numpy(result)))),
        graph=graph,
        compiled_graph=lazy_graph(mx, compiled(array)),
        left=len(lazy_graph(mx, result)),
        built_bytes=built - before,
        computed_bytes=mx.get_active_memory() - built,
        built_s=built_s,
        computed_s=computed_s,
        times=_times(mx, (of_torch, x), (of_mlx, compiled, array)) if measure else None,
    )


def _returned(function: Callable[..., Any]) -> str:
    """Return the code that a function of one line runs."""
    return inspect.getsource(function).partition("return ")[2].strip()


def _numpy(array: Any) -> Any:
    return importlib.import_module("numpy").array(array)


def lazy_graph(mx: Any, result: Any) -> tuple[LazyNode, ...]:
    """Return the graph of what is not computed yet of a result, from `mx.export_to_dot`."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "graph.dot"
        mx.export_to_dot(str(path), result)
        return graph_of_dot(path.read_text(encoding="utf-8"))


def graph_of_dot(text: str) -> tuple[LazyNode, ...]:
    """Return the primitives of a graph of MLX in DOT, in its order, which is that of execution."""
    nodes = NODE.findall(text)
    place = {number: index for index, (number, _) in enumerate(nodes)}
    writer = {array: place[number] for number, array in WRITE.findall(text)}
    reads: dict[str, list[int]] = {number: [] for number, _ in nodes}
    for array, number in READ.findall(text):
        reads[number] += [writer[array]] if array in writer else []
    return tuple(LazyNode(label, tuple(reads[number])) for number, label in nodes)


def _times(mx: Any, ours: tuple[Function, torch.Tensor], theirs: tuple[Function, Function, Any]) -> Any:
    """Time eager, compiled, MLX and compiled MLX, interleaved; MLX's result is computed in each call."""
    (of_torch, x), (of_mlx, compiled, array) = ours, theirs
    wall, of_compiled = WallClock("cpu"), torch.compile(of_torch)
    calls: dict[str, Callable[[], Any]] = {
        "eager": lambda: of_torch(x),
        "compiled": lambda: of_compiled(x),
        "mlx": lambda: mx.eval(of_mlx(array)),
        "mlx compiled": lambda: mx.eval(compiled(array)),
    }
    sides = {name: SampledSide(lambda n, call=call: wall.seconds(call, n)) for name, call in calls.items()}  # type: ignore[misc]
    return time_sides(sides, LIMIT_S / 2, wall.name)
