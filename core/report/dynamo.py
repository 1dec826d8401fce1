"""Facts from Dynamo, except its graphs: guards, graph breaks, recompiles, symbols.

A guard's family is module, global, tensor, shape or other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from core.report.places import Frame, Payload, Place, Record

IssueKind = Literal["data-dependent", "missing fake kernel", "mismatched fake kernel"]
GuardFamily = Literal["tensor", "shape", "number", "module", "global", "other"]
BreakRecord = Literal["complete", "lower bound", "none"]
# Reason of a graph break or recompile whose reason torch did not log.
NO_REASON = "reason not recorded"
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
OF_NUMBER = re.compile(r"\bis(?:nan|inf)\(|[<>]|[!=]=")
SIZE = re.compile(r"\.(?:size|stride|storage_offset)\(\)")
# Dynamo's name of the module whose `forward` is compiled, but also of `self` in any other method.
SELF = "L['self']"
# Attributes that only an `nn.Module` has: the dictionaries of its children, parameters and buffers.
BELOW = re.compile(r"\._(?:modules|parameters|buffers)\b")


@dataclass(frozen=True, slots=True)
class Guard:
    """A leaf of the guard tree: its kind (TENSOR_MATCH …), the guarded value, and the expression.

    The expression has one line per condition. `code` and `location` are the user's line that caused the guard,
    and `hint` is torch's hint. `check_us` is the microseconds of this check alone, without the access to its
    value; None if not recorded.
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
    """A `guard_filter_fn` of `torch.compiler`: the number of guards that it keeps, and their cost.

    `check_us` is the microseconds to check the kept guards; `guards` is the number of all guards.
    """

    name: str
    kept: int
    guards: int
    check_us: float


@dataclass(frozen=True, slots=True)
class GuardCosts:
    """The cost of checking guards, in microseconds, measured on copies of the guard tree.

    `check_us` is the cost of all guards. `families_us` has the cost of each measured family. It includes the
    access to the values, except for the family `shape`.
    """

    check_us: float
    families_us: dict[str, float]
    filters: tuple[GuardFilter, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphBreak:
    """A place where Dynamo stopped; the file is empty if torch does not log the place.

    `compilations` has one entry per hit, so its length is the number of hits.
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
    """A compilation after a guard failure in an earlier compilation.

    `failed` is the id of the earlier compilation. `expected` and `actual` are empty if torch does not log them.
    `code` and `location` are the user's line that caused the guard, and `hint` is torch's hint. `call` is the
    index of the call that recompiled, None if the run did not record its calls.
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
    """A dynamic shape symbol: its source, its value in the first call, and its range.

    The source is the size that the symbol represents. An unbacked symbol depends on data, so it has neither
    source nor value. `code` and `location` are the user's line that created the symbol, which is the innermost
    line of `stack`.
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
    """A condition on symbols, with the stack of the user's line that required it.

    For an unbacked symbol, the compiled code asserts the condition. `assumed` is the value that torch assumed for
    a data-dependent expression. `sources` maps each symbol of the condition to its input.
    """

    expression: str
    stack: tuple[Frame, ...] = ()
    assumed: str = ""
    sources: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression of symbols, at the user's line that computed it by `method` from `arguments`."""

    text: str
    method: str
    arguments: tuple[str, ...]
    place: Frame | None = None


@dataclass(frozen=True, slots=True)
class ExportIssue:
    """A cause of an unsound or failed export: a data-dependent expression, or an op's fake kernel.

    `subject` is the expression or op. `assumed` is the value that torch assumed for the expression, empty if torch
    raised an error. `values` are the user's variables at the innermost line of `stack`; `count` is the number of
    records of this issue.
    """

    kind: IssueKind
    subject: str
    reason: str = ""
    assumed: str = ""
    stack: tuple[Frame, ...] = ()
    values: dict[str, str] = field(default_factory=dict)
    count: int = 1


@dataclass(frozen=True, slots=True)
class Specialization:
    """A symbol that tracing specialized to a constant, with torch's reason and the user's stack."""

    symbol: str
    sources: tuple[str, ...]
    value: str
    reason: str = ""
    stack: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True)
class Bytecode:
    """Log places of a frame's bytecode, before and after Dynamo.

    `record` is the run's own record, which has more details. `original` and `modified` are torch's listings,
    which torch logs only for resume functions. `qualname` is the function's name with its class. `resumes` maps
    the name of each resume function in the modified code to the name in its own code.
    """

    record: Payload | None = None
    original: Payload | None = None
    modified: Payload | None = None
    qualname: str = ""
    resumes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Explanation(Record):
    """`torch._dynamo.explain` of the model with the inputs of its first call.

    Logged once, if the job asks for captures.
    """

    seconds: float
    """seconds of the call"""
    graphs: int = 0
    """`graph_count`"""
    graph_breaks: int = 0
    """`graph_break_count`, which torch computes as the number of graphs minus one"""
    ops: int = 0
    """`op_count`"""
    guards: int = 0
    """number of `out_guards`"""
    reasons: tuple[str, ...] = ()
    """`break_reasons`, the first lines of at most 50"""
    equal: bool | None = None
    """True if Dynamo's graphs, run by `torch.fx.Interpreter`, give eager's results; None if they were not run"""
    problem: str = ""
    """the error of `explain`, empty if there was none"""


def module_roots(sources: Iterable[str]) -> frozenset[str]:
    """Return the sources of modules: `L['self']`, and each value with an attribute that only a module has.

    For example, `L['net']` is a module because of `L['net']._modules['norm']`.
    """
    matches = ((source, BELOW.search(source)) for source in sources)
    return frozenset({SELF, *(source[: match.start()] for source, match in matches if match)})


def guard_family(kind: str, source: str, modules: Iterable[str], last: bool, expression: str = "") -> GuardFamily:
    """Return the family of a guard; every guard on a value inside one of `modules` is in `module`.

    `last` is True for a guard that torch checks after all others, with symbolic sizes and numbers. Its family is
    `number` if most lines of its expression compare numbers that are no sizes.
    """
    if any(_within(source, module) for module in modules):
        return "module"
    if source == "G" or source.startswith("G["):
        return "global"
    if last or kind == "SYMBOLIC_SHAPE_GUARD":
        lines = [line for line in expression.split("\n") if line.strip()]
        numbers = sum(SIZE.search(line) is None and OF_NUMBER.search(line) is not None for line in lines)
        return "number" if 2 * numbers > len(lines) else "shape"
    return "tensor" if kind in OF_TENSORS else "other"


def _within(source: str, module: str) -> bool:
    at = source.find(module)
    following = source[at + len(module) : at + len(module) + 1]
    return at >= 0 and not (following.isalnum() or following == "_")
