"""The script that reproduces one kernel alone: its inputs, its source, its call, and the eager ops that it replaced."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.base.tolerances import BY_ELEMENT, BY_ELEMENT_OTHERWISE
from core.code.output_code import HEURISTIC, Shape, definition_in, tensor_names
from core.report import Compilation, Kernel
from core.runs.tools.eager import Eager

SET_DRIVER = "triton_helpers.set_driver_to_gpu()"
GRIDS = {"Grid1D": ("x",), "Grid2D": ("x", "y"), "Grid3D": ("x", "y", "z")}
DEVICE = re.compile(r"\bdevice\(type='\w+'(?:, index=\d+)?\)")

HEAD = '''"""{name}, alone: the kernel of run {run}, compared with the eager ops that it replaced.

python repro.py                    # needs {needs}
{more}"""

import os
import statistics
import time
from math import inf, nan

import torch
from torch import device
{setup}
torch.manual_seed(0)
{symbols}

def strided(shape, stride, dtype, device_name):
    """A tensor of random values in this layout; integers are 0 or 1, which every index may be."""
    extent = 1 + sum((size - 1) * step for size, step in zip(shape, stride)) if all(size > 0 for size in shape) else 0
    if dtype.is_floating_point or dtype.is_complex:
        values = torch.randn(extent, dtype=torch.float32).to(dtype)
    else:
        values = torch.randint(0, 2, (extent,)).to(dtype)
    return values.to(device_name).as_strided(shape, stride)


def copied(value):
    """A copy in the same layout, gaps included."""
    fresh = strided(value.shape, value.stride(), value.dtype, value.device)
    return fresh.copy_(value)


def median_us(function):
    """Microseconds a call, the median of batches."""
    for _ in range(3):
        function()
    samples = []
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(10):
            function()
        if DEVICE != "cpu":
            torch.accelerator.synchronize()
        samples.append((time.perf_counter() - start) / 10)
    return statistics.median(samples) * 1e6


'''

CPP_SETUP = """from torch._inductor.async_compile import AsyncCompile

DEVICE = "cpu"
reinterpret_tensor = torch._C._dynamo.guards._reinterpret_tensor
"""

TRITON_SETUP = '''INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
if not INTERPRETED and not torch.cuda.is_available():
    raise SystemExit("This is a Triton kernel: it runs on a GPU, or with TRITON_INTERPRET=1 on the CPU.")

DEVICE = "cpu" if INTERPRETED else "cuda"
reinterpret_tensor = torch._C._dynamo.guards._reinterpret_tensor


def heuristic(decorator, **settings):
    """Inductor's autotuner; nothing in Triton's interpreter, which launches the function itself."""
    return (lambda function: function) if INTERPRETED else decorator(**settings)

'''

LIBDEVICE = '''
class Libdevice:
    """libdevice is machine code for a GPU: in the interpreter torch's function of the same name stands in."""

    NAMES = {"nearbyint": "round", "rint": "round", "llrint": "round", "fabs": "abs"}

    def __getattr__(self, name):
        function = getattr(torch, self.NAMES.get(name, name), None)
        if function is None:
            raise NotImplementedError(f"libdevice.{name} has no counterpart in torch")

        def call(*arguments):
            from triton.runtime.interpreter import TensorHandle

            first = next(value for value in arguments if isinstance(value, tl.tensor))
            values = [
                torch.as_tensor(value.handle.data) if isinstance(value, tl.tensor) else value for value in arguments
            ]
            found = function(*values)
            kind = tl.int32 if found.dtype == torch.bool else first.dtype
            data = found.int().numpy() if found.dtype == torch.bool else found.numpy()
            block = tl.block_type(kind, first.shape) if first.type.is_block() else kind
            return tl.tensor(TensorHandle(data, kind), block)

        return call


if INTERPRETED:
    libdevice = Libdevice()
'''

TAIL = """
TOLERANCES = {tolerances}


def typical(reference):
    sizes = reference.double().abs()
    sizes = sizes[(sizes > 0) & sizes.isfinite()]
    return float(sizes.log().mean().exp()) if sizes.numel() else 1.0


before = {{name: copied(value) for name, value in arguments().items()}}
expected = eager(**{{name: copied(value) for name, value in before.items() if name in READS}})
launch(**before)
result = {{name: before[name] for name in expected}}
for name in list(expected):
    reference = expected[name].reshape(result[name].shape).to(result[name].dtype)
    tolerance = TOLERANCES.get(str(result[name].dtype).removeprefix("torch."), {otherwise})
    least = tolerance * typical(reference)
    said = f"{{name}}: {{tuple(result[name].shape)}} {{result[name].dtype}}"
    if name in UNSURE and not torch.allclose(result[name], reference, tolerance, least, equal_nan=True):
        print(f"{{said}} is not what eager computes: it may be a step on the way to it")
        del expected[name], result[name]
        continue
    torch.testing.assert_close(result[name], reference, rtol=tolerance, atol=least, equal_nan=True)
    print(f"{{said}} is what eager computes")
{unrelated}
if __name__ == "__main__" and os.environ.get("TRITON_INTERPRET") != "1":
    values = arguments()
    inputs = {{name: value for name, value in values.items() if name in READS}}
    print(f"kernel {{median_us(lambda: launch(**values)):.1f}} us")
    if expected:
        print(f"eager  {{median_us(lambda: eager(**inputs)):.1f}} us")
"""


def reproduction(
    run: str,
    kernel: Kernel,
    compilation: Compilation,
    definition: str,
    call: Sequence[str],
    shapes: dict[str, Shape],
    eager: Eager,
) -> str:
    """Return the script's text. `shapes` are those of the tensors in the call."""
    triton = kernel.language == "triton"
    head = HEAD.format(
        name=kernel.name,
        run=run,
        needs="torch and a GPU" if triton else "torch and a C++ compiler",
        more="TRITON_INTERPRET=1 python repro.py   # on the CPU, in Triton's interpreter\n" if triton else "",
        setup=TRITON_SETUP if triton else CPP_SETUP,
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
    stand_in = LIBDEVICE if "libdevice." in source else ""
    return (
        f"{source.strip()}\n\n{stand_in}\n\ndef launch({parameters}):\n"
        f"    if INTERPRETED:\n{_interpreter_launch(source, name, call)}"
        f"    else:\n        {name}.run({', '.join(call)}, stream=torch.cuda.current_stream().cuda_stream)\n\n"
    )


def _interpreter_launch(source: str, name: str, call: Sequence[str]) -> str:
    """Return the launch that Inductor's autotuner would make, with blocks of a usual size."""
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
    """Return a block that takes few programs: long if there is one axis, 8 rows beside a reduction."""
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
    """Name an argument as the FX node that it holds, in that node's shape."""
    shape = eager.shapes.get(node)
    if shape is None:
        return "" if node == argument else f"{node} = {argument}"
    return f"{node} = {argument}.reshape([{', '.join(shape)}])"


def _tail(eager: Eager) -> str:
    return TAIL.format(tolerances=BY_ELEMENT, otherwise=BY_ELEMENT_OTHERWISE, unrelated=_print_unrelated(eager))


def _print_unrelated(eager: Eager) -> str:
    return "".join(
        f"print(\"{name}: is no FX node's value "
        '(a step on the way to one, or a copy in another layout): not compared")\n'
        for name in eager.unrelated
    )
