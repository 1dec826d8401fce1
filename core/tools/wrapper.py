"""Inductor's wrapper code around one kernel: its definition, its call, and which buffer goes by which name there.

buf0 = empty_strided_cpu((8, 64), (64, 1), torch.float32)
buf3 = reinterpret_tensor(buf1, (8, 64), (64, 1), 0); del buf1  # reuse
cpp_fused_add_0(buf3, arg0_1, buf0)
triton_poi_fused_add_0.run(buf3, arg0_1, buf0, 512, stream=stream0)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.syntax import NOT_READ, module

REUSE = re.compile(r"^\s+(\w+) = (?:reinterpret_tensor\()?(\w+)(?:, .*\))?; del \2  # reuse")
ITEM = re.compile(r"^\s+(\w+) = (\w+)\[(\d+)\]$")
EMPTY = re.compile(r"^\s+(\w+) = empty_strided_\w+\((\(.*?\)), (\(.*?\)), torch\.(\w+)\)")
RANDOM = re.compile(r"^\s+(\w+) = rand_strided\((\(.*?\)), (\(.*?\)), device='[^']*', dtype=torch\.(\w+)\)")


@dataclass(frozen=True, slots=True)
class Shape:
    """A tensor that the wrapper makes or takes: torch's dtype name, and Python expressions for shape and stride."""

    dtype: str
    shape: str
    stride: str


@dataclass(frozen=True, slots=True)
class Wrapper:
    """What the wrapper says: the name that a buffer took over, the tuple that it is an item of, and known shapes."""

    reused: dict[str, str]
    items: dict[str, tuple[str, int]]
    shapes: dict[str, Shape]

    def held(self, name: str) -> tuple[str, ...]:
        """A name and all that were in the same memory before it, newest first."""
        names = [name]
        while (before := self.reused.get(names[-1])) is not None and before not in names:
            names.append(before)
        return tuple(names)


def read_wrapper(text: str) -> Wrapper:
    """The wrapper of an output code."""
    reused: dict[str, str] = {}
    items: dict[str, tuple[str, int]] = {}
    shapes: dict[str, Shape] = {}
    for line in text.split("\n"):
        if match := REUSE.match(line):
            reused[match.group(1)] = match.group(2)
        elif match := ITEM.match(line):
            items[match.group(1)] = (match.group(2), int(match.group(3)))
        elif match := EMPTY.match(line) or RANDOM.match(line):
            shapes[match.group(1)] = Shape(match.group(4), match.group(2), match.group(3))
    return Wrapper(reused, items, shapes)


def definition(text: str, first: int, last: int) -> str:
    """The statement that defines a kernel, by its lines in the output code."""
    return "\n".join(text.split("\n")[first - 1 : last])


def call_arguments(text: str, line: int) -> tuple[str, ...]:
    """The positional arguments of the call in one line of the wrapper, as Python; empty if there is none."""
    statement = text.split("\n")[line - 1].strip()
    try:
        calls = [node for node in ast.walk(module(statement)) if isinstance(node, ast.Call)]
        return tuple(ast.unparse(argument) for argument in calls[0].args) if calls else ()
    except NOT_READ:
        return ()


def tensor_names(call: Sequence[str]) -> list[str]:
    """The names in a call's arguments, in order, each once."""
    found = (name for argument in call for name in re.findall(r"\b[A-Za-z_]\w*\b", argument))
    return [name for name in dict.fromkeys(found) if name != "reinterpret_tensor"]


def string_argument(statement: str, index: int) -> str:
    """A text among the arguments of `name = async_compile.<language>(…)`; empty if it is none."""
    try:
        tree = module(statement)
    except NOT_READ:
        return ""
    value = getattr(tree.body[0], "value", None) if tree.body else None
    if not isinstance(value, ast.Call) or index >= len(value.args):
        return ""
    argument = value.args[index]
    return argument.value if isinstance(argument, ast.Constant) and isinstance(argument.value, str) else ""
