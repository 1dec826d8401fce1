"""Calls of other sizes: the model's own where they differ in size, else its inputs, or the calls that a job gives, with
another batch.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.job import BATCH, CompileJob
from core.job.arguments import own_call, resized_call, tensor_sizes


def calls_of(base: CompileJob, sizes: Sequence[int]) -> tuple[str, ...]:
    """The job's calls where they differ in size; else its first, or the model's, with each size of the batch."""
    own = [tensor_sizes(text) for text in base.calls]
    if any(sizes != own[0] for sizes in own):
        return base.calls

    if base.calls:
        return tuple(resized_call(base.calls[0], size) for size in sizes)
    return tuple(own_call({BATCH: size}, as_given=True) for size in sizes)
