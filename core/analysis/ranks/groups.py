"""Groups of ranks with equal fingerprints, and where and why each differs from the largest group.

The cause of a difference between two ranks has the texts that differ, the user's line, and the size that differs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from core.analysis.ranks.differences import (
    Advice,
    Forecast,
    RankDifference,
    advice,
    code_difference,
    first_difference,
    forecast,
)
from core.code.diff import normalised, normalised_guards
from core.report.places import Payload, Place
from core.report.run import Fingerprint, RankMark

# Groups beyond this number are counted, and not compared.
MAX_GROUPS = 64  #: limit: groups of equal ranks that are compared with the largest
TextOf = Callable[[Payload], str]
MAX_SHOWN = 400  #: characters of a differing line
MAX_CAUSES = 20  #: recompiles of one rank that are searched for the user's
FILE = re.compile(r"File: (?P<file>.+?):(?P<line>\d+) in (?P<name>[^,]+), code: (?P<code>.*)$")
REMARK = re.compile(r"\s# (?P<code>.*?)\s+# (?P<file>\S+):(?P<line>\d+) in (?P<name>\S+)")
SIZE_REASON = re.compile(r"tensor '(?P<source>.+?)' size mismatch at index (?P<dimension>\d+)")
SIZE_GUARD = re.compile(r"L\['(?P<source>\w+)'\]\.size\(\)\[(?P<dimension>\d+)\]")
INPUT = re.compile(r'(?P<name>\w+): "\w+\[(?P<sizes>[^\]]*)\](?:\[[^\]]*\])?[\w:]*"')
OF_TORCH = re.compile(
    r"(?:^|/)torch/|site-packages/|(?:^|/)_functional_collectives\.py$|^(?:nn|distributed|_\w+|fx|optim|utils)/"
)
COLLECTIVE = re.compile(
    r"^\s*\w+(?:: \"[^\"]*\")? = torch\.ops\."
    r"(?:_c10d_functional|_c10d_functional_autograd|c10d|_dtensor)\.(?!wait_tensor)"
)


@dataclass(frozen=True, slots=True)
class RankRow:
    """A rank in one line: its digest, log, compilations, and seconds by phase.

    `estimated_us` is the sum of Inductor's run time estimates, None if not logged. `problem` is why the rank's
    log was not read.
    """

    rank: int
    digest: str = ""
    log_bytes: int = 0
    compilations: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    estimated_us: float | None = None
    last_time: str = ""
    is_cut: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RankGroup:
    """Ranks with one fingerprint.

    `first` is the first difference from the largest group, `code` the first difference beyond caches. Both are
    None for the largest group, and for groups beyond `MAX_GROUPS`.
    """

    ranks: tuple[int, ...]
    first: RankDifference | None = None
    code: RankDifference | None = None
    forecast: Forecast | None = None
    advice: tuple[Advice, ...] = ()

    @property
    def rank(self) -> int:
        """The lowest rank, which stands for the group."""
        return self.ranks[0]

    @property
    def only_caches(self) -> bool:
        """True if the ranks differ from the first group only in caches."""
        return self.first is not None and self.code is None


@dataclass(frozen=True, slots=True)
class Ranks:
    """The ranks of a run, in groups, largest first."""

    rows: tuple[RankRow, ...]
    groups: tuple[RankGroup, ...]

    @property
    def differ(self) -> bool:
        """True if the ranks that were read do not all have the same fingerprint."""
        return len(self.groups) > 1

    def group_of(self, rank: int) -> RankGroup | None:
        """Return the group of a rank; None if the rank was not read."""
        return next((group for group in self.groups if rank in group.ranks), None)


def row_of(fingerprint: Fingerprint) -> RankRow:
    """Return the row of a rank's fingerprint."""
    seconds: dict[str, float] = {}
    estimates = []
    for compilation in fingerprint.compilations:
        for phase, value in compilation.seconds.items():
            seconds[phase] = seconds.get(phase, 0.0) + value
        if compilation.estimated_us is not None:
            estimates.append(compilation.estimated_us)
    return RankRow(
        rank=fingerprint.rank,
        digest=fingerprint.digest,
        log_bytes=fingerprint.log_bytes,
        compilations=len(fingerprint.compilations),
        seconds=seconds,
        estimated_us=sum(estimates) if estimates else None,
        last_time=fingerprint.last_time,
        is_cut=fingerprint.is_cut,
        problem=fingerprint.problem,
    )


def group_ranks(rows: Iterable[RankRow], side_of: Callable[[int], RankSide]) -> Ranks:
    """Return the ranks in groups; `side_of` reads a rank, and is called at most once per group."""
    rows = sorted(rows, key=lambda row: row.rank)
    by_digest: dict[str, list[int]] = {}
    for row in rows:
        if not row.problem:
            by_digest.setdefault(row.digest, []).append(row.rank)
    ordered = sorted(by_digest.values(), key=lambda ranks: (-len(ranks), ranks[0]))
    return Ranks(tuple(rows), tuple(_groups(ordered, side_of)))


