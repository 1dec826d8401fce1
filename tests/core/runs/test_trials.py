"""Trials of fixes in the Runner: what starts them, what ends them, and what they leave. The engine is a fake."""

import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core import CompileJob, CompileOptions, Model, Run, Runner, Store
from core.analysis.repairs.claims import Proof, ProofOutcome, RunTrials, WhyNot
from core.runs import trials
from core.runs.engine.opening import tried_kinds
from core.runs.engine.queues import Assignment
from core.runs.progress import TRIALS_DIRECTORY, is_trial
from core.runs.runner import TRIALS_AT_ONCE
from core.runs.sharing import import_archive, write_archive
from core.runs.status import State
from core.runs.stored import TRIALS, read_trials, write_trials
from core.runs.trials import ASKED_S, ASKED_SHARE, MOST_TRIALS, budget_s, starts_by_itself, trial_job
from tests.support.engines import PromptEngine, until
from tests.support.places import TRACES

ZOO = CompileJob(Model("sample", "graph_break_zoo"), training=False, measure=False)
CODE = CompileJob(Model("code", "model, inputs = abs, (1,)\n"), measure=False)
KILL_S = 1.0


class RecordingEngine(PromptEngine):
    """Ends each run at once with the log of a recorded scenario, which `scenario` names; holds those without one."""

    def __init__(self, scenario: Callable[[Run], str]) -> None:
        super().__init__()
        self.scenario, self.hold_after = scenario, 0
        self.jobs: dict[str, CompileJob | None] = {}

    def start(self, assignment: Assignment, ended: Callable[[], None]) -> None:
        super().start(assignment, ended)
        self.jobs[assignment.run.id] = assignment.run.job()
        name = self.scenario(assignment.run)
        if name:
            shutil.copy(TRACES / name / "trace.log", assignment.run.trace_dir)
            self.end(assignment.run, "done")


def recorded(run: Run) -> str:
    """The zoo for a run and for a base; for a trial of an edit, a run without any break."""
    job = run.job()
    return "transformer_block" if job is not None and job.repairs else "graph_break_zoo"


def done(runner: Runner, run: Run) -> RunTrials:
    until(lambda: (run.path / TRIALS).exists() and runner.prover.progress(run) is None)
    return read_trials(run)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_the_fixes_of_a_sample_are_tried_when_its_run_has_ended(store: Store) -> None:
    engine = RecordingEngine(recorded)
    runner = Runner(store, engine, tries=True)
    run = runner.submit(ZOO)
    shown = done(runner, run)
    outcomes = {proof.key: proof.outcome for proof in shown.proofs}
    assert outcomes["where:25"] == outcomes["keep_tensor:31"] == "repaired"
    assert outcomes["cond:25"] == outcomes["eager_only:20"] == "not tried"
    base, *tried = [each for each in engine.started if is_trial(each)]
    assert len(tried) < MOST_TRIALS
    assert base.path.parents[1] == run.path
    # A trial is no run of the store, and leaves nothing but its result.
    assert [each.id for each, _ in store.list()] == [run.id]
    assert list((run.path / TRIALS_DIRECTORY).iterdir()) == []


def test_a_trial_has_the_limits_of_its_run_and_a_share_of_its_time(store: Store) -> None:
    jobs: list[CompileJob] = []

    def remembered(run: Run) -> str:
        job = run.job()
        if is_trial(run) and job is not None:
            jobs.append(job)
        return recorded(run)

    runner = Runner(store, RecordingEngine(remembered), tries=True)
    run = runner.submit(replace(ZOO, memory_limit_bytes=2**30))
    done(runner, run)
    assert {job.memory_limit_bytes for job in jobs} == {2**30}
    assert {job.compile.backend for job in jobs} == {"eager"}
    assert max(job.time_limit_s for job in jobs) <= budget_s(run)


@pytest.mark.parametrize(
    "job",
    [CODE, replace(ZOO, repairs_of="earlier"), replace(ZOO, target="cuda:sm_90"), replace(ZOO, device="cuda")],
    ids=["code", "fixed run", "target", "accelerator"],
)
def test_no_trial_of_any_other_run_starts_by_itself(store: Store, job: CompileJob) -> None:
    run = store.create(job)
    run.write_status(replace(run.status(), state="done", handle=""))
    assert not starts_by_itself(run, ("sample",))


