"""Adam step

An optimizer step is many small pointwise ops on every parameter. The compiled step reads and writes each tensor once,
in one kernel for all tensors.
"""

import torch
from torch import Tensor, nn

group = "Training"

SHAPES = ((256, 128), (256,), (64, 256), (64,))
RATE, BETA1, BETA2, EPSILON = 1e-2, 0.9, 0.999, 1e-8


class AdamStep(nn.Module):
    """Parameters, their moments, and one Adam step.

    `forward` returns the updates subtracted from the parameters.
    """

    steps: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.weights = nn.ParameterList(torch.randn(shape) for shape in SHAPES)
        self.means = nn.ParameterList(nn.Parameter(torch.zeros(shape), requires_grad=False) for shape in SHAPES)
        self.squares = nn.ParameterList(nn.Parameter(torch.zeros(shape), requires_grad=False) for shape in SHAPES)
        self.register_buffer("steps", torch.zeros(()))

    @torch.no_grad()
    def forward(self, *gradients: Tensor) -> tuple[Tensor, ...]:
        weights, means, squares = list(self.weights), list(self.means), list(self.squares)
        self.steps.add_(1)
        torch._foreach_lerp_(means, gradients, 1 - BETA1)
        torch._foreach_mul_(squares, BETA2)
        torch._foreach_addcmul_(squares, gradients, gradients, value=1 - BETA2)
        roots = torch._foreach_sqrt(torch._foreach_div(squares, 1 - BETA2**self.steps))
        torch._foreach_add_(roots, EPSILON)
        updates = torch._foreach_div(torch._foreach_div(means, roots), (1 - BETA1**self.steps) / RATE)
        torch._foreach_sub_(weights, updates)
        return tuple(updates)


model = AdamStep()
calls = [tuple(torch.randn(shape) for shape in SHAPES) for _ in range(3)]
