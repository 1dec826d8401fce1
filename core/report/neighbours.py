"""Facts about other compilers and runtimes that were given the model of a run."""

from __future__ import annotations

from dataclasses import dataclass

from core.report.aoti import SideTimes
from core.report.record import Record
from core.report.run import Difference


@dataclass(frozen=True, slots=True)
class LazyNode:
    """A primitive in MLX's graph of pending work; `reads` are the indices of the primitives that it reads."""

    name: str
    reads: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PortedFunction:
    """A function of torch, and the same function written for MLX; both are code with the input `x`.

    `graph` is MLX's graph before `mx.eval`, `compiled_graph` that of `mx.compile`, and `left` counts the primitives in
    it after `mx.eval`. `built_bytes` and `computed_bytes` are the growth of MLX's memory as the graph is built, and in
    `mx.eval`. `times` has seconds per call of `eager`, `compiled`, `mlx` and `mlx compiled`, interleaved.
    """

    name: str
    torch: str
    mlx: str
    inputs: str = ""
    differences: tuple[Difference, ...] = ()
    graph: tuple[LazyNode, ...] = ()
    compiled_graph: tuple[LazyNode, ...] = ()
    left: int = 0
    built_bytes: int = 0
    computed_bytes: int = 0
    built_s: float = 0.0
    computed_s: float = 0.0
    times: SideTimes | None = None


@dataclass(frozen=True, slots=True)
class Neighbour(Record):
    """A compiler or runtime other than torch.compile on the model of the run: logged once each, if the job asks.

    It converts the model with the inputs of the run's last call and makes that call, in a process of its own.
    """

    name: str
    """its name, such as `ONNX Runtime`"""
    call: str
    """its calls in Python"""
    install: str = ""
    """the command that installs it; empty for a part of torch"""
    missing: tuple[str, ...] = ()
    """the modules that are not installed"""
    version: str = ""
    """its version; empty if it is not installed"""
    stage: str = ""
    """the stage that failed: `start`, `eager`, `convert`, `call`, `time` or `process`; empty if none did"""
    problem: str = ""
    """the first line of the error, or why it was not tried"""
    inputs: str = ""
    """the inputs of the call in torch's notation"""
    convert_s: float | None = None
    """seconds of the conversion; those of a backend of torch.compile are in the first call"""
    call_s: float | None = None
    """seconds of the first call"""
    differences: tuple[Difference, ...] = ()
    """its outputs compared with eager's, by the rules of a run"""
    ported: tuple[PortedFunction, ...] = ()
    """for MLX alone: functions of torch written for it"""
    times: SideTimes | None = None
    """seconds per call of `eager`, `compiled` and `neighbour`, interleaved; null if they were not timed"""
