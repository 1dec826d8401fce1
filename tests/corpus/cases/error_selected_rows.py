r"""The number of selected rows decides a condition, which cannot be a guard.

Source: https://github.com/pytorch/pytorch/issues/127830
Run: --backend eager --fullgraph
Finds: not compiled: failed at line 19
Cause: depends on data
Cure: torch\._check\(kept\.shape\[0\] > 2\)
Expects: graphs 1
"""

import torch
import torch._dynamo.config

torch._dynamo.config.capture_dynamic_output_shape_ops = True


def model(rows):
    kept = rows[rows > 0]
    if kept.shape[0] > 2:
        return kept.sum()
    return kept.mean()


inputs = (torch.ones(8),)

# Cured


def model(rows):
    kept = rows[rows > 0]
    torch._check(kept.shape[0] > 2)
    if kept.shape[0] > 2:
        return kept.sum()
    return kept.mean()
