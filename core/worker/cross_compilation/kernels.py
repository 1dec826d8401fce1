"""Triton kernels of a generated module, compiled for a target, with the outcome of each config.

Each kernel is compiled in a separate process, since a compiler that crashes or hangs must only affect its own kernel.

A kernel's resources come from Triton's bundled tools, or from the binary itself. Triton's own compilation reports them,
too (`core.worker.kernel_tools.triton_ladder`), but not for a cached binary.
"""

import ast
import json
import os
import re
import select
import signal
import subprocess
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from torch._inductor.codecache import PyCodeCache

from core.base.decoder import decoded_as
from core.base.words import limit_s
from core.code.output_code import Definition, definitions
from core.code.stages import Resources, amd_resources, cubin_usage, ptxas_resources, too_large
from core.report import Binary, Config
from core.report.records.compilation import BinaryRecord
from core.worker.cross_compilation.device import process_target
from core.worker.record import emit
from core.worker.recorders.scheduler import current_graph
from core.worker.triton import compile_config

KERNEL_LIMIT_S = 120.0
PARALLEL = min(4, os.cpu_count() or 1)
MAX_ERROR_CHARS = 4_000  #: a compiler's message
UNDECIDED = "not decidable without timing: on the device each config is timed at the first launch"
ONLY = "the only config"
TOOL_LIMIT_S = 60


def record_binaries(module_code: str) -> None:
    """Compile every Triton kernel of a module; record each as `compileboard_binary`, in module order."""
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
        """Kill the compilation, and return an outcome with a timeout error."""
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
    """Return the resources of a `CompiledKernel` for NVIDIA or AMD; raises RuntimeError."""
    if "amdgcn" not in binary.asm:
        return _of_cubin(binary)
    usage = amd_resources(binary.asm["amdgcn"], int(binary.metadata.shared))
    if usage is None:
        raise RuntimeError("the assembly's notes tell no register count")
    return usage


def _of_cubin(binary: Any) -> Resources:
    """Return the resources of a cubin.

    Only a kernel with a stack can have spills. `ptxas -v` reports spills separately from the stack.
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
    """Return the bytes of spill stores and spill loads from `ptxas -v`; None for both if not reported."""
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
