"""Code generated for accelerators that are not here: every kernel to machine code, training and attention as torch
would there.
"""

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from core import (
    TARGETS,
    CompileJob,
    JobError,
    LocalEngine,
    Model,
    Report,
    Runner,
    Store,
    job_from_json,
    job_to_json,
    open_report,
)
from core.analysis.verdict import target_words
from core.code.stages import residency
from core.job import CompileOptions, fingerprint, validated
from core.report import Binary, Kernel
from core.views.verdict import ended_words
from tests.support.homes import CACHE
from tests.support.places import ROOT
from tests.support.sample import one_in

# The samples that take ways of their own; `python -m benchmarks.targets` generates all of them.
SAMPLES = ("transformer_block", "training_step", "graph_break_zoo", "small_resnet", "dynamic_batch", "flex_attention")
GENERATED = ("a100", "h100", "mi300x")
ATTENTION = """
import torch

model = lambda q, k, v: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
inputs = tuple(torch.randn(2, 4, 64, 64) for _ in range(3))
"""
ASKING = """
import torch

assert not torch.cuda.is_available()


def model(x):
    if torch.cuda.is_available():
        x = x + 1
    with torch.autocast(x.device.type, dtype=torch.bfloat16):
        y = x @ x
    return y + torch.arange(64, device=x.device)


inputs = (torch.randn(64, 64),)
"""
WITHOUT_CPU_CODE = """
import torch


def model(x):
    return torch.histc((x.sin() * 8).long(), bins=4) + 1


calls = [(torch.randn(64),), (torch.randn(96),)]
"""
KERNELS = """
import json
from pathlib import Path
from core.worker.cross_compilation.device import compiling_for, pretend
from core.worker.cross_compilation.device import load_shim, set_guard
import sys
shim = load_shim(Path(sys.argv[1]))
pretend("cuda")
set_guard(shim, "cuda")
from core.job.targets import TARGETS
from core.code.output_code import Definition
from core.worker.cross_compilation.kernels import compiled_kernels
with compiling_for(TARGETS["h100"]):
    texts = ["raise ValueError('no such kernel')", "import os; os.kill(os.getpid(), 11)"]
    kernels = [Definition("k", "triton", ("k", text)) for text in texts]
    print(json.dumps([outcome.error for outcome in compiled_kernels(kernels)]))
"""

pytestmark = pytest.mark.xdist_group("targets")
torch_test = pytest.mark.torch
Sampled = Callable[[str, str], Report]


def compiled(report: Report) -> list[tuple[Kernel, Binary]]:
    """The kernels that were compiled to machine code."""
    kernels = (kernel for compilation in report.compilations for kernel in compilation.kernels)
    return [(kernel, kernel.binary) for kernel in kernels if kernel.binary]


