"""Guard families: guards on values, what each guard protects, and the time of guard checks.

Symbols of a compilation, with the conditions of tracing and of later calls.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.analysis.dynamo.recompiles import failed_guard
from core.report import (
    Compilation,
    Frame,
    FxNode,
    Guard,
    GuardFamily,
    Report,
    Specialization,
    Symbol,
    SymbolGuard,
    guard_family,
    module_roots,
)

# Condition that a guard of each kind protects, as torch/csrc/dynamo/guards.cpp checks it.
PROTECTS = {
    "COMPLEX_IS_NAN": "a complex number stays not a number",
    "DEFAULT_DEVICE": "torch's default device stays the same",
    "DICT_CONTAINS": "a dictionary has, or lacks, a key",
    "DICT_LENGTH": "a dictionary keeps its number of keys",
    "DICT_VERSION": "a dictionary is not written to",
    "DIMENSION_DYNAMIC_MARKING_GUARD": "marks for dynamic sizes stay as they were",
    "DISPATCH_KEY_SET_MATCH": "a tensor keeps its dispatch keys: device, autograd, subclass",
    "DUAL_LEVEL_MATCH": "the level of forward-mode autograd stays the same",
    "DYNAMIC_INDICES": "marks for dynamic sizes stay as they were",
    "EQUALS_MATCH": "a Python value stays equal",
    "FAKE_SCRIPT_TYPE_MATCH": "an opaque object keeps its type",
    "FALSE_MATCH": "a value stays False",
    "FLOAT_IS_NAN": "a number stays not a number",
    "GLOBAL_STATE": "grad mode, autocast, deterministic algorithms and other settings of torch stay the same",
    "ID_MATCH": "it stays the same object",
    "LAMBDA_GUARD": "a Python expression stays true",
    "LENGTH_CHECK": "a list or tuple keeps its length",
    "MAPPING_KEYS_MATCH": "a mapping keeps its keys",
    "NONE_MATCH": "a value stays None",
    "NOT_NONE": "a value is not None",
    "NO_HASATTR": "an object does not get an attribute",
    "NO_TENSOR_ALIASING": "no two of these are the same tensor",
    "OBJECT_ALIASING": "two names stay one object",
    "RANGE_ITERATOR_MATCH": "a range iterator is at the same position",
    "SET_CONTAINS": "a set has, or lacks, an item",
    "STORAGE_OVERLAPPING": "which tensors share memory stays the same",
    "SYMBOLIC_SHAPE_GUARD": "sizes satisfy the conditions of the compiled code",
    "TENSOR_MATCH": "dtype, device, static sizes, strides and requires_grad of a tensor stay the same",
    "TORCH_FUNCTION_MODE_STACK": "no torch-function mode is switched on or off",
    "TRUE_MATCH": "a value stays True",
    "TUPLE_ITERATOR_LEN": "a tuple iterator is at the same position",
    "TYPE_MATCH": "a value keeps its type",
}
SIZES = "sizes and strides satisfy the conditions of the compiled code"
# Files of our worker, which calls the model, and of torch, which traces its graphs again: no user code.
NOT_USER_CODE = re.compile(r"/core/worker/|/torch/(?:fx/|_)|^<string>$")


@dataclass(frozen=True, slots=True)
class GuardRow:
    """A guard, with the compilations caused by its failure."""

    guard: Guard
    family: GuardFamily
    recompiles: tuple[str, ...]

    @property
    def protects(self) -> str:
        """Protection that the guard gives, in words; empty for an unknown kind."""
        return SIZES if self.family == "shape" else PROTECTS.get(self.guard.kind, "")


@dataclass(frozen=True, slots=True)
class GuardFamilyShare:
    """Guards of a family, their microseconds per check including access to the values, and their share.

    Both are None if not recorded.
    """

    family: GuardFamily
    rows: tuple[GuardRow, ...]
    check_us: float | None
    share: float | None

    @property
    def recompiles(self) -> tuple[str, ...]:
        """Compilations caused by its guards, each once."""
        return tuple(dict.fromkeys(compilation for row in self.rows for compilation in row.recompiles))


def guard_rows(report: Report, compilation: Compilation) -> tuple[GuardRow, ...]:
    """Return the guards of a compilation with their families.

    A recompile counts for the guard that torch names first, in the code used last.
    """
    modules = module_roots({guard.source for guard in compilation.guards})
    recompiles: dict[int, list[str]] = {}
    first = {reason.compilation: reason for reason in reversed(report.recompiles)}
    for reason in report.recompiles:
        is_first = reason.failed == compilation.id and first[reason.compilation] is reason
        failing = failed_guard(reason, compilation.guards) if is_first else None
        if failing is not None:
            recompiles.setdefault(id(failing), []).append(reason.compilation)
    return tuple(
        GuardRow(
            guard,
            guard_family(guard.kind, guard.source, modules, guard.depth == 0),
            tuple(recompiles.get(id(guard), ())),
        )
        for guard in compilation.guards
    )


def guard_families(compilation: Compilation, rows: Sequence[GuardRow]) -> tuple[GuardFamilyShare, ...]:
    """Return the families that have guards, longest check first.

    If only the family `other` was not measured, it gets the remaining check time, with the access to all values.
    """
    members: dict[GuardFamily, list[GuardRow]] = {}
    for row in rows:
        members.setdefault(row.family, []).append(row)
    times = _times(compilation, members)
    total = compilation.guard_costs.check_us if compilation.guard_costs else None
    shares = (
        GuardFamilyShare(
            family, tuple(family_rows), us := times.get(family), us / total if total and us is not None else None
        )
        for family, family_rows in members.items()
    )
    return tuple(sorted(shares, key=lambda share: (-(share.check_us or 0.0), -len(share.rows))))


def _times(compilation: Compilation, members: dict[GuardFamily, list[GuardRow]]) -> dict[GuardFamily, float]:
    costs = compilation.guard_costs
    if costs is None:
        return {}
    times = {family: costs.families_us[family] for family in members if family in costs.families_us}
    if "other" in members and set(members) - {"other"} == set(times):
        times["other"] = max(0.0, costs.check_us - sum(times.values()))
    return times


def guards_on(compilation: Compilation, node: FxNode) -> tuple[Guard, ...]:
    """Return the guards on the value of an input of Dynamo's graph; none if the node is not an input."""
    if node.op not in ("placeholder", "get_attr"):
        return ()
    wanted = _normalized(node.name)
    return tuple(guard for guard in compilation.guards if _normalized(guard.source) == wanted)


