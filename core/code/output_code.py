"""Inductor's output code: its kernels, and the calls and buffers of its wrapper.

The code is Python, or C++ in an AOTInductor package. In Python, kernels are string arguments of
`async_compile.<language>(…)`. The wrapper's `call` creates and reuses buffers, and calls kernels and extern
kernels, each below a comment with torch's debug handle:

    cpp_fused_gelu_0 = async_compile.cpp_pybinding(['const float*', 'float*'], r'''…''')
    # Graph fragment:
    #   %add : Tensor "f32[8, 64][64, 1]cuda:0"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = …)
    triton_poi_fused_add_0 = async_compile.triton('triton_poi_fused_add_0', '''…''', device_str='cuda')
    …
        buf0 = empty_strided_cpu((8, 64), (64, 1), torch.float32)
        # [Provenance debug handles] cpp_fused_gelu_0:2
        cpp_fused_gelu_0(arg0_1, buf0)
        buf1 = extern_kernels.mm(buf0, arg1_1)
        buf3 = reinterpret_tensor(buf1, (8, 64), (64, 1), 0); del buf1  # reuse
        triton_poi_fused_add_0.run(buf3, arg0_1, 512, stream=stream0)

`find_kernels` reads lines, since code in an imported log may be damaged or too deep for Python's parser; `definitions`
reads the syntax tree of code that torch has just written.

In the C++ code of an AOTInductor package, kernels are the functions with loops, and the calls of libraries and Triton:

    extern "C"  void  cpp_fused_relu_1(const float* in_ptr0,
                           float* out_ptr0)
    {
        …
    }
        AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_addmm_out(buf0, _frozen_param1, arg0_1, …));
        launchKernel(kernels.triton_poi_fused_relu_1, …);
        call_triton_poi_fused_relu_1(buf0, 512, this->device_idx_, stream, kernels, this->cubin_dir_);
"""

import ast
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from core.base.decoder import whole
from core.base.syntax import NOT_READ, module
from core.report import Kernel
from core.report.model import Language
from core.report.nodes import Direction

AROUND_CALL = 3
AOT_ID = re.compile(r"^# AOT ID: \['\d+_(forward|backward|inference)'\]", re.MULTILINE)
DEFINES = "async_compile."
FRAGMENT = re.compile(r"^#   %(\w+) : .*= call_function\[")
DEFINITION = re.compile(r"^(\w+) = async_compile\.(\w+)\(")
HANDLE = re.compile(r"# \[Provenance debug handles\] (.*)$")
LIBRARY_CALL = re.compile(r"^\s+(?:[\w\[\], ]+ = )?((?:extern_kernels|aten|inductor_ops|torch\.ops)\.[\w.]+)\(")
LIBRARY = re.compile(r"^(extern_kernels|aten|inductor_ops|torch\.ops)\.")
# Calls of the wrapper itself: names for existing memory, sizes, marks for the profiler.
NOT_KERNELS = re.compile(r"^inductor(_ops)?\._(reinterpret|alloc)|^profiler|^aten\.(\w+_)?(size|stride|item)\b")
# Calls that return a view of their argument and run no kernel.
VIEWS = re.compile(
    r"^aten\.(?:_conj|_neg_view|_reshape_alias|alias|as_strided|detach|diagonal|expand|imag|permute|real|select|slice|"
    r"split|split_with_sizes|squeeze|t|transpose|unbind|unfold|unsqueeze|view|view_as_complex|view_as_real)(?:\.|$)"
)
COLLECTIVE = re.compile(r"^torch\.ops\._?c10d")
HEURISTIC = re.compile(r"@triton_heuristics\.(\w+)\(")
LANGUAGES: dict[str, Language] = {
    "triton": "triton",
    "cpp": "cpp",
    "cpp_pybinding": "cpp",
    "cutlass": "cuda",
    "cuda": "cuda",
    "metal": "metal",
}
REUSE = re.compile(r"^\s+(\w+) = (?:reinterpret_tensor\()?(\w+)(?:, .*\))?; del \2  # reuse")
ITEM = re.compile(r"^\s+(\w+) = (\w+)\[(\d+)\]$")
EMPTY = re.compile(r"^\s+(\w+) = empty_strided_\w+\((\(.*?\)), (\(.*?\)), torch\.(\w+)\)")
RANDOM = re.compile(r"^\s+(\w+) = rand_strided\((\(.*?\)), (\(.*?\)), device='[^']*', dtype=torch\.(\w+)\)")
DEFINED = re.compile(r'^extern "C"\s+(?:\w+ +)*void\s+(\w+)\(')
PACKAGE_LIBRARY = re.compile(r"\b(aoti_torch_(?:cpu|cuda|xpu|mps)_(?!view_dtype\b)\w+)\(")
TRITON = re.compile(r"\blaunchKernel\(\s*kernels\.(\w+)|^\s+call_(triton_\w+)\(")
MOST_SIGNATURE_LINES = 200  #: lines of a kernel's signature in a package's code


