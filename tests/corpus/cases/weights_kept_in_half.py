r"""Rescoring casts a layer's weights, which never change, in each call.

Source: https://github.com/NVIDIA-NeMo/RL/issues/3440
Finds: weights converted
Cause: weight|convert|cast|quanti
Cure: once|before|cache|freez|store|convert the (weight|parameter|model)|outside|\.to\(|\.float\(
Expects: graphs 1, breaks 0
"""

import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(32, 16).bfloat16(), requires_grad=False)

    def forward(self, x):
        return torch.log_softmax(nn.functional.linear(x, self.weight.float()), -1)


model = Scorer()
inputs = (torch.randn(4, 16),)


def confirmed():
    return all(t.dtype == torch.float32 for t in model.state_dict().values())


# Cured
class Single(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight.float(), requires_grad=False)

    def forward(self, x):
        return torch.log_softmax(nn.functional.linear(x, self.weight), -1)


model = Single(model.weight)
