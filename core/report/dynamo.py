"""Facts from Dynamo beside its graphs: guards, graph breaks, recompiles, symbols.

The family of a guard: modules, globals, tensors, symbolic sizes, and all else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from core.report.places import Frame, Payload, Place

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


@dataclass(frozen=True, slots=True)
class Guard:
    """A leaf of the guard tree: kind (TENSOR_MATCH …), the value that it guards, the expression, and the user's line.

    A guard with several conditions has an expression of as many lines; `hint` is torch's hint. `check_us` is the
    microseconds of its check alone, without the way to its value, None if not recorded.
    """

    kind: str
    source: str
    expression: str
    depth: int
    code: str = ""
    location: Place | None = None
    hint: str = ""
    check_us: float | None = None


@dataclass(frozen=True, slots=True)
class GuardFilter:
    """The guards that a `guard_filter_fn` of `torch.compiler` keeps: their number, and microseconds to check them."""

    name: str
    kept: int
    guards: int
    check_us: float


@dataclass(frozen=True, slots=True)
class GuardCosts:
    """The cost of checking guards: microseconds of a check of a copy of the tree, and the microseconds of each family,
    as far as that was measured, with the way to its values.
    """

    check_us: float
    families_us: dict[str, float]
    filters: tuple[GuardFilter, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphBreak:
    """A place where Dynamo stopped; its file is empty if torch does not log it. `compilations` has an entry for each
    time, so its length is the count.
    """

    reason: str
    explanation: str
    hints: tuple[str, ...]
    context: str
    registry_id: str
    place: Place
    code: str
    stack: tuple[Frame, ...]
    compilations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recompile:
    """A compilation made because the guard of an earlier one failed; `expected` and `actual` if torch logs them.

    `code` and `location` are the user's line that made the guard, `hint` is torch's hint; `call` is the index of the
    call that recompiled, None if the run did not record its calls.
    """

    compilation: str
    failed: str
    reason: str
    expected: str = ""
    actual: str = ""
    code: str = ""
    location: Place | None = None
    call: int | None = None
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A dynamic shape symbol: the size it stands for, its value in the first call, and its range.

    An unbacked symbol depends on data, so it has neither source nor value. `code` and `location` are the innermost line
    of `stack`, where the user's code made it.
    """

    name: str
    source: str
    value: str
    range: str
    code: str = ""
    location: Place | None = None
    backed: bool = True
    stack: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True)
class SymbolGuard:
    """A condition on symbols that tracing needed, at the user's line that needed it; on an unbacked symbol it is
    asserted in the code. `assumed` is the value that torch assumed for an expression on data.
    """

    expression: str
    stack: tuple[Frame, ...] = ()
    assumed: str = ""


@dataclass(frozen=True, slots=True)
class Specialization:
    """A symbol that tracing made a constant: its sources, its value, torch's reason, and the user's stack."""

    symbol: str
    sources: tuple[str, ...]
    value: str
    reason: str = ""
    stack: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True)
class Bytecode:
    """The places in the log of a frame's bytecode before and after Dynamo.

    `record` is a record of the run, which has more; `original` and `modified` are torch's own listings, which it logs
    only for resume functions. `qualname` is the function's name with its class, `resumes` maps the names of resume
    functions that the modified code calls to the names in their own code.
    """

    record: Payload | None = None
    original: Payload | None = None
    modified: Payload | None = None
    qualname: str = ""
    resumes: dict[str, str] = field(default_factory=dict)


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
