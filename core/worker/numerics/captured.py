"""The graphs that Dynamo captures of a model, each with the inputs that it was called with last."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
import torch._inductor.metrics
import torch._logging._internal as torch_logging
from torch._dynamo.utils import counters
from torch._guards import CompileContext

from core.worker.conditions.modes import Mode

NOT_CALLED = "it was not called"
TOO_MUCH = "its inputs take more memory than the run has left for them"
METRICS = ("generated_kernel_count", "generated_cpp_vec_kernel_count", "ir_nodes_pre_fusion", "num_bytes_accessed")


@dataclass(slots=True)
class CapturedGraph:
    """A captured graph with copies of the inputs of its last call, and that call's mode.

    `reason` is why there are no inputs.
    """

    compilation: str
    graph: torch.fx.GraphModule
    mode: Mode
    inputs: tuple[Any, ...] = ()
    reason: str = NOT_CALLED


class CaptureBackend:
    """A backend that runs what Dynamo gives it eagerly, and keeps it; inputs of more than `room` bytes in all are not
    kept.
    """

    def __init__(self, room: int) -> None:
        self.graphs: dict[str, CapturedGraph] = {}
        self._room = room

    def __call__(self, graph: torch.fx.GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
        found = CapturedGraph(str(CompileContext.current_compile_id()), graph, Mode.current())
        self.graphs[found.compilation] = found

        def call(*inputs: Any) -> Any:
            self._keep(found, inputs)
            return graph.forward(*inputs)

        return call

    def _keep(self, graph: CapturedGraph, inputs: tuple[Any, ...]) -> None:
        fits = size_of(inputs) <= self._room
        graph.inputs, graph.reason = (copies(inputs), "") if fits else ((), TOO_MUCH)
        # What is computed in inference mode is the same without gradients, and can be looked at.
        graph.mode = Mode(torch.is_grad_enabled(), False)


def copies(values: Sequence[Any]) -> tuple[Any, ...]:
    """Values that may be written to; tensors that share memory share that of their copies."""
    with torch.no_grad():
        known: dict[int, Any] = {}
        return tuple(_copy(value, known) for value in values)


def _copy(value: Any, known: dict[int, Any]) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    return deepcopy(value.detach(), known).requires_grad_(value.requires_grad)


def size_of(values: Sequence[Any]) -> int:
    """The bytes of tensors."""
    return sum(value.numel() * value.element_size() for value in values if isinstance(value, torch.Tensor))


@contextmanager
def quiet_compilation() -> Iterator[None]:
    """Keep compilations inside out of the log and of torch's counters, and forget them afterwards."""
    handler = torch_logging.LOG_TRACE_HANDLER
    counted = deepcopy(dict(counters))
    metrics = {name: getattr(torch._inductor.metrics, name) for name in METRICS}
    log: logging.Logger = torch_logging.trace_log
    if handler is not None:
        log.removeHandler(handler)
    torch.compiler.reset()
    try:
        yield
    finally:
        torch.compiler.reset()
        if handler is not None:
            log.addHandler(handler)
        counters.clear()
        counters.update(counted)
        for name, value in metrics.items():
            setattr(torch._inductor.metrics, name, value)