@dataclass(slots=True)
class FoundKernel:
    """A kernel in the text: line numbers count from 1; `handles` are torch's debug handles of its calls.

    `origins` are the FX nodes in the graph fragment above a Triton kernel.
    """

    name: str
    language: Language
    extern: bool
    category: str
    first: int
    last: int
    calls: list[int] = field(default_factory=list)
    handles: list[int] = field(default_factory=list)
    origins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition `name = async_compile.<how>(…)`; `texts` are the positional string arguments, in order."""

    name: str
    how: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """A tensor that the wrapper creates or receives.

    `dtype` is torch's name of the dtype; `shape` and `stride` are Python expressions.
    """

    dtype: str
    shape: str
    stride: str


@dataclass(frozen=True, slots=True)
class Buffers:
    """Buffers in the wrapper, by name.

    `reused` maps a buffer to the earlier buffer whose memory it reuses. `items` maps an item of a tuple to the tuple's
    name and the index. `shapes` are the known shapes.
    """

    reused: dict[str, str]
    items: dict[str, tuple[str, int]]
    shapes: dict[str, Shape]

    def aliases(self, name: str) -> tuple[str, ...]:
        """Return a name and all earlier names of the same memory, newest first."""
        names = [name]
        while (before := self.reused.get(names[-1])) is not None and before not in names:
            names.append(before)
        return tuple(names)


def direction(text: str) -> Direction:
    """Return forward, backward or inference, from the AOT ID of a text; empty without an AOT ID."""
    match = AOT_ID.search(text[:2000])
    return cast(Direction, match.group(1)) if match else ""


def is_extern_kernel(name: str) -> bool:
    """Return True if a wrapper call of this name runs a library kernel or a custom op, and no view."""
    operator = name.removeprefix("torch.ops.")
    return bool(LIBRARY.match(name)) and not (NOT_KERNELS.match(operator) or VIEWS.match(operator))


def is_collective(name: str) -> bool:
    """Return True if an extern kernel is a collective, which a single process cannot time."""
    return bool(COLLECTIVE.match(name))


def find_kernels(text: str) -> list[FoundKernel]:
    """Return every kernel, generated ones in definition order, then extern ones in call order."""
    lines = text.split("\n")
    generated = _generated_kernels(lines)
    extern: list[FoundKernel] = []
    handles: dict[str, int] = {}
    by_name = {kernel.name: kernel for kernel in generated}
    called = re.compile(rf"^\s+(?:\w+ = )?({'|'.join(map(re.escape, by_name))})(?:\.run)?\(") if by_name else None
    inside = {number for kernel in generated for number in range(kernel.first, kernel.last + 1)}
    for number, line in enumerate(lines, 1):
        if number in inside:
            continue
        comment = HANDLE.search(line)
        if comment:
            handles = _handles(comment.group(1))
            continue
        match = called.match(line) if called else None
        if match:
            kernel = by_name[match.group(1)]
        elif (match := LIBRARY_CALL.match(line)) and is_extern_kernel(match.group(1)):
            kernel = FoundKernel(match.group(1), "extern", True, "extern", number, number)
            extern.append(kernel)
        else:
            continue
        kernel.calls.append(number)
        kernel.handles += [handle for name, handle in handles.items() if _same(name, kernel.name)]
        handles = {}
    return [*generated, *extern]


def definitions(tree: ast.Module) -> Iterator[Definition]:
    """Yield the kernels that a module defines, in order."""
    for statement in tree.body:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
            continue
        called, target = ast.unparse(statement.value.func), statement.targets[0]
        if called.startswith(DEFINES) and isinstance(target, ast.Name):
            values = [argument.value for argument in statement.value.args if isinstance(argument, ast.Constant)]
            texts = tuple(value for value in values if isinstance(value, str))
            yield Definition(target.id, called.removeprefix(DEFINES), texts)


def definition_in(statement: str) -> Definition | None:
    """Return the definition in a statement; None if it is not a definition, or not Python."""
    try:
        return next(definitions(module(statement)), None)
    except NOT_READ:
        return None


def lines_of(text: str, first: int, last: int) -> str:
    """Return the lines of a text from first to last, counted from 1."""
    return "\n".join(text.split("\n")[first - 1 : last])


def buffers(text: str) -> Buffers:
    """Return the buffers of an output code's wrapper."""
    wrapper = Buffers({}, {}, {})
    for line in text.split("\n"):
        if match := REUSE.match(line):
            wrapper.reused[match.group(1)] = match.group(2)
        elif match := ITEM.match(line):
            wrapper.items[match.group(1)] = (match.group(2), int(match.group(3)))
        elif match := EMPTY.match(line) or RANDOM.match(line):
            wrapper.shapes[match.group(1)] = Shape(match.group(4), match.group(2), match.group(3))
    return wrapper


