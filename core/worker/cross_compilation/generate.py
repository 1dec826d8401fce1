"""Compilation for a target that is not present: torch sees the target, Python sees the CPU.

During a compilation, all tensors of the user's code are described to torch as tensors on the target, so torch decides
as it would there. The generated module is not loaded: its Triton kernels are compiled and recorded. Dynamo gets back
the captured graph, which runs eagerly on the CPU, so graph breaks, recompilations and several calls work as usual.

`make_calls` makes each call eagerly, then again while code is generated, both on the CPU. There are no results to
compare. An operator without CPU code ends its call, not the run; the code before it is still generated.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch
import torch._functorch.config
import torch._inductor.config
from torch._dynamo import convert_frame
from torch._dynamo.variables import builder
from torch._inductor import compile_fx
from torch._inductor.codecache import PyCodeCache
from torch._inductor.debug import reset_provenance_globals
from torch._inductor.fx_passes import pad_mm
from torch._inductor.select_algorithm import AlgorithmSelectorCache, ExternKernelCaller
from torch._subclasses.fake_tensor import FakeTensorMode
from torch._subclasses.meta_utils import MetaTensorDescriber
from torch.utils.weak import WeakIdKeyDictionary

from core.job import CompileJob, CompileOptions
from core.job.targets import TARGETS, Target
from core.report import Call
from core.worker.calls import Enter, ModelCalls, PreparedCall
from core.worker.cross_compilation import attention
from core.worker.cross_compilation.attention import Padding
from core.worker.cross_compilation.device import compiling_for
from core.worker.cross_compilation.fallbacks import record_choice
from core.worker.cross_compilation.kernels import record_binaries
from core.worker.load import ModelCopy, described
from core.worker.record import emit

DEVICE = torch.device("cuda", 0)
CPU = torch.device("cpu")
_dynamo_tensors: Any = WeakIdKeyDictionary()
# Torch 2.15 renamed it, and warns about the old name.
BENCHMARKED_FUSION = next(
    name for name in ("benchmark_template_fusion", "benchmark_epilogue_fusion") if hasattr(torch._inductor.config, name)
)
# Both would need the device: benchmarked fusion, and kernels compiled ahead in other processes.
INDUCTOR = {BENCHMARKED_FUSION: False, "compile_threads": 1}


class TargetBackend(torch._TorchCompileInductorWrapper):
    """Backend that compiles forward and backward together by Inductor for the target.

    It returns the captured graph itself, which runs eagerly on the CPU.
    """

    def __call__(self, model_: Any, inputs_: Any, **options: Any) -> Callable[..., Any]:
        eager = _on_cpu(model_)
        super().__call__(model_, inputs_, **options)
        return eager.forward


def compiled_for(model: Callable[..., Any], options: CompileOptions) -> Callable[..., Any]:
    """Return the model compiled for the target by `torch.compile`, to be called within `generating`."""
    mode = "default" if options.mode is None and options.options is None else options.mode
    backend = TargetBackend(mode, options.options, options.dynamic)
    return torch._dynamo.optimize(backend=backend, nopython=options.fullgraph, dynamic=options.dynamic)(model)


@contextmanager
def generating(target: Target) -> Iterator[None]:
    """Compile for the target in this context."""
    with ExitStack() as stack:
        stack.enter_context(torch._inductor.config.patch(INDUCTOR))
        stack.enter_context(torch._functorch.config.patch(force_non_lazy_backward_lowering=True))
        stack.enter_context(attention.by_rules())
        for owner, name, replacement in _replacements(target):
            stack.enter_context(patch.object(owner, name, replacement))
        yield


def _replacements(target: Target) -> tuple[tuple[Any, str, Any], ...]:
    padding = Padding()
    return (
        (convert_frame, "_compile", _compile_for(target, convert_frame._compile)),
        (builder, "wrap_to_fake_tensor_and_record", _wrapped(builder.wrap_to_fake_tensor_and_record)),
        (FakeTensorMode, "from_tensor", _from_tensor(FakeTensorMode.from_tensor)),
        (compile_fx, "compile_fx_backward", _renumbered_backward(compile_fx.compile_fx_backward)),
        (PyCodeCache, "load_by_key_path", _loaded(PyCodeCache.load_by_key_path)),
        (AlgorithmSelectorCache, "do_autotuning", _first_choice),
        (pad_mm, "_should_pad", padding.should_pad),
        (pad_mm, "get_cached_should_pad", padding.decline_benchmark),
    )


def _compile_for(target: Target, original: Callable[..., Any]) -> Callable[..., Any]:
    def compile_frame(*args: Any, **kwargs: Any) -> Any:
        with compiling_for(target):
            return original(*args, **kwargs)

    return compile_frame


def _wrapped(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return Dynamo's function, wrapped to register the tensors it makes from Python numbers and arrays.

    These tensors are on the CPU, whatever the job's device is.
    """

    def wrap_to_fake_tensor_and_record(value: Any, tx: Any, *, is_tensor: bool, **options: Any) -> Any:
        if not is_tensor and isinstance(value, torch.Tensor):
            _dynamo_tensors[value] = True
        return original(value, tx, is_tensor=is_tensor, **options)

    return wrap_to_fake_tensor_and_record


