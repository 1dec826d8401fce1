"""What this machine's torch can do: versions, devices, backends."""

from __future__ import annotations

import platform

import torch
import torch._dynamo

from core.machine import Environment, cpp_compiler
from core.worker.accelerator.register import register


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
    return Environment(
        torch=str(torch.__version__),
        python=platform.python_version(),
        devices={device: device_name(device) for device in devices()},
        backends=tuple(sorted(torch._dynamo.list_backends(exclude_tags=()))),
        compiler=cpp_compiler(),
    )


def _cpu_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.machine()
