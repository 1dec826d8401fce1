"""A backward hook of a submodule breaks the graph of its caller.

Source: https://github.com/pytorch/pytorch/issues/133303
Finds: graph breaks
Cause: hook
Cure: compiled_autograd
Expects: breaks 0
"""

import torch

torch.manual_seed(0)


def seen(_module, _grad_input, _grad_output):
    return None


class Inner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
        self.register_full_backward_hook(seen)

    def forward(self, rows):
        return self.layer(rows)


class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.layer = Inner(), torch.nn.Linear(4, 4)

    def forward(self, rows):
        return self.layer(self.inner(rows)).sum()


model = Outer()
inputs = (torch.randn(2, 4),)
training = True

# Cured
import torch._dynamo.config

torch._dynamo.config.compiled_autograd = True
