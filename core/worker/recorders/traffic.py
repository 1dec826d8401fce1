"""Bytes that a scheduler node moves, counted by the same rule for unfused and fused nodes.

A node accesses buffers by index expressions. The elements of an expression are counted once, however often the
expression occurs in a kernel's nodes, and never as more bytes than the buffer has. A kernel's reads of its own writes
do not count, nor do writes that no other kernel needs. So fusion never increases the count, unlike torch's
`get_read_write_buffer_accesses`, which counts the whole buffer for each fused node and each library call.

A `Span` has the positions of an affine index expression: `64*d0 + d1 + 3` for d0 in 0…7 and d1 in 0…63. A span has a
first position and axes, each a positive stride and extent, smallest stride first. Consecutive axes without a gap are
merged, so loops in another order or nesting give the same span.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch._inductor import ir
from torch._inductor.dependencies import MemoryDep, StarDep
from torch._inductor.scheduler import NopKernelSchedulerNode
from torch._inductor.virtualized import V

from core.ops.costs import op_class

Axis = tuple[int, int]
Node = Any
# Calls of subgraphs, which have their own schedules; torch 2.15 replaces Conditional by Switch.
CALLS_OF_GRAPHS = ("Conditional", "Switch", "WhileLoop", "InvokeSubgraph")
# Subgraph calls, and nodes that unpack a call's results.
MOVES_NOTHING = (ir.MultiOutput, *(getattr(ir, name) for name in CALLS_OF_GRAPHS if hasattr(ir, name)))
MOST_PAIRED = 40  #: accesses to one buffer that are compared in pairs


@dataclass(frozen=True, slots=True)
class Span:
    """The positions `offset + sum(stride * i)`, each i from 0 up to its extent."""

    offset: int
    axes: tuple[Axis, ...]

    @staticmethod
    def of(offset: int, pairs: Iterable[Axis]) -> Span:
        """Return the span of strides and extents in any order; negative strides are reversed."""
        axes: list[Axis] = []
        moving = [(stride, extent) for stride, extent in pairs if stride and extent != 1]
        offset += sum(stride * (extent - 1) for stride, extent in moving if stride < 0)
        for stride, extent in sorted((abs(stride), extent) for stride, extent in moving):
            if axes and axes[-1][0] * axes[-1][1] == stride:
                axes[-1] = (axes[-1][0], axes[-1][1] * extent)
            else:
                axes.append((stride, extent))
        return Span(offset, tuple(axes))

    @property
    def reach(self) -> int:
        """Return the distance from the first position to the last."""
        return sum(stride * (extent - 1) for stride, extent in self.axes)


def span(index: Any, extents: Mapping[str, int]) -> Span | None:
    """Return the span of an index (a sympy expression) over its loops; None if it is not affine in them."""
    offset = 0
    pairs: list[Axis] = []
    for term, factor in index.expand().as_coefficients_dict().items():
        if term == 1 and factor.is_Integer:
            offset = int(factor)
        elif term.is_Symbol and str(term) in extents and factor.is_Integer:
            pairs.append((int(factor), extents[str(term)]))
        elif factor != 0:
            return None
    return Span.of(offset, pairs)


def exactly(place: Span) -> tuple[int, bool]:
    """Return the number of positions in a span, and True if it is exact: no axes overlap."""
    places = math.prod(extent for _, extent in place.axes)
    reach = 0
    for stride, extent in place.axes:
        if stride <= reach:
            return min(places, place.reach + 1), False
        reach += stride * (extent - 1)
    return places, True


def apart(left: Span, right: Span) -> bool:
    """Return True if two spans certainly have no common position."""
    if left.offset > right.offset + right.reach or right.offset > left.offset + left.reach:
        return True
    strides = sorted({stride for stride, _ in (*left.axes, *right.axes)}, reverse=True)
    here, there = dict(left.axes), dict(right.axes)
    steps = [(stride, 1 - there.get(stride, 1), here.get(stride, 1) - 1) for stride in strides]
    return not _reachable(right.offset - left.offset, steps)


def _reachable(distance: int, steps: list[tuple[int, int, int]]) -> bool:
    """Return True if steps, each with a minimum and maximum count, can sum to a distance, or in doubt."""
    if not steps:
        return distance == 0
    (stride, least, most), rest = steps[0], steps[1:]
    slack = sum(width * max(-low, high) for width, low, high in rest)
    if slack >= 2 * stride:
        return True
    first, last = math.ceil((distance - slack) / stride), math.floor((distance + slack) / stride)
    return any(_reachable(distance - stride * k, rest) for k in range(max(least, first), min(most, last) + 1))


@dataclass(frozen=True, slots=True)
class Access:
    """A node's access to a buffer: at most `nbytes` bytes, exactly that many if `exact`.

    Two accesses of one buffer with the same `key` touch the same elements; `span` is their positions if it is affine.
    """

    buffer: str
    key: Hashable
    nbytes: int
    exact: bool
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """Reads and writes of one unfused node, and the names of all its buffers, also those without bytes."""

    name: str
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]
    read_names: tuple[str, ...]
    written_names: tuple[str, ...]
    extern: bool


@dataclass(frozen=True, slots=True)
class NodeTraffic:
    """Bytes read and written by buffer; for buffers named in `at_most`, the bytes are upper bounds."""

    reads: dict[str, int]
    writes: dict[str, int]
    at_most: list[str]


def part_of(node: Node) -> Part:
    """Return the accesses of one unfused node."""
    reads, writes = _accesses(node)
    written = tuple(dict.fromkeys(map(str, node.get_buffer_names())))
    names = dict.fromkeys(str(dep.name) for dep in node.read_writes.reads)
    return Part(node.get_name(), tuple(reads), tuple(writes), tuple(names), written, bool(node.is_extern()))


def traffic(parts: Sequence[Part], scheduler: Any) -> NodeTraffic:
    """Return the traffic of a kernel with these nodes; an unfused node is a separate kernel."""
    names = {part.name for part in parts}
    made = {name for part in parts for name in part.written_names}
    gone = {
        name for part in parts if not part.extern for name in part.written_names if _unneeded(name, names, scheduler)
    }
    reads = _by_buffer(access for part in parts for access in part.reads if access.buffer not in made)
    writes = _by_buffer(access for part in parts for access in part.writes if access.buffer not in gone)
    touched = sorted({name for part in parts for name in part.read_names} - made)
    return NodeTraffic(
        reads={**dict.fromkeys(touched, 0), **{name: size for name, (size, _) in reads.items()}},
        writes={**dict.fromkeys(sorted(made - gone), 0), **{name: size for name, (size, _) in writes.items()}},
        at_most=sorted({name for side in (reads, writes) for name, (_, exact) in side.items() if not exact}),
    )


def iterations(node: Node) -> int | None:
    """Return the iterations of a node's loops, reductions included; None for a library call or a template."""
    if node.is_extern() or node.is_template() or not hasattr(node, "get_ranges"):
        return None
    return _runs(node)


