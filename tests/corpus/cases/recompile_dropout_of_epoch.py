r"""Dropout's probability is lowered from epoch to epoch.

Source: https://github.com/OpenNMT/OpenNMT-py/pull/1421
Finds: recompiles
Cause: \.p\b|attribute|float|probability
Cure: buffer|tensor|once|fewer|rarely|limit
Expects: recompiles 0, results other
Not: dynamic=True
"""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 32)
        self.drop = nn.Dropout(0.5)
        self.fc2 = nn.Linear(32, 4)

    def forward(self, x):
        return self.fc2(self.drop(torch.relu(self.fc1(x))))


training = True
net = Classifier()
model = net


def calls():
    x = torch.randn(16, 8)
    for p in (0.5, 0.4, 0.3, 0.2):
        net.drop.p = p
        yield (x,)


# Cured
class ScheduledDropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.register_buffer("p", torch.tensor(p))

    def forward(self, x):
        keep = (torch.rand_like(x) >= self.p).to(x.dtype)
        return x * keep / (1 - self.p) if self.training else x


net.drop = ScheduledDropout(0.5)


def calls():
    x = torch.randn(16, 8)
    for p in (0.5, 0.4, 0.3, 0.2):
        net.drop.p.fill_(p)
        yield (x,)
