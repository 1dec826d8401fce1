"""Claims of repairs and settings: the counts that a proposal must reach, and proofs by trials."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from core.analysis.durations import compile_seconds, compile_time_s
from core.analysis.dynamo.costs import BreakCost, break_costs
from core.analysis.dynamo.failures import failed_phase, failures, frame_names
from core.analysis.dynamo.varied_sizes import is_of_size
from core.analysis.repairs.offers import (
    INTEGERS,
    attribute_use,
    condition,
    dynamic_spares,
    line_of,
    newest_reasons,
    repair_of,
    repairs_of_break,
    repairs_of_recompile,
    together,
)
from core.analysis.repairs.source import (
    DYNAMIC_SIZES,
    SIZES_OF_PARAMETERS,
    Proposal,
    Repair,
    joined,
    proposal_of,
    with_options,
)
from core.analysis.repairs.trials import (
    MEASURES,
    MOST_LEFT,
    Remainder,
    TrialOutcome,
    TrialSide,
    recompile_subject,
    trial,
)
from core.analysis.results import results
from core.job import CompileJob
from core.job.model import inductor_mitigations
from core.report import Recompile, Report, frame_id

Measure = Literal["graph breaks", "recompiles", "results", "error", "guards"]
Counts = tuple[int, int, int]
# Backends that stop before Inductor, the cheapest first.
CHEAP = ("eager", "aot_eager")
# A guard that compares a float, which AOTAutograd may specialize again.
OF_FLOAT = re.compile(r" == -?(?:\d+\.\d*|\d*\.\d+|\d+e-?\d+)(?:e[+-]?\d+)?$")
# Phases whose errors an option of Inductor may avoid.
OF_INDUCTOR = ("Inductor", "generated code", "run time")
# Kinds of differences that AOTAutograd may cause.
OF_ALIASES = ("aliasing", "mutation")
# Names of Dynamo's that change what guards cost, and the share of their time that one must save.
OF_GUARDS = frozenset({"specialize_float", "use_recursive_dict_tags_for_guards"})
GUARDS_SAVED = 0.1


@dataclass(frozen=True, slots=True)
class Claim:
    """The effect that a proposal must have: `measure` falls from `before` to at most `after`.

    `subjects` are the lines or the guarded values of the problem; `kept` of its recompiles may remain. `is_wrong` is
    True if the proposal is for wrong results or an error; otherwise `cost_s` is the compile time of the problem. `rank`
    is the proposal's place among the alternatives for its problem. `backend` is the cheapest backend that can prove it,
    empty for the job's own.
    """

    proposal: Proposal
    measure: Measure
    subjects: tuple[str, ...]
    before: int
    after: int
    kept: int = 0
    cost_s: float = 0.0
    is_wrong: bool = False
    rank: int = 0
    backend: str = CHEAP[0]

    @property
    def order(self) -> tuple[bool, int, float]:
        """Sort key: wrong results and errors first, then first choices, then the most expensive problem."""
        return (not self.is_wrong, self.rank, -self.cost_s)


ObjectionReason = Literal["changes behaviour", "leaves a break", "needs times", "is set", "differs by instance"]


@dataclass(frozen=True, slots=True)
class Objection:
    """A proposal without a trial, and the reason."""

    proposal: Proposal
    reason: ObjectionReason


def claims(side: TrialSide, job: CompileJob, more: Iterable[Proposal] = ()) -> tuple[Claim | Objection, ...]:
    """Return the claims of all repairs and settings for a run, in the order of their trials.

    Objections come last. `more` are further proposals, such as those of findings. A proposal for several problems has
    one claim.
    """
    ranks: dict[str, tuple[Proposal, int]] = {}
    problems = Problems(side, job)
    for proposal, rank in (*problems.offered(), *((proposal, 0) for proposal in more)):
        known = ranks.get(proposal.key)
        ranks[proposal.key] = (proposal, min(rank, known[1]) if known else rank)
    judged = [claim_of(problems, proposal, rank) for proposal, rank in ranks.values()]
    made = sorted((claim for claim in judged if isinstance(claim, Claim)), key=lambda claim: claim.order)
    return (*made, *(refused for refused in judged if isinstance(refused, Objection)))


def cures(options: Mapping[str, Any], device: str) -> tuple[Proposal, ...]:
    """Return options with one more each that may avoid Inductor's errors, mildest first."""
    return tuple(with_options({**options, **more}) for more in inductor_mitigations(device))


