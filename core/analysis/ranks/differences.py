"""The first difference of two ranks in causal order, and a forecast of the hang that may follow.

Marks are compared in the order of the log, in sections of one compilation. Code from a cache leaves out the
later stages. The later stages are therefore compared only if both ranks have the same cache outcomes.

A difference also has advice that fits its cause.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest
from typing import Literal

from core.report.places import Payload, Place
from core.report.run import Collective, Fingerprint, MarkKind, RankMark

DifferenceKind = Literal[
    "recompile",
    "compilation",
    "break",
    "graph",
    "collectives",
    "cache",
    "tensors",
    "guards",
    "execution",
    "end",
]
Change = Literal["number", "order", "sizes", "groups", "ops", ""]
Side = Literal["left", "right", ""]
Section = list[RankMark]
MAX_ALONE = 200  #: compilations on one rank only
Outcomes = dict[str, Section]
# Outermost first: code from the first cache needs no second.
CACHES = ("aotautograd_cache", "fx_graph_cache")
OF_MARK: dict[MarkKind, DifferenceKind] = {
    "start": "compilation",
    "recompile": "recompile",
    "break": "break",
    "graph": "graph",
    "cache": "cache",
    "schedule": "collectives",
    "tensors": "tensors",
    "guards": "guards",
    "execution": "execution",
    "end": "end",
}


WORDS: dict[MarkKind, str] = {
    "start": "its start",
    "recompile": "the reason for its recompile",
    "break": "a graph break",
    "graph": "a graph",
    "cache": "a cache",
    "schedule": "the order of its collectives",
    "tensors": "its tensor metadata",
    "guards": "its guards",
    "execution": "the order of execution",
    "end": "its end",
}
ForecastKind = Literal["order", "wait", "stopped"]
AdviceKind = Literal[
    "mark_dynamic", "guard_collectives", "compiler_collectives", "compile_on_one_rank", "same_order", "one_cache"
]
# Devices on which compiler collectives work: torch takes the rank modulo the number of accelerators.
NO_ACCELERATOR = frozenset({"cpu"})


@dataclass(frozen=True, slots=True)
class RankDifference:
    """A difference between two ranks; `compile_id` is the compilation in which it begins.

    `name` is the stage, the cache, the direction or the place of the break; for a recompile, the earlier
    compilation. If the compilations differ, it is the right side's compilation. `only` is the side with a
    compilation or record that the other side lacks. `alone` are the first compilations that only this side has,
    in log order. `cause_id` is the compilation of `place` and of the reason, if it is not `compile_id`. `left`
    and `right` are short texts; `left_where` and `right_where` locate the full texts in the logs. `place` and
    `code` are the user's line. `source` and `dimension` are the input and dimension with different sizes.
    `is_constant` is True if only numbers in the graph differ. `change` is how collectives differ.
    """

    kind: DifferenceKind
    compile_id: str
    name: str = ""
    only: Side = ""
    alone: tuple[str, ...] = ()
    cause_id: str = ""
    left: str = ""
    right: str = ""
    left_where: Payload | None = None
    right_where: Payload | None = None
    change: Change = ""
    place: Place | None = None
    code: str = ""
    source: str = ""
    dimension: int | None = None
    is_constant: bool = False


def first_difference(left: Fingerprint, right: Fingerprint) -> RankDifference | None:
    """Return the first difference in causal order, of code or of caches; None if the ranks are equal."""
    code = code_difference(left, right)
    caches = _cache_difference(left, right)
    if code is None or caches is None:
        return code or caches
    order = list(dict.fromkeys(mark.compile_id for mark in (*left.marks, *right.marks)))
    by_id = order.index(code.compile_id) - order.index(caches.compile_id)
    is_early = code.kind in ("recompile", "compilation", "break") or code.name.startswith(("dynamo_", "optimize_"))
    return code if by_id < 0 or (by_id == 0 and is_early) else caches


def code_difference(left: Fingerprint, right: Fingerprint) -> RankDifference | None:
    """Return the first difference of the code but for caches; None if the code is equal."""
    unlike = set(_unlike_caches(left, right))
    sides = _sections(left.marks, unlike), _sections(right.marks, unlike)
    for index, (ours, theirs) in enumerate(zip_longest(*sides, fillvalue=None)):
        if ours is None or theirs is None or ours[0].compile_id != theirs[0].compile_id:
            return _lone(sides[0][index:], sides[1][index:])
        last = index == len(sides[0]) - 1, index == len(sides[1]) - 1
        difference = _in_section(ours, theirs, last)
        if difference is not None:
            return difference
    return None


def _cache_difference(left: Fingerprint, right: Fingerprint) -> RankDifference | None:
    for compile_id, (ours, theirs) in _unlike_caches(left, right).items():
        for name in CACHES:
            pairs = zip(ours.get(name, []), theirs.get(name, []), strict=False)
            pair = next((pair for pair in pairs if pair[0].text != pair[1].text), None)
            if pair is not None:
                return _between("cache", compile_id, *pair)
    return None


def _unlike_caches(left: Fingerprint, right: Fingerprint) -> dict[str, tuple[Outcomes, Outcomes]]:
    """Return compile id → cache marks of both ranks, for compilations with different cache outcomes.

    The compilations are in causal order. Each rank logs a record of the FX graph cache and one of the AOTAutograd
    cache. Their order is ignored, since it is reversed if the code came from a cache.
    """
    ours, theirs = _outcomes(left.marks), _outcomes(right.marks)
    return {
        compile_id: (outcomes, theirs[compile_id])
        for compile_id, outcomes in ours.items()
        if compile_id in theirs and not _same_outcomes(outcomes, theirs[compile_id])
    }


def _same_outcomes(ours: Outcomes, theirs: Outcomes) -> bool:
    """Return True if each cache had the same outcomes on both sides.

    If one side has more outcomes, the extra ones do not count: they belong to a backward that the other side has not
    compiled yet.
    """
    pairs = (zip(ours.get(name, []), theirs.get(name, []), strict=False) for name in CACHES)
    return all(mark.text == other.text for pair in pairs for mark, other in pair)


def _outcomes(marks: Iterable[RankMark]) -> dict[str, Outcomes]:
    """Return compile id → cache → its marks."""
    outcomes: dict[str, Outcomes] = {}
    for mark in marks:
        if mark.kind == "cache":
            outcomes.setdefault(mark.compile_id, {}).setdefault(mark.name, []).append(mark)
    return outcomes


def _ended(marks: Iterable[RankMark]) -> set[str]:
    return {mark.compile_id for mark in marks if mark.kind == "end"}


def _sections(marks: Iterable[RankMark], unlike: set[str]) -> list[Section]:
    """Return the marks, one section for each compilation, without cache marks.

    `unlike` are the compilations with different cache outcomes. For them, the marks of the stages after the cache are
    left out, too.
    """
    kept = (
        mark
        for mark in marks
        if mark.kind != "cache"
        and not (mark.compile_id in unlike and (mark.is_later or (mark.kind == "end" and mark.name)))
    )
    return [list(section) for _, section in groupby(kept, key=lambda mark: mark.compile_id)]


def _lone(left: Sequence[Section], right: Sequence[Section]) -> RankDifference:
    """Return the difference of two ranks whose next compilations differ."""
    ids = [section[0].compile_id for section in left], [section[0].compile_id for section in right]
    if not left or (right and ids[1][0] not in ids[0] and ids[0][0] in ids[1]):
        return _only(right, "right", set(ids[0]))
    if not right or (ids[0][0] not in ids[1] and ids[1][0] in ids[0]):
        return _only(left, "left", set(ids[1]))
    ours, theirs = left[0][0], right[0][0]
    return RankDifference(
        "compilation", ours.compile_id, left=_title(ours), right=_title(theirs), name=theirs.compile_id
    )


def _only(sections: Sequence[Section], side: Literal["left", "right"], known: set[str]) -> RankDifference:
    """Return a difference that only one side has these compilations; `known` are the other's ids."""
    first = sections[0]
    why = next((mark for mark in first if mark.kind == "recompile"), None)
    start = next((mark for mark in first if mark.kind == "start"), None)
    mark = why or start or first[0]
    alone = dict.fromkeys(section[0].compile_id for section in sections if section[0].compile_id not in known)
    difference = RankDifference(
        kind="recompile" if why else "compilation",
        compile_id=mark.compile_id,
        name=why.name if why else "" if start else mark.name,
        only=side,
        alone=tuple(alone)[:MAX_ALONE],
    )
    text = why.text if why else _title(mark)
    if side == "left":
        return replace(difference, left=text, left_where=mark.where)
    return replace(difference, right=text, right_where=mark.where)


