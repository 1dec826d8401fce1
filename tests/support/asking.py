"""Tools that are asked for real, of a kernel of a run or of one that no run has generated."""

import time
from typing import Any

from core import CompileJob, Model, Run, Runner, open_report
from core.report import Kernel
from core.runs.engine.queues import Assignment
from core.runs.tools.tasks import Request, Task, create, result, tool_run

MODEL = """
import torch
def model(x, weight):
    return torch.softmax(x @ weight, dim=-1) * torch.erf(x).sum()
inputs = (torch.randn(32, 48), torch.randn(48, 48))
"""
WAIT_S = 240.0
MATMUL = """
import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.hints import DeviceProperties
triton_helpers.set_driver_to_gpu()

@triton_heuristics.template(
    num_stages=5, num_warps=8,
    triton_meta={'signature': {'a': '*fp16', 'b': '*fp16', 'c': '*fp16', 'n': 'i32'}, 'device': DeviceProperties(type='cuda', index=0, multi_processor_count=132, cc=90, major=9, regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, max_threads_per_block=1024, warp_size=32), 'constants': {}, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]], (3,): [['tt.divisibility', 16]]}]},
    inductor_meta={'kernel_name': 'matmul', 'grid_type': 'FixedGrid'},
)
@triton.jit
def matmul(a, b, c, n):
    rows = tl.arange(0, 128)[:, None]
    inner = tl.arange(0, 64)
    columns = tl.arange(0, 128)[None, :]
    total = tl.zeros((128, 128), tl.float32)
    for k in range(0, n, 64):
        left = tl.load(a + rows * n + (inner + k)[None, :])
        right = tl.load(b + (inner + k)[:, None] * n + columns)
        total += tl.dot(left, right)
    tl.store(c + rows * 128 + columns, total.to(tl.float16))
"""  # noqa: E501


def ran(runner: Runner, **fields: Any) -> Run:
    run = runner.wait(runner.submit(CompileJob(Model("code", MODEL), measure=False, time_limit_s=120.0, **fields)))
    assert run.status().state == "done", run.output_tail()
    return run


def kernels(run: Run) -> list[Kernel]:
    return [
        kernel for compilation in open_report(run).compilations for kernel in compilation.kernels if not kernel.extern
    ]


def answered(run: Run, request: Request) -> Any:
    """The answer once it is there."""
    deadline = time.monotonic() + WAIT_S
    while (found := result(run, request)) is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def ask(tools: Runner, run: Run, request: Request) -> Any:
    tools.start_tool(run, request)
    return answered(run, request)


def ask_of(tools: Runner, run: Run, request: Request, source: str, name: str, **fields: Any) -> Any:
    """Ask about a kernel that no run has generated."""
    definition = f"{name} = async_compile.triton({name!r}, {source!r}, device_str='cuda')"
    assert create(run, Task(request, name, definition, **fields))
    tools.engine.start(Assignment(tool_run(run, request)), lambda: None)
    return answered(run, request)
