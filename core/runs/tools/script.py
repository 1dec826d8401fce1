"""Script that reproduces one kernel: its inputs, source and call, and the equivalent eager ops.

The eager ops are the statements of the FX graph that compute the kernel's outputs from its inputs.

A buffer has the value of the last FX node, in graph order, among the origins of the scheduler node that
writes it. If that FX node also belongs to a later scheduler node, the buffer may be an intermediate value
(such as a sum before a mean), or the node is computed twice. Such a buffer is not used as an input, and may
differ as an output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

from core.base.decoder import toml_as
from core.base.tolerances import BY_ELEMENT, BY_ELEMENT_OTHERWISE
from core.code.output_code import HEURISTIC, Buffers, Shape, definition_in, tensor_names
from core.report import Compilation, FxNode, Kernel, Schedule, SchedulerNode

SET_DRIVER = "triton_helpers.set_driver_to_gpu()"
GRIDS = {"Grid1D": ("x",), "Grid2D": ("x", "y"), "Grid3D": ("x", "y", "z")}
# Texts of the script; `head` and `tail` are format strings.
PARTS = toml_as(Path(__file__).with_name("script.toml"), dict[str, str])
DEVICE = re.compile(r"\bdevice\(type='\w+'(?:, index=\d+)?\)")
ANNOTATION = re.compile(r'^(\w+): "[^"]*" = ')
SYMBOL = re.compile(r'(\w+): "Sym\(([^"]*)\)"')
UNREPEATABLE = re.compile(
    r"inductor_(seeds?|random|randint|lookup_seed)|rand|dropout|bernoulli|self\._|ops\.\w+\.\w*[a-z0-9]_\."
)


def reproduction(
    run: str,
    kernel: Kernel,
    compilation: Compilation,
    definition: str,
    call: Sequence[str],
    shapes: dict[str, Shape],
    eager: Eager,
) -> str:
    """Return the script's text. `shapes` are the shapes of the tensors in the call."""
    triton = kernel.language == "triton"
    head = PARTS["head"].format(
        name=kernel.name,
        run=run,
        needs="torch and a GPU" if triton else "torch and a C++ compiler",
        more="TRITON_INTERPRET=1 python repro.py   # on the CPU, in Triton's interpreter\n" if triton else "",
        setup=PARTS["triton_setup" if triton else "cpp_setup"],
        symbols=_symbols(compilation, eager),
    )
    source = _triton(definition, call) if triton else _cpp(definition, kernel.name, call)
    parts = [head, source, _arguments(shapes), _eager(eager, call), _tail(eager)]
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(parts))


def _symbols(compilation: Compilation, eager: Eager) -> str:
    values = [f"{symbol.name} = {symbol.value}" for symbol in compilation.symbols if symbol.value.lstrip("-").isdigit()]
    return "\n".join(values) + "\n" if values else ""


def _cpp(definition: str, name: str, call: Sequence[str]) -> str:
    return (
        f"async_compile = AsyncCompile()\n{definition}\nasync_compile.wait(globals())\n\n\n"
        f"def launch({_parameters(call)}):\n    {name}({', '.join(call)})\n\n"
    )


def _triton(definition: str, call: Sequence[str]) -> str:
    parsed = definition_in(definition)
    name, source = parsed.texts[:2] if parsed and len(parsed.texts) > 1 else ("", "")
    source = HEURISTIC.sub(r"@heuristic(triton_heuristics.\1, ", source)
    source = source.replace(SET_DRIVER, f"if not INTERPRETED:\n    {SET_DRIVER}")
    parameters = _parameters(call)
    stand_in = PARTS["libdevice"] if "libdevice." in source else ""
    return (
        f"{source.strip()}\n\n{stand_in}\n\ndef launch({parameters}):\n"
        f"    if INTERPRETED:\n{_interpreter_launch(source, name, call)}"
        f"    else:\n        {name}.run({', '.join(call)}, stream=torch.cuda.current_stream().cuda_stream)\n\n"
    )


