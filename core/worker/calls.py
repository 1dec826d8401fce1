"""The calls of a run: each made eagerly on one twin and compiled on the other, and compared."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from core.errors import JobError
from core.job import CompileJob
from core.targets import TARGETS
from core.worker.compare import compare
from core.worker.load import Call, Twin, described
from core.worker.measure import synchronize
from core.worker.record import emit

Enter = Callable[[str], None]
Pair = tuple["PreparedCall", "PreparedCall"]


@dataclass(frozen=True, slots=True)
class Mode:
    """Torch's grad and inference mode."""

    grad: bool
    inference: bool

    @contextmanager
    def on(self) -> Iterator[None]:
        """Switch both to this, and back."""
        with torch.inference_mode(self.inference), torch.set_grad_enabled(self.grad):
            yield


class Cotangents:
    """What the backward begins with: random numbers for each output, the same for both twins, and 1 for a scalar.

    With them the gradients are of order one, however large the output is.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._made: dict[tuple[Any, ...], torch.Tensor] = {}

    def __call__(self, outputs: list[torch.Tensor]) -> list[torch.Tensor]:
        return [self._of(index, output) for index, output in enumerate(outputs)]

    def _of(self, index: int, output: torch.Tensor) -> torch.Tensor:
        key = (index, output.shape, output.dtype, output.device)
        if key not in self._made:
            self._made[key] = self._random(index, output)
        return self._made[key]

    def _random(self, index: int, output: torch.Tensor) -> torch.Tensor:
        made = torch.ones_like(output, requires_grad=False)
        if output.dim() == 0 or output.layout != torch.strided or type(output) is not torch.Tensor:
            return made
        generator = torch.Generator().manual_seed(self._seed + index)
        wide = torch.complex64 if output.dtype.is_complex else torch.float32
        return made.copy_(torch.randn(output.shape, dtype=wide, generator=generator))


class PreparedCall:
    """One call of one twin, ready to be made again and again.

    Within `ready()`, calling it makes just the call: the forward and, if `leaves` are given, the backward to them.
    """

    def __init__(
        self, function: Callable[..., Any], call: Call, mode: Mode, leaves: list[torch.Tensor], cotangents: Cotangents
    ) -> None:
        self.leaves = leaves
        self._function = function
        self._args, self._kwargs = call
        self._mode = mode
        self._cotangents = cotangents
        self._eager = False

    @classmethod
    def eagerly(cls, twin: Twin, *rest: Any) -> PreparedCall:
        """With torch.compile off: `cond`, `while_loop` and `flex_attention` call it themselves."""
        made = cls(twin.model, *rest)
        made._eager = True
        return made

    @contextmanager
    def ready(self) -> Iterator[None]:
        """The grad mode and the stance that the call is made in."""
        with self._mode.on(), torch.compiler.set_stance("force_eager") if self._eager else nullcontext():
            yield

    def once(self) -> Any:
        """The call by itself, with all that it needs."""
        with self.ready():
            return self()

    def __call__(self) -> Any:
        if not self.leaves:
            return self._function(*self._args, **self._kwargs)
        for leaf in self.leaves:
            leaf.grad = None
        output = self._function(*self._args, **self._kwargs)
        outputs = [output] if isinstance(output, torch.Tensor) else tree_leaves(output)
        outputs = [leaf for leaf in outputs if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
        if not outputs:
            raise JobError("training", "no output of the model requires a gradient, so there is no backward to compile")
        torch.autograd.backward(outputs, self._cotangents(outputs))
        return output


class Inputs:
    """The calls of one twin, each with the grad mode that the user's code left when it gave the inputs.

    Unless that code sets it, inference of a model with parameters runs without gradients; without parameters the inputs
    alone decide.
    """

    def __init__(self, job: CompileJob, twin: Twin) -> None:
        self._job = job
        self._calls = twin.calls()
        grad = torch.is_grad_enabled() and (bool(job.training) or not twin.parameters())
        self._mode = Mode(grad, torch.is_inference_mode_enabled())

    def next(self, index: int) -> tuple[Call, Mode] | None:
        """The inputs of the next call, None after the last."""
        seed(self._job, index)
        with self._mode.on():
            call = next(self._calls, None)
            self._mode = Mode(torch.is_grad_enabled(), torch.is_inference_mode_enabled())
        return None if call is None else (call, self._mode)


def make_calls(job: CompileJob, eager: Twin, compiled: Twin, function: Callable[..., Any], enter: Enter) -> Pair | None:
    """Make each call eagerly, then compiled, and record it; returns the last one, ready to be made again."""
    last = None
    left, right = Inputs(job, eager), Inputs(job, compiled)
    index = 0
    while True:
        enter(f"making the inputs of call {index}")
        one, other = left.next(index), right.next(index)
        if one is None or other is None:
            return last
        cotangents = Cotangents(job.seed + index)
        last = (
            PreparedCall.eagerly(eager, *one, _leaves(job, eager, *one), cotangents),
            PreparedCall(function, *other, _leaves(job, compiled, *other), cotangents),
        )
        enter(f"call {index}: eager")
        expected, eager_s = _timed(job, index, last[0])
        enter(f"call {index}: generating for {TARGETS[job.target].title}" if job.target else f"call {index}: compiled")
        actual, compiled_s = _timed(job, index, last[1])
        emit(
            "call",
            index=index,
            inputs=described(one[0]),
            eager_s=eager_s,
            compiled_s=None if job.target else compiled_s,
            differences=[] if job.target else [asdict(item) for item in _differences(expected, actual)],
        )
        index += 1


def _leaves(job: CompileJob, twin: Twin, call: Call, mode: Mode) -> list[torch.Tensor]:
    """Whose gradients a training call computes: the parameters; without any, the inputs, which are made to require it."""
    if not (job.training and mode.grad):
        return []
    inputs = [leaf for leaf in tree_leaves(call) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()]
    parameters = twin.parameters()
    if not parameters:
        for leaf in inputs:
            leaf.requires_grad_(leaf.is_leaf or leaf.requires_grad)
    return list(parameters) or [leaf for leaf in inputs if leaf.is_leaf]


def seed(job: CompileJob, index: int) -> None:
    """The random numbers of a call and of its inputs."""
    torch.manual_seed(job.seed + index)


def _timed(job: CompileJob, index: int, call: PreparedCall) -> tuple[dict[str, Any], float]:
    """The results by name, as they stand right after the call, and its seconds."""
    seed(job, index)
    with call.ready():
        synchronize(job.device)
        start = time.perf_counter()
        output = call()
        synchronize(job.device)
        seconds = time.perf_counter() - start
    gradients = [leaf.grad for leaf in call.leaves if leaf.grad is not None]
    return {"output": _kept(output), "gradient": gradients}, seconds


def _kept(output: Any) -> list[Any]:
    return [leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in tree_leaves(output)]


def _differences(expected: dict[str, Any], actual: dict[str, Any]) -> list[Any]:
    return [item for what in expected for item in compare(what, expected[what], actual[what])]
