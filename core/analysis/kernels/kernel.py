"""Display names of kernels, and the choice between two measured times of a kernel.

A display name is `layers.0.mlp · gelu` for `cpp_fused_gelu_view_2`. The time of the kernel alone counts. If
that time is missing or was disturbed, the time in place counts.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from core.analysis.interval import BUSY, busy
from core.base.decoder import toml_as
from core.base.words import duration_s
from core.ops.costs import aten_name, op_class
from core.report import (
    Compilation,
    FxNode,
    Kernel,
    KernelTime,
    Module,
    ModulePath,
    Report,
    Schedule,
    SchedulerNode,
    module_path,
    stored,
)

# Minimum share of a kernel's nodes in its module, so that a residual sum fused with a norm doesn't change the module.
MAJORITY = 2 / 3
NAMED_OPS = 2
LONGEST_GENERATED = 400  #: characters of a kernel's name that are parsed as ops
LONGEST_PATH = 34  #: characters of a module's path in a kernel's name, if it can be shortened
FUSED = re.compile(r"(?:^|_)fused_(.+?)(?:_\d+)?$")
DECOMPOSED = toml_as(Path(__file__).with_name("kernel.toml"), dict[str, tuple[str, ...]])["decomposed"]
# Op classes, the most characteristic of a kernel first; among pointwise ops, plain arithmetic comes last.
WEIGHTS = {
    "attention": 8, "matmul": 7, "collective": 6, "reduction": 5, "embedding": 4, "random": 3, "pointwise": 3,
    "other": 2, "copy": 0, "view": -1,
}  # fmt: skip
LIBRARY = ("attention", "matmul")
TEMPLATE = "template"
# Kind of an extern kernel that calls ATen for an op, and Inductor's class of such a node.
FALLBACK, FALLBACK_NODE = "fallback", "FallbackKernel"
# Op of Inductor's graph → the name that torch gives it in a kernel's name.
GENERATED_NAMES = {"convert_element_type": "_to_copy"}
ARITHMETIC = frozenset(
    ("add", "sub", "rsub", "mul", "div", "neg", "pow", "sqrt", "abs", "where", "maximum", "minimum", "full", "square")
)
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge", "bitwise_", "logical_")
BACKWARD = re.compile(r"_backward(_data)?$")
NODE_NUMBER = re.compile(r"(_(default|tensor|scalar))?(_\d+)?$")
NAME_KINDS = {"triton_poi": "pointwise", "triton_red": "reduction", "triton_per": "persistent reduction"}
NAME_KINDS |= {"triton_tem": "template", "triton_for": "foreach"}


@lru_cache(maxsize=1 << 14)
def node_op(name: str) -> str:
    """Return the op of an FX node's name: `add` for `add_3` and `add_tensor_1`.

    Torch names a node after its op. The name of a node from a pass has the overload, too.
    """
    return NODE_NUMBER.sub("", name)


def schedule_of(kernel: Kernel, compilation: Compilation) -> Schedule | None:
    """Return the schedule that launches the kernel, otherwise the first one of the kernel's direction.

    A graph's branches have separate schedules of the same direction. None if the direction has no schedule.
    """
    same = [schedule for schedule in compilation.schedules if schedule.direction == kernel.direction]
    launching = (schedule for schedule in same if any(node.kernel == kernel.id for node in schedule.after))
    return next(launching, same[0] if same else None)


def call_origins(kernel: Kernel, schedule: Schedule | None) -> tuple[tuple[str, ...], ...]:
    """Return the FX nodes that each call of a kernel computes, in call order.

    A kernel shared by layers is called once per layer. If the split is unknown, each call gets all nodes.
    """
    nodes = [node for node in schedule.after if node.kernel == kernel.id] if schedule else []
    calls = max(1, len(kernel.calls))
    if calls == 1 or not nodes or len(nodes) % calls:
        return (kernel.origins,) * calls
    size = len(nodes) // calls
    parts = (nodes[at : at + size] for at in range(0, len(nodes), size))
    return tuple(tuple(dict.fromkeys(name for node in part for name in node.origins)) for part in parts)


class KernelNames:
    """Display names of a compilation's kernels; `targets` are the call targets of its graphs."""

    def __init__(self, kernels: Iterable[Kernel], schedules: Iterable[Schedule], targets: Iterable[str]) -> None:
        own = list(schedules)
        modules = {module for schedule in own for module in schedule.modules.values()}
        called = (call.op for schedule in own for call in schedule.eager_calls)
        self._stack = stack_of(module_path(module.path) for module in modules)
        self._classes = {module_path(module.path): module.kind for module in modules if module.path}
        self._library = frozenset(aten_name(kernel.name) for kernel in kernels if kernel.extern)
        self._op_names = frozenset(DECOMPOSED) | {aten_name(target) for target in (*targets, *called)}
        self._ops: dict[str, tuple[Kernel, tuple[str, ...]]] = {}
        self._moved: tuple[Schedule | None, dict[str, frozenset[str]]] = None, {}

    @classmethod
    def within(cls, compilation: Compilation) -> KernelNames:
        """Return the names for all kernels of a compilation."""
        targets = (target for graph in compilation.graphs for target in graph.targets)
        return cls(compilation.kernels, compilation.schedules, targets)

    def named(
        self, kernel: Kernel, origins: Sequence[str], schedule: Schedule | None, apart: Collection[str] = ()
    ) -> str:
        """Return a display name, `layers.0.mlp · gelu`: a module and the most characteristic ops.

        The module is that of most `origins`; a kernel over several modules gets the common part of their paths. A
        kernel without ops gets its generated name. Ops in `apart` are left out if there are others.
        """
        ops = tuple(op for op in self.ops(kernel) if op not in apart) or self.ops(kernel)
        # The op of a library call comes after those of its inputs, which torch may name, too.
        named = ([name for name in origins if node_op(name) in ops] or origins[-1:]) if kernel.extern else []
        path = common_path(named or origins, schedule.modules if schedule else {})
        module = path_words(shortened(path, self._stack))
        # A number alone looks like that of a kernel.
        module = f"{self._classes.get(path, '')} {module}".strip() if module.isdecimal() else module
        words = op_words(ops, origins, self._moved_most(kernel, schedule))
        suffix = " (backward)" if kernel.direction == "backward" and "backward" not in words else ""
        return " · ".join(filter(None, [module, words])) + suffix if ops else kernel.name

    def _moved_most(self, kernel: Kernel, schedule: Schedule | None) -> Collection[str]:
        """Return the copies that move at least half of a kernel's bytes; all kernels of a schedule at once."""
        if schedule is not self._moved[0]:
            nodes: dict[str, list[SchedulerNode]] = {}
            for node in schedule.after if schedule else ():
                nodes.setdefault(node.kernel, []).append(node)
            self._moved = schedule, {kernel_id: moved_most(members) for kernel_id, members in nodes.items()}
        return self._moved[1].get(kernel.id, ())

    def ops(self, kernel: Kernel) -> tuple[str, ...]:
        """Return the ops in the kernel's generated name, otherwise the ops of its nodes.

        A library call has one op, its ATen op. In a generated name, ops of library calls do not count if there are
        other ops: loops that prepare a mask are named after their attention. In a template, all ops count.
        """
        known = self._ops.get(kernel.id)
        if known is None or known[0] is not kernel:
            known = self._ops[kernel.id] = kernel, self._computed(kernel)
        return known[1]

    def _computed(self, kernel: Kernel) -> tuple[str, ...]:
        if kernel.extern:
            return (aten_name(kernel.name).removesuffix("_"),)
        match = FUSED.search(kernel.name[:LONGEST_GENERATED])
        computed = tuple(dict.fromkeys(map(node_op, kernel.origins)))
        if not match:
            return computed
        ops = fused_ops(match[1], self._op_names | set(computed))
        if kernel.category == TEMPLATE:
            return ops
        return tuple(op for op in ops if op not in self._library and op_class(op) not in LIBRARY) or ops