def _renumbered_backward(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a replacement that restarts kernel numbers for a backward without saved SymInts.

    On a device, torch compiles such a backward at its first call. With saved SymInts, torch compiles the backward
    together with the forward and continues the numbers.
    """

    def compile_fx_backward(graph: torch.fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
        inputs = graph.graph.find_nodes(op="placeholder")
        saved_sizes = any(isinstance(node.meta.get("val"), torch.SymInt) for node in inputs)
        with nullcontext() if saved_sizes else reset_provenance_globals():
            return original(graph, *args, **kwargs)

    return compile_fx_backward


def _from_tensor(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a replacement of `original` that places the user's tensors, not Dynamo's, on the target."""
    describe = MetaTensorDescriber.describe_tensor

    def describe_on_target(self: MetaTensorDescriber, *args: Any, **kwargs: Any) -> Any:
        described = describe(self, *args, **kwargs)
        return replace(described, device=DEVICE) if described.device == CPU else described

    def from_tensor(self: FakeTensorMode, tensor: torch.Tensor, **options: Any) -> Any:
        if tensor in _dynamo_tensors:
            return original(self, tensor, **options)
        with patch.object(MetaTensorDescriber, "describe_tensor", describe_on_target):
            return original(self, tensor, **options)

    return from_tensor


def _loaded(original: Callable[..., Any]) -> classmethod[Any, ..., ModuleType]:
    """Return a replacement that records a graph's module and doesn't execute it, since it would launch."""

    def load_by_key_path(cls: Any, key: str, path: str, linemap: Any = None, attrs: Any = None, **rest: Any) -> Any:
        if attrs is None:
            return original(key, path, linemap, attrs, **rest)
        with open(path, encoding="utf-8") as file:
            record_binaries(file.read())
        module = ModuleType(key)
        module.__file__ = path
        # Torch wraps CUDA graphs around the functions of a module's runner, and deletes its partitions: here are none.
        runner = SimpleNamespace(recursively_apply_fns=lambda wrappers: None, partitions=[])
        vars(module).update(call=_not_run, runner=runner)
        return module

    return classmethod(load_by_key_path)


def _not_run(*args: Any) -> Any:
    raise RuntimeError("this code was generated for a device that is not here, and is never run")


def _first_choice(
    self: Any, name: str, nodes: Any, layout: Any, gens: Any, key: Any, choices: Any, *_: Any, **__: Any
) -> Any:
    """Return timings that select the library's kernel if it is a choice, otherwise the first choice.

    Nothing is benchmarked. Torch falls back to the library in the same way.
    """
    chosen = next((choice for choice in choices if isinstance(choice, ExternKernelCaller)), choices[0])
    record_choice(
        f"autotuning of {name}",
        _described(chosen),
        "needs timing on the device: the library's kernel is taken if there is one, otherwise the first choice",
        [_described(choice) for choice in choices],
    )
    return {chosen: 1.0}


def _described(choice: Any) -> str:
    """Return the name of a choice, and for a template also its parameters."""
    return ": ".join(filter(None, [choice.name, str(getattr(choice, "description", "") or "")]))[:300]


def _on_cpu(module: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """Return a copy of a captured graph that does the target's computation on the CPU."""
    copied = torch.fx.GraphModule(module, copy.deepcopy(module.graph))
    for name, child in module.named_children():
        if isinstance(child, torch.fx.GraphModule):
            setattr(copied, name, _on_cpu(child))
    for node in copied.graph.nodes:
        if node.op == "call_method" and node.target == "cuda":
            node.target = "cpu"
        node.args = torch.fx.node.map_aggregate(node.args, _cpu_argument)
        node.kwargs = torch.fx.node.map_aggregate(node.kwargs, _cpu_argument)
    copied.recompile()
    return copied


def _cpu_argument(value: Any) -> Any:
    if isinstance(value, torch.device) and value.type == DEVICE.type:
        return CPU
    return "cpu" if value in ("cuda", "cuda:0") and isinstance(value, str) else value


def make_calls(
    job: CompileJob, eager: ModelCopy, compiled: ModelCopy, function: Callable[..., Any], enter: Enter
) -> None:
    """Make each call on both model copies, and record it."""
    eager_side, compiled_side = ModelCalls(job, eager, eager.model, True), ModelCalls(job, compiled, function, False)
    index = 0
    while True:
        enter(f"making the inputs of call {index}")
        eager_call, compiled_call = eager_side.next(index), compiled_side.next(index)
        if eager_call is None or compiled_call is None:
            return
        inputs = described(eager_side.call)
        enter(f"call {index}: eager")
        eager_s, eager_problem = _make_call(eager_side, index, eager_call)
        enter(f"call {index}: generating for {TARGETS[job.target].title}")
        _, problem = _make_call(compiled_side, index, compiled_call)
        emit(
            Call(
                index=index,
                inputs=inputs,
                eager_s=eager_s,
                compiled_s=None,
                differences=(),
                ended=problem or eager_problem,
            )
        )
        index += 1


def _make_call(side: ModelCalls, index: int, call: PreparedCall) -> tuple[float | None, str]:
    """Make a call; return its seconds, or None and the reason if an operator has no CPU code."""
    try:
        return side.make(index, call, side.before())[1], ""
    except NotImplementedError as error:
        return None, str(error).splitlines()[0] if str(error) else type(error).__name__
