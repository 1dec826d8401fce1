"""A custom gated cell runs over a sequence of 60 steps.

Source: https://github.com/pytorch/pytorch/issues/154652
Run: --backend inductor
Finds: unrolled loop
Cause: loop|unroll
Cure: nested_compile_region|cell|body|scan|while_loop|region
Expects: graphs 1
"""

import torch
from torch import nn


class GatedCell(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.from_input = nn.Linear(inputs, 3 * hidden)
        self.from_state = nn.Linear(hidden, 3 * hidden)

    def forward(self, row, state):
        update, reset, candidate = self.from_input(row).chunk(3, -1)
        kept_update, kept_reset, kept_candidate = self.from_state(state).chunk(3, -1)
        update, reset = torch.sigmoid(update + kept_update), torch.sigmoid(reset + kept_reset)
        return update * state + (1 - update) * torch.tanh(candidate + reset * kept_candidate)


class GatedNetwork(nn.Module):
    def __init__(self, inputs=3, hidden=4):
        super().__init__()
        self.hidden = hidden
        self.cell = GatedCell(inputs, hidden)

    def forward(self, sequence):
        state = sequence.new_zeros(sequence.shape[1], self.hidden)
        for row in sequence:
            state = self.cell(row, state)
        return state


torch.manual_seed(0)
model = GatedNetwork().requires_grad_(False)
inputs = (torch.randn(60, 2, 3),)


# Cured
class Regional(GatedCell):
    @torch.compiler.nested_compile_region
    def forward(self, row, state):
        return super().forward(row, state)


model.cell.__class__ = Regional


def confirmed():
    counts = torch._dynamo.utils.get_compilation_metrics()[-1]
    return counts.graph_op_count < 400
