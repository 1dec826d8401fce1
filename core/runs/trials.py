"""Trials of fixes: short runs in a directory of their run, in a queue below all other runs.

<run>/trials.json     what the trials showed, and the fixes that *Apply all* applied
     /trials/*/       the directory of a trial while it executes, as any run's

Trials start by themselves when a run has ended whose model kind is in `kinds`; for any other run, at a request.
A submission, also in another process with the same home, ends the trial that executes; it is repeated once nothing
else runs.
"""

import contextlib
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial

from core.analysis.findings import findings
from core.analysis.findings.number_advice import counters
from core.analysis.repairs.claims import (
    CHEAP,
    AppliedFixes,
    Claim,
    Objection,
    Proof,
    WhyNot,
    behaviour_changes,
    claims,
    counts,
    is_better,
    ladder,
    next_round,
    prove,
    reproduces,
    untried,
)
from core.analysis.repairs.offers import repaired
from core.analysis.repairs.source import Proposal, joined
from core.analysis.repairs.trials import TrialSide, left_over
from core.analysis.results import results
from core.base.errors import CompileboardError, JobError, StoreError
from core.base.files import read, remove
from core.base.machine import memory_bytes
from core.graph.fx import source_path
from core.job import MAX_CODE_BYTES, CompileJob
from core.job.prepared import prepared
from core.runs.progress import TRIALS_DIRECTORY
from core.runs.store import Run, Store
from core.runs.stored import TRIALS, open_report, read_trials, write_trials

MOST_TRIALS = 12  #: limit: trials of a run that start by themselves, and trials of one request
# Seconds for all trials of a run: a share of its own seconds, or this time if that is more.
SHARE, LEAST_S = 1 / 3, 20.0
ASKED_SHARE = 2.0
ASKED_S = 60.0  #: limit: seconds of all trials of one request; for a long run, twice its own seconds
LEAST_TRIAL_S = 2.0
MOST_ROUND_TRIALS = 40  #: limit: trials to apply all fixes
TRIES, AGAIN_S = 5, 1.0  #: starts of a trial that submissions end, and seconds between two
POLL_S = 0.1
SOON_S = 5.0  # between the end of a run and the start of its trials
GONE = ("cancelled", "interrupted")


def starts_by_itself(run: Run, kinds: Collection[str]) -> bool:
    """Return True if the trials of an ended run start without a request.

    They do for models of the given kinds on this machine's CPU: not for a script, a fixed run or a sweep's cell.
    """
    status, job = run.standing_and_job()
    if job is None or status.state not in ("done", "failed") or job.model.kind not in kinds:
        return False
    apart = job.sweep or job.repairs_of or job.repairs or job.target or job.exercise or job.bisect
    return not apart and not job.model.is_script and job.device.partition(":")[0] == "cpu"


def budget_s(run: Run, share: float = SHARE, least_s: float = LEAST_S) -> float:
    """Return the seconds for the trials of a run; by default for those that start by themselves."""
    return max(least_s, (run.standing().took_s or 0.0) * share)


@dataclass(frozen=True, slots=True)
class TrialProgress:
    """Progress of a run's trials: how many claims are decided, out of `total`."""

    decided: int
    total: int


@dataclass
class _Request:
    """Trials of a run to make: proposals by `keys`, None for all left, or with `is_all` all together."""

    run: Run
    seconds: float
    keys: tuple[str, ...] | None = None
    is_all: bool = False
    progress: TrialProgress = TrialProgress(0, 0)
    stopped: threading.Event = field(default_factory=threading.Event)


