"""Findings of a run, each with its number, evidence, reason and advice, most expensive first.

A rule is a pure function of the report, of the run's output and of the model's file. It yields nothing without
evidence.
"""

from typing import get_args

from core.analysis.findings import answers, calls, dynamo, errors, kernels
from core.analysis.findings.finding import CALLS, Finding, Rule, RunFacts, Weight
from core.report import Report, stored

RULES: tuple[Rule, ...] = (*dynamo.RULES, *errors.RULES, *answers.RULES, *calls.RULES, *kernels.RULES)
# Number of findings shown first; the others are shown on request.
FIRST = 3
WEIGHTS: tuple[Weight, ...] = get_args(Weight)


@stored
def findings(report: Report, output: str = "", source: str = "") -> tuple[Finding, ...]:
    """Return all findings of a report by weight, then by `cost_s`.

    `output` is the run's output, and `source` the text of the model's file.
    """
    known = RunFacts(report, output, source)
    found = [finding for rule in RULES for finding in rule(known)]
    return tuple(sorted(found, key=lambda finding: (WEIGHTS.index(finding.weight), -finding.cost_s)))