def _runs(node: Node) -> int:
    return math.prod(hint(size) for sizes in node.get_ranges() for size in sizes)


def hint(size: Any) -> int:
    """Return a size for the compiled call; 0 if it is known only at run time."""
    if isinstance(size, int) or size.is_Integer:
        return int(size)
    sizes = V.graph.sizevars
    asked = getattr(sizes, "optimization_hint", None) or sizes.size_hint
    return int(asked(size, fallback=0))


def _unneeded(name: str, names: set[str], scheduler: Any) -> bool:
    """Return True if torch removes a buffer from a kernel of these nodes, since nothing else reads it."""
    return bool(scheduler.can_buffer_be_removed_through_fusion(name, names))


def _by_buffer(accesses: Iterable[Access]) -> dict[str, tuple[int, bool]]:
    """Return buffer → bytes, and True if the bytes are exact, or False if they are an upper bound."""
    found: dict[str, dict[Hashable, Access]] = {}
    for access in accesses:
        found.setdefault(access.buffer, {})[access.key] = access
    return {name: _together(name, list(distinct.values())) for name, distinct in sorted(found.items())}


def _together(name: str, accesses: list[Access]) -> tuple[int, bool]:
    """Return the bytes of distinct accesses to one buffer, at most its size, and True if exact."""
    whole = buffer_bytes(name)
    total = sum(access.nbytes for access in accesses)
    if any(access.exact and access.nbytes >= whole for access in accesses):
        return whole, True
    exact = all(access.exact for access in accesses) and _disjoint(accesses)
    return min(total, whole), exact


def _disjoint(accesses: list[Access]) -> bool:
    if len(accesses) == 1:
        return True
    spans = [access.span for access in accesses if access.span is not None]
    if len(spans) != len(accesses) or len(spans) > MOST_PAIRED:
        return False
    return all(apart(one, other) for index, one in enumerate(spans) for other in spans[:index])


def _accesses(node: Node) -> tuple[list[Access], list[Access]]:
    """Return the reads and writes of one unfused node."""
    if isinstance(node, NopKernelSchedulerNode) or isinstance(node.node, MOVES_NOTHING):
        return [], []
    if node.is_extern():
        return _of_call(node.node)
    runs = _runs(node)
    masked = bool(getattr(getattr(node, "_body", None), "subblocks", None))
    writes = [_of_index(dep, runs, masked=False) for dep in node.read_writes.writes if isinstance(dep, MemoryDep)]
    mutated = {name for buffer in node.get_outputs() for name in buffer.get_mutations()}
    mutated |= {str(node.mutation_renames.get(name, name)) for name in mutated}
    reads = [found for dep in node.read_writes.reads for found in _of_read(dep, runs, masked, mutated, writes)]
    return reads, writes


def _of_read(dep: Any, runs: int, masked: bool, mutated: set[str], writes: list[Access]) -> Iterator[Access]:
    """Yield the accesses of a read.

    A read of a whole mutated buffer (StarDep) counts only for an atomic add.
    """
    if isinstance(dep, MemoryDep):
        yield _of_index(dep, runs, masked)
    elif isinstance(dep, StarDep) and str(dep.name) not in mutated:
        yield Access(str(dep.name), "whole", buffer_bytes(str(dep.name)), exact=False)
    elif isinstance(dep, StarDep) and dep.mode == "atomic_add":
        yield from (Access(str(dep.name), ("added", access.key), access.nbytes, access.exact) for access in writes)


