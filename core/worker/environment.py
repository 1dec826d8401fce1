"""Capabilities of this machine's torch: versions, devices, backends."""

import importlib.util
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
from core.worker.backends.selection import register_built_in
from core.worker.config import config_options
from core.worker.recorders.logs import log_names

PACKAGES = Path(torch.__file__).parents[1]
# Tags that torch gives its backends.
TAGS = ("debug", "experimental")
# Packages that torch's own backends import at their first use.
NEEDS = {"openxla": "torch_xla", "openxla_eval": "torch_xla", "tvm": "tvm"}
# Kinds of devices whose events are a clock.
WITH_EVENTS = ("cuda", "xpu")


def devices() -> list[str]:
    """Return the device strings that a job may name here, `cpu` first."""
    names = ["cpu"]
    for kind in ("cuda", "xpu", "mps"):
        module = getattr(torch, kind, None)
        if module is not None and module.is_available():
            count = module.device_count()
            names += [kind] if count == 1 else [f"{kind}:{index}" for index in range(count)]
    return names


def has_device(device: str) -> bool:
    """Return True if a job's device is available here; `cuda` and `cuda:0` are one."""
    names, kind = devices(), device.partition(":")[0]
    return device in names or f"{device}:0" in names or (device == f"{kind}:0" and kind in names)


def device_name(device: str) -> str:
    """Return the driver's name of a device, or the CPU's model; other devices keep the device string."""
    kind = device.partition(":")[0]
    if kind in ("cuda", "xpu"):
        return str(getattr(torch, kind).get_device_name(device))
    return _cpu_name() if kind == "cpu" else device


def synchronize(device: str) -> None:
    """Wait until an accelerator has finished all its work."""
    kind = device.partition(":")[0]
    if kind in WITH_EVENTS:
        getattr(torch, kind).synchronize(device)
    elif kind != "cpu":
        getattr(torch, kind).synchronize()


def probe() -> Environment:
    """Return everything that the pages and the command line show about torch here."""
    register()
    register_built_in()
    names = tuple(sorted(torch._dynamo.list_backends(exclude_tags=())))
    return Environment(
        torch=str(torch.__version__),
        python=platform.python_version(),
        devices={device: device_name(device) for device in devices()},
        backends=names,
        entries=tuple(map(_entry, names)),
        modes=torch._inductor.list_mode_options(),
        options=config_options(),
        logs=log_names(),
        cpus=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 0,
        compiler=cpp_compiler(),
    )


def _entry(name: str) -> BackendEntry:
    function = registry._COMPILER_FNS.get(name)
    return BackendEntry(name, _tags(name), _place(function), _missing(name, function))


def _missing(name: str, function: Any) -> str:
    """Return the package or argument that a backend lacks; empty if nothing is known to be missing."""
    package = NEEDS.get(name)
    if package is not None and importlib.util.find_spec(package) is None:
        return f"the package {package}"
    try:
        parameters = list(inspect.signature(function).parameters.values()) if callable(function) else []
    except ValueError:
        return ""
    # torch.compile passes the graph and its example inputs.
    own = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)][2:]
    named = [each for each in parameters if each.kind is each.KEYWORD_ONLY]
    required = next((each.name for each in (*own, *named) if each.default is each.empty), "")
    return f"the argument `{required}`" if required else ""


def _tags(name: str) -> tuple[str, ...]:
    return tuple(tag for tag in TAGS if name not in torch._dynamo.list_backends(exclude_tags=(tag,)))


def _place(function: Any) -> str:
    """Return `file:line` of the definition of a backend's function or class.

    Empty for torch's wrapper objects, and for files outside the installed packages. Backends of other packages
    are not imported for this.
    """
    function = inspect.unwrap(function)
    defined = function if inspect.isroutine(function) or inspect.isclass(function) else type(function)
    try:
        path, line = inspect.getsourcefile(defined), inspect.getsourcelines(defined)[1]
    except (OSError, TypeError):
        return ""
    is_wrapper = defined is not function and defined.__module__.endswith("backends.common")
    if path is None or is_wrapper or not Path(path).is_relative_to(PACKAGES):
        return ""
    return f"{Path(path).relative_to(PACKAGES).as_posix()}:{line}"


def _cpu_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.machine()
