"""Dropout makes other zeros when compiled.

Source: https://github.com/pytorch/pytorch/issues/113169
Finds: random numbers or results differ
Cause: random
Cure: fallback_random
Expects: breaks 0
Run: --backend inductor
"""

import torch


def model(x):
    return torch.nn.functional.dropout(x, p=0.78, training=True)


inputs = (torch.rand(10, 9, 8, 6),)


# Cured
torch._inductor.config.fallback_random = True