def test_no_trial_of_a_sweeps_cell_starts_by_itself(store: Store) -> None:
    runner = Runner(store, RecordingEngine(recorded), tries=True)
    run = runner.wait(runner.admit(replace(ZOO, sweep="20260101-000000-sweep-0000")))
    assert not starts_by_itself(run, ("sample",))


def test_only_a_sandbox_tries_users_code_and_a_cluster_nothing() -> None:
    assert (tried_kinds(""), tried_kinds("sandbox")) == (("sample",), ("sample", "code", "file"))
    assert tried_kinds("ray://host:1") == tried_kinds("workers://host:1") == ()


def test_without_leave_nothing_is_tried(store: Store) -> None:
    engine = RecordingEngine(recorded)
    runner = Runner(store, engine)
    run = runner.wait(runner.submit(ZOO))
    assert runner.prover.progress(run) is None
    assert engine.started == [run]


def with_endless_trial(store: Store) -> tuple[Runner, RecordingEngine, Run, Run]:
    """A runner, its engine and run, and the run's first trial, which does not end by itself."""
    endless: list[Run] = []

    def log_of(run: Run) -> str:
        if is_trial(run) and not endless:
            endless.append(run)
            return ""
        return recorded(run)

    engine = RecordingEngine(log_of)
    runner = Runner(store, engine, tries=True)
    run = runner.submit(ZOO)
    until(lambda: bool(endless))
    return runner, engine, run, endless[0]


def test_a_submission_ends_a_trial_within_a_second_and_the_trial_is_made_again(store: Store) -> None:
    runner, _, run, trial = with_endless_trial(store)
    began_s = time.monotonic()
    second = runner.submit(replace(ZOO, seed=1, repairs_of=run.id))
    until(lambda: not trial.path.exists())
    assert time.monotonic() - began_s < KILL_S
    runner.wait(second)
    assert {proof.key: proof.outcome for proof in done(runner, run).proofs}["where:25"] == "repaired"


def test_a_measured_run_starts_without_a_trial_beside_it(store: Store) -> None:
    engine = RecordingEngine(lambda run: "" if is_trial(run) else recorded(run))
    runner = Runner(store, engine, tries=True)
    measured = replace(ZOO, measure=True, repairs_of="earlier")
    runs = [runner.submit(ZOO)]
    for seed in range(1, 4):
        until(lambda: bool(engine.started) and is_trial(engine.started[-1]))
        runs.append(runner.wait(runner.submit(replace(measured, seed=seed))))
    beside = dict(zip((run.id for run in engine.started), engine.at_once, strict=True))
    assert [beside[run.id] for run in runs] == [("cpu",)] * 4


def test_a_submission_in_another_process_ends_a_trial_within_a_second_and_delays_the_next(store: Store) -> None:
    runner, engine, run, trial = with_endless_trial(store)
    began_s = time.monotonic()
    elsewhere = Runner(store, RecordingEngine(lambda _: ""))
    second = elsewhere.submit(replace(ZOO, seed=1))
    until(lambda: not trial.path.exists())
    assert time.monotonic() - began_s < KILL_S
    time.sleep(trials.AGAIN_S + trials.POLL_S)
    assert [each for each in engine.started if is_trial(each)] == [trial]
    elsewhere.cancel(second)
    assert {proof.key: proof.outcome for proof in done(runner, run).proofs}["where:25"] == "repaired"


@pytest.mark.skipif(TRIALS_AT_ONCE < 2, reason="one CPU")
def test_the_first_base_and_its_trial_run_at_once(store: Store) -> None:
    engine = RecordingEngine(lambda run: "" if is_trial(run) and len(engine.jobs) <= 3 else recorded(run))
    runner = Runner(store, engine)
    run = runner.wait(runner.submit(ZOO))
    run.write_status(replace(run.status(), peak_memory_bytes=1))
    runner.try_fixes(run)
    until(lambda: len(engine.started) == 3)
    pair = engine.started[1:]
    edits = [job.repairs for each in pair if (job := each.job())]
    for each in pair:
        shutil.copy(TRACES / recorded(each) / "trace.log", each.trace_dir)
        engine.end(each, "done")
    shown = {proof.key: proof for proof in done(runner, run).proofs}
    assert engine.at_once[2] == ("cpu", "cpu")
    assert set(map(len, engine.at_once[3:])) == {1}
    assert shown["where:25"].outcome == shown["keep_tensor:31"].outcome == "repaired"
    # A trial that ran alone shows no seconds beside those of the base.
    timed = tuple(proof.key for proof in shown.values() if any(proof.compile_s))
    assert sorted(edits) == [(), (timed,)]


