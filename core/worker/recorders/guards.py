"""Dynamo's guards, recorded from the tree that is checked: how many parts torch prints of each, and what a warm check
costs.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch._dynamo.guards as dynamo_guards
from torch._C._dynamo.guards import RelationalGuard

from core.records import Emit
from core.records.graphs import GuardsRecord

WARM_UP, CHECKS = 3, 20


@contextmanager
def watching_guards(emit: Emit) -> Iterator[None]:
    """Record the guards of every compilation as soon as torch has made and logged them."""
    original = dynamo_guards.CheckFunctionManager.__init__

    def made(self: Any, f_code: Any, output_graph: Any, *args: Any, **kwargs: Any) -> None:
        original(self, f_code, output_graph, *args, **kwargs)
        root = self.guard_manager.root
        try:
            parts = _printed_parts(root)
        except AttributeError:
            return
        emit(GuardsRecord(parts=parts, warm_us=_warm_us(root, getattr(output_graph, "local_scope", None))))

    with patch.object(dynamo_guards.CheckFunctionManager, "__init__", made):
        yield


def _printed_parts(root: Any) -> tuple[int, ...]:
    """How many lines torch prints of each leaf; a relation of several values is printed at the first of them alone."""
    met: set[Any] = set()
    parts = []
    for guard in leaf_guards(root):
        again = isinstance(guard, RelationalGuard) and guard in met
        met.add(guard)
        parts.append(1 if again else len(guard.verbose_code_parts()))
    return tuple(parts)


def leaf_guards(root: Any) -> Iterator[Any]:
    """The leaf guards below a root, in the order in which torch prints them."""
    yield from _below(root)
    if hasattr(root, "get_epilogue_lambda_guards"):
        yield from root.get_epilogue_lambda_guards()


def _below(manager: Any) -> Iterator[Any]:
    yield from manager.get_leaf_guards()
    if hasattr(manager, "get_key_value_managers"):
        for _, pair in sorted(manager.get_key_value_managers().items()):
            for side in filter(None, pair):
                yield from _below(side)
    for _, child in zip(manager.get_accessors(), manager.get_child_managers(), strict=False):
        yield from _below(child)


def _warm_us(root: Any, scope: dict[str, Any] | None) -> float | None:
    """Microseconds of one check, the least of some in a row; None where the values that it is about are gone."""
    if not scope:
        return None
    seconds = []
    for _ in range(WARM_UP + CHECKS):
        start = time.perf_counter()
        passed = root.check(scope)
        seconds.append(time.perf_counter() - start)
        if not passed:
            return None
    return min(seconds[WARM_UP:]) * 1e6
