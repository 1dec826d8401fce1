"""Inductor's memory plan: allocations, reuses and releases in the wrapper, kernel by kernel.

A piece of memory exists from the line that creates it to the `del` of its last name:

    buf0 = empty_strided_cpu((8, 64), (64, 1), torch.float32)          created by the wrapper
    buf1 = extern_kernels.convolution(…)                               created by a library
    buf3 = reinterpret_tensor(buf1, (8, 64), (64, 1), 0); del buf1  # reuse
    pool0 = empty_strided_cpu(…); buf4 = alloc_from_pool(pool0, …)     buf4 names a part of pool0
    primals_3, relu, tangents_1 = args                                 includes values saved for this backward

The bytes are those of the storage: the offset of the last element, plus one element. Sizes may contain symbols.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from core.base.syntax import NOT_READ, expression, integer
from core.code.output_code import find_kernels
from core.report import Buffer

Origin = Literal["allocated", "library", "saved"]
FUNCTION = re.compile(r"^ *def (\w+)\((?:self, )?args\):")
ARGUMENTS = re.compile(r"^\s+([\w, ]+?),? = args$")
MADE = re.compile(
    r"^\s+(\w+) = empty_strided(?:_\w+)?\((\(.*?\)), (\(.*?\)), (?:device='[^']*', )?(?:dtype=)?torch\.(\w+)\)"
)
NAMED = re.compile(
    r"^\s+(\w+) = (?:reinterpret_tensor\(|alloc_from_pool\()?(\w+)(?:, .*\))?(?:\.as_strided\(.*\))?;?(?: |$)"
)
ITEM = re.compile(r"^\s+(\w+) = (\w+)\[(\d+)\]$")
RESULT = re.compile(r"^\s+(\w+) = (?:extern_kernels|aten|inductor_ops|torch\.ops)\.")
DELETED = re.compile(r"(?:^\s+|; )del ([\w, ]+?)(?:  # reuse)?$")
PARTITION = re.compile(r"= self\.partitions\[(\d+)\]\(")
RETURNED = re.compile(r"^\s+return \((.*)\)$")
BRANCH = re.compile(r"^\s+(?:if|while) ")
# 32 TiB: no real tensor is larger, and sums must stay within the range of numbers in a table.
LARGEST_BYTES = 2**45  #: an allocation in generated code
BITS = re.compile(r"^[a-z]+(\d{1,3})")


@dataclass(frozen=True, slots=True)
class PlannedMemory:
    """A piece of memory: its names, newest last, and its bytes, None if unknown.

    The memory exists from step `first` to step `last`, both included, and after the last step if `returned`; `line` is
    the line that creates the memory.
    """

    names: tuple[str, ...]
    bytes: int | None
    origin: Origin
    line: int
    first: int
    last: int
    returned: bool = False


@dataclass(frozen=True, slots=True)
class PlanStep:
    """A line that calls a kernel, and the allocated bytes during the call."""

    line: int
    kernel: str
    live_bytes: int


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """The memory plan of one output code.

    `reused` counts the buffers that reuse another buffer's memory; `reused_bytes` is their total size. `branches`
    is True if some lines do not run in every call.
    """

    steps: tuple[PlanStep, ...]
    memories: tuple[PlannedMemory, ...]
    reused: int = 0
    reused_bytes: int = 0
    branches: bool = False

    @property
    def peak(self) -> int | None:
        """Return the step with the most allocated bytes; None without steps."""
        return max(range(len(self.steps)), key=lambda index: self.steps[index].live_bytes, default=None)

    def made(self, *origins: Origin) -> tuple[PlannedMemory, ...]:
        """Return the pieces of memory with one of these origins."""
        return tuple(memory for memory in self.memories if memory.origin in origins)

    def there(self, step: int) -> tuple[PlannedMemory, ...]:
        """Return the pieces of memory that exist at a step, largest first."""
        memories = (memory for memory in self.memories if memory.first <= step <= memory.last)
        return tuple(sorted(memories, key=lambda memory: -(memory.bytes or 0)))


def memory_plan(
    text: str, buffers: Mapping[str, Buffer], saved: Mapping[str, int | None], sizes: Mapping[str, int]
) -> MemoryPlan:
    """Return the plan of an output code; empty if the code has no `call`.

    `buffers` have the sizes of library results, `sizes` the values of symbols. `saved` has the bytes of the
    tensors that the forward saved for this backward, None if unknown.
    """
    lines = text.split("\n")
    functions = _functions(lines)
    if "call" not in functions:
        return MemoryPlan((), ())
    kernels = {line: kernel.name for kernel in find_kernels(text) for line in kernel.calls}
    reader = _Reader(lines, functions, kernels, StorageSizes(buffers, sizes), saved)
    reader.read("call")
    return reader.plan()


def _functions(lines: Sequence[str]) -> dict[str, int]:
    """Return the index of each wrapper function's first line."""
    return {match.group(1): index for index, line in enumerate(lines) if (match := FUNCTION.match(line))}


