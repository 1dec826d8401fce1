r"""The function after a graph break is compiled for each value that the line before the break left.

Source: https://github.com/pytorch/pytorch/issues/119186
Finds: recompiles
Cause: leaves another object each time
Cure: remove the graph break
Expects: breaks 0
"""

import torch


class Meter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        y = self.linear(x)
        seen = []
        seen.append(y.detach().mean().item())
        return y * 2 + len(seen)


model, calls = Meter(), [(torch.ones(2, 4) * number,) for number in range(4)]

# Cured


class Meter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        y = self.linear(x)
        seen = []
        seen.append(y.detach().mean())
        return y * 2 + len(seen)


torch.manual_seed(0)
model = Meter()
