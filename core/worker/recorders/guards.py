"""Recorder of Dynamo's guards: printed lines of each guard, and the time of guard checks.

Checks are timed when guards are created: all guards, all without each family, all without those that a torch
filter removes, and each guard alone. Torch checks guards as one tree, so parts can't be timed from outside.
Instead, copies of the tree without some values are timed: `RootGuardManager.clone_manager` leaves out
selected guards with their subtrees.
"""

from __future__ import annotations

import ast
import gc
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from types import CodeType
from typing import Any, NamedTuple
from unittest.mock import patch

import torch
import torch._dynamo.guards as dynamo_guards
from torch._C._dynamo.guards import RelationalGuard

from core.report import GuardFilter, guard_family, module_roots
from core.report.records import Emit
from core.report.records.compilation import GuardsRecord
from core.worker.recorders.bytecode import met

WARM_UP, CHECKS, CHECKS_OF_COPY = 3, 20, 8
# CPU time of this thread; so short that torch always takes longer to build many guards.
MOST_S = 0.02  #: limit: seconds of timing the guards of a compilation
BATCH, BATCHES = 4, 3
CLONED = ("module", "global", "tensor")
FILTERS = (
    "skip_guard_on_inbuilt_nn_modules_unsafe",
    "skip_guard_on_all_nn_modules_unsafe",
    "skip_guard_on_globals_unsafe",
    "keep_tensor_guards_unsafe",
)


@contextmanager
def watching_guards(emit: Emit, brief: bool = False) -> Iterator[None]:
    """Record the guards of every compilation once torch has made them; `brief` times only their sum."""
    original = dynamo_guards.CheckFunctionManager.__init__

    def made(self: Any, f_code: CodeType, output_graph: Any, *args: Any, **kwargs: Any) -> None:
        original(self, f_code, output_graph, *args, **kwargs)
        met(f_code)
        root = self.guard_manager.root
        try:
            leaves = tuple(leaf_guards(root))
            parts = _printed_parts(leaves)
        except AttributeError:
            return
        emit(_record(root, leaves, parts, output_graph, brief))

    # Torch's own timing clears the CPU's caches first, for 16 ms in each compilation.
    untimed = patch.object(dynamo_guards, "profile_guard_manager", lambda *_: 0.0) if brief else nullcontext()
    with patch.object(dynamo_guards.CheckFunctionManager, "__init__", made), untimed:
        yield


def _record(
    root: Any, leaves: tuple[Leaf, ...], parts: tuple[int, ...], output_graph: Any, brief: bool
) -> GuardsRecord:
    """Return the guard data that the tree's text lacks, with times if the guarded values exist."""
    scope = getattr(output_graph, "local_scope", None)
    took_us = warm_us(root, scope)
    if took_us is None or brief:
        return GuardsRecord(parts=parts, warm_us=took_us)
    clock = GuardClock(root, leaves, scope or {}, getattr(output_graph, "global_scope", None) or {})
    # Guards run user code and torch's filters: their errors must not end the run.
    with _no_collection(), suppress(Exception):
        clock.measure(list(getattr(output_graph, "guards", None) or ()))
    return GuardsRecord(
        parts=parts,
        warm_us=took_us,
        copy_us=clock.copy_us,
        families_us=clock.families_us,
        filters=tuple(clock.filters),
        checks_us=tuple(clock.checks_us),
    )


@contextmanager
def _no_collection() -> Iterator[None]:
    """Disable Python's garbage collection, which takes ten times as long as the measurement."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _printed_parts(leaves: tuple[Leaf, ...]) -> tuple[int, ...]:
    """Return how many lines torch prints for each leaf.

    A relation of several values is printed in full at the first value, and in one line at each other value.
    """
    known: set[Any] = set()
    parts = []
    for guard in (leaf.guard for leaf in leaves):
        again = isinstance(guard, RelationalGuard) and guard in known
        known.add(guard)
        parts.append(1 if again else len(guard.verbose_code_parts()))
    return tuple(parts)


def leaf_guards(root: Any) -> Iterator[Leaf]:
    """Yield the leaf guards below a root in torch's print order, each with its value's source."""
    yield from (Leaf("", guard) for guard in root.get_leaf_guards())
    yield from _below(root)
    if hasattr(root, "get_epilogue_lambda_guards"):
        yield from (Leaf("", guard, last=True) for guard in root.get_epilogue_lambda_guards())


def _below(manager: Any) -> Iterator[Leaf]:
    if hasattr(manager, "get_key_value_managers"):
        for _, pair in sorted(manager.get_key_value_managers().items()):
            for side in filter(None, pair):
                yield from _of(side)
    for _, child in zip(manager.get_accessors(), manager.get_child_managers(), strict=False):
        yield from _of(child)


def _of(manager: Any) -> Iterator[Leaf]:
    source = manager.get_source()
    yield from (Leaf(source, guard) for guard in manager.get_leaf_guards())
    yield from _below(manager)


class Leaf(NamedTuple):
    """A leaf guard of the tree, its value's source (empty for all locals), and if torch checks it last."""

    source: str
    guard: Any
    last: bool = False


@dataclass(frozen=True, slots=True)
class FilterEntry:
    """Input of torch's guard filters, like its own `GuardFilterEntry`; looks up the value on request."""

    orig_guard: Any
    look_up: Callable[[str], Any]

    @property
    def name(self) -> str:
        """Return the source of the guarded value; empty if there is none."""
        return str(self.orig_guard.name)

    @property
    def guard_type(self) -> str:
        """Return torch's name of the guard's type."""
        return str(self.orig_guard.create_fn_name())

    @property
    def is_global(self) -> bool:
        """True if the guard is on a global."""
        return self.name.startswith("G[")

    @property
    def value(self) -> Any:
        return self.look_up(self.name)


