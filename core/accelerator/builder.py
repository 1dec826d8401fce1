"""Builder of an accelerator program from a segment's FX graph.

Tensors keep torch's strides. Most nodes become one instruction. `Sizes` converts sizes to numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch.fx import GraphModule, Node

from core.accelerator.program.program import (
    ITEM_BYTES,
    Opcode,
    OperandKind,
    Program,
    ProgramInstruction,
    ProgramStep,
    ProgramStorage,
    ProgramTensor,
    StepOp,
    StepOperand,
    StorageKind,
    aligned,
    number,
)
from core.base.errors import ProgramError

TORCH_DTYPES = (torch.float32, torch.bfloat16, torch.int64, torch.bool)
F32 = 0


class Builder:
    """Builder of a program; `size` converts a torch size, which may be symbolic, to a number."""

    def __init__(self, size: Callable[[Any], int], constants: Mapping[str, torch.Tensor]) -> None:
        self.size = size
        self.env: dict[Node, Any] = {}
        self._given = constants
        self._storages: list[ProgramStorage] = []
        self.tensors: list[ProgramTensor] = []
        self._instructions: list[ProgramInstruction] = []
        self._constants = bytearray()
        self._inputs = 0

    def build(self, segment: GraphModule, lower: Callable[[Builder, Node], None]) -> Program:
        """Return the program of a segment; raises ProgramError for a node that a program can't express."""
        for node in segment.graph.nodes:
            if node.op == "placeholder":
                self._placeholder(node)
            elif node.op == "call_function":
                lower(self, node)
            elif node.op == "output":
                self._result(node)
            else:
                raise ProgramError(f"{node.op} {node.name} has no place in a program")
        return Program(tuple(self._storages), tuple(self.tensors), tuple(self._instructions), bytes(self._constants))

    def add(self, op: Opcode, name: str, inputs: Sequence[int], outputs: Sequence[int], *attributes: int) -> None:
        """Add an instruction without steps."""
        self._instructions.append(ProgramInstruction(op, name, tuple(inputs), tuple(outputs), attributes))

    def elementwise(self, node: Node, *steps: tuple[StepOp, *tuple[Any, ...]]) -> None:
        """Add an elementwise instruction whose result is the node.

        Each step is an op and its operands, which are nodes, numbers, or `StepOperand`s of earlier steps.
        """
        to = self.fresh(node)
        self.steps(node, to, steps)
        self.env[node] = to

    def steps(self, node: Node, to: int, steps: Sequence[tuple[StepOp, *tuple[Any, ...]]]) -> None:
        """Add an elementwise instruction that writes to an existing tensor."""
        inputs: list[int] = []
        sizes, dtype = self.tensors[to].sizes, self.tensors[to].dtype

        def operand(value: Any) -> StepOperand:
            if isinstance(value, StepOperand):
                return value
            if isinstance(value, (int, float)):
                return number(float(value))
            if isinstance(value, Node) and not isinstance(value.meta["val"], torch.Tensor):
                return number(float(self.size(value.meta["val"])))
            inputs.append(self.expanded(self.env[value] if isinstance(value, Node) else value.tensor, sizes))
            return StepOperand(OperandKind.FROM_INPUT, len(inputs) - 1)

        made = tuple(
            ProgramStep(op, dtype if last else F32, node.name, tuple(map(operand, operands)))
            for last, (op, *operands) in zip([*[False] * (len(steps) - 1), True], steps, strict=True)
        )
        stored = (len(made) - 1,)
        self._instructions.append(
            ProgramInstruction(Opcode.ELEMENTWISE, node.name, tuple(inputs), (to,), (), made, stored)
        )

    def product(self, name: str, a: int, b: int, to: int) -> None:
        """Add a matmul without an epilogue."""
        self._instructions.append(ProgramInstruction(Opcode.PRODUCT, name, (a, b), (to,), stored=(-1,)))

    def fresh(self, node: Node, index: int | None = None, dtype: int | None = None) -> int:
        """Add a tensor with new memory and torch's layout for a node's value; returns the tensor's number.

        For a node with several outputs, the value is output `index`. `dtype` replaces the node's dtype.
        """
        value = node.meta["val"] if index is None else node.meta["val"][index]
        tensor = self._described(value, len(self._storages), node.name if index is None else f"{node.name}.{index}")
        if dtype is not None:
            tensor = replace(tensor, dtype=dtype)
        self._storages.append(ProgramStorage(StorageKind.TEMPORARY, tensor.extent_bytes))
        return self.tensor(tensor)

    def tensor(self, tensor: ProgramTensor) -> int:
        """Add a tensor, and return its number."""
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def expanded(self, tensor: int, sizes: tuple[int, ...]) -> int:
        """Broadcast a tensor to other sizes, and return the number of the result."""
        found = self.tensors[tensor]
        if found.sizes == sizes:
            return tensor
        gap = len(sizes) - len(found.sizes)
        old, strides = (1,) * gap + found.sizes, (0,) * gap + found.strides
        made = tuple(
            0 if was == 1 and now != 1 else stride for was, now, stride in zip(old, sizes, strides, strict=True)
        )
        return self.tensor(replace(found, sizes=sizes, strides=made))

    def view_of(self, node: Node, source: Node, index: int | None = None) -> int:
        """Add a node, or its output `index`, as a view of another node's memory; return its number."""
        base, of = self.tensors[self.env[source]], source.meta["val"]
        value = node.meta["val"] if index is None else node.meta["val"][index]
        tensor = self._described(value, base.storage, node.name if index is None else f"{node.name}.{index}")
        offset = base.offset + self.size(value.storage_offset()) - self.size(of.storage_offset())
        tensor = replace(tensor, offset=max(offset, 0))
        if offset < 0 or tensor.extent_bytes > self._storages[base.storage].bytes:
            raise ProgramError(f"{node.name} is a view beyond the memory of {source.name}")
        made = self.tensor(tensor)
        self.add(Opcode.VIEW, node.name, [self.env[source]], [made])
        return made

    def _described(self, value: torch.Tensor, storage: int, name: str) -> ProgramTensor:
        sizes, strides = tuple(map(self.size, value.shape)), tuple(map(self.size, value.stride()))
        return ProgramTensor(storage, TORCH_DTYPES.index(value.dtype), sizes, strides, 0, name)

    def _placeholder(self, node: Node) -> None:
        value = node.meta["val"]
        if not isinstance(value, torch.Tensor):
            return
        tensor = self._described(value, len(self._storages), node.name)
        given = self._given.get(node.name)
        if given is None:
            self._storages.append(ProgramStorage(StorageKind.INPUT, tensor.extent_bytes, self._inputs))
            self._inputs += 1
        else:
            self._constant(given, tensor)
        self.env[node] = self.tensor(tensor)
        if given is None:
            self.add(Opcode.ARGUMENT, node.name, [], [self.env[node]])

    def _constant(self, value: torch.Tensor, tensor: ProgramTensor) -> None:
        """Append a tensor's memory, including gaps, to the constants."""
        count = tensor.extent_bytes // ITEM_BYTES[tensor.dtype]
        flat = value.detach().as_strided((count,), (1,)).contiguous().view(torch.uint8)
        place = aligned(len(self._constants))
        self._constants.extend(bytes(place - len(self._constants)) + flat.numpy().tobytes())
        self._storages.append(ProgramStorage(StorageKind.CONSTANT, tensor.extent_bytes, place))

    def _result(self, node: Node) -> None:
        values = node.args[0] if isinstance(node.args[0], (tuple, list)) else [node.args[0]]
        results = [self.env[value] for value in values if isinstance(value, Node)]
        outputs = 0
        for result in results:
            storage = self.tensors[result].storage
            found = self._storages[storage]
            if found.kind == StorageKind.TEMPORARY:
                self._storages[storage] = replace(found, kind=StorageKind.OUTPUT, place=outputs)
                outputs += 1
            elif found.kind == StorageKind.CONSTANT:
                raise ProgramError("a result is a parameter itself")
        self.add(Opcode.RESULT, "result", results, [])


