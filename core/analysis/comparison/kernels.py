"""Comparison of the kernels of two compilations of one model: matched pairs and their differences.

Kernels are matched by shared FX nodes, then by order. The kernels' sources are in the log; `kernel_ledger`
and `side_of` read them there.
"""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.analysis.kernels.kernel import UNRELIABLE, Timed, kernel_kind, kernel_names, node_op, times_unreliable
from core.analysis.kernels.ledger import LedgerRow, ledger
from core.analysis.verdict import side_words
from core.code.cpp import CppFacts, cpp_facts
from core.code.output_code import kernel_code
from core.ops.costs import op_class
from core.report import Compilation, Config, Kernel, Language, Payload, Report
from core.report.nodes import Direction

SIZE_HINTS = re.compile(r"size_hints=\{([^}\n]*)\}")
JIT = "@triton.jit"
# Reader of a payload in the log.
Read = Callable[[Payload], str]


@dataclass(frozen=True, slots=True)
class Side:
    """A run of a comparison: its report, the selected compilation, and its kernels' sources by id."""

    report: Report
    compilation: Compilation
    code: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KernelSide:
    """A kernel of one side; bytes, FLOPs and seconds are sums over its calls in one call of the model.

    `label` is the display name. `ops` are the ops of the kernel's FX nodes, without views. `tiling` is Triton's
    size hints, or the vector lanes of C++ loops. `config` is the chosen config, or the first of `configs` if the
    choice needs timing. `flops` are torch's, or with `flops_estimated` one per op and iteration. `timed` is the
    origin of `time_s`: alone, in the call, or a prediction with the interval `range_s`; unreliable times are None.
    Unknown values are None or empty.
    """

    kernel: str
    name: str
    label: str
    kind: str
    language: Language
    direction: Direction
    ops: tuple[str, ...]
    calls: int
    tiling: str
    configs: tuple[Config, ...]
    config: Config | None
    choice: str
    registers: int | None
    spill_bytes: int | None
    shared_bytes: int | None
    occupancy: float | None
    bytes_moved: int | None
    bytes_at_most: bool
    flops: int | None
    flops_estimated: bool
    time_s: float | None
    timed: Timed
    range_s: tuple[float, float] | None = None

    @property
    def extern(self) -> bool:
        """True if the kernel is a library function."""
        return self.language == "extern"


# Aspects in which the two kernels of a pair are compared, without times, which differ in every measurement.
ASPECTS: dict[str, Callable[[KernelSide], object]] = {
    "language": lambda side: side.language,
    "function": lambda side: side.name if side.extern else None,
    "kind": lambda side: side.kind,
    "calls": lambda side: side.calls,
    "tiling": lambda side: side.tiling or None,
    "config": lambda side: [config.text for config in (side.config, *side.configs) if config] or None,
    "registers": lambda side: side.registers,
    "spills": lambda side: side.spill_bytes,
    "shared memory": lambda side: side.shared_bytes,
    "occupancy": lambda side: side.occupancy,
    "bytes": lambda side: side.bytes_moved,
    "FLOPs": lambda side: None if side.flops_estimated else side.flops,
}
FUSION, SOURCE = "fusion", "source"
# A library call is compared by its function, without its arguments.
SAME_LIBRARY_CALLS = "library calls are of the same functions"
COUNTED = ("tiling", "config", "registers", "spills", "shared memory")


