"""Comparison of eager and compiled results of two model copies with the same seed, and the verdict.

Each error is divided by its element's magnitude, or by the typical magnitude around it if that is larger.
The root mean square of these errors must be within the tolerance for the whole tensor, and within `ELEMENT`
times the tolerance for each row, column and element. Integers, types, shapes and strides are compared
exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil
import torch
import torch._dynamo.config
import torch._inductor.config

from core.base.tolerances import BY_NORM
from core.base.words import agree, number
from core.job import CompileJob
from core.report import Difference
from core.worker.load import Generators, ModelCopy, first_line
from core.worker.numerics.wide import InFloat64
from core.worker.results.named import Container, Leaves, alike
from core.worker.results.scaled import Distance, Groups, distance, largest_unrepeated, scaled, wide

TOLERANCE = {getattr(torch, name): part for name, part in BY_NORM.items()}
ELEMENT = 20


def compare(eager: Leaves, compiled: Leaves, layout: bool = False) -> list[Difference]:
    """Compare each eager result with the compiled result of the same name; return all Difference rows.

    A missing element is reported once, for its container. `layout` also compares strides and requires_grad.
    """
    pairs = [(name, leaf, compiled[name]) for name, leaf in eager.items() if name in compiled]
    return [item for name, one, other in pairs for item in compare_leaf(name, one, other, layout)]


def compare_leaf(what: str, left: Any, right: Any, layout: bool = False) -> list[Difference]:
    """Return the Difference rows of two leaves; empty for equal containers and for None on both sides.

    If tensors differ in type, layout, device, dtype or shape, the first such property is the only row.
    """
    if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
        return _tensors(what, left, right, layout)
    if isinstance(left, (Container, torch.Tensor)) or isinstance(right, (Container, torch.Tensor)):
        # Tensors and numbers compare by value, but their types differ.
        same = isinstance(left, Container) and isinstance(right, Container) and left == right
        return [] if same else [Difference(what, False, "tree", _word(left), _word(right))]
    if isinstance(left, float) and isinstance(right, float):
        # A float comes from `.item()` or `.tolist()` of a tensor that was float32 or narrower.
        return _tensors(what, torch.tensor(left), torch.tensor(right), False)
    if left is None and right is None:
        return []
    same = alike(left, right)
    return [Difference(what, same, "Python value", _word(left), _word(right))]


def _word(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return "a tensor"
    if isinstance(value, Container):
        return str(value)
    plain = isinstance(value, (bool, int, float, complex, str, bytes, type(None), set, frozenset))
    return repr(value)[:60] if plain else type(value).__qualname__


def _tensors(what: str, left: torch.Tensor, right: torch.Tensor, layout: bool) -> list[Difference]:
    for kind in ("type", "layout", "device", "dtype", "shape"):
        expected, actual = _fact(left, kind), _fact(right, kind)
        if expected != actual:
            return [Difference(what, False, kind, expected, actual, dtype=_short(left))]
    found = [_values(what, left, right)]
    for kind in ("strides", "requires_grad") if layout else ():
        expected, actual = _fact(left, kind), _fact(right, kind)
        if expected != actual:
            found.append(Difference(what, False, kind, expected, actual, dtype=_short(left)))
    return found


def _short(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _fact(tensor: torch.Tensor, kind: str) -> str:
    if kind == "type":
        return type(tensor).__qualname__
    if kind == "shape":
        return str(list(tensor.shape))
    if kind == "strides":
        return _strides(tensor)
    return str(getattr(tensor, kind)).removeprefix("torch.")


def _strides(tensor: torch.Tensor) -> str:
    """Return the strides as text, without dimensions of size 1, since their strides have no effect.

    Empty if the tensor is not strided or has no elements.
    """
    if tensor.layout != torch.strided or tensor.numel() == 0:
        return ""
    return str([stride for stride, size in zip(tensor.stride(), tensor.shape, strict=True) if size > 1])


def _values(what: str, left: torch.Tensor, right: torch.Tensor) -> Difference:
    found = Difference(what, True, dtype=_short(left), tolerance=TOLERANCE.get(left.dtype, 0.0))
    if left.layout != torch.strided or left.is_quantized:
        kind = "quantised" if left.is_quantized else str(left.layout).removeprefix("torch.")
        return replace(found, same=None, reason=f"{kind} tensors are not compared")
    try:
        with torch._C.DisableTorchFunctionSubclass():
            gap = distance(left, right)
            excess = beyond(left, right, gap, left.dtype)
    except (RuntimeError, TypeError):
        return replace(found, same=None, reason=f"torch cannot compare {found.dtype}")
    return replace(
        found,
        same=not excess,
        max_abs=math.inf if gap.odd else gap.max_error,
        error=math.inf if gap.odd else relative(gap.error, gap.norm),
        actual=in_words(gap, left.dtype, excess) if excess else "",
    )


def relative(error: float, norm: float) -> float:
    """Return error / norm; for a norm of 0, infinity, or 0 if the error is 0 too."""
    return error / norm if norm else (math.inf if error else 0.0)


def close(left: torch.Tensor, right: torch.Tensor, dtype: torch.dtype, factor: float = 1.0) -> bool:
    """Return True if two tensors are within `factor` times the tolerance of a dtype."""
    return not beyond(left, right, distance(left, right), dtype, factor)


@dataclass(frozen=True, slots=True)
class Excess:
    """Groups of one kind beyond the tolerance: `groups` of `of`, and the error of the worst one.

    For the kind `elements`, no error is measured: integers differ, or an element is NaN or infinite on one side
    only.
    """

    kind: str
    groups: int = 0
    of: int = 0
    worst: float = 0.0


def beyond(
    left: torch.Tensor, right: torch.Tensor, gap: Distance, dtype: torch.dtype, factor: float = 1.0
) -> list[Excess]:
    """Return the kinds of groups beyond `factor` times the tolerance; empty if the tensors are close."""
    if not gap.unequal:
        return []
    if gap.odd or not (dtype.is_floating_point or dtype.is_complex):
        return [Excess("elements")]
    tolerance = TOLERANCE.get(dtype, 0.0) * factor
    found = []
    for group in scaled(left, right, floor(dtype)):
        which = failing(group, tolerance)
        worst = group.most if group.kind == "whole" else group.rms
        if which.any():
            found.append(Excess(group.kind, int(which.sum()), which.numel(), float(worst.max())))
    return found


def failing(group: Groups, tolerance: float) -> torch.Tensor:
    """Return a mask of the groups with too large errors."""
    if group.kind == "whole":
        return (group.rms > tolerance) | (group.most > ELEMENT * tolerance)
    return group.rms > ELEMENT * tolerance


def floor(dtype: torch.dtype) -> float:
    """Return the allowed absolute error near zero.

    For bfloat16 and dtypes of 32 bits or more, it is the smallest normal number, since code may flush subnormal
    numbers to zero. For float16 and narrower dtypes, it is two subnormal steps.
    """
    limits = torch.finfo(dtype)
    wide = limits.bits >= 32 or dtype == torch.bfloat16
    return float(limits.smallest_normal if wide else 2 * limits.smallest_normal * limits.eps)


def in_words(gap: Distance, dtype: torch.dtype, excess: Sequence[Excess]) -> str:
    """Describe in a few words how a compiled tensor differs from eager's."""
    if gap.odd:
        return f"{number(gap.odd)} of {number(gap.elements)} elements are NaN or infinite on one side alone"
    if not (dtype.is_floating_point or dtype.is_complex):
        return f"{number(gap.unequal)} of {number(gap.elements)} elements differ"
    if gap.norm and not gap.other_norm:
        return "all zeros"
    if not gap.norm:
        return f"up to {number(gap.max_error)}, where eager has zeros"
    ratio = gap.other_norm / gap.norm
    if abs(ratio - 1) >= 0.005:
        return f"{number(ratio)} times eager's norm"
    tolerance = TOLERANCE.get(dtype, 0.0)
    if gap.error > tolerance * gap.norm:
        return f"off by {number(gap.error / gap.norm)} of eager's norm"
    if gap.max_error > ELEMENT * tolerance * gap.largest:
        return f"an element is off by {number(gap.max_error / gap.largest)} of eager's largest"
    worst = excess[0]
    if worst.kind == "whole":
        some = f"{number(gap.unequal)} of {number(gap.elements)} elements differ"
        return f"{some}, by up to {number(worst.worst)} of the magnitude around them"
    some = f"{number(worst.groups)} of {number(worst.of)} {worst.kind} {agree(worst.groups, 'is', 'are')} off"
    return f"{some} by up to {number(worst.worst)} of {agree(worst.groups, 'its', 'their')} magnitude"


