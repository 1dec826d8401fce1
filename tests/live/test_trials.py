"""Trials of fixes with the real engine: what they prove of samples and cases with troubles, and how fast they end."""

import time
from dataclasses import replace

import pytest

from core import CompileJob, CompileOptions, LocalEngine, Model, Run, Runner, Store, open_report
from core.analysis.repairs.claims import RunTrials, counts
from core.analysis.repairs.offers import INTEGERS
from core.commands.main import main
from core.commands.output import OK
from core.runs.engine.queues import Assignment
from core.runs.stored import TRIALS, read_trials
from core.runs.trials import create_trial, trial_job
from core.views.overview import OverviewView
from core.views.proofs import proof_words
from tests.live.test_bisection import WRONG_LOWERING

pytestmark = pytest.mark.torch

EAGER = CompileOptions(backend="eager")
PRINTS = """import torch


def model(x):
    x = x.relu()
    print("norm", x.norm())
    return x + 1


inputs = (torch.ones(4),)
"""
# Long enough to be seen while it is tried.
SLOW = f"import time\n\ntime.sleep(1.5)\n{PRINTS}"
# A size that varies, an attribute that differs by instance and another that counts, a print, a branch on a value, a
# logged number, and an object's identity as a key.
TROUBLES = """import logging

import torch
from torch import nn

log = logging.getLogger("trainer")


class Block(nn.Module):
    def __init__(self, d, index):
        super().__init__()
        self.up = nn.Linear(d, d)
        self.index = index
        self.steps = 0

    def forward(self, x):
        self.steps += 1
        h = torch.nn.functional.gelu(self.up(x))
        if self.index == 0:
            print("block", self.index, h.shape)
        if self.index == 1 and h.abs().max().item() > 100:
            h = h.clamp(-100, 100)
        return x + h * (1.0 if self.steps < 100 else 0.5)


class Net(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.blocks = nn.ModuleList(Block(d, i) for i in range(3))
        self.seen = {}

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        log.warning("mean %s", x.mean().tolist())
        self.seen[id(x)] = x.sum().item()
        return x * 2


torch.manual_seed(0)
model = Net()
training = True
calls = [(torch.randn(n, 16),) for n in (32, 48, 64, 24)]
"""