def kernel_names(compilation: Compilation, ids: Collection[str] | None = None) -> dict[str, str]:
    """Return kernel → display name, for the kernels with these ids, by default for all."""
    names = KernelNames.within(compilation)
    launching: dict[tuple[str, str], Schedule] = {}
    for schedule in compilation.schedules:
        for node in schedule.after:
            launching.setdefault((schedule.direction, node.kernel), schedule)
    return {
        kernel.id: names.named(
            kernel,
            kernel.origins,
            launching.get((kernel.direction, kernel.id)) or schedule_of(kernel, compilation),
        )
        for kernel in compilation.kernels
        if ids is None or kernel.id in ids
    }


@lru_cache(maxsize=4096)
def fused_ops(text: str, known_ops: frozenset[str]) -> tuple[str, ...]:
    """Return the ops in a generated name: `add`, `native_layer_norm` for `add_native_layer_norm`.

    Torch joins op names with underscores, in alphabetical order; the names may contain underscores, too. The
    split with the lowest cost is returned. Unknown parts and parts out of order cost more than known ops.
    """
    cuts = [0, *(at + 1 for at, letter in enumerate(text) if letter == "_" and at), len(text) + 1]
    best: dict[int, tuple[float, tuple[str, ...]]] = {0: (0.0, ())}
    for end_at, end in enumerate(cuts[1:], 1):
        options = []
        for start in cuts[:end_at]:
            part = text[start : end - 1]
            if not part or start not in best:
                continue
            cost, parts = best[start]
            late = parts and parts[-1] >= part
            options.append((cost + (1 if part in known_ops else 3 + part.count("_")) + 5 * bool(late), (*parts, part)))
        if options:
            best[end] = min(options)
    return best[len(text) + 1][1]


