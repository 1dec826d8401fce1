"""A layer asks an environment variable which of two branches it takes.

Source: https://github.com/pytorch/pytorch/pull/189027
Finds: results differ
Cause: environ|getenv|environment
Cure: argument|attribute|pass|outside|parameter|read.*(once|before)
Expects: recompiles 1
"""

import os

import torch
from torch import nn


class Gate(nn.Module):
    def forward(self, x):
        if int(os.getenv("SHARPEN", "0")):
            return x * 2 + 1
        return x - 1


model = Gate()


def calls():
    for flag in ("1", "0", "1"):
        os.environ["SHARPEN"] = flag
        yield (torch.arange(4.0),)


# Cured
class Gate(nn.Module):
    def forward(self, x, sharpen):
        return x * 2 + 1 if sharpen else x - 1


model = Gate()
calls = [(torch.arange(4.0), flag) for flag in (True, False, True)]
