"""A state dictionary gets a key more in each call, and each length compiles again.

Source: https://github.com/pytorch/tensordict/issues/1606
Finds: recompiles
Cause: state|dict|key
Cure: outside|before the call|without
Expects: recompiles 0
"""

import torch

state = {}


def model(x, key):
    state[key] = x.sin()
    return state[key] * 2


x = torch.randn(4)
calls = [(x, f"part{number}") for number in range(5)]


# Cured
state = {f"part{number}": torch.zeros(4) for number in range(5)}


def model(x):
    return x.sin() * 2


calls = [(x,) for number in range(5)]
