"""Compilation stages of a Triton kernel: Python, TTIR, TTGIR, LLVM IR, PTX and SASS, or AMD assembly.

No device is needed: the kernel is imported from its output code and compiled for a target. MLIR prints a dump
of the module before each pass. The passes that changed the module are read from this dump:

    // -----// IR Dump Before TritonGPUCoalesce (tritongpu-coalesce) ('builtin.module' operation) //----- //
    module { … }

The output of a pass is the input of the next pass. Locations are left out: they change with every line.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

from core.base.errors import ToolError
from core.base.words import count
from core.code.diff import diff_texts, without_locations
from core.code.output_code import definition_in
from core.code.stages import (
    Resources,
    amd_resources,
    comment_lines,
    llvm_lines,
    mlir_lines,
    occupancy,
    ptxas_resources,
    sass_lines,
    too_large,
    without_places,
)
from core.job.targets import TARGETS, Architecture, Target, architecture_words
from core.runs.tools import tasks
from core.worker.triton import TargetDriver, compile_config, gpu_target, install_driver

DISASSEMBLER_LIMIT_S = 60
MAX_FILE_CHARS = 200_000  #: limit: one compilation stage of a kernel
MLIR_RUNGS = ("ttir", "ttgir")
TEXT_RUNGS = (*MLIR_RUNGS, "llir", "ptx", "amdgcn")
# `Coalesce (tritongpu-coalesce) (…)`, and since Triton 3.9 `Coalesce: tritongpu-coalesce{options} (…)`.
HEADER = re.compile(
    r"^// -----// IR Dump Before (\S+?)(?: \(|: )([^\s){]*).*\('builtin\.module' operation\).*$", re.MULTILINE
)
ANY_HEADER = re.compile(r"^// -----// .*", re.MULTILINE)
MAX_DUMP_BYTES = 200_000_000  #: limit: the output of Triton's passes
MAX_DIFF_LINES = 1_500  #: limit: lines of one pass's difference
MAX_DIFFS = 120  #: limit: passes with a difference
DEVICE = re.compile(r"DeviceProperties\(([^()]*)\)")


def ladder(task: tasks.Task, directory: Path) -> tasks.LadderAnswer:
    """Return all stages of one config; raises ToolError if there is none, or Triton fails."""
    request = task.request
    assert isinstance(request, tasks.Ladder)
    source = source_of(task, request.target, directory)
    kernel = load(source)
    config = config_at(kernel, request.config)
    words = tuple(config_words(config) for config in kernel.configs)
    with ptxas_logs() as logs, stage_times() as stage_us:
        binary = compiled(kernel, config)
    rungs = [_python(source), *_rungs(binary.asm, source)]
    problem = ""
    if "cubin" in binary.asm:
        try:
            rungs.append(_sass(binary.asm, source, directory))
        except ToolError as error:
            problem = str(error)
    resources = _resources(binary, source, logs)
    problem = problem or (too_large(resources.shared_bytes, source.architecture) if resources else "")
    files = tuple(_files(directory / "triton"))
    return tasks.LadderAnswer(source.words, request.config, words, tuple(rungs), resources, files, problem, stage_us)


def configs(task: tasks.Task, directory: Path) -> tasks.ConfigsAnswer:
    """Compile every config of a kernel; return the resources of each, or why it does not compile."""
    request = task.request
    assert isinstance(request, tasks.Configs)
    source = source_of(task, request.target, directory)
    kernel = load(source)
    return tasks.ConfigsAnswer(source.words, tuple(_figures(kernel, config, source) for config in kernel.configs))


def _figures(kernel: Any, config: Any, source: KernelSource) -> tasks.ConfigFigures:
    with ptxas_logs() as logs:
        try:
            binary = compiled(kernel, config)
        except ToolError as error:
            return tasks.ConfigFigures(str(config), config_words(config), None, str(error)[:2_000])
    resources = _resources(binary, source, logs)
    problem = too_large(resources.shared_bytes, source.architecture) if resources else ""
    return tasks.ConfigFigures(str(config), config_words(config), resources, problem)


@contextmanager
def stage_times() -> Iterator[dict[str, int]]:
    """Collect the microseconds of Triton's stages, such as `ttir`, in this context."""
    from triton import knobs

    stage_us: dict[str, int] = {}

    def listen(*, times: Any, **_: Any) -> None:
        stage_us.update(times.lowering_stages)

    with patch.object(knobs.compilation, "listener", listen):
        yield stage_us


@contextmanager
def ptxas_logs() -> Iterator[list[str]]:
    """Collect the output of `ptxas -v`: Triton requests it and discards it."""
    logs: list[str] = []
    original = subprocess.run

    def run(command: Any, *arguments: Any, **options: Any) -> Any:
        process = original(command, *arguments, **options)
        log = getattr(options.get("stderr"), "name", None)
        if "ptxas" in str(command[0] if isinstance(command, list) else command) and isinstance(log, str):
            logs.append(Path(log).read_text(encoding="utf-8", errors="replace"))
        return process

    subprocess.run = run  # type: ignore[assignment]
    try:
        yield logs
    finally:
        subprocess.run = original