def _interpreter_launch(source: str, name: str, call: Sequence[str]) -> str:
    """Return the code that launches a kernel in Triton's interpreter, with common block sizes."""
    kind = re.search(r"'grid_type': '(\w+)'", source)
    axes = GRIDS.get(kind.group(1) if kind else "")
    signature = re.search(rf"def {re.escape(name)}\((.*?)\):", source, re.DOTALL)
    if axes is None or signature is None:
        grid_type = kind.group(1) if kind else "no grid type"
        return (
            f"        raise SystemExit({f'the interpreter launches Grid1D to Grid3D; this kernel has {grid_type}'!r})\n"
        )
    names = [part.split(":")[0].strip() for part in signature.group(1).split(",")]
    blocks = {part: _block(part, names) for part in names if part.endswith("BLOCK")}
    sizes = dict(zip(names, call, strict=False))
    grid = ", ".join(
        f"-(-{sizes.get(f'{axis}numel', '1')} // {blocks.get(f'{axis.upper()}BLOCK', 1)})" for axis in axes
    )
    arguments = "".join(f", {block}={value}" for block, value in blocks.items())
    return f"        {name}[({grid},)]({', '.join(call)}{arguments})\n"


def _block(name: str, names: Sequence[str]) -> int:
    """Return a block size that results in few programs: large for a single axis, 8 rows with a reduction."""
    if name.startswith("R"):
        return 512
    if any(size.startswith("r") and size.endswith("numel") for size in names):
        return 8
    return 32 if "YBLOCK" in names else 1024


def _parameters(call: Sequence[str]) -> str:
    return ", ".join([*(name for name in tensor_names(call) if not re.fullmatch(r"[suz]\d+", name)), "**_"])


def _arguments(shapes: dict[str, Shape]) -> str:
    rows = "".join(
        f'        "{name}": strided({shape.shape}, {shape.stride}, torch.{shape.dtype}, DEVICE),\n'
        for name, shape in shapes.items()
    )
    return (
        'def arguments():\n    """The tensors that the call takes, in the recorded layouts."""\n'
        f"    return {{\n{rows}    }}\n\n"
    )


def _eager(eager: Eager, call: Sequence[str]) -> str:
    reads = sorted(set(eager.inputs.values()))
    lines = ["import torch._inductor.inductor_prims"] * any("ops.prims." in text for text in eager.statements)
    lines += [f"{name} = {expression}" for name, expression in eager.symbols.items() if expression != name]
    lines += [line for node, argument in eager.inputs.items() if (line := _bind_argument(node, argument, eager))]
    lines += [DEVICE.sub("device(DEVICE)", statement) for statement in eager.statements]
    results = ", ".join(f'"{argument}": {node}' for argument, node in eager.outputs.items())
    body = "".join(f"    {line}\n" for line in [*lines, f"return {{{results}}}"])
    names = ", ".join([*reads, "**_"])
    return (
        f"READS = {reads!r}\nUNSURE = {list(eager.unsure)!r}\n\n\ndef eager({names}):\n"
        f'    """The FX nodes that became this kernel, from the post-grad graph."""\n{body}\n'
    )


def _bind_argument(node: str, argument: str, eager: Eager) -> str:
    """Return the assignment of an argument to its FX node's name and shape; empty if both are equal."""
    shape = eager.shapes.get(node)
    if shape is None:
        return "" if node == argument else f"{node} = {argument}"
    return f"{node} = {argument}.reshape([{', '.join(shape)}])"


def _tail(eager: Eager) -> str:
    return PARTS["tail"].format(
        tolerances=BY_ELEMENT, otherwise=BY_ELEMENT_OTHERWISE, unrelated=_print_unrelated(eager)
    )


def _print_unrelated(eager: Eager) -> str:
    return "".join(
        f"print(\"{name}: is no FX node's value "
        '(a step on the way to one, or a copy in another layout): not compared")\n'
        for name in eager.unrelated
    )


@dataclass(frozen=True, slots=True)
class Eager:
    """Eager code for a kernel, with its arguments matched to FX nodes.

    `inputs` maps FX nodes to arguments; `outputs` maps arguments to the FX nodes whose values they must have.
    `statements` compute the outputs from the inputs. `symbols` maps size placeholders to their expressions. `unsure`
    are outputs that may be intermediate values of their FX node; `unrelated` are written arguments without an FX node.
    `shapes` has the shape of each input node whose argument has a different shape.
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
    """Return the eager code of a kernel, with the arguments of its call matched to FX nodes."""
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
    """Return buffer → the FX node with its value, as two maps: certain values, and possible values."""
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
    """Return the FX node with the value of a buffer of this shape; None if there is no such node.

    The node is the last origin with as many elements. If an origin returns a tuple, the node is its `getitem` node.
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
    """Return `eager` with the statements that compute its outputs, or `unrelated` for some."""
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
    """Return the nodes that compute a node from the available nodes; None if one can't be repeated."""
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
    """Return the node's line of the graph's text, without its annotation and without `x = None`."""
    line = lines[node.line - 1].strip().split(";  ")[0]
    return ANNOTATION.sub(r"\1 = ", line)
