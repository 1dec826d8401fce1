"""Triton kernels of the user's own where no GPU is: the interpreter runs them, and a target compiles them."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from core import CompileJob, LocalEngine, Model, Report, Runner, Store, open_report
from core.worker.triton import NothingToLaunch, TargetDriver
from tests.support.places import ROOT

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("targets")]

HELPER = """
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * 3, mask=mask)
"""
KERNELS = """
import torch
import triton
import triton.language as tl
from helper_kernels import scale_kernel


@triton.jit
def square(x):
    return x * x


@triton.autotune(configs=[triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 256})], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % 2 == 0})
@triton.jit
def square_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    before = tl.load(out_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, before + square(tl.load(x_ptr + offsets, mask=mask)), mask=mask)


@torch.library.triton_op("tests_user_kernels::scaled", mutates_args={})
def scaled(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    torch.library.wrap_triton(scale_kernel)[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


def plain(x):
    return (x.sin() ** 2) * 3 + table


DEVICE = triton.runtime.driver.active.get_active_torch_device()
table = torch.empty(1000, device=DEVICE)
scale_kernel[(4,)](torch.ones(1000, device=DEVICE), table, 1000, BLOCK=256)
assert (table == 3).all()


def model(x):
    out = torch.zeros_like(x)
    square_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x.sin(), out, x.numel())
    result = scaled(out) + table
    if not torch.compiler.is_compiling():
        assert torch.allclose(result, plain(x))
    return result


inputs = (torch.randn(1000),)
"""
NOTES = {
    "Triton's interpreter ran `scale_kernel`: no GPU is here.",
    "Triton's interpreter ran `square_kernel`: no GPU is here. Of 2 configs it took the first: nothing is timed.",
}


def reported(engine: LocalEngine, folder: Path, target: str) -> Report:
    (folder / "helper_kernels.py").write_text(HELPER)
    path = folder / "kernels.py"
    path.write_text(KERNELS)
    runner = Runner(Store(folder / "home"), engine)
    job = CompileJob(Model("file", str(path)), target=target, measure=False)
    run = runner.wait(runner.submit(job))
    report = open_report(run)
    assert (run.status().state, run.status().reason, report.error, report.problems) == ("done", "", None, ())
    assert set(report.notes) == NOTES
    return report


def test_without_a_gpu_the_interpreter_runs_the_kernels_and_results_are_the_same(
    engine: LocalEngine, tmp_path: Path
) -> None:
    report = reported(engine, tmp_path, "")
    assert [(found.place.line, "no GPU is here" in found.explanation) for found in report.graph_breaks] == [(42, True)]
    (call,) = report.calls
    assert (call.ended, {item.same for item in call.differences}) == ("", {True})


def test_for_a_target_the_kernels_are_compiled_in_one_graph(engine: LocalEngine, tmp_path: Path) -> None:
    report = reported(engine, tmp_path, "h100")
    assert report.graph_breaks == ()
    (compilation,) = report.compilations
    binaries = {kernel.name: kernel.binary for kernel in compilation.kernels if kernel.binary}
    configs = {name: len(binary.configs) for name, binary in binaries.items() if not name.startswith("triton_")}
    assert configs == {"square_kernel_0": 2, "scale_kernel_1": 1}
    assert all(config.sizes["cubin"] and not config.error for b in binaries.values() for config in b.configs)


def test_the_driver_of_a_target_answers_or_says_that_the_device_is_not_here() -> None:
    code = (
        "import json; from core.worker.triton import TargetDriver, gpu_target\n"
        "driver = TargetDriver(lambda: gpu_target('cuda', 90, 32), lambda: {'max_shared_mem': 1})\n"
        "found = [driver.get_current_device(), driver.get_current_stream(0), driver.get_device_capability()]\n"
        "found += [str(driver.get_active_torch_device()), driver.utils.get_device_properties(0)]\n"
        "print(json.dumps([*found, driver.get_benchmarker()(None)]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert json.loads(done.stdout) == [0, 0, [9, 0], "cuda:0", {"max_shared_mem": 1}, [0.0, 0.0, 0.0]]
    driver = TargetDriver(lambda: None, dict)
    requests: tuple[Callable[[], object], ...] = (
        lambda: driver.launcher_cls(None, None),
        lambda: driver.utils.load_binary("k", b"", 0, 0),
    )
    for ask in requests:
        with pytest.raises(NothingToLaunch, match="needs the device itself, and it is not here"):
            ask()
