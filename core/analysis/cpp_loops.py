"""The loops of a C++ kernel: which are vectorised, by whom and how wide, and which are not, in the compiler's words.

g++'s optimisation report (`-fopt-info-vec-all`) and clang's remarks name a line and say what became of its loop:

    kernel.cpp:20:46: optimized: loop vectorized using 64 byte vectors
    kernel.cpp:31:25: missed: couldn't vectorize loop
    kernel.cpp:20:13: remark: vectorized loop (vectorization width: 8, interleaved count: 4) [-Rpass=loop-vectorize]

Inductor writes its vectors itself, as `at::vec::Vectorized`, whose width the command's CPU_CAPABILITY decides, and
switches the compiler's own vectorisation of loops off; what the compiler would say to them is asked in a second run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["explicit", "vectorised", "scalar"]
FOR = re.compile(r"^\s*for\s*\(")
PRAGMA = re.compile(r"^\s*#pragma (omp .*)$")
EXPLICIT = re.compile(r"at::vec::Vectorized(?:N|Mask)?<[^>]*>|at::vec::\w+|_mm\d*_\w+")
TAIL = re.compile(r"_tail\b|C10_UNLIKELY\(")
VECTORISED = re.compile(
    r"loop vectorized using (\d{1,9}) byte vectors|vectorized loop \((vectorization width: \d{1,9}[^)]*)\)"
)
REMARK = re.compile(r"^(?:.*/)?([^/:\s]+):(\d{1,9}):\d+: (optimized|missed|remark): +(.*)$")
LOOP_REMARK = re.compile(r"loop|not vectorized")
CAPABILITY = re.compile(r"CPU_CAPABILITY_(AVX512|AVX2|NEON|SVE256|VSX|ZVECTOR)")
WIDTHS = {"AVX512": 64, "AVX2": 32, "SVE256": 32, "NEON": 16, "VSX": 32, "ZVECTOR": 32}
GCC_WIDTH = re.compile(r"using (\d{1,9}) byte vectors")
OFF = "-fno-tree-loop-vectorize"


@dataclass(frozen=True, slots=True)
class Loop:
    """One loop of a C++ kernel, from line to line of its source.

    `kind` is explicit (at::vec), vectorised (by the compiler), or scalar; `width_bytes` that of a vector, 0 for none or
    where it is not said; `tail` for the rest that does not fill a vector; `words` what was written, or what was said.
    """

    line: int
    last: int
    kind: Kind
    width_bytes: int
    tail: bool
    words: str


@dataclass(frozen=True, slots=True)
class Region:
    """An OpenMP construct: the line of its pragma, and the pragma."""

    line: int
    pragma: str


def regions(source: str) -> tuple[Region, ...]:
    """The OpenMP pragmas of a source."""
    rows = enumerate(source.split("\n"), 1)
    return tuple(Region(number, match.group(1)) for number, row in rows if (match := PRAGMA.match(row)))


def remarks(report: str, file: str) -> dict[int, list[str]]:
    """What the compiler said about loops, by line of the file, each once."""
    found: dict[int, list[str]] = {}
    for row in report.split("\n"):
        match = REMARK.match(row)
        if match and match.group(1) == file and LOOP_REMARK.search(match.group(4)):
            said = found.setdefault(int(match.group(2)), [])
            if match.group(4) not in said:
                said.append(match.group(4))
    return found


def loops(source: str, said: Mapping[int, list[str]], asked: Mapping[int, list[str]], command: str) -> tuple[Loop, ...]:
    """Every loop of a source, outermost first: with what the compiler said, and what it said when asked to
    vectorise.
    """
    rows = source.split("\n")
    spans = [(number, _end(rows, number)) for number, row in enumerate(rows, 1) if FOR.match(row)]
    return tuple(_loop(span, spans, rows, said, asked, command) for span in spans)


def _loop(
    span: tuple[int, int],
    spans: list[tuple[int, int]],
    rows: list[str],
    said: Mapping[int, list[str]],
    asked: Mapping[int, list[str]],
    command: str,
) -> Loop:
    first, last = span
    inner = [other for other in spans if first < other[0] and other[1] <= last]
    own = [number for number in range(first, last + 1) if not any(a <= number <= b for a, b in inner)]
    text = "\n".join(rows[number - 1] for number in own)
    tail = bool(TAIL.search(text))
    words = _words(said, own)
    if VECTORISED.search(words):
        width = GCC_WIDTH.search(words)
        return Loop(first, last, "vectorised", int(width.group(1)) if width else 0, tail, words)
    used = list(dict.fromkeys(EXPLICIT.findall(text)))
    if used:
        capability = CAPABILITY.search(command)
        return Loop(
            first, last, "explicit", WIDTHS[capability.group(1)] if capability else 0, tail, ", ".join(used[:4])
        )
    return Loop(first, last, "scalar", 0, tail, _why(words, _words(asked, own), bool(inner), command))


def _words(said: Mapping[int, list[str]], own: list[int]) -> str:
    """What was said of a loop: on its first line, and why not on the lines of its body."""
    first = said.get(own[0], [])
    inside = [text for number in own[1:] for text in said.get(number, []) if text.startswith("not vectorized")]
    return "; ".join(dict.fromkeys([*first, *inside[:2]]))


def _why(words: str, asked: str, around: bool, command: str) -> str:
    if around:
        return "around other loops"
    if OFF not in command:
        return words or "the compiler says nothing about it"
    return f"compiled with {OFF}" + (f"; asked to vectorise, the compiler says: {asked}" if asked else "")


def _end(rows: list[str], first: int) -> int:
    """The last line of a loop: where the braces that open behind it are closed, or its one statement ends."""
    depth = 0
    opened = False
    for number in range(first, len(rows) + 1):
        row = rows[number - 1]
        depth += row.count("{") - row.count("}")
        opened = opened or "{" in row
        if opened and depth <= 0:
            return number
        if not opened and number > first and row.rstrip().endswith(";"):
            return number
    return len(rows)
