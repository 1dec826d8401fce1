"""Control flow in the graph

Branches and loops that depend on data without a graph break: torch.cond keeps both branches in the graph, while_loop
keeps a loop whose number of steps is known only at run time.
"""

import torch
from torch import Tensor
from torch._higher_order_ops.while_loop import while_loop

group = "Advanced"

TOLERANCE, MAX_STEPS = 1e-4, 50


def square_root(x: Tensor) -> Tensor:
    """Return the square root by Newton's iteration, which stops when the worst element is accurate enough."""

    def far(step: Tensor, root: Tensor) -> Tensor:
        return ((root * root - x).abs().amax() > TOLERANCE * x.amax()) & (step < MAX_STEPS)

    def improve(step: Tensor, root: Tensor) -> tuple[Tensor, Tensor]:
        return step + 1, 0.5 * (root + x / root)

    start = torch.zeros((), dtype=torch.int64, device=x.device), torch.ones_like(x)
    root: Tensor = while_loop(far, improve, start)[1]  # type: ignore[no-untyped-call]
    return root


def model(x: Tensor) -> Tensor:
    positive = torch.cond(x.mean() > 0, lambda x: x.abs() + 1.0, lambda x: x.square() + 2.0, (x,))
    return square_root(positive)


calls = [(torch.randn(64, 64) + 1.0,), (torch.randn(64, 64) - 1.0,)]
