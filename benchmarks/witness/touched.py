"""Buffer elements that a scheduler node accesses, from its index expressions and their ranges.

The count is exact if every index is arithmetic on loop variables. A read at a data-dependent index
(embedding, gather) may access one element per iteration, at most the whole buffer: then the count is a bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
from torch._inductor import ir
from torch._inductor.dependencies import MemoryDep, StarDep
from torch._inductor.virtualized import V

MAX_ITERATIONS = 200_000_000
FUNCTIONS: dict[str, Any] = {
    "FloorDiv": lambda a, b: a // b,
    "CleanDiv": lambda a, b: a // b,
    "ModularIndexing": lambda a, b, c: (a // b) % c,
    "PythonMod": lambda a, b: a % b,
    "Mod": lambda a, b: a % b,
    "Identity": lambda a: a,
    "Min": np.minimum,
    "Max": np.maximum,
    "Where": np.where,
}


@dataclass(frozen=True, slots=True)
class NodeBytes:
    """Bytes that one node reads and writes, by buffer.

    `bounded` names the buffers with a bound instead of an exact count.
    """

    reads: dict[str, int]
    writes: dict[str, int]
    bounded: frozenset[str]

    @property
    def bytes(self) -> int:
        """The sum of bytes read and written."""
        return sum(self.reads.values()) + sum(self.writes.values())


def touched(node: Any) -> NodeBytes:
    """Return the bytes that a fused or unfused node reads and writes outside of itself."""
    parts = [part for part in node.get_nodes() if not _moves_nothing(part)]
    outputs = {name for part in node.get_nodes() for name in map(str, part.get_buffer_names())}
    reads = [
        dep
        for part in parts
        for dep in part.read_writes.reads
        if str(dep.name) not in outputs | _overwritten(part, dep)
    ]
    writes = [dep for part in parts for dep in part.read_writes.writes if _leaves(str(dep.name), node)]
    bounded: set[str] = set()
    return NodeBytes(_bytes(reads, parts, bounded), _bytes(writes, parts, bounded), frozenset(bounded))


def _moves_nothing(part: Any) -> bool:
    """Return True for nodes that move no data: no-ops, nodes that unpack results, and graph calls.

    The called graphs have their own schedules.
    """
    kinds = {type(part).__name__, type(part.node).__name__}
    return bool(
        kinds & {"NopKernelSchedulerNode", "MultiOutput", "Conditional", "Switch", "WhileLoop", "InvokeSubgraph"}
    )


def _overwritten(part: Any, dep: Any) -> set[str]:
    """Return the buffers that a part overwrites in place without reading them.

    A dependency on such a buffer only keeps the order. Empty for extern kernels, index dependencies and atomic
    adds.
    """
    if part.is_extern() or not isinstance(dep, StarDep) or dep.mode == "atomic_add":
        return set()
    changed = {name for buffer in part.get_outputs() for name in map(str, buffer.get_mutations())}
    return changed | {str(part.mutation_renames.get(name, name)) for name in changed}


def _leaves(name: str, node: Any) -> bool:
    """Return True if a node outside of this one uses the buffer, or if the scheduler doesn't know it."""
    inside = {part.get_name() for part in node.get_nodes()}
    buffer = node.scheduler.name_to_buf.get(name)
    return buffer is None or any(user.node.get_name() not in inside for user in buffer.users if not user.is_weak)


def _bytes(deps: list[Any], parts: list[Any], bounded: set[str]) -> dict[str, int]:
    """Return bytes by buffer; the names that a buffer gets by in-place changes count as one buffer."""
    by_buffer: dict[str, list[Any]] = {}
    for dep in deps:
        names = parts[0].scheduler.mutation_real_name
        by_buffer.setdefault(str(names.get(dep.name, dep.name)), []).append(dep)
    return {name: total for name, of_it in by_buffer.items() if (total := _of_buffer(name, of_it, parts, bounded))}


def _of_buffer(name: str, deps: list[Any], parts: list[Any], bounded: set[str]) -> int:
    layout = _layout(name)
    if layout is None:
        return _results_bytes(name)
    names = {name, *(str(dep.name) for dep in deps)}
    storage = _elements([layout.storage_size()])
    elements = _elements(layout.size)
    added = any(map(_adds, deps))
    unindexed = [dep for dep in deps if isinstance(dep, StarDep) and dep.mode != "atomic_add"]
    indexed = {(dep.index, dep.var_names, dep.size): dep for dep in deps if isinstance(dep, MemoryDep)}
    if unindexed:
        count = _view_elements(names, parts, elements)
    elif added:
        bounded.add(name)
        adding = [part for part in parts if any(_adds(dep) and str(dep.name) in names for dep in _all(part))]
        count = min(elements, sum(_iterations(dep) for part in adding for dep in part.read_writes.writes))
    elif any(_indirect(dep) for dep in indexed.values()):
        bounded.add(name)
        count = min(elements, sum(_iterations(dep) for dep in indexed.values()))
    else:
        count = _distinct(list(indexed.values()), storage)
    return count * int(layout.dtype.itemsize)