def warm_us(root: Any, scope: dict[str, Any] | None, checks: int = CHECKS) -> float | None:
    """Return the minimum microseconds of consecutive checks; None if the check fails or has no values."""
    if not scope:
        return None
    seconds = []
    for _ in range(WARM_UP + checks):
        start = time.perf_counter()
        passed = root.check(scope)
        seconds.append(time.perf_counter() - start)
        if not passed:
            return None
    return min(seconds[WARM_UP:]) * 1e6


def _text(leaf: Leaf) -> str:
    return "\n".join(leaf.guard.verbose_code_parts()) if leaf.last else ""


class GuardClock:
    """Timer for the guards of one compilation, with a time limit; guards after the limit are not timed."""

    def __init__(self, root: Any, leaves: Sequence[Leaf], scope: dict[str, Any], outside: dict[str, Any]) -> None:
        self.copy_us: float | None = None
        self.families_us: dict[str, float] = {}
        self.filters: list[GuardFilter] = []
        self.checks_us: list[float | None] = []
        self._root, self._leaves, self._scope = root, leaves, scope
        self._values: dict[str, Any] = {"": scope}
        self._names = {"L": scope, "G": outside}
        self._until_s = time.thread_time() + MOST_S

    def measure(self, guards: Sequence[Any]) -> None:
        """Measure everything; `guards` are torch's Guard objects, from before the tree was built."""
        self.copy_us = self._without(lambda source: False)
        if self.copy_us is None:
            return
        families = self._families()
        self._measure_families(families)
        self._measure_filters(guards)
        self._measure_leaves()
        for last in ("shape", "number"):
            checks = [us for us, family in zip(self.checks_us, families, strict=True) if family == last]
            if checks and None not in checks:
                self.families_us[last] = sum(us for us in checks if us is not None)

    def _families(self) -> list[str]:
        modules = module_roots({leaf.source for leaf in self._leaves})
        return [
            guard_family(type(leaf.guard).__name__, leaf.source, modules, leaf.last, _text(leaf))
            for leaf in self._leaves
        ]

    def _measure_families(self, families: Sequence[str]) -> None:
        for family in CLONED:
            gone = {leaf.source for leaf, one in zip(self._leaves, families, strict=True) if one == family}
            left_us = self._without(gone.__contains__) if gone else None
            if left_us is not None and self.copy_us is not None:
                self.families_us[family] = max(0.0, self.copy_us - left_us)

    def _measure_filters(self, guards: Sequence[Any]) -> None:
        entries = [FilterEntry(guard, self._value) for guard in guards]
        for name in FILTERS if entries else ():
            kept = getattr(torch.compiler, name)(entries)
            stays = sorted({entry.name for entry, stay in zip(entries, kept, strict=True) if stay})
            goes = {entry.name for entry in entries}.difference(stays)
            left_us = self._without({source for source in goes if not _leads(source, stays)}.__contains__)
            if left_us is not None:
                self.filters.append(GuardFilter(name, sum(kept), len(entries), left_us))

    def _without(self, gone: Callable[[str], bool]) -> float | None:
        """Return the time of a check without some values; None after the time limit, or if the check fails."""
        if time.thread_time() > self._until_s:
            return None
        copy = self._root.clone_manager(lambda manager: not gone(manager.get_source()))
        return warm_us(copy, self._scope, CHECKS_OF_COPY)

    def _measure_leaves(self) -> None:
        """Measure each leaf, those first that torch checks last: only here are they measured."""
        order = sorted(range(len(self._leaves)), key=lambda index: not self._leaves[index].last)
        taken = {index: self._check_us(self._leaves[index]) for index in order}
        cheapest_us = min((us for us in taken.values() if us is not None), default=0.0)
        self.checks_us = [None if us is None else us - cheapest_us for _, us in sorted(taken.items())]

    def _check_us(self, leaf: Leaf) -> float | None:
        """Return the microseconds of one leaf alone.

        None after the time limit, if the check fails, and for a relation of several values, which can't be called.
        """
        guard = leaf.guard
        if not callable(guard) or time.thread_time() > self._until_s:
            return None
        value = self._value(leaf.source)
        # Guards may call user code, which may raise.
        with suppress(Exception):
            if guard(value):
                return min(_batch_s(guard, value) for _ in range(BATCHES)) / BATCH * 1e6
        return None

    def _value(self, source: str) -> Any:
        """Return the guarded value of a source; None if it can't be resolved without torch's functions."""
        if source not in self._values:
            self._values[source] = None
            with suppress(Exception):
                self._values[source] = _resolved(ast.parse(source, mode="eval").body, self._names)
        return self._values[source]


def _resolved(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """Evaluate a name with attributes, constant indexes, and calls of methods without arguments."""
    match node:
        case ast.Name():
            return names[node.id]
        case ast.Attribute():
            return getattr(_resolved(node.value, names), node.attr)
        case ast.Subscript(slice=ast.Constant(value=key)):
            return _resolved(node.value, names)[key]
        case ast.Call(args=[], keywords=[]):
            return _resolved(node.func, names)()
    raise LookupError(ast.unparse(node))


def _batch_s(guard: Any, value: Any) -> float:
    start = time.perf_counter()
    for _ in range(BATCH):
        guard(value)
    return time.perf_counter() - start


def _leads(source: str, stays: Sequence[str]) -> bool:
    """Return True if a value is on the path to a remaining value; `stays` is sorted."""
    at = bisect_left(stays, source)
    return at < len(stays) and stays[at].startswith(source)
