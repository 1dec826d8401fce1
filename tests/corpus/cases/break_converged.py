"""A fixed-point layer stops when its state does not change any more.

Source: https://github.com/pytorch/pytorch/issues/145970
Finds: graph breaks at line 25
Cause: allclose|data.dependent|non-Tensor|value
Cure: where|fixed number|cond|while_loop|custom op|outside
Expects: breaks 0
"""

import torch


class FixedPoint(torch.nn.Module):
    steps = 24

    def __init__(self, width):
        super().__init__()
        generator = torch.Generator().manual_seed(3)
        self.weight = torch.nn.Parameter(0.1 * torch.randn(width, width, generator=generator))

    def forward(self, inputs):
        state = torch.zeros_like(inputs)
        for _ in range(self.steps):
            following = torch.tanh(state @ self.weight + inputs)
            if torch.allclose(following, state, atol=1e-7):
                break
            state = following
        return state


model = FixedPoint(4)
inputs = (torch.linspace(-1, 1, 8).reshape(2, 4),)


# Cured
class Unconditional(FixedPoint):
    def forward(self, inputs):
        state = torch.zeros_like(inputs)
        for _ in range(self.steps):
            state = torch.tanh(state @ self.weight + inputs)
        return state


model = Unconditional(4)
