"""Replay of calls in float64: casts to narrower floats are ignored, as in torch's accuracy tools.

With a rounding error, each op reads its float inputs with small random errors. The change of a result is its
rounding noise in a dtype of this epsilon. It includes cancellation, and leaves out values without influence
on the result, such as a mask of -1e9 before a softmax. Eager's random numbers are recorded, and repeated in the replay.
"""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

from core.base.errors import JobError
from core.ops.costs import op_class
from core.worker.load import rng_state

NARROW = {torch.float32, torch.float16, torch.bfloat16}
# Namespaces of torch's own ops.
OF_TORCH = ("aten", "prims")
# Ops that read the bits of a number, which differ in float64.
OF_BITS = ("aten::view.dtype",)
# Ops that only select, copy or compare numbers, so that they never round.
EXACT = re.compile(
    r"""(?x)( _local_scalar_dense | _to_copy | _unsafe_view
    | abs | amax | amin | aminmax | argmax | argmin | argsort | bitwise_and | bitwise_not | bitwise_or | bucketize
    | cat | ceil | clamp | clamp_max | clamp_min | clone | constant_pad_nd | copy | cummax | cummin | embedding
    | eq | fill | flip | floor | floor_divide | fmax | fmin | gather | ge | gt | hardtanh | heaviside | index |
    index_put | index_select | is_nonzero | isfinite | isinf | isnan | kthvalue | le | leaky_relu | logical_and
    | logical_not | logical_or | logical_xor | lt | masked_fill | masked_scatter | masked_select | max |
    max_pool2d_with_indices | max_pool3d_with_indices | maximum | median | min | minimum | mode | nan_to_num |
    ne | neg | nonzero | ones_like | relu | repeat | roll | round | scatter | searchsorted | select_scatter |
    sgn | sign | signbit | slice_scatter | sort | stack | threshold | threshold_backward | topk | tril | triu |
    trunc | unique_consecutive | where | zero | zeros_like)_?"""
)

MOST_BYTES = 256 * 2**20  #: limit: eager's random numbers that a float64 replay repeats
DROPOUT = "native_dropout"
# Random ops that compute with other floats, or write their result to another tensor.
COMPUTED = re.compile(r"out$|Tensor_float|float_Tensor|Tensor_Tensor|rrelu|alpha_dropout")


KEPT = ContextVar("KEPT", default=False)


@contextmanager
def as_written() -> Iterator[None]:
    """Disable `InFloat64` in this context: computations have their own dtypes."""
    token = KEPT.set(True)
    try:
        yield
    finally:
        KEPT.reset(token)


def is_as_written() -> bool:
    """Return True within `as_written`."""
    return KEPT.get()


class InFloat64:
    """Context that replaces narrower float dtypes by float64, so that float64 inputs give float64 results.

    `narrowed` are the ops that torch does not have in float64, which are computed in float32. `rounding` is the
    epsilon of the dtype whose rounding errors each read number gets, drawn with `seed`; 0 for none.
    """

    def __init__(self, rounding: float = 0.0, seed: float = 0) -> None:
        self.narrowed: set[str] = set()
        self._rounding, self._seed = rounding, int(seed)
        self._within = ExitStack()

    def __enter__(self) -> None:
        self._within.callback(torch.set_default_dtype, torch.get_default_dtype())
        torch.set_default_dtype(torch.float64)
        self._within.enter_context(Widening(self.narrowed, self._rounding, self._seed))

    def __exit__(self, *_: object) -> None:
        self._within.close()


class Widening(TorchDispatchMode):
    """Mode that replaces each requested narrower float dtype by float64, and adds rounding errors."""

    supports_higher_order_operators = True

    def __init__(self, narrowed: set[str], rounding: float = 0.0, seed: int = 0) -> None:
        super().__init__()
        self._narrowed = narrowed
        self._rounding, self._seed = rounding, seed
        self._generators: dict[torch.device, torch.Generator] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, OpOverload) or func.name() in OF_BITS or is_as_written():
            return func(*args, **kwargs)
        args, kwargs = tree_map_only(torch.dtype, wider, (args, kwargs))
        # A custom op may write arguments without saying so: it gets them, and no copies with errors.
        rounds = func.namespace in OF_TORCH and not func.is_view and not EXACT.fullmatch(func._opname)
        if self._rounding and rounds:
            args, kwargs = self._with_errors(func, args, kwargs)
        try:
            return func(*args, **kwargs)
        except RuntimeError:
            if func._schema.is_mutable:
                raise
            args, kwargs = tree_map_only(torch.Tensor, narrowed, (args, kwargs))
            args, kwargs = tree_map_only(torch.dtype, narrower, (args, kwargs))
            value = tree_map_only(torch.Tensor, widened, func(*args, **kwargs))
            self._narrowed.add(func.name().partition(".")[0])
            return value

    def _with_errors(self, func: OpOverload, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Return the arguments of an op, with rounding errors in those that it does not write."""
        written = {each.name for each in func._schema.arguments if each.alias_info and each.alias_info.is_write}
        names = [each.name for each in func._schema.arguments]
        read = [value if name in written else self._read(value) for name, value in zip(names, args, strict=False)]
        return read, {name: value if name in written else self._read(value) for name, value in kwargs.items()}

    def _read(self, value: Any) -> Any:
        return tree_map_only(torch.Tensor, self._with_error, value)

    def _with_error(self, value: torch.Tensor) -> torch.Tensor:
        if not value.is_floating_point() or value.layout != torch.strided:
            return value
        if value.device not in self._generators:
            self._generators[value.device] = torch.Generator(value.device).manual_seed(self._seed)
        most, generator = self._rounding / 2, self._generators[value.device]
        with as_written():
            return value * (1 + torch.empty_like(value).uniform_(-most, most, generator=generator))


def wider(dtype: torch.dtype) -> torch.dtype:
    """Return float64 for a narrower float dtype, any other dtype unchanged."""
    return torch.float64 if dtype in NARROW else dtype


def widened(value: Any) -> Any:
    """Return a floating tensor in float64, any other value unchanged."""
    floats = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.detach().to(torch.float64) if floats else value


def narrower(dtype: torch.dtype) -> torch.dtype:
    """Return float32 for float64, any other dtype unchanged."""
    return torch.float32 if dtype == torch.float64 else dtype


def narrowed(value: torch.Tensor) -> torch.Tensor:
    """Return a float64 tensor in float32, any other tensor unchanged."""
    return value.to(narrower(value.dtype))


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
