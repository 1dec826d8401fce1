"""Advice by cause, followed literally: the product gives it, and torch alone shows what it does.

Each case is a model with one cause, a part of the advice, the model with the advice followed, and torch's numbers of
graphs before and after.
"""

import json
import subprocess
import sys
from dataclasses import replace
from typing import NamedTuple

import pytest

from core import CompileJob, LocalEngine, Model, Run, Runner, Store, open_report
from core.analysis.dynamo.recompiles import guard_rows
from core.analysis.findings import Finding, findings
from core.analysis.verdict import verdict
from core.job import Conditions
from core.job.model import OptionValue
from tests.support.foreign_models import HEAD
from tests.support.places import ROOT
from tests.support.reports.findings import compiling
from tests.support.sample import one_in
from tests.support.user_code import EAGER

pytestmark = pytest.mark.torch


class Case(NamedTuple):
    code: str
    advice: str
    followed: str
    before: int
    after: int


def function(*lines: str, calls: str = "[(R(4),)]", above: str = "", takes: str = "x") -> str:
    body = "\n".join(f"    {line}" for line in lines)
    return f"{above}\ndef model({takes}):\n{body}\ncalls = {calls}\n"


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


def instances(set_up: str, result: str, above: str = "") -> str:
    """Five instances of one class that a graph break keeps out of their caller."""
    return f"""
{above}
class Part(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        {set_up}
    def forward(self, x):
        torch._dynamo.graph_break()
        y = self.linear(x)
        return {result}
model = nn.Sequential(*(Part(number) for number in range(5)))
calls = [(R(2, 4),)]
"""


def counting(forward: str, calls: str, set_up: str = "self.done = 0") -> str:
    lines = "\n".join(f"        {line}" for line in forward.split("; "))
    start = f"    def __init__(self):\n        super().__init__()\n        {set_up}\n"
    forward = f"    def forward(self, x, early=True):\n{lines}\n"
    return f"class Net(nn.Module):\n{start}{forward}model = Net()\ncalls = {calls}\n"


TABLE = "table = {number: R(4) for number in range(5)}"
KEYS = "table = {number + 0.5: R(4) for number in range(4)}"
KEYED = function("return x + table[key]", calls="[(R(4), key) for key in table]", above=KEYS, takes="x, key")
LOOKED_UP_BEFORE = function(
    "return x + row", calls="[(R(4), row) for row in table.values()]", above=KEYS, takes="x, row"
)
OPTIMIZER = """
weight = nn.Parameter(R(4, 5))
weight.grad = torch.ones(4, 5)
adam = torch.optim.AdamW([weight], lr={})
plan = torch.optim.lr_scheduler.{}
def model(x):
    with torch.enable_grad():
        adam.step()
    return x
def calls():
    for _ in range(5):
        yield (R(2),)
        plan.step()
"""
CYCLE, DECAY = "OneCycleLR(adam, max_lr=torch.tensor(0.01), total_steps=40{})", "ExponentialLR(adam, 0.9)"
TENSOR = "torch.tensor(0.01)"
RECOMPILES = {
    "a key by instance": Case(
        instances("self.number = number", "y * table[self.number]", TABLE),
        "`table[self.number]` needs the value itself. Look it up where `self.number` is set",
        instances("self.row = table[number]", "y * self.row", TABLE),
        5,
        1,
    ),
    "a condition by instance": Case(
        instances("self.number = number", "y + 1 if self.number == 0 else y"),
        "Compute `self.number == 0` once, in `__init__`, and test the result",
        instances("self.first = number == 0", "y + 1 if self.first else y"),
        5,
        2,
    ),
    "a factor by instance": Case(
        instances("self.factor = number / 4 + 0.1", "y * self.factor"),
        "Store it in a buffer",
        instances("self.register_buffer('factor', torch.tensor(number / 4 + 0.1))", "y * self.factor"),
        2,
        1,
    ),
    "a counter that decides": Case(
        counting("self.done += 1; return x.sin() if self.done < 3 else x.cos()", "[(R(4),)] * 5"),
        "Compute `self.done < 3` outside of the compiled function, and pass the result",
        counting("return x.sin() if early else x.cos()", "[(R(4), done < 3) for done in range(5)]"),
        5,
        2,
    ),
    "a counter in arithmetic": Case(
        counting("self.done += 1; return x * self.done", "[(R(4),)] * 5"),
        "The code changes `self.done` at `model.py:10`. torch treats integer attributes",
        counting(
            "self.done += 1; return x * self.done", "[(R(4),)] * 5", "self.register_buffer('done', torch.tensor(0))"
        ),
        5,
        1,
    ),
    "a key that is passed": Case(KEYED, "Look it up before the call, and pass the result.", LOOKED_UP_BEFORE, 4, 1),
    "momentum by a scheduler": Case(
        OPTIMIZER.format(TENSOR, CYCLE.format("")),
        "`OneCycleLR` changes `betas` in its step at `model.py:17`.",
        OPTIMIZER.format(TENSOR, CYCLE.format(", cycle_momentum=False")),
        3,
        2,
    ),
    "a rate by a scheduler": Case(
        OPTIMIZER.format(0.01, DECAY),
        "Pass `lr=torch.tensor(…)` to the optimizer",
        OPTIMIZER.format(TENSOR, DECAY),
        3,
        2,
    ),
}