def test_a_run_that_differs_from_its_second_run_proves_nothing(store: Store) -> None:
    """Its base has no graph break on any backend."""
    engine = RecordingEngine(lambda run: "transformer_block" if is_trial(run) else "graph_break_zoo")
    runner = Runner(store, engine, tries=True)
    shown = {proof.key: proof for proof in done(runner, runner.submit(ZOO)).proofs}
    assert (shown["where:25"].outcome, shown["where:25"].why) == ("not tried", "not repeatable")
    backends = [job.compile.backend for each in engine.started if is_trial(each) and (job := engine.jobs[each.id])]
    assert backends == ["eager", "aot_eager", "inductor"]


def test_a_trial_waits_until_nothing_else_runs(store: Store) -> None:
    engine = RecordingEngine(lambda run: "" if (run.job() or ZOO).seed else recorded(run))
    runner = Runner(store, engine, parallel=2, tries=True)
    busy = runner.submit(replace(ZOO, seed=1, repairs_of="earlier"))
    run = runner.wait(runner.submit(ZOO))
    until(lambda: runner.prover.progress(run) is not None)
    time.sleep(3 * trials.POLL_S)
    assert not any(map(is_trial, engine.started))
    runner.cancel(busy)
    assert done(runner, run).proofs


def test_no_trial_starts_while_another_server_measures(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "TRIES", 1)
    monkeypatch.setattr(trials, "AGAIN_S", 0.01)
    runner = Runner(store, engine := RecordingEngine(recorded))
    run = runner.wait(runner.submit(ZOO))
    # The lock alone: no live run of this home shows the measurement.
    elsewhere, measured = PromptEngine(), store.create(ZOO)
    measured.write_status(replace(measured.status(), state="done", handle=""))
    until(lambda: elsewhere.take_turn(Assignment(measured, measures=True)))
    runner.try_fixes(run)
    shown = done(runner, run)
    assert not any(map(is_trial, engine.started))
    assert {proof.outcome for proof in shown.proofs} == {"not tried"}
    elsewhere.end_turn(measured)
    runner.try_fixes(run)
    until(lambda: any(proof.is_proven for proof in read_trials(run).proofs))


def test_trials_stop_at_a_request_and_say_so(store: Store) -> None:
    engine = RecordingEngine(lambda run: "" if is_trial(run) else recorded(run))
    runner = Runner(store, engine, tries=True)
    run = runner.submit(ZOO)
    until(lambda: any(map(is_trial, engine.started)))
    runner.stop_trials(run)
    assert {proof.why for proof in done(runner, run).proofs} == {"ended", "leaves a break", "changes behaviour"}


def test_a_run_whose_trials_were_stopped_can_be_deleted_for_good(store: Store) -> None:
    engine = RecordingEngine(lambda run: "" if is_trial(run) else recorded(run))
    runner = Runner(store, engine, tries=True)
    run = runner.submit(ZOO)
    until(lambda: any(map(is_trial, engine.started)))
    runner.stop_trials(run)
    # A cancelled trial leaves nothing.
    until(lambda: not engine.started[-1].path.exists())
    store.delete(run)
    until(lambda: runner.prover.progress(run) is None)
    assert not run.path.exists()


def test_a_request_tries_what_was_not_tried(store: Store) -> None:
    engine = RecordingEngine(recorded)
    runner = Runner(store, engine)
    run = runner.wait(runner.submit(ZOO))
    runner.try_fixes(run)
    first = done(runner, run)
    runner.try_fixes(run)
    until(lambda: runner.prover.progress(run) is None)
    second = {proof.key: proof for proof in read_trials(run).proofs}
    assert all(second[proof.key] == proof for proof in first.proofs if proof.is_proven)


@pytest.mark.parametrize(
    ("state", "outcome", "why"), [("crashed", "failed", ""), ("timed out", "not tried", "no time")]
)
def test_a_trial_that_ends_without_a_log_is_no_proof(
    store: Store, state: State, outcome: ProofOutcome, why: WhyNot
) -> None:
    engine = RecordingEngine(recorded)
    runner = Runner(store, engine, tries=True)
    engine.scenario = lambda run: "" if (job := run.job()) and job.repairs else recorded(run)
    run = runner.submit(ZOO)
    until(lambda: any((each.job() or ZOO).repairs for each in engine.started))
    trial = next(each for each in engine.started if (each.job() or ZOO).repairs)
    engine.scenario = recorded
    job = trial.job()
    assert job is not None
    engine.end(trial, state)
    shown = {proof.key: proof for proof in done(runner, run).proofs}
    cut = shown[job.repairs[0][0]]
    assert (cut.outcome, cut.why) == (outcome, why)
    # Without time, no other trial starts.
    assert any(proof.is_proven for proof in shown.values()) == (state == "crashed")


