r"""A forward method marks the batch of its own input as dynamic.

Source: https://github.com/pytorch/pytorch/issues/171860
Finds: not compiled: failed or graph breaks
Cause: mark_dynamic
Cure: compiler\.disable|before the call|outside
Expects: graphs 1
"""

import torch


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.out = torch.nn.Linear(6, 2)

    def forward(self, rows):
        torch._dynamo.mark_dynamic(rows, 0)
        return self.out(torch.tanh(rows))


model, inputs = Classifier(), (torch.randn(5, 6),)

# Cured


@torch.compiler.disable
def marked(rows):
    torch._dynamo.mark_dynamic(rows, 0)


class Outside(Classifier):
    def forward(self, rows):
        marked(rows)
        return self.out(torch.tanh(rows))


torch.manual_seed(0)
model = Outside()
