"""Claims of fixes, results of their trials, and fixes that were applied together; in words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from core.analysis.dynamo.recompiles import local_names
from core.analysis.repairs import claims
from core.analysis.repairs.offers import applied_diff
from core.analysis.repairs.source import joined
from core.base import words as fmt
from core.job.checks import MAX_REPAIRS
from core.runs.store import Run
from core.runs.stored import read_trials
from core.runs.trials import ASKED_S, MOST_TRIALS, TrialProgress
from core.views.blocks import Code, Listing, PageBlock, paragraph
from core.views.markdown import LONGEST_TEXT, code, one_line, plain, prose

OF_TENSOR = re.compile(r"tensor '(?P<name>.+)' (?P<what>[\w ]+?) mismatch(?: at index (?P<index>\d+))?")
WITHOUT_EFFECT = "Tried without effect"
WHY_NOT: dict[claims.WhyNot, str] = {
    "changes behaviour": "it changes what the code does",
    "leaves a break": "one graph break remains on purpose",
    "needs times": "only a measured run shows its effect",
    "is set": "the run has it already",
    "differs by instance": "the value differs between instances, and never changes",
    "no time": "the time for trials was over",
    "other claims first": "more expensive problems came first",
    "another is proven": "another fix of this problem is proven",
    "ended": "the trials were stopped",
    "not repeatable": "the unchanged code showed other graph breaks, recompiles, errors or results when it ran again",
}
TIME_WORDS = f"Takes up to {fmt.limit_s(ASKED_S)}, or twice the run's own time if that is longer."
# Seconds and share of compiling that a trial must save, so that it is no noise.
CLEARLY_S, CLEARLY = 0.5, 0.3
# Refusals that the run itself gives: the fix would have no effect.
REFUTED: tuple[claims.WhyNot, ...] = ("is set", "differs by instance")
# Claims that the trials did not reach: another request tries them.
NOT_REACHED: tuple[claims.WhyNot, ...] = ("no time", "other claims first", "ended")


def claim_words(claim: claims.Claim, function: str = "") -> str:
    """Return the effect that a fix must have: "graph breaks 3 → 2, none at line 12".

    `function` is the only function that was recompiled, empty for several.
    """
    more = f" and {fmt.number(len(claim.subjects) - 1)} more" if len(claim.subjects) > 1 else ""
    if claim.measure == "results":
        return f"{claim.subjects[0] if claim.subjects else 'results'}{more} as eager's"
    if claim.measure == "guards":
        return f"guards of a call {fmt.number(claim.before)} → at most {fmt.number(claim.after)} µs"
    if claim.measure == "error":
        return f"no `{claim.subjects[0]}`"
    fallen = f"{fmt.number(claim.before)} → {fmt.number(claim.after)}"
    if claim.measure == "graph breaks":
        return f"graph breaks {fallen}, none at {claim.subjects[0]}{more}"
    of = f" of `{function}`" if function else ""
    most = f"at most {fmt.number(claim.kept)}" if claim.kept else "none"
    return f"recompiles{of} {fallen}, {most} because of {_subject_words(claim.subjects[0])}{more}"


def _subject_words(subject: str) -> str:
    """Return the guarded value of a recompile: "dimension 0 of `x`" for torch's words about a tensor."""
    match = OF_TENSOR.fullmatch(subject)
    if match is None:
        return f"`{subject}`"
    name = f"`{local_names(match['name'])}`"
    return f"dimension {match['index']} of {name}" if match["index"] else f"the {match['what'].strip()} of {name}"


def proof_words(proof: claims.Proof) -> str:
    """Return what a trial showed: "Tried: recompiles 8 → 1, results same (backend `eager`)."."""
    if proof.outcome == "not tried":
        return f"Not tried: {WHY_NOT.get(proof.why, proof.why)}."
    return f"Tried: {_shown_words(proof)} (backend `{proof.backend}`).{_next_words(proof)}"


def _next_words(proof: claims.Proof) -> str:
    """Return the first problem behind the one that the trial removed; empty if there is none."""
    is_of_problem = proof.measure in ("graph breaks", "recompiles") and proof.outcome != "failed"
    new = next((each for each in proof.left if each.new), None) if is_of_problem else None
    return f" Next problem, at {new.place}: {new.reason.rstrip('.')}." if new is not None else ""


def tried_words(proof: claims.Proof | None) -> str:
    """Return what a trial showed as Markdown, bold if it proves the claim; empty without a trial."""
    words = prose(proof_words(proof), LONGEST_TEXT) if proof is not None else ""
    return f"**{words}**" if proof is not None and proof.is_proven else words


def _shown_words(proof: claims.Proof) -> str:
    if proof.outcome == "failed":
        return f"the trial ended with an error{f', {proof.reason}' if proof.reason else ''}"
    if proof.outcome == "nothing":
        return "changes nothing"
    changes = ", ".join(_changes(proof, worse=proof.outcome == "worse"))
    if proof.outcome == "worse":
        return f"makes it worse, {changes}"
    if proof.outcome == "differs":
        return "results differ from eager"
    is_counted = proof.measure in ("graph breaks", "recompiles")
    wanted = f" instead of {fmt.number(proof.target)}" if proof.outcome == "partly" and changes and is_counted else ""
    gone = "no error" if proof.measure == "error" else ""
    return ", ".join(filter(None, (gone, f"{changes}{wanted}", *_time_words(proof), *_result_words(proof))))


