"""The first call of a program, kept as `cb_run` takes it: all inputs in one file, all outputs in another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from core.accelerator.segment import CompiledSegment


def keeping_first(directory: Path, stem: str) -> Callable[[CompiledSegment, Sequence[Any], Any], None]:
    """Return a function that stores the first call of a program."""
    kept: list[CompiledSegment] = []

    def keep(compiled: CompiledSegment, inputs: Sequence[Any], results: Any) -> None:
        if not kept:
            kept.append(compiled)
            (directory / f"{stem}.inputs").write_bytes(_given(compiled, inputs))
            (directory / f"{stem}.expected").write_bytes(_made(compiled, results))

    return keep


def _given(compiled: CompiledSegment, inputs: Sequence[Any]) -> bytes:
    sizes = compiled.loaded.input_bytes()
    return b"".join(_bytes(inputs[plan.argument], size) for plan, size in zip(compiled.inputs, sizes, strict=True))


def _made(compiled: CompiledSegment, results: Sequence[torch.Tensor]) -> bytes:
    found: dict[int, tuple[torch.Tensor, int]] = {}
    for plan, result in zip(compiled.results, results, strict=True):
        if not plan.of_input and plan.offset == 0:
            found[plan.place] = (result, plan.bytes)
    return b"".join(_bytes(result, size) for _, (result, size) in sorted(found.items()))


def _bytes(tensor: torch.Tensor, size: int) -> bytes:
    """Memory from the tensor's first element on, gaps and all."""
    count = size // tensor.element_size()
    flat = tensor.detach().as_strided((count,), (1,), tensor.storage_offset())
    return bytes(flat.contiguous().view(torch.uint8).numpy().tobytes())
