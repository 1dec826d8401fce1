"""Repairs of graph breaks and recompiles, as edits of the user's file that is recorded.

A rule is a pure function of a file and of a line, a name or a dtype; `RULES` has them by name, and a repair's id is a
rule's name with what it is given, so that it can be made again from the file. Of an id no more than a number, a dtype
or a name that the file itself has becomes code: what is written is the file's own text, or the rule's.

A new rule is a function in one of the modules beside, a line in `RULES`, and one in `OF_BREAKS` or `OF_RECOMPILES`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from core.analysis.repairs import breaks, outside, recompiles
from core.analysis.repairs.repair import REPAIR_ID, Mend, Repair, Risk, Rule, mend_of
from core.analysis.repairs.source import edited, read_code
from core.code import diff_texts
from core.errors import JobError
from core.report import GraphBreak, Recompile

RULES: dict[str, Rule] = {
    "reorder": breaks.reorder,
    "eager_only": breaks.eager_only,
    "where": breaks.where,
    "cond": breaks.cond,
    "keep_tensor": breaks.keep_tensor,
    "capture_scalars": breaks.capture_scalars,
    "capture_shapes": breaks.capture_shapes,
    "remove_break": breaks.remove_break,
    "undisable": breaks.undisable,
    "hoist": outside.hoist,
    "constant": outside.constant,
    "allow_in_graph": outside.allow_in_graph,
    "disable": breaks.disable,
    "mark_dynamic": recompiles.mark_dynamic,
    "tensor_argument": recompiles.tensor_argument,
    "tensor_global": recompiles.tensor_global,
    "flag_attribute": recompiles.flag_attribute,
    "pad_list": recompiles.pad_list,
    "one_dtype": recompiles.one_dtype,
    "one_grad": recompiles.one_grad,
}

# An id of torch's registry of graph breaks → the rules for it, the first that fits is offered first.
OF_A_CALL = ("reorder", "eager_only", "hoist", "constant", "allow_in_graph")
OF_BREAKS: dict[str, tuple[str, ...]] = {
    "GB0007": OF_A_CALL,
    "GB0008": OF_A_CALL,
    "GB0009": OF_A_CALL,
    "GB0025": ("remove_break",),
    "GB0033": ("capture_scalars", "keep_tensor"),
    "GB0035": ("where", "cond"),
    "GB0036": ("capture_shapes",),
    "GB0059": OF_A_CALL,
    "GB0098": ("undisable",),
    "GB0099": ("undisable",),
    "GB0109": ("keep_tensor",),
    "GB0124": ("keep_tensor", "capture_scalars"),
    "GB0147": OF_A_CALL,
    "GB0148": OF_A_CALL,
    "GB0170": ("where", "cond"),
    "GB0213": OF_A_CALL,
    "GB0291": ("eager_only",),
}
# Runs a helper eagerly as a whole: what is left where a line cannot be mended.
LAST_RESORT = "disable"

# An input as a guard names it, by itself or among keyword arguments.
ARGUMENT = r"(?:\w+\[')?(?P<name>\w+)(?:'\])?"
# Edits of the calls that a file makes: a job that brings its own calls does not ask for those.
OF_CALLS = frozenset({"mark_dynamic", "tensor_argument", "pad_list", "one_dtype", "one_grad"})
# The reason of a recompile → a rule, and what it is given of the reason, of the call that met it, and of DTYPES.
OF_RECOMPILES: tuple[tuple[re.Pattern[str], str, tuple[str, ...]], ...] = (
    (re.compile(rf"tensor '{ARGUMENT}' size mismatch at index (?P<index>\d+)\."), "mark_dynamic", ("name", "index")),
    (re.compile(rf"tensor '{ARGUMENT}' dtype mismatch\. expected (?P<dtype>\w+),"), "one_dtype",
     ("name", "call", "dtype")),
    (re.compile(rf"tensor '{ARGUMENT}' requires_grad mismatch\. expected requires_grad=0"), "one_grad",
     ("name", "call")),
    (re.compile(r"len\((?P<name>\w+)\) == \d+"), "pad_list", ("name",)),
    (re.compile(r"G\['(?P<name>\w+)'\] == -?[\d.]+"), "tensor_global", ("name",)),
    (re.compile(r"(?P<name>[a-zA-Z_]\w*) == -?[\d.]+(?:e-?\d+)?$"), "tensor_argument", ("name",)),
    (re.compile(r"self\.(?P<name>\w+) == "), "flag_attribute", ("name",)),
)  # fmt: skip
OF_DYNAMIC = ("mark_dynamic", "tensor_argument")
DTYPES = {"Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16"}


def repairs_of_break(text: str, registry_id: str, line: int) -> tuple[Repair, ...]:
    """What can be done at a line of a file that stopped Dynamo, what mends it first."""
    names = (*OF_BREAKS.get(registry_id, ()), LAST_RESORT)
    return tuple(_made(text, [f"{name}:{line}" for name in names]))


def repairs_of_recompile(text: str, found: Recompile, own_calls: bool = True) -> tuple[Repair, ...]:
    """What can be done about a guard that failed; `own_calls` says whether the calls are those that the file makes."""
    ids = (item for item in _ids(found) if own_calls or item.partition(":")[0] not in OF_CALLS)
    return tuple(_made(text, ids))


def dynamic_spares(found: Recompile) -> bool:
    """Whether `dynamic=True` makes one code for what varied: a size, or a number that is an argument."""
    return any(pattern.match(found.reason) and name in OF_DYNAMIC for pattern, name, _ in OF_RECOMPILES)


def newest_reasons(recompiles: Sequence[Recompile]) -> tuple[Recompile, ...]:
    """Of each recompile the guard of the newest code, which torch names first: the older ones had failed before."""
    return tuple({found.compilation: found for found in reversed(recompiles)}.values())[::-1]


def _ids(found: Recompile) -> Iterator[str]:
    for pattern, name, wanted in OF_RECOMPILES:
        match = pattern.match(found.reason)
        if match is None or ("call" in wanted and found.call is None):
            continue
        given = {**match.groupdict(), "call": str(found.call)}
        given["dtype"] = DTYPES.get(given.get("dtype", ""), "")
        yield ":".join([name, *(given[item] for item in wanted)])
        return


def _made(text: str, ids: Iterable[str]) -> Iterator[Repair]:
    for item in ids:
        repair = repair_of(text, item)
        if repair is not None:
            yield repair


@lru_cache(maxsize=256)
def repair_of(text: str, repair: str) -> Repair | None:
    """A repair of a file by its id; None where it is none for this file."""
    mend = _mend(text, repair)
    after = edited(text, mend.edits) if mend else None
    if mend is None or after is None or after == text:
        return None
    return Repair(repair, mend, _diff(text, after))


def _mend(text: str, repair: str) -> Mend | None:
    code = read_code(text)
    return mend_of(RULES, code, repair) if code else None


@lru_cache(maxsize=16)
def together(text: str, repairs: tuple[Repair, ...]) -> tuple[Repair, ...]:
    """Those of several repairs that can be applied at once, each with those before it."""
    kept: list[Repair] = []
    for repair in repairs:
        if edited(text, [edit for one in (*kept, repair) for edit in one.mend.edits]) is not None:
            kept.append(repair)
    return tuple(kept)


def together_diff(text: str, repairs: Sequence[Repair]) -> str:
    """What several repairs that go together change, as a unified difference."""
    after = edited(text, [edit for repair in repairs for edit in repair.mend.edits])
    return _diff(text, after or text)


def _diff(before: str, after: str) -> str:
    return diff_texts(before, after, "the code of this run", "repaired").text


def repaired(text: str, steps: Sequence[Sequence[str]]) -> str:
    """A file after repairs, one step after the other, those of a step at once; raises JobError."""
    for step in steps:
        mends = [_mend(text, repair) for repair in step]
        edits = [edit for mend in mends if mend for edit in mend.edits]
        after = edited(text, edits)
        if not all(mends) or after is None:
            raise JobError("repairs", f"{', '.join(step)[:200]} cannot be applied: the code is another than it was")
        text = after
    return text


def line_of(found: GraphBreak, path: str) -> int | None:
    """The line of a file at which Dynamo stopped; None where the innermost line is another file's."""
    return found.place.line if path and found.place.file == path else None


__all__ = [
    "LAST_RESORT",
    "OF_BREAKS",
    "OF_RECOMPILES",
    "REPAIR_ID",
    "RULES",
    "Mend",
    "Repair",
    "Risk",
    "dynamic_spares",
    "line_of",
    "newest_reasons",
    "repair_of",
    "repaired",
    "repairs_of_break",
    "repairs_of_recompile",
    "together",
    "together_diff",
]