def moved_most(nodes: Sequence[SchedulerNode]) -> frozenset[str]:
    """Return the copies that move at least half of the bytes of a kernel's `nodes`; empty if other ops do.

    C++ code generation puts the loop of a converted weight into one kernel with the loops of other ops.
    """
    copying = [node for node in nodes if node.origins and all(map(_only_moves, node.origins))]
    if 2 * sum(node.bytes_accessed for node in copying) < sum(node.bytes_accessed for node in nodes):
        return frozenset()
    moved = (node_op(name) for node in copying for name in node.origins)
    return frozenset(GENERATED_NAMES.get(op, op) for op in moved if op_class(op) == "copy")


def _only_moves(origin: str) -> bool:
    return op_class(node_op(origin)) in ("view", "copy")


def op_words(ops: Iterable[str], origins: Sequence[str], moved: Collection[str] = ()) -> str:
    """Return the most characteristic ops of a kernel, and the number of its other ops: `softmax, mul +3`.

    Copies count if there are no other ops; those in `moved` come first.
    """
    times, distinct = Counter(map(node_op, origins)), list(dict.fromkeys(ops))
    working = [op for op in distinct if op_class(op) not in ("view", "copy")] or distinct
    first = [op for op in distinct if op in moved and op not in working]
    ranked = sorted(working, key=lambda op: (-_weight(op), -times[op], op))
    more = len(ranked) - NAMED_OPS
    return ", ".join(map(_without_prefix, [*first, *ranked[:NAMED_OPS]])) + (f" +{more}" if more > 0 else "")


def _weight(op: str) -> float:
    if op in ARITHMETIC:
        return 1.0
    if op.startswith(COMPARISONS):
        return 0.5
    return WEIGHTS[op_class(BACKWARD.sub("", op))] + 0.5 * bool(BACKWARD.search(op))


def _without_prefix(op: str) -> str:
    """Return an op without ATen's prefixes and suffixes: `layer_norm` for `native_layer_norm`."""
    return op.removeprefix("_").removeprefix("native_").replace("_for_cpu", "").removesuffix("_data")


def common_path(origins: Iterable[str], modules: Mapping[str, Module]) -> ModulePath:
    """Return the path of the deepest module with two thirds of the nodes; empty if there is none.

    Views do not count unless all nodes are views.
    """
    placed = [name for name in origins if name in modules and modules[name].path]
    working = [name for name in placed if op_class(node_op(name)) != "view"] or placed
    paths = [module_path(modules[name].path) for name in working]
    counts = Counter(path[:length] for path in paths for length in range(1, len(path) + 1))
    enough = [path for path, count in counts.items() if count >= MAJORITY * len(paths)]
    return max(enough, key=len, default=())


def stack_of(paths: Iterable[ModulePath]) -> ModulePath:
    """Return the path above the list of the model's layers: `self, model` for `self.model.layers.0`.

    Empty if there is no such list, or more than one, as in a model with an encoder and a decoder.
    """
    heads = {path[: at - 1] for path in paths if (at := _first_index(path)) > 1}
    return next(iter(heads)) if len(heads) == 1 else ()


def _first_index(path: ModulePath) -> int:
    return next((at for at, segment in enumerate(path) if segment.isdecimal()), 0)


def shortened(path: ModulePath, stack: ModulePath) -> ModulePath:
    """Return a path without the prefix `stack`; a path outside of `stack` loses only its root."""
    inside = len(stack) > 1 and path[: len(stack)] == stack and len(path) > len(stack)
    return path[len(stack) :] if inside else path[1:]


def path_words(path: ModulePath) -> str:
    """Return a path with dots; a long one is shortened to the layer and the last two modules.

    For example `encoder.block.0…DenseReluDense.wi`.
    """
    dotted, head = ".".join(path), path[: _first_index(path) + 1]
    if len(dotted) <= LONGEST_PATH or len(path) < len(head) + 3:
        return dotted
    return f"{'.'.join(head)}…{'.'.join(path[-2:])}"


