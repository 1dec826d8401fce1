"""A smoothing step adds the mirrored values to each tensor of a list in place.

Source: https://github.com/pytorch/pytorch/issues/198033
Finds: results differ
Cause: foreach|in.place|flip|mutat|overlap|while
Cure: add_|clone|out of place|loop|without|single|not.*foreach|aot_eager|eager
Expects: graphs 1, breaks 0
Run: --backend inductor
"""

import torch


def smooth(fields):
    torch._foreach_add_(fields, [field.flip(0) for field in fields])
    return fields


model = smooth
inputs = ([torch.rand(8, 8)],)


# Cured
def smooth(fields):
    for field in fields:
        field.add_(field.flip(0))
    return fields


model = smooth
