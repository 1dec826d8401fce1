"""Trial of a repair: comparison of the repaired run with the original, per break or recompile."""

import difflib
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from core.analysis.dynamo.failures import Failure, failures, frame_names
from core.analysis.dynamo.recompiles import recompiled
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
from core.report import Difference, GraphBreak, Place, Recompile, Report

TrialOutcome = Literal["repaired", "partly", "nothing", "worse", "differs", "untold"]
MOST_LEFT = 8  #: remaining problems that a proof names
REFUSED = "Refused: the results differ from the original code, run eagerly"
UNDECIDED = "The results cannot be compared"
NOTHING = "No fewer graph breaks or recompiles"
WORSE = "Worse than before"
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

    `new` is True if the original run did not have it.
    """

    place: str
    reason: str
    new: bool


@dataclass(frozen=True, slots=True)
class Trial:
    """Result of a repair: `done` of `total` graph breaks and recompiles are gone.

    `left` are the remaining and the new problems. `others` counts the graph breaks that the repair did not
    address. `printed` describes differences in the printed text.
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
        """Outcome; `repaired` only if nothing is left, and results and prints are equal but for strides.

        Differences that the original compiled code has, too, don't count. A cause that another one replaces is none
        less.
        """
        if self._differs and not self.differs_as_before:
            return "differs"
        if self._worse:
            return "worse"
        if self.result is None or self.result.outcome == "not comparable":
            return "untold"
        if not self.done or not self._fewer:
            return "nothing"
        return "partly" if self.left or self.printed else "repaired"

    @property
    def _differs(self) -> bool:
        return self.result is not None and self.result.outcome == "differs"

    @property
    def differs_as_before(self) -> bool:
        """True if the results differ from eager, and the original compiled code has all of these differences."""
        earlier = results(self.before)
        if earlier is None or self.result is None or not self._differs:
            return False
        return set(map(_difference_key, self.result.differing)) <= set(map(_difference_key, earlier.differing))

    @property
    def _worse(self) -> bool:
        breaks, eager, recompiles = (tuple(map(measure, (self.before, self.after))) for measure in MEASURES)
        if _lost(self.before, self.after):
            return True
        more_breaks = breaks[1] > breaks[0] and eager[1] >= eager[0]
        return more_breaks or eager[1] > eager[0] or (recompiles[1] > recompiles[0] and breaks[1] >= breaks[0])

    @property
    def _fewer(self) -> bool:
        return any(measure(self.before) > measure(self.after) for measure in MEASURES)

    @property
    def words(self) -> str:
        """Verdict in words, without a full stop at the end."""
        texts: dict[TrialOutcome, str] = {
            "differs": f"{REFUSED}. {results_words(self.result) if self.result else ''}",
            "worse": f"{WORSE}: {', '.join(self._worse_counts())}",
            "untold": f"{self._removed_words()}. {UNDECIDED}{self._undecided_words()}",
            "nothing": f"{NOTHING}. {'The results differ as before' if self._differs else 'The results are equal'}",
            "partly": f"{number(self.done)} of {number(self.total)} fixed, "
            f"{self._equal_words()}{self._remaining_words()}",
            "repaired": f"{self._removed_words()}, {self._equal_words()}{self._untried_words()}",
        }
        return texts[self.outcome]

    def _removed_words(self) -> str:
        names = ("graph break", "frame that runs eagerly", "recompile")
        pairs = [tuple(map(measure, (self.before, self.after))) for measure in MEASURES]
        removed = [f"{count(before - after, name)} fewer" for name, (before, after) in zip(names, pairs, strict=True)
                if before > after and not (name == names[1] and pairs[0][0] > pairs[0][1])]  # fmt: skip
        return ", ".join(removed) or NOTHING

    def _worse_counts(self) -> Iterator[str]:
        names = ("graph break", "frame that runs eagerly", "recompile")
        for name, measure in zip(names, MEASURES, strict=True):
            before, after = measure(self.before), measure(self.after)
            if after > before:
                yield f"{count(after, name)} instead of {number(before)}"
        for name in sorted(_lost(self.before, self.after)):
            yield f"`{name}` uncompiled"

    def _equal_words(self) -> str:
        strides = self.result is not None and self.result.outcome == "other strides"
        values = "equal values, other strides" if strides else "equal results"
        if self._differs:
            values = "the results differ from eager as before"
        return f"{values}, but {self.printed}" if self.printed else values

    def _remaining_words(self) -> str:
        left = len(self.left)
        return f"; {number(left)} {agree(left, 'remains', 'remain')}" if left else ""

    def _untried_words(self) -> str:
        rest = f"{count(self.others, 'other graph break')} {agree(self.others, 'remains', 'remain')}"
        return f". {rest}, not covered by this fix" if self.others else ""

    def _undecided_words(self) -> str:
        return f": {results_words(self.result)}" if self.result is not None else ""