def kernel_kind(kernel: Kernel, nodes: Iterable[SchedulerNode] = ()) -> str:
    """Return torch's kind of a kernel: Triton heuristic, C++ loops, template, extern, or fallback.

    An extern kernel is a fallback if one of its scheduler `nodes` is a fallback node: Inductor has no lowering for the
    op or does not use the lowering, and calls ATen.
    """
    if kernel.extern and any(FALLBACK_NODE in node.ops for node in nodes):
        return FALLBACK
    if kernel.language != "triton" or kernel.category != "C++ loops":
        return kernel.category
    return NAME_KINDS.get(kernel.name[:10], "Triton")


Timed = Literal["alone", "in the call", "predicted", "not reliable", ""]
ALONE: Final = "alone"
IN_PLACE: Final = "in the call"
PREDICTED: Final = "predicted"
UNRELIABLE: Final = "not reliable"
MISSING: Final = ""
DISTURBED = 2.0
# Caches and first memory accesses make equal kernels differ by less than this factor.
UNLIKE_FROM = 3.0
# Excess time of uneven repeats, as a fraction of all kernel time, that is too small to change any finding.
LEAST_EXCESS = 0.05
Shape = tuple[str, tuple[str, ...]]


def how_timed(time: KernelTime | None) -> Timed:
    """Return the kind of time that counts for a kernel: alone, in place, or missing."""
    if time is None:
        return MISSING
    return ALONE if time.samples_s and not _disturbed(time) else IN_PLACE if time.in_place_s else MISSING


def untimed_reason(time: KernelTime | None) -> str:
    """Return why the time of the kernel alone does not count; empty if it counts or was not recorded."""
    if time is None or not time.samples_s:
        return time.reason if time else ""
    return "by itself it took far longer than in place: other processes had the machine" if _disturbed(time) else ""


def _disturbed(time: KernelTime) -> bool:
    """Return True if the kernel was over twice as slow alone as in place: the machine was busy."""
    place_s = in_place_s(time)
    return place_s is not None and statistics.median(time.samples_s) > DISTURBED * place_s


def time_s(time: KernelTime | None, least: bool = False) -> float | None:
    """Return the seconds of one kernel call: alone if undisturbed, otherwise in place; None if not timed.

    This is the median of the samples, or with `least` their minimum. The minimum is for a busy machine: other
    processes only add to a kernel's time, and may disturb most samples.
    """
    middle = min if least else statistics.median
    return middle(time.samples_s) if time and how_timed(time) == ALONE else in_place_s(time, least)


def in_place_s(time: KernelTime | None, least: bool = False) -> float | None:
    """Return the seconds of one call in place: median or minimum, as in `time_s`; None if not timed."""
    middle = min if least else statistics.median
    return middle(time.in_place_s) / max(1, time.calls) if time and time.in_place_s else None


def quartiles_s(time: KernelTime | None) -> tuple[float, float] | None:
    """Return the quartiles of the time alone; None if that time does not count or is a single sample."""
    if time is None or how_timed(time) != ALONE or len(time.samples_s) < 2:
        return None
    low, _, high = statistics.quantiles(time.samples_s, n=4, method="inclusive")
    return low, high


def kernel_times(compilation: Compilation) -> list[KernelTime]:
    """Return the measurements of every wrapper line that calls a kernel."""
    return [call.time for kernel in compilation.kernels for call in kernel.calls if call.time is not None]


@dataclass(frozen=True, slots=True)
class UnevenRepeats:
    """Two calls of one kernel or library function with the same shapes, and their seconds."""

    name: str
    slow_s: float
    fast_s: float

    @property
    def words(self) -> str:
        """Both times in words."""
        return f"`{self.name}` took {duration_s(self.slow_s)} and {duration_s(self.fast_s)} for the same shapes"


def times_unreliable(report: Report) -> str:
    """Return why the kernels' times are unreliable; empty if they are reliable."""
    if busy(report.kernel_load):
        return f"{BUSY} while the kernels were timed"
    twins = uneven_repeats(report)
    return f"{twins.words}, so kernel times are not reliable" if twins else ""


def kernels_disturbed(report: Report) -> str:
    """Return why the kernels' times are not compared with the ceilings; empty if they are compared."""
    reason = times_unreliable(report)
    if not reason and report.roofline is not None and report.roofline.disturbed:
        return f"{BUSY} whenever the ceilings were measured"
    return reason