@dataclass(frozen=True)
class Problems:
    """The graph breaks and recompiles of a run, each with its repairs, which are computed once."""

    side: TrialSide
    job: CompileJob

    @cached_property
    def breaks(self) -> tuple[tuple[BreakCost, tuple[Repair, ...]], ...]:
        """Costs of the graph breaks, and their repairs."""
        text, path = self.side.text, self.side.path
        return tuple((cost, repairs_of_break(text, cost.graph_break, path)) for cost in break_costs(self.side.report))

    @cached_property
    def recompiles(self) -> tuple[tuple[Recompile, tuple[Repair, ...], bool], ...]:
        """Newest reasons of the recompiles, their repairs, and whether `dynamic=True` avoids them."""
        report, text = self.side.report, self.side.text
        return tuple(
            (each, repairs_of_recompile(text, report, each, not self.job.calls), dynamic_spares(report, each))
            for each in newest_reasons(report.recompiles)
        )

    def offered(self) -> Iterator[tuple[Proposal, int]]:
        """Yield each repair as a proposal, with its place among those for its problem."""
        for _, repairs in self.breaks:
            yield from ((proposal_of([repair]), rank) for rank, repair in enumerate(repairs))
        for _, repairs, is_dynamic in self.recompiles:
            yield from ((proposal_of([repair]), rank) for rank, repair in enumerate(repairs))
            if is_dynamic:
                yield DYNAMIC_SIZES, len(repairs)
        is_wrong = _outcome(self.side.report) == "differs" or failed_phase(self.side.report) in OF_INDUCTOR
        if is_wrong and self.job.compile.backend == "inductor":
            for rank, cure in enumerate(cures(self.job.compile.options or {}, self.job.device), 1):
                yield cure, rank


def claim_of(problems: Problems, proposal: Proposal, rank: int = 0) -> Claim | Objection | None:
    """Return the claim of a proposal, or the reason against a trial; None for another backend."""
    side, job, ids = problems.side, problems.job, set(proposal.ids)
    if "backend" in proposal.compile:
        return None
    if proposal.applied(job) == job:
        return Objection(proposal, "is set")
    fixes = [repair for each in proposal.ids if (repair := repair_of(side.text, each))]
    if any(repair.id.startswith("disable:") for repair in fixes):
        return Objection(proposal, "leaves a break")
    if any(repair.fix.risk == "changes" for repair in fixes):
        return Objection(proposal, "changes behaviour")
    if costs := [cost for cost, repairs in problems.breaks if any(repair.id in ids for repair in repairs)]:
        return _break_claim(side, proposal, costs, rank)
    of_sizes = SIZES_OF_PARAMETERS in proposal.dynamo or proposal.compile.get("dynamic", True) is None
    reasons = [
        reason
        for reason, repairs, is_dynamic in problems.recompiles
        if (proposal.is_dynamic and is_dynamic)
        or (of_sizes and is_of_size(reason))
        or any(repair.id in ids for repair in repairs)
    ]
    if reasons and set(proposal.dynamo) == {INTEGERS} and all(_is_of_instance(side.text, each) for each in reasons):
        return Objection(proposal, "differs by instance")
    if reasons:
        return _recompile_claim(side.report, proposal, reasons, rank)
    return _answer_claim(side.report, proposal, rank)


def _answer_claim(report: Report, proposal: Proposal, rank: int) -> Claim | Objection:
    """Return the claim that an error or a difference is gone, or that guards are faster."""
    is_option = "options" in proposal.compile and failed_phase(report) in OF_INDUCTOR
    is_left_out = proposal.compile.get("fullgraph") is False or False in proposal.dynamo.values()
    is_cure = bool(proposal.repairs) or is_left_out or is_option
    if report.error is not None and is_cure:
        backend = "" if "options" in proposal.compile else CHEAP[0]
        return Claim(proposal, "error", (report.error.type,), 1, 0, is_wrong=True, rank=rank, backend=backend)
    if proposal.dynamo and set(proposal.dynamo) <= OF_GUARDS and guards_us(report):
        before = round(guards_us(report))
        return Claim(proposal, "guards", (), before, int(before * (1 - GUARDS_SAVED)), rank=rank)
    compared = results(report)
    if compared is None or compared.outcome not in ("differs", "not comparable") or proposal.job:
        return Objection(proposal, "needs times")
    wrong = compared.differing or compared.untold
    # Copies and writes to inputs are decided by AOTAutograd.
    cheapest = CHEAP[1] if any(each.kind in OF_ALIASES for each in wrong) else CHEAP[0]
    return Claim(
        proposal,
        "results",
        tuple(dict.fromkeys(each.what for each in wrong)),
        1,
        0,
        is_wrong=compared.outcome == "differs",
        rank=rank,
        backend=cheapest if proposal.dynamo else "",
    )