@pytest.fixture(scope="module")
def here(engine: LocalEngine, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(Store(tmp_path_factory.mktemp("trials")), engine)


def made(runner: Runner, job: CompileJob) -> Run:
    run = runner.wait(runner.submit(job))
    assert run.status().state == "done", run.output_tail()
    return run


def code_job(code: str) -> CompileJob:
    return CompileJob(Model("code", code), measure=False, compile=EAGER)


def shown(runner: Runner, run: Run) -> RunTrials:
    deadline = time.monotonic() + 200
    while runner.prover.progress(run) is not None or not (run.path / TRIALS).exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return read_trials(run)


def test_a_fix_of_a_print_is_proven_with_equal_results(here: Runner) -> None:
    run = made(here, code_job(PRINTS))
    here.try_fixes(run)
    proofs = {proof.key: proof for proof in shown(here, run).proofs}
    assert proof_words(proofs["print_op:6:x"]) == "Tried: graph breaks 1 → 0, results same (backend `eager`)."
    assert proofs["eager_only:6"].why == "changes behaviour"
    assert [found.id for found, _ in here.store.list()] == [run.id]


def test_a_wrong_lowering_is_cured_by_an_option_that_a_trial_proves(here: Runner) -> None:
    run = made(here, CompileJob(Model("code", WRONG_LOWERING), measure=False))
    here.try_fixes(run)
    proven = [proof for proof in shown(here, run).proofs if proof.is_proven]
    assert [proof_words(proof) for proof in proven] == ["Tried: results same (backend `inductor`)."]
    cards = OverviewView(open_report(run), proofs=read_trials(run).proofs).findings
    (card,) = [card for card in cards if card.finding.rule == "results differ"]
    assert card.finding.proposal is not None
    assert (card.proof, card.finding.proposal.words) == (proven[0], proven[0].words)


def test_a_submission_ends_a_real_trial_within_a_second(here: Runner) -> None:
    run = made(here, code_job(SLOW.replace("norm", "sum")))
    here.try_fixes(run)
    deadline = time.monotonic() + 200
    while not (trials := [*run.path.glob("trials/*/trace/*.log")]):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    began_s = time.monotonic()
    second = here.submit(code_job(PRINTS.replace("norm", "max")))
    while trials[0].exists() and time.monotonic() - began_s < 1:
        time.sleep(0.01)
    assert not trials[0].exists()
    here.stop_trials(run)
    assert here.wait(second).status().state == "done"


def test_a_trial_times_its_guards_together_only(here: Runner, engine: LocalEngine) -> None:
    job = code_job(PRINTS.replace("norm", "min"))
    trial = create_trial(here.store, made(here, job), trial_job(job, "eager"), "")
    engine.start(Assignment(trial), lambda: None)
    timed = [(each.guard_warm_us, each.guard_costs) for each in open_report(here.wait(trial)).compilations]
    assert [(us is not None and us > 0, costs) for us, costs in timed] == [(True, None)] * 2


@pytest.mark.usefixtures("commands_here")
def test_the_command_tries_the_fixes_of_a_run_and_applies_them_together(
    here: Runner, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMPILEBOARD_HOME", str(here.store.home))
    run = made(here, code_job(SLOW.replace("norm", "mean")))
    assert main(["try", run.id]) == OK
    printed = capsys.readouterr()
    first = "- Print with torch's print op. Tried: graph breaks 1 → 0, results same (backend `eager`)."
    assert first in printed.out.splitlines()
    assert "Trying the fixes" in printed.err
    assert main(["try", run.id, "--together"]) == OK
    assert "1 fix together: graph breaks 1 → 0, results same (backend `eager`)" in capsys.readouterr().out


@pytest.mark.long
def test_the_fixes_of_a_sample_are_tried_when_its_run_has_ended(here: Runner, engine: LocalEngine) -> None:
    runner = Runner(here.store, engine, tries=True)
    run = made(runner, CompileJob(Model("sample", "graph_break_zoo"), training=False, measure=False))
    proofs = {proof.key: proof for proof in shown(runner, run).proofs}
    for key in ("print_op:20:x", "where:25", "keep_tensor:31", "hoist:41"):
        assert proof_words(proofs[key]) == "Tried: graph breaks 5 → 4, results same (backend `eager`)."


@pytest.mark.long
def test_a_model_with_troubles_is_left_with_what_changes_its_behaviour_alone(here: Runner) -> None:
    run = made(here, replace(code_job(TROUBLES), compile=CompileOptions()))
    before = counts(open_report(run))
    here.try_fixes(run, together=True)
    applied = shown(here, run).applied
    assert applied is not None
    assert before[2] > 6
    assert (applied.before[0], applied.after[1], applied.results, applied.is_minimal) == (before[0], 0, "same", True)
    # The id of an intermediate as a key breaks the graph, and each new key recompiles: another key changes behaviour.
    (seen,) = [line for line, text in enumerate(TROUBLES.split("\n"), 1) if "id(x)" in text]
    assert [each.place for each in applied.left] == [f"line {seen}"]
    assert [each.words.partition(":")[0] for each in applied.named] == [
        "Keep the tensor.",
        "Compute `self.steps < 100` outside of the compiled function, and pass the result",
    ]
    assert {"print_op", "where", "log_op"} <= {
        key.partition(":")[0] for each in applied.changes for key in each.repairs
    }
    # In the calls of a trial, a new key recompiles first, and hides that the counter does, too.
    assert INTEGERS in {name for each in applied.changes for name in each.dynamo}
    confirming = here.wait(here.store.open(applied.run))
    job = confirming.job()
    assert job is not None
    assert job.compile.backend == "inductor"
    assert counts(open_report(confirming)) == applied.after == (1, 0, applied.after[2])
    assert all(not call.printed for call in open_report(confirming).calls)
