"""A call of a program on tensors: by a Python extension module, or by ctypes if that cannot be built.

Both check each input before taking its address, and store no state between calls.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import byref, c_void_p, cast, create_string_buffer
from functools import cache, partial
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any, NamedTuple

import torch

from core.accelerator.library import ERROR_BYTES, CbBuffer, CbStats, extension, runtime
from core.base.errors import ProgramError

NAME = "compileboard_call"
BY_CTYPES = "The accelerator's programs are called through ctypes, which takes longer: {}."


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
    """Return the fastest available call and, if that is ctypes, the reason; raises ProgramError without a runtime."""
    return fastest_call(extension)


def fastest_call(build: Callable[[], Path]) -> tuple[Call, str]:
    """Return the call by the extension module that `build` makes, or by ctypes if it can't be built or loaded."""
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
