"""What the text of a C++ kernel says about how it runs: vectors, threads, loops and what is left over."""

from __future__ import annotations

import re
from dataclasses import dataclass

LOOP = re.compile(r"for\s*\(int64_t (\w+)=.*?;\s*\1<.*?;\s*\1\s*\+=\s*(?:static_cast<int64_t>\()?(\d{1,9})L?\)?\)")
VECTOR = re.compile(r"\bVectorizedN?<(\w+)(?:,\s*(\d{1,9}))?>")
TAIL = re.compile(r"for\s*\((?:int64_t|long) \w+_tail\b")
THREADS = re.compile(r"#pragma omp parallel[^\n]*num_threads\((\d{1,9})\)")
BITS = {
    "double": 64, "int64_t": 64, "float": 32, "int32_t": 32, "uint32_t": 32, "half": 16, "bfloat16": 16, "int16_t": 16,
    "int8_t": 8, "uint8_t": 8,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CppFacts:
    """One C++ kernel: `loops` it has, `vector_loops` among them, that take `lanes` elements a step in registers of
    `bits`.

    `parallel_loops` are shared out by OpenMP, to `threads` where the text names a number; `scalar_tails` take what is
    left of a vectorised loop one by one, `masked_tails` with a shorter load. `bits` is None where nothing is
    vectorised.
    """

    loops: int
    vector_loops: int
    lanes: int | None
    bits: int | None
    parallel: bool
    parallel_loops: int
    threads: int | None
    scalar_tails: int
    masked_tails: int

    @property
    def vectorised(self) -> bool:
        """Whether any of its loops takes more than one element a step."""
        return self.vector_loops > 0


def cpp_facts(source: str) -> CppFacts:
    """Read the facts off the source of one kernel, as Inductor writes it."""
    steps = [int(step) for _, step in LOOP.findall(source)]
    vectors = VECTOR.findall(source)
    lanes = max((step for step in steps if step > 1), default=None) if vectors else None
    threads = THREADS.search(source)
    scalar_tails = len(TAIL.findall(source))
    return CppFacts(
        loops=len(steps),
        vector_loops=sum(1 for step in steps if step > 1) if vectors else 0,
        lanes=lanes,
        bits=_bits(vectors, lanes) if lanes else None,
        parallel="#pragma omp parallel" in source,
        parallel_loops=source.count("#pragma omp for"),
        threads=int(threads.group(1)) if threads else None,
        scalar_tails=scalar_tails,
        masked_tails=max(0, source.count("C10_UNLIKELY(") - scalar_tails),
    )


def _bits(vectors: list[tuple[str, str]], lanes: int) -> int | None:
    """The widest register that a step fills: lanes times the bits of a type, over the registers that it takes."""
    return max((lanes * BITS[kind] // int(count or 1) for kind, count in vectors if kind in BITS), default=None)
