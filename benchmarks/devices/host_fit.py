"""CPU times of calls and launches, fitted to whole calls of published test models.

A call that launches small kernels takes the CPU's time until it returns: of the call itself, and of each launch. The
small batches and the compiled calls of `measured/h200-calls.json` show it; the interval is that of models which a fit
did not see. Eager calls that the device limits show by how much eager's kernels take longer than predicted.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.analysis.kernels.predicted import CallLaunches, Parameters, Way, host_s

CALLS = Path(__file__).parent / "measured" / "h200-calls.json"
START = {
    "call_s": 1e-4,
    "launch_s": 2e-5,
    "library_s": 3e-5,
    "convolution_s": 6e-5,
    "training_s": 1e-3,
    "eager_s": 2e-5,
    "eager_library_s": 4e-5,
    "eager_convolution_s": 6e-5,
    "eager_training": 2.0,
    "replay_s": 2e-4,
    "replay_training_s": 1e-3,
}
FULL_QUEUE_US = 15.0  # from this time on, a kernel's successor waits in the device's queue
DEVICE_LIMITS = 1.25  # a call's time over the CPU's from which on the device limits it
LEAST_FACTOR = 1.5  # of the interval, since hosts differ
ROUNDS = 20


@dataclass(frozen=True, slots=True)
class HostRow:
    """A measured call: its launches, and the CPU's seconds until it returned."""

    model: str
    way: Way
    launches: CallLaunches
    seconds: float
    weight: float = 1.0

    def error(self, parameters: Parameters) -> float:
        """The logarithm of measured over predicted."""
        return math.log(self.seconds / host_s(self.way, self.launches, parameters))


def host_rows(data: Mapping[str, Any]) -> Iterator[HostRow]:
    """Yield the calls of a file of whole calls, each with the shorter of its batches' CPU times."""
    for model, facts in data["models"].items():
        for way, launches in facts["launches"].items():
            times = [row["cpu_us"] for row in facts["calls"] if row["way"] == way and "cpu_us" in row]
            if times:
                yield HostRow(model, way, CallLaunches(**launches), min(times) * 1e-6)


def eager_device(data: Mapping[str, Any]) -> float:
    """Return measured over predicted seconds of eager's kernels, the median of calls that they limit."""
    ratios = [
        row["each_us"] / facts["eager_device_us"]
        for facts in data["models"].values()
        for row in facts["calls"]
        if row["way"] == "eager" and row["batch"] == "large" and row["each_us"] > DEVICE_LIMITS * row["cpu_us"]
    ]
    return float(f"{statistics.median(ratios):.4g}")


def gaps(data: Mapping[str, Any]) -> dict[str, float]:
    """Return the device's seconds between kernels of a stream, and of a CUDA graph."""
    stream = statistics.median(_gaps(data))
    graph = statistics.median(
        row["gap_us"] for row in data["launches"] if row["way"] == "reduce-overhead" and row["launched"] > 1
    )
    return {"gap_s": float(f"{stream * 1e-6:.4g}"), "graph_gap_s": float(f"{graph * 1e-6:.4g}")}


def _gaps(data: Mapping[str, Any]) -> Iterator[float]:
    """Yield µs between the kernels of one call, if they are so long that the next one waits."""
    for records in data["groups"].values():
        for record in records:
            times = [kernel["warm_us"] for kernel in record.get("kernels", ())]
            if len(times) > 1 and "span_us" in record and min(times[:-1]) > FULL_QUEUE_US:
                yield (record["span_us"] - sum(times)) / (len(times) - 1)


def read_calls() -> dict[str, Any]:
    """Return the file of whole calls."""
    data: dict[str, Any] = json.loads(CALLS.read_text())
    return data
