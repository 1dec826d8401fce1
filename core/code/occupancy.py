"""Theoretical occupancy: the part of a multiprocessor's warps that a kernel's registers, shared memory and blocks
allow.

NVIDIA: the arithmetic of the CUDA Occupancy Calculator (docs.nvidia.com/nsight-compute, Occupancy Calculator):
registers are allocated per warp in units of 256 and for four warps at a time, shared memory per block in units of 128
bytes on top of 1 KiB for the system. AMD CDNA3: a SIMD's lane has 512 vector registers, allocated in units of 8, and
holds 8 waves at most; local data share is allocated in units of 512 bytes (rocm.docs.amd.com, ROCm Compute Profiler,
"Occupancy").
"""

from __future__ import annotations

from dataclasses import dataclass

from core.job.targets import Architecture

KIB = 1024
WARP_REGISTERS_UNIT, WARPS_UNIT = 256, 4
SHARED_UNIT, SHARED_RESERVED = 128, KIB
AMD_REGISTERS, AMD_REGISTERS_UNIT, AMD_WAVES, AMD_SIMDS, AMD_SHARED_UNIT = 512, 8, 8, 4, 512


@dataclass(frozen=True, slots=True)
class Residency:
    """Blocks and warps on one multiprocessor at a time; `share` is the part of its maximum warps, 0 to 1.

    `limit` is the limiting resource: registers, shared memory, warps or blocks.
    """

    blocks: int
    warps: int
    share: float
    limit: str


def occupancy(architecture: Architecture, warps: int, registers: int | None, shared_bytes: int | None) -> float | None:
    """Return the part of a multiprocessor's warps that blocks of so many warps can fill, 0 to 1; None if unknown."""
    if registers is None or shared_bytes is None or warps < 1:
        return None
    return residency(architecture, warps, registers, shared_bytes).share


def residency(architecture: Architecture, warps: int, registers: int, shared_bytes: int) -> Residency:
    """Return how many blocks fit on a multiprocessor: `registers` per thread, `warps` and `shared_bytes` per block."""
    most_warps = architecture.max_threads_per_multi_processor // architecture.warp_size
    limits = {
        "warps": most_warps // warps,
        "registers": _warps_by_registers(registers, architecture, most_warps) // warps,
        "blocks": architecture.max_blocks_per_multi_processor,
        "shared memory": _blocks_by_shared_memory(shared_bytes, architecture),
    }
    limit, blocks = min(limits.items(), key=lambda entry: entry[1])
    return Residency(blocks, blocks * warps, blocks * warps / most_warps, limit)


def _warps_by_registers(registers: int, architecture: Architecture, most_warps: int) -> int:
    if registers == 0:
        return most_warps
    if architecture.backend == "hip":
        waves = min(AMD_WAVES, AMD_REGISTERS // _up(registers, AMD_REGISTERS_UNIT))
        return waves * AMD_SIMDS
    of_a_warp = _up(registers * architecture.warp_size, WARP_REGISTERS_UNIT)
    return architecture.regs_per_multiprocessor // of_a_warp // WARPS_UNIT * WARPS_UNIT


def _blocks_by_shared_memory(shared_bytes: int, architecture: Architecture) -> int:
    if architecture.backend == "hip":
        used_bytes = _up(shared_bytes, AMD_SHARED_UNIT)
    else:
        used_bytes = _up(shared_bytes + SHARED_RESERVED, SHARED_UNIT)
    most = architecture.max_blocks_per_multi_processor
    return min(most, architecture.shared_memory_per_multiprocessor // used_bytes) if used_bytes else most


def _up(number: int, unit: int) -> int:
    return -(-number // unit) * unit