def _title(mark: RankMark) -> str:
    return f"[{mark.compile_id}] {mark.text or mark.name}".strip()


def _in_section(ours: Section, theirs: Section, last: tuple[bool, bool]) -> RankDifference | None:
    """Return the first difference of one compilation's marks; None if the marks are equal."""
    stopped = _stopped(ours, theirs, last)
    if stopped is not None:
        return stopped
    for one, other in zip_longest(ours, theirs):
        if one is None or other is None or (one.kind, one.name) != (other.kind, other.name):
            return _unpaired(one, other)
        if one.digest != other.digest or one.collectives != other.collectives:
            return _between(OF_MARK[one.kind], one.compile_id, one, other)
    return None


def _stopped(ours: Section, theirs: Section, last: tuple[bool, bool]) -> RankDifference | None:
    """Return the difference of a rank that stops within a compilation that the other ends, or None."""
    ends = bool(_ended(ours)), bool(_ended(theirs))
    if ends[0] == ends[1]:
        return None
    side: Literal["left", "right"] = "right" if ends[0] else "left"
    short, whole = (theirs, ours) if ends[0] else (ours, theirs)
    if not last[0 if side == "left" else 1]:
        return None
    if [mark.digest for mark in whole[: len(short)]] != [mark.digest for mark in short]:
        return None
    end = next(mark for mark in whole if mark.kind == "end")
    texts = {side: f"stops after {_stage(short[-1])}", "left" if side == "right" else "right": "ends"}
    return RankDifference("end", end.compile_id, end.name, side, left=texts["left"], right=texts["right"])


