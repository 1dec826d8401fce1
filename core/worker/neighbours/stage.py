"""Alternative compilers and runtimes on the model of a run, compared with eager and timed.

Each neighbour runs in a separate process, since native code may crash or hang. The table `NEIGHBOURS` has the
conversion and requirements of each neighbour. MLX can't run a torch model, so small functions are written in
both torch and MLX. Their records show MLX's lazy graph, and the effects of `mx.eval` and `mx.compile`.
"""

from __future__ import annotations

import importlib
import inspect
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from core.job import CompileJob
from core.report import Difference, LazyNode, Neighbour, PortedFunction
from core.worker.aoti.exporting import as_module
from core.worker.aoti.running import named_outputs, other_number, tensors_of
from core.worker.backends.selection import load_backend
from core.worker.calls import ModelCalls, PreparedCall, Replay
from core.worker.conditions import set_dynamo, set_threads
from core.worker.load import Arguments, ModelCopy, described, first_line, seed
from core.worker.measuring.instruments import WallClock
from core.worker.measuring.pairs import LIMIT_S, time_sides, timed_side
from core.worker.memory.allocator import last_call
from core.worker.record import emit
from core.worker.results.compare import compare, compare_leaf
from core.worker.results.effects import CallEffects, unlike
from core.worker.results.judge import CallContext, Judge
from core.worker.standby import StandBy

MOST_TASK_S = 180.0  #: limit: seconds of one neighbour's run
TRAINING = "it runs only the forward, and this run trains"
DRAWS = "the call draws random numbers, and another program draws others than eager"
NO_CALL = "the model has no call"
MLX = "it runs no model of torch: the code is written anew"
Program = Callable[..., Any]


class NeighbourStage:
    """Stage of a run that tries all neighbours in standby processes.

    Create the object before torch starts threads.
    """

    def __init__(self, job: CompileJob, original: Path, path: Path) -> None:
        wanted = job.neighbours and not job.target
        work = partial(_tried, job=job, original=original, path=path)
        self._stand_by = StandBy(NEIGHBOURS, Neighbour, work, _failed) if wanted else None

    def run(self, most_s: float) -> None:
        """Record each neighbour; errors are recorded, not raised."""
        for record in self._stand_by.results(most_s, MOST_TASK_S) if self._stand_by is not None else ():
            emit(record)


def _failed(runtime: Runtime, reason: str) -> Neighbour:
    return replace(runtime.record, stage="process", problem=reason)


def _tried(runtime: Runtime, job: CompileJob, original: Path, path: Path) -> Neighbour:
    """Try one neighbour; must run in a separate process."""
    record, stage = runtime.record, "eager"
    reason = _why_not(runtime, job)
    if runtime.convert is None and not record.missing:
        return replace(record, stage="start", problem=reason, ported=ported_functions(job.measure))
    if record.missing or reason or runtime.convert is None:
        return replace(record, stage="start", problem=reason)
    try:
        last = last_calls(job, original, path)
        record, stage = replace(record, inputs=last.inputs), "convert"
        program, seconds = _timed(last, partial(runtime.convert, last.model))
        record, stage = replace(record, convert_s=seconds), "call"
        seed(job.seed + last.index)
        outputs, seconds = _timed(last, lambda: program(*last.model.tensors))
        record = replace(record, call_s=seconds, differences=_differences(job, original, last, tensors_of(outputs)))
        stage = "time"
        return _with_times(record, job, path, last, program) if job.measure else record
    except Exception as error:
        # What a backend raised is inside the error of torch.compile.
        return replace(record, stage=stage, problem=first_line(getattr(error, "inner_exception", error)))


def _why_not(runtime: Runtime, job: CompileJob) -> str:
    """Return why a neighbour can't be tried on a job here; empty if it can."""
    if runtime.convert is None:
        return MLX
    kind = job.device.partition(":")[0]
    if runtime.devices and kind not in runtime.devices:
        return f"it runs here on {' and '.join(runtime.devices)}, and this run is on {kind}"
    return TRAINING if job.training else ""


@dataclass(frozen=True, slots=True)
class LastCalls:
    """The last call of a job on two model copies: made eagerly on the first, prepared on the second.

    `difference` is the first difference between the copies before a call. `drew` is True if a call drew random
    numbers.
    """

    eager: PreparedCall
    effects: CallEffects
    call: PreparedCall
    model: FlatModel
    index: int
    inputs: str
    difference: str
    drew: bool