def test_a_base_that_the_time_for_trials_ends_does_not_count_as_another_run(store: Store) -> None:
    engine = RecordingEngine(lambda run: "" if is_trial(run) else "graph_break_zoo")
    runner = Runner(store, engine, tries=True)
    run = runner.submit(ZOO)
    until(lambda: any(map(is_trial, engine.started)))
    engine.end(engine.started[-1], "timed out")
    tried = [proof.why for proof in done(runner, run).proofs if proof.measure]
    assert set(tried) == {"no time"}
    assert sum(map(is_trial, engine.started)) == 1


def test_a_request_has_the_time_for_two_runs(store: Store) -> None:
    run = store.create(ZOO)
    run.write_status(replace(run.status(), state="done", started_s=1000.0, ended_s=1180.0, handle=""))
    assert (budget_s(run), budget_s(run, ASKED_SHARE, ASKED_S)) == (60.0, 360.0)


def test_all_fixes_are_applied_in_rounds_and_those_that_are_not_needed_dropped(store: Store) -> None:
    engine = RecordingEngine(recorded)
    runner = Runner(store, engine)
    run = runner.wait(runner.submit(ZOO))
    runner.try_fixes(run, together=True)
    applied = done(runner, run).applied
    assert applied is not None
    # Each edit removes all breaks of the recorded runs, so that one edit is enough, and no setting is needed.
    assert ([len(changes) for changes in applied.rounds], applied.is_minimal) == ([1], True)
    assert (applied.before, applied.after, applied.backend) == ((5, 0, 0), (0, 0, 0), "eager")
    # The base, the round, and a trial without each of its five changes: at most 2n + 3.
    assert applied.trials == 7
    confirming = runner.wait(store.open(applied.run)).job()
    assert confirming is not None
    assert (confirming.compile.backend, confirming.repairs_of) == ("inductor", run.id)
    assert confirming.repairs == (applied.changes[0].repairs,)


def test_a_round_that_makes_nothing_better_is_refused(store: Store) -> None:
    runner = Runner(store, RecordingEngine(lambda run: "graph_break_zoo"))
    run = runner.wait(runner.submit(ZOO))
    runner.try_fixes(run, together=True)
    applied = done(runner, run).applied
    assert applied is not None
    assert (applied.rounds, applied.run, applied.after) == ((), "", (5, 0, 0))


def test_a_trial_makes_the_same_calls_and_measures_nothing() -> None:
    job = replace(ZOO, calls=("f32[2]",), memory=True, numerics="nodes", compile=CompileOptions(mode="max-autotune"))
    tried = trial_job(job, "eager")
    assert (tried.calls, tried.measure, tried.memory, tried.numerics) == (("f32[2]",), False, False, "")
    assert (tried.compile.backend, tried.compile.mode, tried.conditions.threads) == ("eager", None, 1)
    assert trial_job(job, "inductor").compile == job.compile


def test_trials_are_archived_with_their_run(store: Store, tmp_path: Path) -> None:
    runner = Runner(store, RecordingEngine(recorded))
    run = runner.wait(runner.submit(ZOO))
    shown = RunTrials((Proof("where:25", "repaired", "graph breaks", "eager", (5, 0, 0), (4, 0, 0)),))
    write_trials(run, shown)
    write_archive([run], tmp_path / "runs.tar.gz")
    other = Store(tmp_path / "other")
    (imported,) = import_archive(other, tmp_path / "runs.tar.gz").added
    assert read_trials(imported) == shown


@pytest.mark.parametrize(
    "text", [b"", b"{", b'{"proofs": [{"key": 1}]}', b'{"proofs": [{"key": "a", "outcome": "?"}]}']
)
def test_a_file_of_trials_that_cannot_be_read_shows_nothing(store: Store, text: bytes) -> None:
    run = store.create(ZOO)
    (run.path / TRIALS).write_bytes(text)
    assert read_trials(run) == RunTrials()
