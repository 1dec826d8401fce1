"""Presets over real runs of a function of two ops: what torch itself says of stances, of shapes and of modes."""

from dataclasses import replace

import pytest

from core import CompileJob, CompileOptions, Model, Runner, SweepRunner, new_sweep, open_report
from core.analysis.repairs.offers import applied_diff
from core.analysis.results import results
from core.job import MODES
from core.sweep.model import applied
from core.sweep.presets import PRESETS, Answer, Question, answer
from core.sweep.presets.changes import CHANGES, in_file
from core.sweep.presets.preset import RungFact, ShapeFact, StanceFact

pytestmark = pytest.mark.torch
CODE = "import torch\ndef model(x):\n    return x.sin() + 1\ninputs = (torch.ones(4, 2),)\n"
LIMIT_S = 600.0


RELU = "import torch\ndef model(x):\n    return torch.relu(x.sin()) + 1\ninputs = (torch.linspace(-3, 3, 64),)\n"
# A pass of the user's own that computes something else.
WRONG_PASS = f"""{RELU}
from torch._inductor import config
from torch._inductor.custom_graph_pass import CustomGraphPass

class Wrong(CustomGraphPass):
    def __call__(self, graph):
        for node in graph.nodes:
            if node.target is torch.ops.aten.relu.default:
                node.target = torch.ops.aten.neg.default
    def uuid(self):
        return None

config.post_grad_custom_post_pass = Wrong()
"""


def asked(runner: Runner, name: str, code: str = CODE, backend: str = "eager") -> Answer:
    """The answer of a preset, by default with the backend eager, which compiles within milliseconds."""
    sweeps, here = SweepRunner(runner), runner.engine.environment()
    base = CompileJob(Model("code", code), compile=CompileOptions(backend=backend), measure=False)
    plan = PRESETS[name].plan(base, here)
    sweep = sweeps.start(new_sweep(plan.base, plan.axes, name))
    sweeps.wait(sweep.id, LIMIT_S)
    return answer(Question(sweep, sweeps.rows(sweeps.store.open(sweep.id)), here))


def test_a_change_counts_only_if_its_generated_code_is_new(runner: Runner) -> None:
    sweeps, here = SweepRunner(runner), runner.engine.environment()
    plan = PRESETS["faster"].plan(CompileJob(Model("code", RELU)), here)
    sweep = sweeps.start(replace(new_sweep(plan.base, plan.axes, "faster"), budget_s=0.0))
    sweeps.wait(sweep.id, LIMIT_S)
    found = sweeps.rows(sweeps.store.open(sweep.id))
    outcomes = answer(Question(sweep, found, here)).columns["what came of it"]
    said = dict(zip((row.at[0] for row in found), outcomes, strict=True))
    same, own = "the default's code: nothing to measure", "code of its own"
    assert {said[name] for name in ("max-autotune", "1x1 convolutions as matmul", "no layout optimization")} == {same}
    assert {said[name] for name in ("cpp wrapper", "modules not inlined")} == {own}
    assert {row.results for row in found} == {"same"}


def test_freezing_computes_what_depends_on_weights_alone_once(runner: Runner) -> None:
    code = """import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = (torch.nn.Parameter(torch.randn(8, 8)) for _ in range(2))
    def forward(self, x):
        return x @ (self.a @ self.b)
model, inputs = Net().eval(), (torch.randn(4, 8),)
"""
    base = CompileJob(Model("code", code), measure=False)
    kernels = []
    for fields in ({}, CHANGES["freezing"].fields):
        report = open_report(runner.wait(runner.submit(applied(base, "variant", fields))))
        kernels.append(sum(len(compilation.kernels) for compilation in report.compilations))
    assert kernels == [2, 1]


