"""Torch's caches on disk, where a run has its own: empty at its start, or fill_caches by a first process.

They lie in the run's directory, and the keeper removes them when the run is over.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch._functorch.config
import torch._inductor.config
from torch._dynamo.utils import counters

from core.base.words import duration_s, number
from core.job import Conditions

DIRECTORY = "caches"
FAILED = 1


def use_run_caches(conditions: Conditions, run: Path) -> None:
    """Have Inductor and Triton keep what they build in the run's own directory."""
    if conditions.caches == "objects":
        return
    for name, part in (("TORCHINDUCTOR_CACHE_DIR", "inductor"), ("TRITON_CACHE_DIR", "triton")):
        os.environ[name] = str(run / DIRECTORY / part)


@contextmanager
def lookups(conditions: Conditions) -> Iterator[None]:
    """Switch on the caches of whole graphs for a run that is to find them, and off for any other, whose story they
    would hide.
    """
    on = conditions.caches == "warm"
    # What the key of a graph is made of must be the same in the process that fills the caches.
    level = max(1, torch._inductor.config.trace.provenance_tracking_level)
    settings: dict[str, Any] = {"fx_graph_cache": on, "trace.provenance_tracking_level": level}
    with torch._inductor.config.patch(settings), torch._functorch.config.patch(enable_autograd_cache=on):
        yield


def fill_caches(conditions: Conditions, fill: Callable[[], object]) -> str:
    """Fill the caches in a process of its own, before this one has begun; what came of it, in words, empty where
    nothing was to be fill_caches.
    """
    if conditions.caches != "warm":
        return ""
    start = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        _leave(conditions, fill)
    exit_code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    duration = duration_s(time.perf_counter() - start)
    if exit_code:
        return f"The process that was to fill the caches ended after {duration} with exit code {exit_code}."
    return (
        f"A first process made the same compiled calls in {duration}, loading the model included, and left its caches."
    )


def _leave(conditions: Conditions, fill: Callable[[], object]) -> None:
    code = FAILED
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        with lookups(conditions):
            fill()
        code = 0
    finally:
        os._exit(code)


def cache_hit_words() -> str:
    """Return the hits of this process in the caches of whole graphs, by torch's counters, in words."""
    caches = (
        ("FX graphs", counters["inductor"], "fxgraph_cache_"),
        ("AOTAutograd's results", counters["aot_autograd"], "autograd_cache_"),
    )
    parts = []
    for what, group, prefix in caches:
        hits, missed = group[f"{prefix}hit"], group[f"{prefix}miss"] + group[f"{prefix}bypass"]
        parts.append(f"{number(hits)} of {number(hits + missed)} {what}")
    return f"This one found {' and '.join(parts)} there."
