"""The result of a matmul is rounded to bfloat16 in eager, and Inductor leaves the rounding out.

Source: https://github.com/pytorch/pytorch/issues/181568
Run: --backend inductor
Finds: results differ
Cause: rounds to 16 bits
Cure: emulate_precision_casts
Expects: skipped 0
"""

import torch

torch.manual_seed(119)


def model(rows, weight, bias):
    return (rows @ weight).to(torch.bfloat16) + bias


inputs = (torch.randn(30, 32), torch.randn(32, 17), torch.randn(17))