def _difference_key(difference: Difference) -> tuple[str, ...]:
    return difference.what, difference.kind, difference.expected, difference.actual


def _breaks(report: Report) -> int:
    return len(report.graph_breaks)


def _eager_frames(report: Report) -> int:
    return len({(failure.kind, failure.compilation) for failure in failures(report)})


def _lost(before: Report, after: Report) -> set[str]:
    """Return the functions that were compiled before, and that Dynamo tries without success after."""
    tried = {names[failure.compilation] for names in (frame_names(after),) for failure in failures(after)
             if failure.compilation in names}  # fmt: skip
    return (tried & _compiled(before)) - _compiled(after)


def _compiled(report: Report) -> set[str]:
    names = frame_names(report)
    return {names[each.id] for each in report.compilations if each.status == "ok"}


def _recompiles(report: Report) -> int:
    return len(recompiled(report))


MEASURES = (_breaks, _eager_frames, _recompiles)


def trial(before: TrialSide, after: TrialSide, tried: Collection[str], dynamic: bool = False) -> Trial:
    """Compare a repaired run with the original run.

    `tried` are the ids of the repairs; `dynamic` is True if the run used dynamic shapes instead.
    """
    targets = [graph_break for graph_break in before.report.graph_breaks if _is_tried(before, graph_break, tried)]
    sorted_breaks = _sorted_breaks(before, after, targets)
    cause_counts = _cause_counts(before.report, after.report, _causes(before, tried, dynamic))
    done, total = len(targets) - sorted_breaks.hit, len(targets)
    if not targets and not cause_counts:
        # Everything counts as tried if no target is recorded.
        total = _breaks(before.report) + _recompiles(before.report)
        done = max(0, total - _breaks(after.report) - _recompiles(after.report))
    still, new, unrelated = sorted_breaks.still, sorted_breaks.new, sorted_breaks.unrelated
    left = [
        *(_remainder(graph_break, after.path, False) for graph_break in still),
        *(_remainder(graph_break, after.path, True) for graph_break in new),
    ]
    return Trial(
        before=before.report,
        after=after.report,
        done=done + sum(was - now for was, now in cause_counts.values() if was > now),
        total=total + sum(was for was, _ in cause_counts.values()),
        left=(*left, *_remaining_causes(cause_counts), *_new_failures(before.report, after.report)),
        others=unrelated,
        result=results(after.report),
        printed=next((call.printed for call in after.report.calls if call.printed), ""),
    )


class _SortedBreaks(NamedTuple):
    """Graph breaks of the repaired run: still present, new, and the number of unrelated breaks.

    `hit` counts the addressed breaks of the original run that are still present.
    """

    still: list[GraphBreak]
    new: list[GraphBreak]
    unrelated: int
    hit: int


def _sorted_breaks(before: TrialSide, after: TrialSide, targets: Sequence[GraphBreak]) -> _SortedBreaks:
    lines = [line_of(graph_break, before.path) for graph_break in targets]
    keys = {_key(graph_break, line_of(graph_break, before.path)) for graph_break in before.report.graph_breaks}
    untried = {
        (line_of(graph_break, before.path), graph_break.registry_id) for graph_break in before.report.graph_breaks
    }
    untried -= {(line_of(graph_break, before.path), graph_break.registry_id) for graph_break in targets}
    was = OriginalLines(before.text, after.text)
    still: list[GraphBreak] = []
    new: list[GraphBreak] = []
    hit: set[int] = set()
    for graph_break in after.report.graph_breaks:
        line = line_of(graph_break, after.path)
        old = set(was.of(line)) if line is not None else set()
        # Two breaks may share a line: only the kind that was tried counts.
        same = {
            candidate
            for candidate in old & set(filter(None, lines))
            if (candidate, graph_break.registry_id) not in untried
        }
        hit |= same
        if same:
            still.append(graph_break)
        elif not any(_key(graph_break, candidate) in keys for candidate in (*old, None)):
            new.append(graph_break)
    unrelated = len(after.report.graph_breaks) - len(still) - len(new)
    return _SortedBreaks(still, new, unrelated, sum(line in hit for line in lines))


