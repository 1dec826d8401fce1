"""Recorders of compiled code that calls reuse, from Dynamo's cache order, and of the runs of CUDA graphs.

Dynamo moves the most recently used entry to the front. Its hook after a cache lookup gets neither the frame nor the
code, but its caller is the frame's call site: if there are as many call sites as frames with compiled code, each frame
was entered once.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

import torch
import torch._C._dynamo.eval_frame as dynamo_frames
from torch._dynamo.eval_frame import _debug_get_cache_entry_list as cache_entries
from torch._dynamo.utils import counters

MOST_FRAMES = 1_000
CODES: dict[CodeType, None] = {}
COMPILED: Counter[str] = Counter()


class CodeReuse:
    """Cache lookups of one call: call sites with a hit in `places`, and call sites without a hit in `missed`.

    `newest` has the last used code of each frame, `compilations` is the number of frames compiled since the creation.
    """

    def __init__(self) -> None:
        self.places: set[tuple[CodeType, int]] = set()
        self.missed: set[tuple[CodeType, int]] = set()
        self._before = _compiled_frames()

    @property
    def compilations(self) -> int:
        """Return how many frames were compiled; torch's counter leaves out those of `fullgraph=True`."""
        return max(0, *(now - before for now, before in zip(_compiled_frames(), self._before, strict=True)))

    @property
    def newest(self) -> tuple[str, ...]:
        """Return the last used compilation of each frame."""
        entries = (cache_entries(code) for code in CODES)
        return tuple(str(found[0].compile_id) for found in entries if found)


def met(code: CodeType) -> None:
    """Register the code of a frame that was compiled."""
    COMPILED["frames"] += 1
    if len(CODES) < MOST_FRAMES:
        CODES[code] = None


def _compiled_frames() -> tuple[int, int]:
    return counters["frames"]["ok"], COMPILED["frames"]


@contextmanager
def watching_reuse() -> Iterator[CodeReuse]:
    """Record cache lookups in this context; a hook set by other code is still called."""
    reuse = CodeReuse()

    def searched(is_hit: bool) -> bool:
        caller = sys._getframe(1)
        (reuse.places if is_hit else reuse.missed).add((caller.f_code, caller.f_lasti))
        return is_hit if others is None else others(is_hit)

    others = dynamo_frames.set_guard_complete_hook(searched)
    try:
        yield reuse
    finally:
        dynamo_frames.set_guard_complete_hook(others)


WARM_UPS, RECORDINGS, REPLAYS = "warm_ups", "recordings", "replays"
# Methods of torch's manager, and what a call of each is.
METHODS = {"run_eager": WARM_UPS, "record_function": RECORDINGS, "execute_node": REPLAYS}
graph_counts: Counter[str] = Counter()


@contextmanager
def watching_cudagraphs() -> Iterator[None]:
    """Count the calls that CUDA graphs handle in this process; do nothing without a CUDA device."""
    if not torch.cuda.is_available():
        yield
        return
    from torch._inductor.cudagraph_trees import CUDAGraphTreeManager

    originals = {name: getattr(CUDAGraphTreeManager, name) for name in METHODS}

    def counting(name: str) -> Any:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            graph_counts[METHODS[name]] += 1
            return originals[name](self, *args, **kwargs)

        return method

    for name in METHODS:
        setattr(CUDAGraphTreeManager, name, counting(name))
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(CUDAGraphTreeManager, name, original)
