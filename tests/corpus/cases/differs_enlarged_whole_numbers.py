"""A map of whole numbers is enlarged bilinearly: eager mode refuses int32, and the compiled code takes it.

Source: https://github.com/pytorch/pytorch/issues/193811
Finds: raised in eager
Cause: int32|Int|dtype|whole|eager.*(raises|error|refuses|rejects)|not implemented
Cure: float|dtype|cast|convert
Expects: graphs 1, results other
Run: --backend inductor
Lacks: cured
"""

import torch
import torch.nn.functional as F


def model(depth):
    return F.interpolate(depth, size=(6, 6), mode="bilinear")


inputs = (torch.arange(9, dtype=torch.int32).view(1, 1, 3, 3),)

# Cured


def model(depth):
    return F.interpolate(depth.float(), size=(6, 6), mode="bilinear")
