"""The backends of torch 2.13 as a run of each told them: which run here, where each stops, why the others cannot."""

import pytest

from core import CompileJob, Environment, Model, new_sweep
from core.sweep.presets import PRESETS, BackendFact, Question, answer
from core.sweep.presets.modes import BACKENDS_ABOUT
from core.sweep.store import SweepRow

DYNAMO, AOT = ("dynamo_output_graph",), ("dynamo_output_graph", "aot_inference_graph")
INDUCTOR = (*AOT, "before_post_grad_graph", "inductor_post_grad_graph")
# What ran `x.sin() + 1`: the stages of which its log held a graph.
RAN = {
    "aot_eager": AOT,
    "aot_eager_decomp_partition": AOT,
    "aot_eager_decomp_partition_crossref": AOT,
    "aot_eager_default_partitioner": AOT,
    "cudagraphs": AOT,
    "eager": DYNAMO,
    "eager_debug": DYNAMO,
    "eager_noexcept": DYNAMO,
    "inductor": INDUCTOR,
    "invoke_subgraph": AOT,
    "pre_dispatch_eager": DYNAMO,
    "non_leaf_compile_error_TESTING_ONLY": DYNAMO,
    "relu_accuracy_error_TESTING_ONLY": DYNAMO,
    "relu_compile_error_TESTING_ONLY": DYNAMO,
    "relu_runtime_error_TESTING_ONLY": DYNAMO,
}
XLA = (
    "ImportError: Please follow the instruction in https://github.com/pytorch/xla#pytorchxla to install torch_xla\n\n"
    "Set TORCHDYNAMO_VERBOSE=1 for the internal stack trace (please do this especially if you're reporting a bug)"
)
SCRIPT = 'RuntimeError: \nmethod cannot be used as a value:\n  File "torch/fx/_lazy_graph_module.py", line 120'
# What did not, with what torch said.
FAILED = {
    "aot_eager_decomp_partition_with_mode": "TypeError: missing 1 required positional argument: 'mode'",
    "aot_ts": SCRIPT,
    "dynamo_accuracy_minifier_backend": "TypeError: missing 1 required positional argument: 'compiler_name'",
    "dynamo_minifier_backend": "TypeError: missing 1 required positional argument: 'compiler_name'",
    "openxla": XLA,
    "openxla_eval": XLA,
    "ts": SCRIPT,
    "tvm": "ImportError: Please install apache-tvm to use the tvm backend.",
}


@pytest.fixture(scope="module")
def facts() -> dict[str, BackendFact]:
    names = tuple(sorted([*RAN, *FAILED]))
    plan = PRESETS["backends"].plan(CompileJob(Model("sample", "mlp")), Environment(backends=names))
    said = "BackendCompilerFailed while call 0: compiled: backend='{}' raised:\n{}"
    rows = tuple(
        SweepRow((name,), name, "done", stages=RAN[name], kernels=int(name == "inductor"), results="same")
        if name in RAN
        else SweepRow((name,), name, "failed", said.format(name, FAILED[name]), stages=DYNAMO)
        for name in names
    )
    found = answer(Question(new_sweep(plan.base, plan.axes, "backends"), rows))
    assert found.sentence == "15 of 23 backends run this model here; 8 cannot; all results are eager's."
    return {fact.name: fact for fact in found.facts if isinstance(fact, BackendFact)}


def test_those_that_run_stop_where_their_log_does(facts: dict[str, BackendFact]) -> None:
    stops = {
        stages: {name for name, fact in facts.items() if fact.runs and RAN[name] == stages}
        for stages in set(RAN.values())
    }
    assert {facts[name].stops for name in stops[DYNAMO]} == {"Dynamo"}
    assert {facts[name].stops for name in stops[AOT]} == {"AOTAutograd"}
    assert {name: facts[name].stops for name in stops[INDUCTOR]} == {"inductor": "code generation"}


def test_those_that_cannot_run_say_why_in_torchs_words_and_no_more(facts: dict[str, BackendFact]) -> None:
    assert {name: fact.reason for name, fact in facts.items() if not fact.runs} == {
        **FAILED,
        "aot_ts": "RuntimeError: method cannot be used as a value",
        "ts": "RuntimeError: method cannot be used as a value",
        "openxla": XLA.partition("\n")[0],
        "openxla_eval": XLA.partition("\n")[0],
    }


def test_the_effect_of_every_backend_that_torch_ships_is_described(facts: dict[str, BackendFact]) -> None:
    assert set(BACKENDS_ABOUT) - {"accelerator"} == set(facts), "each shipped backend has its words"
    assert {name for name, fact in facts.items() if "not for direct use" in fact.does} == {
        "aot_eager_decomp_partition_with_mode",
        "dynamo_accuracy_minifier_backend",
        "dynamo_minifier_backend",
    }
