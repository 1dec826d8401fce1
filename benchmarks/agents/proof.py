"""Proof of the checks: the original fails, the reference solution passes, each cheat fails."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from benchmarks.agents import work
from benchmarks.agents.cheats import CHEATS


def verdicts(name: str) -> list[tuple[str, bool, work.TaskVerdict]]:
    """Return each variant of a task's solution, the expected answer and the check's verdict."""
    with tempfile.TemporaryDirectory() as scratch:
        variants = {
            "original": work.prepare(name, Path(scratch, "original")),
            "reference": work.write_reference(name, Path(scratch, "reference")),
            **{cheat: work.write_cheat(name, Path(scratch, cheat), change) for cheat, change in CHEATS.items()},
        }
        checked = zip(variants, work.check_all(name, list(variants.values())), strict=True)
        return [(variant, variant == "reference", verdict) for variant, verdict in checked]


def prove(names: Iterable[str]) -> bool:
    """Print each verdict of the tasks; return true if all are as expected."""
    right = True
    for name in names:
        for variant, expected, verdict in verdicts(name):
            mark = "ok" if verdict.solved == expected else "WRONG"
            right = right and verdict.solved == expected
            print(f"{mark:5} {name:32} {variant:13} {verdict.reason or verdict.figures}", flush=True)
    return right
