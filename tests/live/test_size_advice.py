"""What a recompile for another size is answered with holds when it is followed literally, with torch alone."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from core import CompileJob, LocalEngine, Model, Runner, Store, open_report
from core.analysis.findings import Finding, findings
from core.report import Report
from tests.support.foreign_models import HEAD, MODELS
from tests.support.places import ROOT
from tests.support.sample import cases_of, one_in
from tests.support.user_code import EAGER

pytestmark = pytest.mark.torch

MARK = re.compile(r"`(torch\._dynamo\.mark_dynamic\([^`]+\))`")
# What a frame is compiled without advice, with the marks and with `dynamic=True`; None where that is not advised.
LEFT: dict[str, tuple[int, int | None, int | None]] = {
    "gnn": (2, 1, 1),
    "t5": (2, 1, 1),
    "convolution": (2, 1, 1),
    "attention": (2, 1, 1),
    "bags": (2, 1, 1),
    "keywords": (2, 1, None),
    "nested": (2, 1, None),
    "object": (2, 1, None),
    "arithmetic": (2, 1, 1),
    "two sizes": (3, 1, 1),
    "equal by chance": (2, 1, None),
    "grown attribute": (2, 1, 1),
    "one among others": (3, 2, 2),
    "conditions": (3, 2, 2),
    "one first": (2, None, None),
    "number": (2, None, 1),
    "loop": (3, None, None),
    "branch": (2, None, None),
    "buffer": (3, None, None),
    "resumed": (4, 3, 2),
}


@dataclass(frozen=True, slots=True)
class Followed:
    """A model as the product recorded it, and how often torch alone compiles it with the marks that are advised (None
    where none are), and with `dynamic=True`.
    """

    name: str
    report: Report
    marked: object
    dynamic: object

    @property
    def plain(self) -> int:
        """How often torch compiled it without advice."""
        return sum(found.status == "ok" for found in self.report.compilations)


@pytest.fixture(scope="module")
def models(
    request: pytest.FixtureRequest, engine: LocalEngine, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Followed]:
    """The models of this session, with their advice followed by torch alone: in one process, which imports it once."""
    codes = {name: HEAD + MODELS[name] for name in cases_of(request, "model")}
    reports = {name: _recorded(engine, tmp_path_factory.mktemp("run"), code) for name, code in codes.items()}
    advice = {name: marks(advised(report)) for name, report in reports.items()}
    cases: dict[str, tuple[str, list[str], dict[str, object]]]
    cases = {f"{name}/dynamic": (code, [], {"dynamic": True}) for name, code in codes.items()}
    cases |= {f"{name}/marked": (codes[name], lines, {}) for name, lines in advice.items() if lines}
    command = [sys.executable, "-m", "tests.support.follow"]
    ran = subprocess.run(
        command, input=json.dumps(cases), capture_output=True, text=True, check=True, timeout=600, cwd=ROOT
    )
    made = json.loads(ran.stdout.splitlines()[-1])
    return {
        name: Followed(name, report, made.get(f"{name}/marked"), made[f"{name}/dynamic"])
        for name, report in reports.items()
    }


@pytest.fixture(params=one_in(10, MODELS))
def model(request: pytest.FixtureRequest, models: dict[str, Followed]) -> Followed:
    return models[request.param]


def _recorded(engine: LocalEngine, home: Path, code: str) -> Report:
    runner = Runner(Store(home), engine)
    job = CompileJob(Model("code", code), measure=False, compile=EAGER)
    run = runner.wait(runner.submit(job))
    assert run.status().state == "done", run.output_tail()
    return open_report(run)


def advised(report: Report) -> list[Finding]:
    return [finding for finding in findings(report) if finding.rule == "recompiles"]


def marks(found: list[Finding]) -> list[str]:
    return list(dict.fromkeys(line for finding in found for line in MARK.findall(finding.advice)))


def test_marks_that_are_advised_raise_nothing_and_spare_what_is_reported(model: Followed) -> None:
    plain, marked, _ = LEFT[model.name]
    found = advised(model.report)
    assert model.plain == plain
    assert bool(marks(found)) is (marked is not None)
    assert model.marked == marked
    said = [finding for finding in found if "One graph then takes all of these sizes." in finding.advice]
    assert bool(said) is (marked == 1 or model.name == "resumed")


def test_dynamic_is_advised_where_it_spares_a_compilation_and_nowhere_else(model: Followed) -> None:
    plain, _, dynamic = LEFT[model.name]
    proposed = [finding.proposal for finding in advised(model.report) if finding.proposal is not None]
    assert [dict(proposal.compile) for proposal in proposed] == [{"dynamic": True}] * len(proposed)
    assert bool(proposed) is (dynamic is not None)
    assert model.dynamic == (plain if dynamic is None else dynamic)
