"""A forward hook is registered before the first call.

Source: https://github.com/pytorch/pytorch/issues/117758
"""

import torch

model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
model[0].register_forward_hook(lambda _module, _inputs, output: output * 2)
inputs = (torch.ones(2, 4),)