def _groups(ordered: Sequence[Sequence[int]], side_of: Callable[[int], RankSide]) -> Iterable[RankGroup]:
    reference = side_of(ordered[0][0]) if len(ordered) > 1 else None
    for place, ranks in enumerate(ordered):
        if reference is None or not 0 < place < MAX_GROUPS:
            yield RankGroup(tuple(ranks))
        else:
            yield _compared(tuple(ranks), reference, side_of(ranks[0]))


def _compared(ranks: tuple[int, ...], reference: RankSide, side: RankSide) -> RankGroup:
    left, right = reference.fingerprint, side.fingerprint
    first, code = first_difference(left, right), code_difference(left, right)
    first = with_cause(first, reference, side) if first else None
    code = with_cause(code, reference, side) if code else None
    main = code or first
    if main is None:
        return RankGroup(ranks)
    return RankGroup(ranks, first, code, forecast(main, left, right), advice(main, left, right))


@dataclass(frozen=True, slots=True)
class RankSide:
    """A rank that is compared: its fingerprint, and a function that reads a text of its log."""

    fingerprint: Fingerprint
    text: TextOf


def with_cause(difference: RankDifference, left: RankSide, right: RankSide) -> RankDifference:
    """Return a difference with its texts, the user's line, and the size that causes it, if logged."""
    match difference.kind:
        case "recompile":
            difference = _of_recompile(difference, left if difference.only == "left" else right)
        case "graph" | "collectives":
            difference = _of_graph(difference, left, right)
        case "guards":
            difference = _of_guards(difference, left, right)
        case "break":
            file, _, line = difference.name.rpartition(":")
            if file and line.isdecimal():
                difference = replace(difference, place=Place(file, int(line)))
    return difference if difference.place else replace(difference, place=_frame(difference, left, right))


def _frame(difference: RankDifference, left: RankSide, right: RankSide) -> Place | None:
    """Return the place of the compilation's function, if the logs have none more precise; None if unknown."""
    for side in (left, right):
        compilation = side.fingerprint.compilation(difference.compile_id)
        if compilation is not None and compilation.place is not None:
            return compilation.place
    return None


def _of_recompile(difference: RankDifference, side: RankSide) -> RankDifference:
    """Return the difference with its failed guard: the first in the user's code, otherwise the first.

    A changed size recompiles torch's own wrappers before the user's function.
    """
    recompiles = [
        mark for mark in side.fingerprint.marks if mark.kind == "recompile" and mark.compile_id in difference.alone
    ]
    causes = [_recompile_cause(difference, side, mark) for mark in recompiles[:MAX_CAUSES]]
    users = (cause for cause in causes if cause.place and not OF_TORCH.search(cause.place.file))
    return next(users, next(iter(causes), difference))


def _recompile_cause(difference: RankDifference, side: RankSide, mark: RankMark) -> RankDifference:
    size = SIZE_REASON.search(mark.text) or SIZE_GUARD.search(mark.text)
    source = size["source"] if size else ""
    written = side.text(mark.where) if mark.where else mark.text
    remark = REMARK.search(f" {written}") or _guard_remark(side, mark.name, mark.text)
    difference = replace(difference, source=source, dimension=int(size["dimension"]) if size else None)
    if mark.compile_id != difference.compile_id:
        difference = replace(difference, cause_id=mark.compile_id)
    if difference.only == "left":
        difference = replace(difference, left=mark.text, left_where=mark.where)
    else:
        difference = replace(difference, right=mark.text, right_where=mark.where)
    compilation = side.fingerprint.compilation(mark.compile_id)
    place = compilation.place if compilation else None
    if remark is None or (OF_TORCH.search(remark["file"]) and place and not OF_TORCH.search(place.file)):
        return replace(difference, place=place)
    return _at(difference, remark)


def _guard_remark(side: RankSide, compile_id: str, reason: str) -> re.Match[str] | None:
    """Return the user's line of a failed guard of the earlier compilation; None if not logged."""
    marks = (mark for mark in side.fingerprint.marks if mark.kind == "guards" and mark.compile_id == compile_id)
    guards = next((mark.where for mark in marks if mark.where), None)
    if guards is None:
        return None
    tensor = re.search(r"tensor '(.+?)'", reason)
    expression = f"check_tensor(L['{tensor[1]}']" if tensor else reason.split("  #")[0].strip()
    lines = side.text(guards).split("\n")
    line = next((line for line in lines if expression and expression in line), None)
    if line is None and tensor:
        line = next((line for line in lines if f"check_tensor({tensor[1]}" in line), None)
    return REMARK.search(line) if line else None


def _at(difference: RankDifference, match: re.Match[str] | None) -> RankDifference:
    """Return the difference with the place and the code of the user's line in a match, if any."""
    if match is None:
        return difference
    place = Place(match["file"], int(match["line"]), match["name"].strip())
    return replace(difference, place=place, code=match["code"].strip()[:MAX_SHOWN])


