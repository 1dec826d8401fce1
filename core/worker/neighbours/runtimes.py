"""The neighbours, a literal table: how each converts a model, and what it needs."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from core.report import Neighbour
from core.worker.load import Arguments

Program = Callable[..., Any]


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
    """A neighbour: its calls as code, the conversion of a model, and what it needs.

    `modules` must be installed, the one with its version last; `devices` are the kinds it runs on here, all if empty.
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