# Allowed multiple of eager's error, by tensor size, as in torch's own accuracy check.
FACTORS = ((10, 10.0), (500, 8.0), (math.inf, 3.0))
# Allowed multiple of the tolerance between two correct computations, if there is no reference.
UNSURE = 20.0
# If eager's relative error is larger, its result has no meaning.
LOST = 0.3
# Roundings of the surrounding magnitude that compiled may be worse than eager by luck.
STEPS = 2
# Roundings of the largest magnitude that may add up in an element that should be zero.
MUCH = 64
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
NO_REFERENCE = "within what two ways of computing may differ by; the model could not be run in float64 to tell"
UNRESOLVED = "the model could not be run in float64 to tell whether that is rounding"
ROUNDING = "eager is about as far from the result in float64"
NOISE = "zero but for rounding"
RIGHT = "eager loses it in rounding or overflows; compiled is right by float64"
LOST_IN_ROUNDING = "eager's own rounding is too large a part of it: float64 gives something else"

THROUGHOUT = "float64 throughout"

Replay = Callable[[int], Leaves]
Around = AbstractContextManager[None]


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

    An unchanged replay shows if eager gives the same result again; a float64 replay is the reference.

    `replaying` takes a model copy and a context, and returns a replay function. The replay function takes a
    call index, makes the copy's eager calls up to this index, each in the context, and returns the results of
    the last call.
    """

    def __init__(self, job: CompileJob, path: Path, replaying: Callable[[ModelCopy, Around], Replay]) -> None:
        self._job = job
        self._path = path
        self._replaying = replaying
        self._replays: dict[str, Replay | None] = {}
        self.float64 = InFloat64()
        self.refused = ""

    def decide(
        self, differences: list[Difference], eager: Leaves, compiled: Leaves, call: CallContext
    ) -> list[Difference]:
        """Return the differences, each with a reason if it is acceptable or can't be judged."""
        return [item if item.same is not False else self._decided(item, eager, compiled, call) for item in differences]

    def _decided(self, difference: Difference, eager: Leaves, compiled: Leaves, call: CallContext) -> Difference:
        if difference.kind not in DEPEND_ON_VALUES:
            return difference
        if call.alone:
            return replace(difference, same=None, reason=ALONE)
        if call.unlike:
            return replace(difference, same=None, reason=f"the file makes another {call.unlike} each time it is loaded")
        if other_numbers := self._other_numbers(call.drawn):
            return replace(difference, same=None, reason=other_numbers)
        # First, since a result that isn't repeatable may be close to the reference by chance.
        again = self._replayed("again", call.index).get(difference.what)
        if again is not None and not all(
            one.same for one in compare_leaf(difference.what, eager[difference.what], again)
        ):
            return replace(difference, same=None, reason="eager, too, gives another result each time")
        return self._by_reference(difference, eager, compiled, call)

    def _other_numbers(self, drawn: frozenset[Generators]) -> str:
        """Return why compiled draws other random numbers than eager; empty if both draw the same.

        Dynamo, and so every backend, draws torch's numbers in place of NumPy's.
        """
        if "numpy" in drawn and not torch._dynamo.config.use_numpy_random_stream:
            return NUMPY
        return RANDOM if "torch" in drawn and self._draws_otherwise() else ""

    def _draws_otherwise(self) -> bool:
        chosen = self._job.compile
        same_numbers = (chosen.options or {}).get("fallback_random", torch._inductor.config.fallback_random)
        return chosen.backend not in DRAWS_AS_EAGER and not same_numbers

    def _by_reference(self, difference: Difference, eager: Leaves, compiled: Leaves, call: CallContext) -> Difference:
        one, other = eager.get(difference.what), compiled.get(difference.what)
        if not (isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)) or one.shape != other.shape:
            return difference
        if difference.kind not in ("value", "mutation"):
            return difference
        reference = None if call.drew else self._replayed("float64", call.index).get(difference.what)
        if not isinstance(reference, torch.Tensor) or reference.shape != one.shape:
            return without_reference(difference, one, other)
        with torch._C.DisableTorchFunctionSubclass():
            return judged(difference, one, other, reference, _scale(difference.what, eager))

    def reference(self, index: int) -> Leaves:
        """Return the results of call `index` in float64; empty if the call can't run.

        A result stays float64 even where the model itself casts to a narrower dtype, if that is possible.
        """
        return self._replayed(THROUGHOUT, index) or self._replayed("float64", index)

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
            twin = ModelCopy(self._path, self._job, f"compileboard_{name}", wide=name != "again")
            return self._replaying(twin, self.float64 if name == THROUGHOUT else nullcontext())
        except Exception as error:
            self.refused = first_line(error)
            return None


