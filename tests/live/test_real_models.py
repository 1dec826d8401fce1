"""Advice for samples and real models: no card contradicts another, and no advice that is shown makes a run worse.

`COMPILEBOARD_BENCH_MODELS` names a directory with more models than those of `benchmarks/real_models`.
"""

import os
import time
from pathlib import Path

import pytest

from core import CompileJob, CompileOptions, LocalEngine, Model, Runner, Store, open_report
from core.analysis.findings import findings
from core.job.gallery import samples
from core.runs.stored import read_trials
from tests.support.contradictions import contradictions
from tests.support.places import ROOT

pytestmark = [pytest.mark.torch, pytest.mark.long]

FOLDER = Path(os.environ.get("COMPILEBOARD_BENCH_MODELS", ROOT / "benchmarks" / "real_models"))
MODELS = {path.stem: Model("file", str(path)) for path in sorted(FOLDER.glob("*.py"))} | {
    sample.name: Model("sample", sample.name) for sample in samples()
}
PATIENCE_S = 240.0


@pytest.fixture(scope="module")
def here(engine: LocalEngine, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(Store(tmp_path_factory.mktemp("models")), engine)


@pytest.mark.parametrize("name", MODELS)
def test_cards_of_a_model_agree_and_advice_that_is_shown_makes_nothing_worse(here: Runner, name: str) -> None:
    if MODELS[name].kind == "file":
        pytest.importorskip("transformers")
    run = here.wait(here.submit(CompileJob(MODELS[name], measure=False, compile=CompileOptions(backend="eager"))))
    assert run.status().state in ("done", "failed"), run.output_tail()
    report, source = open_report(run), run.code()
    cards = findings(report, run.output_tail(), source)
    assert contradictions(report, cards, source) == []
    here.try_fixes(run)
    deadline = time.monotonic() + PATIENCE_S
    while here.prover.progress(run) is not None and time.monotonic() < deadline:
        time.sleep(0.1)
    proofs = {proof.key: proof for proof in read_trials(run).proofs}
    assert {card.proposal.key for card in cards if card.proposal and not card.proposal.compile.get("backend")} <= {
        *proofs
    }
    for proof in proofs.values():
        is_worse = any(after > before for before, after in zip(proof.before, proof.after, strict=True))
        assert not is_worse or proof.outcome in ("worse", "differs", "failed"), proof.words
