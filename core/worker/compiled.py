"""The call of torch.compile that a job asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from core.job import CompileOptions


def compiled_by(model: Callable[..., Any], options: CompileOptions) -> Callable[..., Any]:
    """The model, compiled with these options."""
    compiled: Callable[..., Any] = torch.compile(
        model,
        fullgraph=options.fullgraph,
        dynamic=options.dynamic,
        backend=options.backend,
        mode=options.mode,
        options=options.options,
    )
    return compiled
