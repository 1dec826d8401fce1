"""A plain object carries the temperature of the sampler, which falls with each call.

Source: https://dev-discuss.pytorch.org/t/what-is-the-mental-model-for-torch-compile-to-deal-with-stateful-objects-in-general/2080
Finds: recompiles
Cause: temperature
Cure: tensor
Expects: recompiles 0
"""

import torch


class Sampler:
    def __init__(self):
        self.temperature = 2.0

    def __call__(self, logits):
        return (logits / self.temperature).softmax(-1)


sampler = Sampler()


def model(logits):
    return sampler(logits)


def calls():
    sampler.temperature = 2.0
    for _ in range(4):
        yield (torch.linspace(0, 1, 8),)
        sampler.temperature *= 0.9


# Cured


def calls():
    sampler.temperature = torch.tensor(2.0)
    for _ in range(4):
        yield (torch.linspace(0, 1, 8),)
        sampler.temperature = sampler.temperature * 0.9
