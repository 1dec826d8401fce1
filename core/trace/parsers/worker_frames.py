"""Stacks as they concern who wrote the model: without the frames of the worker that ran it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.report import Frame

# The entry point of a worker, in runs of this machine and in recordings from elsewhere.
STARTED = re.compile(r"^(.*/)?core/worker/__main__\.py$")


def without_worker(stack: Sequence[Frame]) -> tuple[Frame, ...]:
    """Return a stack, outermost first, after the worker's own frames; its last frame stays in any case."""
    started = next((match for frame in stack if (match := STARTED.match(frame.file))), None)
    if started is None:
        return tuple(stack)
    worker_folder = f"{started[1] or ''}core/worker/"
    last = max(index for index, frame in enumerate(stack) if frame.file.startswith(worker_folder))
    return tuple(stack[last + 1 :] or stack[-1:])