def _resources(binary: Any, source: KernelSource, logs: list[str]) -> Resources | None:
    shared = int(binary.metadata.shared)
    if "amdgcn" in binary.asm:
        usage = amd_resources(binary.asm["amdgcn"], shared)
    else:
        usage = ptxas_resources("\n".join(logs), binary.metadata.name, shared)
    if usage is None or source.architecture is None:
        return usage
    warps = int(binary.metadata.num_warps)
    fits = occupancy(source.architecture, warps, usage.registers, usage.shared_bytes)
    return replace(usage, warps=warps, occupancy=fits)


def _python(source: KernelSource) -> tasks.Rung:
    lines = {number: number for number, _ in enumerate(source.text.split("\n"), 1)}
    return _bounded("python", source.text, lines)


def _rungs(asm: dict[str, Any], source: KernelSource) -> Iterator[tasks.Rung]:
    for name in TEXT_RUNGS:
        text = asm.get(name)
        if isinstance(text, str):
            yield _bounded(name, text, _lines(name, text, source.path.name))


def _lines(name: str, text: str, file: str) -> dict[int, int]:
    if name in MLIR_RUNGS:
        return mlir_lines(text, file)
    return llvm_lines(text, file) if name == "llir" else comment_lines(text, file)


def _sass(asm: dict[str, Any], source: KernelSource, directory: Path) -> tasks.Rung:
    """Disassemble the cubin with the nvdisasm of Triton's wheel; raises ToolError."""
    from triton import knobs

    path = directory / "kernel.cubin"
    path.write_bytes(asm["cubin"])
    try:
        process = subprocess.run(
            [knobs.nvidia.nvdisasm.path, "-g", "-c", str(path)],
            capture_output=True,
            text=True,
            timeout=DISASSEMBLER_LIMIT_S,
            check=False,
        )
    except (OSError, RuntimeError, subprocess.TimeoutExpired) as error:
        raise ToolError(f"nvdisasm could not disassemble the cubin: {error}") from None
    if process.returncode:
        raise ToolError(f"nvdisasm could not disassemble the cubin: {process.stderr.strip()[:2_000]}")
    lines = sass_lines(process.stdout, source.path.name, asm.get("ptx", ""))
    return _bounded("sass", *without_places(process.stdout, lines))


def _bounded(name: str, text: str, lines: dict[int, int]) -> tasks.Rung:
    rows = text.rstrip("\n").split("\n")
    bounded_lines = {number: line for number, line in lines.items() if number <= tasks.MAX_LINES}
    return tasks.Rung(name, "\n".join(rows[: tasks.MAX_LINES]), bounded_lines, max(0, len(rows) - tasks.MAX_LINES))


def _files(cache: Path) -> Iterator[tasks.CachedFile]:
    """Yield the files that Triton left in its cache for this kernel."""
    for path in sorted(cache.rglob("*")):
        if not path.is_file() or path.suffix == ".lock":
            continue
        data = path.read_bytes()
        text = "" if path.suffix.lstrip(".") in TEXT_RUNGS or b"\0" in data else data.decode("utf-8", "replace")
        yield tasks.CachedFile(path.name, len(data), text[:MAX_FILE_CHARS])


def passes(task: tasks.Task, directory: Path) -> tasks.PassesAnswer:
    """Compile a config with MLIR dumps; return the passes that changed its module. Raises ToolError."""
    request = task.request
    assert isinstance(request, tasks.Passes)
    source = source_of(task, request.target, directory)
    kernel = load(source)
    config = config_at(kernel, request.config)
    dump = directory / "passes.mlir"
    with _printed_to(dump):
        compiled(kernel, config)
    steps = list(_steps(dump))
    dump.unlink()
    if not steps:
        raise ToolError("MLIR printed nothing: this build of Triton was made without its dumps")
    changes = list(_changes(steps))
    return tasks.PassesAnswer(source.words, len(steps), tuple(changes[:MAX_DIFFS]), max(0, len(changes) - MAX_DIFFS))


@contextmanager
def _printed_to(path: Path) -> Iterator[None]:
    """Redirect MLIR's dump, on standard error, into a file."""
    standard_error = os.dup(2)
    with path.open("wb") as file:
        os.dup2(file.fileno(), 2)
    os.environ["MLIR_ENABLE_DUMP"] = "1"
    try:
        yield
    finally:
        del os.environ["MLIR_ENABLE_DUMP"]
        os.dup2(standard_error, 2)
        os.close(standard_error)


def _steps(dump: Path) -> Iterator[tuple[str, str, str]]:
    """Yield each pass over the whole module: its name, its argument, and its input module."""
    with dump.open("rb") as file:
        text = file.read(MAX_DUMP_BYTES).decode("utf-8", "replace")
    for match in HEADER.finditer(text):
        end = ANY_HEADER.search(text, match.end())
        yield match.group(1), match.group(2), without_locations(text[match.end() : end.start() if end else len(text)])


