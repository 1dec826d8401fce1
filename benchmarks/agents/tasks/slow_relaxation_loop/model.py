"""A reaction on a grid of cells; the residual of some steps is noted for a chart."""

import torch


class Trace:
    """Residuals by step."""

    def __init__(self) -> None:
        self.points = []

    def add(self, step: int, residual: float) -> None:
        self.points.append((step, residual))


RATES = (0.02, -0.05, 0.11, -0.04, 0.3, -0.12, 0.07, -0.9, 0.25, 0.4, -0.3, 0.05) * 2


def reaction(grid):
    """Return each cell's rate of change, a polynomial of its value."""
    small = grid.clamp(-1.0, 1.0)
    rate = torch.zeros_like(small)
    for factor in RATES:
        rate = rate * small + factor
    return rate - small * small.abs()


@torch.compile
def relax(grid, source, trace, steps: int):
    for step in range(steps):
        new = 0.9 * grid + 0.1 * reaction(grid) + source
        residual = (new - grid).abs().mean()
        if step % 2 == 0:
            print(end="")
            trace.add(step, float(residual))
        grid = new
    return grid


def simulate(grid, source, steps: int = 16):
    """Return the grid after a number of steps, and the trace of residuals."""
    trace = Trace()
    return relax(grid, source, trace, steps), trace
