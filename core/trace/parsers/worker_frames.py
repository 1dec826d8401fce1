"""Stacks as they concern who wrote the model: without the frames of the worker that ran it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.report import Frame

# What each recorded stack of a run made here begins with, also of one that was recorded long ago and elsewhere.
STARTED = re.compile(r"^(.*/)?core/worker/__main__\.py$")


def without_worker(stack: Sequence[Frame]) -> tuple[Frame, ...]:
    """A stack, outermost first, from the first frame on that is not the worker's; its last one stays in any case."""
    started = next((match for frame in stack if (match := STARTED.match(frame.file))), None)
    if started is None:
        return tuple(stack)
    ours = f"{started[1] or ''}core/worker/"
    last = max(index for index, frame in enumerate(stack) if frame.file.startswith(ours))
    return tuple(stack[last + 1 :] or stack[-1:])