def kernel_seconds(report: Report, compilation: Compilation) -> dict[str, float]:
    """Return kernel → seconds of all its calls in one model call; empty if times are not reliable."""
    return {} if times_unreliable(report) else measured_seconds(compilation)


def measured_seconds(compilation: Compilation) -> dict[str, float]:
    """Return kernel → measured seconds of all its calls in one call of the model, whether reliable or not."""
    seconds_of: dict[str, float] = {}
    for kernel in compilation.kernels:
        for timed in (call.time for call in kernel.calls):
            seconds = time_s(timed)
            if timed is not None and seconds is not None:
                seconds_of[kernel.id] = seconds_of.get(kernel.id, 0.0) + seconds * max(1, timed.calls)
    return seconds_of


@stored
def uneven_repeats(report: Report) -> UnevenRepeats | None:
    """Return two calls with equal work whose seconds differ most; None if the excess is negligible.

    Only calls that take over three times as long as the fastest call with equal work count. Their excess is
    negligible below a twentieth of the kernels' time.
    """
    times = [time for compilation in report.compilations for time in kernel_times(compilation)]
    if not times:
        return None
    total_s = sum(time.calls * (time_s(time) or 0.0) for time in times)
    worst, excess_s = None, 0.0
    for compilation in report.compilations:
        for name, group in _groups(compilation):
            fast_s = min(seconds for seconds, _ in group)
            slow = [(seconds, calls) for seconds, calls in group if seconds > UNLIKE_FROM * fast_s]
            excess_s += sum((seconds - fast_s) * calls for seconds, calls in slow)
            slow_s = max((seconds for seconds, _ in slow), default=0.0)
            if slow and (worst is None or slow_s - fast_s > worst.slow_s - worst.fast_s):
                worst = UnevenRepeats(name, slow_s, fast_s)
    return worst if excess_s >= LEAST_EXCESS * total_s else None


def _groups(compilation: Compilation) -> Iterator[tuple[str, list[tuple[float, int]]]]:
    """Yield the kernel's name, and (seconds, runs) of each call, per group of calls with equal work.

    Calls of a group have the same kind of timing, too. A group has at least two calls.
    """
    shapes = _shapes(compilation)
    groups: dict[object, list[tuple[float, int]]] = {}
    names: dict[object, str] = {}
    for kernel in compilation.kernels:
        work = _work(kernel, shapes.get(kernel.id, ()))
        for time in (call.time for call in kernel.calls):
            seconds = time_s(time)
            if work is not None and time is not None and seconds:
                key = (work, how_timed(time))
                names[key] = kernel.name
                groups.setdefault(key, []).append((seconds, max(1, time.calls)))
    return ((names[key], group) for key, group in groups.items() if len(group) > 1)


def _work(kernel: Kernel, shapes: Sequence[Shape]) -> object:
    """Return a key that is equal for calls of equal work; None if a size is symbolic or unknown.

    The key of a generated kernel is its id, since its source contains the sizes. A library function has one name
    for all sizes, so its key has the shapes, too.
    """
    if not all(size.isdigit() for _, shape in shapes for size in shape):
        return None
    if kernel.extern:
        return (kernel.name, kernel.bytes_read, kernel.flops, tuple(shapes)) if shapes else None
    return kernel.id


def _shapes(compilation: Compilation) -> dict[str, list[Shape]]:
    """Return kernel → dtype and shape of each buffer that its nodes read and write."""
    shapes: dict[str, list[Shape]] = {}
    for schedule in compilation.schedules:
        buffers = {buffer.name: (buffer.dtype, buffer.shape) for buffer in schedule.buffers}
        for node in schedule.before:
            touched = (name for name, _ in (*node.reads, *node.writes) if name in buffers)
            shapes.setdefault(node.kernel, []).extend(buffers[name] for name in touched)
    return shapes


def called_lines(kernel: Kernel, path: str, nodes: Mapping[str, FxNode], op: str = "") -> list[int]:
    """Return the lines of a file that called an op, or else a kernel's ops; the line of most ops first.

    Views count only if there are no other ops. Empty if the kernel does not come from the file.
    """
    known = [nodes[name] for name in kernel.origins if name in nodes]
    working = [node for node in known if op_class(node.target) != "view"] or known
    for chosen in ([node for node in known if node.name == op], working):
        lines = Counter(line for node in chosen if (line := _innermost(node, path)))
        if lines:
            return [line for line, _ in lines.most_common()]
    return []


def _innermost(node: FxNode, path: str) -> int | None:
    places = node.stack or ((node.source,) if node.source else ())
    return next((place.line for place in reversed(places) if place.file == path), None)
