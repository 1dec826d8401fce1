"""Recompile zoo

Each call changes one thing that a guard watches, and costs one recompile. With eight compilations of one frame the
recompile limit is reached: from then on new variants run in eager mode.
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

group = "Dynamo"

GLOBAL_OFFSET = 1


class Zoo(nn.Module):
    """Reads a tensor, Python numbers, a list, an attribute and a global."""

    def __init__(self) -> None:
        super().__init__()
        self.mode = "sin"

    def forward(self, x: Tensor, power: int, scale: float, extras: list[Tensor]) -> Tensor:
        y = x.sin() if self.mode == "sin" else x.cos()
        y = y * power + scale + GLOBAL_OFFSET
        for extra in extras:
            y = y + extra
        return y


model = Zoo()
x, extra = torch.randn(12, 16), torch.randn(16)
x64 = x.double()
x64_grad = x64.clone().requires_grad_()


def calls() -> Iterator[tuple[Tensor, int, float, list[Tensor]]]:
    global GLOBAL_OFFSET
    model.mode, GLOBAL_OFFSET = "sin", 1
    yield x[:8], 2, 0.5, [extra]
    yield x, 2, 0.5, [extra]  # batch size
    yield x, 3, 0.5, [extra]  # Python int
    yield x, 3, 0.75, [extra]  # Python float
    yield x64, 3, 0.75, [extra]  # dtype
    yield x64_grad, 3, 0.75, [extra]  # requires_grad
    yield x64_grad, 3, 0.75, [extra, extra]  # list length
    model.mode = "cos"
    yield x64_grad, 3, 0.75, [extra, extra]  # module attribute
    GLOBAL_OFFSET = 2
    yield x64_grad, 3, 0.75, [extra, extra]  # global: the ninth variant, one more than the recompile limit
