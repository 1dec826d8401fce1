"""A segment as it runs: a program for each set of sizes, called without copies, and torch where there is none."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch.fx import GraphModule

from core.errors import ProgramError
from core.program import (
    ITEM_BYTES,
    Opcode,
    Program,
    ProgramTensor,
    StorageKind,
    read_program,
    write_program,
)
from core.worker.accelerator.builder import TORCH_DTYPES, Builder
from core.worker.accelerator.library import LoadedProgram, checksum
from core.worker.accelerator.lowering import lower
from core.worker.accelerator.sizes import Sizes

MOST_PROGRAMS = 16
MANY_SIZES = f"more than {MOST_PROGRAMS} sets of sizes: the others are torch's"
CHANGED = "a frozen parameter was changed"


@dataclass(frozen=True, slots=True)
class OutputPlan:
    """Memory that a run gives to a program: items of a dtype, and whether one result fills it as it lies."""

    items: int
    dtype: torch.dtype
    whole: ProgramTensor | None


@dataclass(slots=True)
class Compiled:
    """A program in the runtime, with what a call of it needs, and how long each stage of making it took."""

    loaded: LoadedProgram
    program: Program
    file: bytes
    inputs: tuple[tuple[int, tuple[int, ...], int], ...]  # which argument, its strides, its bytes
    outputs: tuple[OutputPlan, ...]
    results: tuple[ProgramTensor, ...]
    times_s: dict[str, float]


@dataclass(slots=True)
class Crossings:
    """What went across the ABI: calls, seconds of them in the runtime and beside it, and what did not."""

    calls: int = 0
    runtime_s: float = 0.0
    call_s: float = 0.0
    allocated_bytes: int = 0
    copies: int = 0
    fallbacks: Counter[str] = field(default_factory=Counter)


class SegmentModule(torch.nn.Module):
    """Stands in the graph for the nodes of a segment."""

    def __init__(self, nodes: GraphModule, name: str, passes: int, constants: Mapping[str, torch.Tensor]) -> None:
        super().__init__()
        self.nodes, self.name = nodes, name
        self._passes, self.constants = passes, dict(constants)
        self._versions = {key: value._version for key, value in constants.items()}
        self._sizes = Sizes(nodes)
        self._programs: dict[tuple[int, ...], Compiled | None] = {}
        self.crossings = Crossings()
        self.watch: Callable[[Compiled, Sequence[Any], Any], None] | None = None
        self.first, self.problem = self._compiled(None)
        if self.first and not self._sizes.dynamic:
            self._programs[()] = self.first

    @property
    def dynamic(self) -> bool:
        """Whether it has symbolic sizes."""
        return self._sizes.dynamic

    @property
    def programs(self) -> int:
        """For how many sets of sizes there is a program."""
        return len(self._programs)

    def forward(self, *inputs: Any) -> Any:
        """The segment's results; by torch where the accelerator cannot."""
        begun = time.perf_counter()
        compiled = self._for(inputs)
        if compiled is None:
            return self.nodes(*inputs)
        results = self._run(compiled, inputs)
        self.crossings.call_s += time.perf_counter() - begun
        if self.watch:
            self.watch(compiled, inputs, results)
        return results[0] if len(results) == 1 else tuple(results)

    def _for(self, inputs: Sequence[Any]) -> Compiled | None:
        if self.first is None:
            self.crossings.fallbacks[self.problem] += 1
            return None
        if any(self.constants[key]._version != version for key, version in self._versions.items()):
            self.crossings.fallbacks[CHANGED] += 1
            return None
        key = self._sizes.key(inputs)
        if key not in self._programs:
            if len(self._programs) >= MOST_PROGRAMS:
                self.crossings.fallbacks[MANY_SIZES] += 1
                return None
            self._programs[key], problem = self._compiled(key)
            if problem:
                self.crossings.fallbacks[problem] += 1
        return self._programs[key]

    def _compiled(self, key: tuple[int, ...] | None) -> tuple[Compiled | None, str]:
        try:
            return self._made(key), ""
        except ProgramError as error:
            return None, str(error)
        except KeyError as error:
            return None, f"{error.args[0]} is no tensor"

    def _made(self, key: tuple[int, ...] | None) -> Compiled:
        begun = time.perf_counter()
        raw = Builder(partial(self._sizes.number, key), self.constants).build(self.nodes, lower)
        built = time.perf_counter()
        file = write_program(raw, checksum)
        written = time.perf_counter()
        loaded = LoadedProgram(file, passes=self._passes)
        optimised = time.perf_counter()
        saved = loaded.saved()
        program = read_program(saved, checksum)
        times = {
            "lower": built - begun,
            "write": written - built,
            "load and passes": optimised - written,
            "save": time.perf_counter() - optimised,
        }
        arguments = [program.tensors[item.outputs[0]] for item in program.instructions if item.op == Opcode.ARGUMENT]
        results = tuple(program.tensors[number] for number in program.results)
        return Compiled(
            loaded, program, saved, self._inputs(program, arguments), _outputs(program, results), results, times
        )

    def _inputs(self, program: Program, arguments: Sequence[ProgramTensor]) -> tuple[Any, ...]:
        """Which argument of the call each input is: tensors in their order, without those that are constants."""
        nodes = [node for node in self.nodes.graph.nodes if node.op == "placeholder"]
        given = [
            index
            for index, node in enumerate(nodes)
            if isinstance(node.meta["val"], torch.Tensor) and node.name not in self.constants
        ]
        sizes = [program.storages[tensor.storage].bytes for tensor in arguments]
        return tuple((index, tensor.strides, size) for index, tensor, size in zip(given, arguments, sizes, strict=True))

    def _run(self, compiled: Compiled, inputs: Sequence[Any]) -> list[torch.Tensor]:
        given = [self._laid_out(inputs[index], strides) for index, strides, _ in compiled.inputs]
        made = [_memory(plan) for plan in compiled.outputs]
        memory = [_address(tensor) for tensor in given], [_address(tensor) for tensor in made]
        run = compiled.loaded.run(*memory, torch.get_num_threads())
        self.crossings.calls += 1
        self.crossings.runtime_s += run.seconds
        self.crossings.allocated_bytes = run.allocated_bytes
        return [_result(compiled, tensor, given, made) for tensor in compiled.results]

    def _laid_out(self, tensor: torch.Tensor, strides: tuple[int, ...]) -> torch.Tensor:
        if tensor.stride() == strides or tensor.numel() == 0:
            return tensor
        if all(a == b or n == 1 for a, b, n in zip(tensor.stride(), strides, tensor.shape, strict=True)):
            return tensor
        self.crossings.copies += 1
        return torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype).copy_(tensor)


