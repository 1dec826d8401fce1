"""The calls of a run: each made eagerly on one twin and compiled on the other, and compared."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from core.base.errors import JobError
from core.job import CompileJob
from core.report import Call, Difference
from core.worker.backends.executions import making
from core.worker.conditions.modes import Mode
from core.worker.conditions.sizes import mark_dynamic
from core.worker.conditions.stances import Stance, force_eager, stance_of
from core.worker.cotangents import Cotangents
from core.worker.load import Arguments, Twin, described
from core.worker.measuring.stopwatches import synchronize
from core.worker.numerics.results import call_numerics
from core.worker.outcomes import observed
from core.worker.record import emit
from core.worker.results.effects import Before, Left, differences, unlike
from core.worker.results.judge import Around, Circumstances, Judge
from core.worker.results.named import Leaves, leaves
from core.worker.results.printed import Printed, printed_words
from core.worker.rng import position, seed
from core.worker.streams import silence

Enter = Callable[[str], None]
Pair = tuple["PreparedCall", "PreparedCall"]


class PreparedCall:
    """One call of one twin, ready to be made again and again.

    Within `ready()`, calling it makes just the call: the forward and, if gradients are `wanted`, the backward to those
    tensors.
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
        """What the function is called with."""
        return self._args, self._kwargs

    @contextmanager
    def ready(self, primed: bool = False) -> Iterator[None]:
        """The grad mode and the stance that the call is made in; the default stance for one that primes."""
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
    """The outputs that the backward begins with; those in an object that torch's trees do not know, too."""
    found = [output] if isinstance(output, torch.Tensor) else tree_leaves(output)
    if not any(isinstance(leaf, torch.Tensor) for leaf in found):
        found = list(leaves("output", output).values())
    outputs = [leaf for leaf in found if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    if not outputs:
        raise JobError("training", "no output of the model requires a gradient, so there is no backward to compile")
    return outputs


class Inputs:
    """The calls of one twin, each with the grad mode that it is made in.

    A `calls` function that sets the mode is followed from its first call on. Otherwise inference of a model with
    parameters runs without gradients, and all else as torch does by itself.
    """

    def __init__(self, job: CompileJob, twin: Twin) -> None:
        self._job = job
        self._calls = twin.calls()
        self._mode = Mode.current()
        self._without = not (job.training or twin.sets_grad_mode() or not twin.parameters())

    def next(self, index: int) -> tuple[Arguments, Mode] | None:
        """The inputs of the next call, None after the last."""
        seed(self._job.seed + index)
        with self._mode.on():
            call = next(self._calls, None)
            self._mode = Mode.current()
        if call is None:
            return None
        return call, Mode(False, self._mode.inference) if self._without else self._mode


class TwinCalls:
    """One twin through all its calls."""

    def __init__(self, job: CompileJob, twin: Twin, function: Callable[..., Any], eager: bool) -> None:
        self._job = job
        self._twin = twin
        self._inputs = Inputs(job, twin)
        self._function = function
        self._eager = eager
        self._stance = force_eager if eager else stance_of(job.conditions)
        self.call: Arguments = ((), {})

    def next(self, index: int) -> PreparedCall | None:
        """The next call, None after the last."""
        made = self._inputs.next(index)
        if made is None:
            return None
        self.call, mode = made
        if not self._eager:
            mark_dynamic(self.call, self._job.marks)
        wanted = _wanted(self._job, self._twin, self.call, mode)
        return PreparedCall(self._function, self.call, mode, wanted, Cotangents(self._job.seed + index), self._stance)

    def before(self) -> Before:
        """The twin as it is before the call."""
        return Before(self._twin, self.call)

    def make(self, index: int, call: PreparedCall, before: Before) -> tuple[Left, float]:
        """Make the call; what it left, and its seconds."""
        seed(self._job.seed + index)
        stood = position(self._job.device)
        with call.ready(primed=self._job.conditions.primed and index == 0 and not self._eager):
            synchronize(self._job.device)
            start = time.perf_counter()
            output = call()
            synchronize(self._job.device)
            seconds = time.perf_counter() - start
        return before.left(output, call.wanted, position(self._job.device) != stood), seconds


def make_calls(
    job: CompileJob,
    path: Path,
    eager: Twin,
    compiled: Twin,
    function: Callable[..., Any],
    enter: Enter,
    say: Callable[[Call], None] = emit,
) -> Pair | None:
    """Make each call eagerly, then compiled, and say what came of it; returns the last one, ready to be made again,
    None if torch refused to make it compiled. `path` is the file that the eager twin is of.
    """
    last = None
    left, right = TwinCalls(job, eager, eager.model, True), TwinCalls(job, compiled, function, False)
    comparing = Comparing(job, path)
    index = 0
    while True:
        enter(f"making the inputs of call {index}")
        one, other = left.next(index), right.next(index)
        if one is None or other is None:
            return last
        inputs = described(left.call)
        before = left.before(), right.before()
        comparing.begin(index, *before)
        printed = Printed(job), Printed(job)
        enter(f"call {index}: eager")
        with printed[0].heard():
            expected, eager_s = left.make(index, one, before[0])
        enter(f"call {index}: compiled")
        with making(index), printed[1].heard():
            outcome = observed(job.conditions, right.make, index, other, before[1])
        last = (one, other) if outcome.left else None
        enter(f"call {index}: comparing")
        say(
            Call(
                index=index,
                inputs=inputs,
                eager_s=eager_s,
                compiled_s=outcome.seconds,
                differences=comparing.done(index, expected, outcome.left),
                compared=expected.counts() if outcome.left else {},
                entered=outcome.entered,
                newest=outcome.newest,
                how=outcome.how,
                compilations=outcome.compilations,
                raised=outcome.raised,
                printed=printed_words(*printed) if outcome.left else "",
            )
        )
        index += 1


class Comparing:
    """The comparisons of a run's calls, which know of the calls before."""

    def __init__(self, job: CompileJob, path: Path) -> None:
        self._judge = Judge(job, path, lambda twin, around: Replay(job, twin, around))
        self._numerics = bool(job.numerics)
        self._repaired = bool(job.repairs)
        self._unlike = ""
        self._drew = self._refused = False

    def begin(self, index: int, eager: Before, compiled: Before) -> None:
        """Before a call: do the twins begin it alike? What a repair makes otherwise is no excuse for what differs."""
        if not self._repaired:
            self._unlike = self._unlike or unlike(eager, compiled, first=index == 0)

    def done(self, index: int, eager: Left, compiled: Left | None) -> tuple[Difference, ...]:
        """After it: how its results differ; nothing of a call that torch refused to make compiled."""
        if compiled is None:
            self._refused = True
            return ()
        call = Circumstances(index, eager.drew or self._drew, self._unlike, self._refused)
        # What a call with random numbers has changed goes into the calls after it.
        self._drew = self._drew or (eager.drew and bool(eager.changed))
        found = tuple(
            self._judge.decide(differences(eager, compiled, self._repaired), eager.all(), compiled.all(), call)
        )
        if self._numerics:
            emit(call_numerics(self._judge, call, found, eager.all(), compiled.all()))
        return found


class Replay:
    """The calls of another twin, made eagerly and unheard as far as they are asked for."""

    def __init__(self, job: CompileJob, twin: Twin, around: Around) -> None:
        self._side = TwinCalls(job, twin, twin.model, True)
        self._around = around
        self._made = -1
        self._left: Leaves = {}

    def __call__(self, index: int) -> Leaves:
        """What call `index` leaves; calls are asked for in their order."""
        with silence():
            while self._made < index:
                self._made += 1
                call = self._side.next(self._made)
                assert call is not None
                before = self._side.before()
                with self._around:
                    self._left = self._side.make(self._made, call, before)[0].all()
        return self._left


def _wanted(job: CompileJob, twin: Twin, call: Arguments, mode: Mode) -> list[torch.Tensor] | None:
    """Whose gradients a training call computes: the parameters; without any, the inputs, which are made to require it.

    None for a call without a backward.
    """
    if not (job.training and mode.grad):
        return None
    inputs = [leaf for leaf in tree_leaves(call) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()]
    parameters = twin.parameters()
    if not parameters:
        for leaf in inputs:
            leaf.requires_grad_(leaf.is_leaf or leaf.requires_grad)
    return [*parameters, *(leaf for leaf in inputs if leaf.requires_grad and leaf.is_leaf)]
