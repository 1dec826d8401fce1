"""Loops of a C++ kernel from its source: vectorisation and its width, threads, and tails.

Inductor writes vector code itself, with `at::vec::Vectorized`; the loop's step is the number of elements in a vector. A
tail processes the remaining elements, one by one or with a shorter load:

    #pragma omp parallel num_threads(4)
    …
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(130L); x0+=static_cast<int64_t>(16L))
            auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + x0, static_cast<int64_t>(16));
            if(C10_UNLIKELY(x0 >= static_cast<int64_t>(128L)))
                for (int64_t x0_tail = 128L; x0_tail < 130L; x0_tail++)

Every `for` is a loop. A loop is vectorised if its lines outside inner loops use vectors. A loop with step one
counts as scalar, unless an outer loop has a larger step: outside inner loops, its lines only reduce the
vectors of the inner loops.

g++'s optimisation report (`-fopt-info-vec-all`) and clang's remarks name a line and the outcome for its loop:

    kernel.cpp:20:46: optimized: loop vectorized using 64 byte vectors
    kernel.cpp:31:25: missed: couldn't vectorize loop
    kernel.cpp:20:13: remark: vectorized loop (vectorization width: 8, interleaved count: 4) [-Rpass=loop-vectorize]

The command's CPU_CAPABILITY sets the width of at::vec. Inductor disables the compiler's own loop vectorisation; a
second compilation enables it to get the compiler's messages.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["explicit", "vectorised", "scalar"]
FOR = re.compile(r"^\s*for\s*\(")
STEP = re.compile(r"for\s*\(int64_t (\w+)=.*?;\s*\1<.*?;\s*\1\s*\+=\s*(?:static_cast<int64_t>\()?(\d{1,9})L?\)?\)")
VECTOR = re.compile(r"\bVectorizedN?<(\w+)(?:,\s*(\d{1,9}))?>")
SCALAR_TAIL = re.compile(r"for\s*\((?:int64_t|long) \w+_tail\b")
THREADS = re.compile(r"#pragma omp parallel[^\n]*num_threads\((\d{1,9})\)")
BITS = {
    "double": 64, "int64_t": 64, "float": 32, "int32_t": 32, "uint32_t": 32, "half": 16, "bfloat16": 16, "int16_t": 16,
    "int8_t": 8, "uint8_t": 8,
}  # fmt: skip
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
class CppFacts:
    """Loop data of a C++ kernel: numbers of loops, vector width, threads and tails.

    `vector_loops` are vectorised. `lanes` is the number of elements per step, `bits` the register width. Both are
    None without vectorised loops, or if no loop has a step of more than one element; `bits` is also None if no
    type has a known width.

    `parallel_loops` are distributed by OpenMP to `threads` threads; `threads` is None if the text has no number
    of threads. `scalar_tails` process the remaining elements of a vectorised loop one at a time, `masked_tails`
    with a shorter load.
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
        """Return True if any loop is vectorised by Inductor."""
        return self.vector_loops > 0

    @property
    def words(self) -> str:
        """Return the elements per step: `16 lanes`, `vectors` if unknown, or `scalar`."""
        if not self.vectorised:
            return "scalar"
        return f"{self.lanes} lanes" if self.lanes else "vectors"


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of a C++ kernel, from line to line of its source.

    `kind` is explicit (at::vec), vectorised (by the compiler), or scalar. `width_bytes` is the width of a vector,
    0 if there is none or it is unknown. `tail` is True if the loop is or contains a tail: code for the remaining
    elements that do not fill a vector. `words` has the vector types and functions of an explicit loop, the
    compiler's messages for a vectorised loop, or the reason why a loop is scalar.
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
    """Return the OpenMP pragmas of a source."""
    rows = enumerate(source.split("\n"), 1)
    return tuple(Region(number, match.group(1)) for number, row in rows if (match := PRAGMA.match(row)))


def remarks(report: str, file: str) -> dict[int, list[str]]:
    """Return the compiler's messages about loops, by line of the file, each once."""
    by_line: dict[int, list[str]] = {}
    for row in report.split("\n"):
        match = REMARK.match(row)
        if match and match.group(1) == file and LOOP_REMARK.search(match.group(4)):
            texts = by_line.setdefault(int(match.group(2)), [])
            if match.group(4) not in texts:
                texts.append(match.group(4))
    return by_line


@dataclass(frozen=True, slots=True)
class _Span:
    """A loop: `body` has the numbers of its lines outside inner loops, `text` the text of these lines.

    `around` is True if the loop has inner loops. `step` is the step in Inductor's loop nest, None in other loops.
    `written` are the vector types and functions in `text`; empty if the loop counts as scalar.
    """

    first: int
    last: int
    body: tuple[int, ...]
    text: str
    around: bool
    step: int | None
    written: tuple[str, ...]


