"""Forecast of a hang from the difference of two ranks, and advice that fits its cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.analysis.ranks.differences import RankDifference
from core.report.ranks import Fingerprint

ForecastKind = Literal["order", "wait", "stopped"]
AdviceKind = Literal[
    "mark_dynamic", "guard_collectives", "compiler_collectives", "compile_on_one_rank", "same_order", "one_cache"
]
# Devices on which compiler collectives work: torch takes the rank modulo the number of accelerators.
NO_ACCELERATOR = frozenset({"cpu"})


@dataclass(frozen=True, slots=True)
class Forecast:
    """A forecast for the job: collectives that do not match, ranks that wait for a compilation, or a rank that stopped.

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
        return Forecast("wait", _seconds(difference, left if difference.only == "left" else right))
    return Forecast("stopped") if difference.kind == "end" else None


def _seconds(difference: RankDifference, alone: Fingerprint) -> float | None:
    """Return the seconds of the compilations that one rank has alone; None if their ends are not recorded."""
    compilations = [one for one in alone.compilations if one.id in difference.alone]
    seconds = [one.seconds["whole compilation"] for one in compilations if "whole compilation" in one.seconds]
    return sum(seconds) if seconds else None


def advice(difference: RankDifference, left: Fingerprint, right: Fingerprint) -> tuple[Advice, ...]:
    """Return the changes that fit the cause of a difference; empty if none does.

    Compiler collectives fit only where all ranks compile at the same time: a rank that compiles alone would wait in
    them for the others, as seen on two GPUs with torch 2.11.
    """
    given = []
    if difference.source and difference.dimension is not None:
        given.append(Advice("mark_dynamic", f"torch._dynamo.mark_dynamic({difference.source}, {difference.dimension})"))
    if difference.kind == "recompile" and runs_collectives(left, right):
        given.append(Advice("guard_collectives", "torch.compiler.set_enable_guard_collectives(True)"))
    if difference.kind == "graph" and given and {*left.devices, *right.devices} - NO_ACCELERATOR:
        given.append(Advice("compiler_collectives", "torch._dynamo.config.enable_compiler_collectives = True"))
    if difference.is_constant and difference.kind in ("graph", "guards"):
        given.append(Advice("compile_on_one_rank", "torch.distributed.config.compile_on_one_rank = True"))
    if difference.kind == "cache":
        given.append(Advice("one_cache"))
    if difference.kind == "collectives":
        given.append(Advice("same_order"))
    return tuple(given)
