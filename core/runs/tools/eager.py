"""The eager equivalent of one kernel: the FX nodes that its arguments are, and the statements between them.

A buffer is the value of the last FX node, in the order of the graph, that the scheduler node which writes it came from.
If that node also belongs to a later scheduler node, the buffer may be only a step of it (a sum on the way to a mean),
or the node is computed twice: such a buffer is not taken as an input, and as an output it may differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod

from core.code.output_code import Buffers
from core.report import FxNode, Kernel, Schedule, SchedulerNode

ANNOTATION = re.compile(r'^(\w+): "[^"]*" = ')
SYMBOL = re.compile(r'(\w+): "Sym\(([^"]*)\)"')
UNREPEATABLE = re.compile(
    r"inductor_(seeds?|random|randint|lookup_seed)|rand|dropout|bernoulli|self\._|ops\.\w+\.\w*[a-z0-9]_\."
)


@dataclass(frozen=True, slots=True)
class Eager:
    """`inputs` from an FX node to the argument that holds it, `outputs` from an argument to the FX node it must equal.

    `statements` compute the outputs from the inputs; `symbols` are placeholders that are sizes, with their expressions;
    `unsure` are outputs that may be a step on the way to their FX node; `unrelated` are written arguments that are no
    FX node's value; `shapes` those of the input nodes whose argument has another one.
    """

    inputs: dict[str, str]
    outputs: dict[str, str]
    statements: tuple[str, ...]
    symbols: dict[str, str]
    unrelated: tuple[str, ...]
    unsure: tuple[str, ...] = ()
    shapes: dict[str, tuple[str, ...]] = field(default_factory=dict)


def eager_of(
    kernel: Kernel,
    schedule: Schedule,
    nodes: Mapping[str, FxNode],
    text: str,
    wrapper: Buffers,
    arguments: Iterable[str],
) -> Eager:
    """Relate the arguments of a kernel's call to FX nodes."""
    kernel_nodes = [node for node in schedule.after if node.kernel == kernel.id]
    reads = {name for node in kernel_nodes for name, _ in node.reads}
    writes = {name for node in kernel_nodes for name, _ in node.writes}
    value_of, unsure_of = _values(schedule, nodes, wrapper)
    inputs: dict[str, str] = {}
    outputs: dict[str, str] = {}
    unrelated: list[str] = []
    for argument in arguments:
        names = wrapper.aliases(argument)
        for name in names:
            if name in reads - writes and (node := value_of.get(name)):
                inputs[node] = argument
        if argument in writes:
            node = value_of.get(argument) or unsure_of.get(argument)
            if node is None:
                unrelated.append(argument)
            else:
                outputs[argument] = node
    symbols = dict(SYMBOL.findall(text))
    layouts = {buffer.name: buffer.shape for buffer in schedule.buffers}
    return _with_statements(
        Eager(inputs, outputs, (), symbols, tuple(unrelated), tuple(unsure_of)), nodes, text, layouts
    )


def _values(schedule: Schedule, nodes: Mapping[str, FxNode], wrapper: Buffers) -> tuple[dict[str, str], dict[str, str]]:
    """Return buffer → the FX node whose value it holds: the certain ones, and the possible ones."""
    unsure: dict[str, str] = {}
    certain = {name: name for name, node in nodes.items() if node.op == "placeholder"}
    shapes = {buffer.name: buffer.shape for buffer in schedule.buffers}
    order = {name: index for index, name in enumerate(nodes)}
    last_use: dict[str, int] = {}
    for index, node in enumerate(schedule.before):
        for origin in node.origins:
            last_use[origin] = index
    for index, node in enumerate(schedule.before):
        origins = sorted((name for name in node.origins if name in order), key=order.__getitem__, reverse=True)
        for buffer, _ in node.writes:
            value = _value(origins, nodes, shapes.get(buffer), _tuple_index(buffer, wrapper))
            if value:
                sure = _is_extern(node) or last_use.get(value, index) <= index
                (certain if sure else unsure)[buffer] = value
    return certain, unsure


def _is_extern(node: SchedulerNode) -> bool:
    return "Extern" in node.kind or "Nop" in node.kind


def _tuple_index(buffer: str, wrapper: Buffers) -> int | None:
    entry = wrapper.items.get(buffer)
    return entry[1] if entry else None


def _value(
    origins: list[str], nodes: Mapping[str, FxNode], shape: tuple[str, ...] | None, index: int | None
) -> str | None:
    """Return the FX node of a buffer of this shape: the last origin if it has as many elements, or an element of a
    tuple.
    """
    if shape is None:
        return None
    for name in origins:
        meta = nodes[name].meta
        if meta is None:
            of_tuple = [node for node in nodes.values() if node.inputs == (name,) and node.target == "operator.getitem"]
            return next((node.name for node in of_tuple if index is not None and node.args == f"{name}[{index}]"), None)
        if _same_size(meta.shape, shape):
            return name
    return None


def _same_size(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    if all(size.isdigit() for size in (*left, *right)):
        return prod(map(int, left)) == prod(map(int, right))
    return sorted(left) == sorted(right)


def _with_statements(
    eager: Eager, nodes: Mapping[str, FxNode], text: str, layouts: Mapping[str, tuple[str, ...]]
) -> Eager:
    """Keep the outputs that can be computed from the inputs, with the statements that do it."""
    lines = text.split("\n")
    available = {*eager.inputs, *eager.symbols}
    needed: set[str] = set()
    outputs: dict[str, str] = {}
    unrelated = list(eager.unrelated)
    for argument, node in eager.outputs.items():
        path = _nodes_between(node, nodes, available, lines)
        if path is None:
            unrelated.append(argument)
            continue
        needed |= path
        outputs[argument] = node
    statements = tuple(_statement(node, lines) for name, node in nodes.items() if name in needed)
    shapes = {
        name: meta.shape
        for name, argument in eager.inputs.items()
        if (meta := nodes[name].meta) is not None and meta.shape != layouts.get(argument)
    }
    unsure = tuple(name for name in outputs if name in eager.unsure)
    return Eager(eager.inputs, outputs, statements, eager.symbols, tuple(unrelated), unsure, shapes)


def _nodes_between(node: str, nodes: Mapping[str, FxNode], available: set[str], lines: list[str]) -> set[str] | None:
    """Return all nodes between a node and the available ones; None if it also depends on something else."""
    needed: set[str] = set()
    waiting = [node]
    while waiting:
        name = waiting.pop()
        if name in available or name in needed:
            continue
        current = nodes.get(name)
        if current is None or current.op != "call_function" or UNREPEATABLE.search(_statement(current, lines)):
            return None
        needed.add(name)
        waiting += current.inputs
    return needed


def _statement(node: FxNode, lines: list[str]) -> str:
    """Return the node's line of the graph's text without its annotation, and without the lifetimes that end there."""
    line = lines[node.line - 1].strip().split(";  ")[0]
    return ANNOTATION.sub(r"\1 = ", line)
