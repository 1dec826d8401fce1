"""Each layer knows its number, and uses it as an index into a shared cache.

Source: https://github.com/vllm-project/vllm/issues/12410
Finds: recompiles or near the recompile limit
Cause: number
Cure: buffer|tensor|argument|compile|allow_unspec
Expects: recompiles 0
"""

import torch

cache = [torch.full((4,), float(number)) for number in range(6)]


class Layer(torch.nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x + cache[self.number]


layers = [Layer(number) for number in range(6)]


def model(layer, x):
    return layer(x)


calls = [(layer, torch.ones(4)) for layer in layers]


# Cured
class Layer(torch.nn.Module):
    def forward(self, x, kept):
        return x + kept


layer = Layer()


def model(x, kept):
    return layer(x, kept)


calls = [(torch.ones(4), cache[number]) for number in range(6)]
