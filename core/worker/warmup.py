"""Work done once before all runs: resolve MKL's functions, and precompile Inductor's C++ header.

Precompiling the header takes 10–18 s the first time on a machine, and runs while the user is still
choosing. Two functions of torch are wrapped for all runs: one rebuilds broken object files, the other
processes each header only once.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch._inductor import codecache
from torch.utils._filelock import FileLock

from core.base.files import regular

# Functions that ATen calls in MKL's vector math: IMPLEMENT_VML_MKL in its header vml.h.
VECTOR_MATH = (
    *("acos", "asin", "atan", "cos", "erf", "erfc", "erfinv", "exp", "log", "log10", "log2"),
    *("sin", "sqrt", "tan", "tanh", "trunc"),
)
# A header with the compiler's options → its file: what this process, or one it was forked from, has precompiled.
HEADERS: dict[str, str] = {}
ELF_HEADER_BYTES = 64
# Suffixes of a precompiled header, `x.h.gch`, and of the directory in which torch builds it, `x.h_CxxBuild`.
HEADER, BUILD = ".gch", "_CxxBuild"
# Place of the section headers in a file of 64 bits: their offset, the size of each, and their number.
SECTIONS = ((40, 48), (58, 60), (60, 62))


def resolve_vector_math() -> None:
    """Call each function of MKL's vector math once, so that forked processes inherit MKL's choice.

    MKL chooses a function's kernel at its first call. If several threads make that call at once, one of them
    may use a kernel of low accuracy for its part (pytorch/pytorch issue 188792). The calls have one element, so
    they use one thread.
    """
    for dtype in (torch.float32, torch.float64):
        value = torch.full((1,), 0.5, dtype=dtype)
        for name in VECTOR_MATH:
            getattr(value, name)()


def warm_up() -> dict[str, str]:
    """Compile the smallest possible C++ kernel; return `HEADERS`, the headers that it precompiled."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    torch.compile(lambda x: x.sin() + 1)(torch.ones(64))
    return HEADERS


def remember_headers() -> None:
    """Have torch preprocess and hash each header once, not in each run; this saves 0.2 s of CPU time."""
    precompile = getattr(codecache, "_precompile_header", None)
    if precompile is None:
        return

    def remembered(*args: str, **options: Any) -> str:
        key = repr((args, sorted(options.items())))
        if not os.path.exists(HEADERS.get(key, "")):
            HEADERS[key] = precompile(*args, **options)
        return HEADERS[key]

    codecache._precompile_header = remembered


def rebuild_broken_objects() -> None:
    """Have torch rebuild broken object files and headers; torch itself uses any file with the right name.

    A cancelled or ended run leaves an empty or truncated file in the shared cache. With a truncated precompiled
    header, GCC reads all headers again for each kernel, which doubles the time to compile it.
    """
    build = codecache._worker_compile_cpp

    def build_whole(lock_path: str, builders: Sequence[Any], *more: Any) -> None:
        # Whoever has the lock is building: its file is not whole yet.
        with FileLock(lock_path, timeout=codecache.LOCK_TIMEOUT):
            for path in (Path(builder.get_target_file_path()) for builder in builders):
                if is_broken(path):
                    path.unlink()
        build(lock_path, builders, *more)

    codecache._worker_compile_cpp = build_whole


def is_broken(path: Path) -> bool:
    """Return True for an incomplete .so or .o file, and for a header whose build did not end."""
    status = regular(path)
    if status is not None and path.suffix == HEADER:
        return path.with_name(f"{path.stem}{BUILD}").exists()
    if status is None or path.suffix not in (".so", ".o"):
        return False
    with path.open("rb") as file:
        header = file.read(ELF_HEADER_BYTES)
    if not header.strip(b"\0"):
        return True
    if not header.startswith(b"\x7fELF"):
        return False
    offset, size, count = (int.from_bytes(header[start:end], "little") for start, end in SECTIONS)
    return len(header) < ELF_HEADER_BYTES or status.st_size < offset + size * count
