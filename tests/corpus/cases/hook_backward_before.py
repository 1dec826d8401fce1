"""A pre-hook on backward breaks the graph.

Source: https://github.com/pytorch/pytorch/issues/117266
Finds: graph breaks
Cause: hook
Cure: compiled_autograd
Expects: breaks 0
Not: nothing to change
"""

import torch


def doubled(_module, grad_output):
    return tuple(grad * 2 for grad in grad_output)


model = torch.nn.Linear(3, 3, bias=False)
model.register_full_backward_pre_hook(doubled)
inputs = (torch.ones(2, 3),)
training = True

# Cured
import torch._dynamo.config

torch._dynamo.config.compiled_autograd = True
