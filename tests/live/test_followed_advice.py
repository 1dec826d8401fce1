"""Advice of findings, followed literally on models that no rule was written for, does what it says."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch

from core import CompileJob, CompileOptions, LocalEngine, Model, Runner, Store, open_report
from core.analysis.findings import findings
from core.job import Conditions
from core.report import Report
from tests.support.foreign_models import HEAD
from tests.support.places import ROOT
from tests.support.reports.findings import of

pytestmark = pytest.mark.torch

LSTM = """
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.rnn, self.out = nn.Embedding(20, 8), nn.LSTM(8, 8, batch_first=True), nn.Linear(8, 3)
    def forward(self, ids):
        return self.out(self.rnn(self.words(ids))[0])
model = Tagger()
inputs = (torch.randint(0, 20, (2, 5)),)
"""
GRU = "model = nn.Sequential(nn.Linear(8, 8), nn.GRU(8, 8))\ninputs = (R(5, 2, 8),)\n"
MEAN = "import statistics\n{}def model(x):\n    return torch.relu(x) * {}\ninputs = (R(2, 3),)\n"
TEXT = "import json\n{}def model(x):\n    return torch.relu(x) * len({})\ninputs = (R(2, 3),)\n"
OFF = "@torch.compiler.disable\ndef off(x):\n    return {}\n"
LINES = {"mean": (MEAN, "statistics.mean(x[0].tolist())"), "json": (TEXT, "json.dumps(x.tolist())")}
DEBUG_LINE = re.compile(r"^V\d{4} .*/torch/_dynamo/", re.MULTILINE)
LOGS = 'import os\nos.environ["TORCH_LOGS"] = "+dynamo,graph_breaks"\n'
ENCODER = "model = nn.TransformerEncoderLayer(16, 2, 32).eval()\ninputs = (R(3, 2, 16),)\n"
NORMS = "model = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8))\ninputs = (R(2, 8),)\n"


@pytest.fixture(scope="module")
def here(engine: LocalEngine, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(Store(tmp_path_factory.mktemp("advice")), engine)


def recorded(here: Runner, code: str, **dynamo: bool) -> tuple[Report, str]:
    """A run's report and what it printed."""
    job = CompileJob(
        Model("code", HEAD + code),
        measure=False,
        compile=CompileOptions(backend="eager"),
        conditions=Conditions(dynamo=dict(dynamo) or None),
    )
    run = here.wait(here.submit(job))
    assert run.status().state == "done", run.output_tail()
    return open_report(run), run.output_tail()


def graphs(report: Report) -> int:
    return sum(compilation.status == "ok" for compilation in report.compilations)


@pytest.mark.parametrize("code", [LSTM, GRU], ids=["lstm", "gru"])
def test_a_model_with_an_rnn_is_one_graph_with_the_setting_that_is_proposed(here: Runner, code: str) -> None:
    before, _ = recorded(here, code)
    proposed = {
        name: value
        for finding in findings(before)
        if finding.proposal
        for name, value in finding.proposal.dynamo.items()
    }
    assert (graphs(before), proposed) == (0, {"allow_rnn": True})
    after, _ = recorded(here, code, **proposed)
    assert (graphs(after), after.graph_breaks) == (1, ())


@pytest.mark.parametrize("name", LINES)
def test_a_line_that_leads_into_a_library_is_one_break_in_a_marked_function(here: Runner, name: str) -> None:
    code, line = LINES[name]
    before, _ = recorded(here, code.format("", line))
    advised = [finding.advice for finding in of(before, "graph breaks") if "in a library" in finding.advice]
    assert advised
    assert all("into a separate function marked with `torch.compiler.disable`" in advice for advice in advised)
    after, _ = recorded(here, code.format(OFF.format(line), "off(x)"))
    assert [len(found.compilations) for found in after.graph_breaks] == [1]
    assert graphs(after) > 0


@pytest.mark.parametrize("code", [ENCODER, NORMS], ids=["encoder", "norms"])
def test_torch_logs_as_a_call_prints_what_the_variable_asks_for(here: Runner, code: str) -> None:
    before, silent = recorded(here, LOGS + code)
    (found,) = of(before, "TORCH_LOGS set too late")
    call = found.advice.split("`")[1]
    after, printed = recorded(here, f"import logging\n{call}\n{code}")
    assert of(after, "TORCH_LOGS set too late") == []
    assert [bool(DEBUG_LINE.search(output)) for output in (silent, printed)] == [False, True]


