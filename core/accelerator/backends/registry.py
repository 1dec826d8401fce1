"""A backend with a table of kernels: each graph becomes a linear program that runs in order.

    model = torch.compile(model, backend=backend, options={"without": "relu,mm"})

AOTAutograd first lowers the forward and backward graphs to ATen ops: `x @ w` and `torch.matmul(x, w)` are one op.
torch runs an op that has no kernel, has another dtype than float32, or is named in `without`; the program says why.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from torch._guards import CompileContext
from torch._logging import trace_structured
from torch.fx import GraphModule, Node
from torch.fx.node import map_aggregate, map_arg

aten = torch.ops.aten
LOGGED = 2  # number of logged executions of each program


def gelu(x: torch.Tensor, *, approximate: str = "none") -> torch.Tensor:
    cubic = (2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)
    return 0.5 * x * (1 + (torch.tanh(cubic) if approximate == "tanh" else torch.erf(x * 0.5**0.5)))


def softmax(x: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
    powers = torch.exp(x - x.amax(dim, keepdim=True))
    return (powers / powers.sum(dim, keepdim=True)).contiguous()


def layer_norm(x: torch.Tensor, shape: Sequence[int], weight: Any, bias: Any, eps: float) -> tuple[torch.Tensor, ...]:
    variance, mean = torch.var_mean(x, tuple(range(-len(shape), 0)), correction=0, keepdim=True)
    scale = torch.rsqrt(variance + eps)
    y = (x - mean) * scale * (1 if weight is None else weight) + (0 if bias is None else bias)
    return y.contiguous(), mean, scale


# A kernel has the op's arguments and returns its result. To support another op, add a line.
KERNELS: dict[Any, Callable[..., Any]] = {
    **dict.fromkeys((aten.mm.default, aten.bmm.default), torch.matmul),
    aten.addmm.default: torch.addmm,
    aten.add.Tensor: lambda a, b, *, alpha=1: a + alpha * b,
    aten.mul.Tensor: lambda a, b: a * b,
    aten.relu.default: lambda x: x.clamp(min=0),
    aten.gelu.default: gelu,
    aten._softmax.default: softmax,
    aten.native_layer_norm.default: layer_norm,
    aten.t.default: torch.t,
    aten.transpose.int: torch.transpose,
    aten.permute.default: torch.permute,
    **dict.fromkeys((aten.view.default, aten._unsafe_view.default), torch.reshape),
}


class Value(str):
    """The name of an input, of a constant, or of an earlier instruction's result."""


class Instruction(NamedTuple):
    """A step of a program: a kernel, or torch's op with the reason why no kernel runs."""

    name: str
    op: str
    function: Callable[..., Any]
    args: Any
    ran_by: str
    reason: str


class Program:
    """A linear program: inputs, constants, instructions and output. It no longer needs the graph."""

    def __init__(self, gm: GraphModule, direction: str, without: Sequence[str]) -> None:
        self.inputs = [node.name for node in gm.graph.find_nodes(op="placeholder")]
        self.constants = {node.name: getattr(gm, node.target) for node in gm.graph.find_nodes(op="get_attr")}
        self.instructions = [compiled(node, without) for node in gm.graph.nodes if node.op == "call_function"]
        self.output = map_arg(gm.graph.output_node().args[0], lambda node: Value(node.name))
        self.told, self.executions = (direction, str(CompileContext.current_compile_id() or "")), 0
        steps = [(step.name, step.ran_by, step.op, step.reason) for step in self.instructions]
        rows = [*((name, "input", "", "") for name in self.inputs), *steps, ("output", "output", "", "")]
        tell("Program", self.told, ("node", "run by", "op", "why torch"), rows)

    def __call__(self, *inputs: Any) -> Any:
        """Execute the instructions in order, and log the first executions; raises RuntimeError if an op fails."""
        values, log = {**self.constants, **dict(zip(self.inputs, inputs, strict=True))}, []
        for step in self.instructions:
            args, kwargs = filled(step.args, values)
            started = time.perf_counter()
            try:
                values[step.name] = step.function(*args, **kwargs)
            except Exception as error:
                raise RuntimeError(f"{step.name} = {step.op} of {shapes(args)}, by {step.ran_by}: {error}") from error
            if self.executions < LOGGED:
                spent_us = round((time.perf_counter() - started) * 1e6, 1)
                log.append((step.name, spent_us, step.ran_by, shapes((args, kwargs)), shapes(values[step.name])))
        self.executions += 1
        if log:
            tell(f"Execution {self.executions}", self.told, ("node", "µs", "run by", "in", "out"), log)
        return filled(self.output, values)


def compiled(node: Node, without: Sequence[str]) -> Instruction:
    """Return the instruction of a node: a kernel, or torch's op with the reason why no kernel runs."""
    op = node._pretty_print_target(node.target).removeprefix("torch.ops.")
    values = [item.meta.get("val") for item in node.all_input_nodes]
    others = {value.dtype for value in values if isinstance(value, torch.Tensor)} - {torch.float32}
    if node.target not in KERNELS:
        reason = f"no kernel for {op}"
    elif others:
        reason = f"kernels are for float32, and this is {others.pop()}"
    else:
        reason = "switched off" if node.target.overloadpacket.__name__ in without else ""
    function, ran_by = (node.target, "torch") if reason else (KERNELS[node.target], "kernel")
    args = map_arg((node.args, node.kwargs), lambda node: Value(node.name))
    return Instruction(node.name, op, function, args, ran_by, reason)


def filled(args: Any, values: Mapping[str, Any]) -> Any:
    return map_aggregate(args, lambda arg: values[arg] if isinstance(arg, Value) else arg)


def shapes(value: Any) -> str:
    return ", ".join(
        str(list(leaf.shape)) for leaf in torch.utils._pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)
    )


def tell(title: str, headline: tuple[str, str], columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write a table to torch's trace, where Compileboard reads it; does nothing if no trace is written."""
    table = {"title": f"{title}, {headline[0]}", "columns": columns, "rows": rows, "compilation": headline[1]}
    name = {"name": "backend_table", "encoding": "json"}
    trace_structured("artifact", lambda: name, payload_fn=lambda: json.dumps(table), expect_trace_id=False)


def backend(gm: GraphModule, example_inputs: Sequence[Any], options: Mapping[str, Any] | None = None) -> Any:
    """Compile a graph; the option `without` names ops that torch runs, such as `relu,mm`."""
    without = str((options or {}).get("without", "")).split(",")

    def compiler(direction: str) -> Callable[..., Any]:
        return lambda lowered, _: make_boxed_func(Program(lowered, direction, without))

    names = {"fw_compiler": "forward", "bw_compiler": "backward", "inference_compiler": "inference"}
    return aot_autograd(**{name: compiler(direction) for name, direction in names.items()})(gm, example_inputs)