PAIR, BOTH = function("return a + b", calls="[(R(3), R(3)), (x, x{})]", above="x = R(3)", takes="a, b"), ".clone()"
NAMED = function("return sum(kwargs.values())", calls="[dict(a=R(3){}), dict(a=R(3), b=R(3))]", takes="**kwargs")
CLASS_OF_EACH_CALL = """
def make():
    class Act:
        factor = 3.0
        def __call__(self, x):
            return x * self.factor
    return Act
made = []
{kept}
def model(x, act):
    return {body}
def calls():
    for _ in range(4):
        made.append({passed})
        yield (R(3), made[-1])
"""
ONE_CLASS = "make = (lambda once: lambda: once)(make())"
INSTANCES = {"body": "act(x).sin()", "passed": "make()()"}
CLASSES = {"body": "x.cos() * act.factor", "passed": "make()"}
RECOMPILES |= {
    "a class of each call": Case(
        CLASS_OF_EACH_CALL.format(kept="", **INSTANCES),
        "define it once, at module level. If `act` has several classes",
        CLASS_OF_EACH_CALL.format(kept=ONE_CLASS, **INSTANCES),
        4,
        1,
    ),
    "an object of each call": Case(
        CLASS_OF_EACH_CALL.format(kept="", **CLASSES),
        "create it once, before the first call",
        CLASS_OF_EACH_CALL.format(kept=ONE_CLASS, **CLASSES),
        4,
        1,
    ),
    "two inputs that are one": Case(PAIR.format(""), "Pass a copy in such calls, `b.clone()`", PAIR.format(BOTH), 2, 1),
    "another key": Case(NAMED.format(""), "pass the same keys in every call", NAMED.format(", b=torch.zeros(3)"), 2, 1),
    "a list that grows": Case(
        counting("self.seen.append(x.sum()); return x + 1", "[(R(3),)] * 4", "self.seen = []"),
        "fill it outside of the compiled function",
        counting("return x + 1", "[(R(3),)] * 4", "self.seen = []"),
        4,
        1,
    ),
}


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


def graphs(cases: dict[str, str], **options: object) -> dict[str, object]:
    """Return name → number of graphs by torch alone."""
    command = [sys.executable, "-m", "tests.support.follow"]
    written = json.dumps({name: (HEAD + code, [], options) for name, code in cases.items()})
    ran = subprocess.run(command, input=written, capture_output=True, text=True, check=True, timeout=300, cwd=ROOT)
    numbers: dict[str, object] = json.loads(ran.stdout.splitlines()[-1])
    return numbers


