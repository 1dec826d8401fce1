"""Compilation for a device that is not present: Dynamo, AOTAutograd and Inductor see the target, Python sees the CPU.

During a compilation, all tensors of the user's code are described to torch as tensors on the target, so torch decides
as it would there. The generated module is not loaded: its Triton kernels are compiled and recorded. Dynamo gets back
the captured graph, which runs eagerly on the CPU, so graph breaks, recompilations and several calls work as usual.

Calls of a run for a target: each is made eagerly, then while generating code, both on the CPU.

There are no results to compare. An operator without CPU code ends the call, but not the run: the code up to there is
still generated.

Triton kernels are compiled to the target's machine code, with the outcome of each config.

Each kernel is compiled in a separate process, since a compiler that crashes or hangs must only affect its own kernel.

Resources of a compiled kernel: from Triton's bundled tools, or from the binary itself.

Triton's own compilation reports them, too (`core.worker.kernel_tools.triton_ladder`), but not for a cached binary.
"""

from __future__ import annotations

import ast
import copy
import json
import os
import re
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
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

from core.base.decoder import decoded_as
from core.base.words import limit_s
from core.code.output_code import Definition, definitions
from core.code.stages import Resources, amd_resources, cubin_usage, ptxas_resources, too_large
from core.job import CompileJob, CompileOptions
from core.job.targets import TARGETS, Target
from core.report import Binary, Call, Config
from core.report.records.compilation import BinaryRecord
from core.worker.calls import Enter, ModelCalls, PreparedCall
from core.worker.cross_compilation import attention
from core.worker.cross_compilation.attention import Padding
from core.worker.cross_compilation.device import compiling_for, process_target
from core.worker.cross_compilation.fallbacks import record_choice
from core.worker.load import ModelCopy, described
from core.worker.record import emit
from core.worker.recorders.scheduler import current_graph
from core.worker.triton import compile_config

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
    """Inductor for the target, forward and backward compiled together.

    The graph itself is executed, on the CPU.
    """

    def __call__(self, model_: Any, inputs_: Any, **options: Any) -> Callable[..., Any]:
        eager = _on_cpu(model_)
        super().__call__(model_, inputs_, **options)
        return eager.forward


def compiled_for(model: Callable[..., Any], options: CompileOptions) -> Callable[..., Any]:
    """Return the model compiled as by `torch.compile`, with Inductor generating for the target.

    Call the result within `generating`.
    """
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
    """Remember the tensors that Dynamo makes of Python numbers and arrays: they lie on the CPU on every device."""

    def wrap_to_fake_tensor_and_record(value: Any, tx: Any, *, is_tensor: bool, **options: Any) -> Any:
        if not is_tensor and isinstance(value, torch.Tensor):
            _dynamo_tensors[value] = True
        return original(value, tx, is_tensor=is_tensor, **options)

    return wrap_to_fake_tensor_and_record


