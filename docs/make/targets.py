"""The table of `docs/targets.md`, from `core.TARGETS`.

`python -m docs.make.targets` writes it again.
"""

from __future__ import annotations

import re
from pathlib import Path

from core import TARGETS, Target

PAGE = Path(__file__).parents[1] / "targets.md"
HEAD = (
    "| key | target | architecture | multiprocessors | memory | bandwidth | float32 | tfloat32 | bfloat16, float16 | "
    "float64 "
    "| source |\n|---|---|---|---|---|---|---|---|---|---|---|\n"
)
TABLE = re.compile(r"^\| key \| target .*\n(?:\|.*\n)*", re.MULTILINE)


def table() -> str:
    """All targets, a row each."""
    return HEAD + "".join(map(_row, TARGETS.values()))


def _row(target: Target) -> str:
    peaks = [target.peak_flops.get(dtype) for dtype in ("float32", "tfloat32", "bfloat16", "float64")]
    cells = [
        f"`{target.key}`",
        target.title,
        f"`{target.words}`",
        str(target.multi_processor_count),
        f"{target.total_memory / 1e9:.0f} GB",
        f"{target.bandwidth / 1e12:g} TB/s",
        *("not given" if peak is None else f"{peak / 1e12:.10g}" for peak in peaks),
        target.source,
    ]
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    PAGE.write_text(TABLE.sub(lambda _: table(), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
