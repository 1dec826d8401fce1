"""What a frame at the recompile limit is answered with holds when it is followed, on models that no rule was written
for: in the product as it is, and with torch alone once it is followed.
"""

import json
import subprocess
import sys

import pytest

from core import CompileJob, LocalEngine, Model, Runner, Store, open_report
from core.analysis.findings import Finding, findings
from tests.support.foreign_models import HEAD
from tests.support.places import ROOT
from tests.support.user_code import EAGER

pytestmark = pytest.mark.torch

LIMIT = "torch._dynamo.config.recompile_limit = {}\n"
UNSPEC = "torch._dynamo.config.allow_unspec_int_on_nn_module = True\n"
NORM = """
class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        {}
    def forward(self, x):
        self.steps += 1
        return self.norm(x) * self.steps
model = Counted()
calls = [(R(2, 8),)] * {}
"""
STEPS = ("self.steps = 0", "self.register_buffer('steps', torch.tensor(0))")
GRAPH_NETWORK = """
class Layer(nn.Module):
    def __init__(self, hop):
        super().__init__()
        self.message = nn.Linear(8, 8)
        {}
    def forward(self, h, source, target):
        torch._dynamo.graph_break()
        return h + torch.zeros_like(h).index_add(0, target, self.message(h[source])) / (self.hop + 1)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(hop) for hop in range({}))
    def forward(self, h, source, target):
        for layer in self.layers:
            h = layer(h, source, target)
        return h
model = Net()
I = torch.randint
calls = [(R(5, 8), I(0, 5, (9,)), I(0, 5, (9,)))]
"""
HOP = ("self.hop = hop", "self.register_buffer('hop', torch.tensor(hop))")
LISTS = """
class Views(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
    def forward(self, views):
        return sum(self.linear(view) for view in views)
model = Views()
calls = [([R(2, 8) for _ in range({})],) for n in range(1, {})]
"""
OVER = {
    "norm": LIMIT.format(3) + NORM.format(STEPS[0], 6),
    "graph network": LIMIT.format(3) + GRAPH_NETWORK.format(HOP[0], 5),
    "lists": LIMIT.format(3) + LISTS.format("n", 6),
}
NEAR = {
    "norm": LIMIT.format(4) + NORM.format(STEPS[0], 3),
    "lists": LIMIT.format(4) + LISTS.format("n", 4),
}
WORDS = {
    "norm": "store the number in a buffer",
    "graph network": "store the number in a buffer",
    "lists": "always the same number of tensors",
}
# The same with the advice followed → how many graphs torch makes of it.
FOLLOWED = {
    "norm, a buffer": (LIMIT.format(3) + NORM.format(STEPS[1], 6), 1),
    "norm, the setting": (LIMIT.format(3) + UNSPEC + NORM.format(STEPS[0], 6), 2),
    "graph network, a buffer": (LIMIT.format(3) + GRAPH_NETWORK.format(HOP[1], 5), 1),
    "graph network, a higher limit": (LIMIT.format(8) + GRAPH_NETWORK.format(HOP[0], 5), 5),
    "lists, as many": (LIMIT.format(3) + LISTS.format("5", 6), 1),
}


@pytest.fixture(scope="module")
def here(engine: LocalEngine, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(Store(tmp_path_factory.mktemp("limits")), engine)


def said(here: Runner, code: str, rule: str) -> list[Finding]:
    run = here.wait(here.submit(CompileJob(Model("code", HEAD + code), measure=False, compile=EAGER)))
    assert run.status().state == "done", run.output_tail()
    return [finding for finding in findings(open_report(run)) if finding.rule == rule]


@pytest.mark.parametrize(("name", "code"), OVER.items(), ids=OVER)
def test_a_frame_over_the_limit_names_what_varies_and_what_to_change(here: Runner, name: str, code: str) -> None:
    (found,) = said(here, code, "not compiled: over the limit")
    assert found.advice.startswith("Most often ")
    assert WORDS[name] in found.advice
    assert (found.proposal is not None) is (name != "lists")


@pytest.mark.parametrize(("name", "code"), NEAR.items(), ids=NEAR)
def test_a_frame_near_the_limit_is_reported_the_same(here: Runner, name: str, code: str) -> None:
    (found,) = said(here, code, "near the recompile limit")
    assert WORDS[name] in found.advice


@pytest.mark.long
def test_what_is_advised_at_the_limit_spares_the_compilations() -> None:
    cases: dict[str, tuple[str, list[str], dict[str, object]]]
    cases = {name: (HEAD + code, [], {}) for name, (code, _) in FOLLOWED.items()}
    command = [sys.executable, "-m", "tests.support.follow"]
    ran = subprocess.run(
        command, input=json.dumps(cases), capture_output=True, text=True, check=True, timeout=300, cwd=ROOT
    )
    assert json.loads(ran.stdout.splitlines()[-1]) == {name: count for name, (_, count) in FOLLOWED.items()}
