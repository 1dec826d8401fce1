"""Questions over the forms of a kernel: what two of them differ in, and what its machine code takes of a device.

Resources come from `ptxas -v` and from the metadata at the end of AMD's assembly:

    ptxas info    : Used 22 registers, used 1 barriers, 128 bytes smem
        0 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads

        .sgpr_count:     21
        .vgpr_spill_count: 0
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.targets import Architecture

CONTEXT = 3
MAX_DIFF_LINES = 4_000
MAX_DIFFED_LINES = 12_000
PTXAS_FUNCTION = re.compile(r"Compiling entry function '([^']+)'")
REGISTERS = re.compile(r"Used (\d{1,9}) registers")
STATIC_SHARED = re.compile(r"(\d{1,9}) bytes smem")
STACK = re.compile(r"(\d{1,9}) bytes stack frame, (\d{1,9}) bytes spill stores, (\d{1,9}) bytes spill loads")
AMD = re.compile(
    r"^\s*\.(sgpr_count|vgpr_count|vgpr_spill_count|private_segment_fixed_size|group_segment_fixed_size):\s*(\d{1,9})",
    re.MULTILINE,
)
LOCATION = re.compile(r" ?loc\((?:[^()\"]|\"[^\"]*\"|\((?:[^()\"]|\"[^\"]*\")*\))*\)")
LOCATION_ENTRY = re.compile(r"^#loc\d* = .*\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Resources:
    """What one config takes, as ptxas or the AMD metadata say it; None where the tool does not say.

    Registers are per thread, shared memory per block in bytes (static and dynamic together); spills are bytes on NVIDIA
    and registers on AMD. `occupancy` is theoretical, 0 to 1, for blocks of `warps` warps.
    """

    registers: int | None
    shared_bytes: int | None
    spill_stores: int | None = None
    spill_loads: int | None = None
    scalar_registers: int | None = None
    stack_bytes: int | None = None
    warps: int | None = None
    occupancy: float | None = None


@dataclass(frozen=True, slots=True)
class TextDiff:
    """A unified diff, with how many lines were added and removed in all; `left_out` lines of it are not shown."""

    text: str
    added: int
    removed: int
    left_out: int


def diff_texts(one: str, other: str, one_name: str, other_name: str, limit: int = MAX_DIFF_LINES) -> TextDiff:
    """What changed from one text to another; where more than `MAX_DIFFED_LINES` lie between the first and the last
    change, all of them.
    """
    lines = list(_unified(one.splitlines(), other.splitlines(), one_name, other_name))
    added = sum(line.startswith("+") for line in lines[2:])
    removed = sum(line.startswith("-") for line in lines[2:])
    return TextDiff("\n".join(lines[:limit]), added, removed, max(0, len(lines) - limit))


def without_locations(module: str) -> str:
    """A module in MLIR's text without its debug locations, which change with every line."""
    return LOCATION.sub("", LOCATION_ENTRY.sub("", module)).strip()


def _unified(one: Sequence[str], other: Sequence[str], one_name: str, other_name: str) -> Iterator[str]:
    """`difflib.unified_diff` between the first and the last line that differ: its time grows with their number
    squared.
    """
    start = _common(one, other)
    end = _common(one[start:][::-1], other[start:][::-1])
    first = max(0, start - CONTEXT)
    keep = max(0, end - CONTEXT)
    left, right = one[first : len(one) - keep], other[first : len(other) - keep]
    if not start < max(len(one), len(other)) - end:
        return
    if max(len(left), len(right)) > MAX_DIFFED_LINES:
        yield from (f"--- {one_name}", f"+++ {other_name}", f"@@ -{first + 1},{len(left)} +{first + 1},{len(right)} @@")
        yield from (f"-{line}" for line in left)
        yield from (f"+{line}" for line in right)
        return
    for line in difflib.unified_diff(left, right, one_name, other_name, n=CONTEXT, lineterm=""):
        yield _moved(line, first) if line.startswith("@@") else line


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = zip(one, other, strict=False)
    return next((index for index, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))


def _moved(header: str, lines: int) -> str:
    """A hunk's header, whose line numbers count from the first line that was compared."""
    return re.sub(r"([-+])(\d{1,9})", lambda match: f"{match.group(1)}{int(match.group(2)) + lines}", header)


def ptxas_resources(log: str, kernel: str, dynamic_shared_bytes: int) -> Resources | None:
    """The figures of a kernel in the words of `ptxas -v`; None if they are not there."""
    part = log
    for match in PTXAS_FUNCTION.finditer(log):
        if match.group(1) == kernel:
            part = log[match.end() :].split("Compiling entry function")[0]
    registers, stack, shared = REGISTERS.search(part), STACK.search(part), STATIC_SHARED.search(part)
    if registers is None:
        return None
    static = int(shared.group(1)) if shared else 0
    return Resources(
        registers=int(registers.group(1)),
        shared_bytes=static + dynamic_shared_bytes,
        spill_stores=int(stack.group(2)) if stack else None,
        spill_loads=int(stack.group(3)) if stack else None,
        stack_bytes=int(stack.group(1)) if stack else None,
    )


def amd_resources(assembly: str, dynamic_shared_bytes: int) -> Resources | None:
    """The figures of a kernel in the metadata of AMD's assembly; None if they are not there."""
    found = {name: int(value) for name, value in AMD.findall(assembly)}
    if "vgpr_count" not in found:
        return None
    return Resources(
        registers=found["vgpr_count"],
        shared_bytes=max(found.get("group_segment_fixed_size", 0), dynamic_shared_bytes),
        spill_stores=found.get("vgpr_spill_count"),
        scalar_registers=found.get("sgpr_count"),
        stack_bytes=found.get("private_segment_fixed_size"),
    )


def too_large(resources: Resources, device: Architecture | None) -> str:
    """Why a kernel cannot be launched on a device; empty if it can, as far as is known."""
    if device is None or resources.shared_bytes is None:
        return ""
    most = device.shared_memory_per_block_optin
    if resources.shared_bytes <= most:
        return ""
    return f"it needs {resources.shared_bytes:,} bytes of shared memory a block; the target allows {most:,}"