@dataclass(slots=True, eq=False)
class _Piece:
    """A piece of memory while reading: its names in order, and the names still alive."""

    bytes: int | None
    origin: Origin
    line: int
    first: int
    names: list[str]
    alive: set[str]
    last: int | None = None
    returned: bool = False

    def planned(self, steps: int) -> PlannedMemory:
        """Return the finished piece; a piece without a `del` exists to the last step."""
        last = steps - 1 if self.last is None else self.last
        return PlannedMemory(tuple(self.names), self.bytes, self.origin, self.line, self.first, last, self.returned)


class _Reader:
    """Reader of a wrapper, line by line; partitions are read at their call."""

    def __init__(
        self,
        lines: Sequence[str],
        functions: Mapping[str, int],
        kernels: Mapping[int, str],
        sizes: StorageSizes,
        saved: Mapping[str, int | None],
    ) -> None:
        self._lines, self._functions, self._kernels = lines, functions, kernels
        self._sizes, self._saved = sizes, saved
        self._steps: list[tuple[int, str]] = []
        self._pieces: list[_Piece] = []
        self._named: dict[str, _Piece] = {}
        self._results: dict[str, int] = {}
        self._reused: list[int] = []
        self._branches = False

    def read(self, function: str) -> None:
        """Read a function from its first line to its return."""
        for index in range(self._functions[function] + 1, len(self._lines)):
            line = self._lines[index]
            if RETURNED.match(line) or FUNCTION.match(line):
                if function == "call":
                    self._mark_returned(line)
                return
            self._line(index + 1, line)

    def plan(self) -> MemoryPlan:
        """Return the plan of the lines read so far."""
        count = len(self._steps)
        memories = tuple(piece.planned(count) for piece in self._pieces if piece.names and piece.bytes != 0)
        changes = [0] * (count + 1)
        for memory in memories:
            if memory.first <= memory.last:
                changes[memory.first] += memory.bytes or 0
                changes[memory.last + 1] -= memory.bytes or 0
        live = accumulate(changes)
        steps = tuple(PlanStep(line, kernel, size) for (line, kernel), size in zip(self._steps, live, strict=False))
        return MemoryPlan(steps, memories, len(self._reused), sum(self._reused), self._branches)

    def _line(self, number: int, line: str) -> None:
        self._branches |= bool(BRANCH.match(line))
        if called := PARTITION.search(line):
            name = f"partition_{called.group(1)}"
            if name in self._functions:
                self.read(name)
        if number in self._kernels:
            self._steps.append((number, self._kernels[number]))
        self._makes(number, line)
        if gone := DELETED.search(line):
            for name in re.findall(r"\w+", gone.group(1)):
                self._delete(name)

    def _makes(self, number: int, line: str) -> None:
        if allocation := MADE.match(line):
            name, shape, stride, dtype = allocation.groups()
            self._make(name, self._sizes.of_text(shape, stride, dtype), "allocated", number, len(self._steps))
        elif result := RESULT.match(line):
            if number in self._kernels:
                self._results[result.group(1)] = len(self._steps) - 1
                self._result(result.group(1), number)
        elif element := ITEM.match(line):
            self._tuple_element(element.group(1), element.group(2), number)
        elif named := NAMED.match(line):
            self._alias(named.group(1), named.group(2), line)
        elif arguments := ARGUMENTS.match(line):
            for name in re.findall(r"\w+", arguments.group(1)):
                if name in self._saved:
                    self._make(name, self._saved[name], "saved", number, 0)

    def _make(self, name: str, size: int | None, origin: Origin, line: int, first: int) -> None:
        piece = _Piece(size, origin, line, first, [name], {name})
        self._pieces.append(piece)
        self._named[name] = piece

    def _result(self, name: str, line: int) -> None:
        if self._sizes.knows(name):
            self._make(name, self._sizes.of_buffer(name), "library", line, len(self._steps) - 1)

    def _tuple_element(self, name: str, owner: str, line: int) -> None:
        """Add a tensor of a tuple that a library call returned; the tensor exists from that call on."""
        if owner in self._results and self._sizes.knows(name):
            self._drop(owner)
            self._make(name, self._sizes.of_buffer(name), "library", line, self._results[owner])

    def _drop(self, owner: str) -> None:
        """Remove a buffer that turned out to be a tuple of tensors."""
        piece = self._named.pop(owner, None)
        if piece is not None:
            piece.names.clear()

    def _alias(self, name: str, owner: str, line: str) -> None:
        piece = self._named.get(owner)
        if piece is None:
            return
        piece.names.append(name)
        piece.alive.add(name)
        self._named[name] = piece
        if line.endswith("# reuse"):
            self._reused.append(piece.bytes or 0)

    def _delete(self, name: str) -> None:
        piece = self._named.pop(name, None)
        if piece is None:
            return
        piece.alive.discard(name)
        if not piece.alive:
            piece.last = len(self._steps) - 1

    def _mark_returned(self, line: str) -> None:
        for name in set(re.findall(r"\w+", line)) & set(self._named):
            self._named[name].returned = True


