"""Judge of a run's differences; it replays calls in eager and in float64 only if necessary."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import torch
import torch._dynamo.config
import torch._inductor.config

from core.job import CompileJob
from core.report import Difference
from core.worker.load import Generators, ModelCopy, first_line
from core.worker.results.compare import Precision, compare_leaf
from core.worker.results.named import Leaves
from core.worker.results.verdict import (
    Noise,
    error_of,
    is_close_by_torch,
    judged,
    precision_of,
    refused_by_torch,
    without_reference,
)
from core.worker.results.wide import Draws, InFloat64, RecordDraws, RepeatDraws

# Measurements of the rounding noise: one alone may be near zero by luck.
SAMPLES = 3
# Float64 can't represent smaller rounding errors well.
LEAST_EPS = 2.0**-48
# Backends without decompositions, which draw in other ways.
DRAWS_AS_EAGER = ("eager", "eager_noexcept", "aot_eager", "aot_eager_default_partitioner")
DEPEND_ON_VALUES = ("value", "shape", "Python value", "mutation")

NUMPY = (
    "the call draws NumPy's random numbers, and compiled draws torch's instead; with "
    "torch._dynamo.config.use_numpy_random_stream=True both draw the same"
)
RANDOM = (
    "the call draws random numbers, and compiled draws others than eager; with Inductor's option "
    "fallback_random=True both draw the same"
)
ALONE = "the stance refused an earlier call to the compiled model alone, so that the two may not be alike"

THROUGHOUT = "float64 throughout"
ROUNDED = "rounded by "
# An eager replay whose random numbers are recorded, and the end of the name of a replay that repeats them.
DRAWN, AS_DRAWN = "drawn", " as drawn"

Replay = Callable[[int], Leaves]
Around = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class CallContext:
    """Facts about a call that its comparison needs: random numbers, initial difference, earlier refusals.

    `drawn` are the generators of the random numbers that the call drew, `unlike` is the initial difference between the
    model copies, and `alone` is True if an earlier call was made only in eager.
    """

    index: int
    drawn: frozenset[Generators]
    unlike: str
    alone: bool = False

    @property
    def drew(self) -> bool:
        """True if the call drew random numbers."""
        return bool(self.drawn)


class Judge:
    """Judge of a run's differences; it replays a call in eager only if the verdict needs it.

    An unchanged replay shows if eager gives the same result again; a float64 replay is the reference, and a float64
    replay with random roundings measures the rounding noise. If the call drew random numbers, another eager replay
    records them, and the float64 replays repeat them.

    `replaying` takes a model copy and a context, and returns a replay function. The replay function takes a
    call index, makes the copy's eager calls up to this index, each in the context, and returns the results of
    the last call.
    """

    def __init__(self, job: CompileJob, path: Path, replaying: Callable[[ModelCopy, Around], Replay]) -> None:
        self._job = job
        self._path = path
        self._replaying = replaying
        self._replays: dict[str, Replay | None] = {}
        self._draws = Draws()
        self.float64 = InFloat64()
        self.refused = ""

    def decide(
        self, differences: list[Difference], eager: Leaves, compiled: Leaves, call: CallContext
    ) -> list[Difference]:
        """Return the differences, each with a reason if it is acceptable or can't be judged."""
        decided = [
            item if item.same is not False else self._decided(item, eager, compiled, call) for item in differences
        ]
        return [self._with_torch(item, eager, compiled, call) for item in decided]

    def _decided(self, difference: Difference, eager: Leaves, compiled: Leaves, call: CallContext) -> Difference:
        if difference.kind not in DEPEND_ON_VALUES:
            return difference
        if call.alone:
            return replace(difference, same=None, reason=ALONE)
        if call.unlike:
            return replace(difference, same=None, reason=f"the file makes another {call.unlike} each time it is loaded")
        if other_numbers := self.other_numbers(call.drawn):
            return replace(difference, same=None, reason=other_numbers)
        # First, since a result that isn't repeatable may be close to the reference by chance.
        again = self._replayed("again", call.index).get(difference.what)
        if again is not None and not all(
            one.same for one in compare_leaf(difference.what, eager[difference.what], again)
        ):
            return replace(difference, same=None, reason="eager, too, gives another result each time")
        return self._by_reference(difference, eager, compiled, call)

    def other_numbers(self, drawn: frozenset[Generators]) -> str:
        """Return why compiled draws other random numbers than eager, such as torch's for NumPy's."""
        if "numpy" in drawn and not torch._dynamo.config.use_numpy_random_stream:
            return NUMPY
        return RANDOM if "torch" in drawn and self._draws_otherwise() else ""

    def _draws_otherwise(self) -> bool:
        chosen = self._job.compile
        same_numbers = (chosen.options or {}).get("fallback_random", torch._inductor.config.fallback_random)
        return chosen.backend not in DRAWS_AS_EAGER and not same_numbers

    def _by_reference(self, difference: Difference, eager: Leaves, compiled: Leaves, call: CallContext) -> Difference:
        sides = _sides(difference, eager, compiled)
        if sides is None:
            return difference
        reference = self._reference_of(difference.what, eager, call)
        if reference is None:
            return without_reference(difference, *sides, Precision.of(eager[difference.what]))
        precision = precision_of(eager[difference.what], sides[1], reference)
        with torch._C.DisableTorchFunctionSubclass():
            noise = self._noise_of(difference.what, precision.eps, reference, call)
            return judged(difference, *sides, reference, noise, precision)

    def _reference_of(self, what: str, eager: Leaves, call: CallContext) -> torch.Tensor | None:
        """Return a result in float64; None if there is none.

        A result that the model itself casts to a narrower dtype comes from the replay that ignores such casts.
        """
        like = _tensor(eager[what])
        if like is None or not self._has_draws(call, eager):
            return None
        found = _tensor(self._in_float64("float64", call).get(what))
        if found is None or (found.is_floating_point() and found.dtype != torch.float64):
            found = _tensor(self._in_float64(THROUGHOUT, call).get(what), otherwise=found)
        return found if found is not None and found.shape == like.shape else None

    def _has_draws(self, call: CallContext, eager: Leaves) -> bool:
        """Return True if the call draws no random numbers, or if their replay gives eager's results."""
        if not call.drew:
            return True
        recorded = self._replayed(DRAWN, call.index)
        return bool(recorded) and all(
            one.same
            for what, value in recorded.items()
            if what in eager
            for one in compare_leaf(what, eager[what], value)
        )

    def _in_float64(self, name: str, call: CallContext) -> Leaves:
        return self._replayed(f"{name}{AS_DRAWN if call.drew else ''}", call.index)

    def _noise_of(self, what: str, eps: float, reference: torch.Tensor, call: CallContext) -> Noise:
        def noise() -> torch.Tensor | None:
            names = [f"{ROUNDED}{max(eps, LEAST_EPS)} {sample}" for sample in range(SAMPLES)]
            rounded = [_tensor(self._in_float64(name, call).get(what)) for name in names]
            errors = [
                error_of(each, reference) for each in rounded if each is not None and each.shape == reference.shape
            ]
            return torch.stack(errors).square().mean(0).sqrt() if errors else None

        return noise

    def _with_torch(self, difference: Difference, eager: Leaves, compiled: Leaves, call: CallContext) -> Difference:
        """Return the difference with the verdict of torch's own accuracy check, if it needs a second opinion."""
        sides = _sides(difference, eager, compiled) if difference.same is not False else None
        if sides is None or call.unlike or call.alone or is_close_by_torch(*sides):
            return difference
        if self.other_numbers(call.drawn):
            return difference
        reference = self._reference_of(difference.what, eager, call)
        refused = None if reference is None else refused_by_torch(*sides, reference)
        return replace(difference, refused_by_torch=refused)

    def reference(self, call: CallContext, eager: Leaves) -> Leaves:
        """Return the results of a call in float64; empty if the call can't run.

        A result stays float64 even where the model itself casts to a narrower dtype, if that is possible.
        """
        if not self._has_draws(call, eager):
            return {}
        return self._in_float64(THROUGHOUT, call) or self._in_float64("float64", call)

    def _replayed(self, name: str, index: int) -> Leaves:
        """Return the results of call `index` on another model copy; empty if it can't run."""
        if name not in self._replays:
            self._replays[name] = self._new_replay(name)
        replay = self._replays[name]
        try:
            return replay(index) if replay else {}
        except Exception as error:
            self._replays[name], self.refused = None, first_line(error)
            return {}

    def _new_replay(self, name: str) -> Replay | None:
        if not has_room(self._job):
            return None
        try:
            twin = ModelCopy(self._path, self._job, f"compileboard_{name}", wide=name not in ("again", DRAWN))
            return self._replaying(twin, self._around(name))
        except Exception as error:
            self.refused = first_line(error)
            return None

    def _around(self, name: str) -> Around:
        if name == DRAWN:
            return partial(_within, RecordDraws(self._draws, self._job.device))
        contexts: list[AbstractContextManager[object]] = [RepeatDraws(self._draws)] if name.endswith(AS_DRAWN) else []
        name = name.removesuffix(AS_DRAWN)
        if name.startswith(ROUNDED):
            contexts.append(InFloat64(*map(float, name.removeprefix(ROUNDED).split())))
        elif name == THROUGHOUT:
            contexts.append(self.float64)
        return partial(_within, *contexts)


