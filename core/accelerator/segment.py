"""Execution of a segment: one program per set of sizes; torch is the fallback. Names of compilations.

Inputs are copied only if their layout differs from the plan. A Python extension module calls a program, or
ctypes if the module cannot be built. Both check each input before taking its address, and store no state
between calls.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from ctypes import byref, c_void_p, cast, create_string_buffer
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import torch
from torch import get_num_threads
from torch._guards import CompileContext
from torch.fx import GraphModule

from core.accelerator.builder import TORCH_DTYPES, Builder, Sizes
from core.accelerator.library import ERROR_BYTES, CbBuffer, CbStats, LoadedProgram, checksum, extension, runtime
from core.accelerator.lowering import lower
from core.accelerator.program.file import read_program, write_program
from core.accelerator.program.program import ITEM_BYTES, Opcode, Program, ProgramStorage, ProgramTensor, StorageKind
from core.base.errors import ProgramError

# Beyond this number, a new program evicts the least recently used one.
MOST_PROGRAMS = 16  #: limit: programs of one segment, one for each set of sizes
OTHER_SIZES = "an input has other sizes, or another dtype, than the graph says"
NAME = "compileboard_call"
BY_CTYPES = "The accelerator's programs are called through ctypes, which takes longer: {}."


@dataclass(frozen=True, slots=True)
class ResultPlan:
    """A tensor that a program returns: an output itself if `whole`, otherwise a view.

    `place` is the index of the output, or of the input if `of_input`. `sizes`, `strides` and `offset` (in
    elements) describe the view. `bytes` is the size of the underlying memory.
    """

    of_input: bool
    place: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    whole: bool
    bytes: int


@dataclass(slots=True)
class CompiledSegment:
    """A program in the runtime, the plan of its calls, and the seconds of each stage of compiling it."""

    loaded: LoadedProgram
    program: Program
    file: bytes
    inputs: tuple[InputPlan, ...]
    outputs: tuple[OutputPlan, ...]
    results: tuple[ResultPlan, ...]
    whole: bool  # True if the results are exactly the outputs, in order
    start: Callable[[int, tuple[Any, ...]], Done]  # runs a call: number of threads, inputs
    times_s: dict[str, float]


@dataclass(slots=True)
class Crossings:
    """Calls across the C ABI: seconds, copied inputs, and fallbacks to torch by reason.

    `allocated_bytes` is the size of temporaries in the last call.
    """

    calls: int = 0
    runtime_s: float = 0.0
    call_s: float = 0.0
    allocated_bytes: int = 0
    copies: int = 0
    fallbacks: Counter[str] = field(default_factory=Counter)


class SegmentModule(torch.nn.Module):
    """Module that replaces the nodes of a segment in the graph.

    `constants` are frozen parameters by the name of their placeholder. The program file contains copies of them. A
    call reads the original parameters as inputs, so that it sees every change of a parameter.
    """

    def __init__(self, nodes: GraphModule, name: str, passes: int, constants: Mapping[str, torch.Tensor]) -> None:
        super().__init__()
        self.nodes, self.name = nodes, name
        self._passes, self.constants = passes, dict(constants)
        self._sizes = Sizes(nodes)
        self._programs: dict[tuple[int, ...], CompiledSegment | None] = {}
        self.programs = 0
        self.crossings = Crossings()
        self._call, _ = program_call()
        self.watch: Callable[[CompiledSegment, Sequence[Any], Any], None] | None = None
        self.first, self.problem = self._compiled(None, self.constants)
        # The only program of a segment without symbolic sizes.
        self._static: CompiledSegment | None = None
        if self.first and not self._sizes.dynamic:
            self._static, self.problem = self._compiled(None, {}) if constants else (self.first, "")
            self.programs = 1

    @property
    def dynamic(self) -> bool:
        """Return True if the segment has symbolic sizes."""
        return self._sizes.dynamic

    def forward(self, *inputs: Any) -> Any:
        """Return the segment's results; torch computes them if the runtime can't.

        Attributes are read rarely, since each access to a module's attribute takes as long as adding a hundred numbers.
        """
        begin = perf_counter()
        compiled = self._static or self._for(inputs)
        if compiled is None:
            return self.nodes(*inputs)
        given, done = inputs, compiled.start(get_num_threads(), inputs)
        if done is None:
            given = self._laid(compiled, inputs)
            done = compiled.start(get_num_threads(), given) if given else None
        if done is None:
            return self.nodes(*inputs)
        made, seconds, allocated = done
        crossings = self.crossings
        crossings.calls += 1
        crossings.runtime_s += seconds
        crossings.allocated_bytes = allocated
        results = made if compiled.whole else [_result(plan, compiled, given, made) for plan in compiled.results]
        crossings.call_s += perf_counter() - begin
        if self.watch:
            # The written file is of the program with constants, if there are any.
            self.watch(self.first if self.first and self.constants else compiled, inputs, results)
        return results[0] if len(results) == 1 else tuple(results)

    # Module hooks don't apply inside a compiled graph, and `Module.__call__` spends longer on them than a kernel takes.
    __call__ = forward

    def _for(self, inputs: Sequence[Any]) -> CompiledSegment | None:
        if self.first is None or not self._sizes.dynamic:
            self.crossings.fallbacks[self.problem] += 1
            return None
        key = self._sizes.key(inputs)
        if key in self._programs:
            compiled = self._programs.pop(key)
        else:
            if len(self._programs) >= MOST_PROGRAMS:
                self._programs.pop(next(iter(self._programs)))
            compiled, problem = self._compiled(key, {})
            self.programs += 1
            if problem:
                self.crossings.fallbacks[problem] += 1
        self._programs[key] = compiled
        return compiled

    def _compiled(
        self, key: tuple[int, ...] | None, constants: Mapping[str, torch.Tensor]
    ) -> tuple[CompiledSegment | None, str]:
        try:
            return self._made(key, constants), ""
        except ProgramError as error:
            return None, str(error)
        except KeyError as error:
            return None, f"{error.args[0]} is no tensor"

    def _made(self, key: tuple[int, ...] | None, constants: Mapping[str, torch.Tensor]) -> CompiledSegment:
        begin = perf_counter()
        raw = Builder(partial(self._sizes.number, key), constants).build(self.nodes, lower)
        built = perf_counter()
        file = write_program(raw, checksum)
        written = perf_counter()
        loaded = LoadedProgram(file, passes=self._passes)
        optimised = perf_counter()
        saved = loaded.saved()
        program = read_program(saved, checksum)
        times = {
            "lower": built - begin,
            "write": written - built,
            "load and passes": optimised - written,
            "save": perf_counter() - optimised,
        }
        results = _results(program)
        outputs = sum(storage.kind == StorageKind.OUTPUT for storage in program.storages)
        whole = all(plan.whole for plan in results) and [plan.place for plan in results] == [*range(outputs)]
        plans = self._inputs(program, constants), _outputs(program)
        start = partial(self._call, loaded.address, *plans, allocate)
        return CompiledSegment(loaded, program, saved, *plans, results, whole, start, times)

    def _inputs(self, program: Program, constants: Mapping[str, torch.Tensor]) -> tuple[InputPlan, ...]:
        """Return the plan of each input: the tensors in order, without constants."""
        nodes = [node for node in self.nodes.graph.nodes if node.op == "placeholder"]
        given = [
            index
            for index, node in enumerate(nodes)
            if isinstance(node.meta["val"], torch.Tensor) and node.name not in constants
        ]
        arguments = [program.tensors[item.outputs[0]] for item in program.instructions if item.op == Opcode.ARGUMENT]
        return tuple(
            InputPlan(
                index,
                tensor.sizes,
                tensor.strides,
                TORCH_DTYPES[tensor.dtype],
                program.storages[tensor.storage].bytes,
            )
            for index, tensor in zip(given, arguments, strict=True)
        )

    def _laid(self, compiled: CompiledSegment, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """Return the inputs, copied if their layout differs from the plan; empty if sizes or dtype differ."""
        laid = list(inputs)
        for plan in compiled.inputs:
            tensor = inputs[plan.argument]
            if tensor.shape != plan.sizes or tensor.dtype is not plan.dtype:
                self.crossings.fallbacks[OTHER_SIZES] += 1
                return ()
            if not is_as_planned(tensor, plan):
                self.crossings.copies += 1
                laid[plan.argument] = allocate(plan.sizes, plan.strides, plan.dtype).copy_(tensor)
        return tuple(laid)


# The allocation function of Inductor's own code: takes a third of the time of `torch.empty_strided`.
allocate: Allocate = torch._C._dynamo.guards._empty_strided_cpu


def _outputs(program: Program) -> tuple[OutputPlan, ...]:
    found = []
    for at, storage in _output_storages(program):
        views = _views(program, at)
        size = ITEM_BYTES[views[0].dtype]
        whole = _is_whole(views, storage)
        sizes, strides = (views[0].sizes, views[0].strides) if whole else ((storage.bytes // size,), (1,))
        found.append(OutputPlan(sizes, strides, TORCH_DTYPES[views[0].dtype], storage.bytes))
    return tuple(found)


def _output_storages(program: Program) -> list[tuple[int, ProgramStorage]]:
    storages = [(at, s) for at, s in enumerate(program.storages) if s.kind == StorageKind.OUTPUT]
    return sorted(storages, key=lambda pair: pair[1].place)


def _views(program: Program, storage: int) -> list[ProgramTensor]:
    tensors = (program.tensors[number] for number in program.results)
    return [tensor for tensor in tensors if tensor.storage == storage]


def _is_whole(views: Sequence[ProgramTensor], storage: ProgramStorage) -> bool:
    """Return True if a single result fills the storage."""
    return len(views) == 1 and views[0].numel * ITEM_BYTES[views[0].dtype] == storage.bytes


def _results(program: Program) -> tuple[ResultPlan, ...]:
    found = []
    for tensor in (program.tensors[number] for number in program.results):
        storage = program.storages[tensor.storage]
        is_output = storage.kind == StorageKind.OUTPUT
        whole = is_output and _is_whole(_views(program, tensor.storage), storage)
        found.append(
            ResultPlan(not is_output, storage.place, tensor.sizes, tensor.strides, tensor.offset, whole, storage.bytes)
        )
    return tuple(found)


def _result(
    plan: ResultPlan, compiled: CompiledSegment, inputs: Sequence[Any], outputs: Sequence[torch.Tensor]
) -> torch.Tensor:
    base = inputs[compiled.inputs[plan.place].argument] if plan.of_input else outputs[plan.place]
    if plan.whole:
        return base
    return base.as_strided(plan.sizes, plan.strides, base.storage_offset() + plan.offset)


class InputPlan(NamedTuple):
    """An input of a program: the index of the call's argument, its required layout, and its size in bytes."""

    argument: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: torch.dtype
    bytes: int


