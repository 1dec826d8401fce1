"""The same tests with Compileboard: a failure names torch's reason, the line, and the run to open."""

import pytest
import torch
from denoiser import INPUT, RESOLUTIONS, Denoiser, at


@pytest.mark.compileboard(recompiles=0)
@torch.no_grad()
def test_no_recompile_over_resolutions() -> None:
    model = torch.compile(Denoiser(), dynamic=True)
    for size in RESOLUTIONS:
        model(at(size))


@pytest.mark.compileboard(no_graph_breaks=True)
@torch.no_grad()
def test_no_graph_break() -> None:
    torch.compile(Denoiser())(INPUT)


@pytest.mark.compileboard(planned_bytes=300_000)
@torch.no_grad()
def test_memory() -> None:
    torch.compile(Denoiser())(INPUT)