def last_calls(job: CompileJob, original: Path, path: Path) -> LastCalls:
    """Make all eager calls on two model copies, but prepare the second's last; raises LookupError."""
    # Marks and stances are those of torch.compile.
    plain = replace(job, marks=(), conditions=replace(job.conditions, stance="default", force_backend="", primed=False))
    set_threads(job.conditions)
    load_backend(job)
    copies = ModelCopy(original, job, "compileboard_eager"), ModelCopy(path, plain, "compileboard_neighbour")
    set_dynamo(job.conditions)
    left, right = (
        ModelCalls(job, copies[0], copies[0].model, True),
        ModelCalls(plain, copies[1], copies[1].model, False),
    )
    eager, call = left.next(0), right.next(0)
    index, difference, drew = 0, "", False
    while eager is not None and call is not None:
        inputs, before = described(left.call), (left.before(), right.before())
        difference = difference or unlike(*before, first=index == 0)
        effects, _ = left.make(index, eager, before[0])
        drew = drew or bool(effects.drawn)
        following = left.next(index + 1)
        if following is None:
            model = FlatModel(as_module(copies[1].model), call.inputs)
            return LastCalls(eager, effects, call, model, index, inputs, difference, drew)
        right.make(index, call, before[1])
        index += 1
        eager, call = following, right.next(index)
    raise LookupError(NO_CALL)


def _timed(last: LastCalls, function: Callable[[], Any]) -> tuple[Any, float]:
    """Call a function in the grad mode of the last call; return its result, and the seconds it took."""
    start = time.perf_counter()
    with last.call.ready():
        result = function()
    return result, time.perf_counter() - start


def _differences(
    job: CompileJob, original: Path, last: LastCalls, outputs: Sequence[torch.Tensor]
) -> tuple[Difference, ...]:
    """Return the differences between a neighbour's outputs and eager's, judged like compiled results."""
    named = named_outputs(last.effects.outputs, outputs)
    if named is None:
        return (other_number(last.effects.outputs, outputs),)
    differences = compare(*named)
    if last.drew:
        return tuple(replace(item, same=None, reason=DRAWS) if item.same is False else item for item in differences)
    judge = Judge(job, original, lambda copy, around: Replay(job, copy, around))
    return tuple(judge.decide(differences, *named, CallContext(last.index, frozenset(), last.difference)))


def _with_times(record: Neighbour, job: CompileJob, path: Path, last: LastCalls, program: Program) -> Neighbour:
    """Return the record with interleaved times of eager, the neighbour, and compiled or why it failed."""
    wall, tensors = WallClock(job.device), last.model.tensors
    sides = {"eager": timed_side(last.eager, wall, last.eager.ready)}
    try:
        compiled = last_call(job, ModelCopy(path, job, "compileboard_compiled"), False)
        sides["compiled"] = timed_side(compiled, wall, compiled.ready)
    except Exception as error:
        record = replace(record, stage="time", problem=f"compiled was not timed: {first_line(error)}")
    sides["neighbour"] = timed_side(lambda: program(*tensors), wall, last.call.ready)
    return replace(record, times=time_sides(sides, LIMIT_S))


