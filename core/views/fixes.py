"""Fixes of the user's code for graph breaks and recompiles, and their trials; texts are Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from core.analysis.comparison.matching import RunSide
from core.analysis.durations import compile_seconds
from core.analysis.dynamo.costs import break_costs
from core.analysis.repairs import claims
from core.analysis.repairs.offers import (
    dynamic_spares,
    line_of,
    newest_reasons,
    repairs_of_break,
    repairs_of_recompile,
    together,
    together_diff,
)
from core.analysis.repairs.source import DYNAMIC_SIZES, Proposal, Repair, proposal_of
from core.analysis.repairs.trials import Remainder, Trial, TrialOutcome, TrialSide, trial
from core.analysis.speed import Speed
from core.analysis.verdict import verdict
from core.base import words as fmt
from core.graph.fx import source_path
from core.job import CompileJob, Model
from core.report import GraphBreak, Recompile, Report
from core.runs.status import Status
from core.views.blocks import Code, Drawn, Listing, PageBlock, folded, paragraph
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain, prose
from core.views.proofs import (
    NOT_REACHED,
    REFUTED,
    WITHOUT_EFFECT,
    AppliedView,
    TrialsView,
    claim_words,
    trials_of,
    tried_words,
)
from core.views.speedup import seen_words
from core.views.texts import SourceView, place_in_folder

# Parts that the pages draw: the fixes of a break or recompile, all fixes as one, and the run that a fix is for.
OFFER, OFFER_ALL, ORIGINAL = "offer", "offer-all", "original-run"

NO_CODE = "No fix: the log does not contain the code."
NO_RULE = "No automatic fix for this line. torch's hints say what to change by hand."
DYNAMIC = DYNAMIC_SIZES.words
NOT_COMPARED = "not compared"
LISTED = 8


@dataclass(frozen=True, slots=True)
class Fix:
    """A fix: its name, the reason, its side effects, the diff of the file, and the job that tries it.

    A fix that changes only the job has an empty diff. `job` is None if the job may not run here. `claim` is the effect
    that it must have, and `proof` what a trial showed; both are None if there is none. `key` is equal for equal
    changes.
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
    claim: str = ""
    proof: claims.Proof | None = None
    key: str = ""

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
        """Reason, side effects, and the claim."""
        claim = f"Claim: {self.claim}." if self.claim else ""
        return " ".join(filter(None, map(prose, (self.reason, self.side_effects, claim))))

    @property
    def tried(self) -> str:
        """The result of the trial as a sentence, bold if it proves the claim; empty without one."""
        return tried_words(self.proof)

    @property
    def is_proven(self) -> bool:
        """True if a trial proves the claim."""
        return self.proof is not None and self.proof.is_proven

    @property
    def is_idle(self) -> bool:
        """True if a trial showed that the fix is no advice."""
        return self.proof is not None and self.proof.is_without_effect

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


def offer(fixes: Sequence[Fix], key: str) -> Iterator[PageBlock]:
    """Yield the fixes of a graph break or recompile; the dashboard can try each of them.

    Fixes that a trial showed to have no effect are folded.
    """
    advised, idle = ([fix for fix in fixes if fix.is_idle is is_idle] for is_idle in (False, True))
    if advised:
        blocks = tuple(block for fix in advised for block in _fix_blocks(fix))
        yield Drawn(OFFER, blocks, (advised, key))
    if idle:
        yield from folded(WITHOUT_EFFECT, [block for fix in idle for block in _fix_blocks(fix)])


def _fix_blocks(fix: Fix) -> Iterator[PageBlock]:
    yield from (*paragraph(fix.heading), *paragraph(fix.caption), *paragraph(fix.tried), *fix.diff_blocks)


def offer_all(fixes: FixesView, key: str) -> Iterator[Drawn]:
    """Yield all compatible fixes as one, which the dashboard can apply, or the result."""
    fix, applied = fixes.of_all(), fixes.applied
    if applied is not None:
        yield Drawn(OFFER_ALL, tuple(applied.blocks), (fix, applied, key))
    elif fix is not None:
        yield Drawn(OFFER_ALL, (*paragraph(fix.paragraph), *fix.diff_blocks), (fix, None, key))