def trial_job(job: CompileJob, backend: str) -> CompileJob:
    """Return the job of a trial: the same calls on a backend, compared with eager and not measured."""
    bare = CompileJob(job.model)
    named = (*("rival", "rival_code", "memory", "numerics", "bisect", "debug_files", "bits", "logs"),
             *("capture", "aoti", "neighbours", "profile", "sweep"))  # fmt: skip
    plain = replace(job, measure=False, **{name: getattr(bare, name) for name in named})
    plain = replace(plain, conditions=replace(plain.conditions, threads=1, caches="objects"))
    if backend == job.compile.backend:
        return plain
    return plain.with_settings(backend=backend, mode=None, options=None)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A trial that has ended: its code and report; without a report, `reason` says why.

    `is_late` is True if its time limit ended it.
    """

    side: TrialSide | None
    took_s: float
    reason: str = ""
    is_late: bool = False


class Bench:
    """The bases and trials of one run: at most `most` runs, which take at most `seconds` together.

    `execute` runs a job with a time limit, and returns what came of it; None if the trials were stopped. With
    `is_paired`, the first base and its trial run at once.
    """

    def __init__(
        self, run: Run, seconds: float, execute: Callable[[CompileJob, float], Attempt | None], most: int = MOST_TRIALS
    ) -> None:
        job = run.job()
        assert job is not None
        self.job, self.report, self.seconds, self.left_s, self.made = job, open_report(run), seconds, seconds, 0
        self.side = TrialSide(self.report, _code(run, job), source_path(self.report))
        self._execute, self.most, self.is_paired = execute, most, False
        self._bases: dict[str, TrialSide | None] = {}
        self._paired = ""

    @property
    def has_room(self) -> bool:
        """True if one more trial may start."""
        return self.made < self.most and self.left_s >= LEAST_TRIAL_S

    def attempt(self, *jobs: CompileJob) -> list[Attempt | None]:
        """Run jobs at once, and count them; None for a job that was not run to its end.

        The trials were stopped, there is no room, or the time is over.
        """
        if not self.has_room:
            return [None] * len(jobs)
        self.made += len(jobs)
        limit_s = self.left_s
        with ThreadPoolExecutor(len(jobs)) as pool:
            attempts = list(pool.map(lambda job: self._execute(job, limit_s), jobs))
        pairs = zip(jobs, attempts, strict=True)
        over = [bool(each and each.is_late and limit_s < job.time_limit_s) for job, each in pairs]
        self.left_s = 0.0 if any(over) else limit_s - sum(each.took_s for each in attempts if each)
        return [None if is_over else each for is_over, each in zip(over, attempts, strict=True)]

    def base(self, backend: str, trial: CompileJob | None = None) -> tuple[TrialSide | None, Attempt | None]:
        """Return the unchanged run on a backend, and the attempt of a trial that ran beside it.

        The run is None if it failed or was not made, the attempt if the base ran alone or earlier. On the job's
        own backend, it is the second run: what differs from the first is not repeatable.
        """
        paired = None
        if backend not in self._bases:
            is_paired = trial is not None and self.is_paired and not self._bases and self.made + 1 < self.most
            base, *rest = self.attempt(trial_job(self.job, backend), *([trial] if trial and is_paired else []))
            if base is None:
                return None, None
            self._bases[backend], paired = base.side, next(iter(rest), None)
            self._paired = backend if is_paired else self._paired
        return self._bases[backend], paired

    def proof(self, claim: Claim) -> Proof | None:
        """Return the proof of a claim on the cheapest backend whose base reproduces the run.

        Without such a backend, the run is not repeatable; None if the trials were stopped.
        """
        for backend in ladder(claim, self.job):
            job = trial_job(claim.proposal.applied(self.job), backend)
            base, paired = self.base(backend, job)
            if base is None and backend not in self._bases:
                return None
            if base is None or not reproduces(self.side, base, claim):
                continue
            attempt = paired or self.attempt(job)[0]
            if attempt is None:
                return None
            if attempt.side is None:
                failed = replace(untried(claim), outcome="failed", backend=backend)
                return replace(failed, reason=attempt.reason, took_s=attempt.took_s)
            proof = prove(claim, base, attempt.side, backend, attempt.took_s)
            # Seconds of a trial that ran alone are no match for those of a base that did not.
            is_timed = paired is not None or backend != self._paired
            return proof if is_timed else replace(proof, compile_s=(0.0, 0.0))
        return untried(claim, "not repeatable")


class Rounds:
    """Fixes of a run, applied together in rounds until nothing new appears, then dropped one at a time.

    A run that is no better refuses the round's changes one at a time. With n changes, dropping takes at most
    2n + 3 trials with those of the rounds; otherwise the result is not minimal.
    """

    def __init__(self, bench: Bench, refused: Collection[str]) -> None:
        self.bench, self._refused = bench, set(refused)
        self.backend, self.base = self._cheapest()
        self._rounds: tuple[tuple[Proposal, ...], ...] = ()
        self._side = self.base

    def _cheapest(self) -> tuple[str, TrialSide]:
        own = self.bench.job.compile.backend
        for backend in CHEAP if own not in CHEAP else ():
            base, _ = self.bench.base(backend)
            if base is not None and reproduces(self.bench.side, base):
                return backend, base
        return own, self.bench.side

    def result(self) -> AppliedFixes:
        """Apply rounds of fixes, drop what is not needed, and return what is left; raises StoreError."""
        while changes := next_round(self._side, self._job(self._rounds), self._refused):
            if not self._add(changes):
                break
        is_minimal = self._drop()
        compared = results(self._side.report)
        return AppliedFixes(
            self._rounds,
            counts(self.base.report),
            counts(self._side.report),
            self.backend,
            compared.outcome if compared else "",
            is_minimal,
            (*behaviour_changes(self._side), *counters(self.base.text, self.base.report)),
            left_over(self.base, self._side),
            self.bench.made,
            self.bench.seconds - self.bench.left_s,
        )

    def _add(self, changes: tuple[Proposal, ...]) -> bool:
        """Add a round, or those of its changes that make the run better; False if the trials ended."""
        side = self._tried((*self._rounds, changes))
        if side is not None and is_better(self.base, self._side, side):
            self._rounds, self._side = (*self._rounds, changes), side
            return True
        kept: tuple[Proposal, ...] = ()
        for change in changes:
            side = self._tried((*self._rounds, (*kept, change))) if len(changes) > 1 else None
            if side is not None and is_better(self.base, self._side, side):
                kept, self._side = (*kept, change), side
            else:
                self._refused.add(change.key)
        self._rounds = (*self._rounds, kept) if kept else self._rounds
        return self.bench.has_room

    def _drop(self) -> bool:
        """Drop each change without which the result is as good; return True if all were tried."""
        number = sum(map(len, self._rounds))
        self.bench.most = min(self.bench.most, 2 * number + 3)
        for place, changes in enumerate(self._rounds):
            for change in changes if number > 1 else ():
                if not self.bench.has_room:
                    return False
                fewer = tuple(each for each in self._rounds[place] if each != change)
                rounds = (*self._rounds[:place], fewer, *self._rounds[place + 1 :])
                side = self._tried(rounds)
                if side is not None and is_better(self.base, self._side, side, or_equal=True):
                    self._rounds, self._side = rounds, side
        self._rounds = tuple(changes for changes in self._rounds if changes)
        return bool(self._rounds)

    def _tried(self, rounds: tuple[tuple[Proposal, ...], ...]) -> TrialSide | None:
        """Return the code and report of a trial of all rounds; None if it failed, or the edits do not fit."""
        try:
            attempt = self.bench.attempt(trial_job(self._job(rounds), self.backend))[0]
        except JobError:
            return None
        return attempt.side if attempt else None

    def _job(self, rounds: tuple[tuple[Proposal, ...], ...]) -> CompileJob:
        job = self.bench.job
        for changes in rounds:
            job = joined(changes).applied(job)
        return job


def claims_of(bench: Bench, output: str = "") -> tuple[Claim | Objection, ...]:
    """Return the claims of a run, with those of its findings."""
    found = findings(bench.report, output, bench.side.text)
    return claims(bench.side, bench.job, [finding.proposal for finding in found if finding.proposal is not None])


class Prover:
    """Queue of the trials of runs, one at a time, in a thread of its own while there are any.

    `try_job` runs a job for a run with a time limit, and returns the ended run, None if a submission ended it;
    `submit` queues a job for a visitor as a run; `is_idle` returns True if nothing else runs. At most `at_once` trials
    of a run execute at once.
    """

    def __init__(
        self,
        try_job: Callable[[Run, CompileJob, float], Run | None],
        submit: Callable[[CompileJob, str], Run],
        is_idle: Callable[[], bool],
        kinds: Collection[str],
        at_once: int = 1,
    ) -> None:
        self._try_job, self._submit, self._is_idle, self._kinds = try_job, submit, is_idle, kinds
        self._at_once = at_once
        self._waiting: deque[_Request] = deque()
        self._current: _Request | None = None
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def ended(self, run: Run) -> None:
        """Queue the trials of a run that has ended, if they start by themselves."""
        if self._kinds and starts_by_itself(run, self._kinds):
            self._add(_Request(run, budget_s(run)))

    def request(self, run: Run, keys: Sequence[str] | None = None) -> None:
        """Queue trials of a run: of these proposals, or of all that were not tried yet."""
        self._add(_Request(run, budget_s(run, ASKED_SHARE, ASKED_S), tuple(keys) if keys is not None else None))

    def apply_all(self, run: Run) -> None:
        """Queue the trials that apply all fixes of a run together; a run confirms the result."""
        self._add(_Request(run, budget_s(run, ASKED_SHARE, ASKED_S), is_all=True))

    def progress(self, run: Run) -> TrialProgress | None:
        """Return the progress of a run's trials; None if none is queued, executes, or is about to start."""
        with self._lock:
            requests = [each for each in (self._current, *self._waiting) if each and each.run.id == run.id]
        if requests:
            return requests[0].progress
        return TrialProgress(0, 0) if self._kinds and self._starts_soon(run) else None

    def _starts_soon(self, run: Run) -> bool:
        ended_s = run.standing().ended_s
        is_new = ended_s is not None and 0 <= time.time() - ended_s < SOON_S
        return is_new and not (run.path / TRIALS).exists() and starts_by_itself(run, self._kinds)

    def stop(self, run: Run) -> None:
        """Stop the trials of a run; what was tried stays."""
        with self._lock:
            for each in (self._current, *self._waiting):
                if each is not None and each.run.id == run.id:
                    each.stopped.set()

    def _add(self, request: _Request) -> None:
        with self._lock:
            self._waiting.append(request)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, daemon=True)
                self._thread.start()

    def _work(self) -> None:
        while True:
            with self._lock:
                self._current = self._waiting.popleft() if self._waiting else None
                if self._current is None:
                    self._thread = None
                    return
            serve = self._apply if self._current.is_all else self._serve
            # The run may be deleted meanwhile.
            with contextlib.suppress(CompileboardError, OSError):
                serve(self._current)

    def _serve(self, request: _Request) -> None:
        """Make the trials of a request, and store each result at once."""
        run = request.run
        remove(run.path / TRIALS_DIRECTORY)
        bench = Bench(run, request.seconds, partial(self._attempt, request))
        known = read_trials(run)
        earlier = {proof.key: proof for proof in known.proofs}
        made = claims_of(bench, run.output_tail())
        todo = [claim for claim in made if isinstance(claim, Claim) and _is_wanted(claim, request, earlier)]
        refused = (untried(each) for each in made if isinstance(each, Objection))
        shown = {**{proof.key: proof for proof in refused}, **earlier}
        request.progress = TrialProgress(0, len(todo))
        bench.is_paired = self._at_once > 1 and _fit_together(run, todo)
        solved: set[tuple[object, ...]] = set()
        for decided, claim in enumerate(todo, 1):
            problem = (claim.measure, claim.subjects)
            if problem in solved and request.keys is None:
                proof: Proof | None = untried(claim, "another is proven")
            else:
                proof = bench.proof(claim) if bench.has_room and not request.stopped.is_set() else None
            proof = proof or untried(claim, _why_not(request, bench))
            solved |= {problem} if proof.is_proven else set()
            shown[claim.proposal.key] = proof
            write_trials(run, replace(known, proofs=tuple(shown.values())))
            request.progress = TrialProgress(decided, len(todo))
        if not todo:
            write_trials(run, replace(known, proofs=tuple(shown.values())))

    def _apply(self, request: _Request) -> None:
        """Apply all fixes together, store the result, and submit the run that confirms it."""
        run = request.run
        remove(run.path / TRIALS_DIRECTORY)
        bench = Bench(run, request.seconds, partial(self._attempt, request), MOST_ROUND_TRIALS)
        known = read_trials(run)
        harmful = {proof.key for proof in known.proofs if proof.outcome in ("worse", "differs", "failed")}
        applied = Rounds(bench, harmful).result()
        if request.stopped.is_set():
            return
        if applied.rounds:
            job = replace(applied.applied(bench.job), repairs_of=run.id)
            applied = replace(applied, run=self._submit(job, run.status().by).id)
        write_trials(run, replace(read_trials(run), applied=applied))

    def _attempt(self, request: _Request, job: CompileJob, limit_s: float) -> Attempt | None:
        """Run one trial when nothing else runs, again if a submission ended it; None if stopped."""
        for _ in range(TRIES):
            while not self._is_idle():
                if request.stopped.wait(POLL_S):
                    return None
            if request.stopped.is_set():
                return None
            trial = self._try_job(request.run, job, limit_s)
            if trial is None:
                request.stopped.wait(AGAIN_S)
                continue
            try:
                return attempt_of(trial)
            finally:
                remove(trial.path)
        return None


