"""Judges the product by the cases: what it detects, explains and cures, and what it advises wrongly.

A run of the product is read as a visitor reads it: by the cards of its findings, and by the fixes that are offered for
its graph breaks and recompiles. Each offer with a claim is followed by torch alone, in a fresh process. An offer whose
claim fails there is wrong, unless the product's own trial refuses it, too. Cards that contradict one another or the
run are wrong, too.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core import CompileJob, Model, Run, Runner, open_report
from core.analysis.findings import FIRST, Finding, findings
from core.analysis.repairs.claims import Claim, claims
from core.analysis.repairs.offers import repaired
from core.analysis.repairs.source import Proposal
from core.analysis.repairs.trials import TrialSide
from core.graph.fx import source_path
from core.job import add_job_options, job_of
from core.runs.stored import read_trials
from tests.corpus.case import DIRECTORY, Case
from tests.support.contradictions import contradictions
from tests.support.places import ROOT

# What a claim measures → name of torch's count.
MEASURES = {"graph breaks": "breaks", "recompiles": "recompiles"}
PATIENCE_S = 120
# Rule whose card depends on how busy this machine is.
OF_THIS_MACHINE = "first call"


@dataclass
class Judgement:
    """What the product made of a case: `cured_by` is the change that torch alone confirmed, empty without one.

    `cards` are the texts of the findings, `notes` say what is missing, `wrong` what was advised and fails.
    """

    case: Case
    cards: list[str] = field(default_factory=list)
    detected: bool = False
    explained: bool = False
    cured_by: str = ""
    wrong: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def lacks(self) -> set[str]:
        """What the product does not do for the case."""
        has = {"detected": self.detected, "explained": self.explained, "cured": bool(self.cured_by)}
        return {name for name, is_done in has.items() if not is_done and not self.case.is_control}


@dataclass
class Examined:
    """A case after the product's run: its job, its code, the offers, and the tasks for torch alone."""

    case: Case
    run: Run
    job: CompileJob
    found: Sequence[Finding]
    offers: Sequence[Claim]
    side: TrialSide

    @property
    def base(self) -> dict[str, Any]:
        """The task of the code as it is."""
        return task_of(self.job, self.side.text, self.side.text)

    @property
    def cured(self) -> dict[str, Any]:
        """The task of the code that follows the advice in words."""
        return task_of(self.job, self.side.text, self.case.cured, own_options=True)

    def followed(self, offer: Claim) -> dict[str, Any]:
        """Return the task of the code or settings that an offer makes."""
        job = offer.proposal.applied(self.job)
        return task_of(job, self.side.text, repaired(self.side.text, job.repairs))


def task_of(job: CompileJob, original: str, code: str, own_options: bool = False) -> dict[str, Any]:
    """Return a task for torch alone."""
    options = {"backend": job.compile.backend, "fullgraph": job.compile.fullgraph, "dynamic": job.compile.dynamic}
    of_inductor = {"mode": job.compile.mode, "options": job.compile.options}
    return {
        "code": code,
        "original": original,
        "options": {**options, **{name: value for name, value in of_inductor.items() if value}},
        "dynamo": job.conditions.dynamo or {},
        "training": bool(job.training),
        "own_options": own_options,
        "is_script": job.model.is_script,
    }


def job_of_case(case: Case) -> CompileJob:
    """Return the job of a case, as the command line makes it."""
    parser = argparse.ArgumentParser()
    add_job_options(parser)
    job = job_of(parser.parse_args([str(DIRECTORY / f"{case.name}.py"), *case.options]))
    return replace(job, model=Model("code", case.code, job.model.name, job.model.as_model), measure=False)


def examine(runner: Runner, case: Case) -> Examined:
    """Run a case in the product, and collect its cards and offers."""
    run = runner.wait(runner.submit(job_of_case(case)))
    report, job = open_report(run), run.job() or job_of_case(case)
    side = TrialSide(report, run.code(), source_path(report))
    found = findings(report, run.output_tail(), side.text)
    made = claims(side, job, [each.proposal for each in found if each.proposal is not None])
    return Examined(case, run, job, found, [each for each in made if isinstance(each, Claim)], side)


