r"""Saved activations are moved to the processor's memory by a context within forward.

Source: https://github.com/pytorch/pytorch/issues/148222
Finds: graph breaks or not compiled: given up or not compiled: skipped
Cause: save_on_cpu|saved_tensors_hooks|context
Cure: around|outside|caller
Expects: breaks 0, skipped 0
"""

import torch


class Tower(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = torch.nn.Linear(4, 16)
        self.out = torch.nn.Linear(16, 1)

    def forward(self, rows):
        with torch.autograd.graph.save_on_cpu():
            hidden = torch.tanh(self.wide(rows))
        return self.out(hidden)


model, inputs = Tower(), (torch.randn(3, 4),)
training = True

# Cured


class Plain(Tower):
    def forward(self, rows):
        return self.out(torch.tanh(self.wide(rows)))


torch.manual_seed(0)
model = Plain()
