r"""The sample of an export with a dynamic batch has a batch of one.

Source: https://github.com/pytorch/pytorch/pull/170264
Finds: sample size or constant dimension or sample outside of its range
Cause: \b1\b|one
Cure: 2|two|larger|more than
Expects: breaks 0
Run: --script
"""

import torch


class Scores(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)

    def forward(self, x):
        return self.layer(x).softmax(-1)


x = torch.ones(1, 3)
program = torch.export.export(Scores(), (x,), dynamic_shapes={"x": {0: torch.export.Dim("batch", max=64)}})
print(program.module()(x).sum().item())


# Cured
import torch


class Scores(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)

    def forward(self, x):
        return self.layer(x).softmax(-1)


x = torch.ones(2, 3)
program = torch.export.export(Scores(), (x,), dynamic_shapes={"x": {0: torch.export.Dim("batch", max=64)}})
print(program.module()(x[:1]).sum().item())
