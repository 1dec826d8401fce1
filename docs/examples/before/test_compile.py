"""Tests of a library as they are written without Compileboard: torch's switches and counters, set by hand."""

import gc

import pytest
import torch
from denoiser import INPUT, RESOLUTIONS, Denoiser, at
from torch._dynamo.utils import counters


def test_no_recompile_over_resolutions() -> None:
    torch.compiler.reset()
    model = torch.compile(Denoiser(), dynamic=True)
    with torch.no_grad(), torch._dynamo.config.patch(error_on_recompile=True):
        for size in RESOLUTIONS:
            model(at(size))


def test_no_graph_break() -> None:
    torch.compiler.reset()
    counters.clear()
    model = torch.compile(Denoiser())
    with torch.no_grad():
        model(INPUT)
    assert counters["frames"]["ok"] == counters["frames"]["total"] == 1
    assert dict(counters["graph_break"]) == {}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="only the CUDA allocator counts")
def test_memory() -> None:
    torch.compiler.reset()
    model, image = torch.compile(Denoiser().cuda()), INPUT.cuda()
    with torch.no_grad():
        model(image)
        gc.collect()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        model(image)
        torch.cuda.synchronize()
    assert torch.cuda.max_memory_allocated() - before <= 300_000
