"""A weight of int8 is converted to bfloat16 in each call.

Source: https://github.com/pytorch-labs/gpt-fast/issues/114
Run: --backend inductor
Finds: weights converted
Cause: converted at each call
Cure: before the first call
Expects: graphs 1, results other
"""

import torch

torch.manual_seed(0)


class Quantized(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.randint(-128, 128, (512, 512), dtype=torch.int8))
        self.register_buffer("scales", torch.rand(512, dtype=torch.bfloat16))

    def forward(self, rows):
        return torch.nn.functional.linear(rows, self.weight.to(rows.dtype)) * self.scales


model = Quantized()
inputs = (torch.randn(4, 512, dtype=torch.bfloat16),)

# Cured


class Converted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", model.weight.to(torch.bfloat16))
        self.register_buffer("scales", model.scales)

    def forward(self, rows):
        return torch.nn.functional.linear(rows, self.weight) * self.scales


model = Converted()