@pytest.fixture(scope="module")
def runner(engine: LocalEngine, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """One store for all runs of this file."""
    return Runner(Store(tmp_path_factory.mktemp("targets")), engine)


@pytest.fixture(scope="module")
def sampled(runner: Runner) -> Sampled:
    """Generates a sample's code for a target, once for all tests of this file."""
    return cache(lambda name, target: generated(runner, Model("sample", name), target))


def generated(runner: Runner, model: Model, target: str, **fields: object) -> Report:
    run = runner.wait(runner.submit(CompileJob(model, target=target, **fields)))  # type: ignore[arg-type]
    report = open_report(run)
    assert (run.status().state, report.error, report.problems) == ("done", None, ())
    return report


@torch_test
@pytest.mark.parametrize("target", GENERATED)
@pytest.mark.parametrize("name", one_in(6, SAMPLES))
def test_every_kernel_of_a_sample_is_compiled_to_machine_code(sampled: Sampled, name: str, target: str) -> None:
    report = sampled(name, target)
    found = compiled(report)
    kernels = [kernel for compilation in report.compilations for kernel in compilation.kernels]
    triton = {kernel.name for kernel in kernels if kernel.language == "triton"}
    last = "hsaco" if target == "mi300x" else "cubin"
    assert {kernel.name for kernel, _ in found} == triton != set()
    assert [(kernel.name, binary.error) for kernel, binary in found if binary.error] == []
    configs = [(kernel.name, config) for kernel, binary in found for config in binary.configs]
    assert [(name, config.error) for name, config in configs if config.error or not config.sizes.get(last)] == []
    assert all(config.registers and config.compile_s > 0 for _, config in configs)


@torch_test
def test_the_run_says_that_its_code_was_not_run_and_the_calls_that_they_ran_eagerly(sampled: Sampled) -> None:
    report = sampled("transformer_block", "h100")
    assert target_words(report) == "generated for NVIDIA H100, which is not present; not run"
    assert report.timing is None
    assert [(call.compiled_s, call.differences, (call.eager_s or 0) > 0) for call in report.calls] == [(None, (), True)]
    stages = {graph.stage for compilation in report.compilations for graph in compilation.graphs}
    assert stages >= {"dynamo_output_graph", "aot_inference_graph", "inductor_post_grad_graph"}
    plans = [plan for compilation in report.compilations for plan in compilation.schedules]
    assert {node.device for plan in plans for node in plan.after} == {"cuda:0"}


@torch_test
def test_training_generates_forward_and_backward_at_once(sampled: Sampled) -> None:
    report = sampled("training_step", "h100")
    assert {kernel.direction for kernel, _ in compiled(report)} == {"forward", "backward"}


@torch_test
@pytest.mark.parametrize(
    ("target", "dtype", "chosen"),
    [
        ("h100", "bfloat16", "cudnn"),
        ("a100", "float16", "flash"),
        ("mi300x", "bfloat16", "flash"),
        ("l4", None, "efficient"),
        ("a100", "float64", "math"),
    ],
)
def test_attention_is_chosen_by_torchs_rules_for_the_target(
    runner: Runner, target: str, dtype: str | None, chosen: str
) -> None:
    report = generated(runner, Model("code", ATTENTION), target, dtype=dtype)
    (choice,) = [choice for compilation in report.compilations for choice in compilation.target_choices]
    assert (choice.about, choice.chosen) == ("scaled_dot_product_attention", chosen)
    assert choice.reason.startswith(f"by torch's rules for {TARGETS[target].words}")


@torch_test
def test_code_asks_for_a_gpu_in_vain_while_it_runs_and_has_one_while_it_is_compiled(runner: Runner) -> None:
    report = generated(runner, Model("code", ASKING), "h100")
    (compilation,) = report.compilations
    sources = {name for plan in compilation.schedules for node in plan.before for name in node.origins}
    assert {"add", "mm"} <= sources
    assert {kernel.name for kernel in compilation.kernels if kernel.extern} == {"extern_kernels.mm"}


@torch_test
def test_what_the_cpu_has_no_code_for_ends_the_call_and_the_code_is_generated(runner: Runner) -> None:
    report = generated(runner, Model("code", WITHOUT_CPU_CODE), "h100")
    reason = "\"histogram_cpu\" not implemented for 'Long'"
    assert [(call.eager_s, call.ended) for call in report.calls] == [(None, reason)] * 2
    kernels = [compilation.kernels for compilation in report.compilations]
    assert [sum(kernel.binary is not None for kernel in each) for each in kernels] == [2, 2]
    assert ended_words(report).startswith(f"2 calls, the first of them 0, could not finish on the CPU: {reason}.")


@torch_test
def test_what_needs_timing_is_said_to(runner: Runner) -> None:
    options = CompileOptions(options={"max_autotune": True, "max_autotune_gemm_backends": "TRITON"})
    report = generated(runner, Model("sample", "matmul_relu_softmax"), "h100", compile=options)
    choices = [choice for compilation in report.compilations for choice in compilation.target_choices]
    assert [choice.about for choice in choices] == ["autotuning of mm"]
    assert choices[0].chosen == choices[0].among[0]
    assert "needs timing" in choices[0].reason
    undecided = [binary for _, binary in compiled(report) if len(binary.configs) > 1]
    assert all(config.chosen is None for binary in undecided for config in binary.configs)


@torch_test
def test_registers_spills_and_shared_memory_are_those_of_ptxas(sampled: Sampled) -> None:
    report = sampled("transformer_block", "h100")
    for config in (config for _, binary in compiled(report) for config in binary.configs):
        folder = CACHE / "triton" / base64.b32encode(bytes.fromhex(config.hash)).decode().rstrip("=")
        ptx = next(folder.glob("*.ptx"))
        told = ptxas(ptx)
        used, spilled = re.search(r"Used (\d+) registers", told), re.search(r"(\d+) bytes spill stores", told)
        assert used is not None
        assert spilled is not None
        metadata = json.loads(ptx.with_suffix(".json").read_text())
        assert (config.registers, config.spill_bytes) == (int(used.group(1)), int(spilled.group(1)))
        assert config.shared_bytes == metadata["shared"]


def ptxas(ptx: Path) -> str:
    code = "from triton.backends.nvidia.compiler import get_ptxas; print(get_ptxas(90).path)"
    tool = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    command = [tool, "-v", "--gpu-name=sm_90a", str(ptx), "-o", os.devnull]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr


@pytest.mark.long
@torch_test
def test_a_kernel_that_fails_or_ends_its_compiler_costs_itself_alone() -> None:
    command = [sys.executable, "-c", KERNELS, str(CACHE)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert json.loads(done.stdout) == ["ValueError: no such kernel", "Triton was ended by SIGSEGV"]


@torch_test
def test_without_a_compiler_the_run_says_that_it_needs_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    store = Store(tmp_path)
    engine = LocalEngine(store.cache_dir)
    try:
        runner = Runner(store, engine)
        run = runner.wait(runner.submit(CompileJob(Model("sample", "sin_cos"), target="h100")))
    finally:
        engine.close()
    assert run.status().state == "crashed"
    assert "needs a C++ compiler" in run.status().reason


def test_the_target_is_part_of_a_job_its_title_and_its_fingerprint() -> None:
    job = CompileJob(Model("sample", "sin_cos"), target="h100")
    assert job_from_json(job_to_json(job)) == job
    assert job.differences() == ("for NVIDIA H100",)
    assert fingerprint(job, "", "") != fingerprint(CompileJob(Model("sample", "sin_cos")), "", "")


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"target": "h101"}, "target"),
        ({"target": "h100", "device": "cuda"}, "device"),
        ({"target": "h100", "compile": CompileOptions(backend="eager")}, "compile.backend"),
    ],
)
def test_a_job_for_a_target_is_validated(fields: dict[str, object], wrong: str) -> None:
    with pytest.raises(JobError) as error:
        validated(CompileJob(Model("sample", "sin_cos"), **fields))  # type: ignore[arg-type]
    assert error.value.field == wrong


