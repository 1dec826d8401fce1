r"""Two parameters of a while loop are rows of one tensor, and share its memory.

Source: https://github.com/pytorch/executorch/issues/8769
Finds: not compiled: failed or graph breaks
Cause: alias
Cure: parameter.*clone|clone.*parameter|separate
Expects: graphs 1
"""

import torch
from torch._higher_order_ops import while_loop


class Recurrence(torch.nn.Module):
    def __init__(self):
        super().__init__()
        both = torch.randn(2, 4)
        self.real = torch.nn.Parameter(both[0])
        self.imaginary = torch.nn.Parameter(both[1])

    def forward(self, state):
        def under(step, state):
            return step < 3

        def turn(step, state):
            return step + 1, state * self.real + self.imaginary

        return while_loop(under, turn, (torch.tensor(0), state))[1]


model, inputs = Recurrence().requires_grad_(False), (torch.ones(4),)

# Cured


class Separate(Recurrence):
    def __init__(self):
        super().__init__()
        self.real = torch.nn.Parameter(self.real.detach().clone())
        self.imaginary = torch.nn.Parameter(self.imaginary.detach().clone())


torch.manual_seed(0)
model = Separate().requires_grad_(False)
