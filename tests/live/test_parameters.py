"""Every parameter of torch.compile is an option of a job, and parameters and options have torch's effect."""

from inspect import signature

import pytest
import torch

from core import CompileOptions, Conditions, Run, load_text, open_report
from core.job.model import PARAMETERS, OptionValue
from core.worker.backends.selection import NEWER, RENAMED
from tests.support.user_code import INPUTS, RunCode

pytestmark = pytest.mark.torch
SIZES = ("f32[2]", "f32[3]", "f32[4]", "f32[5]")
CODE = f"import torch\ndef model(x):\n    return x.sin() + 1{INPUTS}"
OLD_NAMES = {new: old for old, new in RENAMED.items()}
OFFERED = frozenset(OLD_NAMES.get(name, name) for name in signature(torch.compile).parameters) - {"model"}
BRANCHES = f"""
import torch
def model(x):
    y = torch.rand_like(x).sin()
    return (y.sum() + (x * 2).relu().sum().item()) * x{INPUTS}
"""
SPEC = """
import torch
from torch.fx.experimental.dynamic_spec import ShapeVar, TensorSpec
SPEC = {"x": TensorSpec([ShapeVar("rows"), None])}
def model(x):
    return x.sin() + 1
inputs = (torch.randn(4, 8),)
"""


def test_the_parameters_of_a_job_are_those_of_torchs_signature() -> None:
    assert set(PARAMETERS) >= OFFERED
    assert set(PARAMETERS) - OFFERED <= set(NEWER)


def test_a_disabled_compile_runs_eagerly(run_code: RunCode) -> None:
    report = open_report(run_code(CODE, compile=CompileOptions(disable=True)))
    assert [(call.how, call.compilations) for call in report.calls] == [("eager", 0)]


@pytest.mark.skipif("recompile_limit" not in OFFERED, reason="this torch has no such parameter")
def test_the_limit_of_a_call_is_the_number_of_its_compilations(run_code: RunCode) -> None:
    options = CompileOptions(backend="eager", dynamic=False, recompile_limit=2, isolate_recompiles=True, name="region")
    report = open_report(run_code(CODE, compile=options, calls=SIZES))
    assert [call.compilations for call in report.calls] == [1, 1, 0, 0]


@pytest.mark.skipif("recompile_limit" in OFFERED, reason="this torch has the parameter")
def test_a_parameter_that_this_torch_lacks_is_refused_by_its_name(run_code: RunCode) -> None:
    run = run_code(CODE, compile=CompileOptions(backend="eager", recompile_limit=2))
    assert run.status().state == "failed"
    assert "has no parameter `recompile_limit`" in str(open_report(run).error)


@pytest.mark.skipif("shapes_spec" not in OFFERED, reason="this torch has no such parameter")
def test_a_shapes_spec_of_the_file_makes_its_dimension_dynamic_in_the_first_compilation(run_code: RunCode) -> None:
    report = open_report(run_code(SPEC, compile=CompileOptions(backend="eager", shapes_spec="SPEC")))
    assert len(report.compilations[0].symbols) == 1
    missing = run_code(SPEC, compile=CompileOptions(backend="eager", shapes_spec="OTHER"))
    assert "defines no `OTHER`" in str(open_report(missing).error)


def test_eight_options_have_their_effect(run_code: RunCode) -> None:
    code = BRANCHES.replace(INPUTS, "\ninputs = (torch.randn(64),)\n")
    inductor: dict[str, OptionValue] = {
        "size_asserts": False,
        "nan_asserts": True,
        "cpp.simdlen": 1,
        "fallback_random": True,
        "max_fusion_size": 1,
        "cpp.descriptive_names": False,
    }
    dynamo: dict[str, OptionValue] = {"capture_scalar_outputs": True, "assume_static_by_default": False}
    options = CompileOptions(options=inductor)
    plain, changed = run_code(code), run_code(code, compile=options, conditions=Conditions(dynamo=dynamo))
    before, after = effects(plain), effects(changed)
    assert before == {
        "asserts sizes": True,
        "asserts NaN": False,
        "vectorized": True,
        "random numbers by torch": False,
        "fused": True,
        "named by its ops": True,
        "breaks at item": True,
        "static": True,
    }
    assert after == {effect: not here for effect, here in before.items()}


def effects(run: Run) -> dict[str, bool]:
    report = open_report(run)
    kernels = [kernel for compilation in report.compilations for kernel in compilation.kernels]
    schedules = [schedule for compilation in report.compilations for schedule in compilation.schedules]
    log = run.log_path()
    assert log is not None
    code = "".join(load_text(log, payload) for payload in {kernel.output_code for kernel in kernels})
    return {
        "asserts sizes": "assert_size_stride(arg" in code,
        "asserts NaN": "isnan" in code,
        "vectorized": "at::vec::Vectorized" in code,
        "random numbers by torch": "rand_cpu(" not in code,
        "fused": any(len(node.nodes) > 1 for schedule in schedules for node in schedule.after),
        "named by its ops": any("relu" in kernel.name for kernel in kernels),
        "breaks at item": bool(report.graph_breaks),
        "static": not report.compilations[0].symbols,
    }
