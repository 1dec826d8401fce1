"""A function that is excluded with `torch.compiler.disable` fails under `fullgraph=True`.

Source: https://github.com/pytorch/pytorch/issues/144908
Finds: not compiled: failed or graph breaks
Cause: (?i)disable
Cure: (?i)fullgraph|error_on_graph_break|remove|outside
Expects: breaks 1, recompiles 0
"""

import torch


@torch.compiler.disable
def statistics(x):
    return x.mean()


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x):
        x = torch.relu(self.linear(x))
        return x - statistics(x)


model = Model()
inputs = (torch.randn(4, 8),)
torch_compile = {"fullgraph": True}

# Cured
torch_compile = {"fullgraph": False}
