r"""Squares overflow in half precision, but not in the fused code.

Source: https://github.com/pytorch/pytorch/issues/183607
Run: --backend inductor
Finds: rounds otherwise
Cause: half|float16|precision|overflow|upcast|fus
Cure: float32|float\(\)|emulate_precision_casts|bfloat16|precision
Expects: skipped 0, results other
"""

import torch


def energy(signal):
    half = signal.half()
    return (half * half).float()


model = energy
inputs = (torch.full((8,), 5000.0),)


# Cured
def model(signal):
    return signal.float() * signal.float()