def guards_us(report: Report) -> float:
    """Return the µs of a call's guards, by the newest code of each frame; 0 if not measured."""
    newest = {frame_id(each.id): each.guard_warm_us for each in report.compilations if each.guard_warm_us is not None}
    return sum(newest.values())


def _break_claim(side: TrialSide, proposal: Proposal, costs: Sequence[BreakCost], rank: int) -> Claim:
    before = len(side.report.graph_breaks)
    breaks = [cost.graph_break for cost in costs]
    lines = dict.fromkeys(line_of(each, side.path) or each.place.line for each in breaks)
    return Claim(
        proposal,
        "graph breaks",
        tuple(f"line {line}" for line in lines),
        before,
        before - len(breaks),
        cost_s=sum(cost.dynamo_s for cost in costs),
        rank=rank,
    )


def _recompile_claim(report: Report, proposal: Proposal, reasons: Sequence[Recompile], rank: int) -> Claim:
    before, seconds = MEASURES[2](report), compile_seconds(report)
    # An integer attribute or a size becomes a symbol by its first recompile in each frame.
    is_later = (
        bool({INTEGERS, SIZES_OF_PARAMETERS} & set(proposal.dynamo)) or proposal.compile.get("dynamic", 1) is None
    )
    kept = len({frame_id(each.compilation) for each in reasons}) if is_later else 0
    return Claim(
        proposal,
        "recompiles",
        tuple(dict.fromkeys(recompile_subject(each) for each in reasons)),
        before,
        max(0, before - len(reasons) + kept),
        kept,
        cost_s=sum(seconds.get(each.compilation, 0.0) for each in reasons),
        rank=rank,
        backend=CHEAP[1] if any(OF_FLOAT.search(condition(each.reason)) for each in reasons) else CHEAP[0],
    )


def _is_of_instance(text: str, reason: Recompile) -> bool:
    """Return True if a guarded attribute is set in `__init__` only, and the code needs its value.

    Its value then never changes: instances with other values share the code, and each value needs a compilation.
    """
    use = attribute_use(text, recompile_subject(reason).rpartition(".")[2])
    return use is not None and not use.changed and bool(use.condition or use.needed or use.key)


def recompiled_function(report: Report) -> str:
    """Return the name of the only function that was recompiled; empty if there are several."""
    names = frame_names(report)
    functions = {names[each.compilation] for each in newest_reasons(report.recompiles) if each.compilation in names}
    return functions.pop() if len(functions) == 1 else ""


def ladder(claim: Claim, job: CompileJob) -> tuple[str, ...]:
    """Return the backends that may prove a claim, the cheapest first; the last is the job's own."""
    own = job.compile.backend
    if own in CHEAP:
        return (own,)
    cheap = CHEAP[CHEAP.index(claim.backend) :] if claim.backend else ()
    return (*cheap, own)


def reproduces(run: TrialSide, base: TrialSide, claim: Claim | None = None) -> bool:
    """Return True if a base has a run's own graph breaks, recompiles, failed frames and error.

    For a claim about results, it must also have the outcome of their comparison.
    """
    if claim is not None and claim.measure == "results" and _outcome(run.report) != _outcome(base.report):
        return False
    return _signature(run) == _signature(base)


def _outcome(report: Report) -> str:
    compared = results(report)
    return compared.outcome if compared else ""


def _signature(side: TrialSide) -> tuple[object, ...]:
    report = side.report
    breaks = Counter(
        (each.registry_id or each.reason, line_of(each, side.path) or each.place.line, len(each.compilations))
        for each in report.graph_breaks
    )
    guards = Counter(map(recompile_subject, newest_reasons(report.recompiles)))
    failed = Counter((each.kind, each.frame) for each in failures(report))
    return breaks, guards, failed, report.error.type if report.error else ""


