"""The backends that ship, among torch's by name; the file of one is loaded when it is first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch._dynamo
from torch._dynamo.backends import registry

from core.accelerator.backends import SHIPPED


def register_built_in() -> None:
    """Put their names in torch's list, so that a model's own torch.compile finds them, too."""
    for name in SHIPPED:
        registry._COMPILER_FNS.pop(name, None)
        torch._dynamo.register_backend(_lazy_backend(name), name=name)


def load_built_in(name: str) -> Callable[..., Any]:
    """The `backend` of its file."""
    function: Callable[..., Any] = importlib.import_module(f"core.accelerator.backends.{name}").backend
    return function


def _lazy_backend(name: str) -> Callable[..., Any]:
    def compile_graph(graph: Any, inputs: Sequence[Any], **options: Any) -> Any:
        return load_built_in(name)(graph, inputs, **options)

    compile_graph.__name__ = name
    return compile_graph
