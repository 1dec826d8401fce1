"""The stance of `torch.compiler.set_stance` in which a call is made."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from core.job import Conditions

Stance = Callable[[], AbstractContextManager[Any]]
FAIL = "fail_on_recompile"


def force_eager() -> AbstractContextManager[Any]:
    """That of eager calls: `cond`, `while_loop` and `flex_attention` call torch.compile themselves."""
    return torch.compiler.set_stance("force_eager")


def stance_of(conditions: Conditions) -> Stance:
    """That of compiled calls."""
    if conditions.force_backend:
        return lambda: torch.compiler.set_stance("default", force_backend=conditions.force_backend)
    if conditions.stance != "default":
        return lambda: torch.compiler.set_stance(conditions.stance)
    return nullcontext


def refused(conditions: Conditions, error: BaseException) -> bool:
    """Whether torch has raised an error since the stance forbids to compile."""
    return conditions.stance == FAIL and isinstance(error, RuntimeError) and FAIL in str(error)