@pytest.mark.parametrize("name", one_in(3, BREAKS))
def test_a_graph_break_has_the_advice_of_its_cause(here: Runner, name: str) -> None:
    found = advised(here, BREAKS[name].code, "graph breaks")
    assert BREAKS[name].advice in found[0].advice
    assert not any("capture_scalar_outputs" in finding.advice for finding in found)


@pytest.mark.parametrize("name", one_in(3, RECOMPILES))
def test_recompiles_have_the_advice_of_their_cause_once(here: Runner, name: str) -> None:
    run = run_of(here, RECOMPILES[name].code)
    about = [
        finding.advice
        for finding in findings(open_report(run), "", run.code())
        if RECOMPILES[name].advice in finding.advice
    ]
    assert len(about) == 1


@pytest.mark.long
@pytest.mark.parametrize("cases", [RECOMPILES, BREAKS], ids=["recompiles", "breaks"])
def test_torch_alone_makes_fewer_graphs_with_the_advice_followed(cases: dict[str, Case]) -> None:
    made = graphs({f"{name}: before": case.code for name, case in cases.items()}) | graphs(
        {f"{name}: after": case.followed for name, case in cases.items()}
    )
    assert made == {f"{name}: before": case.before for name, case in cases.items()} | {
        f"{name}: after": case.after for name, case in cases.items()
    }


COUNTDOWN = """
def go_on(left, x):
    more = x.abs().max() < 9
    return {}
def step(left, x):
    return left - 1, x * 2
def model(x):
    return torch.while_loop(go_on, step, (torch.tensor(5), x))[1]
calls = [(R(4),)]
"""
SELECTED = function(
    "rows = torch.nonzero(x > -9).squeeze(-1)", "{}if rows.numel() > 0:", "    x = x + rows.sum()", "return x"
)
CHECK = "torch._check(rows.numel() > 0)\n    "
ERRORS = {
    "and of tensors": (COUNTDOWN.format("left > 0 and more"), "Write `torch.logical_and(left > 0, more)`", 8,
                       COUNTDOWN.format("torch.logical_and(left > 0, more)")),
    "a size by data": (SELECTED.format(""), "write `torch._check(rows.numel() > 0)`", 8, SELECTED.format(CHECK)),
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(2, ERRORS))
def test_an_error_of_dynamo_has_its_line_and_a_change_that_compiles(here: Runner, name: str) -> None:
    code, advice, line, followed = ERRORS[name]
    job = CompileJob(Model("code", HEAD + code), measure=False, compile=replace(EAGER, fullgraph=True))
    run = here.wait(here.submit(job))
    report = open_report(run)
    assert report.error is not None
    assert report.error.frames[-1].line == line
    (found,) = [one for one in findings(report, "", run.code()) if one.rule == "not compiled: failed"]
    assert advice in found.advice
    assert graphs({"followed": followed}, fullgraph=True) == {"followed": 1}


DROPOUT = """
import torch._functorch.config
torch._functorch.config.activation_memory_budget = {}
model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Dropout(), nn.Linear(8, 8), nn.Tanh())
inputs = (R(4, 8),)
"""


def test_backward_draws_anew_with_a_small_memory_budget_and_not_with_the_advised_one(here: Runner) -> None:
    found = []
    for budget in (0.0, 1.0):
        compile_options = replace(EAGER, backend="aot_eager_decomp_partition")
        code = HEAD + DROPOUT.format(budget)
        job = CompileJob(Model("code", code), measure=False, training=True, compile=compile_options)
        report = open_report(here.wait(here.submit(job)))
        found.append([finding.advice for finding in findings(report) if finding.rule == "backward draws"])
    assert [len(advice) for advice in found] == [1, 0]
    assert "Leave `torch._functorch.config.activation_memory_budget` at 1" in found[0][0]


