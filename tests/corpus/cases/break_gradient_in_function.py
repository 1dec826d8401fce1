r"""`torch.autograd.grad` of a potential in a compiled function breaks the graph.

Source: https://github.com/pytorch/pytorch/pull/185829
Finds: graph breaks at line 21 or graph breaks
Cause: (?i)autograd\.grad|gradient|grad
Cure: (?i)func\.grad|torch\.func|outside|trace_autograd_ops|config
Expects: graphs 1, breaks 0
Run: --backend aot_eager
Lacks: detected, cured
"""

import torch


class Potential(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))

    def forward(self, positions):
        positions = positions.detach().requires_grad_()
        energy = self.net(positions).sum()
        (gradient,) = torch.autograd.grad(energy, positions)
        return energy, -gradient


model = Potential()
inputs = (torch.randn(5, 3),)

# Cured


class Cured(Potential):
    def forward(self, positions):
        gradient, energy = torch.func.grad_and_value(lambda positions: self.net(positions).sum())(positions)
        return energy, -gradient


cured = Cured()
cured.load_state_dict(model.state_dict())
model = cured
