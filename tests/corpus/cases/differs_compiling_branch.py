"""The code doubles its result only where torch does not compile.

Source: https://github.com/pytorch/pytorch/issues/173452
Finds: asks whether it is compiled
Cause: branches on being compiled
Cure: only for side effects
Expects: skipped 0, results other
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, rows):
        out = self.layer(rows)
        if not torch.compiler.is_compiling():
            out = out * 2
        return out


model = Net()
inputs = (torch.randn(2, 4),)

# Cured


class Plain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, rows):
        out = self.layer(rows)
        if not torch.compiler.is_compiling():
            print("eager")
        return out * 2


torch.manual_seed(0)
model = Plain()
