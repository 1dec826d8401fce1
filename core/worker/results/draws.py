"""Random numbers of eager calls: recorded, and repeated in a float64 replay."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode

from core.base.errors import JobError
from core.ops.costs import op_class
from core.worker.load import rng_state
from core.worker.results.wide import is_as_written

MOST_BYTES = 256 * 2**20  #: limit: eager's random numbers that a float64 replay repeats
DROPOUT = "native_dropout"
# Random ops that compute with other floats, or write their result to another tensor.
COMPUTED = re.compile(r"out$|Tensor_float|float_Tensor|Tensor_Tensor|rrelu|alpha_dropout")


class Draws:
    """Drawn numbers in order, each with the name of its op; at most `MOST_BYTES`."""

    def __init__(self) -> None:
        self._values: list[tuple[str, torch.Tensor]] = []
        self._room = MOST_BYTES

    def keep(self, name: str, value: torch.Tensor) -> None:
        """Store a copy of drawn numbers; raises JobError if there is no room."""
        self._room -= value.numel() * value.element_size()
        if self._room < 0:
            raise JobError("", "the calls draw too many random numbers to repeat them in float64")
        self._values.append((name, value.detach().clone()))

    def at(self, index: int, name: str, shape: torch.Size) -> torch.Tensor:
        """Return the numbers of a draw; raises JobError if the recorded draw has another op or shape."""
        known, value = self._values[index] if index < len(self._values) else ("", torch.empty(0))
        if (known, value.shape) != (name, shape):
            raise JobError("", "in float64 the model draws random numbers in another order")
        return value


class RecordDraws(TorchDispatchMode):
    """Mode that records drawn numbers; raises JobError for a draw that a replay cannot repeat."""

    supports_higher_order_operators = True

    def __init__(self, draws: Draws, device: str) -> None:
        super().__init__()
        self._draws = draws
        self._device = device

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if is_as_written():
            return func(*args, **(kwargs or {}))
        before = rng_state(self._device)
        result = func(*args, **(kwargs or {}))
        if _draws(func):
            self._draws.keep(func.name(), _numbers(func, result))
        elif rng_state(self._device) != before:
            raise JobError("", f"{func.name()} draws random numbers that a run in float64 cannot repeat")
        return result


class RepeatDraws(TorchDispatchMode):
    """Mode that replaces drawn numbers by recorded ones, in the dtype that the op gives."""

    supports_higher_order_operators = True

    def __init__(self, draws: Draws) -> None:
        super().__init__()
        self._draws = draws
        self._next = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if is_as_written() or not _draws(func):
            return result
        numbers = _numbers(func, result)
        numbers.copy_(self._draws.at(self._next, func.name(), numbers.shape))
        self._next += 1
        if func._opname == DROPOUT:
            kept = 1 - args[1]
            return args[0] * numbers * (1 / kept if kept else 0.0), numbers
        return result


def _draws(func: Any) -> bool:
    """Return True if an op's result is drawn numbers."""
    return (
        isinstance(func, OpOverload)
        and torch.Tag.nondeterministic_seeded in func.tags
        and op_class(str(func)) == "random"
        and COMPUTED.search(str(func)) is None
    )


def _numbers(func: OpOverload, result: Any) -> torch.Tensor:
    """Return the drawn numbers of an op's result: the mask of dropout, otherwise the result."""
    return result[1] if func._opname == DROPOUT else result
