"""Sweeps that are stored without a single run having been made, and rows as runs would have given them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import psutil

from core import Store, Sweep, SweepStore
from core.analysis.interval import Interval
from core.report import SCHEMA, How
from core.runs.processes.handles import process_handle
from core.sweep.store import ROWS, Claim, SweepCall, SweepRow
from core.sweep.table import VERSION

FASTER, SLOWER, SAME = Interval(1.78, 1.82, 1.86), Interval(0.5, 0.5, 0.5), Interval(0.97, 1.01, 1.05)


def timed(*at: str, ratio: Interval = FASTER, compiled_s: float = 0.001, **more: Any) -> SweepRow:
    """A row whose calls were timed."""
    claim: Claim = "faster" if ratio.low > 1.02 else "slower" if ratio.high < 0.98 else "no difference seen"
    eager_s = compiled_s * ratio.middle
    row = SweepRow(
        at,
        "",
        "done",
        eager_s=eager_s,
        compiled_s=compiled_s,
        ratio=ratio,
        claim=claim,
        eager_quartiles_s=(eager_s * 0.99, eager_s * 1.01),
        compiled_quartiles_s=(compiled_s * 0.99, compiled_s * 1.01),
        results="same",
    )
    return replace(row, **more)


def called(at: str, *compilations: int, how: Sequence[How] = ()) -> SweepRow:
    """A row whose calls met so many compilations."""
    ways: Sequence[How] = how or ["compiled" if met else "reused" for met in compilations]
    calls = tuple(
        SweepCall(f"f32[{place + 2}]", 1e-5, None if way == "raised" else 1e-4, met, "no" * (way == "raised"), way)
        for place, (met, way) in enumerate(zip(compilations, ways, strict=True))
    )
    return SweepRow((at,), "", "done", calls=calls, compilations=sum(compilations), compile_s=0.1, kernels=1)


def add_sweep(home: Path, sweep: Sweep, rows: Sequence[SweepRow], *, going: bool = False) -> Sweep:
    """Store a sweep with the rows of its first cells, each with a run that has no log; another process goes through it
    if it is `going`.
    """
    runs = tuple(f"20260101-000000-cell-{place:04x}" for place in range(len(rows)))
    handle = process_handle(psutil.Process(os.getppid())) if going else ""
    stored = replace(sweep, runs=runs, handle=handle)
    store = SweepStore(Store(home))
    store.create(stored)
    for run, row in zip(runs, rows, strict=True):
        (home / "runs" / run).mkdir(mode=0o700, exist_ok=True)
        kept = store.path(sweep.id) / ROWS / f"{run}-{SCHEMA}.{VERSION}.json"
        kept.write_bytes(msgspec.json.encode(replace(row, run=run)))
    return stored
