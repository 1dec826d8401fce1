r"""The temperature of a sampler is 1 by default, and a float when a user sets it.

Source: https://github.com/pytorch/pytorch/issues/119778
Finds: recompiles
Cause: temperature
Cure: tensor|float|same type
Expects: recompiles 0
"""

import torch


def model(scores, temperature):
    return torch.softmax(scores / temperature, dim=-1)


calls = [(torch.arange(6.0), temperature) for temperature in (1, 0.7, 1, 1.3)]

# Cured
calls = [(torch.arange(6.0), torch.tensor(float(temperature))) for temperature in (1, 0.7, 1, 1.3)]
