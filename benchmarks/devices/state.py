"""State of the device while it is measured: clocks, power, and reasons for lower clocks."""

from __future__ import annotations

import contextlib
import importlib
import os
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

SAMPLED_S = 0.5  # seconds between two looks at the clocks
MOST_SAMPLES = 2_000
# Reasons of NVML for lower clocks (nvml.h, nvmlClocksEventReasons): the hardware's, and the power limit.
SLOWDOWNS = {"hw_slowdown": 0x8, "sw_thermal": 0x20, "hw_thermal": 0x40, "hw_power_brake": 0x80}
POWER_CAP = 0x4
REFUSED_FROM = 0.02  # part of the samples with a slowdown above which the file is refused


def smi(fields: str) -> str:
    """Return fields of nvidia-smi; empty if it does not answer."""
    command = ["nvidia-smi", f"--id={visible()}", f"--query-gpu={fields}", "--format=csv,noheader"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
    return ""


def visible() -> int:
    """Return the index of the first device that this process sees."""
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0]
    return int(first) if first.isdecimal() else 0


class Clocks:
    """Samples of clocks, power, temperature and reasons for lower clocks, by NVML or nvidia-smi."""

    def __init__(self) -> None:
        self.samples: list[list[float]] = []
        self._end = threading.Event()
        self._nvml: Any = None
        with contextlib.suppress(Exception):
            nvml: Any = importlib.import_module("pynvml")
            nvml.nvmlInit()
            self._nvml, self._handle = nvml, nvml.nvmlDeviceGetHandleByIndex(visible())

    @contextlib.contextmanager
    def sampling(self) -> Iterator[Clocks]:
        """Sample in a thread while the context lasts."""
        thread = threading.Thread(target=self._run, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._end.set()
            thread.join(timeout=30)

    def _run(self) -> None:
        start = time.monotonic()
        while not self._end.wait(SAMPLED_S if self._nvml else 5 * SAMPLED_S) and len(self.samples) < MOST_SAMPLES:
            with contextlib.suppress(Exception):
                self.samples.append([round(time.monotonic() - start, 1), *self._look()])

    def _look(self) -> list[float]:
        """Return SM and memory clock in MHz, power in watts, temperature in °C, and the reasons."""
        if self._nvml is None:
            asked = "clocks.sm,clocks.mem,power.draw,temperature.gpu,clocks_event_reasons.active"
            *numbers, reasons = [part.split()[0] for part in smi(asked).split(", ")]
            return [*map(float, numbers), int(reasons, 16)]
        nvml, handle = self._nvml, self._handle
        reasons_of = getattr(nvml, "nvmlDeviceGetCurrentClocksEventReasons", None)
        reasons_of = reasons_of or nvml.nvmlDeviceGetCurrentClocksThrottleReasons
        return [
            nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM),
            nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM),
            nvml.nvmlDeviceGetPowerUsage(handle) / 1e3,
            nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU),
            int(reasons_of(handle)),
        ]


def refusal(samples: Sequence[Sequence[float]]) -> str:
    """Return why the device's times must not be used; empty if it did not slow down.

    The power limit is no reason: it is the device's normal state in large products.
    """
    if not samples:
        return "the clocks could not be read"
    parts = {
        name: sum(bool(int(sample[-1]) & bit) for sample in samples) / len(samples) for name, bit in SLOWDOWNS.items()
    }
    slow = [f"{name} in {part:.0%} of the samples" for name, part in parts.items() if part > REFUSED_FROM]
    return f"the device was throttled: {', '.join(slow)}" if slow else ""
