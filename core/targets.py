"""TARGETS: accelerators that code can be generated for without having one. Add a target with one line here.

What an architecture allows comes from the vendors' tables of capabilities, the rest from datasheets; `source` names them.
Memory is bytes, bandwidth bytes per second, peaks are FLOP/s without sparsity, clocks MHz.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

KIB, MIB, GIB = 1024, 1024**2, 1024**3
CUDA_GUIDE = "https://docs.nvidia.com/cuda/cuda-c-programming-guide/#compute-capabilities"


@dataclass(frozen=True, slots=True)
class Architecture:
    """What every device of one architecture has, as its driver reports it.

    `arch` is Triton's name of it: the compute capability as a number (90), or AMD's name (gfx942). For AMD a multiprocessor
    is a compute unit, shared memory its local data share, a warp a wavefront.
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


SM_80 = Architecture("cuda", 80, 8, 0, 32, 65536, 2048, 32, 1024, 48 * KIB, 163 * KIB, 164 * KIB, CUDA_GUIDE)
SM_89 = Architecture("cuda", 89, 8, 9, 32, 65536, 1536, 24, 1024, 48 * KIB, 99 * KIB, 100 * KIB, CUDA_GUIDE)
SM_90 = Architecture("cuda", 90, 9, 0, 32, 65536, 2048, 32, 1024, 48 * KIB, 227 * KIB, 228 * KIB, CUDA_GUIDE)
SM_100 = Architecture("cuda", 100, 10, 0, 32, 65536, 2048, 32, 1024, 48 * KIB, 227 * KIB, 228 * KIB, CUDA_GUIDE)
GFX942 = Architecture(
    "hip", "gfx942", 9, 4, 64, 65536, 2048, 32, 1024, 64 * KIB, 64 * KIB, 64 * KIB,
    "https://rocm.docs.amd.com/en/latest/reference/gpu-arch-specs.html",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    """One accelerator: what its driver would report, and what its datasheet promises.

    `peak_flops` is by dtype: float32 on the ordinary units, tfloat32 and the half precisions on the matrix units, float64
    on the faster of both. A dtype that the datasheet leaves out is missing. `device_name` is the driver's name of it, which
    Inductor looks up in a table, where that is not the title.
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
        """`cuda` or `hip`: which of Triton's backends compiles for it."""
        return self.architecture.backend

    @property
    def words(self) -> str:
        """The target as torch and Triton would write it: `cuda:sm_90`, `hip:gfx942`."""
        prefix = "sm_" if self.backend == "cuda" else ""
        return f"{self.backend}:{prefix}{self.architecture.arch}"


def _peak(f64: float | None, f32: float, tf32: float, half: float) -> dict[str, float]:
    """Peak TFLOP/s of a datasheet, as FLOP/s by dtype."""
    tera = {"float64": f64, "float32": f32, "tfloat32": tf32, "bfloat16": half, "float16": half}
    return {dtype: value * 1e12 for dtype, value in tera.items() if value is not None}


TARGETS: dict[str, Target] = {
    target.key: target
    for target in (
        Target(
            "a100", "NVIDIA A100", SM_80, 108, 1410, 40 * MIB, 80 * GIB, 2.039e12, _peak(19.5, 19.5, 156, 312),
            "NVIDIA A100 datasheet (SXM, 80 GB): https://www.nvidia.com/en-us/data-center/a100/", "NVIDIA A100-SXM4-80GB",
        ),
        Target(
            "h100", "NVIDIA H100", SM_90, 132, 1980, 50 * MIB, 80 * GIB, 3.35e12, _peak(67, 67, 494.5, 989.5),
            "NVIDIA H100 datasheet (SXM): https://www.nvidia.com/en-us/data-center/h100/", "NVIDIA H100 80GB HBM3",
        ),
        Target(
            "h200", "NVIDIA H200", SM_90, 132, 1980, 60 * MIB, 150_109_880_320, 4.8e12, _peak(67, 67, 494.5, 989.5),
            "NVIDIA H200 datasheet (SXM): https://www.nvidia.com/en-us/data-center/h200/; L2 and memory: its driver",
        ),
        Target(
            "b200", "NVIDIA B200", SM_100, 148, 1965, 126 * MIB, 180 * GIB, 8e12, _peak(37, 75, 1125, 2250),
            "NVIDIA DGX B200 datasheet, an eighth: https://www.nvidia.com/en-us/data-center/dgx-b200/; SMs and L2: deviceQuery",
        ),
        Target(
            "l4", "NVIDIA L4", SM_89, 58, 2040, 48 * MIB, 24 * GIB, 0.3e12, _peak(None, 30.3, 60, 121),
            "NVIDIA L4 datasheet: https://www.nvidia.com/en-us/data-center/l4/",
        ),
        Target(
            "rtx4090", "NVIDIA GeForce RTX 4090", SM_89, 128, 2520, 72 * MIB, 24 * GIB, 1.008e12, _peak(1.29, 82.6, 82.6, 165.2),
            "NVIDIA Ada GPU architecture whitepaper, appendix A: "
            "https://images.nvidia.com/aem-dam/Solutions/geforce/ada/nvidia-ada-gpu-architecture.pdf",
        ),
        Target(
            "mi300x", "AMD Instinct MI300X", GFX942, 304, 2100, 4 * MIB, 192 * GIB, 5.3e12, _peak(163.4, 163.4, 653.7, 1307.4),
            "AMD Instinct MI300X data sheet: https://www.amd.com/en/products/accelerators/instinct/mi300/mi300x.html",
        ),
    )
}  # fmt: skip
