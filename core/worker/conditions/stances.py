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
    """Return the stance for eager calls: `cond`, `while_loop` and `flex_attention` call torch.compile themselves."""
    return torch.compiler.set_stance("force_eager")


def stance_of(conditions: Conditions) -> Stance:
    """Return the stance for compiled calls."""
    if conditions.force_backend:
        return lambda: torch.compiler.set_stance("default", force_backend=conditions.force_backend)
    if conditions.stance != "default":
        return lambda: torch.compiler.set_stance(conditions.stance)
    return nullcontext


def refused(conditions: Conditions, error: BaseException) -> bool:
    """Return True if torch raised an error because the stance forbids compiling."""
    return conditions.stance == FAIL and isinstance(error, RuntimeError) and FAIL in str(error)