SUM = "off = torch.compiler.disable(lambda x: float(x.sum()))\ncalls = [(R(2, 3),)]\n"
IN_A_LOOP = SUM + "def model(x):\n    for _ in range(3):\n        x = x + off(x)\n    return x.relu()\n"
BEFORE_IT = SUM + "def model(x):\n    y = off(x)\n    for _ in range(3):\n        x = x + y\n    return x.relu()\n"
WHILE = SUM + "def model(x):\n    n = 0\n    while n < 2:\n        n, x = n + 1, x * off(x)\n    return x.relu()\n"
AFTER_IT = SUM + "def model(x):\n    n = 0\n    while n < 2:\n        n, x = n + 1, x * 2\n    return x * off(x)\n"


@pytest.mark.long
def test_a_call_that_is_marked_gives_a_frame_up_within_a_loop_and_nowhere_else() -> None:
    cases: dict[str, tuple[str, list[str], dict[str, object]]] = {
        name: (HEAD + code, [], {}) for name, code in LOOPS.items()
    }
    assert followed(cases) == {"for": 0, "before it": 1, "while": 0, "after it": 2}


LOOPS = {"for": IN_A_LOOP, "before it": BEFORE_IT, "while": WHILE, "after it": AFTER_IT}


def followed(cases: dict[str, tuple[str, list[str], dict[str, object]]]) -> dict[str, object]:
    """How many graphs torch alone makes of each."""
    command = [sys.executable, "-m", "tests.support.follow"]
    ran = subprocess.run(
        command, input=json.dumps(cases), capture_output=True, text=True, check=True, timeout=300, cwd=ROOT
    )
    made: dict[str, object] = json.loads(ran.stdout.splitlines()[-1])
    return made


GPT2 = """
from transformers import GPT2Config, GPT2Model
from transformers.models.gpt2.modeling_gpt2 import GPT2Block as Layer
sizes = dict(n_embd=16, n_layer=4, n_head=2, vocab_size=50, n_positions=64)
model = GPT2Model(GPT2Config(bos_token_id=0, eos_token_id=0, **sizes)).eval()
inputs = (torch.randint(0, 50, (2, 6)),)
"""
MESSAGES = """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.message = nn.Linear(16, 8)
    def forward(self, h, source, target):
        sent = torch.relu(self.message(torch.cat([h[source], h[target]], -1)))
        return h + torch.zeros_like(h).index_add(0, target, sent).tanh()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(4))
    def forward(self, h, source, target):
        for layer in self.layers:
            h = layer(h, source, target)
        return h
model = Net()
inputs = (R(6, 8), torch.randint(0, 6, (9,)), torch.randint(0, 6, (9,)))
"""


@pytest.mark.parametrize("code", [GPT2, MESSAGES], ids=["gpt2", "graph network"])
def test_a_layer_that_is_a_region_is_compiled_once_and_computes_the_same(code: str) -> None:
    names: dict[str, Any] = {}
    exec(HEAD + code, names)
    model, inputs, layer = names["model"], names["inputs"], names["Layer"]
    regions: list[int] = []

    def counting(graph: torch.fx.GraphModule, _: list[torch.Tensor]) -> Callable[..., Any]:
        regions.append(sum(isinstance(module, torch.fx.GraphModule) for module in graph.children()))
        forward: Callable[..., Any] = graph.forward
        return forward

    with torch.no_grad():
        eager = model(*inputs)
        layer.forward = torch.compiler.nested_compile_region(layer.forward)
        compiled = torch.compile(model, backend=counting)(*inputs)
    assert regions == [1]
    torch.testing.assert_close(
        getattr(compiled, "last_hidden_state", compiled), getattr(eager, "last_hidden_state", eager)
    )


@pytest.mark.parametrize("code", [ENCODER, NORMS], ids=["encoder", "norms"])
def test_the_filter_of_guards_leaves_out_guards_of_torchs_modules(code: str) -> None:
    names: dict[str, Any] = {}
    exec(HEAD + code, names)
    torch._dynamo.reset()
    counts: list[tuple[int, int]] = []

    def counting(entries: Sequence[Any]) -> Sequence[bool]:
        passed: Sequence[bool] = torch.compiler.skip_guard_on_inbuilt_nn_modules_unsafe(entries)
        counts.append((len(entries), sum(passed)))
        return passed

    torch.compile(names["model"], options={"guard_filter_fn": counting}, backend="eager")(*names["inputs"])
    ((every, left),) = counts
    assert left < every
