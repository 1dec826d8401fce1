"""Compilation stages of a kernel: resources, theoretical occupancy, and Python source lines.

`ptxas -v` reports the resources when it assembles PTX, `cuobjdump -res-usage` for an existing cubin, and LLVM at the
end of AMD assembly:

    ptxas info    : Used 22 registers, used 1 barriers, 128 bytes smem
        0 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads

    Function triton_poi_fused_add_0:
     REG:22 STACK:0 SHARED:128 LOCAL:0 CONSTANT[0]:400 TEXTURE:0 SURFACE:0 SAMPLER:0

        .sgpr_count:     21
        .vgpr_spill_count: 0

Spills are counted in bytes. AMD's metadata counts spilled registers, of 4 bytes per lane.

Theoretical occupancy is the share of a multiprocessor's warps that a kernel's resources allow. NVIDIA
(docs.nvidia.com/nsight-compute, Occupancy Calculator) allocates registers per warp in units of 256 and for four warps
at a time, and shared memory per block in units of 128 bytes plus 1 KiB for the system. On AMD CDNA3, a SIMD's lane has
512 vector registers, allocated in units of 8, and at most 8 waves; local data share is allocated in units of 512 bytes
(rocm.docs.amd.com, ROCm Compute Profiler, "Occupancy").

The stages have these debug locations:

    MLIR        %1 = tt.load %0 loc(#loc7)          #loc7 = loc("/k.py":33:46)
    LLVM IR     %5 = load i32, ptr %4, !dbg !12     !12 = !DILocation(line: 33, column: 46, scope: !4)
    PTX, AMD    .loc 1 33 46    // k.py:33:46       (for inlined code, behind @[ … ])
    SASS        //## File "/k.py", line 33
    g++         .loc 1 33 4

Only the kernel's own file counts; an instruction inlined from another file belongs to the calling line, if known.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from core.base.words import number
from core.job.targets import Architecture

KIB = 1024
WARP_REGISTERS_UNIT, WARPS_UNIT = 256, 4
SHARED_UNIT, SHARED_RESERVED = 128, KIB
AMD_REGISTERS, AMD_REGISTERS_UNIT, AMD_WAVES, AMD_SIMDS, AMD_SHARED_UNIT = 512, 8, 8, 4, 512
AMD_REGISTER_BYTES = 4
PTXAS_FUNCTION = re.compile(r"Compiling entry function '([^']+)'")
REGISTERS = re.compile(r"Used (\d{1,9}) registers")
STATIC_SHARED = re.compile(r"(\d{1,9}) bytes smem")
STACK = re.compile(r"(\d{1,9}) bytes stack frame, (\d{1,9}) bytes spill stores, (\d{1,9}) bytes spill loads")
USAGE = re.compile(r"REG:(\d{1,9}) STACK:(\d{1,9})")
AMD = re.compile(
    r"^\s*\.(sgpr_count|vgpr_count|vgpr_spill_count|private_segment_fixed_size|group_segment_fixed_size):\s*(\d{1,9})",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Residency:
    """Blocks and warps that fit on one multiprocessor at the same time.

    `share` is the fraction of the multiprocessor's maximum warps, 0 to 1. `limit` is the limiting resource:
    registers, shared memory, warps or blocks.
    """

    blocks: int
    warps: int
    share: float
    limit: str


def occupancy(architecture: Architecture, warps: int, registers: int | None, shared_bytes: int | None) -> float | None:
    """Return the share of a multiprocessor's warps that can be resident at once; None if unknown."""
    if registers is None or shared_bytes is None or warps < 1:
        return None
    return residency(architecture, warps, registers, shared_bytes).share


def residency(architecture: Architecture, warps: int, registers: int, shared_bytes: int) -> Residency:
    """Return the blocks and warps that fit on a multiprocessor.

    `registers` are per thread; `warps` and `shared_bytes` are per block.
    """
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


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources of one config; None if the tool does not report a value.

    Registers are per thread (for AMD vector registers, accumulators included), shared memory per block (static
    and dynamic together). `local_bytes` is a thread's total local memory: spills and other stack. `occupancy` is
    theoretical, 0 to 1, for blocks of `warps` warps.
    """

    registers: int | None
    shared_bytes: int | None
    spill_store_bytes: int | None = None
    spill_load_bytes: int | None = None
    scalar_registers: int | None = None
    local_bytes: int | None = None
    warps: int | None = None
    occupancy: float | None = None


def ptxas_resources(log: str, kernel: str, dynamic_shared_bytes: int) -> Resources | None:
    """Return a kernel's resources from `ptxas -v` output; None if not reported."""
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
        spill_store_bytes=int(stack.group(2)) if stack else None,
        spill_load_bytes=int(stack.group(3)) if stack else None,
        local_bytes=int(stack.group(1)) if stack else None,
    )


