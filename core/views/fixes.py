"""Fixes of the user's code for graph breaks and recompiles, and their trials; texts are Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from core.analysis.durations import compile_seconds
from core.analysis.repairs.offers import (
    dynamic_spares,
    line_of,
    newest_reasons,
    repair_of,
    repairs_of_break,
    repairs_of_recompile,
    together,
    together_diff,
)
from core.analysis.repairs.source import Repair, dynamo_settings
from core.analysis.repairs.trials import Remainder, Trial, TrialOutcome, TrialSide, trial
from core.analysis.speed import Speed
from core.analysis.verdict import verdict
from core.base import words as fmt
from core.graph.fx import source_path
from core.job import CompileJob
from core.report import GraphBreak, Payload, Recompile, Report
from core.runs.status import Status
from core.views.blocks import Code, Drawn, Listing, PageBlock, paragraph
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain, prose
from core.views.speedup import seen_words
from core.views.texts import SourceView, place_in_folder

__all__ = ["Fix", "FixesView", "TrialView", "offer", "offer_all"]

# Parts that the pages draw: the fixes of a break or recompile, all fixes as one, and the run that a fix is for.
OFFER, OFFER_ALL, ORIGINAL = "offer", "offer-all", "original-run"

NO_CODE = "No fix: the log does not contain the code."
NO_RULE = "No automatic fix for this line. torch's hints say what to change by hand."
DYNAMIC = "torch.compile(model, dynamic=True)"
NOT_COMPARED = "not compared"
LISTED = 8


@dataclass(frozen=True, slots=True)
class Fix:
    """A fix: its name, the reason, its side effects, the diff of the file, and the job that tries it.

    A fix that changes only the job has an empty diff. `job` is None if the job may not run here.
    """

    not_again: ClassVar[str] = (
        "A fix cannot be tried here: the log has no job to run, or this server does not run its code."
    )
    trial_help: ClassVar[str] = (
        "Run the fixed code with the same options, and compare its results with the original code."
    )

    name: str
    reason: str
    side_effects: str
    diff: str
    job: CompileJob | None

    @staticmethod
    def ended_words(status: Status) -> str:
        """Return a sentence about the run of a fix that ended before it finished, with the reason."""
        return f"The fixed run ended: {plain(status.reason or status.state, LONGEST_TEXT)}"

    @property
    def label(self) -> str:
        """Name for a button."""
        return prose(self.name.rstrip("."), LONGEST_NAME)

    @property
    def heading(self) -> str:
        """Name as a heading."""
        return f"**{prose(self.name, LONGEST_LINE)}**"

    @property
    def caption(self) -> str:
        """Reason and side effects."""
        return f"{prose(self.reason)} {prose(self.side_effects)}"

    @property
    def paragraph(self) -> str:
        """Name and reason in one paragraph."""
        return f"**{self.name}** {prose(self.reason, LONGEST_TEXT)}"

    @property
    def diff_blocks(self) -> Iterator[PageBlock]:
        """The diff, unless the fix changes only the job."""
        if self.diff:
            name = one_line(self.name.rstrip("."), LONGEST_NAME)
            yield Listing(f"Diff: {name}", Code(self.diff, "diff"), is_open=True)


def offer(fixes: Sequence[Fix], key: str) -> Iterator[Drawn]:
    """Yield the fixes of a graph break or recompile; the dashboard can try each of them."""
    if fixes:
        texts = ((*paragraph(fix.heading), *paragraph(fix.caption), *fix.diff_blocks) for fix in fixes)
        yield Drawn(OFFER, tuple(block for blocks in texts for block in blocks), (fixes, key))


def offer_all(fix: Fix | None, key: str) -> Iterator[Drawn]:
    """Yield all compatible fixes as one fix, which the dashboard can try; nothing without a fix."""
    if fix is not None:
        yield Drawn(OFFER_ALL, (*paragraph(fix.paragraph), *fix.diff_blocks), (fix, key))


@dataclass(frozen=True, slots=True)
class FixesView:
    """The fixes of a run: `source` is the text of the user's file, `job` the job of the run.

    `job` is None for an imported log. `again` is the job if it may run again here, otherwise None.
    """

    back_label: ClassVar[str] = "Back to the run that this fix is for"

    run_id: str
    report: Report
    source: str
    job: CompileJob | None
    again: CompileJob | None

    @classmethod
    def of_log(cls, report: Report, read: Callable[[Payload], str]) -> FixesView:
        """Create a view of a log, whose fixes cannot be tried."""
        return cls("", report, SourceView(report, read).text(), None, None)

    def of_break(self, graph_break: GraphBreak) -> tuple[Fix, ...]:
        """Return the fixes of a graph break: edits of the user's file, and settings of Dynamo."""
        return tuple(map(self._fix, self._break_repairs(graph_break)))

    def without_fix(self, graph_break: GraphBreak) -> str:
        """Return the reason why a graph break has no fix; empty if it has one."""
        if not self.source:
            return NO_CODE
        if self._break_repairs(graph_break):
            return ""
        if line_of(graph_break, source_path(self.report)) is None:
            place = code(place_in_folder(graph_break.place))
            return f"No fix: the line is {place}, not in your file."
        return NO_RULE

    def of_recompile(self, recompile: Recompile) -> tuple[Fix, ...]:
        """Return the fixes of a recompile: edits of the code, or a change of the job."""
        return (*map(self._fix, self._recompile_repairs(recompile)), *self._dynamic(recompile))

    def of_all_breaks(self, breaks: Iterable[GraphBreak]) -> Fix | None:
        """Return the first fix of each graph break, combined; None if fewer than two are compatible."""
        return self._together([repair for graph_break in breaks for repair in self._break_repairs(graph_break)[:1]])

    def of_all_recompiles(self) -> Fix | None:
        """Return the first fix of each recompile, combined; None if fewer than two are compatible."""
        reasons = newest_reasons(self.report.recompiles)
        return self._together([repair for reason in reasons for repair in self._recompile_repairs(reason)[:1]])

    def _break_repairs(self, graph_break: GraphBreak) -> tuple[Repair, ...]:
        return repairs_of_break(self.source, graph_break, source_path(self.report))

    def _recompile_repairs(self, recompile: Recompile) -> tuple[Repair, ...]:
        file_calls = self.job is None or not self.job.calls
        return repairs_of_recompile(self.source, self.report, recompile, file_calls)

    def _fix(self, repair: Repair) -> Fix:
        edit = repair.fix
        return Fix(edit.words, edit.why, edit.doubt, repair.diff, self._trial_job((repair.id,)))

    def _together(self, repairs: Sequence[Repair]) -> Fix | None:
        distinct = {(repair.fix.edits, repair.fix.settings): repair for repair in repairs}.values()
        stacked = together(self.source, tuple(repair for repair in distinct if repair.stacks))
        if len(stacked) < 2:
            return None
        left = len(distinct) - len(stacked)
        more = (
            f" Not among them: {fmt.count(left, 'fix', 'fixes')} that may change results, or that edit "
            "the same lines as these."
            if left
            else ""
        )
        first, *others = (repair.fix.words.rstrip(".") for repair in stacked)
        names = "; ".join((first, *(words[:1].lower() + words[1:] for words in others)))
        doubts = " ".join(dict.fromkeys(repair.fix.doubt for repair in stacked if repair.fix.doubt))
        name = f"All {fmt.count(len(stacked), 'fix', 'fixes')} together."
        job = self._trial_job(tuple(repair.id for repair in stacked))
        return Fix(name, f"{names}.{more}", doubts, together_diff(self.source, stacked), job)

    def _trial_job(self, ids: tuple[str, ...]) -> CompileJob | None:
        """Return the job with these fixes; None if the job may not run again here.

        Edits of the file are an additional step in `repairs`, settings of Dynamo are in `conditions`.
        """
        job = self.again
        if job is None:
            return None
        repairs = [repair for fix_id in ids if (repair := repair_of(self.source, fix_id))]
        names = tuple(name for repair in repairs for name in repair.fix.settings)
        edits = tuple(repair.id for repair in repairs if repair.fix.edits)
        dynamo = {**(job.conditions.dynamo or {}), **dynamo_settings(names)} or None
        return replace(
            job,
            repairs=(*job.repairs, edits) if edits else job.repairs,
            conditions=replace(job.conditions, dynamo=dynamo),
            repairs_of=self.run_id,
        )

    def _dynamic(self, recompile: Recompile) -> tuple[Fix, ...]:
        """Return the fix `dynamic=True`, if it avoids this recompile; empty if the job has it already."""
        job = self.again
        if not dynamic_spares(self.report, recompile) or (job is not None and job.compile.dynamic is True):
            return ()
        tried = replace(job.with_settings(dynamic=True), repairs_of=self.run_id) if job else None
        reason = "Sizes and numbers are symbolic from the first call. A dynamic graph may be slower than a static one."
        return (Fix(f"Compile with `{DYNAMIC}`.", reason, "", "", tried),)