def has_room(job: CompileJob) -> bool:
    """Return True if the run has memory for two more model copies.

    The process already has two copies and the compiler's memory, so twice its memory must be below the limit.
    """
    return psutil.Process().memory_info().rss * 2 < job.memory_limit_bytes


def _scale(what: str, eager: Leaves) -> float:
    """Return the largest magnitude of all results of the same kind as `what`, without fill values.

    The kinds are gradients and other results. For gradients it is at least 1, since the backward starts with gradients
    of order one. A fill value is a value that occurs many times, such as the one that a mask writes.
    """
    gradients = what.startswith("gradient")
    around = [leaf for name, leaf in eager.items() if name.startswith("gradient") == gradients and _is_real(leaf)]
    return max([1.0 if gradients else 0.0, *map(largest_unrepeated, around)])


def _is_real(leaf: Any) -> bool:
    plain = isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided and not leaf.is_quantized
    return plain and leaf.numel() > 0 and leaf.dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def without_reference(difference: Difference, left: torch.Tensor, right: torch.Tensor) -> Difference:
    """Return the verdict without a float64 reference; the limit is `UNSURE` times the tolerance.

    If only rows or columns exceed the limit, the verdict is undecided, since this may be rounding.
    """
    if left.dtype != right.dtype:
        return difference
    kinds = {excess.kind for excess in beyond(left, right, distance(left, right), left.dtype, UNSURE)}
    if not kinds:
        return replace(difference, same=True, reason=NO_REFERENCE)
    return (
        difference
        if kinds & {"elements", "whole"}
        else replace(difference, same=None, reason=f"{difference.actual}; {UNRESOLVED}")
    )


