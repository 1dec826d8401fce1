"""A function that is compiled already is compiled again, as by two libraries.

Source: https://github.com/unslothai/unsloth-zoo/pull/1025
Run: --script
"""

import torch


@torch.compile(backend="eager")
def gelu(rows):
    return rows * torch.sigmoid(1.702 * rows)


again = torch.compile(gelu, backend="eager")
for _ in range(2):
    print(again(torch.ones(3)))