class FlatModel(torch.nn.Module):
    """A model whose forward takes the tensors of a call, and returns the tensors of its output."""

    def __init__(self, model: torch.nn.Module, inputs: Arguments) -> None:
        super().__init__()
        self.model, self.inputs = model, inputs
        leaves, self._tree = tree_flatten(inputs)
        self._fixed = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        self._places = [index for index, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        self.tensors = tuple(leaves[place] for place in self._places)

    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        leaves = list(self._fixed)
        for place, tensor in zip(self._places, tensors, strict=True):
            leaves[place] = tensor
        args, kwargs = tree_unflatten(leaves, self._tree)
        return tuple(leaf for leaf in tree_leaves(self.model(*args, **kwargs)) if isinstance(leaf, torch.Tensor))


def _traced(model: FlatModel) -> Program:
    program: Program = torch.jit.trace(model, model.tensors)
    return program


def _scripted(model: FlatModel) -> Program:
    # A function is scripted itself, without the module around it.
    scripted = torch.jit.script(vars(model.model).get("forward", model.model))
    args, kwargs = model.inputs
    return lambda *_: scripted(*args, **kwargs)


def _onnx_runtime(model: FlatModel) -> Program:
    runtime = importlib.import_module("onnxruntime")
    exported = torch.onnx.export(model, model.tensors, dynamo=True, verbose=False)
    settings = runtime.SessionOptions()
    settings.intra_op_num_threads = torch.get_num_threads()
    file = exported.model_proto.SerializeToString()
    session = runtime.InferenceSession(file, settings, providers=["CPUExecutionProvider"])
    names = [entry.name for entry in session.get_inputs()]

    def run(*tensors: torch.Tensor) -> list[torch.Tensor]:
        arrays = [tensor.detach().numpy() for tensor in tensors]
        return [torch.from_numpy(array) for array in session.run(None, dict(zip(names, arrays, strict=True)))]

    return run


def _openvino(model: FlatModel) -> Program:
    openvino = importlib.import_module("openvino")
    converted = openvino.convert_model(torch.export.export(model, model.tensors))
    # Without it, OpenVINO computes float32 in bfloat16 on CPUs that have instructions for it.
    settings = {"EXECUTION_MODE_HINT": "ACCURACY", "INFERENCE_NUM_THREADS": torch.get_num_threads()}
    compiled = openvino.compile_model(converted, "CPU", settings)

    def run(*tensors: torch.Tensor) -> list[torch.Tensor]:
        outputs = compiled([tensor.detach().numpy() for tensor in tensors])
        return [torch.from_numpy(array) for array in outputs.values()]

    return run


def _tvm(model: FlatModel) -> Program:
    tvm, relax = importlib.import_module("tvm"), importlib.import_module("tvm.relax")
    frontend = importlib.import_module("tvm.relax.frontend.torch")
    module = frontend.from_exported_program(torch.export.export(model, model.tensors))
    machine = relax.VirtualMachine(tvm.compile(module, target=tvm.target.Target("llvm")), tvm.cpu())

    def run(*tensors: torch.Tensor) -> list[torch.Tensor]:
        arrays = [tvm.runtime.from_dlpack(tensor.detach().contiguous()) for tensor in tensors]
        return [torch.from_dlpack(array) for array in machine["main"](*arrays)]

    return run


def _by_backend(backend: str, model: FlatModel) -> Program:
    program: Program = torch.compile(model, backend=backend)
    return program


@dataclass(frozen=True, slots=True)
class Runtime:
    """A neighbour: its calls as code, the conversion of a model, and its requirements.

    All `modules` must be installed; the last module has the version to report. `devices` are the kinds of devices that
    the neighbour supports here; empty means all.
    """

    name: str
    call: str
    convert: Callable[[FlatModel], Program] | None
    modules: tuple[str, ...] = ("torch",)
    install: str = ""
    devices: tuple[str, ...] = ()

    @property
    def record(self) -> Neighbour:
        """The record of the neighbour before it is tried."""
        missing = tuple(module for module in self.modules if find_spec(module) is None)
        found = "" if missing else _version(self.modules[-1])
        return Neighbour(name=self.name, call=self.call, install=self.install, missing=missing, version=found)


def _version(module: str) -> str:
    names = packages_distributions().get(module, [])
    return version(names[0]) if names else ""


NEIGHBOURS = (
    Runtime("TorchScript, traced", "torch.jit.trace(model, inputs)", _traced),
    Runtime("TorchScript, scripted", "torch.jit.script(model)", _scripted),
    Runtime(
        "ONNX Runtime",
        "torch.onnx.export(model, inputs, dynamo=True); onnxruntime.InferenceSession(file)",
        _onnx_runtime,
        ("onnx", "onnxscript", "onnxruntime"),
        "pip install onnx onnxscript onnxruntime",
        ("cpu",),
    ),
    Runtime(
        "OpenVINO",
        'openvino.compile_model(openvino.convert_model(torch.export.export(model, inputs)), "CPU")',
        _openvino,
        ("openvino",),
        "pip install openvino",
        ("cpu",),
    ),
    Runtime(
        "OpenXLA, the compiler of JAX",
        'torch.compile(model, backend="openxla")',
        partial(_by_backend, "openxla"),
        ("torch_xla",),
        "pip install torch_xla",
    ),
    Runtime(
        "TVM",
        'tvm.compile(from_exported_program(torch.export.export(model, inputs)), target="llvm")',
        _tvm,
        ("tvm",),
        "pip install apache-tvm",
        ("cpu",),
    ),
    Runtime(
        "TensorRT",
        'torch.compile(model, backend="tensorrt")',
        partial(_by_backend, "tensorrt"),
        ("torch_tensorrt",),
        "pip install torch-tensorrt",
        ("cuda",),
    ),
    Runtime("MLX", "mlx.core.compile(function)", None, ("mlx",), 'pip install "mlx[cpu]"'),
)


SIZE = 512
NODE = re.compile(r'(\d+) \[label ="([^"]*)"')
READ, WRITE = re.compile(r'^"([^"]*)" -> (\d+)$', re.MULTILINE), re.compile(r'^(\d+) -> "([^"]*)"$', re.MULTILINE)
Function = Callable[[Any], Any]


def _sin_cos(x: torch.Tensor) -> torch.Tensor:
    return torch.sin(x) + torch.cos(x)


def _sin_cos_of_mlx(mx: Any, x: Any) -> Any:
    return mx.sin(x) + mx.cos(x)


def _gelu(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.gelu(x)


def _gelu_of_mlx(mx: Any, x: Any) -> Any:
    return x * (1 + mx.erf(x / 2**0.5)) / 2


def _attention_weights(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(torch.relu(x @ x), -1)


def _attention_weights_of_mlx(mx: Any, x: Any) -> Any:
    return mx.softmax(mx.maximum(x @ x, 0), axis=-1)


def _layer_norm(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.layer_norm(x, x.shape[-1:])


def _layer_norm_of_mlx(mx: Any, x: Any) -> Any:
    return mx.fast.layer_norm(x, None, None, 1e-5)


# Name, and the same function in torch and in MLX.
FUNCTIONS: tuple[tuple[str, Function, Callable[[Any, Any], Any]], ...] = (
    ("sin + cos", _sin_cos, _sin_cos_of_mlx),
    ("GELU", _gelu, _gelu_of_mlx),
    ("matmul, ReLU, softmax", _attention_weights, _attention_weights_of_mlx),
    ("layer norm", _layer_norm, _layer_norm_of_mlx),
)


def ported_functions(measure: bool) -> tuple[PortedFunction, ...]:
    """Compare all functions in torch and MLX; must run in a separate process, since MLX starts threads."""
    mx = importlib.import_module("mlx.core")
    return tuple(_ported(mx, *function, measure) for function in FUNCTIONS)


def _ported(
    mx: Any, name: str, of_torch: Function, function_of_mlx: Callable[[Any, Any], Any], measure: bool
) -> PortedFunction:
    of_mlx: Function = partial(function_of_mlx, mx)
    seed(0)
    x = torch.randn(SIZE, SIZE)
    array = mx.array(x.numpy())
    mx.eval(array)
    before, start = mx.get_active_memory(), time.perf_counter()
    result = of_mlx(array)
    built, built_s = mx.get_active_memory(), time.perf_counter() - start
    graph, start = lazy_graph(mx, result), time.perf_counter()
    mx.eval(result)
    computed_s = time.perf_counter() - start
    compiled = mx.compile(of_mlx)
    return PortedFunction(
        name=name,
        torch=_returned(of_torch),
        mlx=_returned(function_of_mlx),
        inputs=described(((x,), {})),
        differences=tuple(compare_leaf("output", of_torch(x), torch.from_numpy(_numpy(result)))),
        graph=graph,
        compiled_graph=lazy_graph(mx, compiled(array)),
        left=len(lazy_graph(mx, result)),
        built_bytes=built - before,
        computed_bytes=mx.get_active_memory() - built,
        built_s=built_s,
        computed_s=computed_s,
        times=_times(mx, (of_torch, x), (of_mlx, compiled, array)) if measure else None,
    )


def _returned(function: Callable[..., Any]) -> str:
    """Return the code after `return` in the source of a one-line function."""
    return inspect.getsource(function).partition("return ")[2].strip()


def _numpy(array: Any) -> Any:
    return importlib.import_module("numpy").array(array)


def lazy_graph(mx: Any, result: Any) -> tuple[LazyNode, ...]:
    """Return the graph of a result's pending computation, from `mx.export_to_dot`."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "graph.dot"
        mx.export_to_dot(str(path), result)
        return graph_of_dot(path.read_text(encoding="utf-8"))


def graph_of_dot(text: str) -> tuple[LazyNode, ...]:
    """Return the primitives of an MLX graph in DOT format, in its order, which is that of execution."""
    nodes = NODE.findall(text)
    place = {number: index for index, (number, _) in enumerate(nodes)}
    writer = {array: place[number] for number, array in WRITE.findall(text)}
    reads: dict[str, list[int]] = {number: [] for number, _ in nodes}
    for array, number in READ.findall(text):
        reads[number] += [writer[array]] if array in writer else []
    return tuple(LazyNode(label, tuple(reads[number])) for number, label in nodes)


def _times(mx: Any, ours: tuple[Function, torch.Tensor], theirs: tuple[Function, Function, Any]) -> Any:
    """Time eager, compiled, MLX and compiled MLX, interleaved; each call evaluates MLX's lazy result."""
    (of_torch, x), (of_mlx, compiled, array) = ours, theirs
    wall, of_compiled = WallClock("cpu"), torch.compile(of_torch)
    calls: dict[str, Callable[[], Any]] = {
        "eager": lambda: of_torch(x),
        "compiled": lambda: of_compiled(x),
        "mlx": lambda: mx.eval(of_mlx(array)),
        "mlx compiled": lambda: mx.eval(compiled(array)),
    }
    return time_sides({name: timed_side(call, wall) for name, call in calls.items()}, LIMIT_S / 2)
