"""An export asks whether a number is in a tensor.

Source: https://github.com/pytorch/executorch/issues/8823
Finds: branch in an export or not compiled: failed
Cause: branch|data
Cure: torch.cond|torch.where
Expects: breaks 0
Run: --script
"""

import torch


class Chosen(torch.nn.Module):
    def forward(self, x, number, leaves):
        if (leaves == number).any():
            return x.sin()
        return x.cos()


inputs = (torch.ones(3), torch.tensor(2), torch.tensor([1, 3]))
program = torch.export.export(Chosen(), inputs)
print(program.module()(*inputs).sum().item())


# Cured
import torch


class Chosen(torch.nn.Module):
    def forward(self, x, number, leaves):
        return torch.where((leaves == number).any(), x.sin(), x.cos())


inputs = (torch.ones(3), torch.tensor(2), torch.tensor([1, 3]))
program = torch.export.export(Chosen(), inputs)
print(program.module()(*inputs).sum().item())
