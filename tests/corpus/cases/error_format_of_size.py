r"""An exception's text formats a symbolic size as a decimal number.

Source: https://github.com/pytorch/pytorch/issues/197093
Run: --script
Finds: not compiled: failed
Cause: format|symbolic|SymInt|dynamic
Cure: dynamic=False|without|\{rows\.shape\[0\]\}|str|outside|remove
Expects: skipped 0
"""

import torch


@torch.compile(backend="eager", dynamic=True)
def described(rows):
    label = f"{rows.shape[0]:d} rows"
    return rows.sin(), label


print(described(torch.zeros(3, 4))[1])

# Cured
import torch


@torch.compile(backend="eager", dynamic=True)
def described(rows):
    label = f"{rows.shape[0]} rows"
    return rows.sin(), label


print(described(torch.zeros(3, 4))[1])