def _outputs(program: Program, results: Sequence[ProgramTensor]) -> tuple[OutputPlan, ...]:
    storages = [(at, s) for at, s in enumerate(program.storages) if s.kind == StorageKind.OUTPUT]
    found = []
    for at, storage in sorted(storages, key=lambda pair: pair[1].place):
        views = [tensor for tensor in results if tensor.storage == at]
        dtype = TORCH_DTYPES[views[0].dtype]
        is_whole = len(views) == 1 and views[0].numel * ITEM_BYTES[views[0].dtype] == storage.bytes
        items = storage.bytes // ITEM_BYTES[views[0].dtype]
        found.append(OutputPlan(items, dtype, views[0] if is_whole else None))
    return tuple(found)


def _address(tensor: torch.Tensor) -> tuple[int, int]:
    """Where a tensor begins, and how many bytes there are from there on."""
    offset = tensor.storage_offset() * tensor.element_size()
    return tensor.data_ptr(), tensor.untyped_storage().nbytes() - offset


def _memory(plan: OutputPlan) -> torch.Tensor:
    if plan.whole is None:
        return torch.empty(plan.items, dtype=plan.dtype)
    return torch.empty_strided(plan.whole.sizes, plan.whole.strides, dtype=plan.dtype)


def _result(
    compiled: Compiled, tensor: ProgramTensor, inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor]
) -> torch.Tensor:
    storage = compiled.program.storages[tensor.storage]
    if storage.kind == StorageKind.OUTPUT and compiled.outputs[storage.place].whole:
        return outputs[storage.place]
    base = outputs[storage.place] if storage.kind == StorageKind.OUTPUT else inputs[storage.place]
    return base.as_strided(tensor.sizes, tensor.strides, base.storage_offset() + tensor.offset)