class TorchAlone:
    """A process that has imported torch, and nothing of the product, and forks for each task."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.corpus.alone"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT
        )

    def counts(self, task: dict[str, Any]) -> dict[str, Any]:
        """Return what torch alone counts in a task."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(task), file=self._process.stdin, flush=True)
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def judge(runner: Runner, torch: TorchAlone, case: Case) -> Judgement:
    """Judge a case by the product's cards and by torch's counts."""
    examined = examine(runner, case)
    made = Judgement(case, [card_text(each) for each in examined.found])
    made.wrong += contradictions(examined.side.report, examined.found, examined.side.text)
    made.wrong += [f"advised: {case.fields['Not']}" for card in made.cards if matches(case, "Not", card)][:1]
    if case.is_control:
        cards = [card_text(each) for each in examined.found if each.rule != OF_THIS_MACHINE]
        made.wrong += [f"card for a healthy model: {card}" for card in cards]
    base = torch.counts(examined.base) if examined.offers or not case.is_control else {}
    made.notes.append(f"as it is: {base}")
    for offer in examined.offers:
        _follow(runner, examined, made, offer, base, torch.counts(examined.followed(offer)))
    if case.is_control:
        return made
    made.detected = any(_is_about(case, each) for each in examined.found)
    made.explained = any(matches(case, "Cause", card) for card in made.cards[:FIRST])
    if not made.cured_by and case.cured:
        cured = torch.counts(examined.cured)
        made.notes.append(f"with the words followed: {cured}")
        advised = any(matches(case, "Cure", card) for card in made.cards)
        made.cured_by = "words" if advised and _reaches(case, cured) else ""
    return made


def _follow(
    runner: Runner,
    examined: Examined,
    made: Judgement,
    offer: Claim,
    base: dict[str, Any],
    after: dict[str, Any],
) -> None:
    """Judge an offer by torch's counts: the first that reaches what the case expects is the cure."""
    why = _why_wrong(offer, base, after)
    made.notes.append(f"with {offer.proposal.key}: {after}")
    if why and not _refuses(runner, examined.run, offer.proposal):
        made.wrong.append(f"{offer.proposal.words}: {why}")
    elif not why and not made.cured_by and _reaches(examined.case, after):
        made.cured_by = "diff" if offer.proposal.repairs else "setting"


def _why_wrong(offer: Claim, base: dict[str, Any], after: dict[str, Any]) -> str:
    """Return why torch alone contradicts an offer; empty if it does not."""
    if "error" in after:
        return "" if "error" in base and offer.measure != "error" else f"raises {after['error']}"
    if not after["same"] and ("error" in base or base["same"]):
        return "changes results"
    name = MEASURES.get(offer.measure)
    if name and "error" not in base and after[name] >= base[name]:
        return f"{name} {base[name]} → {after[name]}"
    new = [each for each in ("breaks", "skipped") if "error" not in base and after[each] > base[each]]
    if new:
        return f"new {new[0]}"
    if offer.measure == "results" and not after["same"]:
        return "results still differ"
    return ""


def _reaches(case: Case, after: dict[str, Any]) -> bool:
    """Return True if torch alone confirms what a case expects."""
    if "Expects" not in case.fields or "error" in after or not after["confirmed"]:
        return False
    same = after["same"] or case.has_other_results
    return same and all(after[name] <= most for name, most in case.counts.items())


def _refuses(runner: Runner, run: Run, proposal: Proposal) -> bool:
    """Return True if the product's own trial does not prove an offer, so that no card shows it as advice."""
    runner.prover.request(run, [proposal.key])
    end_s = time.monotonic() + PATIENCE_S
    while runner.prover.progress(run) is not None and time.monotonic() < end_s:
        time.sleep(0.05)
    proofs = [proof for proof in read_trials(run).proofs if proof.key == proposal.key]
    return any(proof.outcome != "not tried" and not proof.is_proven for proof in proofs)


def card_text(finding: Finding) -> str:
    """Return the text of a card."""
    return f"[{finding.rule}] {finding.title} {finding.reason} {finding.advice}"


def matches(case: Case, name: str, text: str) -> bool:
    """Return True if a text matches a field's pattern."""
    pattern = case.fields.get(name)
    return pattern is not None and re.search(pattern, text, re.IGNORECASE) is not None


def _is_about(case: Case, finding: Finding) -> bool:
    for each in case.fields.get("Finds", "").split(" or "):
        rule, _, line = each.partition(" at line ")
        if finding.rule == rule.strip() and (not line or f":{line.strip()}`" in card_text(finding)):
            return True
    return False
