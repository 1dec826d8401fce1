"""Target accelerators: code can be generated for each of them without the device.

To add a target, add one entry to `targets.toml`. Memory is in bytes, bandwidth in bytes per second, peaks in FLOP/s
without sparsity, clocks in MHz.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from core.base.decoder import toml_as

SIZE = re.compile(r"(\d+) ([KMG]iB)")
UNITS = {"KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}


@dataclass(frozen=True, slots=True)
class Architecture:
    """Limits that all devices of one architecture share, as the driver reports them.

    `arch` is Triton's name: the compute capability as a number (90), or AMD's name (gfx942). For AMD, a
    multiprocessor is a compute unit, shared memory is the local data share, and a warp is a wavefront.
    """

    backend: Literal["cuda", "hip"]
    arch: int | str
    major: int
    minor: int
    warp_size: int
    regs_per_multiprocessor: int
    max_threads_per_multi_processor: int
    max_blocks_per_multi_processor: int
    max_threads_per_block: int
    shared_memory_per_block: int
    shared_memory_per_block_optin: int
    shared_memory_per_multiprocessor: int
    source: str


@dataclass(frozen=True, slots=True)
class Target:
    """An accelerator: the properties that its driver would report, and the peaks of its datasheet.

    `peak_flops` has the peak of each dtype in the datasheet. `device_name` is the name that the driver reports, which
    Inductor looks up in a table; it is only set if this name differs from the title.
    """

    key: str
    title: str
    architecture: Architecture
    multi_processor_count: int
    max_clock_mhz: int
    l2_cache_bytes: int
    total_memory: int
    bandwidth: float
    peak_flops: dict[str, float]
    source: str
    device_name: str = ""

    @property
    def backend(self) -> str:
        """Return Triton's backend for the target: `cuda` or `hip`."""
        return self.architecture.backend

    @property
    def words(self) -> str:
        """Return the target in torch's and Triton's format: `cuda:sm_90`, `hip:gfx942`."""
        return architecture_words(self.backend, self.architecture.arch)


def architecture_words(backend: str, arch: int | str) -> str:
    """Return an architecture in torch's and Triton's format, with `sm_` before NVIDIA's numbers."""
    return f"{backend}:sm_{arch}" if backend == "cuda" else f"{backend}:{arch}"


def _value(value: Any) -> Any:
    """Return a value of the table, a size such as `40 MiB` in bytes."""
    size = SIZE.fullmatch(str(value))
    return int(size[1]) * UNITS[size[2]] if size else value


def _target(key: str, row: Mapping[str, Any]) -> Target:
    """Return a row of the table as a target; a dtype that the datasheet leaves out has no peak."""
    values = {name: _value(value) for name, value in row.items()}
    tera = values.pop("peaks")
    half = tera.pop("half")
    peaks = {dtype: value * 1e12 for dtype, value in {**tera, "bfloat16": half, "float16": half}.items()}
    return Target(key=key, **values | {"architecture": ARCHITECTURES[row["architecture"]], "peak_flops": peaks})


_table = toml_as(Path(__file__).with_name("targets.toml"), dict[str, dict[str, dict[str, Any]]])
ARCHITECTURES = {
    key: Architecture(**{name: _value(value) for name, value in row.items()})
    for key, row in _table["architectures"].items()
}
TARGETS = {key: _target(key, row) for key, row in _table["targets"].items()}
