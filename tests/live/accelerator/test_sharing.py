"""Work that threads share: the same bytes on any number of them, and none that a forked process does not have."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from core.accelerator.program.program import Opcode, Reduction, StepOp, double_bits
from tests.support.homes import CACHE
from tests.support.places import ROOT

if TYPE_CHECKING:
    import torch

    from tests.support.kernel_calls import Made

pytestmark = pytest.mark.torch
CHILD = """
import os
import torch
from core.accelerator.program.program import StepOp
from tests.support.kernel_calls import called, step

torch.set_num_threads(1)  # torch's own threads do not outlive a fork
x = torch.linspace(-3, 3, 1 << 20)
made = torch.empty_like(x)
called(step(StepOp.GELU, torch.float32), [x], [made], 2)
child = os.fork()
if not child:
    again = torch.empty_like(x)
    called(step(StepOp.GELU, torch.float32), [x], [again], 2)
    os._exit(0 if torch.equal(made, again) else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def large() -> dict[str, tuple[Made, list[torch.Tensor], torch.Tensor]]:
    """Calls of each kernel with so much work that threads share it: the instruction, inputs, torch's result."""
    import torch

    from tests.support.kernel_calls import instruction, product, step

    torch.manual_seed(0)
    a, b, x = torch.randn(301, 299), torch.randn(299, 310), torch.randn(1031, 517)
    row, wide = torch.randn(1, 2048), torch.randn(4096, 2048).t()
    q, k, v = (torch.randn(2, 4, 130, 48) for _ in range(3))
    weights = (q @ k.transpose(-1, -2) / 7).softmax(-1)
    return {
        "product": (product(), [a, b], a @ b),
        "thin product": (product(), [row, wide], row @ wide),
        "elements": (step(StepOp.GELU, torch.float32), [x], torch.nn.functional.gelu(x)),
        "turned elements": (step(StepOp.ADD, torch.float32), [x, x.t().contiguous().t()], x + x),
        "softmax": (instruction(Opcode.SOFTMAX, 0), [x], x.softmax(-1)),
        "norm": (instruction(Opcode.LAYER_NORM, double_bits(1e-5), 1), [x], torch.layer_norm(x, (517,))),
        "sum over rows": (instruction(Opcode.REDUCE, Reduction.SUM, 2), [x], x.sum(1)),
        "sum over columns": (instruction(Opcode.REDUCE, Reduction.SUM, 1), [x], x.sum(0)),
        "attention": (instruction(Opcode.ATTENTION, double_bits(1 / 7), 0), [q, k, v], weights @ v),
    }


def bytes_of(made: Made, inputs: list[torch.Tensor], like: torch.Tensor, threads: int) -> bytes:
    import torch

    from tests.support.kernel_calls import called

    found = torch.empty_like(like)
    called(made, inputs, [found], threads)
    torch.testing.assert_close(found, like, rtol=1e-4, atol=1e-4)
    return bytes(found.numpy().tobytes())


def test_a_kernel_gives_the_same_bytes_on_any_number_of_threads() -> None:
    for name, (made, inputs, wanted) in large().items():
        found = {threads: bytes_of(made, inputs, wanted, threads) for threads in (0, 1, 2, 4, 64)}
        assert len(set(found.values())) == 1, name


def test_threads_that_share_their_work_may_be_called_by_several_at_once() -> None:
    made, inputs, wanted = large()["elements"]
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(lambda at: bytes_of(made, inputs, wanted, 1 + at % 3), range(24)))
    assert len(found) == 1


def test_a_forked_process_starts_threads_of_its_own() -> None:
    import os

    environment = {**os.environ, "COMPILEBOARD_CACHE": str(CACHE)}
    command = [sys.executable, "-W", "ignore", "-c", CHILD]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.stderr) == ("0\n", "")