@dataclass(frozen=True)
class TrialView:
    """A run compared with the run that tries a fix for it."""

    before: FixesView
    after: FixesView

    method = (
        "Compared with the original code, run eagerly: outputs, gradients, inputs, buffers, attributes, globals, and "
        "printed text in its order. Not compared: other objects, files, and the time of a side effect within a call."
    )

    @cached_property
    def trial(self) -> Trial:
        """Result of the fixes and settings that only the second run's job has."""
        before, after = self.before.job, self.after.job
        ids: tuple[str, ...] = ()
        dynamic = False
        if before is not None and after is not None:
            steps = after.repairs[len(before.repairs) :]
            settings = before.conditions.dynamo or {}
            changed = (after.conditions.dynamo or {}).items()
            names = [name for name, value in changed if settings.get(name) != value]
            ids = (*(fix_id for step in steps for fix_id in step), *(f"setting:{name}" for name in names))
            dynamic = after.compile.dynamic is True and before.compile.dynamic is not True
        return trial(_side(self.before), _side(self.after), ids, dynamic)

    @property
    def outcome(self) -> TrialOutcome:
        """Outcome of the trial."""
        return self.trial.outcome

    @property
    def verdict(self) -> str:
        """Outcome as a bold sentence, then its details."""
        head, dot, rest = self.trial.words.partition(". ")
        return f"**{prose(head, LONGEST_TEXT)}.**{f' {prose(rest, LONGEST_TEXT)}.' if dot else ''}"

    @property
    def remainders(self) -> str:
        """List of the first remaining and new breaks and recompiles, with reasons; empty for none."""
        return "\n".join(map(_remainder, self.trial.left[:LISTED]))

    @property
    def more_remainders(self) -> str:
        """Number of breaks and recompiles that the list omits; empty if the list is complete."""
        more = len(self.trial.left) - LISTED
        return f"and {fmt.number(more)} more" if more > 0 else ""

    @property
    def rows(self) -> dict[str, tuple[str, str]]:
        """Name → number before and after the fix."""
        before, after = (_numbers(run.report) for run in (self.before, self.after))
        return {name: (before[name], text) for name, text in after.items()}