def _of_index(dep: MemoryDep, runs: int, masked: bool) -> Access:
    """Return the access of one index expression in the node's loops."""
    name = str(dep.name)
    extents = {str(symbol): hint(size) for symbol, size in zip(dep.var_names, dep.size, strict=True)}
    found = None if dep.is_indirect() else span(_concrete(dep.index, extents), extents)
    if found is not None:
        elements, exact = exactly(found)
        return Access(name, (found, masked), elements * _item_bytes(name), exact and not masked, found)
    used = runs if dep.is_indirect() else math.prod(extents[str(symbol)] for symbol in _loops(dep.index, extents))
    return Access(name, (str(dep.index), tuple(extents.items())), used * _item_bytes(name), exact=False)


def _concrete(index: Any, extents: dict[str, int]) -> Any:
    """Return an index with this call's sizes in place of all symbols except loop variables."""
    sizes = {symbol: hint(symbol) for symbol in index.free_symbols if str(symbol) not in extents}
    return index.subs(sizes) if sizes else index


def _loops(index: Any, extents: dict[str, int]) -> list[Any]:
    return [symbol for symbol in index.free_symbols if str(symbol) in extents]


def _of_call(call: Any) -> tuple[list[Access], list[Access]]:
    """Return the accesses of a library call, not of a view op: its inputs, outputs and mutations."""
    overload = getattr(call, "op_overload", None)
    if overload is not None and _is_view(overload):
        return [], []
    gathers = overload is not None and op_class(str(overload)) == "embedding"
    return [_of_view(view, gathers) for view in _views(call.inputs)], list(_written(call, gathers))


def _written(call: Any, gathers: bool) -> Iterator[Access]:
    """Yield the buffers that a call returns or mutates, each once."""
    changed: set[str] = set()
    for buffer in call.get_outputs():
        name = str(buffer.get_name())
        if not isinstance(_layout(buffer), ir.NoneLayout):
            yield Access(name, "whole", buffer_bytes(name), not gathers)
            continue
        fresh = set(buffer.get_mutation_names()) - changed
        changed |= fresh
        yield Access(name, "whole", sum(map(buffer_bytes, fresh)), not gathers)


def _is_view(overload: Any) -> bool:
    returned = [item.alias_info for item in getattr(getattr(overload, "_schema", None), "returns", ())]
    return bool(returned) and all(alias is not None and not alias.is_write for alias in returned)


def _views(inputs: Iterable[Any]) -> Iterator[Any]:
    """Yield the tensors among a call's inputs, which may be nested."""
    for item in inputs:
        if isinstance(item, Sequence):
            yield from _views(item)
        elif isinstance(item, ir.IRNode) and hasattr(_layout(item), "size"):
            yield item


def _layout(node: Any) -> Any:
    """Return the layout of a buffer or view; None if it has none.

    A buffer with several results or no value has no `get_layout`. A mutation has the layout of the whole mutated
    buffer, although it may change only a part.
    """
    found: Any = node.maybe_get_layout() if hasattr(node, "maybe_get_layout") else None
    found = found if found is not None else getattr(node, "layout", None)
    return found.real_layout() if hasattr(found, "real_layout") else found


def _of_view(view: Any, gathers: bool) -> Access:
    layout = _layout(view)
    pairs = [(hint(stride), hint(size)) for stride, size in zip(layout.stride, layout.size, strict=True)]
    found = Span.of(hint(layout.offset), pairs)
    elements, exact = exactly(found)
    return Access(str(view.get_name()), found, elements * layout.dtype.itemsize, exact and not gathers, found)


def buffer_bytes(name: str) -> int:
    """Return the bytes of a buffer; 0 if it has no size.

    For a multi-output call, return the bytes of all results. For a call that only mutates buffers, return the
    bytes of those buffers.
    """
    buffer = V.graph.try_get_buffer(name)
    layout = _layout(buffer)
    if isinstance(layout, ir.MultiOutputLayout):
        return sum(map(buffer_bytes, _results(name)))
    if isinstance(layout, ir.NoneLayout):
        return sum(buffer_bytes(changed) for changed in buffer.get_mutation_names() if changed != name)
    if layout is None or not hasattr(layout, "size"):
        return 0
    return math.prod(map(hint, layout.size)) * layout.dtype.itemsize


def _results(name: str) -> Iterator[str]:
    """Yield the buffers that unpack the results of a call."""
    for buffer in V.graph.buffers:
        if isinstance(buffer, ir.MultiOutput) and buffer.inputs[0].get_name() == name:
            yield str(buffer.get_name())


def _item_bytes(name: str) -> int:
    buffer = V.graph.try_get_buffer(name)
    layout = _layout(buffer)
    if isinstance(layout, ir.NoneLayout):
        return max((_item_bytes(changed) for changed in buffer.get_mutation_names() if changed != name), default=0)
    return layout.dtype.itemsize if layout is not None and hasattr(layout, "dtype") else 0
