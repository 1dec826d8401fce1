"""Advice about results, followed on models that no rule was written for, does what it says."""

import pytest
import torch

from core import CompileJob, CompileOptions, LocalEngine, Model, Report, Runner, Store, open_report
from core.analysis.findings import Finding, findings
from core.analysis.results import results
from tests.support.foreign_models import HEAD
from tests.support.user_code import EAGER

pytestmark = pytest.mark.torch

# torch's own backends with planted faults, which change or refuse `relu`.
WRONG, REFUSES = "relu_accuracy_error_TESTING_ONLY", "relu_compile_error_TESTING_ONLY"
NETWORKS = {
    "encoder": "model = nn.TransformerEncoderLayer(8, 2, 16, activation=torch.relu).eval()\ninputs = (R(3, 2, 8),)\n",
    "graph network": (
        "class Layer(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.message = nn.Linear(8, 8)\n    def forward(self, h, source, target):\n"
        "        sent = torch.relu(self.message(h[source]))\n"
        "        return torch.zeros_like(h).index_add(0, target, sent)\n"
        "model = Layer()\ninputs = (R(5, 8), torch.randint(0, 5, (9,)), torch.randint(0, 5, (9,)))\n"
    ),
}
ASKING = {
    "feed forward": (
        "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.norm = nn.LayerNorm(8)\n    def forward(self, x):\n"
        "        if torch.compiler.is_compiling():\n            {}\n"
        "        return self.norm(x)\nmodel = M()\ninputs = (R(4, 8),)\n"
    ),
    "graph network": (
        "def model(h, source, target):\n    x = h[source]\n    if torch.compiler.is_compiling():\n        {}\n"
        "    return torch.zeros_like(h).index_add(0, target, x)\n"
        "inputs = (R(5, 8), torch.randint(0, 5, (9,)), torch.randint(0, 5, (9,)))\n"
    ),
}
# What a library calls deprecated → the name that it asks for.
DEPRECATED = {
    "model = nn.Sequential(nn.utils.{}(nn.Linear(8, 8)), nn.ReLU())\ninputs = (R(4, 8),)\n": (
        "weight_norm",
        "parametrizations.weight_norm",
    ),
    NETWORKS["graph network"] + "nn.init.{}(model.message.weight)\n": ("uniform", "uniform_"),
}


@pytest.fixture(scope="module")
def here(engine: LocalEngine, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(Store(tmp_path_factory.mktemp("results")), engine)


def recorded(here: Runner, code: str, compile: CompileOptions = EAGER) -> Report:
    job = CompileJob(Model("code", HEAD + code), measure=False, compile=compile)
    return open_report(here.wait(here.submit(job)))


def of(report: Report, rule: str) -> list[Finding]:
    return [finding for finding in findings(report) if finding.rule == rule]


@pytest.mark.parametrize("code", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.parametrize(("backend", "rule"), [(WRONG, "results differ"), (REFUSES, "not compiled: failed")])
def test_the_backend_that_is_proposed_shows_the_fault_of_the_other(
    here: Runner, code: str, backend: str, rule: str
) -> None:
    (found,) = of(recorded(here, code, CompileOptions(backend=backend)), rule)
    assert found.proposal is not None
    after = recorded(here, code, CompileOptions(**found.proposal.compile))
    compared = results(after)
    assert compared is not None
    assert (of(after, rule), compared.outcome) == ([], "same")


@pytest.mark.parametrize("code", ASKING.values(), ids=ASKING)
def test_a_question_that_only_reports_leaves_the_results_equal(here: Runner, code: str) -> None:
    computes, reports = (recorded(here, code.format(line)) for line in ("x = x.abs()", "torch._assert(True, '')"))
    assert [finding.weight for finding in of(computes, "asks whether it is compiled")] == ["wrong"]
    assert [finding.weight for finding in of(reports, "asks whether it is compiled")] == ["note"]
    assert (len(of(computes, "results differ")), len(of(reports, "results differ"))) == (1, 0)


@pytest.mark.parametrize(("code", "names"), DEPRECATED.items(), ids=["feed forward", "graph network"])
def test_a_line_that_calls_something_deprecated_is_gone_with_the_name_that_it_asks_for(
    here: Runner, code: str, names: tuple[str, str]
) -> None:
    printed = []
    for name in names:
        job = CompileJob(Model("code", HEAD + code.format(name)), measure=False, compile=EAGER)
        run = here.wait(here.submit(job))
        found = [item for item in findings(open_report(run), run.output_tail()) if item.rule == "printed"]
        printed.append([names[1] in item.title for item in found])
    assert printed == [[True], []]


RANDOM = {
    "encoder in training": "model, training = nn.TransformerEncoderLayer(8, 2, 16), True\ninputs = (R(3, 2, 8),)\n",
    "graph network": NETWORKS["graph network"].replace("= torch.relu(", "= nn.functional.dropout(")
    + "training = True\n",
}


@pytest.mark.long
@pytest.mark.parametrize("code", RANDOM.values(), ids=RANDOM)
def test_the_option_that_is_proposed_makes_random_results_comparable(here: Runner, code: str) -> None:
    (drawn,) = of(recorded(here, code, CompileOptions()), "random numbers")
    assert drawn.proposal is not None
    options = {name: value for name, value in drawn.proposal.compile.items() if value is not None}
    after = recorded(here, code, CompileOptions(**options))
    compared = results(after)
    assert compared is not None
    assert (of(after, "random numbers"), compared.outcome) == ([], "same")


RESTRIDED = {
    "convolution": (
        "model, inputs = nn.Conv2d(3, 4, 3), (R(2, 3, 6, 6),)\n",
        CompileOptions(options={"keep_output_stride": False}),
    ),
    "shifted windows": (
        "def model(x):\n    return torch.roll(x, (-1, -1), (2, 3))\n"
        "inputs = (R(2, 4, 5, 5).to(memory_format=torch.channels_last),)\n",
        CompileOptions(backend="accelerator"),
    ),
}


@pytest.mark.parametrize(("code", "options"), RESTRIDED.values(), ids=RESTRIDED)
def test_a_result_with_other_strides_takes_reshape_and_gets_the_strides_of_a_memory_format(
    here: Runner, code: str, options: CompileOptions
) -> None:
    (restrided,) = of(recorded(here, code, options), "other strides")
    assert "`.reshape()`" in restrided.advice
    assert ".contiguous()` with the memory format" in restrided.advice


def test_reshape_takes_other_strides_and_the_memory_format_gives_eagers_back() -> None:
    """What is advised for results with other strides, for both directions of a layout."""
    eager = torch.randn(2, 4, 3, 3).to(memory_format=torch.channels_last)
    for compiled in (eager.contiguous(), eager.transpose(2, 3).contiguous().transpose(2, 3)):
        with pytest.raises(RuntimeError, match="view"):
            compiled.permute(0, 2, 3, 1).view(-1, 4)
        torch.testing.assert_close(
            compiled.permute(0, 2, 3, 1).reshape(-1, 4), eager.permute(0, 2, 3, 1).reshape(-1, 4)
        )
        assert compiled.contiguous(memory_format=torch.channels_last).stride() == eager.stride()