@contextmanager
def _within(*contexts: AbstractContextManager[object]) -> Iterator[None]:
    """Enter contexts in order; each can be entered again later."""
    with ExitStack() as stack:
        for each in contexts:
            stack.enter_context(each)
        yield


def has_room(job: CompileJob) -> bool:
    """Return True if the run has memory for two more model copies.

    The process already has two copies and the compiler's memory, so twice its memory must be below the limit.
    """
    return psutil.Process().memory_info().rss * 2 < job.memory_limit_bytes


def _sides(difference: Difference, eager: Leaves, compiled: Leaves) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Return both values as tensors of one shape and dtype; None if the difference is none of values."""
    if difference.kind not in ("value", "mutation"):
        return None
    one, other = eager.get(difference.what), compiled.get(difference.what)
    if isinstance(one, float) and isinstance(other, float):
        one, other = (torch.tensor(side, dtype=torch.float64) for side in (one, other))
    if not (isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)):
        return None
    return (one, other) if one.shape == other.shape and one.dtype == other.dtype else None


def _tensor(value: Any, otherwise: torch.Tensor | None = None) -> torch.Tensor | None:
    if isinstance(value, float):
        return torch.tensor(value, dtype=torch.float64)
    return value if isinstance(value, torch.Tensor) else otherwise
