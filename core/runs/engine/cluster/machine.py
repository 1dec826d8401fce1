"""The machine of a host: its devices as assignments and locks name them, and what decides what is measured there."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import psutil

from core.base.files import one_line, read_line
from core.base.machine import package_version

GIB = 1024**3
MOST_KIND_CHARS = 2_000
# Directory of the kernel's modules, and those that are drivers of accelerators.
MODULES, DRIVERS = Path("/sys/module"), ("nvidia", "amdgpu", "i915", "xe")
MOST_VERSION_CHARS = 80


def device_of(name: str) -> str:
    """Return a device as assignments name it: `cuda:0` for `cuda`."""
    return name if name == "cpu" or ":" in name else f"{name}:0"


def physical(device: str) -> str:
    """Return a device's name in the locks that hosts of one machine share; each host may see other cards."""
    kind, _, index = device.partition(":")
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "") if kind == "cuda" else ""
    cards = [card.strip() for card in visible.split(",") if card.strip()]
    if not index or int(index) >= len(cards):
        return device
    card = cards[int(index)]
    return f"cuda:{card}" if card.isdigit() else f"cuda:{hashlib.sha256(card.encode()).hexdigest()[:8]}"


def drivers(modules: Path = MODULES) -> str:
    """Return the kernel's drivers of accelerators with their versions, such as `nvidia 535.104.05`.

    A driver that is part of the kernel has the kernel's version.
    """
    found = []
    for name in DRIVERS:
        if not (modules / name).is_dir():
            continue
        version = ""
        with contextlib.suppress(OSError):
            version = one_line(read_line(modules / name / "version", MOST_VERSION_CHARS), MOST_VERSION_CHARS)
        found.append(f"{name} {version or os.uname().release}")
    return ", ".join(found)


def kind_of(devices: Mapping[str, str], torch: str) -> str:
    """Return the hardware and versions that decide what is measured, in words; drivers where there is a card."""
    memory = round(psutil.virtual_memory().total / GIB)
    size = f"{os.cpu_count()} CPUs, {memory} GiB"
    versions = (torch, package_version("triton"), *((drivers(),) if set(devices) - {"cpu"} else ()))
    named = (f"{name} {words}" for name, words in sorted(devices.items()))
    return "; ".join((*named, size, *versions))[:MOST_KIND_CHARS]