def cubin_usage(output: str) -> tuple[int, int] | None:
    """Return registers and stack bytes from `cuobjdump -res-usage` output; None if not reported."""
    usage = USAGE.search(output)
    return (int(usage.group(1)), int(usage.group(2))) if usage else None


def amd_resources(assembly: str, dynamic_shared_bytes: int) -> Resources | None:
    """Return a kernel's resources from the metadata of AMD assembly; None if not reported."""
    fields = {name: int(value) for name, value in AMD.findall(assembly)}
    if "vgpr_count" not in fields:
        return None
    spilled = fields.get("vgpr_spill_count")
    return Resources(
        registers=fields["vgpr_count"],
        shared_bytes=max(fields.get("group_segment_fixed_size", 0), dynamic_shared_bytes),
        spill_store_bytes=None if spilled is None else AMD_REGISTER_BYTES * spilled,
        scalar_registers=fields.get("sgpr_count"),
        local_bytes=fields.get("private_segment_fixed_size"),
    )


def too_large(shared_bytes: int | None, device: Architecture | None) -> str:
    """Return why a kernel can't be launched on a device; empty if no reason is known."""
    if device is None or shared_bytes is None:
        return ""
    most = device.shared_memory_per_block_optin
    if shared_bytes <= most:
        return ""
    return f"it needs {number(shared_bytes)} bytes of shared memory a block; the target allows {number(most)}"


Lines = dict[int, int]

MLIR_ENTRY = re.compile(r"^(#loc\d*) = loc\((.*)\)$")
MLIR_USE = re.compile(r"loc\((#loc\d*|\"[^\"]*\":\d+:\d+)\)\s*$")
MLIR_PLACE = re.compile(r'"([^"]*)":(\d{1,9}):\d+')
LLVM_ENTRY = re.compile(r"^!(\d{1,9}) = (?:distinct )?!(DI\w+)\((.*)\)$")
LLVM_USE = re.compile(r"!dbg !(\d{1,9})")
LLVM_FILE = re.compile(r'filename: "([^"]*)"')
LLVM_NUMBER = re.compile(r"\bline: (\d{1,9})")
LLVM_LINK = re.compile(r"\b(scope|file|inlinedAt): !(\d{1,9})")
CHAIN = re.compile(r"([\w.+-]+):(\d{1,9}):\d+")
SASS_PLACE = re.compile(r'//## File "([^"]*)", line (\d{1,9})')
LOC = re.compile(r"^\s*\.loc\s+(\d{1,9})\s+(\d{1,9})")
FILE = re.compile(r'^\s*\.file\s+(\d{1,9})\s+(?:"([^"]*)"\s+)?"([^"]*)"')
MAX_DEPTH = 24  #: links from a location to its file


def mlir_lines(text: str, file: str) -> Lines:
    """Return row → source line for TTIR or TTGIR; `file` is the base name of the kernel's source."""
    rows = text.split("\n")
    table = {match.group(1): match.group(2) for row in rows if (match := MLIR_ENTRY.match(row))}
    resolved: dict[str, int | None] = {}

    def resolve(name: str, depth: int = 0) -> int | None:
        if name not in resolved and depth < MAX_DEPTH:
            resolved[name] = None
            resolved[name] = _mlir_line(table.get(name, ""), file, lambda inner: resolve(inner, depth + 1))
        return resolved.get(name)

    lines: Lines = {}
    for row_number, row in enumerate(rows, 1):
        use = MLIR_USE.search(row)
        if use is None or row.startswith("#loc"):
            continue
        place = use.group(1)
        line = resolve(place) if place.startswith("#") else _mlir_line(place, file, lambda _: None)
        if line is not None:
            lines[row_number] = line
    return lines


def _mlir_line(text: str, file: str, resolve: Callable[[str], int | None]) -> int | None:
    """Return the line of `file` at a location; None if unknown.

    If the location's own text does not name the file, use the first nested location with a line.
    """
    for path, line in MLIR_PLACE.findall(text):
        if _base(path) == file:
            return int(line)
    for name in re.findall(r"#loc\d*", text):
        line = resolve(name)
        if line is not None:
            return line
    return None


