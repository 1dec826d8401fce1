"""A model exported with a range of sizes, packaged by AOTInductor, and run from Python and from C++."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from core import CompileJob, CompileOptions, Model, Runner, open_report
from core.base.errors import JobError
from core.commands.main import main
from core.job import DynamicDim, Packaging
from core.runs.progress import package_files
from core.worker.aoti.exporting import ExportedModel, export_model
from core.worker.aoti.stage import NO_PROGRAM, RangeTrials, inductor_configs, reason_in

pytestmark = pytest.mark.torch
LAYERS = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU())
ROWS = torch.ones(8, 64)
TO_128 = Packaging((DynamicDim("0.0", 1, 128),))
BRANCHES = """import torch
def model(x):
    if x.sum() > 0:
        return x
    return -x
inputs = (torch.ones(4),)
"""


def job_with(packaging: Packaging, **changes: object) -> CompileJob:
    return CompileJob(Model("sample", "mlp"), aoti=packaging, **changes)  # type: ignore[arg-type]


def test_a_package_has_the_options_of_its_mode_without_cuda_graphs() -> None:
    tuned = {"max_autotune": True, "coordinate_descent_tuning": True}
    with_mode = {
        mode: inductor_configs(job_with(TO_128, compile=CompileOptions(mode=mode)))
        for mode in (None, "reduce-overhead", "max-autotune")
    }
    assert with_mode == {None: {}, "reduce-overhead": {}, "max-autotune": tuned}
    assert inductor_configs(job_with(TO_128, compile=CompileOptions(backend="aot_eager", mode=None))) == {}


def export_to_128() -> ExportedModel:
    made, record = export_model(job_with(TO_128), LAYERS, ((ROWS,), {}), Path("m.py"))
    assert made is not None
    shapes = "{'input': {0: Dim('dim_0_0', min=1, max=128)}}"
    assert record.call == f"torch.export.export(model, args, dynamic_shapes={shapes})"
    assert record.ranges == (str(made.program.range_constraints).strip("{}"),)
    assert record.guards == ("input.size()[0] <= 128", "input.size()[1] == 64")
    assert record.targets == {"aten.linear.default": 1, "aten.relu.default": 1}
    return made


def test_sizes_within_the_range_of_a_dim_run_and_the_next_is_refused_in_torchs_words() -> None:
    made = export_to_128()
    trials = RangeTrials(lambda call: LAYERS(*call[0]), made, LAYERS, None, Path("model.pt2"), "cpu", 0)
    found = {record.size: record for record in trials.records()}
    assert {size: (item.inside, item.inputs, item.program) for size, item in found.items() if size} == {
        1: (True, "f32[1, 64]", ""),
        128: (True, "f32[128, 64]", ""),
        129: (False, "f32[129, 64]", "AssertionError: Guard failed: input.size()[0] <= 128"),
    }
    assert [(found[size].program_same, found[size].package_same) for size in (1, 128)] == [(True, True)] * 2
    assert (found[129].program_same, found[129].skipped) == (None, NO_PROGRAM)


def test_a_function_is_exported_with_its_keyword_arguments_and_a_dim_that_two_inputs_share() -> None:
    def scaled(x: torch.Tensor, *, by: torch.Tensor) -> torch.Tensor:
        return x * by

    shared = job_with(Packaging((DynamicDim("0.0+by.0", 2, 16),)))
    made, record = export_model(shared, scaled, ((torch.ones(8),), {"by": torch.ones(8)}), Path("m.py"))
    assert made is not None
    dim = "{0: Dim('dim_0_0', min=2, max=16)}"
    shapes = f"{{'x': {dim}, 'by': {dim}}}"
    assert record.call == f"torch.export.export(model, args, kwargs, dynamic_shapes={shapes})"
    assert {"x.size()[0] <= 16", "by.size()[0] == x.size()[0]"} <= set(record.guards)


def test_a_dimension_that_no_input_has_is_an_error_of_its_field() -> None:
    with pytest.raises(JobError) as error:
        export_model(job_with(Packaging((DynamicDim("3.0"),))), LAYERS, ((ROWS,), {}), Path("m.py"))
    assert error.value.field == "aoti.dims"


def test_what_torch_export_refuses_is_reported_with_the_users_line_and_the_run_goes_on(runner: Runner) -> None:
    eager = CompileOptions(backend="eager")
    job = CompileJob(Model("code", BRANCHES), compile=eager, measure=False, aoti=Packaging())
    run = runner.wait(runner.submit(job))
    assert run.status().state == "done", run.output_tail()
    (export,) = open_report(run).exports
    assert "data-dependent" in export.problem
    assert [(frame.line, frame.name, frame.text) for frame in export.frames] == [(3, "model", "if x.sum() > 0:")]
    assert package_files(run) == ()


def test_the_reason_is_found_in_what_cpp_prints() -> None:
    checked = "input_handles[0]: dim value is too large at 0, expected to be <= 128, but got: 129"
    failed = "Error: aoti_torch_cpu_addmm_out(buf0) API call failed at /tmp/c.wrapper.cpp, line 855"
    assert reason_in(f"Error: {checked}\n\nrun_func_( handle) API call failed at runner.cpp, line 145\n") == checked
    assert (
        reason_in(f"{failed}\nmat1 and mat2 differ\nException raised from meta\nframe #0: c10")
        == "mat1 and mat2 differ"
    )
    assert reason_in("") == ""


@pytest.mark.package
def test_a_package_equals_eager_from_python_and_from_cpp_and_is_built_by_cmake_as_its_readme_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path / "home"))
    out = tmp_path / "out"
    assert main(["aoti", "mlp", "--dim", "inputs.0.0=1..128", "--out", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    python, cpp = told["package_runs"]
    assert [[item["same"] for item in run["differences"]] for run in (python, cpp)] == [[True], [True]]
    assert cpp["same_bits"] is True
    assert set(told["package_times"][0]["sides"]) == {"eager", "compiled", "python", "c++"}
    trials = {trial["size"]: trial for trial in told["range_trials"]}
    assert [trials[size]["program"] for size in (1, 128)] == ["", ""]
    assert trials[129]["program"] == "AssertionError: Guard failed: input.size()[0] <= 128"
    assert "expected to be <= 128, but got: 129" in trials[129]["checked"]
    files = {"model.pt2", "inputs.bin", "expected.bin", "main.cpp", "CMakeLists.txt", "README.md"}
    assert {path.name for path in out.iterdir()} == files
    commands = "\n".join(line for line in (out / "README.md").read_text().splitlines() if line.startswith("    "))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-ec", commands], cwd=out, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    if "uses CUDA but I cannot find the CUDA" in done.stderr:
        pytest.skip("CMake finds no CUDA toolkit here for this CUDA build of torch")
    assert "output 0 is as expected" in done.stdout, done.stderr
