r"""Flex attention is called outside of the compiled part.

Source: https://github.com/pytorch/pytorch/issues/152528
Run: --script
Finds: printed
Cause: unfused|whole matrix
Cure: torch\.compile\(flex_attention
Expects: breaks 0, results other
"""

import torch
from torch.nn.attention.flex_attention import flex_attention

project = torch.compile(torch.nn.Linear(16, 16), backend="eager")
with torch.no_grad():
    heads = project(torch.randn(1, 2, 32, 16))
    out = flex_attention(heads, heads, heads)

# Cured
import torch
from torch.nn.attention.flex_attention import flex_attention

project = torch.compile(torch.nn.Linear(16, 16), backend="eager")
attend = torch.compile(flex_attention, backend="eager")
with torch.no_grad():
    heads = project(torch.randn(1, 2, 32, 16))
    out = attend(heads, heads, heads)
