r"""A layer jitters its input with a random.Random of its own: the compiled code reads a float64 as a float32.

Source: https://github.com/pytorch/pytorch/issues/198187
Finds: results differ or random numbers
Cause: random
Cure: tensor|torch\.rand|argument|outside|before|disable|Generator
Expects: graphs 1
Run: --backend inductor
Lacks: explained
"""

import random

import torch


class Jitter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stream = random.Random(0)

    def forward(self, x):
        return x * self.stream.random()


model = Jitter()


def calls():
    model.stream = random.Random(0)
    yield (torch.arange(4.0),)


# Cured


def scaled(x, factor):
    return x * factor


model = scaled


def calls():
    yield torch.arange(4.0), torch.tensor(random.Random(0).random())