def _is_tried(side: TrialSide, graph_break: GraphBreak, tried: Collection[str]) -> bool:
    return any(repair.id in tried for repair in repairs_of_break(side.text, graph_break, side.path))


def _key(graph_break: GraphBreak, line: int | None) -> tuple[object, ...]:
    """Return the key that identifies a graph break: the user's line, otherwise the library's."""
    return (line,) if line is not None else (graph_break.place.file, graph_break.place.line)


def _remainder(graph_break: GraphBreak, path: str, new: bool) -> Remainder:
    line = line_of(graph_break, path)
    return Remainder(f"line {line}" if line is not None else graph_break.place.short, graph_break.reason, new)


class OriginalLines:
    """Mapping from lines of the repaired file to the corresponding lines of the original file."""

    def __init__(self, before: str, after: str) -> None:
        matcher = difflib.SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
        self._blocks = matcher.get_opcodes()

    def of(self, line: int) -> tuple[int, ...]:
        """Return the lines of the original file for one of the repaired file; empty for a new line."""
        for tag, start, end, first, last in self._blocks:
            if first < line <= last:
                return (start + line - first,) if tag == "equal" else tuple(range(start + 1, end + 1))
        return ()


def _causes(side: TrialSide, tried: Collection[str], dynamic: bool) -> set[str]:
    """Return the causes of the recompiles that the repairs address, such as a size or a global."""
    reasons = newest_reasons(side.report.recompiles)
    return {
        recompile_subject(reason)
        for reason in reasons
        if (dynamic and dynamic_spares(side.report, reason))
        or any(repair.id in tried for repair in repairs_of_recompile(side.text, side.report, reason))
    }


def recompile_subject(reason: Recompile) -> str:
    """Return the subject of a recompile's guard without its value; equal subjects have the same cause."""
    match = SUBJECT.match(condition(reason.reason))
    return match.group(1) if match else reason.reason


def _cause_counts(before: Report, after: Report, causes: Collection[str]) -> dict[str, tuple[int, int]]:
    """Return cause → number of recompiles before and after."""
    counts_before, counts_after = (
        Counter(map(recompile_subject, newest_reasons(report.recompiles))) for report in (before, after)
    )
    return {cause: (counts_before[cause], counts_after[cause]) for cause in sorted(causes)}


def _remaining_causes(cause_counts: dict[str, tuple[int, int]]) -> Iterator[Remainder]:
    for cause, (_, rest) in cause_counts.items():
        if rest:
            yield Remainder(count(rest, "recompile"), f"a guard on `{cause}` failed", False)


def _new_failures(before: Report, after: Report) -> Iterator[Remainder]:
    """Yield frames that newly run eagerly or fail to compile, without a graph break as the reason."""
    earlier = {(failure.frame, failure.kind) for failure in failures(before)}
    named = {compilation for graph_break in after.graph_breaks for compilation in graph_break.compilations}
    for failure in _not_named(failures(after), named):
        if (failure.frame, failure.kind) not in earlier:
            yield Remainder(f"`{failure.frame}`", failure.reason, True)


def _not_named(all_failures: Sequence[Failure], named: Collection[str]) -> list[Failure]:
    return [failure for failure in all_failures if failure.compilation not in named]


def left_over(base: TrialSide, side: TrialSide) -> tuple[Remainder, ...]:
    """Return the lines of a base with graph breaks and recompiles in a trial, each with its reason."""
    report, left, lines = side.report, {}, OriginalLines(base.text, side.text)

    def remainder(line: int | None, place: Place, reason: str) -> Remainder:
        before = lines.of(line) if line is not None else ()
        return Remainder(f"line {before[0]}" if len(before) == 1 else place.short, reason, False)

    for graph_break in report.graph_breaks:
        line = line_of(graph_break, side.path)
        left[line or graph_break.place.short] = remainder(line, graph_break.place, graph_break.reason)
    for reason in newest_reasons(report.recompiles):
        at = reason.location
        if at is not None and at.file == side.path:
            left.setdefault(at.line, remainder(at.line, at, reason.code))
    return tuple(left.values())[:MOST_LEFT]