def mentions(guard: Guard, text: str) -> bool:
    """Return True if any field of a guard contains a text, ignoring case."""
    fields = (guard.kind, guard.source, guard.expression, guard.code, guard.location, guard.hint)
    return text.lower() in " ".join(str(field or "") for field in fields).lower()


def _normalized(name: str) -> str:
    """Return a common form of `L['self'].norm.weight` and Dynamo's placeholder `L_self_norm_weight_`."""
    return "_".join(part for part in "".join(c if c.isalnum() else "_" for c in name.lower()).split("_") if part)


@dataclass(frozen=True, slots=True)
class SymbolRow:
    """A symbol: conditions needed by tracing, conditions checked at every call, and its specializations."""

    symbol: Symbol
    needed: tuple[SymbolGuard, ...]
    checked: tuple[str, ...]
    specializations: tuple[Specialization, ...]

    @property
    def constant(self) -> str:
        """Constant that the symbol was specialized to; empty if it stayed symbolic."""
        return self.specializations[0].value if self.specializations else ""


def symbol_rows(compilation: Compilation) -> tuple[SymbolRow, ...]:
    """Return the symbols in the order torch created them."""
    lines = [line for guard in compilation.guards if guard.depth == 0 for line in guard.expression.split("\n")]
    return tuple(_row(symbol, compilation, lines) for symbol in compilation.symbols)


def _row(symbol: Symbol, compilation: Compilation, lines: Sequence[str]) -> SymbolRow:
    name = re.compile(rf"\b{re.escape(symbol.name)}\b")
    return SymbolRow(
        symbol,
        tuple(guard for guard in compilation.symbol_guards if name.search(guard.expression)),
        tuple(line.partition("  # ")[0] for line in lines if symbol.source and symbol.source in line),
        tuple(specialization for specialization in compilation.specializations if specialization.symbol == symbol.name),
    )


def users_frames(stack: Sequence[Frame]) -> tuple[Frame, ...]:
    """Return a stack without frames of our worker and of torch's tracing."""
    return tuple(frame for frame in stack if not NOT_USER_CODE.search(frame.file))
