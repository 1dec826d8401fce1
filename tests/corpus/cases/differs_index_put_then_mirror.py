r"""Rows are written by their index, and then the mirrored rows are added.

Source: https://github.com/pytorch/pytorch/issues/198270
Finds: results differ
Cause: index_put|in.place|flip|mutat|overwrit|index
Cure: clone|out of place|without.*place|x \+|new tensor|aot_eager|index_put\(|eager
Expects: graphs 1, breaks 0
Run: --backend inductor
Lacks: explained
"""

import torch


def update(x):
    x.index_put_((torch.arange(x.size(0)),), x * 2.0)
    x.add_(x.flip(0))
    return x


model, inputs = update, (torch.rand(4, 8),)


# Cured
def update(x):
    y = x.index_put((torch.arange(x.size(0)),), x * 2.0)
    return y + y.flip(0)


model = update
