"""The smaller one of a negative and a positive zero is positive.

Source: https://github.com/pytorch/pytorch/issues/194347
Run: --backend inductor
Finds: results differ
Cause: minimum|zero|sign
Cure: where|signbit|eager|abs|copysign
Expects: skipped 0
"""

import torch


class Slope(torch.nn.Module):
    def __init__(self, limit):
        super().__init__()
        self.register_buffer("limit", torch.tensor(limit))

    def forward(self, rows):
        return torch.reciprocal(torch.minimum(rows, self.limit))


model = Slope([0.0])
inputs = (torch.tensor([-0.0]),)


# Cured
class Signed(Slope):
    def forward(self, rows):
        is_smaller = (rows < self.limit) | ((rows == self.limit) & torch.signbit(rows))
        return torch.reciprocal(torch.where(is_smaller, rows, self.limit))


model = Signed([0.0])