def _adds(dep: Any) -> bool:
    """Return True if a dependency is an atomic add, at data-dependent positions."""
    return isinstance(dep, StarDep) and dep.mode == "atomic_add"


def _all(part: Any) -> list[Any]:
    return [*part.read_writes.reads, *part.read_writes.writes]


def _layout(name: str) -> Any:
    buffer = V.graph.try_get_buffer(name)
    layout: Any = buffer.maybe_get_layout() if buffer is not None else None
    layout = layout.real_layout() if hasattr(layout, "real_layout") else layout
    return layout if hasattr(layout, "size") else None


def _elements(sizes: Any) -> int:
    """Return the number of elements of a shape; symbolic sizes have their hints, 0 without a hint."""
    return math.prod(int(V.graph.sizevars.optimization_hint(size, fallback=0)) for size in sizes)


def _results_bytes(name: str) -> int:
    """Return the result bytes of a call with several results, each unpacked into its own buffer."""
    parts = (buffer for buffer in V.graph.buffers if isinstance(buffer, ir.MultiOutput))
    return sum(
        _elements(part.get_size()) * int(part.get_dtype().itemsize)
        for part in parts
        if part.inputs[0].get_name() == name
    )


def _view_elements(names: set[str], parts: list[Any], elements: int) -> int:
    """Return the number of elements in the views of a buffer that extern kernels read.

    At most the whole buffer; the whole buffer without such views.
    """
    views = [
        _elements(value.get_size())
        for part in parts
        if part.is_extern()
        for value in _inputs(part.node)
        if value.get_name() in names
    ]
    return min(elements, sum(views)) if views else elements


def _inputs(ir_node: Any) -> list[Any]:
    inputs = getattr(ir_node, "inputs", ())
    flat = [value for part in inputs for value in (part if isinstance(part, (list, tuple)) else (part,))]
    return [value for value in flat if hasattr(value, "get_size") and hasattr(value, "get_name")]


def _indirect(dep: MemoryDep) -> bool:
    return bool(_with_hints(dep.index).free_symbols - set(dep.var_names))


def _with_hints(index: sympy.Expr) -> sympy.Expr:
    """Return the index with symbolic sizes replaced by their values."""
    hints = {
        symbol: V.graph.sizevars.optimization_hint(symbol, fallback=0)
        for symbol in index.free_symbols
        if str(symbol).startswith(("s", "u"))
    }
    return index.subs(hints)


def _iterations(dep: MemoryDep) -> int:
    return int(np.prod(_sizes(dep), dtype=np.int64))


def _sizes(dep: MemoryDep) -> list[int]:
    return [int(V.graph.sizevars.optimization_hint(size, fallback=0)) for size in dep.size]


def _distinct(deps: list[MemoryDep], storage: int) -> int:
    if len(deps) == 1 and (count := _affine(deps[0])) is not None:
        return count
    marks = np.zeros(max(storage, 1), dtype=bool)
    for dep in deps:
        marks[np.clip(_addresses(dep), 0, len(marks) - 1)] = True
    return int(marks.sum())


def _affine(dep: MemoryDep) -> int | None:
    """Return the number of elements of an index that visits no address twice; None for other indices.

    Each stride must exceed the reach of all smaller strides.
    """
    index = sympy.expand(_with_hints(dep.index))
    sizes = dict(zip(dep.var_names, _sizes(dep), strict=True))
    strides = {symbol: index.coeff(symbol) for symbol in sizes}
    rest = index - sum(stride * symbol for symbol, stride in strides.items())
    if not sympy.expand(rest).is_number or not all(stride.is_Integer and stride >= 0 for stride in strides.values()):
        return None
    reach, count = 0, 1
    for symbol in sorted((symbol for symbol in sizes if strides[symbol]), key=lambda symbol: strides[symbol]):
        if strides[symbol] <= reach:
            return None
        reach += int(strides[symbol]) * (sizes[symbol] - 1)
        count *= sizes[symbol]
    return count


def _addresses(dep: MemoryDep) -> np.ndarray[Any, Any]:
    index, sizes = _with_hints(dep.index), _sizes(dep)
    if int(np.prod(sizes, dtype=np.int64)) > MAX_ITERATIONS:
        raise MemoryError(f"{dep} has too many iterations to walk through")
    grid = np.ix_(*(np.arange(size, dtype=np.int64) for size in sizes))
    places = sympy.lambdify(list(dep.var_names), index, modules=[FUNCTIONS, "numpy"])(*grid)
    return np.asarray(np.broadcast_to(places, [max(size, 0) for size in sizes]), dtype=np.int64).ravel()