def _fit_together(run: Run, todo: Collection[Claim]) -> bool:
    """Return True if two trials of a run fit in memory, and none of them times guards."""
    job, available = run.job(), memory_bytes()[0]
    is_cpu = job is not None and job.device == "cpu"
    is_small = 2 * (run.standing().peak_memory_bytes or available) < available
    return is_cpu and is_small and all(claim.measure != "guards" for claim in todo)


def _is_wanted(claim: Claim, request: _Request, earlier: dict[str, Proof]) -> bool:
    key = claim.proposal.key
    if request.keys is not None:
        return key in request.keys
    return key not in earlier or earlier[key].outcome == "not tried"


def _why_not(request: _Request, bench: Bench) -> WhyNot:
    if request.stopped.is_set():
        return "ended"
    return "no time" if bench.left_s < LEAST_TRIAL_S else "other claims first"


def attempt_of(trial: Run) -> Attempt:
    """Return the code and the report of an ended trial; the reason if it has no report."""
    status = trial.standing()
    took_s = status.took_s or 0.0
    if status.state not in ("done", "failed"):
        return Attempt(None, took_s, status.reason or status.state, status.state == "timed out")
    try:
        report = open_report(trial)
    except CompileboardError as error:
        return Attempt(None, took_s, str(error))
    return Attempt(TrialSide(report, trial.code(), source_path(report)), took_s)


def create_trial(store: Store, run: Run, job: CompileJob, by: str) -> Run:
    """Create the queued directory of a trial below its run; raises StoreError, JobError."""
    below, original = copy(store), _original_code(run, job)
    below.runs_dir = run.path / TRIALS_DIRECTORY
    code = repaired(original, job.repairs) if job.repairs else _code(run, job)
    made, name = below.create(job, code=code, by=by, original=original), secrets.token_hex(8)
    # A name like a tool's, which differs from the run's id: the trial works in a directory of its own.
    made.path.rename(below.runs_dir / name)
    return Run(f"{run.id}/{name}", below.runs_dir / name, run.liveness)


def _original_code(run: Run, job: CompileJob) -> str:
    """Return the code of a run's eager side: before its fixes, or an exercise's code."""
    with contextlib.suppress(OSError):
        return read(run.original_path, MAX_CODE_BYTES).decode("utf-8", "replace")
    return _code(run, job)


def _code(run: Run, job: CompileJob) -> str:
    """Return the code that was run; a recorded run has no copy of its sample. Raises StoreError, JobError."""
    try:
        return run.code()
    except StoreError:
        return prepared(job)[1]