@dataclass(frozen=True, slots=True)
class KernelPair:
    """Two kernels that compute the same part of the model, or one kernel without a counterpart.

    `only_left` and `only_right` are the ops of only that side. `elsewhere` is True if the two kernels are in
    compilations that do not match, as after a graph break. `same_text` is True if the sources are equal
    except for names and the device's properties; None if the languages differ or a source is missing. `differs`
    names the aspects that are known to differ, including `fusion` and `source`.
    """

    left: KernelSide | None
    right: KernelSide | None
    only_left: tuple[str, ...] = ()
    only_right: tuple[str, ...] = ()
    same_text: bool | None = None
    differs: tuple[str, ...] = ()
    elsewhere: bool = False

    @property
    def either(self) -> KernelSide:
        """Left kernel; the right kernel if the pair has no left kernel."""
        side = self.left or self.right
        assert side is not None
        return side

    @property
    def both(self) -> bool:
        """True if both sides have the kernel."""
        return self.left is not None and self.right is not None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Pairs of kernels of two compilations; `left` and `right` describe the two sides in words.

    The pairs are in the order of `paired`.
    """

    left: str
    right: str
    pairs: tuple[KernelPair, ...]


def compare(left: Side, right: Side) -> Comparison:
    """Pair the kernels of two compilations of one model, and compare the kernels of each pair."""
    left_sides, right_sides = kernel_sides(left), kernel_sides(right)
    return Comparison(
        side_words(left.report),
        side_words(right.report),
        tuple(
            kernel_pair(
                left_sides[a.id] if a else None,
                right_sides[b.id] if b else None,
                left.code.get(a.id, "") if a else "",
                right.code.get(b.id, "") if b else "",
            )
            for a, b in paired(left.compilation.kernels, right.compilation.kernels)
        ),
    )


def kernel_pair(left: KernelSide | None, right: KernelSide | None, left_code: str, right_code: str) -> KernelPair:
    """Return two kernels as a pair with their differences."""
    if left is None or right is None:
        return KernelPair(left, right)
    left_ops, right_ops = Counter(left.ops), Counter(right.ops)
    only_left, only_right = tuple((left_ops - right_ops).elements()), tuple((right_ops - left_ops).elements())
    comparable = bool(left_code and right_code) and left.language == right.language and not left.extern
    same_text = same_source(left_code, left.name, right_code, right.name) if comparable else None
    differs = [name for name, aspect in ASPECTS.items() if _differ(aspect(left), aspect(right))]
    if (only_left or only_right) and not (left.extern and right.extern):
        differs.insert(0, FUSION)
    if same_text is False:
        differs.append(SOURCE)
    return KernelPair(left, right, only_left, only_right, same_text, tuple(differs))


def _differ(left: object, right: object) -> bool:
    return left is not None and right is not None and left != right


def same_source(left: str, left_name: str, right: str, right_name: str) -> bool:
    """Return True if two kernels have equal sources apart from names and, in Triton, hints."""
    return kernel_body(left, left_name) == kernel_body(right, right_name)


def kernel_body(code: str, name: str) -> str:
    """Return a kernel's source with a neutral name.

    In Triton, the source starts after `@triton.jit`: without imports, hints and device properties.
    """
    _, separator, body = code.partition(JIT)
    return (body if separator else code).replace(name, "kernel").strip().removesuffix("device_str='cuda')").rstrip()


def kernel_sides(side: Side) -> dict[str, KernelSide]:
    """Return the kernels of a side by id, with the sums over their calls."""
    facts = {
        kernel.id: cpp_facts(side.code[kernel.id])
        for kernel in side.compilation.kernels
        if kernel.language == "cpp" and side.code.get(kernel.id)
    }
    rows: dict[str, list[LedgerRow]] = {}
    for row in ledger(side.report, side.compilation, facts):
        rows.setdefault(row.kernel, []).append(row)
    names, unreliable = kernel_names(side.compilation), bool(times_unreliable(side.report))
    sides = {
        kernel.id: _kernel_side(
            kernel, names[kernel.id], rows[kernel.id], _tiling(side.code.get(kernel.id, ""), facts.get(kernel.id))
        )
        for kernel in side.compilation.kernels
    }
    # Times that no finding uses are shown beside none of the other run.
    return {id_: replace(each, time_s=None, timed=UNRELIABLE) for id_, each in sides.items()} if unreliable else sides


def _kernel_side(kernel: Kernel, label: str, rows: Sequence[LedgerRow], tiling: str) -> KernelSide:
    first, binary = rows[0], kernel.binary
    times = [row.total_s for row in rows if row.total_s is not None]
    ranges = [(row.range_s[0] * row.calls, row.range_s[1] * row.calls) for row in rows if row.range_s]
    return KernelSide(
        kernel=kernel.id,
        name=kernel.name,
        label=label,
        kind=kernel_kind(kernel),
        language=first.language,
        direction=first.direction,
        ops=node_ops(kernel),
        calls=sum(row.calls for row in rows),
        tiling=tiling,
        configs=binary.configs if binary else (),
        config=binary.shown if binary else None,
        choice=binary.choice if binary else "",
        registers=first.registers,
        spill_bytes=first.spill_bytes,
        shared_bytes=first.shared_bytes,
        occupancy=first.occupancy,
        bytes_moved=_sum(row.bytes_moved and row.bytes_moved * row.calls for row in rows),
        bytes_at_most=any(row.at_most for row in rows),
        flops=_sum(row.flops and row.flops * row.calls for row in rows),
        flops_estimated=first.flops_estimated,
        time_s=sum(times) if len(times) == len(rows) else None,
        timed=first.timed if len(times) == len(rows) else "",
        range_s=(sum(low for low, _ in ranges), sum(high for _, high in ranges)) if ranges else None,
    )


def _sum(values: Iterator[int | None]) -> int | None:
    numbers = [value for value in values if value is not None]
    return sum(numbers) if numbers else None


def _tiling(code: str, facts: CppFacts | None) -> str:
    if facts is not None:
        return facts.words
    match = SIZE_HINTS.search(code)
    return match.group(1).replace("'", "") if match else ""


def kernel_ledger(report: Report, compilation: Compilation, read: Read) -> tuple[LedgerRow, ...]:
    """Return the ledger of a compilation, with the facts of its C++ kernels."""
    kernels = [kernel for kernel in compilation.kernels if kernel.language == "cpp"]
    facts = {kernel.id: cpp_facts(kernel_code(kernel, read(kernel.output_code))) for kernel in kernels}
    return ledger(report, compilation, facts)


def opposite(report: Report, compilation: Compilation) -> Compilation | None:
    """Return the matching compilation of another run, `report`: the same id, otherwise the first.

    Only compilations with kernels count; None if there is none.
    """
    same = report.compilation(compilation.id)
    if same is not None and same.kernels:
        return same
    return next((candidate for candidate in report.compilations if candidate.kernels), None)


def counterpart(kernel: Kernel, compilation: Compilation, opposite_report: Report) -> Kernel | None:
    """Return the kernel of another run that computes the same part of the model; None if there is none."""
    opposing = opposite(opposite_report, compilation)
    pairs = paired(compilation.kernels, opposing.kernels) if opposing is not None else ()
    return next((right for left, right in pairs if left is not None and left.id == kernel.id), None)


def side_of(report: Report, compilation: Compilation, read: Read) -> Side:
    """Return a side of a comparison, with the sources of its generated kernels."""
    generated = [kernel for kernel in compilation.kernels if not kernel.extern]
    return Side(report, compilation, {kernel.id: kernel_code(kernel, read(kernel.output_code)) for kernel in generated})


def paired(left: Sequence[Kernel], right: Sequence[Kernel]) -> Iterator[tuple[Kernel | None, Kernel | None]]:
    """Yield pairs of matching kernels; None stands for a missing counterpart.

    In each direction, pairs come in the order of the left kernels. Kernels of only the right side follow.
    """
    for direction in dict.fromkeys(kernel.direction for kernel in (*left, *right)):
        left_kernels, right_kernels = (
            sorted((k for k in side if k.direction == direction), key=_first_line) for side in (left, right)
        )
        matches = _by_nodes(left_kernels, right_kernels)
        matches |= _by_order(left_kernels, right_kernels, matches)
        yield from (
            (kernel, right_kernels[matches[i]] if i in matches else None) for i, kernel in enumerate(left_kernels)
        )
        matched_right = set(matches.values())
        yield from ((None, kernel) for j, kernel in enumerate(right_kernels) if j not in matched_right)


def node_ops(kernel: Kernel) -> tuple[str, ...]:
    """Return the op of each FX node in a kernel, without views: `add`, `add`, `mm`."""
    return tuple(node_op(name) for name in _computing_nodes(kernel))


def _computing_nodes(kernel: Kernel) -> list[str]:
    return [name for name in kernel.origins if op_class(node_op(name)) != "view"]


def _first_line(kernel: Kernel) -> int:
    return kernel.call_lines[0] if kernel.call_lines else 0


def _by_nodes(left: Sequence[Kernel], right: Sequence[Kernel]) -> dict[int, int]:
    """Return left index → right index of kernels that share FX nodes, the largest shares first."""
    holders: dict[str, list[int]] = defaultdict(list)
    for j, kernel in enumerate(right):
        for name in _computing_nodes(kernel):
            holders[name].append(j)
    left_nodes, right_nodes = (
        [set(_computing_nodes(kernel)) for kernel in left],
        [set(_computing_nodes(kernel)) for kernel in right],
    )
    candidates = {(i, j) for i, names in enumerate(left_nodes) for name in names for j in holders[name]}

    def rank(pair: tuple[int, int]) -> tuple[float, int, int]:
        i, j = pair
        return -len(left_nodes[i] & right_nodes[j]) / len(left_nodes[i] | right_nodes[j]), abs(i - j), i

    matches: dict[int, int] = {}
    matched_right: set[int] = set()
    for i, j in sorted(candidates, key=rank):
        if i not in matches and j not in matched_right:
            matches[i] = j
            matched_right.add(j)
    return matches


def _by_order(left: Sequence[Kernel], right: Sequence[Kernel], matches: dict[int, int]) -> dict[int, int]:
    """Return left index → right index of the remaining kernels, matched in order.

    Two kernels match if they do the same kind of work and follow the same matched pair.
    """
    partner = {j: i for i, j in matches.items()}
    waiting: dict[tuple[object, ...], deque[int]] = defaultdict(deque)
    for j, pair, work in _unpaired(right, partner):
        waiting[partner.get(pair, -1), work].append(j)
    more = {}
    for i, pair, work in _unpaired(left, matches):
        if waiting[pair, work]:
            more[i] = waiting[pair, work].popleft()
    return more


def _unpaired(kernels: Sequence[Kernel], done: Collection[int]) -> Iterator[tuple[int, int, tuple[object, ...]]]:
    """Yield each unmatched kernel: index, that of the last matched one before it or -1, kind of work."""
    last = -1
    for index, kernel in enumerate(kernels):
        if index in done:
            last = index
        else:
            yield index, last, (kernel.extern, frozenset(op_class(op) for op in node_ops(kernel)))


def compare_all(sides: Sequence[tuple[Side | None, Side | None]]) -> tuple[Comparison | None, ...]:
    """Compare the kernels of matched compilations; then pair equal kernels of all compilations.

    Such a pair is in the comparison of the left kernel's compilation; if that has no match, of the right one's. A
    compilation without a match has no comparison.
    """
    compared = [compare(left, right) if left and right else None for left, right in sides]
    rest = (_rest(sides, compared, right=False), _rest(sides, compared, right=True))
    waiting: dict[Hashable, deque[_LoneKernel]] = defaultdict(deque)
    for kernel in rest[1]:
        waiting[kernel.key].append(kernel)
    moved = [(kernel, waiting[kernel.key].popleft()) for kernel in rest[0] if waiting[kernel.key]]
    return tuple(_with_moved(comparison, at, moved, compared) for at, comparison in enumerate(compared))


@dataclass(frozen=True, slots=True)
class _LoneKernel:
    """A kernel without a counterpart in the matched compilation, at that position of the pairs."""

    at: int
    side: KernelSide
    code: str

    @property
    def key(self) -> Hashable:
        """Key of equal kernels: the function and ops of a library call, otherwise the source without its name."""
        if self.side.extern:
            return self.side.direction, self.side.name, self.side.ops
        return self.side.direction, self.side.language, kernel_body(self.code, self.side.name)


def _rest(
    sides: Sequence[tuple[Side | None, Side | None]], compared: Sequence[Comparison | None], *, right: bool
) -> list[_LoneKernel]:
    rest = []
    for at, (pair, comparison) in enumerate(zip(sides, compared, strict=True)):
        side = pair[right]
        if side is None:
            continue
        alone = kernel_sides(side) if comparison is None else _alone(comparison, right)
        rest += [_LoneKernel(at, kernel, side.code.get(name, "")) for name, kernel in alone.items()]
    return [kernel for kernel in rest if kernel.code or kernel.side.extern]


def _alone(comparison: Comparison, right: bool) -> dict[str, KernelSide]:
    alone = ((pair.right if right else pair.left) for pair in comparison.pairs if not pair.both)
    return {kernel.kernel: kernel for kernel in alone if kernel is not None}


def _with_moved(
    comparison: Comparison | None,
    at: int,
    moved: Sequence[tuple[_LoneKernel, _LoneKernel]],
    compared: Sequence[Comparison | None],
) -> Comparison | None:
    """Return a comparison with its moved kernels as pairs; a kernel that is a pair elsewhere is left out."""
    if comparison is None:
        return None
    partner = {left.side.kernel: (left, right) for left, right in moved if left.at == at}
    homeless = {right.side.kernel: (left, right) for left, right in moved if compared[left.at] is None}
    taken = {right.side.kernel for left, right in moved if right.at == at} - set(homeless)
    pairs = []
    for pair in comparison.pairs:
        match = None
        if not pair.both:
            match = partner.get(pair.left.kernel) if pair.left else homeless.get(pair.either.kernel)
        if match is not None:
            left, right = match
            pairs.append(replace(kernel_pair(left.side, right.side, left.code, right.code), elsewhere=True))
        elif pair.left is not None or pair.either.kernel not in taken:
            pairs.append(pair)
    return replace(comparison, pairs=tuple(pairs))