def test_a_file_with_a_recipe_written_into_it_runs_unchanged(runner: Runner) -> None:
    base = CompileJob(Model("code", RELU), measure=False)
    fields = in_file(base, {"options.cpp_wrapper": True, "threads": 1})
    run = runner.submit(applied(base, "variant", fields))
    runner.wait(run)
    compared = results(open_report(run))
    assert "+model = torch.compile(model, options={'cpp_wrapper': True})" in applied_diff(RELU, run.job().repairs)  # type: ignore[union-attr]
    assert (run.standing().state, compared and compared.outcome) == ("done", "same")
    assert (run.original_path.read_text(encoding="utf-8"), "torch.set_num_threads(1)" in run.code()) == (RELU, True)


def test_sizes_4_16_7_and_64_compile_as_often_as_torch_says(runner: Runner) -> None:
    counted = {fact.name: fact.compilations for fact in asked(runner, "shapes").facts if isinstance(fact, ShapeFact)}
    assert counted == {"never": 4, "automatic": 2, "always": 1, "mark_dynamic": 1}


def test_the_same_calls_in_each_stance_become_what_torch_says(runner: Runner) -> None:
    facts = [fact for fact in asked(runner, "stances").facts if isinstance(fact, StanceFact)]
    assert {fact.name: (fact.compilations, fact.how) for fact in facts} == {
        "default": ((1, 2, 2), ("compiled", "compiled", "reused")),
        "force_eager": ((0, 0, 0), ("eager", "eager", "eager")),
        "eager_on_recompile after the first call": ((1, 1, 1), ("compiled", "eager", "eager")),
        "fail_on_recompile after the first call": ((1, 1, 1), ("compiled", "raised", "raised")),
        "eager_then_compile": ((0, 1, 1), ("eager", "compiled", "reused")),
        "aot_eager_then_compile": ((1, 2, 2), ("compiled", "compiled", "reused")),
        "force_backend=eager": ((1, 2, 2), ("compiled", "compiled", "reused")),
    }


def test_the_modes_that_are_offered_are_those_that_torch_lists_with_what_each_sets(runner: Runner) -> None:
    here = runner.engine.environment()
    assert set(here.modes) == set(MODES)
    assert here.modes["reduce-overhead"] == {"triton.cudagraphs": True}
    assert [entry.name for entry in here.entries] == list(here.backends)
    tags = {entry.name: entry.tags for entry in here.entries}
    assert (tags["eager"], tags["inductor"]) == (("debug",), ())
    places = {entry.name: entry.place.partition(":")[0] for entry in here.entries}
    assert places["eager"] == "torch/_dynamo/backends/debugging.py"


@pytest.mark.parametrize(
    ("code", "backend", "outcome"),
    [
        (RELU, "relu_compile_error_TESTING_ONLY", "ReluCompileError"),
        (RELU, "relu_runtime_error_TESTING_ONLY", "ReluRuntimeError"),
        (RELU, "relu_accuracy_error_TESTING_ONLY", "differs"),
        (WRONG_PASS, "inductor", "differs"),
    ],
)
def test_the_ladder_names_the_first_rung_that_fails_or_differs(
    runner: Runner, code: str, backend: str, outcome: str
) -> None:
    found = asked(runner, "ladder", code, backend)
    facts = [fact for fact in found.facts if isinstance(fact, RungFact)]
    assert [(fact.name, fact.bad) for fact in facts] == [
        ("eager", False),
        ("aot_eager", False),
        ("aot_eager_decomp_partition", False),
        (backend, True),
    ]
    assert outcome in facts[-1].outcome
    assert found.sentence.startswith(f"`{backend}` is the first rung that ")


@pytest.mark.long
def test_a_mitigation_that_works_is_named(runner: Runner) -> None:
    code = "import torch\ndef model(x):\n    return torch.rand_like(x) + x\ninputs = (torch.randn(64),)\n"
    found = asked(runner, "mitigations", code, "inductor")
    assert found.sentence.endswith("it gives eager's results with fallback_random and aot_eager.")