@dataclass(frozen=True)
class FixesView:
    """The fixes of a run: `source` is the text of the user's file, `job` the job of the run.

    `job` is None for an imported log. `again` is the job if it may run again here, otherwise None. `trials` are the
    results of trials.
    """

    back_label: ClassVar[str] = "Back to the run that this fix is for"

    run_id: str
    report: Report
    source: str
    job: CompileJob | None
    again: CompileJob | None
    trials: claims.RunTrials = claims.NO_TRIALS

    @classmethod
    def of_side(cls, side: RunSide) -> FixesView:
        """Create a view of a run or a log, whose fixes cannot be tried."""
        return cls("", side.report, SourceView(side.report, side.text).text(), None, None, side.trials)

    @cached_property
    def _claims(self) -> dict[str, claims.Claim | claims.Objection]:
        job = self.job or CompileJob(Model("code", ""))
        return {claim.proposal.key: claim for claim in claims.claims(_side(self), job)}

    @cached_property
    def _shown(self) -> dict[str, claims.Proof]:
        return {proof.key: proof for proof in self.trials.proofs}

    @cached_property
    def _function(self) -> str:
        return claims.recompiled_function(self.report)

    def of_break(self, graph_break: GraphBreak) -> tuple[Fix, ...]:
        """Return the fixes of a graph break: edits of the file, and settings; proven ones first."""
        return _proven_first(map(self._fix, self._break_repairs(graph_break)))

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
        return _proven_first((*map(self._fix, self._recompile_repairs(recompile)), *self._dynamic(recompile)))

    @property
    def are_left(self) -> bool:
        """True if trials have not reached a fix's claim."""
        made = (key for key, claim in self._claims.items() if isinstance(claim, claims.Claim))
        return any(key not in self._shown or self._shown[key].why in NOT_REACHED for key in made)

    def of_all(self) -> Fix | None:
        """Return the first fix of each problem, combined; None if fewer than two are compatible."""
        breaks = [self._break_repairs(cost.graph_break)[:1] for cost in break_costs(self.report)]
        reasons = newest_reasons(self.report.recompiles)
        return self._together([repair for first in (*breaks, *map(self._first, reasons)) for repair in first])

    def _first(self, recompile: Recompile) -> tuple[Repair, ...]:
        return self._recompile_repairs(recompile)[:1]

    @property
    def applied(self) -> AppliedView | None:
        """The fixes that were applied together; None if there are none."""
        applied = self.trials.applied
        return AppliedView(applied, self.source) if applied is not None else None

    def _break_repairs(self, graph_break: GraphBreak) -> tuple[Repair, ...]:
        return self._not_refuted(repairs_of_break(self.source, graph_break, source_path(self.report)))

    def _recompile_repairs(self, recompile: Recompile) -> tuple[Repair, ...]:
        file_calls = self.job is None or not self.job.calls
        return self._not_refuted(repairs_of_recompile(self.source, self.report, recompile, file_calls))

    def _not_refuted(self, repairs: Iterable[Repair]) -> tuple[Repair, ...]:
        return tuple(repair for repair in repairs if not self._is_refuted(proposal_of([repair])))

    def _is_refuted(self, proposal: Proposal) -> bool:
        claim = self._claims.get(proposal.key)
        return isinstance(claim, claims.Objection) and claim.reason in REFUTED

    def _fix(self, repair: Repair) -> Fix:
        edit, proposal = repair.fix, proposal_of([repair])
        fix = Fix(edit.words, edit.why, edit.doubt, repair.diff, self._trial_job(proposal))
        return self._with_proof(fix, proposal)

    def _with_proof(self, fix: Fix, proposal: Proposal) -> Fix:
        claim = self._claims.get(proposal.key)
        words = claim_words(claim, self._function) if isinstance(claim, claims.Claim) else ""
        proof = self._shown.get(proposal.key)
        proof = proof or (claims.untried(claim) if isinstance(claim, claims.Objection) else None)
        return replace(fix, claim=words, proof=proof, key=proposal.key)

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
        proposal = proposal_of(stacked)
        diff, job = together_diff(self.source, stacked), self._trial_job(proposal)
        return Fix(name, f"{names}.{more}", doubts, diff, job, key=proposal.key)

    def _trial_job(self, proposal: Proposal) -> CompileJob | None:
        """Return the job with a change; None if the job may not run again here."""
        return replace(proposal.applied(self.again), repairs_of=self.run_id) if self.again else None

    def _dynamic(self, recompile: Recompile) -> tuple[Fix, ...]:
        """Return the fix `dynamic=True`, if it avoids this recompile; empty if the job has it already."""
        if not dynamic_spares(self.report, recompile) or self._is_refuted(DYNAMIC_SIZES):
            return ()
        reason = "Sizes and numbers are symbolic from the first call. A dynamic graph may be slower than a static one."
        fix = Fix(f"Compile with `{DYNAMIC}`.", reason, "", "", self._trial_job(DYNAMIC_SIZES))
        return (self._with_proof(fix, DYNAMIC_SIZES),)


def _proven_first(fixes: Iterable[Fix]) -> tuple[Fix, ...]:
    return tuple(sorted(fixes, key=lambda fix: not fix.is_proven))


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
