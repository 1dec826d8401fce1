r"""A quantized layer keeps its dequantized weight from a warm-up in inference mode, and is compiled later.

Source: https://github.com/sgl-project/sglang/pull/34506
Finds: raised in a script or raised at run time or not compiled: failed or inference tensor in training
Cause: inference
Cure: no_grad|inference_mode\(False\)|outside.{0,30}inference|clone
Expects: graphs 1, breaks 0
Run: --script
"""

import torch
from torch import nn


class Dequantized(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("packed", torch.randint(-127, 127, (8, 8), dtype=torch.int8))
        self.weight = None

    def forward(self, x):
        if self.weight is None:
            self.weight = nn.Parameter(self.packed.float() / 127)
        return nn.functional.linear(x, self.weight).relu()


model = Dequantized()
with torch.inference_mode():
    model(torch.randn(2, 8))
compiled = torch.compile(model, backend="aot_eager")
compiled(torch.randn(2, 8, requires_grad=True)).sum().backward()

# Cured: warmed up under no_grad
import torch
from torch import nn


class Dequantized(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("packed", torch.randint(-127, 127, (8, 8), dtype=torch.int8))
        self.weight = None

    def forward(self, x):
        if self.weight is None:
            self.weight = nn.Parameter(self.packed.float() / 127)
        return nn.functional.linear(x, self.weight).relu()


model = Dequantized()
with torch.no_grad():
    model(torch.randn(2, 8))
compiled = torch.compile(model, backend="aot_eager")
compiled(torch.randn(2, 8, requires_grad=True)).sum().backward()
