"""Calls of a run: made eagerly on one model copy, compiled on another, and compared.

`Cotangents` are gradients that start a backward. `CallOutcome.how` is `compiled`, `reused`, `mixed`, `eager`,
or `raised` if torch refused to compile.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from core.base.errors import JobError
from core.job import CompileJob, Conditions
from core.report import Call, Difference, How
from core.worker.backends.selection import compiled_side, load_backend
from core.worker.backends.watch import marking_call
from core.worker.conditions import Mode, Stance, force_eager, mark_dynamic, refused, set_dynamo, set_threads, stance_of
from core.worker.environment import synchronize
from core.worker.load import Arguments, Generators, ModelCopy, described, first_line, rng_state, seed
from core.worker.record import emit, silence, unrecorded
from core.worker.recorders.bytecode import CodeReuse, watching_reuse
from core.worker.results.accuracy import call_numerics
from core.worker.results.effects import CallEffects, PrintedText, StateBefore, differences, print_difference, unlike
from core.worker.results.judge import Around, CallContext, Judge
from core.worker.results.named import Leaves, leaves
from core.worker.results.wide import as_written

Enter = Callable[[str], None]
Pair = tuple["PreparedCall", "PreparedCall"]


class PreparedCall:
    """A call of a model copy that can be repeated.

    `ready()` sets the grad mode and stance. Calling the object runs only the forward, and the backward if
    `wanted` is a list: the tensors that get gradients.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        call: Arguments,
        mode: Mode,
        wanted: list[torch.Tensor] | None,
        cotangents: Cotangents,
        stance: Stance,
    ) -> None:
        self.wanted = wanted or []
        self._backward = wanted is not None
        self._function = function
        self._args, self._kwargs = call
        self._mode = mode
        self._cotangents = cotangents
        self._stance = stance

    @property
    def inputs(self) -> Arguments:
        """Arguments of the function."""
        return self._args, self._kwargs

    @contextmanager
    def ready(self, primed: bool = False) -> Iterator[None]:
        """Set the grad mode of the call and, unless `primed`, its stance."""
        with self._mode.on(), nullcontext() if primed else self._stance():
            yield

    def __call__(self) -> Any:
        if not self._backward:
            return self._function(*self._args, **self._kwargs)
        for leaf in self.wanted:
            leaf.grad = None
        output = self._function(*self._args, **self._kwargs)
        outputs = _differentiable(output)
        torch.autograd.backward(outputs, self._cotangents(outputs))
        return output


