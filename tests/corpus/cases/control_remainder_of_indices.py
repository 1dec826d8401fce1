"""Three indices, which do not fill a vector, are taken modulo the sizes of tables.

Source: https://github.com/pytorch/pytorch/pull/192025
Run: --backend inductor
"""

import torch


class Hashed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("sizes", torch.tensor([16, 12, 7]))

    def forward(self, indices):
        return indices % self.sizes


model = Hashed()
inputs = (torch.arange(6).reshape(2, 3) * 9,)
