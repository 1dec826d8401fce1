"""Trial of a repair: the repaired run compared with the original, for each repaired break or recompile."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from core.analysis.dynamo.failures import Failure, failures
from core.analysis.repairs.offers import (
    condition,
    dynamic_spares,
    line_of,
    newest_reasons,
    repairs_of_break,
    repairs_of_recompile,
)
from core.analysis.results import Results, results, results_words
from core.base.words import agree, count, number
from core.report import GraphBreak, Recompile, Report

TrialOutcome = Literal["repaired", "partly", "nothing", "worse", "differs", "untold"]
REFUSED = "Refused: the repaired code gives other results than the code as it was, run eagerly"
UNTOLD = "Whether results are equal cannot be told"
NOTHING = "No graph break and no recompile fewer"
WORSE = "It got worse"
SUBJECT = re.compile(r"^(tensor '.+?' [\w ]+?mismatch(?: at index \d+)?|\S.*?)(?:\.? expected .*| (?:==|!=|is) .*)?$")


@dataclass(frozen=True, slots=True)
class TrialSide:
    """A run of a trial: its report, its user code, and the path of that code in its log."""

    report: Report
    text: str
    path: str


@dataclass(frozen=True, slots=True)
class Remainder:
    """A remaining graph break or recompile: its place, and torch's current reason.

    `new` if it is new in the repaired run.
    """

    place: str
    reason: str
    new: bool


@dataclass(frozen=True, slots=True)
class Trial:
    """Result of a repair: `done` of `total` breaks and recompiles are gone, `left` are the remaining and new ones.

    `others` are graph breaks that the repair did not address. `printed` describes differences in the printed text.
    """

    before: Report
    after: Report
    done: int
    total: int
    left: tuple[Remainder, ...]
    others: int
    result: Results | None
    printed: str

    @property
    def outcome(self) -> TrialOutcome:
        """Outcome: repaired only if nothing addressed is left and everything compared is equal."""
        if self.result is not None and self.result.outcome == "differs":
            return "differs"
        if self._worse:
            return "worse"
        if self.result is None or self.result.outcome == "not comparable":
            return "untold"
        if not self.done:
            return "nothing"
        return "partly" if self.left or self.printed else "repaired"

    @property
    def _worse(self) -> bool:
        breaks, eager, again = (tuple(map(measure, (self.before, self.after))) for measure in MEASURES)
        more_breaks = breaks[1] > breaks[0] and eager[1] >= eager[0]
        return more_breaks or eager[1] > eager[0] or (again[1] > again[0] and breaks[1] >= breaks[0])

    @property
    def words(self) -> str:
        """Verdict in one sentence, without a full stop."""
        texts: dict[TrialOutcome, str] = {
            "differs": f"{REFUSED}. {results_words(self.result) if self.result else ''}",
            "worse": f"{WORSE}: {', '.join(self._changes())}",
            "untold": f"{self._gone()}. {UNTOLD}{self._why_untold()}",
            "nothing": f"{NOTHING}. The results are equal",
            "partly": f"{number(self.done)} of {number(self.total)} repaired, {self._equal()}{self._remain()}",
            "repaired": f"{self._gone()}, {self._equal()}{self._untried()}",
        }
        return texts[self.outcome]

    def _gone(self) -> str:
        names = ("graph break", "frame that runs eagerly", "recompile")
        pairs = [tuple(map(measure, (self.before, self.after))) for measure in MEASURES]
        gone = [f"{count(one - other, name)} fewer" for name, (one, other) in zip(names, pairs, strict=True)
                if one > other and not (name == names[1] and pairs[0][0] > pairs[0][1])]  # fmt: skip
        return ", ".join(gone) or NOTHING

    def _changes(self) -> Iterator[str]:
        names = ("graph break", "frame that runs eagerly", "recompile")
        for name, measure in zip(names, MEASURES, strict=True):
            one, other = measure(self.before), measure(self.after)
            if other > one:
                yield f"{count(other, name)} instead of {number(one)}"

    def _equal(self) -> str:
        strides = self.result is not None and self.result.outcome == "other strides"
        values = "equal values, other strides" if strides else "equal results"
        return f"{values}, but {self.printed}" if self.printed else values

    def _remain(self) -> str:
        left = len(self.left)
        return f"; {number(left)} {agree(left, 'remains', 'remain')}" if left else ""

    def _untried(self) -> str:
        rest = f"{count(self.others, 'other graph break')} {agree(self.others, 'remains', 'remain')}"
        return f". {rest}, which this did not try" if self.others else ""

    def _why_untold(self) -> str:
        return f": {results_words(self.result)}" if self.result is not None else ""


def _breaks(report: Report) -> int:
    return len(report.graph_breaks)


def _eager(report: Report) -> int:
    return len({(failure.kind, failure.compilation) for failure in failures(report)})


def _again(report: Report) -> int:
    return len({item.compilation for item in report.recompiles})


MEASURES = (_breaks, _eager, _again)


def trial(before: TrialSide, after: TrialSide, tried: Collection[str], dynamic: bool = False) -> Trial:
    """Compare a repaired run with the original run.

    `tried` are the ids of the repairs; `dynamic` is True if the run used dynamic shapes instead.
    """
    targets = [found for found in before.report.graph_breaks if _is_tried(before, found, tried)]
    sorted_breaks = _sorted_breaks(before, after, targets)
    gone = _gone_causes(before.report, after.report, _causes(before, tried, dynamic))
    done, total = len(targets) - sorted_breaks.hit, len(targets)
    if not targets and not gone:
        # Nothing says what was tried, so that everything was.
        total = _breaks(before.report) + _again(before.report)
        done = max(0, total - _breaks(after.report) - _again(after.report))
    still, new, others = sorted_breaks.still, sorted_breaks.new, sorted_breaks.others
    left = [*(_left(found, after.path, False) for found in still), *(_left(found, after.path, True) for found in new)]
    return Trial(
        before=before.report,
        after=after.report,
        done=done + sum(one - other for one, other in gone.values() if one > other),
        total=total + sum(one for one, _ in gone.values()),
        left=(*left, *_left_causes(gone), *_new_failures(before.report, after.report)),
        others=others,
        result=results(after.report),
        printed=next((call.printed for call in after.report.calls if call.printed), ""),
    )


class _SortedBreaks(NamedTuple):
    """Graph breaks of the repaired run: still present, new, and the number of others.

    `hit` counts the hits of the breaks that are still present.
    """

    still: list[GraphBreak]
    new: list[GraphBreak]
    others: int
    hit: int


def _sorted_breaks(before: TrialSide, after: TrialSide, targets: Sequence[GraphBreak]) -> _SortedBreaks:
    lines = [line_of(found, before.path) for found in targets]
    known = {_key(found, line_of(found, before.path)) for found in before.report.graph_breaks}
    untried = {(line_of(found, before.path), found.registry_id) for found in before.report.graph_breaks}
    untried -= {(line_of(found, before.path), found.registry_id) for found in targets}
    was = _Lines(before.text, after.text)
    still: list[GraphBreak] = []
    new: list[GraphBreak] = []
    hit: set[int] = set()
    for found in after.report.graph_breaks:
        line = line_of(found, after.path)
        old = set(was.of(line)) if line is not None else set()
        # Of two on one line the other kind is not what was tried.
        same = {item for item in old & set(filter(None, lines)) if (item, found.registry_id) not in untried}
        hit |= same
        if same:
            still.append(found)
        elif not any(_key(found, item) in known for item in (*old, None)):
            new.append(found)
    others = len(after.report.graph_breaks) - len(still) - len(new)
    return _SortedBreaks(still, new, others, sum(line in hit for line in lines))


def _is_tried(side: TrialSide, found: GraphBreak, tried: Collection[str]) -> bool:
    return any(repair.id in tried for repair in repairs_of_break(side.text, found, side.path))


def _key(found: GraphBreak, line: int | None) -> tuple[object, ...]:
    """Return the key that identifies a graph break: the user's line, otherwise the library's."""
    return (line,) if line is not None else (found.place.file, found.place.line)


def _left(found: GraphBreak, path: str, new: bool) -> Remainder:
    line = line_of(found, path)
    return Remainder(f"line {line}" if line is not None else found.place.short, found.reason, new)


class _Lines:
    """Mapping from lines of the repaired file to the corresponding lines of the original file."""

    def __init__(self, before: str, after: str) -> None:
        matcher = difflib.SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
        self._blocks = matcher.get_opcodes()

    def of(self, line: int) -> tuple[int, ...]:
        for tag, start, end, first, last in self._blocks:
            if first < line <= last:
                return (start + line - first,) if tag == "equal" else tuple(range(start + 1, end + 1))
        return ()


def _causes(side: TrialSide, tried: Collection[str], dynamic: bool) -> set[str]:
    """Return the subjects of the recompiles that the repairs address."""
    found = newest_reasons(side.report.recompiles)
    return {
        recompile_subject(reason)
        for reason in found
        if (dynamic and dynamic_spares(side.report, reason))
        or any(repair.id in tried for repair in repairs_of_recompile(side.text, side.report, reason))
    }


def recompile_subject(reason: Recompile) -> str:
    """Return the subject of a recompile's guard without its value; equal subjects have the same cause."""
    match = SUBJECT.match(condition(reason.reason))
    return match.group(1) if match else reason.reason


def _gone_causes(before: Report, after: Report, causes: Collection[str]) -> dict[str, tuple[int, int]]:
    """Return cause → number of recompiles before and after."""
    one, other = (Counter(map(recompile_subject, newest_reasons(report.recompiles))) for report in (before, after))
    return {cause: (one[cause], other[cause]) for cause in sorted(causes)}


def _left_causes(gone: dict[str, tuple[int, int]]) -> Iterator[Remainder]:
    for cause, (_, rest) in gone.items():
        if rest:
            yield Remainder(count(rest, "recompile"), f"a guard on `{cause}` failed", False)


def _new_failures(before: Report, after: Report) -> Iterator[Remainder]:
    """Yield frames that now run eagerly or fail to compile without a graph break as the reason."""
    known = {(failure.frame, failure.kind) for failure in failures(before)}
    named = {item for found in after.graph_breaks for item in found.compilations}
    for failure in _not_named(failures(after), named):
        if (failure.frame, failure.kind) not in known:
            yield Remainder(f"`{failure.frame}`", failure.reason, True)


def _not_named(found: Sequence[Failure], named: Collection[str]) -> list[Failure]:
    return [failure for failure in found if failure.compilation not in named]