class Sizes:
    """Values of a segment's symbols: from a call's inputs, or from torch's hints if there is no call."""

    def __init__(self, segment: GraphModule) -> None:
        self._values = [node.meta["val"] for node in segment.graph.nodes if node.op == "placeholder"]
        self._places = _places(self._values)

    @property
    def dynamic(self) -> bool:
        """Return True if there are symbols."""
        return bool(self._places)

    def key(self, inputs: Sequence[Any]) -> tuple[int, ...]:
        """Return the symbols' values at a call, in order."""
        return tuple(int(_at(inputs[index], dim)) for index, dim in self._places.values())

    def number(self, key: tuple[int, ...] | None, value: Any) -> int:
        """Return a size as a number, by torch's hint if `key` is None.

        Raises ProgramError if the size is unknown, or if the value is not a size.
        """
        if isinstance(value, int):
            return value
        if not isinstance(value, torch.SymInt):
            raise ProgramError(f"{value} is a number that is no size")
        if key is None:
            return hinted(value)
        bound = dict(zip(self._places, key, strict=True))
        found = value.node.expr.xreplace(bound)
        try:
            return int(found)
        except TypeError:
            raise ProgramError(f"the size {value.node.expr} is told by no input") from None


def hinted(value: Any) -> int:
    """Return a size as a number, by torch's hint if it is symbolic; raises ProgramError if torch has none."""
    if isinstance(value, int):
        return value
    if not value.node.has_hint():
        raise ProgramError(f"the size {value} is known only when it runs")
    return int(value.node.hint)


def _places(values: Sequence[Any]) -> dict[Any, tuple[int, int | None]]:
    """Return symbol → input that determines it, as input index and dimension.

    The dimension is None if the input is the number itself.
    """
    found: dict[Any, tuple[int, int | None]] = {}
    for index, value in enumerate(values):
        sizes = list(enumerate(value.shape)) if isinstance(value, torch.Tensor) else [(None, value)]
        for dim, size in sizes:
            if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol:
                found.setdefault(size.node.expr, (index, dim))
    return found


def _at(value: Any, dim: int | None) -> Any:
    return value if dim is None else value.shape[dim]
