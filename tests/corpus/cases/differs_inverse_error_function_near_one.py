"""The compiled inverse error function is less exact near one.

Source: https://github.com/pytorch/pytorch/issues/198133
Finds: rounds otherwise or results differ
Cause: (?i)erfinv|round|precis|accura
Cure: (?i)eager|disable|double|float64|fallback|outside
Expects: recompiles 0
Run: --backend inductor
Lacks: detected, explained, cured
"""

import torch


def model(x):
    return torch.erfinv(x)


inputs = (torch.tensor([0.999999999, 1 - 1e-12, 1 - 1e-14, 1 - 1e-16], dtype=torch.float64),)

# Cured


@torch.compiler.disable
def inverse(x):
    return torch.erfinv(x)


def model(x):
    return inverse(x)