def _differentiable(output: Any) -> list[torch.Tensor]:
    """Return the outputs that require gradients; raises JobError if there are none.

    Objects that aren't pytrees are searched, too, if the output has no tensor as a pytree leaf.
    """
    leaves_ = [output] if isinstance(output, torch.Tensor) else tree_leaves(output)
    if not any(isinstance(leaf, torch.Tensor) for leaf in leaves_):
        leaves_ = list(leaves("output", output).values())
    outputs = [leaf for leaf in leaves_ if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    if not outputs:
        raise JobError("training", "no output of the model requires a gradient, so there is no backward to compile")
    return outputs


class Inputs:
    """The inputs of a model copy's calls, each with its grad mode.

    If the file's `calls` function sets the grad mode, its modes are used from its first call on. Otherwise, inference
    of a model with parameters runs without gradients, and everything else in torch's default mode.
    """

    def __init__(self, job: CompileJob, model_copy: ModelCopy) -> None:
        self._job = job
        self._calls = model_copy.calls()
        self._mode = Mode.current()
        self._without = not (job.training or model_copy.sets_grad_mode() or not model_copy.parameters())

    def next(self, index: int) -> tuple[Arguments, Mode] | None:
        """Return the inputs and the grad mode of the next call; None after the last call."""
        seed(self._job.seed + index)
        with self._mode.on():
            call = next(self._calls, None)
            self._mode = Mode.current()
        if call is None:
            return None
        return call, Mode(False, self._mode.inference) if self._without else self._mode


class ModelCalls:
    """All calls of a model copy, one after the other."""

    def __init__(
        self,
        job: CompileJob,
        model_copy: ModelCopy,
        function: Callable[..., Any],
        eager: bool,
        stance: Stance | None = None,
    ) -> None:
        self._job = job
        self._model_copy = model_copy
        self._inputs = Inputs(job, model_copy)
        self._function = function
        self._eager = eager
        self._stance = stance or (force_eager if eager else stance_of(job.conditions))
        self.call: Arguments = ((), {})

    def next(self, index: int) -> PreparedCall | None:
        """Return the next call, None after the last."""
        inputs = self._inputs.next(index)
        if inputs is None:
            return None
        self.call, mode = inputs
        if not self._eager:
            mark_dynamic(self.call, self._job.marks)
        wanted = _wanted(self._job, self._model_copy, self.call, mode)
        return PreparedCall(self._function, self.call, mode, wanted, Cotangents(self._job.seed + index), self._stance)

    def before(self) -> StateBefore:
        """Return the state of the model copy before the call."""
        return StateBefore(self._model_copy, self.call)

    def make(self, index: int, call: PreparedCall, before: StateBefore) -> tuple[CallEffects, float]:
        """Make the call; return its effects and its seconds."""
        seed(self._job.seed + index)
        rng_before = rng_state(self._job.device)
        with call.ready(primed=self._job.conditions.primed and index == 0 and not self._eager):
            synchronize(self._job.device)
            start = time.perf_counter()
            output = call()
            synchronize(self._job.device)
            seconds = time.perf_counter() - start
        return before.left(output, call.wanted, rng_state(self._job.device).drawn_since(rng_before)), seconds


def make_calls(
    job: CompileJob,
    path: Path,
    eager: ModelCopy,
    compiled: ModelCopy,
    function: Callable[..., Any],
    enter: Enter,
    emit_call: Callable[[Call], None] = emit,
) -> Pair | None:
    """Make each call eagerly, then compiled, and record the result.

    Return the last eager and compiled call, which can be repeated. Return None if there is no call, or if torch
    refused to compile the last call. `path` is the file of the eager model copy.
    """
    last = None
    eager_side, compiled_side = ModelCalls(job, eager, eager.model, True), ModelCalls(job, compiled, function, False)
    comparer = CallComparer(job, path)
    index = 0
    while True:
        enter(f"making the inputs of call {index}")
        eager_call, compiled_call = eager_side.next(index), compiled_side.next(index)
        if eager_call is None or compiled_call is None:
            return last
        inputs = described(eager_side.call)
        before = eager_side.before(), compiled_side.before()
        comparer.begin(index, *before)
        printed = PrintedText(job), PrintedText(job)
        enter(f"call {index}: eager")
        with printed[0].heard():
            expected, eager_s = eager_side.make(index, eager_call, before[0])
        enter(f"call {index}: compiled")
        with marking_call(index), printed[1].heard():
            outcome = observed(job.conditions, compiled_side.make, index, compiled_call, before[1])
        last = (eager_call, compiled_call) if outcome.left else None
        enter(f"call {index}: comparing")
        emit_call(
            Call(
                index=index,
                inputs=inputs,
                eager_s=eager_s,
                compiled_s=outcome.seconds,
                differences=comparer.done(index, expected, outcome.left),
                compared=expected.counts() if outcome.left else {},
                entered=outcome.entered,
                newest=outcome.newest,
                how=outcome.how,
                compilations=outcome.compilations,
                raised=outcome.raised,
                printed=print_difference(*printed) if outcome.left else "",
            )
        )
        index += 1


def eager_raises(job: CompileJob, model_copy: ModelCopy, index: int, error: BaseException) -> bool:
    """Return True if call `index` of a model copy raises an error of compiled code, too.

    It is made eagerly without the stance `force_eager`, in which operators such as `cond` compile nothing.
    """
    side = ModelCalls(job, model_copy, model_copy.model, True, nullcontext)
    with silence(), unrecorded():
        try:
            call = None
            for at in range(index + 1):
                call = side.next(at)
            if call is not None:
                side.make(index, call, side.before())
        except Exception as raised:
            return first_line(raised) == first_line(error)
    return False


def make_compiled_calls(job: CompileJob, path: Path) -> tuple[float, ...]:
    """Make only the compiled calls of a job, on a model copy loaded for them; return the seconds of each."""
    set_threads(job.conditions)
    load_backend(job)
    model_copy = ModelCopy(path, job, "compileboard_model")
    set_dynamo(job.conditions)
    calls = ModelCalls(job, model_copy, compiled_side(job, model_copy), False)
    seconds: list[float] = []
    while (call := calls.next(len(seconds))) is not None:
        seconds.append(observed(job.conditions, calls.make, len(seconds), call, calls.before()).seconds or 0.0)
    return tuple(seconds)


class CallComparer:
    """Comparisons of a run's calls, in order: each depends on the calls before it."""

    def __init__(self, job: CompileJob, path: Path) -> None:
        self._judge = Judge(job, path, lambda twin, around: Replay(job, twin, around))
        self._numerics = bool(job.numerics)
        self._repaired = job.has_original
        self._initial_difference = ""
        self._drawn: frozenset[Generators] = frozenset()
        self._refused = False

    def begin(self, index: int, eager: StateBefore, compiled: StateBefore) -> None:
        """Compare the model copies before a call.

        Copies with fixed code are not compared: a difference that the fix causes would excuse different results.
        """
        if not self._repaired:
            self._initial_difference = self._initial_difference or unlike(eager, compiled, first=index == 0)

    def done(self, index: int, eager: CallEffects, compiled: CallEffects | None) -> tuple[Difference, ...]:
        """Return the differences after a call; empty if torch refused to compile the call."""
        if compiled is None:
            self._refused = True
            return ()
        call = CallContext(index, eager.drawn | self._drawn, self._initial_difference, self._refused)
        # State changed by a call that draws random numbers affects all later calls.
        self._drawn |= eager.drawn if eager.changed else frozenset()
        call_differences = tuple(
            self._judge.decide(differences(eager, compiled, self._repaired), eager.all(), compiled.all(), call)
        )
        if self._numerics:
            emit(call_numerics(self._judge, call, call_differences, eager.all(), compiled.all()))
        return call_differences


class Replay:
    """Eager calls of another model copy, made on request and without output."""

    def __init__(self, job: CompileJob, model_copy: ModelCopy, around: Around) -> None:
        self._side = ModelCalls(job, model_copy, model_copy.model, True)
        self._around = around
        self._last_index = -1
        self._results: Leaves = {}

    def __call__(self, index: int) -> Leaves:
        """Return the results of call `index`; calls must be requested in order."""
        with silence():
            while self._last_index < index:
                self._last_index += 1
                call = self._side.next(self._last_index)
                assert call is not None
                before = self._side.before()
                with self._around():
                    self._results = self._side.make(self._last_index, call, before)[0].all()
        return self._results


def _wanted(job: CompileJob, model_copy: ModelCopy, call: Arguments, mode: Mode) -> list[torch.Tensor] | None:
    """Return the leaf tensors that get gradients: all parameters, and the inputs that require gradients.

    None without a backward. For a model without parameters, this sets requires_grad on its floating inputs.
    """
    if not (job.training and mode.grad):
        return None
    inputs = [leaf for leaf in tree_leaves(call) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()]
    parameters = model_copy.parameters()
    if not parameters:
        for leaf in inputs:
            leaf.requires_grad_(leaf.is_leaf or leaf.requires_grad)
    return [*parameters, *(leaf for leaf in inputs if leaf.requires_grad and leaf.is_leaf)]


class Cotangents:
    """Start gradients of the backward: random for each output, the same for every model copy.

    They are 1 for a scalar, and for an output that isn't a plain strided tensor. Random start gradients keep all
    gradients at order one, however large the output is.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._cache: dict[tuple[Any, ...], torch.Tensor] = {}

    def __call__(self, outputs: list[torch.Tensor]) -> list[torch.Tensor]:
        return [self._of(index, output) for index, output in enumerate(outputs)]

    def _of(self, index: int, output: torch.Tensor) -> torch.Tensor:
        key = (index, output.shape, output.dtype, output.device)
        if key not in self._cache:
            self._cache[key] = self._random(index, output)
        return self._cache[key]

    def _random(self, index: int, output: torch.Tensor) -> torch.Tensor:
        cotangent = torch.ones_like(output, requires_grad=False)
        if output.dim() == 0 or output.layout != torch.strided or type(output) is not torch.Tensor:
            return cotangent
        generator = torch.Generator().manual_seed(self._seed + index)
        # Rounded to bfloat16, so that the numbers are the same in every dtype of a model copy.
        with as_written():
            return cotangent.copy_(torch.randn(output.shape, generator=generator, dtype=torch.float32).bfloat16())


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """Outcome of a call: effects (`left`) and seconds, or torch's message in `raised`.

    `compilations` is the number of frames compiled in the call. `entered` is the number of call sites with a
    cache hit. `newest` has the last used compilation of each frame with compiled code.
    """

    left: CallEffects | None
    seconds: float | None
    how: How
    compilations: int
    raised: str
    entered: int
    newest: tuple[str, ...]


def observed(conditions: Conditions, make: Callable[..., tuple[CallEffects, float]], /, *args: Any) -> CallOutcome:
    """Make a call and return its outcome.

    If the stance refuses to compile, the outcome has torch's message; all other errors are raised.
    """
    left, seconds, raised = None, None, ""
    with watching_reuse() as reuse:
        try:
            left, seconds = make(*args)
        except RuntimeError as error:
            if not refused(conditions, error):
                raise
            raised = str(error)
    how: How = "raised" if raised else how_called(reuse)
    return CallOutcome(left, seconds, how, reuse.compilations, raised, len(reuse.places), reuse.newest)


def how_called(reuse: CodeReuse) -> How:
    """Return how a call without an error was executed: compiled, mixed, reused or eager."""
    if reuse.compilations:
        return "compiled"
    if reuse.places:
        return "mixed" if reuse.missed else "reused"
    return "reused" if reuse.is_precompiled else "eager"