def _changes(steps: list[tuple[str, str, str]]) -> Iterator[tasks.PassChange]:
    for (name, argument, before), (_, _, after) in pairwise(steps):
        if before == after:
            continue
        diff = diff_texts(before, after, f"before {name}", f"after {name}", MAX_DIFF_LINES)
        yield tasks.PassChange(name, argument, diff.added, diff.removed, diff.text, diff.left_out)


@dataclass(frozen=True, slots=True)
class KernelSource:
    """A kernel's module as Inductor wrote it: its file, the kernel's name, and the compilation target."""

    name: str
    path: Path
    text: str
    backend: str
    arch: int | str
    warp_size: int
    target: Target | None

    @property
    def words(self) -> str:
        """Return the target's display name."""
        place = architecture_words(self.backend, self.arch)
        return f"{self.target.title} ({place})" if self.target else place

    @property
    def architecture(self) -> Architecture | None:
        """Facts about the architecture; None if no target has it."""
        architectures = (target.architecture for target in TARGETS.values())
        return next(
            (known for known in architectures if (known.backend, known.arch) == (self.backend, self.arch)), None
        )


def source_of(task: tasks.Task, target_key: str, directory: Path) -> KernelSource:
    """Write the kernel's module into the directory, and return its source; raises ToolError.

    The device properties of the target, if there is a target, replace the recorded properties.
    """
    _require_triton()
    name, text = _strings(task.definition)
    device = DEVICE.search(text)
    if device is None:
        raise ToolError(f"the source of {name} does not say which device it is for")
    target = TARGETS.get(target_key)
    recorded = dict(part.strip().split("=", 1) for part in device.group(1).split(",") if "=" in part)
    if target is not None:
        text = DEVICE.sub(lambda _: _properties(target), text)
        backend, arch, warp = target.backend, target.architecture.arch, target.architecture.warp_size
    else:
        backend, arch = ast.literal_eval(recorded["type"]), ast.literal_eval(recorded["cc"])
        warp = int(recorded.get("warp_size", "32"))
    path = directory / f"{re.sub(r'[^A-Za-z0-9_]', '_', name)[:100]}.py"
    path.write_text(text, encoding="utf-8")
    return KernelSource(name, path, text, backend, arch, warp, target)


def _require_triton() -> None:
    if importlib.util.find_spec("triton") is None:
        raise ToolError("there is no Triton in this environment; `pip install triton` brings it")


def _strings(definition: str) -> tuple[str, str]:
    """Return the kernel's name and its module, the first two arguments of `async_compile.triton`."""
    kernel = definition_in(definition)
    if kernel is None or len(kernel.texts) < 2:
        raise ToolError("the output code does not define this kernel as `async_compile.triton(name, source)`")
    return kernel.texts[0], kernel.texts[1]


def _properties(target: Target) -> str:
    """Return the device properties as Inductor writes them into a kernel's source."""
    shape = target.architecture
    return (
        f"DeviceProperties(type={target.backend!r}, index=0, multi_processor_count={target.multi_processor_count}, "
        f"cc={shape.arch!r}, major={shape.major}, regs_per_multiprocessor={shape.regs_per_multiprocessor}, "
        f"max_threads_per_multi_processor={shape.max_threads_per_multi_processor}, "
        f"max_threads_per_block={shape.max_threads_per_block}, warp_size={shape.warp_size})"
    )


def load(source: KernelSource) -> Any:
    """Return the kernel's autotuner, with its configs; raises ToolError if the module cannot be imported."""
    os.environ["TRITON_CACHE_DIR"] = str(source.path.parent / "triton")
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    install_driver(TargetDriver(lambda: gpu_target(source.backend, source.arch, source.warp_size), lambda: {}))
    spec = importlib.util.spec_from_file_location(source.path.stem, source.path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        return getattr(module, source.name)
    except Exception as error:
        raise ToolError(f"the kernel's module cannot be imported: {type(error).__name__}: {error}") from error


def config_at(kernel: Any, index: int) -> Any:
    """Return a config of the kernel by its index; raises ToolError if there is none."""
    if not 0 <= index < len(kernel.configs):
        raise ToolError(f"the kernel has {count(len(kernel.configs), 'config')}; there is no number {index}")
    return kernel.configs[index]


def compiled(kernel: Any, config: Any) -> Any:
    """Compile a config for the target of the kernel's source; raises ToolError with Triton's message."""
    try:
        return compile_config(kernel, config)
    except Exception as error:
        raise ToolError(f"Triton could not compile it: {type(error).__name__}\n{error}") from error


def config_words(config: Any) -> str:
    """Return a config in one line: blocks, warps, stages."""
    parts = {**config.kwargs, "num_warps": config.num_warps, "num_stages": config.num_stages}
    return ", ".join(f"{name}={value}" for name, value in parts.items())
