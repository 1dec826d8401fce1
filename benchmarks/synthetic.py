"""Large graphs: time from FX nodes like a transformer's to the graph model, its digest and its levels.

Similar layers are laid out once, so that all levels of 50,000 nodes cost little more than those of 1,000.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from benchmarks.table import Result, at_most, spread
from core.graph.fx import fx_model
from core.graph.levels import digest, level, levels_below
from core.graph.model import GraphModel
from core.report import FxNode, Place, TensorMeta

FILE = "/model.py"
WIDE = ("4", "512", "1024")
HIGH = ("4", "512", "4096")
HEADS = ("4", "16", "512", "64")
SIZES = (1_000, 10_000, 50_000)
ROUNDS = 3
AIM_S = 0.6
STEPS: dict[str, Callable[[GraphModel], object]] = {
    "digest": digest,
    "the top level": level,
    "one layer": lambda model: level(model, len(model.groups) // 2),
    "all levels": lambda model: list(levels_below(model)),
}


def measure() -> list[Result]:
    """Measure each step for each size, each time with a new model.

    The very first layout starts dot, and is not counted.
    """
    level(fx_model(synthetic_nodes(100)))
    return [result for count in SIZES for result in _measure(count)]


def _measure(count: int) -> list[Result]:
    nodes = synthetic_nodes(count)
    seconds: dict[str, list[float]] = {name: [] for name in ("model", *STEPS)}
    for _ in range(ROUNDS):
        start = perf_counter()
        model = fx_model(nodes)
        seconds["model"].append(perf_counter() - start)
        for name, step in STEPS.items():
            start = perf_counter()
            step(model)
            seconds[name].append(perf_counter() - start)
    first = [sum(pair) for pair in zip(seconds["model"], seconds["the top level"], strict=True)]
    lines = [at_most(f"{count:,} nodes: model and top level", first, AIM_S, 3, " s")]
    return lines + [Result(f"{count:,} nodes: {name}", spread(values, 3, " s")) for name, values in seconds.items()]


def synthetic_nodes(count: int, modules: bool = True) -> tuple[FxNode, ...]:
    """Return about `count` nodes: layers of attention and MLP, one after another; with or without modules."""
    graph = _Graph(modules)
    x = graph.add("x", "placeholder", "x", (), WIDE)
    layer = 0
    while len(graph.nodes) < count - 1:
        x = _layer(graph, layer, x)
        layer += 1
    graph.add("output", "output", "output", (x,), None)
    return tuple(graph.nodes)


class _Graph:
    def __init__(self, modules: bool) -> None:
        self.nodes: list[FxNode] = []
        self._modules = modules

    def add(
        self,
        name: str,
        op: str,
        target: str,
        inputs: tuple[str, ...],
        shape: tuple[str, ...] | None,
        module: tuple[str, str] = ("", ""),
        line: int = 0,
    ) -> str:
        """Append a node and return its name."""
        meta = None if shape is None else TensorMeta("f32", shape, (), "cpu")
        path, kind = module if self._modules else ("", "")
        source = Place(FILE, line) if line and self._modules else None
        number = len(self.nodes) + 1
        text = ", ".join(inputs)
        self.nodes.append(FxNode(name, op, target, text, inputs, meta, number, source, f"line {line}", path, kind))  # type: ignore[arg-type]
        return name


def _layer(graph: _Graph, number: int, x: str) -> str:
    path = f"L['self'].layers.{number}"

    def call(op: str, inputs: tuple[str, ...], shape: tuple[str, ...], inside: str, kind: str, line: int) -> str:
        module = (f"{path}.{inside}" if inside else path, kind)
        return graph.add(
            f"{op}_{len(graph.nodes)}", "call_function", f"torch.ops.aten.{op}.default", inputs, shape, module, line
        )

    def parameter(name: str, shape: tuple[str, ...]) -> str:
        return graph.add(f"l_self_modules_layers_modules_{number}_{name}", "placeholder", name, (), shape)

    def norm(source: str, inside: str, line: int) -> str:
        small = (*WIDE[:2], "1")
        mean = call("mean", (source,), small, inside, "LayerNorm", line)
        centred = call("sub", (source, mean), WIDE, inside, "LayerNorm", line)
        square = call("pow", (centred,), WIDE, inside, "LayerNorm", line)
        variance = call("mean", (square,), small, inside, "LayerNorm", line)
        scale = call("rsqrt", (variance,), small, inside, "LayerNorm", line)
        normed = call("mul", (centred, scale), WIDE, inside, "LayerNorm", line)
        return call("mul", (normed, parameter(f"{inside}_weight_", ("1024",))), WIDE, inside, "LayerNorm", line)

    def linear(source: str, inside: str, shape: tuple[str, ...], depth: str, line: int) -> str:
        weight = parameter(f"{inside.replace('.', '_modules_')}_parameters_weight_", (shape[-1], depth))
        turned = call("permute", (weight,), (depth, shape[-1]), inside, "Linear", line)
        flat = call("view", (source,), ("2048", depth), inside, "Linear", line)
        product = call("mm", (flat, turned), ("2048", shape[-1]), inside, "Linear", line)
        return call("view", (product,), shape, inside, "Linear", line)

    normed = norm(x, "norm1", 10)
    heads = []
    for name in ("query", "key", "value"):
        wide = linear(normed, f"attention.{name}", WIDE, "1024", 11)
        parted = call("view", (wide,), ("4", "512", "16", "64"), "attention", "Attention", 12)
        heads.append(call("permute", (parted,), HEADS, "attention", "Attention", 12))
    attended = call("_scaled_dot_product_flash_attention", tuple(heads), HEADS, "attention", "Attention", 13)
    joined = call("view", (attended,), WIDE, "attention", "Attention", 14)
    x = call("add", (x, linear(joined, "attention.out", WIDE, "1024", 15)), WIDE, "", "TransformerBlock", 16)
    up = linear(norm(x, "norm2", 17), "mlp.up", HIGH, "1024", 18)
    down = linear(call("gelu", (up,), HIGH, "mlp", "MLP", 19), "mlp.down", WIDE, "4096", 20)
    return call("add", (x, down), WIDE, "", "TransformerBlock", 21)
