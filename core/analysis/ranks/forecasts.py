"""Forecast of a hang from the difference of two ranks, and advice that fits its cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.analysis.ranks.differences import RankDifference
from core.report.ranks import Fingerprint

ForecastKind = Literal["order", "wait", "stopped"]
AdviceKind = Literal["mark_dynamic", "compiler_collectives", "compile_on_one_rank", "same_order", "one_cache"]
# Devices on which compiler collectives work: torch takes the rank modulo the number of accelerators.
NO_ACCELERATOR = frozenset({"cpu"})


@dataclass(frozen=True, slots=True)
class Forecast:
    """What may happen to the job: ranks whose collectives do not match, that wait for a compilation, or that stopped.

    `seconds` is how long the lone compilation took, None if unknown or there is none.
    """

    kind: ForecastKind
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Advice:
    """A change that fits the cause of a difference, as code; empty if it is no single line."""

    kind: AdviceKind
    code: str = ""


def runs_collectives(*fingerprints: Fingerprint) -> bool:
    """Return True if the logs show that ranks wait for each other: collectives in graphs, DDP or FSDP."""
    return any(
        one.parallel or any(mark.collectives or mark.kind == "schedule" for mark in one.marks) for one in fingerprints
    )


def forecast(difference: RankDifference, left: Fingerprint, right: Fingerprint) -> Forecast | None:
    """Return what the difference may lead to; None if it needs not stop any rank."""
    if difference.kind == "collectives":
        return Forecast("order")
    if not runs_collectives(left, right):
        return None
    if difference.kind in ("recompile", "compilation") and difference.only:
        alone = left if difference.only == "left" else right
        compilation = alone.compilation(difference.compile_id)
        return Forecast("wait", compilation.seconds.get("whole compilation") if compilation else None)
    return Forecast("stopped") if difference.kind == "end" else None


def advice(difference: RankDifference, left: Fingerprint, right: Fingerprint) -> tuple[Advice, ...]:
    """Return the changes that fit the cause of a difference; empty if none does."""
    if difference.source and difference.dimension is not None:
        return _of_size(difference.source, difference.dimension, {*left.devices, *right.devices})
    if difference.kind == "cache":
        return (Advice("one_cache"),)
    if difference.is_constant and difference.kind in ("graph", "guards"):
        return (Advice("compile_on_one_rank", "torch.distributed.config.compile_on_one_rank = True"),)
    return (Advice("same_order"),) if difference.kind == "collectives" else ()


def _of_size(source: str, dimension: int, devices: set[str]) -> tuple[Advice, ...]:
    marked = Advice("mark_dynamic", f"torch._dynamo.mark_dynamic({source}, {dimension})")
    if devices and devices <= NO_ACCELERATOR:
        return (marked,)
    return marked, Advice("compiler_collectives", "torch._dynamo.config.enable_compiler_collectives = True")
