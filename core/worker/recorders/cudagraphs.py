"""Recorder of CUDA graphs: how often a compiled function warmed up, was recorded, and was replayed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

WARM_UPS, RECORDINGS, REPLAYS = "warm_ups", "recordings", "replays"
# Methods of torch's manager, and what a call of each is.
METHODS = {"run_eager": WARM_UPS, "record_function": RECORDINGS, "execute_node": REPLAYS}
counts: Counter[str] = Counter()


@contextmanager
def watching_cudagraphs() -> Iterator[None]:
    """Count the calls of this process; nothing without a CUDA device."""
    if not torch.cuda.is_available():
        yield
        return
    from torch._inductor.cudagraph_trees import CUDAGraphTreeManager

    originals = {name: getattr(CUDAGraphTreeManager, name) for name in METHODS}

    def counting(name: str) -> Any:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            counts[METHODS[name]] += 1
            return originals[name](self, *args, **kwargs)

        return method

    for name in METHODS:
        setattr(CUDAGraphTreeManager, name, counting(name))
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(CUDAGraphTreeManager, name, original)
