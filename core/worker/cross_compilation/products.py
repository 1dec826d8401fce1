"""Padding of matrix products whose sizes are not aligned: torch's rule as far as it goes without a clock.

Torch pads none that is bound by memory, and times the others padded and as they are
(`torch/_inductor/fx_passes/pad_mm.py`).
"""

from __future__ import annotations

import inspect
from typing import Any

from torch._inductor.fx_passes import pad_mm

from core.worker.cross_compilation.choices import record_choice

NOT_PADDED = "not padded"


class Padding:
    """Replacement of `pad_mm._should_pad`, and of the timing lookup just before the benchmark.

    Torch caches its decisions on disk without their device, so they are neither read nor written here.
    """

    def __init__(self) -> None:
        self._rule = inspect.unwrap(pad_mm._should_pad)
        self._product: tuple[Any, Any, Any] | None = None

    def should_pad(self, match: Any, mat1: Any, mat2: Any, op: Any, input: Any = None) -> bool:
        """Torch's rule about a product."""
        self._product = op, mat1, mat2
        return bool(self._rule(match, mat1, mat2, op, input))

    def decline_benchmark(self, _key: str) -> bool:
        """Return False for a product that the rule leaves to a benchmark, and record the choice."""
        assert self._product is not None
        about, padded = _words(*self._product)
        reason = "needs timing on the device: torch pads it there if that is faster"
        record_choice(f"padding of {about}", NOT_PADDED, reason, [NOT_PADDED, padded])
        return False


def _words(op: Any, mat1: Any, mat2: Any) -> tuple[str, str]:
    """A product and what it would be padded to: `mm [128, 42] by [42, 64]`, `[128, 44] by [44, 64]`."""
    sizes = [[size + _missing(size, tensor) for size in tensor.shape] for tensor in (mat1, mat2)]
    if op.__name__ == "bmm":
        sizes = [[tensor.shape[0], *size[1:]] for tensor, size in zip((mat1, mat2), sizes, strict=True)]
    dtype = str(mat1.dtype).removeprefix("torch.")
    return f"{op.__name__} {dtype} {list(mat1.shape)} by {list(mat2.shape)}", f"{sizes[0]} by {sizes[1]}"


def _missing(size: Any, tensor: Any) -> int:
    return int(pad_mm.get_padded_length(size, pad_mm.get_alignment_size(tensor)))
