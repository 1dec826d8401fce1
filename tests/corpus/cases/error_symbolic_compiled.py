"""A pass of torch.fx traces a compiled function.

Source: https://github.com/pytorch/pytorch/pull/179836
Run: --script
Finds: traced while compiled
Cause: torch refuses
Cure: before `torch.compile`
Expects: skipped 0
"""

import torch


def doubled(rows):
    return rows * 2


compiled = torch.compile(doubled, backend="eager")


def whole(rows):
    return compiled(rows) + 1


torch.fx.symbolic_trace(whole)

# Cured
import torch


def doubled(rows):
    return rows * 2


def whole(rows):
    return doubled(rows) + 1


torch.fx.symbolic_trace(whole)
