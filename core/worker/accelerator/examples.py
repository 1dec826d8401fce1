"""The first call of a program, kept as `cb_run` takes it: all inputs in one file, all outputs in another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from core.program import StorageKind
from core.worker.accelerator.segment import Compiled


def keeping_first(directory: Path, stem: str) -> Callable[[Compiled, Sequence[Any], Any], None]:
    """What keeps the first call that it is told of."""
    kept: list[Compiled] = []

    def keep(compiled: Compiled, inputs: Sequence[Any], results: Any) -> None:
        if not kept:
            kept.append(compiled)
            (directory / f"{stem}.inputs").write_bytes(_given(compiled, inputs))
            (directory / f"{stem}.expected").write_bytes(_made(compiled, results))

    return keep


def _given(compiled: Compiled, inputs: Sequence[Any]) -> bytes:
    return b"".join(_bytes(inputs[index], size) for index, _, size in compiled.inputs)


def _made(compiled: Compiled, results: Sequence[torch.Tensor]) -> bytes:
    storages = compiled.program.storages
    found: dict[int, tuple[torch.Tensor, int]] = {}
    for tensor, result in zip(compiled.results, results, strict=True):
        storage = storages[tensor.storage]
        if storage.kind == StorageKind.OUTPUT and tensor.offset == 0:
            found[storage.place] = (result, storage.bytes)
    return b"".join(_bytes(result, size) for _, (result, size) in sorted(found.items()))


def _bytes(tensor: torch.Tensor, size: int) -> bytes:
    """Memory from the tensor's first element on, gaps and all."""
    count = size // tensor.element_size()
    flat = tensor.detach().as_strided((count,), (1,), tensor.storage_offset())
    return bytes(flat.contiguous().view(torch.uint8).numpy().tobytes())