def llvm_lines(text: str, file: str) -> Lines:
    """Return row → source line for LLVM IR."""
    rows = text.split("\n")
    table = {match.group(1): match.group(3) for row in rows if (match := LLVM_ENTRY.match(row))}
    lines: Lines = {}
    for row_number, row in enumerate(rows, 1):
        use = LLVM_USE.search(row)
        if use is None:
            continue
        line = _llvm_line(use.group(1), table, file)
        if line is not None:
            lines[row_number] = line
    return lines


def _llvm_line(entry: str, table: dict[str, str], file: str) -> int | None:
    for _ in range(MAX_DEPTH):
        fields = table.get(entry, "")
        links = dict(LLVM_LINK.findall(fields))
        match = LLVM_NUMBER.search(fields)
        if match and _llvm_file(entry, table) == file:
            return int(match.group(1))
        if "inlinedAt" not in links:
            return None
        entry = links["inlinedAt"]
    return None


def _llvm_file(entry: str, table: dict[str, str]) -> str:
    for _ in range(MAX_DEPTH):
        fields = table.get(entry, "")
        name = LLVM_FILE.search(fields)
        if name:
            return _base(name.group(1))
        links = dict(LLVM_LINK.findall(fields))
        entry = links.get("file") or links.get("scope") or ""
    return ""


def comment_lines(text: str, file: str) -> Lines:
    """Return row → source line for PTX or AMD assembly.

    The comments of `.loc` contain the call sites of inlined code.
    """
    lines: Lines = {}
    current: int | None = None
    for row_number, row in enumerate(text.split("\n"), 1):
        if LOC.match(row):
            places = [int(line) for name, line in CHAIN.findall(row.partition(".loc")[2]) if name == file]
            current = places[0] if places else current if ":0:0" in row else None
        elif current and _is_instruction(row):
            lines[row_number] = current
    return lines


def sass_lines(text: str, file: str, ptx: str) -> Lines:
    """Return row → source line for SASS, which has no inlining data.

    An instruction inlined from another file gets the line of the call, if the PTX has only one such line.
    """
    callers = _callers(ptx, file)
    lines: Lines = {}
    current: int | None = None
    for row_number, row in enumerate(text.split("\n"), 1):
        place = SASS_PLACE.search(row)
        if place:
            name, line = _base(place.group(1)), int(place.group(2))
            current = line if name == file else callers.get((name, line))
        elif current and "/*" in row and ";" in row:
            lines[row_number] = current
    return lines


def without_places(text: str, lines: Lines) -> tuple[str, Lines]:
    """Return SASS without the comments that name files, and `lines` with the new row numbers."""
    rows: list[str] = []
    renumbered: Lines = {}
    for row_number, row in enumerate(text.split("\n"), 1):
        if SASS_PLACE.search(row):
            continue
        rows.append(row)
        if row_number in lines:
            renumbered[len(rows)] = lines[row_number]
    return "\n".join(rows), renumbered


def _callers(ptx: str, file: str) -> dict[tuple[str, int], int]:
    lines_by_place: dict[tuple[str, int], set[int]] = {}
    for row in ptx.split("\n"):
        chain = CHAIN.findall(row) if LOC.match(row) else []
        lines = [int(line) for name, line in chain if name == file]
        if chain and lines and chain[0][0] != file:
            lines_by_place.setdefault((chain[0][0], int(chain[0][1])), set()).add(lines[0])
    return {place: next(iter(callers)) for place, callers in lines_by_place.items() if len(callers) == 1}


def loc_lines(rows: Iterable[str], file: str) -> Lines:
    """Return row → source line for assembly of g++ or clang; inlined rows have that of the row before."""
    files: dict[str, str] = {}
    lines: Lines = {}
    current: int | None = None
    for row_number, row in enumerate(rows, 1):
        if match := FILE.match(row):
            files[match.group(1)] = _base(match.group(3))
        elif match := LOC.match(row):
            if files.get(match.group(1)) == file and match.group(2) != "0":
                current = int(match.group(2))
        elif current and _is_instruction(row):
            lines[row_number] = current
    return lines


def _is_instruction(row: str) -> bool:
    stripped = row.strip()
    return (
        bool(stripped) and not stripped.startswith((".", "//", ";", "#", "$", "}", "{")) and not stripped.endswith(":")
    )


def _base(path: str) -> str:
    return path.rsplit("/", 1)[-1]