def _time_words(proof: claims.Proof) -> Iterator[str]:
    """Yield the time of guards for a claim about it, and clearly fewer seconds of compiling."""
    if proof.measure == "guards":
        yield f"guards of a call {fmt.number(proof.guards[0])} → {fmt.number(proof.guards[1])} µs"
    before, after = proof.compile_s
    if after and before - after > max(CLEARLY_S, CLEARLY * before):
        yield f"compiling {fmt.duration_s(before)} → {fmt.duration_s(after)}"


def _changes(proof: claims.Proof, worse: bool) -> Iterator[str]:
    """Yield the counts that a trial changed, that of the claim first: "graph breaks 3 → 2"."""
    names = ("graph breaks", "eager frames", "recompiles")
    rows = sorted(zip(names, proof.before, proof.after, strict=True), key=lambda row: row[0] != proof.measure)
    for name, before, after in rows:
        is_named = proof.measure in ("", "results", "error", name)
        if (after > before) if worse else (is_named and after != before):
            yield f"{name} {fmt.number(before)} → {fmt.number(after)}"


def _result_words(proof: claims.Proof) -> Iterator[str]:
    same = {"same": "results same", "other strides": "results same, other strides"}
    yield "results differ as before" if proof.as_before else same.get(proof.results, "results cannot be compared")
    if proof.printed:
        yield f"but {proof.printed}"


def trials_of(run: Run) -> claims.RunTrials:
    """Return what the trials of a run showed."""
    return read_trials(run)


@dataclass(frozen=True, slots=True)
class TrialsView:
    """Trials of a run's fixes: their progress, and the button that starts those that are left."""

    button: ClassVar[str] = "Try the fixes"
    help: ClassVar[str] = (
        f"Runs the code again, up to {MOST_TRIALS} times: each time with one fix, compared with eager, without "
        f"measuring. {TIME_WORDS}"
    )

    all_help: ClassVar[str] = (
        "Applies all fixes in rounds until nothing new appears, drops what is not needed, and compiles the result. "
        f"Runs the code again. {TIME_WORDS}"
    )

    reading: ClassVar[str] = "Reading the log of the fixed run"

    progress: TrialProgress | None

    @property
    def words(self) -> str:
        """Progress in words; empty if no trial is queued."""
        if self.progress is None:
            return ""
        if not self.progress.total:
            return "Trying the fixes…"
        return f"Trying the fixes: {fmt.number(self.progress.decided)} of {fmt.number(self.progress.total)}…"


@dataclass(frozen=True, slots=True)
class AppliedView:
    """Fixes that were applied together in rounds; `source` is the text of the user's file."""

    fixes: claims.AppliedFixes
    source: str

    @property
    def words(self) -> str:
        """Counts before and after, results, and whether each fix is needed."""
        if not self.fixes.rounds:
            return "No fix makes this run better."
        proof = claims.Proof(
            "", "partly", "", self.fixes.backend, self.fixes.before, self.fixes.after, self.fixes.results
        )
        needed = "each is needed" if self.fixes.is_minimal else "not minimal"
        changes = fmt.count(len(self.fixes.changes), "fix", "fixes")
        results = ", ".join(_result_words(proof))
        counted = ", ".join(_changes(proof, worse=False)) or "changes nothing"
        return f"**{changes} together: {counted}, {results} (backend {code(self.fixes.backend)}); {needed}.**"

    @property
    def changes(self) -> str:
        """The fixes, as a list."""
        return "\n".join(f"- {prose(change.words)}" for change in self.fixes.changes[:MAX_REPAIRS])

    @property
    def named(self) -> str:
        """Fixes of what is left that change what the code does, and were not applied; empty for none."""
        words = [prose(change.words.rstrip(".")) for change in self.fixes.named[:MAX_REPAIRS]]
        return f"Not applied, since it changes what the code does: {'; '.join(words)}." if words else ""

    @property
    def left(self) -> str:
        """The lines with graph breaks and recompiles that are left; empty for none."""
        places = [
            f"{plain(each.place)} ({code(one_line(each.reason, LONGEST_TEXT))})"
            for each in self.fixes.left[:MAX_REPAIRS]
        ]
        return f"Left: {'; '.join(places)}." if places else ""

    @property
    def diff(self) -> str:
        """All edits of the file as a unified diff; empty if only settings change, or for too many edits."""
        steps = [joined(changes).repairs for changes in self.fixes.rounds]
        is_short = sum(map(len, steps)) <= MAX_REPAIRS
        return applied_diff(self.source, [step for step in steps if step]) if is_short else ""

    @property
    def blocks(self) -> Iterator[PageBlock]:
        """Yield the result, the fixes, what is left, fixes that were not applied, and the diff."""
        for text in (self.words, self.changes, self.left, self.named):
            yield from paragraph(text)
        if self.diff:
            yield Listing("Diff of all fixes", Code(self.diff, "diff"), is_open=True)


def trials_page(trials: claims.RunTrials, source: str) -> Iterator[PageBlock]:
    """Yield the fixes of a run with what their trials showed, proven ones first, and those together."""
    for proof in sorted(trials.proofs, key=lambda proof: (not proof.is_proven, proof.outcome == "not tried")):
        yield from paragraph(f"- {prose(proof.words, LONGEST_TEXT)} {tried_words(proof)}")
    if trials.applied is not None:
        yield from AppliedView(trials.applied, source).blocks
    if trials == claims.NO_TRIALS:
        yield from paragraph("No fix to try.")
