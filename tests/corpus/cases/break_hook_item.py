"""A forward hook reads a number, and breaks the graph.

Source: https://github.com/pytorch/pytorch/issues/135410
Finds: graph breaks at line 25
Cause: item
Cure: capture_scalar_outputs|[Kk]eep
Expects: breaks 0, graphs 1
"""

import torch

norms = []


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(8, 8)

    def forward(self, x):
        return self.inner(x).relu()


def keep_norm(module, args, output):
    norms.append(output.norm().item())


model = Block()
model.inner.register_forward_hook(keep_norm)
inputs = (torch.randn(4, 8),)


# Cured
def keep_norm(module, args, output):
    norms.append(output.norm().detach())


torch.manual_seed(0)
model = Block()
model.inner.register_forward_hook(keep_norm)
