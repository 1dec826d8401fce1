"""A Triton kernel of an output code, imported on a machine that may lack its device, and compiled for a target."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.base.errors import ToolError
from core.base.words import count
from core.code.output_code import definition_in
from core.job.targets import TARGETS, Architecture, Target, architecture_words
from core.runs.tools import Task
from core.worker.triton import TargetDriver, compile_config, gpu_target, install_driver

DEVICE = re.compile(r"DeviceProperties\(([^()]*)\)")


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


def source_of(task: Task, target_key: str, directory: Path) -> KernelSource:
    """Write the kernel's module into the directory, with the target's device properties; raises ToolError."""
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
