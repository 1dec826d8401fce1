"""A custom optimizer keeps its step as a Python integer.

Source: https://github.com/Koratahiu/Advanced_Optimizers/pull/6
Finds: recompiles
Cause: step
Cure: tensor
Expects: recompiles 1
"""

import torch

state = {"step": 0}


def model(x):
    state["step"] += 1
    return x / (1 - 0.9 ** state["step"])


x = torch.randn(4)
calls = [(x,)] * 4


# Cured
state = {"step": torch.tensor(0.0)}
