"""Tables of `docs/targets.md`, from `core.TARGETS`.

`python -m docs.make.targets` rewrites them.
"""

from __future__ import annotations

import re
from pathlib import Path

from core import TARGETS
from core.job.targets import Architecture, Target

PAGE = Path(__file__).parents[1] / "targets.md"
HEAD = (
    "| key | target | architecture | multiprocessors | clock | L2 | memory | bandwidth | float32 | tfloat32 | "
    "bfloat16, float16 | float64 | source |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
)
ARCHITECTURES = (
    "| architecture | capability | warp | registers | threads | blocks | threads of a block | shared memory of a block "
    "| with opt-in | of a multiprocessor | source |\n|---|---|---|---|---|---|---|---|---|---|---|\n"
)
KIB = 1024
TABLE = re.compile(r"^\| key \| target .*\n(?:\|.*\n)*\n(?:\| architecture \| .*\n(?:\|.*\n)*)?", re.MULTILINE)


def table() -> str:
    """Return a table of all targets, one row each, then all their architectures."""
    architectures = {target.words: target.architecture for target in TARGETS.values()}
    kinds = "".join(_architecture(name, kind) for name, kind in architectures.items())
    return HEAD + "".join(map(_row, TARGETS.values())) + "\n" + ARCHITECTURES + kinds


def _architecture(name: str, kind: Architecture) -> str:
    cells = [
        f"`{name}`",
        f"{kind.major}.{kind.minor}",
        str(kind.warp_size),
        f"{kind.regs_per_multiprocessor:,}",
        f"{kind.max_threads_per_multi_processor:,}",
        str(kind.max_blocks_per_multi_processor),
        f"{kind.max_threads_per_block:,}",
        f"{kind.shared_memory_per_block / KIB:g} KiB",
        f"{kind.shared_memory_per_block_optin / KIB:g} KiB",
        f"{kind.shared_memory_per_multiprocessor / KIB:g} KiB",
        kind.source,
    ]
    return f"| {' | '.join(cells)} |\n"


def _row(target: Target) -> str:
    peaks = [target.peak_flops.get(dtype) for dtype in ("float32", "tfloat32", "bfloat16", "float64")]
    cells = [
        f"`{target.key}`",
        target.title,
        f"`{target.words}`",
        str(target.multi_processor_count),
        f"{target.max_clock_mhz} MHz",
        f"{target.l2_cache_bytes / KIB**2:g} MiB",
        f"{target.total_memory / KIB**3:g} GiB",
        f"{target.bandwidth / 1e12:g} TB/s",
        *("not given" if peak is None else f"{peak / 1e12:.10g}" for peak in peaks),
        target.source,
    ]
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    PAGE.write_text(TABLE.sub(lambda _: table(), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
