"""Decisions that torch would make by timing on the device, made here by a recorded rule."""

from __future__ import annotations

import torch

from core.report import TargetChoice
from core.worker.record import emit

_recorded: set[tuple[str, ...]] = set()


def record_choice(about: str, chosen: str, reason: str, among: list[str]) -> None:
    """Record a decision once a compilation, since tracing repeats the same call several times."""
    choice = (str(torch._guards.CompileContext.current_compile_id()), about, chosen, reason)
    if choice not in _recorded:
        _recorded.add(choice)
        emit(TargetChoice(about=about, chosen=chosen, reason=reason, among=tuple(among)))
