r"""The whole forward method is excluded from compilation by a decorator that was left there.

Source: https://docs.pytorch.org/docs/stable/generated/torch.compiler.disable.html
Finds: graph breaks or nothing compiled
Cause: disable
Cure: remove|without|disable
Expects: graphs 1, breaks 0
"""

import torch


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 4)

    @torch.compiler.disable
    def forward(self, rows):
        return torch.tanh(self.net(rows)) * 2


model, inputs = Encoder(), (torch.randn(3, 4),)

# Cured


class Open(Encoder):
    def forward(self, rows):
        return torch.tanh(self.net(rows)) * 2


torch.manual_seed(0)
model = Open()


def confirmed():
    return torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
