"""The smallest of a few int8 numbers is 0 in compiled code.

Source: https://github.com/pytorch/pytorch/issues/191499
Run: --backend inductor
Finds: results differ
Cause: output
Cure: aot_eager
Expects: skipped 0
"""

import torch


def model(numbers):
    return numbers.amin()


inputs = (torch.tensor([5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23], dtype=torch.int8),)

# Cured
torch_compile = {"backend": "aot_eager"}
