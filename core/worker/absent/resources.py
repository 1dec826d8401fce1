"""What a compiled kernel uses: registers and spills, by the tools that come with Triton or the binary's own notes."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOOL_LIMIT_S = 60
USAGE = re.compile(r"REG:(\d+) STACK:(\d+)")
SPILLS = re.compile(r"(\d+) bytes spill stores")
AMD_NOTE = r"\.{name}:\s+(\d+)"


@dataclass(frozen=True, slots=True)
class Resources:
    """Registers of a thread (for AMD vector registers, accumulators included) and bytes that it spills to memory.

    `local_bytes` is all of a thread's local memory, spills and other stack, which the driver does not tell apart.
    """

    registers: int
    spill_bytes: int
    local_bytes: int


def resources(binary: Any) -> Resources:
    """Of a `CompiledKernel` for NVIDIA or AMD; raises RuntimeError with the tool's words."""
    if "amdgcn" in binary.asm:
        return _of_amdgcn(binary.asm["amdgcn"])
    return _of_cubin(binary.asm["cubin"], binary.asm["ptx"])


def _of_amdgcn(text: str) -> Resources:
    """From the metadata that LLVM writes at the end of the assembly; a spilled register is 4 bytes."""

    def note(name: str) -> int:
        found = re.findall(AMD_NOTE.format(name=name), text)
        return int(found[-1]) if found else 0

    return Resources(note("vgpr_count"), 4 * note("vgpr_spill_count"), note("private_segment_fixed_size"))


def _of_cubin(cubin: bytes, ptx: str) -> Resources:
    """From the cubin; only a kernel with a stack can have spills, and `ptxas -v` tells them from other stack."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        usage = USAGE.search(_run([_tool("cuobjdump"), "-res-usage", str(path)]))
        if usage is None:
            raise RuntimeError("cuobjdump told no register count")
        registers, stack = int(usage.group(1)), int(usage.group(2))
        return Resources(registers, _spill_bytes(ptx, Path(folder)) if stack else 0, stack)


def _spill_bytes(ptx: str, folder: Path) -> int:
    path = folder / "kernel.ptx"
    path.write_text(ptx)
    architecture = re.search(r"^\.target (\w+)", ptx, re.MULTILINE)
    assert architecture is not None
    command = [_assembler(architecture.group(1)), "-v", f"--gpu-name={architecture.group(1)}", str(path)]
    told = _run([*command, "-o", str(folder / "x")])
    return sum(int(number) for number in SPILLS.findall(told))


def _assembler(architecture: str) -> str:
    """The `ptxas` that Triton takes for an architecture: its wheel has two."""
    from triton.backends.nvidia.compiler import get_ptxas

    return str(get_ptxas(int(re.sub(r"\D", "", architecture))).path)


def _tool(name: str) -> str:
    import triton

    return str(Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / name)


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=TOOL_LIMIT_S, check=False)
    if done.returncode:
        raise RuntimeError(f"{Path(command[0]).name}: {(done.stderr or done.stdout).strip()[:2000]}")
    return done.stdout + done.stderr
