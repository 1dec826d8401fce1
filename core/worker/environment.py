"""What this machine's torch can do: versions, devices, backends."""

from __future__ import annotations

import inspect
import os
import platform
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
import torch._inductor
from torch._dynamo.backends import registry

from core.accelerator.register import register
from core.base.machine import BackendEntry, Environment, cpp_compiler
from core.worker.backends.built_in import register_shipped

PACKAGES = Path(torch.__file__).parents[1]
# Those that torch gives its backends.
TAGS = ("debug", "experimental")


def devices() -> list[str]:
    """Device strings that a job may name here, `cpu` first."""
    found = ["cpu"]
    for kind in ("cuda", "xpu", "mps"):
        module = getattr(torch, kind, None)
        if module is not None and module.is_available():
            count = module.device_count()
            found += [kind] if count == 1 else [f"{kind}:{index}" for index in range(count)]
    return found


def device_name(device: str) -> str:
    """The device in words, as its driver names it."""
    kind = device.partition(":")[0]
    if kind in ("cuda", "xpu"):
        return str(getattr(torch, kind).get_device_name(device))
    return _cpu_name() if kind == "cpu" else device


def probe() -> Environment:
    """Everything that the pages and the command line want to know about torch here."""
    register()
    register_shipped()
    names = tuple(sorted(torch._dynamo.list_backends(exclude_tags=())))
    return Environment(
        torch=str(torch.__version__),
        python=platform.python_version(),
        devices={device: device_name(device) for device in devices()},
        backends=names,
        entries=tuple(BackendEntry(name, _tags(name), _place(registry._COMPILER_FNS.get(name))) for name in names),
        modes=torch._inductor.list_mode_options(),
        cpus=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 0,
        compiler=cpp_compiler(),
    )


def _tags(name: str) -> tuple[str, ...]:
    return tuple(tag for tag in TAGS if name not in torch._dynamo.list_backends(exclude_tags=(tag,)))


def _place(function: Any) -> str:
    """Where a function, or the class of what is called, is defined in a backend's own module; a backend that a package
    brings is not imported for that.
    """
    function = inspect.unwrap(function)
    defined = function if inspect.isroutine(function) or inspect.isclass(function) else type(function)
    try:
        path, line = inspect.getsourcefile(defined), inspect.getsourcelines(defined)[1]
    except (OSError, TypeError):
        return ""
    made_by_another = defined is not function and defined.__module__.endswith("backends.common")
    if path is None or made_by_another or not Path(path).is_relative_to(PACKAGES):
        return ""
    return f"{Path(path).relative_to(PACKAGES).as_posix()}:{line}"


def _cpu_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.machine()