ProofOutcome = TrialOutcome | Literal["failed", "not tried"]
WhyNot = ObjectionReason | Literal["", "no time", "other claims first", "another is proven", "ended", "not repeatable"]


@dataclass(frozen=True, slots=True)
class Proof:
    """Result of a claim's trial, or the reason why it was not tried.

    `key` and `words` are the proposal's. `before` and `after` count graph breaks, eager frames and recompiles of base
    and trial on `backend`. `results` is the outcome of the comparison with eager; `as_before` is True if they differ
    from eager exactly as before. `target` is the claimed count. `left` are remaining and new problems. `guards` are the
    µs of the guards of a call in base and trial, `compile_s` the seconds that compiling took there.
    """

    key: str
    outcome: ProofOutcome
    measure: Measure | Literal[""] = ""
    backend: str = ""
    before: Counts = (0, 0, 0)
    after: Counts = (0, 0, 0)
    results: str = ""
    as_before: bool = False
    target: int = 0
    printed: str = ""
    left: tuple[Remainder, ...] = ()
    why: WhyNot = ""
    reason: str = ""
    took_s: float = 0.0
    words: str = ""
    guards: tuple[float, float] = (0.0, 0.0)
    compile_s: tuple[float, float] = (0.0, 0.0)

    @property
    def is_proven(self) -> bool:
        """True if the trial reached the claim's target, without a new problem."""
        return self.outcome == "repaired"

    @property
    def is_without_effect(self) -> bool:
        """True if the trial shows that the proposal is no advice: no effect, more problems, or other results."""
        return self.outcome in ("nothing", "worse", "differs")


def untried(claim: Claim | Objection, why: WhyNot = "") -> Proof:
    """Return the proof of a claim that was not tried; the reason of an objection is its own."""
    if isinstance(claim, Objection):
        return Proof(claim.proposal.key, "not tried", why=claim.reason, words=claim.proposal.words)
    return Proof(claim.proposal.key, "not tried", claim.measure, why=why, words=claim.proposal.words)


def prove(claim: Claim, before: TrialSide, after: TrialSide, backend: str, took_s: float = 0.0) -> Proof:
    """Return what a trial shows about a claim; `before` and `after` are base and trial on one backend."""
    tried = trial(before, after, claim.proposal.ids, claim.proposal.is_dynamic)
    outcome = _judged(claim, tried.outcome, before.report, after.report)
    if claim.measure == "guards" and outcome == "nothing" and guards_us(after.report) <= claim.after:
        outcome = "repaired"
    if outcome in ("partly", "repaired") and claim.measure in ("graph breaks", "recompiles"):
        new = any(remainder.new for remainder in tried.left) or bool(tried.printed)
        measured = MEASURES[0 if claim.measure == "graph breaks" else 2](after.report)
        outcome = "repaired" if measured <= claim.after and not new else "partly"
    compared = results(after.report)
    return Proof(
        claim.proposal.key,
        outcome,
        claim.measure,
        backend,
        counts(before.report),
        counts(after.report),
        compared.outcome if compared else "",
        tried.differs_as_before,
        claim.after,
        tried.printed,
        tried.left[:MOST_LEFT],
        took_s=took_s,
        words=claim.proposal.words,
        guards=(guards_us(before.report), guards_us(after.report)),
        compile_s=(compile_time_s(before.report), compile_time_s(after.report)),
    )


def counts(report: Report) -> Counts:
    """Return the numbers of graph breaks, of frames that run eagerly, and of recompiles."""
    breaks, eager, recompiles = (measure(report) for measure in MEASURES)
    return breaks, eager, recompiles


def _judged(claim: Claim, outcome: TrialOutcome, before: Report, after: Report) -> ProofOutcome:
    """Return the outcome of a trial; a claim about results or an error may be true at a price."""
    if after.error is not None:
        return "nothing" if before.error is not None and before.error.type == after.error.type else "failed"
    if claim.measure not in ("error", "results") or outcome == "differs":
        return outcome
    if claim.measure == "results" and _outcome(after) not in ("same", "other strides"):
        return "nothing"
    return "partly" if outcome == "worse" else "untold" if outcome == "untold" else "repaired"


