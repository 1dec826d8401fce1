"""Time from the end of a run with a claim to its proven cards, for samples and for models in files.

A run of a sample starts its trials by itself; those of a file are requested when its run has ended. The aim is 15 s
for 90 % of the samples, and twice the run's own seconds plus 5 s for a file. Files are in the directory that
COMPILEBOARD_BENCH_MODELS names, by default in benchmarks/real_models.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks.homes import temporary_home
from benchmarks.table import Result, tell
from core import CompileJob, LocalEngine, Model, Runner, Store, samples
from core.runs.stored import read_trials

AIM_S, SHARE = 15.0, 0.9
TIMES_RUN, MORE_S = 2.0, 5.0
LIMIT_S = 300.0
POLL_S = 0.05
MODELS = Path(os.environ.get("COMPILEBOARD_BENCH_MODELS", Path(__file__).with_name("real_models")))
NAMES = tuple(filter(None, os.environ.get("COMPILEBOARD_BENCH_NAMES", "").split(",")))


@dataclass(frozen=True, slots=True)
class TriedRun:
    """Trials of a run: its own seconds, those until its cards, and the cards of each outcome."""

    name: str
    run_s: float
    cards_s: float
    outcomes: Counter[str]


def measure() -> list[Result]:
    """Run all samples and files one after the other, each with its trials."""
    files = sorted(path for path in MODELS.glob("*.py") if not NAMES or path.stem in NAMES)
    with temporary_home() as home, closing(LocalEngine(home / "cache")) as engine:
        runner = Runner(Store(home), engine, tries=True)
        of_files = [_tried(runner, Model("file", str(path))) for path in files]
        of_samples = [_tried(runner, Model("sample", each.name)) for each in samples()]
    with_claims = [tried for tried in of_samples if tried is not None]
    return [_of_samples(with_claims), *(_of_file(tried) for tried in of_files if tried is not None)]


def _tried(runner: Runner, model: Model) -> TriedRun | None:
    """Run a model, wait for its trials, and return them; None for a run without a claim."""
    run = runner.wait(runner.submit(CompileJob(model, measure=False)))
    began_s = time.monotonic()
    if model.kind == "file":
        runner.try_fixes(run)
    while runner.prover.progress(run) is not None and time.monotonic() - began_s < LIMIT_S:
        time.sleep(POLL_S)
    cards_s = time.monotonic() - began_s
    outcomes: Counter[str] = Counter(proof.outcome for proof in read_trials(run).proofs)
    name, run_s = Path(model.value).stem, run.standing().took_s or 0.0
    tell(f"{name}: run {run_s:.1f} s, cards {cards_s:.1f} s, {dict(outcomes)}")
    return TriedRun(name, run_s, cards_s, outcomes) if set(outcomes) - {"not tried"} else None


def _of_samples(tried: list[TriedRun]) -> Result:
    seconds = sorted(each.cards_s for each in tried)
    if not seconds:
        return Result("samples with a claim", "none")
    at = seconds[min(len(seconds) - 1, int(SHARE * len(seconds)))]
    figure = f"{at:.1f} s for {SHARE:.0%} of {len(seconds)}, at most {seconds[-1]:.1f} s"
    return Result("from the end of a sample's run to its cards", figure, f"≤ {AIM_S:g} s", at <= AIM_S)


def _of_file(tried: TriedRun) -> Result:
    aim_s = TIMES_RUN * tried.run_s + MORE_S
    cards = ", ".join(f"{count} {outcome}" for outcome, count in sorted(tried.outcomes.items()))
    figure = f"{tried.cards_s:.1f} s after a run of {tried.run_s:.1f} s ({cards})"
    return Result(f"{tried.name}: to its cards", figure, f"≤ {aim_s:.1f} s", tried.cards_s <= aim_s)
