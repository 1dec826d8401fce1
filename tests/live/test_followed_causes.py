"""Advice by cause, followed literally: the product gives it, and torch alone shows what it does.

Each case is a model with one cause, a part of the advice, the model with the advice followed, and torch's numbers of
graphs before and after.
"""

import json
import subprocess
import sys
from typing import NamedTuple

import pytest

from core import CompileJob, LocalEngine, Model, Run, Runner, Store, open_report
from core.analysis.findings import Finding, findings
from core.job import Conditions
from tests.support.foreign_models import HEAD
from tests.support.places import ROOT
from tests.support.user_code import EAGER

pytestmark = pytest.mark.torch


class Case(NamedTuple):
    code: str
    advice: str
    followed: str
    before: int
    after: int


def function(*lines: str, calls: str = "[(R(4),)]", above: str = "") -> str:
    body = "\n".join(f"    {line}" for line in lines)
    return f"{above}\ndef model(x):\n{body}\ncalls = {calls}\n"


CLIPPED = function("x = x * 2", "if x.abs().max().item() > 3:", "    x = x / 3", "return x + 1")
WHERE = function("x = x * 2", "x = torch.where(x.abs().max() > 3, x / 3, x)", "return x + 1")
LOOKED_UP = function(
    "x = x * 2", "top = x.max().item()", "if top > 3:", "    x = x / top", "    x = x.cos()", "return x + 1"
)
LOOKED_UP_WHERE = function("x = x * 2", "top = x.max()", "x = torch.where(top > 3, (x / top).cos(), x)", "return x + 1")
PENALTY = (
    "def loss(w):\n    with torch.enable_grad():\n        y = (w * w).sum()\n        y.backward()\n    return w.grad\n"
)
BACKWARD = "w = R(4).requires_grad_()\n" + PENALTY + function("return x + loss(w)")
TIMED = function("start = time.perf_counter()", "y = x.sin()", "took.append(time.perf_counter() - start)", "return y",
                 above="import time\ntook = []")  # fmt: skip
BREAKS = {
    "a number that decides": Case(CLIPPED, "Choose with `torch.where`.", WHERE, 2, 1),
    "a number that decides between blocks": Case(
        LOOKED_UP, "Compute both results and choose with `torch.where`", LOOKED_UP_WHERE, 2, 1
    ),
    "backward": Case(
        BACKWARD,
        "Set `torch._dynamo.config.trace_autograd_ops = True`.",
        "torch._dynamo.config.trace_autograd_ops = True\n" + BACKWARD,
        3,
        1,
    ),
    "a clock": Case(
        TIMED, "`time.perf_counter` belongs to Python, and Dynamo cannot trace it: call it before or after",
        function("return x.sin()"), 1, 1,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def here(engine: LocalEngine, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(Store(tmp_path_factory.mktemp("causes")), engine)


def run_of(here: Runner, code: str, **dynamo: bool) -> Run:
    job = CompileJob(
        Model("code", HEAD + code), measure=False, compile=EAGER, conditions=Conditions(dynamo=dict(dynamo) or None)
    )
    run = here.wait(here.submit(job))
    assert run.status().state == "done", run.output_tail()
    return run


def advised(here: Runner, code: str, rule: str) -> list[Finding]:
    run = run_of(here, code)
    return [finding for finding in findings(open_report(run), "", run.code()) if finding.rule == rule]


def graphs(cases: dict[str, str]) -> dict[str, object]:
    """Return name → number of graphs by torch alone."""
    command = [sys.executable, "-m", "tests.support.follow"]
    written = json.dumps({name: (HEAD + code, [], {}) for name, code in cases.items()})
    ran = subprocess.run(command, input=written, capture_output=True, text=True, check=True, timeout=300, cwd=ROOT)
    numbers: dict[str, object] = json.loads(ran.stdout.splitlines()[-1])
    return numbers


@pytest.mark.parametrize("name", BREAKS)
def test_a_graph_break_has_the_advice_of_its_cause(here: Runner, name: str) -> None:
    found = advised(here, BREAKS[name].code, "graph breaks")
    assert BREAKS[name].advice in found[0].advice
    assert not any("capture_scalar_outputs" in finding.advice for finding in found)


@pytest.mark.parametrize("cases", [BREAKS], ids=["breaks"])
def test_torch_alone_makes_fewer_graphs_with_the_advice_followed(cases: dict[str, Case]) -> None:
    made = graphs({f"{name}: before": case.code for name, case in cases.items()}) | graphs(
        {f"{name}: after": case.followed for name, case in cases.items()}
    )
    assert made == {f"{name}: before": case.before for name, case in cases.items()} | {
        f"{name}: after": case.after for name, case in cases.items()
    }
