"""The family of a guard: modules, globals, tensors, symbolic sizes, and all else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

GuardFamily = Literal["tensor", "shape", "module", "global", "other"]
OF_TENSORS = frozenset(
    {
        "TENSOR_MATCH",
        "DISPATCH_KEY_SET_MATCH",
        "DYNAMIC_INDICES",
        "DIMENSION_DYNAMIC_MARKING_GUARD",
        "NO_TENSOR_ALIASING",
        "STORAGE_OVERLAPPING",
    }
)
# Dynamo's name of the module whose `forward` is compiled; a method of anything else has it, too.
SELF = "L['self']"
# Attributes that only a module has: the dictionaries of its children, parameters and buffers.
BELOW = re.compile(r"\._(?:modules|parameters|buffers)\b")


def module_roots(sources: Iterable[str]) -> frozenset[str]:
    """Return the values that some source shows to be modules by an attribute: `L['self']` of
    `L['self']._modules['norm']`.
    """
    matches = ((source, BELOW.search(source)) for source in sources)
    return frozenset({SELF, *(source[: match.start()] for source, match in matches if match)})


def guard_family(kind: str, source: str, modules: Iterable[str], last: bool) -> GuardFamily:
    """Return the family of a guard; a value below one of these modules belongs to it, whatever it is.

    `last` is True for a guard that torch checks after all others, with symbolic sizes.
    """
    if any(_within(source, module) for module in modules):
        return "module"
    if source == "G" or source.startswith("G["):
        return "global"
    if last or kind == "SYMBOLIC_SHAPE_GUARD":
        return "shape"
    return "tensor" if kind in OF_TENSORS else "other"


def _within(source: str, module: str) -> bool:
    at = source.find(module)
    following = source[at + len(module) : at + len(module) + 1]
    return at >= 0 and not (following.isalnum() or following == "_")
