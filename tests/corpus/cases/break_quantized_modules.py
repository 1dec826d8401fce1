"""A model of quantized modules is compiled.

Source: https://github.com/pytorch/pytorch/issues/100817
Finds: not compiled: given up or graph breaks
Cause: packed
Cure: torchao|eagerly
Lacks: cured
"""

import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")
model = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(8, 8), nn.ReLU()), {nn.Linear})
inputs = (torch.randn(2, 8),)