@dataclass(frozen=True, slots=True)
class AppliedFixes:
    """Fixes that were applied together: the changes of each round, and the counts on `backend`.

    `is_minimal` is True if the result needs each change. `named` are fixes of what is left that change what the code
    does, and were not applied; `left` are the remaining graph breaks and recompiles. `run` is the id of the run that
    confirms the result with the run's own backend.
    """

    rounds: tuple[tuple[Proposal, ...], ...]
    before: Counts
    after: Counts
    backend: str
    results: str = ""
    is_minimal: bool = False
    named: tuple[Proposal, ...] = ()
    left: tuple[Remainder, ...] = ()
    trials: int = 0
    took_s: float = 0.0
    run: str = ""

    @property
    def changes(self) -> tuple[Proposal, ...]:
        """All changes, in the order of their rounds."""
        return tuple(change for changes in self.rounds for change in changes)

    def applied(self, job: CompileJob) -> CompileJob:
        """Return the job with all changes: the edits of a round are one step."""
        for changes in self.rounds:
            job = joined(changes).applied(job)
        return job


@dataclass(frozen=True, slots=True)
class RunTrials:
    """Results of the trials of a run; `schema` is that of the file."""

    proofs: tuple[Proof, ...] = ()
    applied: AppliedFixes | None = None
    schema: int = 1


NO_TRIALS = RunTrials()


def next_round(side: TrialSide, job: CompileJob, refused: Collection[str]) -> tuple[Proposal, ...]:
    """Return the first choice for each problem of a run, as far as they fit together; empty for none.

    `refused` are keys of proposals to leave out. Fixes that may be combined are the only choices.
    """
    repairs: dict[str, Repair] = {}
    for graph_break in side.report.graph_breaks:
        choices = repairs_of_break(side.text, graph_break, side.path)
        repairs |= {repair.id: repair for repair in _first(choices, job, refused)}
    is_dynamic = False
    for reason in newest_reasons(side.report.recompiles):
        choices = repairs_of_recompile(side.text, side.report, reason, not job.calls)
        first = _first(choices, job, refused)
        repairs |= {repair.id: repair for repair in first}
        is_dynamic |= not first and dynamic_spares(side.report, reason)
    fitting = [proposal_of([repair]) for repair in together(side.text, tuple(repairs.values()))]
    is_new = DYNAMIC_SIZES.key not in refused and DYNAMIC_SIZES.applied(job) != job
    return (*fitting, *([DYNAMIC_SIZES] if is_dynamic and is_new else []))


def _first(choices: Iterable[Repair], job: CompileJob, refused: Collection[str]) -> list[Repair]:
    return [
        repair
        for repair in choices
        if repair.stacks and (proposal := proposal_of([repair])).key not in refused and proposal.applied(job) != job
    ][:1]


def behaviour_changes(side: TrialSide) -> tuple[Proposal, ...]:
    """Return the fixes of a run's graph breaks that change what the code does."""
    repairs = (
        repair
        for graph_break in side.report.graph_breaks
        for repair in repairs_of_break(side.text, graph_break, side.path)
        if repair.fix.risk == "changes"
    )
    return tuple({repair.id: proposal_of([repair]) for repair in repairs}.values())


def is_better(base: TrialSide, before: TrialSide, after: TrialSide, or_equal: bool = False) -> bool:
    """Return True if a trial has fewer problems than the one before, and results as the base's.

    Eager frames count most, since they hide graph breaks; recompiles count least.
    """
    tried = trial(base, after, ())
    if after.report.error is not None or tried.printed or tried.outcome in ("differs", "untold"):
        return False
    fewer, more = _order(after.report), _order(before.report)
    if not or_equal:
        return fewer < more
    return fewer <= more and _still_guarded(base.report, after.report) <= _still_guarded(base.report, before.report)


def _still_guarded(base: Report, report: Report) -> frozenset[str]:
    """Return the attributes whose guards failed in a base, and that newest code compares with a constant.

    If another guard fails first in all calls of a trial, it hides their recompiles.
    """
    failed = {recompile_subject(each).rpartition(".")[2] for each in newest_reasons(base.recompiles)}
    newest = {frame_id(each.id): each for each in report.compilations if each.guards}
    lines = [line for each in newest.values() for guard in each.guards for line in guard.expression.split("\n")]
    return frozenset(failed & {line.partition(" == ")[0].rpartition(".")[2] for line in lines if " == " in line})


def _order(report: Report) -> Counts:
    breaks, eager, recompiles = counts(report)
    return eager, breaks, recompiles
