"""Infinite scores become the largest integer.

Source: https://github.com/pytorch/pytorch/issues/151510
Finds: results differ
Cause: nan_to_num|int64|long|range|overflow|conversion|cast
Cure: clamp|float64|double|before|smaller|where|representable|masked
Expects: graphs 1, breaks 0, results other
Run: --backend inductor
Lacks: explained
"""

import torch
from torch import nn


class Quantize(nn.Module):
    def forward(self, scores):
        limits = torch.iinfo(torch.int64)
        scores = torch.nan_to_num(scores, nan=0, posinf=limits.max, neginf=limits.min)
        return scores.long()


model, inputs = Quantize(), (torch.tensor([[float("inf"), 1.5, -2.5, float("-inf")]]),)


# Cured
class Quantize(nn.Module):
    def forward(self, scores):
        limit = 2.0**62
        return torch.nan_to_num(scores, nan=0, posinf=limit, neginf=-limit).long()


model = Quantize()
