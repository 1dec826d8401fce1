"""Torch's estimates of a compilation: the run time and result of each scheduled op, and its collectives in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from core.base import words as fmt
from core.base.decoder import decoded_object
from core.report import Compilation, Payload, tensor_text
from core.views.markdown import LONGEST_LINE, one_line

MOST_ROWS = 2_000
MOST_OUTPUTS = 8


@dataclass(frozen=True)
class EstimatesView:
    """Torch's estimates for the graphs of a compilation; `read_text` returns a payload of the log."""

    compilation: Compilation
    read_text: Callable[[Payload], str]

    help = (
        "The scheduler's own estimate of each op, which it uses to order ops and collectives (overlap of communication "
        "and compute); no measurement."
    )

    @property
    def title(self) -> str:
        """Number of ops with the sum of their estimates, and of collectives; empty if torch logged neither."""
        ops, collectives = self._ops, self.collectives
        estimated = sum(_nanoseconds(op) for op in ops) / 1e9
        words = [f"{fmt.count(len(ops), 'op')}, {fmt.duration_s(estimated)} by torch's estimate"] if ops else []
        words += [f"{fmt.count(len(collectives), 'collective call')} in order"] if collectives else []
        return "; ".join(words)

    @property
    def collectives(self) -> tuple[str, ...]:
        """Collective calls in the order in which the code makes them."""
        schedules = self.compilation.collectives
        return tuple(one_line(name, LONGEST_LINE) for schedule in schedules for name in schedule.names)

    @property
    def rows(self) -> list[dict[str, object]]:
        """Ops in scheduled order, each with its estimate in seconds and its results."""
        return [
            {
                "op": one_line(str(op.get("name", "")), LONGEST_LINE),
                "kind": one_line(str(op.get("type", "")), LONGEST_LINE),
                "estimate": _nanoseconds(op) / 1e9,
                "results": _results(op.get("outputs")),
            }
            for op in self._ops[:MOST_ROWS]
        ]

    @cached_property
    def _ops(self) -> list[dict[str, Any]]:
        logged = [decoded_object(self.read_text(estimates.text)).get("ops") for estimates in self.compilation.estimates]
        return [op for ops in logged if isinstance(ops, list) for op in ops if isinstance(op, dict)]


def _nanoseconds(op: dict[str, Any]) -> float:
    value = op.get("estimated_runtime_ns")
    return float(value) if isinstance(value, (int, float)) else 0.0


def _results(outputs: Any) -> str:
    tensors = (
        [output for output in outputs[:MOST_OUTPUTS] if isinstance(output, dict) and output.get("dtype")]
        if isinstance(outputs, list)
        else []
    )
    return one_line(", ".join(map(_tensor, tensors)), LONGEST_LINE)


def _tensor(output: dict[str, Any]) -> str:
    shape, stride = output.get("shape"), output.get("stride")
    return tensor_text(
        str(output["dtype"]),
        shape if isinstance(shape, list) else (),
        stride if isinstance(stride, list) else None,
    )


__all__ = ["EstimatesView"]
