"""Each block has a processor object of its own, and one compiled function serves all blocks.

Source: https://github.com/huggingface/diffusers/pull/11970
Finds: recompiles
Cause: scale|processor
Cure: share|one object|buffer|tensor
Expects: recompiles 0
"""

import torch


class Processor:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, x):
        return x * self.scale


class Block(torch.nn.Module):
    def __init__(self, processor):
        super().__init__()
        self.processor = processor

    def forward(self, x):
        return self.processor(x).sin()


blocks = [Block(Processor(0.1 * number)) for number in range(1, 6)]


def model(block, x):
    return block(x)


calls = [(block, torch.ones(4)) for block in blocks]


# Cured
class Block(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.register_buffer("scale", torch.tensor(scale))

    def forward(self, x):
        return (x * self.scale).sin()


blocks = [Block(0.1 * number) for number in range(1, 6)]
calls = [(block, torch.ones(4)) for block in blocks]
