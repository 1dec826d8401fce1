"""Resources of a compiled kernel: from Triton's bundled tools, or from the binary itself.

Triton's own compile reports them, too (`core.worker.kernel_tools.triton_ladder`), but not for a cached binary.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from core.code.resources import Resources, amd_resources, cubin_usage, ptxas_resources

TOOL_LIMIT_S = 60


def resources(binary: Any) -> Resources:
    """Return the resources of a `CompiledKernel` for NVIDIA or AMD; raises RuntimeError with the tool's message."""
    if "amdgcn" not in binary.asm:
        return _of_cubin(binary)
    usage = amd_resources(binary.asm["amdgcn"], int(binary.metadata.shared))
    if usage is None:
        raise RuntimeError("the assembly's notes tell no register count")
    return usage


def _of_cubin(binary: Any) -> Resources:
    """Return the resources of a cubin.

    Only a kernel with a stack can have spills, and `ptxas -v` separates them from other stack.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(binary.asm["cubin"])
        usage = cubin_usage(_run([_tool("cuobjdump"), "-res-usage", str(path)]))
        if usage is None:
            raise RuntimeError("cuobjdump told no register count")
        registers, stack = usage
        stores, loads = _spills(binary.asm["ptx"], binary.metadata.name, Path(folder)) if stack else (0, 0)
        return Resources(registers, int(binary.metadata.shared), stores, loads, local_bytes=stack)


def _spills(ptx: str, kernel: str, folder: Path) -> tuple[int | None, int | None]:
    """Bytes of stores and of loads, as the assembler says them."""
    path = folder / "kernel.ptx"
    path.write_text(ptx)
    architecture = re.search(r"^\.target (\w+)", ptx, re.MULTILINE)
    assert architecture is not None
    command = [_assembler(architecture.group(1)), "-v", f"--gpu-name={architecture.group(1)}", str(path)]
    usage = ptxas_resources(_run([*command, "-o", str(folder / "x")]), kernel, 0)
    return (usage.spill_store_bytes, usage.spill_load_bytes) if usage else (None, None)


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