def _renumbered_backward(original: Callable[..., Any]) -> Callable[..., Any]:
    """Restart kernel numbers for a backward that torch would compile at its first call.

    With saved sizes, torch compiles the backward together with the forward and continues counting.
    """

    def compile_fx_backward(graph: torch.fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
        inputs = graph.graph.find_nodes(op="placeholder")
        saved_sizes = any(isinstance(node.meta.get("val"), torch.SymInt) for node in inputs)
        with nullcontext() if saved_sizes else reset_provenance_globals():
            return original(graph, *args, **kwargs)

    return compile_fx_backward


def _from_tensor(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a replacement that places the user's tensors on the target; constants of tracing stay in place."""
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
    """Record a graph's module without executing it, since it would launch kernels.

    Other modules (templates) are executed.
    """

    def load_by_key_path(cls: Any, key: str, path: str, linemap: Any = None, attrs: Any = None, **rest: Any) -> Any:
        if attrs is None:
            return original(key, path, linemap, attrs, **rest)
        with open(path, encoding="utf-8") as file:
            record_binaries(file.read())
        module = ModuleType(key)
        module.__file__ = path
        # Torch wraps CUDA graphs around the functions of a module's runner; this one has none.
        runner = SimpleNamespace(recursively_apply_fns=lambda wrappers: None)
        vars(module).update(call=_not_run, runner=runner)
        return module

    return classmethod(load_by_key_path)


def _not_run(*args: Any) -> Any:
    raise RuntimeError("this code was generated for a device that is not here, and is never run")


def _first_choice(
    self: Any, name: str, nodes: Any, layout: Any, gens: Any, key: Any, choices: Any, *_: Any, **__: Any
) -> Any:
    """Choose without a benchmark: the library's kernel if it is among the choices, otherwise the first choice.

    Torch falls back to the library in the same way.
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
    """Return the seconds of a call, or why it could not be made on the CPU."""
    try:
        return side.make(index, call, side.before())[1], ""
    except NotImplementedError as error:
        return None, str(error).splitlines()[0] if str(error) else type(error).__name__


KERNEL_LIMIT_S = 120.0
PARALLEL = min(4, os.cpu_count() or 1)
MAX_ERROR_CHARS = 4_000
UNDECIDED = "not decidable without timing: on the device each config is timed at the first launch"
ONLY = "the only config"
TOOL_LIMIT_S = 60


def record_binaries(module_code: str) -> None:
    """Compile every Triton kernel of a module, and record each as `compileboard_binary`, in the module's order."""
    kernels = [kernel for kernel in definitions(ast.parse(module_code)) if kernel.how == "triton"]
    graph_id, direction = current_graph()
    for kernel, outcome in zip(kernels, compiled_kernels(kernels), strict=True):
        emit(
            BinaryRecord(
                graph_id=graph_id,
                direction=direction,
                name=kernel.name,
                heuristic=outcome.heuristic,
                choice=outcome.choice,
                configs=outcome.configs,
                error=outcome.error,
            )
        )


def compiled_kernels(kernels: list[Definition]) -> list[Binary]:
    """Return the outcome of each kernel; a few processes compile at a time."""
    outcomes: dict[int, Binary] = {}
    waiting = list(enumerate(kernels))
    running: dict[int, tuple[int, _Child]] = {}
    while waiting or running:
        while waiting and len(running) < PARALLEL:
            index, kernel = waiting.pop(0)
            child = _Child(kernel)
            running[child.reader] = (index, child)
        ready, _, _ = select.select(list(running), [], [], 0.2)
        for reader, (index, child) in list(running.items()):
            if reader in ready and child.read():
                outcomes[index] = child.outcome()
            elif child.late():
                outcomes[index] = child.ended()
            if index in outcomes:
                del running[reader]
    return [outcomes[index] for index in range(len(kernels))]


class _Child:
    """A process that compiles one kernel and sends its outcome as JSON."""

    def __init__(self, kernel: Definition) -> None:
        self.reader, writer = os.pipe()
        self._data = b""
        self._deadline = time.monotonic() + KERNEL_LIMIT_S
        self.pid = os.fork()
        if self.pid == 0:
            _compile_and_leave(kernel, writer)
        os.close(writer)

    def read(self) -> bool:
        """Read the available output; return True at its end."""
        chunk = os.read(self.reader, 1 << 16)
        self._data += chunk
        return not chunk

    def late(self) -> bool:
        return time.monotonic() > self._deadline

    def ended(self) -> Binary:
        """Kill a compilation that takes too long, and return that outcome."""
        os.kill(self.pid, signal.SIGKILL)
        self._close()
        return _failed(f"Triton was not done after {limit_s(KERNEL_LIMIT_S)}")

    def outcome(self) -> Binary:
        """Return the outcome sent by the process, or how the process died."""
        status = self._close()
        if os.WIFSIGNALED(status):
            return _failed(f"Triton was ended by {signal.Signals(os.WTERMSIG(status)).name}")
        return decoded_as(self._data, Binary) if self._data else _failed("Triton left without an answer")

    def _close(self) -> int:
        os.close(self.reader)
        return os.waitpid(self.pid, 0)[1]


def _compile_and_leave(kernel: Definition, writer: int) -> None:
    code = 1
    try:
        outcome = _compiled(kernel)
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(json.dumps(asdict(outcome)).encode())
        code = 0
    finally:
        os._exit(code)


def _failed(error: str) -> Binary:
    return Binary("", "", (), error)


def _compiled(kernel: Definition) -> Binary:
    try:
        autotuner = _autotuner(kernel)
    except Exception as error:
        return _failed(_words(error))
    configs = autotuner.configs
    return Binary(
        heuristic=getattr(autotuner.heuristic_type, "name", str(autotuner.heuristic_type)).lower(),
        choice=ONLY if len(configs) == 1 else UNDECIDED,
        configs=tuple(_config(autotuner, config, chosen=len(configs) == 1 or None) for config in configs),
    )


def _autotuner(kernel: Definition) -> Any:
    """Return Inductor's own autotuner: its heuristics choose the configs as they would on the device."""
    function, text = kernel.texts[:2]
    return getattr(PyCodeCache.load(text), function)


def _config(autotuner: Any, config: Any, chosen: bool | None) -> Config:
    start = time.perf_counter()
    figures = {}
    try:
        binary = compile_config(autotuner, config)
        failed = too_large(int(binary.metadata.shared), process_target().architecture)
        figures = {} if failed else _figures(binary, resources(binary))
    except Exception as error:
        failed = _words(error)
    return Config(
        kwargs={name: value for name, value in config.kwargs.items() if isinstance(value, (int, str, float, bool))},
        num_warps=config.num_warps,
        num_stages=config.num_stages,
        chosen=chosen,
        compile_s=time.perf_counter() - start,
        error=failed,
        **figures,
    )


def _figures(binary: Any, usage: Resources) -> dict[str, Any]:
    return {
        "registers": usage.registers,
        "spill_bytes": usage.spill_store_bytes,
        "local_bytes": usage.local_bytes,
        "shared_bytes": usage.shared_bytes,
        "sizes": {rung: len(content) for rung, content in binary.asm.items() if isinstance(content, (str, bytes))},
        "hash": str(binary.hash),
    }


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:MAX_ERROR_CHARS]


def resources(binary: Any) -> Resources:
    """Return the resources of a `CompiledKernel` for NVIDIA or AMD; raises RuntimeError with the tool's message."""
    if "amdgcn" not in binary.asm:
        return _of_cubin(binary)
    usage = amd_resources(binary.asm["amdgcn"], int(binary.metadata.shared))
    if usage is None:
        raise RuntimeError("the assembly's notes tell no register count")
    return usage


def _of_cubin(binary: Any) -> Resources:
    """Return the resources of a cubin.

    Only a kernel with a stack can have spills, and `ptxas -v` separates them from other stack.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(binary.asm["cubin"])
        usage = cubin_usage(_run([_tool("cuobjdump"), "-res-usage", str(path)]))
        if usage is None:
            raise RuntimeError("cuobjdump told no register count")
        registers, stack = usage
        stores, loads = _spills(binary.asm["ptx"], binary.metadata.name, Path(folder)) if stack else (0, 0)
        return Resources(registers, int(binary.metadata.shared), stores, loads, local_bytes=stack)


def _spills(ptx: str, kernel: str, folder: Path) -> tuple[int | None, int | None]:
    """Return the bytes of spill stores and spill loads that the assembler reports."""
    path = folder / "kernel.ptx"
    path.write_text(ptx)
    architecture = re.search(r"^\.target (\w+)", ptx, re.MULTILINE)
    assert architecture is not None
    command = [_assembler(architecture.group(1)), "-v", f"--gpu-name={architecture.group(1)}", str(path)]
    usage = ptxas_resources(_run([*command, "-o", str(folder / "x")]), kernel, 0)
    return (usage.spill_store_bytes, usage.spill_load_bytes) if usage else (None, None)


def _assembler(architecture: str) -> str:
    """Return the `ptxas` that Triton uses for an architecture: its wheel has two."""
    from triton.backends.nvidia.compiler import get_ptxas

    return str(get_ptxas(int(re.sub(r"\D", "", architecture))).path)


def _tool(name: str) -> str:
    import triton

    return str(Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / name)


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=TOOL_LIMIT_S, check=False)
    if done.returncode:
        raise RuntimeError(f"{Path(command[0]).name}: {(done.stderr or done.stdout).strip()[:2000]}")
    return done.stdout + done.stderr
