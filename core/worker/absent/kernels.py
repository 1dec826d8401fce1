"""The Triton kernels of a generated module, compiled to the target's machine code, and what came of each config.

Each kernel is compiled in a process of its own, for a compiler that crashes or hangs must cost no more than its kernel.
"""

from __future__ import annotations

import ast
import json
import os
import select
import signal
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import Any

from torch._inductor.codecache import PyCodeCache

from core.decoder import decoded_as
from core.records.kernels import BinaryRecord
from core.report import Config
from core.worker.absent.device import properties
from core.worker.absent.resources import Resources, resources
from core.worker.record import emit
from core.worker.scheduler import current_graph

KERNEL_LIMIT_S = 120.0
PARALLEL = min(4, os.cpu_count() or 1)
MAX_ERROR_CHARS = 4_000
UNDECIDED = "not decidable without timing: on the device each config is timed at the first launch"
ONLY = "the only config"


@dataclass(frozen=True, slots=True)
class Source:
    """One `async_compile.triton` of a module."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one kernel; docs/trace-records.md says what each field means."""

    heuristic: str
    choice: str
    configs: tuple[Config, ...]
    error: str = ""


def record_binaries(module_code: str) -> None:
    """Compile every Triton kernel of a module; one `compileboard_binary` record each, in the module's order."""
    sources = list(triton_sources(module_code))
    graph_id, direction = current_graph()
    for source, outcome in zip(sources, compiled_kernels(sources), strict=True):
        emit(
            BinaryRecord(
                graph_id=graph_id,
                direction=direction,
                name=source.name,
                heuristic=outcome.heuristic,
                choice=outcome.choice,
                configs=outcome.configs,
                error=outcome.error,
            )
        )


def triton_sources(module_code: str) -> Iterator[Source]:
    """The kernels that a module defines: `NAME = async_compile.triton('…', SOURCE, …)`."""
    for node in ast.parse(module_code).body:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        called, arguments = node.value.func, node.value.args
        if ast.unparse(called) == "async_compile.triton" and isinstance(node.targets[0], ast.Name):
            yield Source(node.targets[0].id, str(ast.literal_eval(arguments[1])))


def compiled_kernels(sources: list[Source]) -> list[Outcome]:
    """The outcome of each kernel, compiled in a few processes at a time."""
    outcomes: dict[int, Outcome] = {}
    waiting = list(enumerate(sources))
    running: dict[int, tuple[int, _Child]] = {}
    while waiting or running:
        while waiting and len(running) < PARALLEL:
            index, source = waiting.pop(0)
            child = _Child(source)
            running[child.reader] = (index, child)
        ready, _, _ = select.select(list(running), [], [], 0.2)
        for reader, (index, child) in list(running.items()):
            if reader in ready and child.read():
                outcomes[index] = child.outcome()
            elif child.late():
                outcomes[index] = child.ended()
            if index in outcomes:
                del running[reader]
    return [outcomes[index] for index in range(len(sources))]


class _Child:
    """One process that compiles one kernel and sends its outcome as JSON."""

    def __init__(self, source: Source) -> None:
        self.reader, writer = os.pipe()
        self._data = b""
        self._deadline = time.monotonic() + KERNEL_LIMIT_S
        self.pid = os.fork()
        if self.pid == 0:
            _compile_and_leave(source, writer)
        os.close(writer)

    def read(self) -> bool:
        """Take what was sent; true at its end."""
        chunk = os.read(self.reader, 1 << 16)
        self._data += chunk
        return not chunk

    def late(self) -> bool:
        return time.monotonic() > self._deadline

    def ended(self) -> Outcome:
        """End a compile that takes too long."""
        os.kill(self.pid, signal.SIGKILL)
        self._close()
        return _failed(f"Triton was not done after {KERNEL_LIMIT_S:g} s")

    def outcome(self) -> Outcome:
        """What the process sent, or how it died."""
        status = self._close()
        if os.WIFSIGNALED(status):
            return _failed(f"Triton was ended by {signal.Signals(os.WTERMSIG(status)).name}")
        return decoded_as(self._data, Outcome) if self._data else _failed("Triton left without an answer")

    def _close(self) -> int:
        os.close(self.reader)
        return os.waitpid(self.pid, 0)[1]


def _compile_and_leave(source: Source, writer: int) -> None:
    code = 1
    try:
        outcome = _compiled(source)
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(json.dumps(asdict(outcome)).encode())
        code = 0
    finally:
        os._exit(code)


def _failed(error: str) -> Outcome:
    return Outcome("", "", (), error)


def _compiled(source: Source) -> Outcome:
    try:
        autotuner = _autotuner(source)
    except Exception as error:
        return _failed(_words(error))
    configs = autotuner.configs
    return Outcome(
        heuristic=getattr(autotuner.heuristic_type, "name", str(autotuner.heuristic_type)).lower(),
        choice=ONLY if len(configs) == 1 else UNDECIDED,
        configs=tuple(_config(autotuner, config, chosen=len(configs) == 1 or None) for config in configs),
    )


def _autotuner(source: Source) -> Any:
    """Inductor's own object: its heuristics choose the configs as they would on the device."""
    module: ModuleType = PyCodeCache.load(source.text)
    name = next(
        name for name in vars(module) if name.startswith("triton_") and hasattr(getattr(module, name), "configs")
    )
    return getattr(module, name)


def _config(autotuner: Any, config: Any, chosen: bool | None) -> Config:
    start = time.perf_counter()
    failed, figures = "", {}
    try:
        binary = compile_config(autotuner, config)
        _check_fits(int(binary.metadata.shared))
        figures = _figures(binary, resources(binary))
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


def compile_config(autotuner: Any, config: Any) -> Any:
    """One config compiled to the last rung, with the signature, constants and options that Inductor gives Triton."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    meta = autotuner._create_compile_meta(config)
    options = autotuner._create_compile_options(config, meta)
    source = ASTSource(autotuner.fn, meta["signature"], meta["constants"], meta["configs"][0])
    target = GPUTarget(meta["device_type"], meta["cc"], autotuner.device_props.warp_size or 32)
    return triton.compile(source, target=target, options=options)


def _check_fits(shared_bytes: int) -> None:
    """Raise what Triton raises when it loads a kernel that needs more shared memory than the device has."""
    from triton.runtime.errors import OutOfResources

    limit = properties().shared_memory_per_block_optin
    if shared_bytes > limit:
        raise OutOfResources(shared_bytes, limit, "shared memory")


def _figures(binary: Any, used: Resources) -> dict[str, Any]:
    return {
        "registers": used.registers,
        "spill_bytes": used.spill_bytes,
        "local_bytes": used.local_bytes,
        "shared_bytes": int(binary.metadata.shared),
        "sizes": {rung: len(content) for rung, content in binary.asm.items() if isinstance(content, (str, bytes))},
        "hash": str(binary.hash),
    }


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:MAX_ERROR_CHARS]
