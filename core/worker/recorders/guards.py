"""Dynamo's guards, recorded from the tree that is checked: how many parts torch prints of each, and what checking them
costs.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import CodeType
from typing import Any
from unittest.mock import patch

import torch._dynamo.guards as dynamo_guards
from torch._C._dynamo.guards import RelationalGuard

from core.report.records import Emit
from core.report.records.graphs import GuardsRecord
from core.worker.recorders.guard_costs import GuardClock, Leaf, warm_us
from core.worker.recorders.reuse import met


@contextmanager
def watching_guards(emit: Emit) -> Iterator[None]:
    """Record the guards of every compilation as soon as torch has made and logged them."""
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
        emit(_record(root, leaves, parts, output_graph))

    with patch.object(dynamo_guards.CheckFunctionManager, "__init__", made):
        yield


def _record(root: Any, leaves: tuple[Leaf, ...], parts: tuple[int, ...], output_graph: Any) -> GuardsRecord:
    """Return the record of guard data missing from the tree's text, with times if the guarded values exist."""
    scope = getattr(output_graph, "local_scope", None)
    took_us = warm_us(root, scope)
    if took_us is None:
        return GuardsRecord(parts=parts)
    clock = GuardClock(root, leaves, scope or {}, getattr(output_graph, "global_scope", None) or {})
    # Guards run the user's code and torch's filters: what they raise must not end the run.
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
    """Python's search for garbage goes through all that Dynamo has traced, and takes ten times as long as the rest."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _printed_parts(leaves: tuple[Leaf, ...]) -> tuple[int, ...]:
    """Return how many lines torch prints for each leaf.

    A relation of several values is printed only at the first of them.
    """
    known: set[Any] = set()
    parts = []
    for guard in (leaf.guard for leaf in leaves):
        again = isinstance(guard, RelationalGuard) and guard in known
        known.add(guard)
        parts.append(1 if again else len(guard.verbose_code_parts()))
    return tuple(parts)


def leaf_guards(root: Any) -> Iterator[Leaf]:
    """The leaf guards below a root with the value that each is about, in the order in which torch prints them."""
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
