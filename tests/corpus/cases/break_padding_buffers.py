r"""A convolution keeps stride and padding as buffers, and branches on the padding it computes from them.

Source: https://github.com/pytorch/pytorch/pull/179640
Finds: graph breaks at line 22
Cause: data.dependent|value of a tensor|depends on (the )?(values?|data)|branch(es|ing)? on a tensor|buffer
Cure: (plain |python )?(int|integer|number)s?\b.{0,80}(instead|rather|attribute|not a? ?buffer)|instead of.{0,40}buffer|torch\.where|torch\.cond
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch
from torch import nn


class PaddedConv(nn.Module):
    def __init__(self, kernel, stride):
        super().__init__()
        self.conv = nn.Conv1d(1, 4, kernel, stride)
        self.register_buffer("stride", torch.tensor(stride), persistent=False)
        self.register_buffer("missing", torch.tensor(kernel - stride), persistent=False)

    def forward(self, x):
        if self.missing % self.stride > 1:
            x = nn.functional.pad(x, (2, 0))
        return self.conv(x)


model = PaddedConv(7, 4)
inputs = (torch.randn(1, 1, 64),)


# Cured: numbers of Python
class Numbers(nn.Module):
    def __init__(self, conv, kernel, stride):
        super().__init__()
        self.conv, self.stride, self.missing = conv, stride, kernel - stride

    def forward(self, x):
        if self.missing % self.stride > 1:
            x = nn.functional.pad(x, (2, 0))
        return self.conv(x)


model = Numbers(model.conv, 7, 4)