def _stage(mark: RankMark) -> str:
    """Return the kind of a record, in words."""
    return mark.name if mark.kind in ("graph", "cache") else WORDS[mark.kind]


def _unpaired(left: RankMark | None, right: RankMark | None) -> RankDifference:
    """Return the difference at a record of one side that has no equal record on the other side."""
    mark = left if left is not None and (right is None or left.kind in ("recompile", "break")) else right
    assert mark is not None
    side: Side = "left" if mark is left else "right"
    if left is not None and right is not None and "recompile" not in (left.kind, right.kind):
        return RankDifference(
            kind=OF_MARK[mark.kind],
            compile_id=mark.compile_id,
            name=mark.name,
            left=_stage(left),
            right=_stage(right),
            left_where=left.where,
            right_where=right.where,
        )
    text, where = mark.text or _stage(mark), mark.where
    if side == "left":
        return RankDifference(OF_MARK[mark.kind], mark.compile_id, mark.name, "left", left=text, left_where=where)
    return RankDifference(OF_MARK[mark.kind], mark.compile_id, mark.name, "right", right=text, right_where=where)


def _between(kind: DifferenceKind, compile_id: str, left: RankMark | None, right: RankMark | None) -> RankDifference:
    mark = left or right
    assert mark is not None
    change = _change(left, right)
    return RankDifference(
        kind="collectives" if change else kind,
        compile_id=compile_id,
        name=mark.name,
        left=left.text if left else "",
        right=right.text if right else "",
        left_where=left.where if left else None,
        right_where=right.where if right else None,
        change=change,
    )


