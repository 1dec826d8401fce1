"""A layer looks for a file of statistics in each call.

Source: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0007.html
Finds: graph breaks
Cause: stat|exists|posix|file|path
Cure: __init__|outside|before|once|constructor
Expects: breaks 0, graphs 1
"""

import os

import torch


class Normalized(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.path = "/nonexistent/statistics.pt"

    def forward(self, x):
        y = x - x.mean()
        scale = 2.0 if os.path.exists(self.path) else 1.0
        return y * scale


model = Normalized()
inputs = (torch.randn(4, 8),)

# Cured


class Asked(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 2.0 if os.path.exists("/nonexistent/statistics.pt") else 1.0

    def forward(self, x):
        y = x - x.mean()
        return y * self.scale


model = Asked()