class StorageSizes:
    """Bytes of storages from the text of their shapes."""

    def __init__(self, buffers: Mapping[str, Buffer], sizes: Mapping[str, int]) -> None:
        self._buffers = buffers
        self._sizes = sizes

    def of_text(self, shape: str, stride: str, dtype: str) -> int | None:
        """Return the bytes for shape and stride as Python tuples; None if unknown."""
        return _bytes(self._tuple(shape), self._tuple(stride), dtype)

    def knows(self, name: str) -> bool:
        """Return True if a buffer is a tensor; without recorded shapes, any buffer counts as one."""
        return not self._buffers or name in self._buffers

    def of_buffer(self, name: str) -> int | None:
        """Return the bytes of a buffer's recorded shape; None if not recorded."""
        buffer = self._buffers.get(name)
        if buffer is None:
            return None
        shape, stride = (f"({''.join(f'{size}, ' for size in sizes)})" for sizes in (buffer.shape, buffer.stride))
        return self.of_text(shape, stride, buffer.dtype)

    def _tuple(self, text: str) -> list[int] | None:
        try:
            tree = expression(text)
            return [integer(element, self._sizes) for element in tree.elts] if isinstance(tree, ast.Tuple) else None
        except (*NOT_READ, LookupError, ZeroDivisionError):
            return None


def _bytes(shape: Sequence[int] | None, stride: Sequence[int] | None, dtype: str) -> int | None:
    if shape is None or stride is None or len(shape) != len(stride):
        return None
    bits = BITS.match(dtype)
    element_bytes = max(1, int(bits[1]) // 8) if bits else 1
    if 0 in shape:
        return 0
    total = element_bytes * (1 + sum((size - 1) * step for size, step in zip(shape, stride, strict=True)))
    return total if 0 <= total <= LARGEST_BYTES else None
