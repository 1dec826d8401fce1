"""Autocast around the compiled call, in training.

Source: https://github.com/pytorch/pytorch/issues/191106
Run: --backend aot_eager
"""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU())


def calls():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        yield (torch.ones(4, 8),)
        yield (torch.ones(4, 8),)