def _lines(side: RankSide, where: Payload | None) -> tuple[list[str], list[str]]:
    """Return a text's lines as they are, and normalised."""
    text = side.text(where) if where else ""
    same = normalised(text.encode("utf-8", "replace")).decode("utf-8", "replace")
    return text.split("\n"), same.split("\n")


def _of_graph(difference: RankDifference, left: RankSide, right: RankSide) -> RankDifference:
    if difference.left_where is None or difference.right_where is None:
        return difference
    (ours, our_same), (theirs, their_same) = _lines(left, difference.left_where), _lines(right, difference.right_where)
    at = _first_unlike(our_same, their_same, difference.kind == "collectives")
    if at is None:
        return difference
    our_line, their_line = (lines[at].strip() if at < len(lines) else "" for lines in (ours, theirs))
    difference = replace(difference, left=our_line[:MAX_SHOWN], right=their_line[:MAX_SHOWN])
    size = _unlike_size(our_line, their_line)
    if size is not None:
        shown = (_input(line, size[0]) for line in (our_line, their_line))
        difference = replace(difference, source=size[0], dimension=size[1], left=next(shown), right=next(shown))
        at = next((index for index, line in enumerate(theirs) if index > at and _uses(line, size[0])), at)
    difference = replace(difference, is_constant=_same_but_numbers(our_same, their_same) and size is None)
    return _at(difference, _comment(theirs, at) or _comment(ours, at))


def _first_unlike(ours: Sequence[str], theirs: Sequence[str], collectives: bool) -> int | None:
    """Return the index of the first differing line, for collectives preferably with one; None if equal."""
    unlike = [index for index, (one, other) in enumerate(zip(ours, theirs, strict=False)) if one != other]
    if len(ours) != len(theirs):
        unlike.append(min(len(ours), len(theirs)))
    if collectives:
        with_one = (
            index
            for index in unlike
            if any(index < len(lines) and COLLECTIVE.search(lines[index]) for lines in (ours, theirs))
        )
        return next(with_one, unlike[0] if unlike else None)
    return unlike[0] if unlike else None


def _unlike_size(ours: str, theirs: str) -> tuple[str, int] | None:
    """Return the input and dimension whose size differs in two signatures; None if no size differs."""
    if "def forward" not in ours and not re.match(r"\w+: \"", ours):
        return None
    sizes = {match["name"]: match["sizes"].split(", ") for match in INPUT.finditer(theirs)}
    for match in INPUT.finditer(ours):
        before, after = match["sizes"].split(", "), sizes.get(match["name"], [])
        for dimension, (one, other) in enumerate(zip(before, after, strict=False)):
            if one != other:
                return _variable(match["name"]), dimension
    return None


def _input(line: str, source: str) -> str:
    """Return an input of a signature with its type; the whole line if the input is missing."""
    return next((match[0] for match in INPUT.finditer(line) if _variable(match["name"]) == source), line)[:MAX_SHOWN]


def _variable(placeholder: str) -> str:
    """Return the user's name of an input: `x` for `L_x_`."""
    match = re.fullmatch(r"L_(\w+?)_", placeholder)
    return match[1] if match else placeholder


def _uses(line: str, source: str) -> bool:
    """Return True if a line of a graph computes with an input."""
    return bool(re.search(rf"= .*\bl_{re.escape(source)}_\b[.,)]", line))


def _same_but_numbers(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    return [re.sub(r"\d+", "0", line) for line in ours] == [re.sub(r"\d+", "0", line) for line in theirs]


def _comment(lines: Sequence[str], at: int) -> re.Match[str] | None:
    """Return the comment that names the user's line for a line of a graph; None if there is none.

    Comments at or above the line come first, then comments below; comments of torch's own files come last.
    """
    above = [match for line in reversed(lines[: at + 1]) if (match := FILE.search(line))]
    below = [match for line in lines[at + 1 :] if (match := FILE.search(line))]
    users = next((match for match in (*above, *below) if not OF_TORCH.search(match["file"])), None)
    return users or next(iter((*above, *below)), None)


def _of_guards(difference: RankDifference, left: RankSide, right: RankSide) -> RankDifference:
    if difference.left_where is None or difference.right_where is None:
        return difference
    ours, theirs = (
        _guard_lines(side, where) for side, where in ((left, difference.left_where), (right, difference.right_where))
    )
    only_left = [line for line in ours if line not in theirs]
    only_right = [line for line in theirs if line not in ours]
    first, second = next(iter(only_left), ""), next(iter(only_right), "")
    difference = replace(difference, left=first[:MAX_SHOWN], right=second[:MAX_SHOWN])
    size = SIZE_GUARD.search(second or first)
    if size:
        difference = replace(difference, source=size["source"], dimension=int(size["dimension"]))
    return _at(difference, REMARK.search(second) or REMARK.search(first))


def _guard_lines(side: RankSide, where: Payload) -> dict[str, None]:
    """Return the lines of a guard tree in order, without the characters that draw the tree."""
    text = normalised_guards(side.text(where).encode("utf-8", "replace")).decode("utf-8", "replace")
    return dict.fromkeys(line.lstrip("| +-") for line in text.split("\n"))