def _side(run: FixesView) -> TrialSide:
    return TrialSide(run.report, run.source, source_path(run.report))


def _remainder(left: Remainder) -> str:
    return f"- {prose(left.place)}{' (new)' if left.new else ''}: {prose(left.reason, LONGEST_TEXT)}"


def _numbers(report: Report) -> dict[str, str]:
    result = verdict(report)
    speed = result.speed
    compiled = [compilation for compilation in report.compilations if compilation.status == "ok"]
    return {
        "graphs": fmt.number(result.graphs),
        "guards": fmt.number(sum(len(compilation.guards) for compilation in compiled)),
        "graph breaks": fmt.number(result.breaks),
        "recompiles": fmt.number(result.recompiles),
        "kernels": fmt.number(result.work.kernels),
        "kernel launches": fmt.number(result.work.calls if result.work.kernels else None),
        "compile time": fmt.duration_s(sum(compile_seconds(report).values())),
        "compiled call": fmt.duration_s(speed.compiled_s if speed else None),
        "faster than eager": _faster(speed) if speed else fmt.NOT_RECORDED,
        "result": result.result.outcome if result.result else NOT_COMPARED,
    }


def _faster(speed: Speed) -> str:
    return speed.unknown or ", ".join([seen_words(speed), *(["machine busy"] if speed.disturbed else [])])
