"""A transposed activation is quantized per tensor.

Source: https://github.com/pytorch/pytorch/issues/198307
Finds: raised at run time or not compiled: failed
Cause: stride|contiguous|quanti|layout
Cure: contiguous|disable|outside|backend.{0,20}eager
Expects: graphs 1, breaks 0
Run: --backend inductor
"""

import torch


def model(x):
    return torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).dequantize() * 2


inputs = (torch.randn(4, 6).t(),)

# Cured: the caller brings a contiguous tensor
inputs = (inputs[0].contiguous(),)