def call_arguments(text: str, line: int) -> tuple[str, ...]:
    """Return the positional arguments of the call in a wrapper line, as Python; empty without a call."""
    statement = text.split("\n")[line - 1].strip()
    try:
        calls = [node for node in ast.walk(module(statement)) if isinstance(node, ast.Call)]
        return tuple(ast.unparse(argument) for argument in calls[0].args) if calls else ()
    except NOT_READ:
        return ()


def tensor_names(call: Sequence[str]) -> list[str]:
    """Return the distinct names in a call's arguments, in order."""
    names = (name for argument in call for name in re.findall(r"\b[A-Za-z_]\w*\b", argument))
    return [name for name in dict.fromkeys(names) if name != "reinterpret_tensor"]


def _same(handle_name: str, kernel_name: str) -> bool:
    return handle_name == kernel_name or handle_name.rsplit(".", 1)[-1] == kernel_name.rsplit(".", 1)[-1]


def _handles(text: str) -> dict[str, int]:
    handles = {}
    for part in text.split(","):
        name, _, handle = part.strip().rpartition(":")
        if handle.isdecimal():
            handles[name] = whole(handle)
    return handles


def _generated_kernels(lines: list[str]) -> list[FoundKernel]:
    kernels = []
    number = 0
    while number < len(lines):
        match = DEFINITION.match(lines[number])
        number += 1
        if not match or match.group(2) not in LANGUAGES:
            continue
        first = number
        while number < len(lines) and not lines[number].startswith("''')") and not lines[number].startswith("''',"):
            number += 1
        number += 1
        body = "\n".join(lines[first:number])
        kernels.append(
            FoundKernel(
                match.group(1), LANGUAGES[match.group(2)], False, _category(match.group(1), body), first, number,
                origins=_fragment(lines, first),
            )
        )  # fmt: skip
    return kernels


def _fragment(lines: list[str], first: int) -> tuple[str, ...]:
    """Return the FX nodes in the comment above the line `first`; empty without a graph fragment."""
    begin = first - 1
    while begin and lines[begin - 1].startswith("#"):
        begin -= 1
    found = (FRAGMENT.match(line) for line in lines[begin : first - 1])
    return tuple(match[1] for match in found if match)


def _category(name: str, body: str) -> str:
    heuristic = HEURISTIC.search(body)
    if heuristic:
        return heuristic.group(1).replace("_", " ")
    if "micro_gemm" in body or "_gemm" in name:
        return "template"
    return "C++ loops"


def kernel_code(kernel: Kernel, text: str) -> str:
    """Return a kernel's source from its output code; for an extern kernel, the lines around its call."""
    first, last = kernel.lines
    return lines_of(text, max(1, first - AROUND_CALL + 1), last + 1) if kernel.extern else lines_of(text, first, last)


def package_kernels(text: str) -> list[FoundKernel]:
    """Return every kernel in a C++ text of an AOTInductor package, in order.

    A C++ kernel has no calls here, since another text of the package calls it.
    """
    lines = text.split("\n")
    ends = [number for number, line in enumerate(lines, 1) if line.startswith("}")]
    kernels: dict[str, FoundKernel] = {}
    for number, line in enumerate(lines, 1):
        if match := DEFINED.match(line):
            body = _body(lines, number)
            if body is not None:
                after = bisect_left(ends, body)
                last = ends[after] if after < len(ends) else len(lines)
                kernels.setdefault(match[1], FoundKernel(match[1], "cpp", False, "C++ loops", number, last))
        elif match := PACKAGE_LIBRARY.search(line):
            called = kernels.setdefault(match[1], FoundKernel(match[1], "extern", True, "extern", number, number))
            called.calls.append(number)
        elif match := TRITON.search(line):
            name = match[1] or match[2]
            launched = kernels.setdefault(name, FoundKernel(name, "triton", False, "Triton", number, number))
            launched.calls.append(number)
    return list(kernels.values())


def _body(lines: list[str], first: int) -> int | None:
    """Return the line that opens the body of the function at line `first`; None for a declaration."""
    for number, line in enumerate(lines[first - 1 : first - 1 + MOST_SIGNATURE_LINES], first):
        if line.rstrip().endswith((";", "{")):
            return number if line.rstrip().endswith("{") else None
    return None