def _change(left: RankMark | None, right: RankMark | None) -> Change:
    """Return how the collectives of two graphs differ; empty if they do not."""
    ours, theirs = left.collectives if left else (), right.collectives if right else ()
    if ours == theirs:
        return ""
    if len(ours) != len(theirs):
        return "number"
    if sorted(map(collective_text, ours)) == sorted(map(collective_text, theirs)):
        return "order"
    if [call.op for call in ours] != [call.op for call in theirs]:
        return "ops"
    return "sizes" if [call.tensor for call in ours] != [call.tensor for call in theirs] else "groups"


def collective_text(collective: Collective) -> str:
    """Return a collective in one line: `all_reduce(f32[4], 'sum')`."""
    inside = ", ".join(filter(None, (collective.tensor, collective.arguments)))
    return f"{collective.op}({inside})" + (f" on group {collective.group}" if collective.group else "")


@dataclass(frozen=True, slots=True)
class Forecast:
    """A forecast for the job: `order`, `wait` or `stopped`.

    `order`: the collectives do not match. `wait`: ranks wait for a compilation. `stopped`: a rank stopped.
    `seconds` is the time of the compilations that only one rank has; None if unknown or without such
    compilations.
    """

    kind: ForecastKind
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Advice:
    """A change that fits the cause of a difference; `code` is empty if the change is not a single line."""

    kind: AdviceKind
    code: str = ""


def runs_collectives(*fingerprints: Fingerprint) -> bool:
    """Return True if the logs show that ranks wait for each other: collectives in graphs, DDP or FSDP."""
    return any(
        one.parallel or any(mark.collectives or mark.kind == "schedule" for mark in one.marks) for one in fingerprints
    )


def forecast(difference: RankDifference, left: Fingerprint, right: Fingerprint) -> Forecast | None:
    """Return the expected consequence of a difference for the ranks; None if there is none."""
    if difference.kind == "collectives":
        return Forecast("order")
    if not runs_collectives(left, right):
        return None
    if difference.kind in ("recompile", "compilation") and difference.only:
        return Forecast("wait", _seconds(difference, left if difference.only == "left" else right))
    return Forecast("stopped") if difference.kind == "end" else None


def _seconds(difference: RankDifference, alone: Fingerprint) -> float | None:
    """Return the compile time of the compilations that only one rank has; None if not recorded."""
    compilations = [one for one in alone.compilations if one.id in difference.alone]
    seconds = [one.seconds["whole compilation"] for one in compilations if "whole compilation" in one.seconds]
    return sum(seconds) if seconds else None


def advice(difference: RankDifference, left: Fingerprint, right: Fingerprint) -> tuple[Advice, ...]:
    """Return the changes that fit the cause of a difference; empty if none does.

    Compiler collectives fit only where all ranks compile at the same time: a rank that compiles alone would wait in
    them for the others, as seen on two GPUs with torch 2.11.
    """
    given = []
    if difference.source and difference.dimension is not None:
        given.append(Advice("mark_dynamic", f"torch._dynamo.mark_dynamic({difference.source}, {difference.dimension})"))
    if difference.kind == "recompile" and runs_collectives(left, right):
        given.append(Advice("guard_collectives", "torch.compiler.set_enable_guard_collectives(True)"))
    if difference.kind == "graph" and given and {*left.devices, *right.devices} - NO_ACCELERATOR:
        given.append(Advice("compiler_collectives", "torch._dynamo.config.enable_compiler_collectives = True"))
    if difference.is_constant and difference.kind in ("graph", "guards"):
        given.append(Advice("compile_on_one_rank", "torch.distributed.config.compile_on_one_rank = True"))
    if difference.kind == "cache":
        given.append(Advice("one_cache"))
    if difference.kind == "collectives":
        given.append(Advice("same_order"))
    return tuple(given)
