"""Negative numbers become bytes.

Source: https://github.com/pytorch/pytorch/issues/156788
Run: --backend inductor
"""

import torch


class Quantize(torch.nn.Module):
    def forward(self, rows):
        return rows.to(torch.uint8)


model = Quantize()
inputs = (torch.tensor([1.5, -0.3, -2.2, 0.6, -1.1, 200.0, 3.0, -7.0, -9.0]),)