class OutputPlan(NamedTuple):
    """Layout and bytes of the memory that a call allocates for an output of a program."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: torch.dtype
    bytes: int


# Outputs, seconds in the runtime, and bytes of temporaries; None if an input does not match its plan.
Done = tuple[list[torch.Tensor], float, int] | None
Allocate = Callable[[tuple[int, ...], tuple[int, ...], torch.dtype], torch.Tensor]
Call = Callable[[int, tuple[InputPlan, ...], tuple[OutputPlan, ...], Allocate, int, tuple[Any, ...]], Done]


@cache
def program_call() -> tuple[Call, str]:
    """Return the fastest available call function and, if that is ctypes, the reason.

    Raises ProgramError without a runtime.
    """
    return fastest_call(extension)


def fastest_call(build: Callable[[], Path]) -> tuple[Call, str]:
    """Return the call function of the extension module whose path `build` returns.

    If the module can't be built or loaded, return the ctypes function and the reason.
    """
    run = cast(runtime().cb_program_run, c_void_p).value
    try:
        return partial(_loaded(build()).call, run), ""
    except (ProgramError, ImportError) as error:
        return call_by_ctypes, BY_CTYPES.format(error)


def _loaded(path: Path) -> Any:
    """Load an extension module from a file; raises ImportError if Python cannot load it."""
    loader = ExtensionFileLoader(NAME, str(path))
    spec = spec_from_loader(NAME, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def call_by_ctypes(
    program: int,
    input_plans: tuple[InputPlan, ...],
    output_plans: tuple[OutputPlan, ...],
    allocate: Allocate,
    threads: int,
    inputs: tuple[Any, ...],
) -> Done:
    """Call the program like `core/accelerator/runtime/python/call.cpp`, but several times slower."""
    if not all(is_as_planned(inputs[plan.argument], plan) for plan in input_plans):
        return None
    made = [allocate(plan.sizes, plan.strides, plan.dtype) for plan in output_plans]
    given = _buffers([inputs[plan.argument] for plan in input_plans], input_plans)
    results = _buffers(made, output_plans)
    stats, error = CbStats(), create_string_buffer(ERROR_BYTES)
    counts = (given, len(given), results, len(made))
    if runtime().cb_program_run(c_void_p(program), *counts, threads, byref(stats), None, error, ERROR_BYTES):
        raise ProgramError(error.value.decode(errors="replace"))
    return made, stats.seconds, stats.allocated_bytes


def _buffers(tensors: Sequence[torch.Tensor], plans: Sequence[InputPlan | OutputPlan]) -> ctypes.Array[CbBuffer]:
    pairs = zip(tensors, plans, strict=True)
    return (CbBuffer * len(plans))(*[CbBuffer(tensor.data_ptr(), plan.bytes) for tensor, plan in pairs])


def is_as_planned(tensor: torch.Tensor, plan: InputPlan) -> bool:
    """Return True if a tensor has the plan's dtype, sizes and strides."""
    if tensor.dtype is not plan.dtype or tensor.shape != plan.sizes:
        return False
    strides = zip(tensor.stride(), plan.strides, plan.sizes, strict=True)
    return 0 in plan.sizes or all(a == b or size == 1 for a, b, size in strides)


class CompileKeys:
    """Names of the compilations of one process.

    torch counts its compile ids anew after a reset. A compilation is known by its context, which its backward shares.
    """

    def __init__(self) -> None:
        self._contexts: dict[str, list[CompileContext]] = {}

    def current(self) -> str:
        """Return torch's compile id, such as `0/0`, and `0/0.2` for the second compilation with this id.

        Empty outside a compilation.
        """
        context = CompileContext.try_get()
        if context is None or context.compile_id is None:
            return ""
        name = str(context.compile_id)
        known = self._contexts.setdefault(name, [])
        if not any(other is context for other in known):
            known.append(context)
        place = next(index for index, other in enumerate(known) if other is context)
        return f"{name}.{place + 1}" if place else name
