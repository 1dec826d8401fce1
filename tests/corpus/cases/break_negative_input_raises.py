r"""A layer raises its own error if any value of its input is negative.

Source: https://github.com/jaseci-labs/jac/pull/8016
Finds: graph breaks
Cause: data-dependent|value|tensor
Cure: _assert_async|torch\._check|assert|before the call|outside
Expects: breaks 0
"""

import torch


class LogCounts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.out = torch.nn.Linear(6, 2)

    def forward(self, counts):
        if (counts < 0).any():
            raise ValueError("counts must not be negative")
        return self.out(torch.log1p(counts))


model, inputs = LogCounts(), (torch.rand(4, 6),)

# Cured


class Checked(LogCounts):
    def forward(self, counts):
        torch._assert_async((counts >= 0).all(), "counts must not be negative")
        return self.out(torch.log1p(counts))


torch.manual_seed(0)
model = Checked()
