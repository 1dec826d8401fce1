"""Gradients of outputs with which a backward begins."""

from __future__ import annotations

from typing import Any

import torch

from core.worker.numerics.wide import as_written


class Cotangents:
    """Start of the backward: random numbers for each output, the same for every model copy, and 1 for a scalar.

    With them the gradients are of order one, however large the output is.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._cache: dict[tuple[Any, ...], torch.Tensor] = {}

    def __call__(self, outputs: list[torch.Tensor]) -> list[torch.Tensor]:
        return [self._of(index, output) for index, output in enumerate(outputs)]

    def _of(self, index: int, output: torch.Tensor) -> torch.Tensor:
        key = (index, output.shape, output.dtype, output.device)
        if key not in self._cache:
            self._cache[key] = self._random(index, output)
        return self._cache[key]

    def _random(self, index: int, output: torch.Tensor) -> torch.Tensor:
        cotangent = torch.ones_like(output, requires_grad=False)
        if output.dim() == 0 or output.layout != torch.strided or type(output) is not torch.Tensor:
            return cotangent
        generator = torch.Generator().manual_seed(self._seed + index)
        # Through bfloat16, so that they are the same numbers in every dtype that a twin may run in.
        with as_written():
            return cotangent.copy_(torch.randn(output.shape, generator=generator, dtype=torch.float32).bfloat16())