def judged(
    difference: Difference, eager: torch.Tensor, compiled: torch.Tensor, reference: torch.Tensor, scale: float
) -> Difference:
    """Return the verdict: compiled is correct if its error is at most a small factor times eager's error.

    Elements that are equal in eager and compiled are ignored. For example, a mask filled with `finfo.min` has
    another value in float64, and would count as an error of both.
    """
    dtype = eager.dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        mine, theirs = distance(reference, eager), distance(reference, compiled)
        same = theirs.unequal <= _factor(eager.numel()) * mine.unequal
        return replace(difference, same=same, reason=ROUNDING if same else "")
    if distance(reference, eager).largest <= MUCH * torch.finfo(torch.float64).eps * scale:
        theirs = distance(reference, compiled)
        same = not theirs.odd and theirs.max_error <= MUCH * torch.finfo(dtype).eps * scale
        return replace(difference, same=same, reason=NOISE if same else "")
    exact, one, other = _where_differing(reference, eager, compiled)
    mine, groups = distance(exact, one), scaled(eager, compiled, floor(dtype), reference)
    lost = bool(mine.odd) or _is_lost(groups[0])
    if lost and close(exact, other, dtype, 2):
        return replace(difference, same=True, reason=RIGHT)
    if mine.odd or distance(exact, other).odd or not _as_near(groups, dtype):
        return difference
    return replace(difference, same=None if lost else True, reason=LOST_IN_ROUNDING if lost else ROUNDING)


def _factor(elements: int) -> float:
    return next(factor for limit, factor in FACTORS if elements < limit)


def _where_differing(reference: torch.Tensor, *sides: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return the reference and both sides, with zeros where the sides are equal."""
    one, other = (wide(side) for side in sides)
    same = (one == other) | (one.isnan() & other.isnan())
    return tuple(side.masked_fill(same, 0) for side in (wide(reference), one, other))


def _is_lost(whole: Groups) -> bool:
    """Return True if eager's error is too large a part of the magnitude around it."""
    assert whole.mine is not None
    return bool(whole.mine[0] > LOST)


def _as_near(groups: list[Groups], dtype: torch.dtype) -> bool:
    """Return True if eager and compiled have similar errors in each group that is beyond the tolerance."""
    tolerance = TOLERANCE.get(dtype, 0.0)
    least = max(tolerance / 10, STEPS * torch.finfo(dtype).eps)
    return all(_group_as_near(group, failing(group, tolerance), least) for group in groups)


def _group_as_near(group: Groups, which: torch.Tensor, least: float) -> bool:
    assert group.mine is not None
    assert group.theirs is not None
    factors = torch.full_like(group.differing[which], FACTORS[-1][1])
    for limit, factor in reversed(FACTORS):
        factors[group.differing[which] < limit] = factor
    (mine_rms, mine_most), (rms, most) = ([part[which] for part in found] for found in (group.mine, group.theirs))
    near = (rms <= factors * mine_rms + least) & (most <= factors * mine_most + ELEMENT * least)
    return bool(near.all())
