"""Calls of other sizes: the model's own inputs, or the calls that a job gives, with another batch."""

from __future__ import annotations

from collections.abc import Sequence

from core.arguments import own_call, resized_call
from core.job import BATCH, CompileJob


def calls_of(base: CompileJob, sizes: Sequence[int]) -> tuple[str, ...]:
    """A call for each size of the batch: the job's first one, else the model's own."""
    if base.calls:
        return tuple(resized_call(base.calls[0], size) for size in sizes)
    return tuple(own_call({BATCH: size}) for size in sizes)
