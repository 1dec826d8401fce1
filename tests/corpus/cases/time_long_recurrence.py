r"""A recurrence of Python steps is unrolled into one long graph.

Source: https://github.com/pytorch/rl/pull/3725
Finds: unrolled loop or first call
Cause: (?i)unroll|\bloop|steps|repeat
Cure: (?i)scan|while_loop|cell|step|smaller|shorter|outside
Expects: breaks 0, recompiles 0
"""

import torch


class Recurrence(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.input = torch.nn.Linear(4, 8)
        self.hidden = torch.nn.Linear(8, 8)

    def forward(self, x):
        hidden = x.new_zeros(x.shape[1], 8)
        results = []
        for step in range(x.shape[0]):
            hidden = torch.tanh(self.input(x[step]) + self.hidden(hidden))
            results.append(hidden)
        return torch.stack(results)


model = Recurrence()
inputs = (torch.randn(256, 2, 4),)


def confirmed():
    return len(torch._dynamo.explain(model)(*inputs).graphs[0].graph.nodes) < 100


# Cured
from torch._higher_order_ops.scan import scan


class Cured(Recurrence):
    def forward(self, x):
        def step(hidden, x):
            hidden = torch.tanh(self.input(x) + self.hidden(hidden))
            return hidden, hidden.clone()

        return scan(step, x.new_zeros(x.shape[1], 8), x)[1]


cured = Cured()
cured.load_state_dict(model.state_dict())
model = cured.requires_grad_(False)
