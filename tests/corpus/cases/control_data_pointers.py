"""A module compares the addresses of two tensors, which older versions could not trace.

Source: https://github.com/pytorch/pytorch/issues/165408
Run: --backend eager --fullgraph
"""

import torch


class Shares(torch.nn.Module):
    def forward(self, rows):
        detached = rows.detach()
        is_same = rows.data_ptr() == detached.data_ptr() and rows.stride() == detached.stride()
        return detached * 2 if is_same else detached


model, inputs = Shares(), (torch.randn(3, 4),)
