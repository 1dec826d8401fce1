"""Target accelerators: code can be generated for each of them without the device.

To add a target, add one entry to the table. Limits of an architecture are from the vendors' capability
tables, other values from datasheets; `source` names the source. Memory is in bytes, bandwidth in bytes per
second, peaks in FLOP/s without sparsity, clocks in MHz.
"""

from dataclasses import dataclass, replace
from typing import Literal

KIB, MIB, GIB = 1024, 1024**2, 1024**3
CUDA_GUIDE = "https://docs.nvidia.com/cuda/cuda-c-programming-guide/#compute-capabilities"


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


SM_80 = Architecture(
    backend="cuda",
    arch=80,
    major=8,
    minor=0,
    warp_size=32,
    regs_per_multiprocessor=65536,
    max_threads_per_multi_processor=2048,
    max_blocks_per_multi_processor=32,
    max_threads_per_block=1024,
    shared_memory_per_block=48 * KIB,
    shared_memory_per_block_optin=163 * KIB,
    shared_memory_per_multiprocessor=164 * KIB,
    source=CUDA_GUIDE,
)
SM_89 = replace(
    SM_80,
    arch=89,
    minor=9,
    max_threads_per_multi_processor=1536,
    max_blocks_per_multi_processor=24,
    shared_memory_per_block_optin=99 * KIB,
    shared_memory_per_multiprocessor=100 * KIB,
)
SM_90 = replace(
    SM_80,
    arch=90,
    major=9,
    shared_memory_per_block_optin=227 * KIB,
    shared_memory_per_multiprocessor=228 * KIB,
)
SM_100 = replace(SM_90, arch=100, major=10)
GFX942 = Architecture(
    backend="hip",
    arch="gfx942",
    major=9,
    minor=4,
    warp_size=64,
    regs_per_multiprocessor=65536,
    max_threads_per_multi_processor=2048,
    max_blocks_per_multi_processor=32,
    max_threads_per_block=1024,
    shared_memory_per_block=64 * KIB,
    shared_memory_per_block_optin=64 * KIB,
    shared_memory_per_multiprocessor=64 * KIB,
    source="https://rocm.docs.amd.com/en/latest/reference/gpu-arch-specs.html",
)


@dataclass(frozen=True, slots=True)
class Target:
    """An accelerator: the properties that its driver would report, and the peaks of its datasheet.

    `peak_flops` has the peak of each dtype in the datasheet. float32 uses the ordinary units; tfloat32 and the
    half precisions use the matrix units; float64 uses the faster of both. `device_name` is the name that the driver
    reports, which Inductor looks up in a table; it is only set if this name differs from the title.
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


def peaks(*, float64: float | None, float32: float, tfloat32: float, half: float) -> dict[str, float]:
    """Return the peaks in FLOP/s by dtype, from the TFLOP/s of a datasheet.

    `half` is the peak of bfloat16 and float16. A dtype with the peak None is left out.
    """
    tera = {"float64": float64, "float32": float32, "tfloat32": tfloat32, "bfloat16": half, "float16": half}
    return {dtype: value * 1e12 for dtype, value in tera.items() if value is not None}


TARGETS: dict[str, Target] = {
    target.key: target
    for target in (
        Target(
            key="a100",
            title="NVIDIA A100",
            architecture=SM_80,
            multi_processor_count=108,
            max_clock_mhz=1410,
            l2_cache_bytes=40 * MIB,
            total_memory=80 * GIB,
            bandwidth=2.039e12,
            peak_flops=peaks(float64=19.5, float32=19.5, tfloat32=156, half=312),
            source="NVIDIA A100 datasheet (SXM, 80 GB): https://www.nvidia.com/en-us/data-center/a100/",
            device_name="NVIDIA A100-SXM4-80GB",
        ),
        Target(
            key="h100",
            title="NVIDIA H100",
            architecture=SM_90,
            multi_processor_count=132,
            max_clock_mhz=1980,
            l2_cache_bytes=50 * MIB,
            total_memory=80 * GIB,
            bandwidth=3.35e12,
            peak_flops=peaks(float64=67, float32=67, tfloat32=494.5, half=989.5),
            source="NVIDIA H100 datasheet (SXM): https://www.nvidia.com/en-us/data-center/h100/",
            device_name="NVIDIA H100 80GB HBM3",
        ),
        Target(
            key="h200",
            title="NVIDIA H200",
            architecture=SM_90,
            multi_processor_count=132,
            max_clock_mhz=1980,
            l2_cache_bytes=60 * MIB,
            total_memory=150_109_880_320,
            bandwidth=4.8e12,
            peak_flops=peaks(float64=67, float32=67, tfloat32=494.5, half=989.5),
            source="NVIDIA H200 datasheet (SXM): https://www.nvidia.com/en-us/data-center/h200/; L2 and memory: its "
            "driver",
        ),
        Target(
            key="b200",
            title="NVIDIA B200",
            architecture=SM_100,
            multi_processor_count=148,
            max_clock_mhz=1965,
            l2_cache_bytes=126 * MIB,
            total_memory=180 * GIB,
            bandwidth=8e12,
            peak_flops=peaks(float64=37, float32=75, tfloat32=1125, half=2250),
            source=(
                "NVIDIA DGX B200 datasheet, an eighth: https://www.nvidia.com/en-us/data-center/dgx-b200/; "
                "SMs and L2: deviceQuery"
            ),
        ),
        Target(
            key="l4",
            title="NVIDIA L4",
            architecture=SM_89,
            multi_processor_count=58,
            max_clock_mhz=2040,
            l2_cache_bytes=48 * MIB,
            total_memory=24 * GIB,
            bandwidth=0.3e12,
            peak_flops=peaks(float64=None, float32=30.3, tfloat32=60, half=121),
            source="NVIDIA L4 datasheet: https://www.nvidia.com/en-us/data-center/l4/",
        ),
        Target(
            key="rtx4090",
            title="NVIDIA GeForce RTX 4090",
            architecture=SM_89,
            multi_processor_count=128,
            max_clock_mhz=2520,
            l2_cache_bytes=72 * MIB,
            total_memory=24 * GIB,
            bandwidth=1.008e12,
            peak_flops=peaks(float64=1.29, float32=82.6, tfloat32=82.6, half=165.2),
            source=(
                "NVIDIA Ada GPU architecture whitepaper, appendix A: "
                "https://images.nvidia.com/aem-dam/Solutions/geforce/ada/nvidia-ada-gpu-architecture.pdf"
            ),
        ),
        Target(
            key="mi300x",
            title="AMD Instinct MI300X",
            architecture=GFX942,
            multi_processor_count=304,
            max_clock_mhz=2100,
            l2_cache_bytes=4 * MIB,
            total_memory=192 * GIB,
            bandwidth=5.3e12,
            peak_flops=peaks(float64=163.4, float32=163.4, tfloat32=653.7, half=1307.4),
            source=(
                "AMD Instinct MI300X data sheet: "
                "https://www.amd.com/en/products/accelerators/instinct/mi300/mi300x.html"
            ),
        ),
    )
}