def cpp_facts(source: str) -> CppFacts:
    """Return the loop data of one kernel from the source that Inductor wrote."""
    spans = _spans(source.split("\n"))
    vectors = [span for span in spans if span.written]
    lanes = max((span.step for span in spans if span.step and span.step > 1), default=None) if vectors else None
    threads = THREADS.search(source)
    scalar_tails = len(SCALAR_TAIL.findall(source))
    return CppFacts(
        loops=len(spans),
        vector_loops=len(vectors),
        lanes=lanes,
        bits=_bits(VECTOR.findall(source), lanes) if lanes else None,
        parallel="#pragma omp parallel" in source,
        parallel_loops=source.count("#pragma omp for"),
        threads=int(threads.group(1)) if threads else None,
        scalar_tails=scalar_tails,
        masked_tails=max(0, source.count("C10_UNLIKELY(") - scalar_tails),
    )


def loops(
    source: str, messages: Mapping[int, list[str]], requested: Mapping[int, list[str]], command: str
) -> tuple[Loop, ...]:
    """Return every loop of a source in order, with the compiler's messages.

    `messages` are from the normal compilation, `requested` from a second compilation with the compiler's
    vectorisation enabled.
    """
    return tuple(_loop(span, messages, requested, command) for span in _spans(source.split("\n")))


def _loop(span: _Span, messages: Mapping[int, list[str]], requested: Mapping[int, list[str]], command: str) -> Loop:
    tail = bool(TAIL.search(span.text))
    words = _words(messages, span.body)
    if VECTORISED.search(words):
        width = GCC_WIDTH.search(words)
        return Loop(span.first, span.last, "vectorised", int(width.group(1)) if width else 0, tail, words)
    if span.written:
        capability = CAPABILITY.search(command)
        bytes_ = WIDTHS[capability.group(1)] if capability else 0
        return Loop(span.first, span.last, "explicit", bytes_, tail, ", ".join(span.written[:4]))
    why = _why(words, _words(requested, span.body), span.around, command)
    return Loop(span.first, span.last, "scalar", 0, tail, why)


def _spans(rows: list[str]) -> list[_Span]:
    places = [(number, _end(rows, number)) for number, row in enumerate(rows, 1) if FOR.match(row)]
    steps = {first: int(match.group(2)) for first, _ in places if (match := STEP.search(rows[first - 1]))}
    return [_span(place, places, steps, rows) for place in places]


def _span(place: tuple[int, int], places: list[tuple[int, int]], steps: Mapping[int, int], rows: list[str]) -> _Span:
    first, last = place
    inner = [loop for loop in places if first < loop[0] and loop[1] <= last]
    body = tuple(number for number in range(first, last + 1) if not any(a <= number <= b for a, b in inner))
    text = "\n".join(rows[number - 1] for number in body)
    outer = [start for start, end in places if start < first and last <= end]
    step = steps.get(first)
    gathers = step == 1 and all(steps.get(start, 1) == 1 for start in outer)
    written = () if gathers else tuple(dict.fromkeys(EXPLICIT.findall(text)))
    return _Span(first, last, body, text, bool(inner), step, written)


def _bits(vectors: list[tuple[str, str]], lanes: int) -> int | None:
    """Return the widest register, in bits, that a step fills.

    The width is lanes times bits of the type, divided by registers per step. If the code names a type with different
    numbers of registers, the largest number counts. None if no type has a known width.
    """
    registers: dict[str, int] = {}
    for kind, count in vectors:
        if kind in BITS:
            registers[kind] = max(registers.get(kind, 1), int(count or 1))
    return max((lanes * BITS[kind] // count for kind, count in registers.items()), default=None)


def _words(messages: Mapping[int, list[str]], lines: Sequence[int]) -> str:
    """Return the messages about a loop: on its first line, and failure reasons on the lines of its body."""
    first = messages.get(lines[0], [])
    inside = [text for number in lines[1:] for text in messages.get(number, []) if text.startswith("not vectorized")]
    return "; ".join(dict.fromkeys([*first, *inside[:2]]))


def _why(words: str, requested: str, around: bool, command: str) -> str:
    if around:
        return "around other loops"
    if OFF not in command:
        return words or "the compiler gives no reason"
    return f"compiled with {OFF}" + (f"; asked to vectorise, the compiler says: {requested}" if requested else "")


def _end(rows: list[str], first: int) -> int:
    """Return the last line of a loop: at its closing brace, or the end of its single statement."""
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