@pytest.mark.parametrize("key", TARGETS)
def test_every_target_names_its_sources(key: str) -> None:
    target = TARGETS[key]
    assert target.key == key
    assert "https://" in target.source
    assert "https://" in target.architecture.source
    assert set(target.peak_flops) >= {"float32", "tfloat32", "bfloat16", "float16"}


@pytest.mark.parametrize(
    ("key", "warps", "registers", "shared_bytes", "expected"),
    [
        ("h100", 4, 32, 0, (16, 64, "warps")),
        ("h100", 4, 128, 0, (4, 16, "registers")),
        ("h100", 4, 32, 100 * 1024, (2, 8, "shared memory")),
        ("h100", 1, 16, 0, (32, 32, "blocks")),
        ("l4", 8, 40, 0, (6, 48, "warps")),
        ("mi300x", 4, 64, 0, (8, 32, "warps")),
        ("mi300x", 4, 128, 0, (4, 16, "registers")),
        ("mi300x", 4, 32, 32 * 1024, (2, 8, "shared memory")),
    ],
)
def test_residency_is_what_the_scarcest_resource_leaves(
    key: str, warps: int, registers: int, shared_bytes: int, expected: tuple[int, int, str]
) -> None:
    found = residency(TARGETS[key].architecture, warps, registers, shared_bytes)
    assert (found.blocks, found.warps, found.limit) == expected