OWN_BACKWARD = """
from torch._dynamo import compiled_autograd
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return {result}
    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * x
net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))
def whole(x):
    return Own.apply(net(x))
compiled = torch.compile(whole, backend="{backend}")
for _ in range({steps}):
    loss = compiled(R(3, 4)).square().sum()
    with compiled_autograd._enable(lambda graph: torch.compile(graph, backend="{backend}")):
        loss.backward()
    net.zero_grad()
print("captures", torch._dynamo.utils.counters["compiled_autograd"]["captures"])
"""


@pytest.mark.parametrize(("result", "steps"), one_in(2, [("x * 2", 3), ("x.relu() + 1", 4)]))
def test_compiled_autograd_captures_once_with_the_advised_backend(here: Runner, result: str, steps: int) -> None:
    found = {}
    for backend in ("eager", "aot_eager"):
        code = OWN_BACKWARD.format(result=result, backend=backend, steps=steps)
        run = here.wait(here.submit(CompileJob(Model("code", HEAD + code), measure=False)))
        report = open_report(run)
        captures = verdict(report).captures
        assert f"captures {captures}" in run.output_tail()
        found[backend] = (captures, [one for one in findings(report) if "makes no class" in one.advice])
    assert {backend: captures for backend, (captures, _) in found.items()} == {"eager": steps, "aot_eager": 1}
    assert {one.rule for one in found["eager"][1]} >= {"backward captured again", "graph breaks"}
    assert found["aot_eager"][1] == []


LOOP = """
{mark}
def step(x, row):
    {body}
    return x
def model(x, table):
    for row in table.unbind(0):
        x = {inlined}
    return x
inputs = (R(2, 4), R(20, 4))
"""
BODIES = {
    "of two lines": ("x = x + torch.sin(row * x) / 9\n    x = torch.where(x > 0, x, x / 2)", 20 * 7),
    "of one line": ("x = torch.tanh(x * row)", 20 * 2),
}


@pytest.mark.parametrize("name", BODIES)
def test_the_body_of_an_unrolled_loop_is_lowered_once_as_a_region(here: Runner, name: str) -> None:
    body, nodes = BODIES[name]
    lowered = []
    for mark in ("", "@torch.compiler.nested_compile_region"):
        code = HEAD + LOOP.format(mark=mark, body=body, inlined="step(x, row)")
        job = CompileJob(Model("code", code), measure=False, compile=replace(EAGER, backend="aot_eager"))
        report = open_report(here.wait(here.submit(job)))
        # The finding is about compilations of seconds; this one is short.
        found = [one for one in findings(replace(report, phases=compiling(a0_0=5.0))) if one.rule == "unrolled loop"]
        targets = [graph.targets for graph in report.compilations[0].graphs if graph.stage == "aot_inference_graph"]
        times = [count for target, count in targets[0].items() if target.endswith((".sin.default", ".tanh.default"))]
        lowered.append((sum(times), [one.reason for one in found]))
    (unrolled, (reason,)), (once, none) = lowered
    assert (unrolled, once, none) == (20, 1, [])
    assert f"{nodes} of the" in reason


GAINS = """
class Scaled(nn.Module):
    def __init__(self, gain):
        super().__init__()
        self.gain, self.weight = gain, nn.Parameter(torch.ones(4))
    def forward(self, x):
        return x * self.weight * self.gain
model = nn.Sequential(*(Scaled(1 + index / 8) for index in range(3)))
inputs = (R(2, 4),)
"""


def test_no_condition_on_floats_is_left_where_floats_are_specialized(here: Runner) -> None:
    numbers = []
    choices: tuple[dict[str, OptionValue] | None, ...] = (None, {"specialize_float": True})
    for dynamo in choices:
        job = CompileJob(
            Model("code", HEAD + GAINS),
            measure=False,
            compile=replace(EAGER, dynamic=True),
            conditions=Conditions(dynamo=dynamo),
        )
        report = open_report(here.wait(here.submit(job)))
        (compilation,) = report.compilations
        numbers.append([row.guard for row in guard_rows(report, compilation) if row.family == "number"])
    assert [len(guards) for guards in numbers] == [1, 0]
