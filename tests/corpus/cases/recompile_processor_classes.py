"""Each layer has a processor of a class that a function makes anew.

Source: https://github.com/pytorch/pytorch/issues/163329
Finds: recompiles
Cause: class
Cure: define it once, at module level
Expects: recompiles 0
"""

import torch


def new_processor():
    class Processor:
        def __call__(self, x):
            return x.sin() * 2

    return Processor()


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.processor = new_processor()

    def forward(self, x):
        return self.processor(x)


layers = [Layer() for _ in range(4)]


def model(layer, x):
    return layer(x)


x = torch.randn(4)
calls = [(layer, x) for layer in layers]


# Cured
class Processor:
    def __call__(self, x):
        return x.sin() * 2


for layer in layers:
    layer.processor = Processor()
