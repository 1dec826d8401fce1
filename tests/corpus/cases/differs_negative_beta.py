"""A loss gets a negative threshold, which only eager code rejects.

Source: https://github.com/pytorch/pytorch/issues/194501
Finds: raised in eager or results differ
Cause: beta|negative|smooth_l1
Cure: positive|beta|check|abs|valid
Expects: graphs 1, breaks 0
Run: --backend inductor
"""

import torch
import torch.nn.functional as F
from torch import nn


class BoxLoss(nn.Module):
    def __init__(self, sigma):
        super().__init__()
        self.beta = 1.0 - sigma

    def forward(self, boxes, targets):
        return F.smooth_l1_loss(boxes, targets, beta=self.beta)


model, inputs = BoxLoss(sigma=2.0), (torch.randn(8, 4), torch.randn(8, 4))

# Cured
model = BoxLoss(sigma=0.5)
