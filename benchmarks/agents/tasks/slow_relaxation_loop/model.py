"""Heat flow on a grid; the residual of some steps is noted for a chart."""

import torch


class Trace:
    """Residuals by step."""

    def __init__(self) -> None:
        self.points = []

    def add(self, step: int, residual: float) -> None:
        self.points.append((step, residual))


def neighbours(grid):
    up, down = torch.roll(grid, 1, 0), torch.roll(grid, -1, 0)
    left, right = torch.roll(grid, 1, 1), torch.roll(grid, -1, 1)
    return (up + down + left + right) / 4


@torch.compile
def relax(grid, source, trace, steps: int):
    for step in range(steps):
        new = 0.9 * neighbours(grid) + 0.1 * torch.tanh(grid) + source
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
