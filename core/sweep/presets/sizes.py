"""Calls of other sizes: the model's own, or its inputs or the job's calls with another batch size."""

from __future__ import annotations

from collections.abc import Sequence

from core.job import BATCH, CompileJob
from core.job.arguments import own_call, resized_call, tensor_sizes


def calls_of(base: CompileJob, sizes: Sequence[int]) -> tuple[str, ...]:
    """Return the job's calls if they differ in size; otherwise its first call, or the model's, at each batch size."""
    own_sizes = [tensor_sizes(text) for text in base.calls]
    if any(sizes != own_sizes[0] for sizes in own_sizes):
        return base.calls

    if base.calls:
        return tuple(resized_call(base.calls[0], size) for size in sizes)
    return tuple(own_call({BATCH: size}, as_given=True) for size in sizes)
